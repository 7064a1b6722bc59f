//! Records traces: random walks in the paper's room (Figure 1a), labelled by a machine that stands for the task.
//!
//! ```text
//! cargo run --release -p form-core --example random_walk -- examples/all_yellow.form 20 7
//! ```
//! prints 20 traces of each kind that the machine can end in, drawn with seed 7 (without arguments: two of them). Every
//! episode has its own map.

#![allow(clippy::print_stdout, reason = "the traces are its output")]

use std::collections::BTreeMap;
use std::error::Error;

use form_core::{AtomSet, Kind, Machine, Monitor, Progress, Recorder, Signature};

const SIZE: usize = 13;
const STEPS: usize = 3000;
const COLOURS: [&str; 6] = ["yellow", "red", "blue", "purple", "grey", "green"];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument =
        |i: usize, default: &'static str| arguments.get(i).map_or(default, String::as_str);
    let file = argument(0, "examples/all_yellow.form");
    let count: usize = argument(1, "2").parse()?;
    let seed: u64 = argument(2, "7").parse()?;
    let machine: Machine = std::fs::read_to_string(file)?.parse()?;
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);

    // Tasks that can fail have lava in the room, and a third green checkpoint, number 12.
    let lava = machine.reject().is_some();
    let checkpoints = if lava { 13 } else { 12 };
    let colour = |i: usize| COLOURS[(i / 2).min(5)];
    let mut atoms: Vec<String> = (0..checkpoints)
        .map(|i| format!("{}(o{i})", colour(i)))
        .collect();
    atoms.push("goal".to_owned());
    atoms.extend(lava.then(|| "lava".to_owned()));
    let signature = Signature::parse(&atoms)?;
    let bound = machine.bind(&signature)?;

    let mut lines: BTreeMap<Kind, Vec<String>> = BTreeMap::new();
    let wanted = if lava {
        &Kind::ALL[..]
    } else {
        &[Kind::Goal, Kind::Incomplete]
    };
    while wanted
        .iter()
        .any(|kind| lines.get(kind).is_none_or(|lines| lines.len() < count))
    {
        let room = Room::draw(&atoms, checkpoints, lava, &signature, &mut random)?;
        let mut monitor = Monitor::new(&bound);
        let mut recorder = Recorder::new();
        let mut at = room.start;
        let mut kind = Kind::Incomplete;
        for _ in 0..STEPS {
            let labels = &room.labels[at];
            recorder.observe(labels);
            monitor.observe(&bound, labels);
            kind = match machine.progress(monitor.state()) {
                Progress::Accepted => Kind::Goal,
                Progress::Rejected => Kind::DeadEnd,
                Progress::Running => Kind::Incomplete,
            };
            if kind != Kind::Incomplete {
                break;
            }
            at = room.step(at, random.below(4));
        }
        let found = lines.entry(kind).or_default();
        if found.len() < count {
            found.push(recorder.finish(kind).to_json(&signature));
        }
    }
    let declared: Vec<String> = signature.atoms().iter().map(ToString::to_string).collect();
    println!("{}", serde_json::json!({ "signature": declared }));
    for line in lines.into_values().flatten() {
        println!("{line}");
    }
    Ok(())
}

/// A room with things in its cells.
struct Room {
    walls: Vec<bool>,
    labels: Vec<AtomSet>,
    start: usize,
}

impl Room {
    fn draw(
        atoms: &[String],
        checkpoints: usize,
        lava: bool,
        signature: &Signature,
        random: &mut Random,
    ) -> Result<Self, form_core::Error> {
        let wall = |x: usize, y: usize| {
            x == 0
                || y == 0
                || x == SIZE - 1
                || y == SIZE - 1
                || x == 6 && matches!(y, 1..=2 | 4..=9 | 11)
                || y == 6 && matches!(x, 1 | 3..=5)
                || y == 7 && matches!(x, 7..=8 | 10..=11)
        };
        let walls: Vec<bool> = (0..SIZE * SIZE)
            .map(|cell| wall(cell % SIZE, cell / SIZE))
            .collect();
        let mut labels = vec![AtomSet::new(); SIZE * SIZE];
        labels[11 * SIZE + 11] = signature.observation(["goal"])?;
        let mut free = |labels: &[AtomSet], limit: usize| loop {
            let cell = (1 + random.below(limit)) + SIZE * (1 + random.below(limit));
            if !walls[cell] && labels[cell].is_empty() {
                return cell;
            }
        };
        for atom in &atoms[..checkpoints] {
            let cell = free(&labels, 10);
            labels[cell] = signature.observation([atom])?;
        }
        for _ in 0..if lava { 5 } else { 0 } {
            let cell = free(&labels, 10);
            labels[cell] = signature.observation(["lava"])?;
        }
        let start = free(&labels, 11);
        Ok(Self {
            walls,
            labels,
            start,
        })
    }

    /// The cell to the north, east, south or west, unless a wall is there.
    fn step(&self, at: usize, direction: usize) -> usize {
        let to = match direction {
            0 => at - SIZE,
            1 => at + 1,
            2 => at + SIZE,
            _ => at - 1,
        };
        if self.walls[to] { at } else { to }
    }
}

/// Marsaglia's xorshift: the same seed gives the same traces everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % limit as u64) as usize
    }
}
