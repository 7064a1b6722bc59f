//! Many worlds at once: they are the single worlds, whatever the threads.

use std::collections::BTreeSet;
use std::sync::Arc;

use form_core::{AtomSet, Signature};
use form_env::{
    Action, Channel, Copies, Environment, EpisodeOutcome, Feature, GridWorld, GridWorlds, Maps,
    Planes, Result, Spec, Split, Starts, Stream, Task, View, WorldOptions, Worlds, builtin_tasks,
    generator,
};
use rand::{Rng, RngExt};

/// All that can be seen of worlds.
#[derive(Debug, PartialEq)]
struct Seen {
    outcomes: Vec<EpisodeOutcome>,
    labels: Vec<Vec<String>>,
    episodes: Vec<u64>,
    images: Vec<u8>,
}

fn look(worlds: &dyn Worlds) -> Seen {
    let all = || 0..worlds.len();
    let mut images = vec![0; worlds.len() * worlds.spec().planes_len()];
    worlds.observe_all(&mut images, &mut []).unwrap();
    Seen {
        outcomes: all().map(|world| worlds.outcome(world)).collect(),
        labels: all()
            .map(|world| worlds.signature().texts(worlds.labels(world)))
            .collect(),
        episodes: all().map(|world| worlds.episode(world)).collect(),
        images,
    }
}

/// A task with episodes short enough to end often.
fn short(name: &str) -> Arc<Task> {
    let mut description = Task::builtin(name).unwrap().description().clone();
    description.steps = 60;
    Arc::new(Task::new(description).unwrap())
}

fn random_actions(worlds: usize, steps: u64) -> Vec<Vec<u8>> {
    let actions = |step| {
        let mut random = generator(3, Stream::Other(step));
        let forward = Action::Forward as u8;
        (0..worlds)
            .map(|_| {
                if random.random_bool(0.5) {
                    forward
                } else {
                    random.random_range(0..7)
                }
            })
            .collect()
    };
    (0..steps).map(actions).collect()
}

/// Everything that is seen of a run, new episodes included.
fn play(worlds: &mut dyn Worlds, steps: u64) -> Vec<Seen> {
    let mut seen = vec![look(worlds)];
    for actions in random_actions(worlds.len(), steps) {
        worlds.step(&actions).unwrap();
        seen.push(look(worlds));
        if worlds.next_episodes().unwrap() > 0 {
            seen.push(look(worlds));
        }
    }
    seen
}

fn grid_worlds(task: &Arc<Task>, fresh: bool, count: usize) -> GridWorlds {
    let maps = if fresh {
        Maps::Fresh(Split::Training)
    } else {
        Maps::Set(task.maps(7, Split::Training, 10).unwrap())
    };
    GridWorlds::new(task.clone(), maps, WorldOptions::default(), count, 7).unwrap()
}

#[test]
fn the_same_on_one_thread_and_on_two() {
    for name in ["all-yellow", "green-but-one"] {
        let task = short(name);
        for fresh in [false, true] {
            let run = |threads| {
                let pool = rayon::ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .build()
                    .unwrap();
                pool.install(|| play(&mut grid_worlds(&task, fresh, 600), 130))
            };
            let one = run(1);
            assert!(
                one.last()
                    .unwrap()
                    .episodes
                    .iter()
                    .all(|episode| *episode >= 1)
            );
            assert!(one == run(2), "{name}, fresh maps: {fresh}");
        }
    }
}

