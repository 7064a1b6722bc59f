//! The built-in tasks: those of the paper, and one for each kind of atom over the window. Each is a task file like those that users
//! write.

use std::path::Path;

use super::file;
use super::task::Task;
use crate::error::{Error, Result};

/// The task files; the paper's come first.
const FILES: [&str; 8] = [
    include_str!("../../tasks/all-yellow.toml"),
    include_str!("../../tasks/all-yellow-4.toml"),
    include_str!("../../tasks/all-yellow-6.toml"),
    include_str!("../../tasks/green-but-one.toml"),
    include_str!("../../tasks/blue-all-yellow-7.toml"),
    include_str!("../../tasks/any-two-yellow.toml"),
    include_str!("../../tasks/yellow-and-blue.toml"),
    include_str!("../../tasks/key-and-door.toml"),
];

/// How many of them are the paper's.
const OF_THE_PAPER: usize = 5;

/// The machine files that they name.
const MACHINES: [(&str, &str); 6] = [
    (
        "all_yellow.form",
        include_str!("../../tasks/all_yellow.form"),
    ),
    (
        "green_but_one.form",
        include_str!("../../tasks/green_but_one.form"),
    ),
    (
        "blue_all_yellow_7.form",
        include_str!("../../tasks/blue_all_yellow_7.form"),
    ),
    (
        "any_two_yellow.form",
        include_str!("../../tasks/any_two_yellow.form"),
    ),
    (
        "yellow_and_blue.form",
        include_str!("../../tasks/yellow_and_blue.form"),
    ),
    (
        "key_and_door.form",
        include_str!("../../tasks/key_and_door.form"),
    ),
];

/// The tasks of the paper: `all-yellow`, `all-yellow-4`, `all-yellow-6`, `green-but-one`, `blue-all-yellow-7`.
pub fn paper_tasks() -> Vec<Task> {
    let mut tasks = builtin_tasks();
    tasks.truncate(OF_THE_PAPER);
    tasks
}

/// The [tasks of the paper](paper_tasks), and `any-two-yellow`, `yellow-and-blue`, `key-and-door`.
pub fn builtin_tasks() -> Vec<Task> {
    let machine = |name: &Path| {
        let known = MACHINES.iter().find(|(known, _)| Path::new(known) == name);
        known.map_or_else(
            || Err(std::io::ErrorKind::NotFound.into()),
            |(_, text)| Ok((*text).to_owned()),
        )
    };
    (FILES.iter())
        .map(|text| {
            file::read(text, Path::new(""), &machine).expect("the built-in tasks are tested")
        })
        .collect()
}

/// The built-in task that a mistyped name is likely to mean: at most a third of its letters is wrong (Levenshtein 1966).
pub fn nearest_task(name: &str) -> Option<String> {
    let (name, most) = (name.to_lowercase(), name.chars().count() / 3);
    let known = builtin_tasks()
        .into_iter()
        .map(|task| task.name().to_owned());
    let near = known.map(|known| (strsim::levenshtein(&name, &known), known));
    near.filter(|(distance, _)| *distance <= most)
        .min()
        .map(|(_, known)| known)
}

impl Task {
    /// The built-in task of that name.
    ///
    /// ```
    /// let task = form_env::Task::builtin("all-yellow")?;
    /// assert_eq!(task.signature().len(), 13);
    /// # Ok::<(), form_env::Error>(())
    /// ```
    pub fn builtin(name: &str) -> Result<Self> {
        let mut tasks = builtin_tasks();
        match tasks.iter().position(|task| task.name() == name) {
            Some(i) => Ok(tasks.swap_remove(i)),
            None => Err(Error::UnknownTask {
                name: name.to_owned(),
                nearest: nearest_task(name),
                known: (tasks.iter().map(Task::name))
                    .collect::<Vec<_>>()
                    .join(", "),
            }),
        }
    }
}
