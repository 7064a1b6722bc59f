//! Maps: what lies where, the same for the same seed, solvable, and training and held-out ones apart.

use std::collections::BTreeSet;
use std::sync::Arc;

use form_env::{
    Cell, Colour, Counts, Environment, EpisodeOutcome, Frame, GridWorld, Map, Maps, Object, Split,
    Stream, Task, WorldOptions, builtin_tasks, generator, solution,
};

fn cells(task: &Task) -> impl Iterator<Item = Cell> + use<> {
    let (width, height) = (task.room().width(), task.room().height());
    (0..width).flat_map(move |x| (0..height).map(move |y| Cell { x, y }))
}

/// All objects of a map with their cells.
fn objects(task: &Task, map: &Map) -> Vec<(Object, Cell)> {
    (cells(task))
        .filter_map(|cell| Some((task.object(map, cell)?, cell)))
        .collect()
}

#[test]
fn the_built_in_tasks() {
    let names: Vec<String> = (builtin_tasks().iter())
        .map(|task| {
            let atoms: Vec<String> = (task.signature().atoms().iter())
                .map(ToString::to_string)
                .collect();
            format!(
                "{} ({}): {}",
                task.name(),
                task.truth().machine().name(),
                atoms.join(" ")
            )
        })
        .collect();
    insta::assert_snapshot!(names.join("\n"));
}

#[test]
fn every_thing_has_its_own_place() {
    for task in builtin_tasks() {
        for split in [Split::Training, Split::HeldOut] {
            for map in task.maps(11, split, 50).unwrap().iter() {
                let objects = objects(&task, map);
                let description = task.description();
                let lava = objects.iter().filter(|(object, _)| *object == Object::Lava);
                assert_eq!(lava.count(), description.lava);
                for colour in Colour::ALL {
                    let of_it = |(object, _): &&(Object, Cell)| matches!(object, Object::Checkpoint { colour: c, .. } if *c == colour);
                    let wanted = description.checkpoints.get(&colour).map_or(0, Counts::most);
                    assert_eq!(objects.iter().filter(of_it).count(), wanted, "{colour}");
                }
                for (count, wanted) in [
                    (description.keys.len(), "key("),
                    (description.doors.len(), "door("),
                ] {
                    let of_it = objects.iter().filter(|(o, _)| o.atom().starts_with(wanted));
                    assert_eq!(of_it.count(), count, "{wanted}");
                }
                for (object, cell) in objects {
                    assert!(!task.room().is_wall(cell));
                    match object {
                        Object::Goal => assert_eq!(cell, Cell { x: 11, y: 11 }),
                        Object::Checkpoint { .. } | Object::Key(_) | Object::Door(_) => {
                            assert!(cell.x <= 10 && cell.y <= 10);
                        }
                        Object::Lava => assert!(cell.x <= 11 && cell.y <= 11),
                    }
                }
            }
        }
    }
}

/// Seeds written down in papers and configs must go on meaning the same maps.
#[test]
fn a_seed_means_the_same_maps_for_ever() {
    let task = Task::builtin("green-but-one").unwrap();
    let mut drawn = String::new();
    for split in [Split::Training, Split::HeldOut] {
        for number in 0..2 {
            let map = task.map(7, split, number).unwrap();
            drawn += &format!(
                "{split:?} {number}\n{}\n",
                Frame::of_map(&task, &map).to_text(false)
            );
        }
    }
    insta::assert_snapshot!(drawn);
}

#[test]
fn a_map_does_not_depend_on_how_many_are_drawn() {
    let task = Task::builtin("all-yellow").unwrap();
    let (few, many) = (
        task.maps(5, Split::Training, 3).unwrap(),
        task.maps(5, Split::Training, 40).unwrap(),
    );
    assert_eq!(few[..], many[..3]);
    assert_ne!(task.maps(6, Split::Training, 3).unwrap()[..], few[..]);
}

#[test]
fn held_out_maps_are_never_trained_on() {
    // So few maps that the two would meet if they could.
    let text = "name = \"tiny\"\nmachine = '''\ninitial u0\naccept u1\nu0 -> u1 : goal\n'''\n\
                [room]\nsize = [6, 6]\n[checkpoints]\nred = 2\nblue = 1\n";
    let task = Task::from_toml(text).unwrap();
    let looks = |map: &Map| -> Vec<Option<(bool, Option<Colour>)>> {
        (cells(&task))
            .map(|cell| {
                task.object(map, cell).map(|object| match object {
                    Object::Checkpoint { colour, .. } => (true, Some(colour)),
                    _ => (false, None),
                })
            })
            .collect()
    };
    let seen = |seed, split| -> BTreeSet<_> {
        (task.maps(seed, split, 400).unwrap().iter())
            .map(looks)
            .collect()
    };
    let (trained, held_out) = (seen(1, Split::Training), seen(1, Split::HeldOut));
    assert!(
        trained.len() > 300 && held_out.len() > 50,
        "{} {}",
        trained.len(),
        held_out.len()
    );
    assert!(trained.is_disjoint(&held_out));
    // Nor by runs of other seeds, nor by those that draw a map for every episode.
    assert!(seen(2, Split::Training).is_disjoint(&held_out));
    let task = Arc::new(task.clone());
    let mut world = GridWorld::new(
        task.clone(),
        Maps::Fresh(Split::Training),
        WorldOptions::default(),
    )
    .unwrap();
    for episode in 0..300 {
        world
            .reset(&mut generator(9, Stream::Other(episode)))
            .unwrap();
        assert_eq!(task.split(world.map()), Split::Training);
        assert!(!held_out.contains(&looks(world.map())));
    }
}

