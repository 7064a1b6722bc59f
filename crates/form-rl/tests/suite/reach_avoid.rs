//! The reach-avoid policy: exact with weights set by hand, files, the shield, loops.

use std::path::Path;

use form_env::{Action, Cell, Direction, ReachAvoid, Room, Stream};
use form_rl::{
    ActionValues, Imitation, ImitationConfig, PolicyOrigin, ReachAvoidPolicy, SubTask, SubTasks,
};
use proptest::prelude::*;

/// Sub-tasks in the paper's room and in drawn rooms of up to 20 × 20 cells.
fn family() -> SubTasks {
    SubTasks {
        rooms: vec![Room::paper()],
        sides: (4, 20),
    }
}

/// All poses without a wall.
fn poses(cells: &ReachAvoid) -> impl Iterator<Item = (Cell, Direction)> + '_ {
    let all = (0..cells.width()).flat_map(|x| (0..cells.height()).map(move |y| Cell { x, y }));
    all.filter(|cell| !cells.walls()[cells.number(*cell)])
        .flat_map(|cell| Direction::ALL.map(|direction| (cell, direction)))
}

/// The pose after an action; `None` if it entered a cell to avoid.
fn step(
    cells: &ReachAvoid,
    (cell, direction): (Cell, Direction),
    action: Action,
) -> Option<(Cell, Direction)> {
    let turned = |by: usize| Direction::ALL[(direction as usize + by) % 4];
    match action {
        Action::Left => Some((cell, turned(3))),
        Action::Right => Some((cell, turned(1))),
        _ => {
            let ahead = cells.ahead(cell, direction);
            let number = cells.number(ahead);
            match () {
                () if cells.avoid()[number] => None,
                () if cells.walls()[number] => Some((cell, direction)),
                () => Some((ahead, direction)),
            }
        }
    }
}

/// The steps of greedy play until a cell to reach is entered; `None` if it enters one to avoid, or after `limit` steps.
fn greedy_steps(
    task: &SubTask,
    values: &ActionValues,
    start: (Cell, Direction),
    limit: u32,
) -> Option<u32> {
    let mut pose = start;
    for steps in 1..=limit {
        let before = pose;
        pose = step(&task.cells, pose, values.greedy(pose.0, pose.1))?;
        let number = task.cells.number(pose.0);
        if pose.0 != before.0 && task.cells.reach()[number] {
            return Some(steps);
        }
    }
    None
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// With weights set by hand the network is value iteration: greedy play takes exactly the shortest way, from every pose.
    #[test]
    fn the_ideal_weights_solve_every_pose_in_the_fewest_steps(number in 0_u64..1 << 40) {
        let task = family().draw(5, Stream::Other(number)).unwrap();
        let values = ReachAvoidPolicy::ideal().evaluate(&task.cells);
        for (cell, direction) in poses(&task.cells) {
            let Some(steps) = task.distances.steps(cell, direction) else { continue };
            let found = greedy_steps(&task, &values, (cell, direction), steps);
            prop_assert_eq!(found, Some(steps), "{:?} {:?}", cell, direction);
            let optimal = task.distances.optimal(&task.cells, cell, direction);
            let chances = values.probabilities(cell, direction);
            for action in 0..3 {
                prop_assert_eq!(optimal[action], chances[action] > 0.1, "{:?} {:?}", cell, chances);
            }
        }
    }
}

#[test]
fn a_file_reads_back_as_the_same_policy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("policy.safetensors");
    let policy = ReachAvoidPolicy::ideal();
    policy.save(&path).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), policy.to_bytes().unwrap());
    assert_eq!(ReachAvoidPolicy::open(&path).unwrap(), policy);
    assert_eq!(policy.origin(), &PolicyOrigin::default());
}

