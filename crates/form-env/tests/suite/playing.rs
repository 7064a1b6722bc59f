//! Playing a world: the rules, and what holds whatever the actions.

use std::sync::Arc;

use form_core::{Kind, MachineStatus, Monitor, StepMode};
use form_env::{
    Action, Cell, Direction, Environment, EpisodeOutcome, GridWorld, Maps, Object, Planner,
    RandomWalks, Shortest, Split, Stream, Task, View, WorldOptions, builtin_tasks, generator,
    shortest, solution,
};
use proptest::prelude::*;

fn world(task: Task, view: View) -> GridWorld {
    let options = WorldOptions {
        view,
        ..WorldOptions::default()
    };
    GridWorld::new(Arc::new(task), Maps::Fresh(Split::Training), options).unwrap()
}

/// A world at the start of the episode of this seed.
fn started(task: Task, seed: u64) -> GridWorld {
    let mut world = world(task, View::Symbols);
    world.reset(&mut generator(seed, Stream::Other(0))).unwrap();
    world
}

fn task(number: usize) -> Task {
    builtin_tasks().swap_remove(number)
}

/// Random actions, half of them steps ahead so that the agent gets about.
fn actions() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(prop_oneof![Just(2), 0..7_usize], 1..600)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn whatever_the_actions(number in 0..8_usize, seed in any::<u64>(), actions in actions()) {
        let mut world = started(task(number), seed);
        let task = world.task().clone();
        let mut monitor = Monitor::new(task.truth());
        monitor.observe(task.truth(), world.labels());
        for (i, action) in actions.iter().enumerate() {
            let (before, over) = (world.agent(), world.outcome().is_over());
            let outcome = world.step(*action).unwrap();
            let after = world.agent();
            // No sequence of actions leaves the grid or crosses walls, and no step goes further than one cell.
            prop_assert!(!task.room().is_wall(after), "in a wall at {:?}", after);
            prop_assert!(before.x.abs_diff(after.x) + before.y.abs_diff(after.y) <= 1);
            prop_assert!(before == after || *action == Action::Forward as usize && !over);
            // Labels are atoms of the signature, and of the object in the agent's cell.
            prop_assert!(world.labels().iter().all(|atom| atom.index() < task.signature().len()));
            let here = task.object(world.map(), after);
            let expected = match here {
                _ if over => Vec::new(),
                Some(object @ (Object::Goal | Object::Lava)) => vec![object.atom()],
                Some(object) if before != after => vec![object.atom()],
                _ => Vec::new(),
            };
            prop_assert_eq!(task.signature().texts(world.labels()), expected);
            for atom in world.labels().iter() {
                // Lava lies in many cells.
                let cell = (here != Some(Object::Lava)).then_some(after);
                prop_assert_eq!(world.cell_of(atom), cell);
            }
            // The labels, replayed through the ground truth, give the outcome.
            monitor.observe(task.truth(), world.labels());
            let told = match task.truth().machine().status(monitor.state()) {
                MachineStatus::Accepted => EpisodeOutcome::Goal,
                MachineStatus::Rejected => EpisodeOutcome::DeadEnd,
                MachineStatus::Running => EpisodeOutcome::Running,
            };
            prop_assert_eq!(outcome, told, "after {} steps", i + 1);
            // Lava ends it.
            prop_assert_eq!(here == Some(Object::Lava), outcome == EpisodeOutcome::DeadEnd);
        }
    }

    #[test]
    fn every_view_shows_the_same_world(number in 0..8_usize, seed in any::<u64>(), actions in actions()) {
        let [mut symbols, mut identities, mut planes, mut egocentric] = View::ALL.map(|view| {
            let mut world = world(task(number), view);
            world.reset(&mut generator(seed, Stream::Other(0))).unwrap();
            world
        });
        for action in actions {
            for world in [&mut symbols, &mut identities, &mut planes, &mut egocentric] {
                world.step(action).unwrap();
            }
        }
        let image = |world: &GridWorld| {
            let mut image = vec![0; world.spec().planes_len()];
            world.observe(&mut image, &mut []);
            image
        };
        let (symbols_seen, identities_seen, planes_seen) = (image(&symbols), image(&identities), image(&planes));
        let task = symbols.task();
        let names: Vec<&str> = (planes.spec().planes.as_ref().unwrap().channels.iter())
            .map(|channel| channel.name.as_str())
            .collect();
        for (x, y) in (0..13).flat_map(|x| (0..13).map(move |y| (x, y))) {
            let cell = Cell { x, y };
            let number = x * 13 + y;
            let marked: Vec<&str> = (planes_seen[number * names.len()..].iter().zip(&names))
                .filter(|(value, _)| **value == 1)
                .map(|(_, name)| *name)
                .collect();
            let object = task.object(symbols.map(), cell);
            let (mut expected, what) = match object {
                _ if task.room().is_wall(cell) => (vec!["wall"], [2, 5, 0]),
                None => (vec![], [1, 0, 0]),
                Some(Object::Goal) => (vec!["goal"], [8, 1, 0]),
                Some(Object::Lava) => (vec!["lava"], [9, 0, 0]),
                Some(Object::Checkpoint { colour, .. }) => (vec![colour.as_str()], [13, colour.symbol(), 0]),
                // MiniGrid's numbers; a door in state 0 is open.
                Some(Object::Key(colour)) => (vec![colour.as_str(), "key"], [5, colour.symbol(), 0]),
                Some(Object::Door(colour)) => (vec![colour.as_str(), "door"], [4, colour.symbol(), 0]),
            };
            let mut what_identities = what;
            if let Some(Object::Checkpoint { number, .. }) = object {
                what_identities[2] = number as u8 + 1;
            }
            let (mut what, mut what_identities) = (what, what_identities);
            if cell == symbols.agent() {
                let direction = symbols.direction() as u8;
                expected.push(["right", "down", "left", "up"][usize::from(direction)]);
                what = [10, 0, direction];
                what_identities = what;
            }
            prop_assert_eq!(&symbols_seen[number * 3..][..3], &what[..]);
            prop_assert_eq!(&identities_seen[number * 3..][..3], &what_identities[..]);
            prop_assert_eq!(marked, expected);
        }
        // Turned to the right until the agent looks up, then shifted until it is in the middle.
        let all = names.len();
        let shown = all - 4;
        let mut turned: Vec<Vec<&[u8]>> = (planes_seen.chunks(13 * all))
            .map(|column| column.chunks(all).map(|cell| &cell[..shown]).collect())
            .collect();
        let (mut x, mut y) = (planes.agent().x, planes.agent().y);
        for _ in 0..3 - planes.direction() as usize {
            turned = (0..13).map(|x| (0..13).map(|y| turned[y][12 - x]).collect()).collect();
            (x, y) = (12 - y, x);
        }
        let expected: Vec<u8> = (0..13 * 13)
            .flat_map(|cell| turned[(x + 7 + cell / 13) % 13][(y + 7 + cell % 13) % 13].to_vec())
            .collect();
        let seen = image(&egocentric);
        prop_assert!(seen == expected, "agent at {x}, {y}, {:?}", planes.direction());
        // Objects are where they are said to be.
        for atom in task.signature().ids() {
            if let (Some(cell), Some(place)) = (planes.cell_of(atom), egocentric.cell_of(atom)) {
                let cell = &planes_seen[(cell.x * 13 + cell.y) * all..][..shown];
                prop_assert_eq!(cell, &seen[(place.x * 13 + place.y) * shown..][..shown]);
                prop_assert!(cell.contains(&1));
            }
        }
    }
}