#[test]
fn a_task_with_few_maps_holds_none_out() {
    let task = |checkpoints: &str| {
        let machine = "machine = '''\ninitial u0\naccept u1\nu0 -> u1 : goal\n'''";
        let text = format!(
            "name = \"small\"\n{machine}\n[room]\nsize = [6, 6]\n[checkpoints]\n{checkpoints}\n"
        );
        Task::from_toml(&text).unwrap()
    };
    for checkpoints in ["", "red = 2"] {
        let task = task(checkpoints);
        for seed in 0..20 {
            task.map(seed, Split::Training, 0).unwrap();
        }
        let error = task.map(0, Split::HeldOut, 0).unwrap_err().to_string();
        assert_eq!(
            error,
            "task `small`: none of 10000 maps drawn is held out: it has too few different maps"
        );
    }
    // 15 free cells: 455 maps with three checkpoints of one colour, 1365 with two colours.
    assert!(task("red = 3").map(0, Split::HeldOut, 0).is_err());
    assert!(task("red = 2\nblue = 1").map(0, Split::HeldOut, 0).is_ok());
}

#[test]
fn a_task_that_cannot_be_done_is_given_up() {
    let text = "name = \"never\"\nmachine = '''\ninitial u0\naccept u1\nu0 -> u1 : goal and yellow(o0)\n'''\n\
                room = \"paper\"\n[checkpoints]\nyellow = 3\n";
    let task = Task::from_toml(text).unwrap();
    let error = task.map(0, Split::Training, 0).unwrap_err().to_string();
    assert_eq!(
        error,
        "task `never`: none of 10000 maps drawn can be completed"
    );
}

/// The shortest way, walked in the world, completes the task, from every sort of start.
#[test]
fn every_map_can_be_solved() {
    for task in builtin_tasks().into_iter().map(Arc::new) {
        let maps = task.maps(21, Split::Training, 3).unwrap();
        let mut world = GridWorld::new(
            task.clone(),
            Maps::Set(maps.clone()),
            WorldOptions::default(),
        )
        .unwrap();
        for (map, seed) in maps.iter().zip(0..) {
            let start = &mut generator(seed, Stream::Other(1));
            world.reset_on(map.clone(), start).unwrap();
            let actions = solution(&world, 2_000_000).unwrap();
            let outcomes: Vec<EpisodeOutcome> = (actions.iter())
                .map(|action| world.step(*action as usize).unwrap())
                .collect();
            let (last, before) = outcomes.split_last().unwrap();
            assert_eq!(*last, EpisodeOutcome::Goal, "{}", task.name());
            assert!(
                before
                    .iter()
                    .all(|outcome| *outcome == EpisodeOutcome::Running)
            );
        }
    }
}

/// In a corridor, lava between the agent and the goal cannot be passed: such maps are drawn again.
#[test]
fn maps_that_lava_cuts_in_two_are_drawn_again() {
    let text = "name = \"corridor\"\nlava = 1\nmachine = '''\ninitial u0\naccept acc\nreject rej\n\
                u0 -> u1 : red(o0)\nu0 -> rej : lava\nu1 -> acc : goal\nu1 -> rej : lava\n'''\n\
                [checkpoints]\nred = 1\n[room]\nrows = [\n\"############\",\n\"#.........G#\",\n\"#.##########\",\n\"############\",\n]";
    let task = Arc::new(Task::from_toml(text).unwrap());
    let maps = task.maps(0, Split::Training, 200).unwrap();
    for map in maps.iter() {
        let objects = objects(&task, map);
        let column = |wanted: Object| {
            objects
                .iter()
                .find(|(object, _)| *object == wanted)
                .map(|(_, cell)| cell.x)
                .unwrap()
        };
        let red = column(Object::Checkpoint {
            colour: Colour::Red,
            number: 0,
        });
        assert!(
            column(Object::Lava) < red || column(Object::Lava) == 1,
            "{}",
            Frame::of_map(&task, map).to_text(false)
        );
    }
    let columns: BTreeSet<usize> = (maps.iter().zip(0..))
        .map(|(map, seed)| {
            let mut world = GridWorld::new(
                task.clone(),
                Maps::Set(maps.clone()),
                WorldOptions::default(),
            )
            .unwrap();
            let start = &mut generator(seed, Stream::Other(0));
            world.reset_on(map.clone(), start).unwrap();
            world.agent().x
        })
        .collect();
    assert!(
        columns.len() > 5,
        "the agent starts everywhere it can: {columns:?}"
    );
}