#[test]
fn damaged_files_and_files_of_another_kind_are_refused() {
    let bytes = ReachAvoidPolicy::ideal().to_bytes().unwrap();
    let read = |bytes: &[u8]| ReachAvoidPolicy::from_bytes(Path::new("p"), bytes);
    assert!(read(&bytes).is_ok());
    for end in 0..bytes.len() {
        assert!(read(&bytes[..end]).is_err(), "{end} bytes");
    }
    let mut refused = 0;
    for place in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[place] ^= 0x10;
        match read(&changed) {
            Ok(policy) => assert_eq!(policy, ReachAvoidPolicy::ideal(), "byte {place}"),
            Err(_) => refused += 1,
        }
    }
    assert!(refused > bytes.len() / 2, "{refused} of {}", bytes.len());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("network.safetensors");
    let config = form_rl::NetworkConfig::paper([13, 13, 3], &[], 3);
    let mut random = form_env::generator(1, Stream::Other(0));
    form_rl::Network::new(&config, &mut random)
        .unwrap()
        .save(&path)
        .unwrap();
    let error = ReachAvoidPolicy::open(&path).unwrap_err().to_string();
    assert!(error.contains("not a reach-avoid policy"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Greedy play with learnt weights reaches its cell from every pose that has a way: it never loops and enters nothing to avoid.
    #[test]
    fn the_shipped_policy_never_loops(number in 0_u64..1 << 40) {
        let task = family().draw(6, Stream::Other(number)).unwrap();
        let values = ReachAvoidPolicy::shipped().evaluate(&task.cells);
        for pose in poses(&task.cells) {
            let Some(shortest) = task.distances.steps(pose.0, pose.1) else { continue };
            let found = greedy_steps(&task, &values, pose, 2 * shortest);
            prop_assert!(found.is_some(), "{:?}: no way within {}", pose, 2 * shortest);
        }
    }

    /// Whatever the weights: a shield never goes forward onto a cell to avoid.
    #[test]
    fn a_shield_never_enters_a_cell_to_avoid(number in 0_u64..1 << 40) {
        let task = family().draw(7, Stream::Other(number)).unwrap();
        let config = ImitationConfig { seed: number, ..ImitationConfig::default() };
        let untrained = Imitation::new(config, Vec::new()).policy(PolicyOrigin::default());
        let policy = untrained.with_shield(true);
        prop_assert!(policy.has_shield());
        let values = policy.evaluate(&task.cells);
        for (cell, direction) in poses(&task.cells) {
            let ahead = task.cells.number(task.cells.ahead(cell, direction));
            let forward = values.probabilities(cell, direction)[Action::Forward as usize];
            if task.cells.avoid()[ahead] {
                prop_assert_eq!(forward, 0.0);
                prop_assert_ne!(values.greedy(cell, direction), Action::Forward);
            }
        }
    }
}

/// A short training of 12 updates, 4 per phase, in small rooms.
fn short(seed: u64) -> ImitationConfig {
    ImitationConfig {
        seed,
        phases: [4, 4, 4],
        learning_rates: [0.03, 0.003, 0.001],
        batch: 10,
        sides: (5, 8),
        ..ImitationConfig::default()
    }
}

#[test]
fn training_does_not_depend_on_the_number_of_threads() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| {
            let mut imitation = Imitation::new(short(3), vec![Room::paper()]);
            for _ in 0..imitation.iterations() {
                imitation.step().unwrap();
            }
            imitation.policy(PolicyOrigin::default())
        })
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(5));
}

#[test]
fn training_resumes_to_the_same_weights() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("progress.safetensors");
    let mut whole = Imitation::new(short(4), Vec::new());
    for update in 0..whole.iterations() {
        // At the end of a phase, and within one.
        if update == 4 || update == 6 {
            whole.save(&path).unwrap();
            let mut resumed = Imitation::resume(&path, short(4), Vec::new()).unwrap();
            let mut other = whole.clone();
            assert_eq!(resumed.iteration(), update);
            for _ in update..other.iterations() {
                assert_eq!(resumed.step().unwrap(), other.step().unwrap());
            }
            let origin = PolicyOrigin::default;
            assert_eq!(resumed.policy(origin()), other.policy(origin()));
        }
        whole.step().unwrap();
    }
    let error = Imitation::resume(&path, short(5), Vec::new()).unwrap_err();
    assert!(
        error.to_string().contains("another configuration"),
        "{error}"
    );
}
