//! `form tasks`: the built-in tasks, and the description of one task.

use std::collections::BTreeSet;

use anyhow::Result;
use form_core::to_text;
use form_env::{Colour, Frame, Split, Task, builtin_tasks};
use serde_json::{Value, json};

use crate::output::count;
use crate::world::TaskName;
use crate::{Answer, output};

/// List the built-in tasks, or show one with its machine
///
/// A task has a goal, a room, observable atoms and a machine. The name of a task file ends in .toml; mistakes in it are shown with
/// their place. A file may give several numbers of checkpoints, `yellow = [2, 3, 4]`: each map has one of them, and `forall` ranges over
/// the objects of the map.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  form tasks\n  form tasks green-but-one\n  form tasks examples/two_rooms.toml\n  form tasks examples/all_yellow_mixed.toml\n  form tasks all-yellow --toml\n  form tasks all-yellow --machine"
)]
pub struct Args {
    /// The task to show: a name, or a task file that ends in .toml
    #[arg(value_parser = TaskName, hide_possible_values = true)]
    task: Option<String>,
    /// Print the task as a task file, to start one of your own from
    #[arg(long, requires = "task", conflicts_with = "json")]
    toml: bool,
    /// Print the machine behind the task, as a .form file
    #[arg(long, requires = "task", conflicts_with_all = ["json", "toml"])]
    machine: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<Answer> {
    match &args.task {
        Some(name) => {
            let task = Task::find(name)?;
            if args.machine {
                output::print(&task.description().machine.to_string())?;
            } else if args.toml {
                output::print(&task.to_toml())?;
            } else if args.json {
                output::print_json(&to_json(&task))?;
            } else {
                output::print(&describe(&task)?)?;
            }
        }
        None if args.json => {
            let tasks: Vec<Value> = builtin_tasks().iter().map(to_json).collect();
            output::print_json(&json!({ "tasks": tasks }))?;
        }
        None => {
            let mut text = String::new();
            for task in builtin_tasks() {
                text += &format!("{:<20}{}\n", task.name(), task.description().about);
            }
            output::print(&text)?;
        }
    }
    Ok(Answer::Yes)
}

fn to_json(task: &Task) -> Value {
    let description = task.description();
    let checkpoints: serde_json::Map<String, Value> = (description.checkpoints.iter())
        .map(|(colour, counts)| {
            let counts = match counts.numbers() {
                [one] => json!(one),
                several => json!(several),
            };
            (colour.to_string(), counts)
        })
        .collect();
    let atoms = task.signature().atoms().iter();
    json!({
        "name": description.name,
        "about": description.about,
        "rows": description.room.rows(),
        "checkpoints": checkpoints,
        "keys": names(&description.keys),
        "doors": names(&description.doors),
        "lava": description.lava,
        "steps": description.steps,
        "signature": atoms.map(ToString::to_string).collect::<Vec<_>>(),
        "machine": description.machine.to_string(),
    })
}

/// The names of colours.
fn names(colours: &BTreeSet<Colour>) -> Vec<&'static str> {
    colours.iter().map(|colour| colour.as_str()).collect()
}

/// The task in words, with its first map.
fn describe(task: &Task) -> Result<String> {
    let description = task.description();
    let colours: Vec<String> = (description.checkpoints.iter())
        .filter(|(_, counts)| counts.most() > 0)
        .map(|(colour, counts)| format!("{counts} {colour}"))
        .collect();
    let mut things = if colours.is_empty() {
        "no checkpoints".to_owned()
    } else {
        format!("checkpoints: {}", colours.join(", "))
    };
    for (what, colours) in [("keys", &description.keys), ("doors", &description.doors)] {
        if !colours.is_empty() {
            things += &format!("; {what}: {}", names(colours).join(", "));
        }
    }
    if description.lava > 0 {
        things += &format!("; {} of lava", count(description.lava, "cell"));
    }
    let signature = task.signature();
    let map = task.map(0, Split::Training, 0)?;
    Ok(format!(
        "{}: {}\n\n{things}; {} per episode\nsignature: {}\n\n{}\none of its maps (seed 0, map 0):\n\n{}",
        description.name,
        description.about,
        count(description.steps as usize, "step"),
        signature.describe(&signature.ids().collect()),
        to_text(&description.machine),
        Frame::of_map(task, &map).to_text(false),
    ))
}