/// Taken apart, worlds play as they do together, and go on so when they are joined again.
#[test]
fn parts_of_worlds_play_as_all_of_them() {
    fn check<W: Worlds + Clone>(worlds: &W, most: usize) {
        let (mut together, mut apart) = (worlds.clone(), worlds.clone());
        let mut parts = apart.split(most);
        assert!((2..=most).contains(&parts.len()), "{}", parts.len());
        assert_eq!(apart.len(), 0);
        for round in 0..2 {
            for (step, actions) in random_actions(worlds.len(), 130).into_iter().enumerate() {
                together.step(&actions).unwrap();
                let mut rest = &actions[..];
                for part in &mut parts {
                    let own = rest.split_off(..part.len()).unwrap();
                    part.step(own).unwrap();
                }
                assert!(rest.is_empty());
                let parts_over: usize = (parts.iter_mut())
                    .map(|part| part.next_episodes().unwrap())
                    .sum();
                assert_eq!(parts_over, together.next_episodes().unwrap(), "{step}");
            }
            apart.join(parts);
            assert!(look(&apart) == look(&together), "{round}");
            assert!((0..apart.len()).any(|world| apart.episode(world) > 0));
            parts = apart.split(most);
        }
    }
    let task = short("all-yellow");
    for fresh in [false, true] {
        for (count, most) in [(2, 16), (37, 16), (64, 4), (600, 7)] {
            check(&grid_worlds(&task, fresh, count), most);
        }
    }
    let single = GridWorld::new(task, Maps::Fresh(Split::Training), WorldOptions::default());
    check(&Copies::new(vec![single.unwrap(); 11], 7).unwrap(), 4);
}

/// With fresh maps, a world of many draws what a single one does: the array by array store plays as the single world.
#[test]
fn many_worlds_play_as_single_ones() {
    for task in builtin_tasks() {
        let task = short(task.name());
        for view in View::ALL {
            let options = WorldOptions {
                view,
                ..WorldOptions::default()
            };
            let maps = Maps::Fresh(Split::HeldOut);
            let mut many = GridWorlds::new(task.clone(), maps.clone(), options, 300, 7).unwrap();
            let single = GridWorld::new(task.clone(), maps, options).unwrap();
            let mut copies = Copies::new(vec![single; 300], 7).unwrap();
            let (many, copies) = (play(&mut many, 80), play(&mut copies, 80));
            assert!(many == copies, "{} {view:?}", task.name());
            let over = |seen: &Seen| {
                seen.outcomes
                    .iter()
                    .filter(|outcome| outcome.is_over())
                    .count()
            };
            assert!(
                many.iter().map(over).sum::<usize>() >= 300,
                "episodes ended"
            );
        }
    }
}

/// Numbers with a common divisor, too: as many worlds as maps, half as many, more.
#[test]
fn every_world_plays_every_map_of_a_set() {
    let task = short("all-yellow");
    for (count, number) in [(3, 5), (4, 6), (6, 6), (3, 6), (8, 4), (1, 3)] {
        let maps = task.maps(7, Split::Training, number).unwrap();
        let set = Maps::Set(maps.clone());
        let mut worlds =
            GridWorlds::new(task.clone(), set, WorldOptions::default(), count, 7).unwrap();
        for world in 0..count {
            let mut met = BTreeSet::new();
            for episode in 0..number as u64 {
                worlds.start(world, episode).unwrap();
                let map = worlds.map_number(world).unwrap();
                assert_eq!(worlds.map(world), &maps[map]);
                met.insert(map);
            }
            assert_eq!(met.len(), number, "world {world} of {count}");
        }
    }
}

#[test]
fn an_episode_can_be_brought_back() {
    let task = short("green-but-one");
    for fresh in [false, true] {
        let mut worlds = grid_worlds(&task, fresh, 20);
        let mut taken: Vec<Vec<u8>> = vec![Vec::new(); 20];
        for actions in random_actions(20, 150) {
            worlds.step(&actions).unwrap();
            for (taken, action) in taken.iter_mut().zip(actions) {
                taken.push(action);
            }
            for (world, taken) in taken.iter_mut().enumerate() {
                if worlds.outcome(world).is_over() {
                    taken.clear();
                }
            }
            worlds.next_episodes().unwrap();
        }
        let before = look(&worlds);
        let mut again = grid_worlds(&task, fresh, 20);
        for (world, taken) in taken.iter().enumerate() {
            again.start(world, worlds.episode(world)).unwrap();
            for action in taken {
                // The others stand still where they are: only this world is looked at below.
                let mut actions = [Action::Done as u8; 20];
                actions[world] = *action;
                again.step(&actions).unwrap();
            }
            let after = look(&again);
            let bytes = again.spec().planes_len();
            assert_eq!(
                after.images[world * bytes..][..bytes],
                before.images[world * bytes..][..bytes]
            );
            assert_eq!(after.labels[world], before.labels[world]);
            assert_eq!(after.outcomes[world], before.outcomes[world]);
        }
    }
}

