//! The world of a machine that comes without one: the paper's room with all twelve checkpoints.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use form_core::Machine;
use form_env::{Colour, Error, Task, TaskDescription};

/// The tasks whose rooms are tried: twelve checkpoints, then those with more.
const TASKS: [&str; 4] = [
    "all-yellow",
    "green-but-one",
    "all-yellow-4",
    "all-yellow-6",
];

/// The number of lava cells, where the machine knows lava: that of the paper.
const LAVA: usize = 5;

/// A world for a machine: the paper's room with two checkpoints of each colour, or with more of one colour if the machine names one
/// of them; with lava, a key or a door of each colour if the machine names them.
pub fn world_for(machine: &Machine) -> Result<Task> {
    let names = |word: &str| {
        (machine.atoms().iter())
            .any(|atom| (atom.predicates().iter()).any(|(predicate, _)| predicate.as_str() == word))
    };
    let colours = |word: &str| match names(word) {
        true => BTreeSet::from(Colour::ALL),
        false => BTreeSet::new(),
    };
    let mut first = None;
    for task in TASKS {
        let room = Task::builtin(task)?;
        let fits = Task::new(TaskDescription {
            name: "paper-room".to_owned(),
            about: String::new(),
            lava: if names("lava") { LAVA } else { 0 },
            keys: colours("key"),
            doors: colours("door"),
            machine: machine.clone(),
            ..room.description().clone()
        });
        match fits {
            Ok(task) => return Ok(task),
            Err(error) => first = first.or(Some((room, error))),
        }
    }
    let Some((room, error)) = first else {
        unreachable!("there are rooms");
    };
    let atoms: Vec<String> = (room.signature().atoms().iter().map(ToString::to_string)).collect();
    bail!(
        "{}; the paper's room has {}{}; --world TASK names another world",
        problem_of(&error),
        atoms.join(", "),
        if names("lava") { " and lava" } else { "" },
    );
}

/// The problem, without the name of a task that the user has not written.
fn problem_of(error: &Error) -> String {
    match error {
        Error::Task { problem, .. } => problem.clone(),
        other => other.to_string(),
    }
}
