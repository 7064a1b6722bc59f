//! The same seed gives the same run, bit by bit: on one thread and on two, and after a checkpoint in the middle of episodes.

use std::path::Path;

use form_env::{Copies, GridWorlds, Random, Stream, View, Worlds, generator};
use form_rl::{
    Agent, Architecture, AssignmentMode, Checkpoint, Credit, Episode, Experience, Game, PpoConfig,
    ProgressEncoding,
};

use crate::corridor::{self, Corridor, Method};
use crate::grid::{Players, training, worlds};
use crate::threads::with_threads;

/// All that can be seen of a run.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    episodes: Vec<Episode>,
    experience: Vec<Vec<Experience>>,
    weights: Vec<Vec<u32>>,
}

/// Collects and learns so many times.
fn go_on<W: Worlds>(
    seen: &mut Seen,
    game: &mut Game<W>,
    agents: &mut [Agent],
    random: &mut Random,
    (times, steps, training): (usize, usize, &PpoConfig),
) {
    for _ in 0..times {
        let collected = game.collect(agents, steps, training, random).unwrap();
        seen.episodes.extend(collected.episodes);
        seen.experience.push(collected.experience.clone());
        for (agent, experience) in agents.iter_mut().zip(collected.experience) {
            // So many that some of it has to wait for more.
            agent.learn(experience, training, 40, random).unwrap();
            let weights = agent.network().weights().iter();
            seen.weights.push(weights.map(|x| x.to_bits()).collect());
        }
    }
}

/// Seven iterations, with a detour over a file after the third if a path is given.
fn run<W: Worlds>(
    game: impl Fn() -> Game<W>,
    agents: impl Fn(&Game<W>) -> Vec<Agent>,
    training: &PpoConfig,
    over: Option<&Path>,
) -> Seen {
    let (mut seen, steps) = (Seen::default(), 8);
    let mut here = game();
    let mut own = agents(&here);
    let mut random = generator(3, Stream::Other(1));
    go_on(
        &mut seen,
        &mut here,
        &mut own,
        &mut random,
        (3, steps, training),
    );
    if let Some(path) = over {
        Checkpoint::save(path, &here, &own, &random, "in the middle").unwrap();
        let checkpoint = Checkpoint::load(path).unwrap();
        assert_eq!(checkpoint.notes, "in the middle");
        here = game();
        checkpoint.restore(&mut here).unwrap();
        own = checkpoint.agents(training).unwrap();
        random = checkpoint.generator().unwrap();
    }
    go_on(
        &mut seen,
        &mut here,
        &mut own,
        &mut random,
        (4, steps, training),
    );
    assert!(
        seen.weights.first() != seen.weights.last(),
        "nothing was learnt"
    );
    seen
}

fn grids() -> Vec<Players> {
    let slots = |roles, credit, progress, memory| Players {
        roles,
        credit,
        progress,
        memory,
    };
    vec![
        slots(
            AssignmentMode::PerState,
            Credit::Shared,
            ProgressEncoding::Plane,
            0,
        ),
        slots(
            AssignmentMode::PerState,
            Credit::HandOver,
            ProgressEncoding::Bits,
            0,
        ),
        slots(
            AssignmentMode::Single,
            Credit::Shared,
            ProgressEncoding::Bits,
            0,
        ),
        slots(
            AssignmentMode::Unaided,
            Credit::Shared,
            ProgressEncoding::Bits,
            4,
        ),
    ]
}

fn run_grid(slots: &Players, over: Option<&Path>) -> Seen {
    let game = || -> Game<GridWorlds> { slots.game(worlds(View::Planes, 40)) };
    run(
        game,
        |game| corridor::agents(game, &slots.architecture(), 5),
        &training(),
        over,
    )
}

/// Where episodes end all the time, are held back, and are about to be cut off by the limit of steps.
fn run_corridor(method: &Method, over: Option<&Path>) -> Seen {
    let game = || -> Game<Copies<Corridor>> { method.game(&Corridor::new(5, 2, true, 17), 9) };
    let architecture = Architecture {
        sequence: 4,
        normalise: true,
        ..method.architecture()
    };
    let agents = |game: &Game<Copies<Corridor>>| corridor::agents(game, &architecture, 5);
    let seen = run(game, agents, &corridor::training(), over);
    assert!(seen.episodes.iter().any(Episode::is_success));
    assert!(!seen.episodes.iter().all(Episode::is_success));
    seen
}

fn corridors() -> Vec<Method> {
    let method = |roles, credit, memory| Method {
        roles,
        credit,
        shaping: true,
        memory,
    };
    vec![
        method(AssignmentMode::PerState, Credit::Shared, 0),
        method(AssignmentMode::PerState, Credit::HandOver, 0),
        method(AssignmentMode::Single, Credit::Shared, 4),
        method(AssignmentMode::Unaided, Credit::Shared, 4),
    ]
}

#[test]
fn a_run_on_the_grid_does_not_depend_on_the_number_of_threads() {
    for slots in grids() {
        let run = || run_grid(&slots, None);
        assert_eq!(with_threads(1, run), with_threads(2, run));
    }
}

#[test]
fn a_run_on_the_grid_goes_on_as_if_it_had_not_been_saved() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.safetensors");
    for slots in grids() {
        assert_eq!(run_grid(&slots, None), run_grid(&slots, Some(&path)));
    }
}

#[test]
fn a_run_in_corridors_goes_on_as_if_it_had_not_been_saved() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.safetensors");
    for method in corridors() {
        let undisturbed = run_corridor(&method, None);
        assert_eq!(undisturbed, run_corridor(&method, Some(&path)));
    }
}