#[test]
fn a_finished_world_stands_still() {
    let task = short("all-yellow");
    let mut worlds = grid_worlds(&task, false, 4);
    for _ in 0..60 {
        worlds.step(&[0; 4]).unwrap();
    }
    assert_eq!(worlds.outcome(2), EpisodeOutcome::OutOfTime);
    let before = look(&worlds);
    worlds.step(&[2; 4]).unwrap();
    assert_eq!(look(&worlds), before);
    assert_eq!(worlds.next_episodes().unwrap(), 4);
    assert_eq!(worlds.episode(2), 1);
    assert_eq!(worlds.next_episodes().unwrap(), 0);
}

/// Maps of a task with more objects in its room.
fn other_maps() -> Maps {
    let other = Task::builtin("all-yellow-6").unwrap();
    Maps::Set(other.maps(7, Split::Training, 1).unwrap())
}

#[test]
fn wrong_calls_are_errors_that_change_nothing() {
    let task = short("all-yellow");
    let mut worlds = grid_worlds(&task, false, 4);
    let before = look(&worlds);
    let refused = [
        worlds.step(&[0; 3]).unwrap_err().to_string(),
        worlds.step(&[0, 2, 7, 0]).unwrap_err().to_string(),
        worlds
            .observe_all(&mut [0; 10], &mut [])
            .unwrap_err()
            .to_string(),
        worlds
            .observe_all(&mut [0; 4 * 507], &mut [0.0])
            .unwrap_err()
            .to_string(),
        GridWorlds::new(
            task.clone(),
            Maps::Fresh(Split::Training),
            WorldOptions::default(),
            0,
            7,
        )
        .unwrap_err()
        .to_string(),
        GridWorlds::new(
            task.clone(),
            Maps::Set([].into()),
            WorldOptions::default(),
            1,
            7,
        )
        .unwrap_err()
        .to_string(),
        GridWorld::new(task.clone(), Maps::Set([].into()), WorldOptions::default())
            .unwrap_err()
            .to_string(),
        Copies::<GridWorld>::new(Vec::new(), 7)
            .unwrap_err()
            .to_string(),
        GridWorlds::new(task.clone(), other_maps(), WorldOptions::default(), 1, 7)
            .unwrap_err()
            .to_string(),
        GridWorld::new(task.clone(), other_maps(), WorldOptions::default())
            .unwrap_err()
            .to_string(),
    ];
    insta::assert_snapshot!(refused.join("\n"));
    assert_eq!(look(&worlds), before);
}

#[test]
fn atoms_are_where_their_things_are() {
    let task = Arc::new(Task::builtin("all-yellow-6").unwrap());
    let worlds = grid_worlds(&task, true, 3);
    for world in 0..3 {
        for atom in task.signature().ids() {
            let cell = worlds.cell_of(world, atom).unwrap();
            let object = task.object(worlds.map(world), cell).unwrap();
            assert_eq!(object.atom(), task.signature().atom(atom).to_string());
        }
    }
    let mut single = GridWorld::new(
        task.clone(),
        Maps::Fresh(Split::Training),
        WorldOptions::default(),
    )
    .unwrap();
    let stream = Stream::Episode {
        world: 1,
        episode: 0,
    };
    single.reset(&mut generator(7, stream)).unwrap();
    for atom in task.signature().ids() {
        assert_eq!(single.cell_of(atom), worlds.cell_of(1, atom));
    }
}

