//! Maps with different objects: each has one of the numbers of checkpoints, and the ground truth ranges over those of the map.

use std::collections::BTreeMap;
use std::sync::Arc;

use form_core::{Kind, MachineStatus, Monitor, StepMode};
use form_env::{
    CheckOptions, Copies, Counts, Environment, EpisodeOutcome, GridWorld, GridWorlds, Map, Maps,
    Planner, RandomWalks, Shortest, Split, Stream, Task, WorldOptions, Worlds, check_environment,
    generator, shortest, solution,
};
use rand::RngExt;

/// A small room with lava, one to three yellow and one or two red checkpoints.
fn small() -> Arc<Task> {
    let machine = "initial u0\naccept acc\nreject rej\nu0 -> u1 : forall X. yellow(X)\nu0 -> rej : lava\n\
                   u1 -> acc : goal\nu1 -> rej : lava\nu1 -> rej : forall X. red(X)";
    let text = format!(
        "name = \"small\"\nlava = 2\nmachine = '''\n{machine}\n'''\n[room]\nsize = [7, 6]\n\
         [checkpoints]\nyellow = [3, 1, 2]\nred = [1, 2]\n"
    );
    Arc::new(Task::from_toml(&text).unwrap())
}

/// The atoms of the objects that lie on a map.
fn atoms(task: &Task, map: &Map) -> Vec<String> {
    let signature = task.signature();
    let placed = (signature.ids()).filter(|atom| !task.cells_of(map, *atom).is_empty());
    placed
        .map(|atom| signature.atom(atom).to_string())
        .collect()
}

#[test]
fn every_map_has_one_of_the_numbers() {
    let task = small();
    assert_eq!(task.signature().len(), 7);
    let shared = task.signature().texts(task.shared_signature().unwrap());
    assert_eq!(shared, ["goal", "lava", "red(o3)", "yellow(o0)"]);
    for split in [Split::Training, Split::HeldOut] {
        let mut met: BTreeMap<Vec<String>, usize> = BTreeMap::new();
        for map in task.maps(5, split, 120).unwrap().iter() {
            let atoms = atoms(&task, map);
            let own = task.own_signature(map).unwrap();
            assert_eq!(task.signature().texts(own), atoms);
            *met.entry(atoms).or_default() += 1;
        }
        // All six sets, each about as often.
        assert_eq!(met.len(), 6);
        assert!(
            met.values().all(|count| (8..=35).contains(count)),
            "{met:?}"
        );
    }
    // The names of objects do not depend on the map: a map without the second yellow one still has red(o3).
    assert!(
        Task::builtin("all-yellow")
            .unwrap()
            .shared_signature()
            .is_none()
    );
}

/// The world judges every episode as the machine does that is bound to the atoms of its map alone.
#[test]
fn the_truth_ranges_over_the_objects_of_the_map() {
    let task = small();
    let mut ends: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in 0..300 {
        let map = task.map(seed, Split::Training, 0).unwrap();
        let own = task
            .signature()
            .restricted(task.own_signature(&map).unwrap());
        let bound = task.truth().machine().bind(&own).unwrap();
        let maps = Maps::Set([map].into());
        let mut world = GridWorld::new(task.clone(), maps, WorldOptions::default()).unwrap();
        let mut random = generator(seed, Stream::Other(0));
        // The shortest solution, or a random walk.
        let actions: Vec<usize> = match seed % 2 {
            0 => {
                let way = solution(&world, usize::MAX).unwrap();
                assert_eq!(shortest(&world, usize::MAX), Shortest::Exactly(way.len()));
                way.into_iter().map(|action| action as usize).collect()
            }
            _ => (0..400).map(|_| random.random_range(0..3)).collect(),
        };
        let mut monitor = Monitor::new(&bound);
        for action in actions {
            let outcome = world.step(action).unwrap();
            let labels = task.signature().texts(world.labels());
            monitor.observe(&bound, &own.observation(labels).unwrap());
            let expected = match bound.machine().status(monitor.state()) {
                MachineStatus::Accepted => EpisodeOutcome::Goal,
                MachineStatus::Rejected => EpisodeOutcome::DeadEnd,
                MachineStatus::Running => EpisodeOutcome::Running,
            };
            assert_eq!(outcome, expected);
            if outcome.is_over() {
                break;
            }
        }
        assert!(seed % 2 == 1 || world.outcome() == EpisodeOutcome::Goal);
        *ends.entry(world.outcome().as_str()).or_default() += 1;
    }
    assert!(ends["goal"] >= 150 && ends["dead-end"] > 20, "{ends:?}");
}