/// A room that is not square is filled up with walls.
#[test]
fn the_egocentric_view_of_a_wide_room() {
    let text = "name = \"wide\"\nmachine = '''\ninitial u0\naccept u1\nu0 -> u1 : goal\n'''\n\
                [room]\nsize = [7, 5]\n[checkpoints]\nyellow = 1\n";
    let task = Task::from_toml(text).unwrap();
    let world = world(task, View::Egocentric);
    let shape = world.spec().planes.clone().unwrap();
    assert_eq!((shape.width, shape.height, shape.channels.len()), (7, 7, 9));
    let mut image = vec![0; shape.len()];
    world.observe(&mut image, &mut []);
    let walls = image.chunks(9).filter(|cell| cell[0] == 1).count();
    assert_eq!(walls, 7 * 7 - 15);
    // The agent's own cell is in the middle, and is free.
    assert_eq!(image[(3 * 7 + 3) * 9], 0);
}

#[test]
fn turning_and_walking() {
    let mut world = started(Task::builtin("all-yellow").unwrap(), 4);
    let start = world.direction();
    for (action, turns) in [(Action::Left, 3), (Action::Right, 0), (Action::Right, 1)] {
        world.step(action as usize).unwrap();
        assert_eq!(
            world.direction(),
            Direction::ALL[(start as usize + turns) % 4]
        );
    }
    // The other actions change nothing but the clock.
    let (cell, direction) = (world.agent(), world.direction());
    for action in [Action::PickUp, Action::Drop, Action::Toggle, Action::Done] {
        world.step(action as usize).unwrap();
        assert_eq!((world.agent(), world.direction()), (cell, direction));
    }
    assert_eq!(world.steps(), 7);
    // Straight on until a wall is there.
    for _ in 0..20 {
        let before = world.agent();
        world.step(Action::Forward as usize).unwrap();
        let after = world.agent();
        let (dx, dy): (isize, isize) = match world.direction() {
            Direction::East => (1, 0),
            Direction::South => (0, 1),
            Direction::West => (-1, 0),
            Direction::North => (0, -1),
        };
        let ahead = Cell {
            x: before.x.checked_add_signed(dx).unwrap(),
            y: before.y.checked_add_signed(dy).unwrap(),
        };
        let blocked = world.task().room().is_wall(ahead);
        assert_eq!(after, if blocked { before } else { ahead });
    }
}

