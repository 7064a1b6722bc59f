//! Plays random episodes and prints everything about them, one JSON object a line: the map, the actions, and after each of
//! them what is seen, where the agent is, the labels and the outcome.
//!
//! ```text
//! cargo run --release -p form-env --example episodes -- 6 7 all-yellow examples/two_rooms.toml
//! ```
//! plays 6 episodes of each task, drawn with seed 7 (without arguments: the beginning of one).
//! The comparison with MiniGrid (`.ci/minigrid`) replays them there.

#![allow(clippy::print_stdout, reason = "the episodes are its output")]

use std::error::Error;
use std::sync::Arc;

use form_env::{
    Action, Cell, Environment, EpisodeOutcome, GridWorld, Maps, Split, Stream, Task, WorldOptions,
    generator, solution,
};
use rand::RngExt;
use serde_json::{Value, json};

/// Random steps before the shortest way.
const WANDERING: usize = 20;
const MOST_SITUATIONS: usize = 2_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (episodes, seed, longest) = match arguments.get(..2) {
        Some([episodes, seed]) => (episodes.parse()?, seed.parse()?, usize::MAX),
        _ => (1, 7, 2),
    };
    let names = arguments.get(2..).unwrap_or_default();
    let tasks: Vec<Task> = if names.is_empty() {
        vec![Task::builtin("all-yellow")?]
    } else {
        (names.iter().map(|name| Task::find(name))).collect::<Result<_, _>>()?
    };
    for task in tasks {
        let maps = Maps::Fresh(Split::Training);
        let mut world = GridWorld::new(Arc::new(task), maps, WorldOptions::default())?;
        for episode in 0..episodes {
            println!("{}", play(&mut world, seed, episode, longest)?);
        }
    }
    Ok(())
}

/// One episode with random actions, half of them steps ahead so that the agent gets about. Every other episode goes on with
/// the shortest way to complete the task, so that every task is completed too.
fn play(
    world: &mut GridWorld,
    seed: u64,
    episode: u64,
    longest: usize,
) -> Result<Value, Box<dyn Error>> {
    world.reset(&mut generator(seed, Stream::Episode { world: 0, episode }))?;
    let map = describe(world);
    let mut random = generator(seed, Stream::Other(episode));
    let mut way: Option<std::vec::IntoIter<Action>> = None;
    let mut actions = Vec::new();
    let mut frames = vec![frame(world)];
    while !world.outcome().is_over() && actions.len() < longest {
        if episode % 2 == 1 && actions.len() == WANDERING {
            way = solution(world, MOST_SITUATIONS).map(Vec::into_iter);
        }
        let action = match way.as_mut().and_then(Iterator::next) {
            Some(action) => action as usize,
            None if random.random_bool(0.5) => Action::Forward as usize,
            None => random.random_range(0..Action::ALL.len()),
        };
        world.step(action)?;
        actions.push(action);
        frames.push(frame(world));
    }
    Ok(json!({ "map": map, "actions": actions, "frames": frames }))
}

/// All that MiniGrid needs to build the same world.
fn describe(world: &GridWorld) -> Value {
    let (task, room) = (world.task(), world.task().room());
    let cells = || (0..room.width()).flat_map(|x| (0..room.height()).map(move |y| Cell { x, y }));
    let walls: Vec<_> = cells()
        .filter(|cell| room.is_wall(*cell))
        .map(pair)
        .collect();
    let objects: Vec<_> = cells()
        .filter_map(|cell| Some((task.object(world.map(), cell)?.atom(), pair(cell))))
        .collect();
    json!({
        "task": task.name(),
        "size": [room.width(), room.height()],
        "steps": task.steps(),
        "walls": walls,
        "objects": objects,
        "agent": pair(world.agent()),
        "direction": world.direction() as u8,
    })
}

/// What is to be compared after every action.
fn frame(world: &GridWorld) -> Value {
    let mut image = vec![0; world.spec().planes_len()];
    world.observe(&mut image, &mut []);
    let image: String = image.iter().map(|byte| format!("{byte:02x}")).collect();
    let outcome: EpisodeOutcome = world.outcome();
    json!({
        "image": image,
        "agent": pair(world.agent()),
        "direction": world.direction() as u8,
        "labels": world.signature().texts(world.labels()),
        "outcome": outcome.as_str(),
    })
}

fn pair(cell: Cell) -> [usize; 2] {
    [cell.x, cell.y]
}