/// Many worlds say the same as one, and so do copies of it; traces bring the atoms of their map.
#[test]
fn worlds_tell_what_can_be_observed() {
    let task = small();
    let maps = Maps::Fresh(Split::Training);
    let options = WorldOptions::default();
    let mut worlds = GridWorlds::new(task.clone(), maps.clone(), options, 20, 3).unwrap();
    let mut random = generator(3, Stream::Other(0));
    for _ in 0..200 {
        let actions: Vec<u8> = (0..20).map(|_| random.random_range(0..3)).collect();
        worlds.step(&actions).unwrap();
        for world in 0..20 {
            let own = worlds.own_signature(world).unwrap();
            assert_eq!(task.signature().texts(own), atoms(&task, worlds.map(world)));
            assert!(worlds.labels(world).is_subset(own));
            let copy = worlds.copy_of(world).unwrap();
            assert_eq!(copy.own_signature(), Some(own));
            assert_eq!(copy.outcome(), worlds.outcome(world));
        }
        worlds.next_episodes().unwrap();
    }
    let one = GridWorld::new(task.clone(), maps, options).unwrap();
    let copies = Copies::new(vec![one.clone(); 2], 1).unwrap();
    assert_eq!(copies.shared_signature(), task.shared_signature());
    assert!(copies.own_signature(1).is_some());
    let violations = check_environment(&mut one.clone(), &CheckOptions::default());
    assert!(violations.is_empty(), "{violations:?}");
    let walks = RandomWalks {
        each: 30,
        seed: 2,
        max_episodes: 5000,
    };
    let recorded = walks.record(&task, || false).unwrap();
    for (kind, traces) in &recorded.traces {
        // With so much lava, every walk ends before its steps are used up.
        let expected = if *kind == Kind::Incomplete { 0 } else { 30 };
        assert_eq!(traces.len(), expected, "{kind}");
        for trace in traces {
            assert!(trace.own_signature().is_some());
            assert_eq!(trace.step_mode(), StepMode::Changes);
            assert_eq!(trace.disagreement(task.truth()), None);
        }
    }
    // Read with all atoms of the task, some goals would come too early.
    let whole = |trace: &form_core::Trace| {
        form_core::Trace::new(trace.kind(), trace.steps().iter().cloned())
    };
    let goals = recorded.traces[&Kind::Goal].iter();
    assert!(
        goals
            .map(whole)
            .any(|trace| trace.disagreement(task.truth()).is_some())
    );
}

/// Plans ask for the objects of the map: with two yellow ones, two observations and the goal.
#[test]
fn plans_are_about_the_objects_of_the_map() {
    let task = Task::open(std::path::Path::new("../../examples/all_yellow_mixed.toml")).unwrap();
    let machine = Arc::new(task.truth().clone());
    let mut lengths: Vec<usize> = Vec::new();
    for map in task.maps(1, Split::HeldOut, 20).unwrap().iter() {
        let yellow = (atoms(&task, map).iter())
            .filter(|atom| atom.starts_with("yellow"))
            .count();
        let bound = task.bound_on(&machine, map);
        let mut planner = Planner::new(bound.clone(), task.label_map(map)).unwrap();
        let plan = planner.plan(&Monitor::new(&bound), form_env::Cell { x: 11, y: 1 });
        assert_eq!(plan.observations_left, Some(yellow + 1));
        lengths.push(yellow);
    }
    lengths.sort_unstable();
    lengths.dedup();
    assert_eq!(lengths, [2, 3, 4]);
}

#[test]
fn files_name_the_numbers() {
    let task = small();
    let description = task.description();
    let yellow = &description.checkpoints[&form_env::Colour::Yellow];
    assert_eq!(*yellow, Counts::new([1, 2, 3]).unwrap());
    assert!(
        task.to_toml().contains("yellow = [1, 2, 3]\n"),
        "{}",
        task.to_toml()
    );
    let again = Task::from_toml(&task.to_toml()).unwrap();
    assert_eq!(again.description(), description);
    assert_eq!(Counts::new([]), None);
}

/// A map of a task with other objects is refused.
#[test]
fn maps_of_other_tasks_are_refused() {
    let (one, other) = (small(), {
        let text = small()
            .to_toml()
            .replace("yellow = [1, 2, 3]", "yellow = 3");
        Arc::new(Task::from_toml(&text).unwrap())
    });
    let few = (0..20).map(|seed| one.map(seed, Split::Training, 0).unwrap());
    let few = few
        .into_iter()
        .find(|map| atoms(&one, map).len() == 4)
        .unwrap();
    let maps = |map: &Map| Maps::Set([map.clone()].into());
    assert!(GridWorld::new(one.clone(), maps(&few), WorldOptions::default()).is_ok());
    let many = other.map(0, Split::Training, 0).unwrap();
    let refused = GridWorld::new(one, maps(&many), WorldOptions::default());
    assert!(refused.is_err_and(|error| error.to_string().contains("another task")));
}