#[test]
fn time_runs_out_after_the_last_step() {
    let mut description = Task::builtin("all-yellow").unwrap().description().clone();
    description.steps = 5;
    let mut world = started(Task::new(description).unwrap(), 1);
    for step in 1..=7 {
        let outcome = world.step(Action::Left as usize).unwrap();
        let expected = if step < 5 {
            EpisodeOutcome::Running
        } else {
            EpisodeOutcome::OutOfTime
        };
        assert_eq!(outcome, expected, "step {step}");
        assert_eq!(world.steps(), step.min(5));
    }
}

#[test]
fn an_action_that_does_not_exist_is_an_error() {
    let mut world = started(Task::builtin("all-yellow").unwrap(), 1);
    let error = world.step(7).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no action 7: there are 7, counted from 0"
    );
    assert_eq!(world.steps(), 0);
}

/// Where every step counts, worlds count every step: a machine that wants five steps, whatever happens.
#[test]
fn every_step_counts_where_the_machine_says_so() {
    let machine = |steps: &str| {
        format!(
            "name = \"wait\"\nmachine = '''\ninitial u0\naccept acc\nreject rej\nsteps {steps}\n\
             u0 -> u1 : true\nu1 -> u2 : true\nu2 -> u3 : true\nu3 -> acc : goal\nu3 -> rej : true\n'''\n\
             [room]\nsize = [6, 6]\n[checkpoints]\nred = 1\n"
        )
    };
    let task = Arc::new(Task::from_toml(&machine("all")).unwrap());
    assert_eq!(task.step_mode(), StepMode::All);
    let mut world = GridWorld::new(
        task.clone(),
        Maps::Fresh(Split::Training),
        WorldOptions::default(),
    )
    .unwrap();
    for seed in 0..20 {
        world.reset(&mut generator(seed, Stream::Other(0))).unwrap();
        // The empty observation at the start is the first, so three steps are left: every map has a way of three steps.
        let way = solution(&world, 100_000).unwrap();
        assert_eq!(way.len(), 3);
        assert_eq!(shortest(&world, 100_000), Shortest::Exactly(3));
        for action in &way {
            assert!(!world.outcome().is_over());
            world.step(*action as usize).unwrap();
        }
        assert_eq!(world.outcome(), EpisodeOutcome::Goal);
        world.reset(&mut generator(seed, Stream::Other(0))).unwrap();
        for _ in 0..3 {
            world.step(0).unwrap();
        }
        assert_eq!(world.outcome(), EpisodeOutcome::DeadEnd);
    }
    let walks = RandomWalks {
        each: 3,
        seed: 1,
        max_episodes: 100_000,
    };
    let recorded = walks.record(&task, || false).unwrap();
    for trace in recorded.traces.values().flatten() {
        assert_eq!(trace.step_mode(), StepMode::All);
        assert!(trace.disagreement(task.truth()).is_none());
        assert_eq!(trace.steps().len(), 4);
    }
    assert_eq!(recorded.traces[&Kind::Goal].len(), 3);
    let map = task.map(0, Split::Training, 0).unwrap();
    let planner = Planner::new(Arc::new(task.truth().clone()), task.label_map(&map));
    assert!(planner.unwrap_err().to_string().contains("`steps all`"));
    // At the start nothing is observed, and that must not be the end.
    let over = "name = \"over\"\nmachine = '''\ninitial u0\naccept acc\nsteps all\nu0 -> acc : not goal\n'''\n[room]\nsize = [6, 6]\n";
    let message = Task::from_toml(over).unwrap_err().to_string();
    assert!(message.contains("before its first step"), "{message}");
}