/// A copy of one world out of many is where that one is, and goes on as it does.
#[test]
fn a_copy_goes_on_as_the_original() {
    let task = short("green-but-one");
    for fresh in [false, true] {
        let mut worlds = grid_worlds(&task, fresh, 300);
        for actions in random_actions(300, 30) {
            worlds.step(&actions).unwrap();
        }
        let mut copies: Vec<GridWorld> = (0..300)
            .map(|world| worlds.copy_of(world).unwrap())
            .collect();
        for actions in random_actions(300, 40) {
            worlds.step(&actions).unwrap();
            for (world, copy) in copies.iter_mut().enumerate() {
                assert_eq!(
                    copy.step(usize::from(actions[world])).unwrap(),
                    worlds.outcome(world)
                );
                assert_eq!(copy.labels(), worlds.labels(world));
            }
        }
        let seen = look(&worlds);
        for (copy, image) in copies.iter().zip(seen.images.chunks_exact(507)) {
            let mut own = [0; 507];
            copy.observe(&mut own, &mut []);
            assert_eq!(own, image);
        }
    }
}

#[test]
fn episodes_start_anywhere_or_where_the_map_says() {
    let task = short("all-yellow");
    let set = Maps::Set(task.maps(7, Split::Training, 2).unwrap());
    let places = |starts| {
        let options = WorldOptions {
            starts,
            ..WorldOptions::default()
        };
        let mut worlds = GridWorlds::new(task.clone(), set.clone(), options, 1, 7).unwrap();
        let places: BTreeSet<_> = (0..40)
            .map(|episode| {
                worlds.start(0, episode).unwrap();
                let world = worlds.copy_of(0).unwrap();
                (world.agent(), world.direction() as u8)
            })
            .collect();
        places.len()
    };
    assert_eq!(places(Starts::OfTheMap), 2);
    assert!(places(Starts::Anywhere) > 30);
}

/// Observations of all worlds at once are those of each: of planes, of a vector, and of both.
#[test]
fn all_observations_at_once() {
    for (bytes, numbers) in [(6, 0), (0, 3), (6, 3)] {
        let worlds = Copies::new(
            (0..700).map(|i| Numbered::new(i, bytes, numbers)).collect(),
            7,
        )
        .unwrap();
        let (mut planes, mut vectors) = (vec![0; 700 * bytes], vec![0.0; 700 * numbers]);
        worlds.observe_all(&mut planes, &mut vectors).unwrap();
        for world in 0..700 {
            let (mut own_planes, mut own_vector) = (vec![0; bytes], vec![0.0; numbers]);
            worlds.observe(world, &mut own_planes, &mut own_vector);
            assert_eq!(planes[world * bytes..][..bytes], own_planes);
            assert_eq!(vectors[world * numbers..][..numbers], own_vector);
            assert!(own_vector.iter().all(|value| *value == world as f32));
        }
    }
}

/// An environment in which nothing happens, and which shows its number.
struct Numbered {
    number: usize,
    signature: Signature,
    spec: Spec,
    labels: AtomSet,
    actions: Vec<String>,
}

impl Numbered {
    fn new(number: usize, bytes: usize, numbers: usize) -> Self {
        let channel = |i| Channel {
            name: format!("channel {i}"),
            max: 255,
        };
        let planes = Planes {
            width: 1,
            height: 1,
            channels: (0..bytes).map(channel).collect(),
        };
        let feature = |i| Feature {
            name: format!("feature {i}"),
            low: 0.0,
            high: 1000.0,
        };
        Self {
            number,
            signature: Signature::parse(["goal"]).unwrap(),
            spec: Spec {
                planes: (bytes > 0).then_some(planes),
                vector: (0..numbers).map(feature).collect(),
            },
            labels: AtomSet::new(),
            actions: vec!["wait".to_owned()],
        }
    }
}

impl Environment for Numbered {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn actions(&self) -> &[String] {
        &self.actions
    }

    fn reset(&mut self, _: &mut dyn Rng) -> Result<()> {
        Ok(())
    }

    fn step(&mut self, _: usize) -> Result<EpisodeOutcome> {
        Ok(EpisodeOutcome::Running)
    }

    fn labels(&self) -> &AtomSet {
        &self.labels
    }

    fn observe(&self, planes: &mut [u8], vector: &mut [f32]) {
        planes.fill(self.number as u8);
        vector.fill(self.number as f32);
    }
}
