//! What a block on a page is, told by what stands behind its fence, and the checks of blocks that need not be run: machines,
//! formulae, traces, tasks and settings are read by the crates that read them for users.

use std::path::Path;

use form_core::{Formula, Machine, Signature, TraceFile};
use form_env::Task;
use form_formats::{EventLogOptions, read_csv_log};
use form_lab::RunConfig;

use super::page::{Page, Piece};

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `sh`: commands to be run, the exit code that the last of them has.
    Commands { exit: i32 },
    /// `sh,install`: commands that other parts of the continuous integration run.
    Install,
    /// `text`: what the commands before it print.
    Output,
    /// `text,tree`: files that the commands before it leave.
    Tree,
    /// `text,formula`: a formula a line.
    Formulae,
    /// `text,grammar`: the rules of a language, for people.
    Grammar,
    /// `form`: a machine file.
    Machine,
    /// `json`: one value; a machine if it has edges.
    Json,
    /// `jsonl`: a value a line, traces if they have steps.
    JsonLines,
    /// `csv`: an event log with the columns `case` and `activity`.
    EventLog,
    /// `toml,task`
    Task,
    /// `toml,config`: settings of a run.
    Settings,
    /// `rust`: tested by the package of the book.
    Rust,
    /// `python`: tested by the Python package.
    Python,
}

impl Kind {
    /// What stands behind a fence, understood.
    pub fn of(info: &str) -> Result<Self, String> {
        Ok(match parts(info).0 {
            "sh" => Self::Commands { exit: 0 },
            "sh,exit=1" => Self::Commands { exit: 1 },
            "sh,exit=2" => Self::Commands { exit: 2 },
            "sh,install" => Self::Install,
            "text" => Self::Output,
            "text,tree" => Self::Tree,
            "text,formula" => Self::Formulae,
            "text,grammar" => Self::Grammar,
            "form" => Self::Machine,
            "json" => Self::Json,
            "jsonl" => Self::JsonLines,
            "csv" => Self::EventLog,
            "toml,task" => Self::Task,
            "toml,config" => Self::Settings,
            "rust" => Self::Rust,
            "python" => Self::Python,
            "" => return Err("a block that does not say what it is".to_owned()),
            other => return Err(format!("no check for blocks of the kind `{other}`")),
        })
    }
}

/// The kind behind a fence, and the name of the file that readers are told to save the block as (`form,file=own.form`).
pub fn parts(info: &str) -> (&str, Option<&str>) {
    match info.split_once(",file=") {
        Some((kind, file)) => (kind, Some(file)),
        None => (info, None),
    }
}

/// The pages that may have grammars: nothing can check one but people.
const GRAMMARS: [&str; 2] = ["book/src/language.md", "book/src/formats.md"];

/// Lines that no test of the book can run, by their beginnings, and the step of `.ci/run` that does: the same work, in the profile and the
/// folders of the tests.
pub const INSTALL: [(&str, &str); 12] = [
    ("cargo install --path crates/form-cli", "command_line"),
    ("cargo run --release -- train ", "command_line"),
    ("cargo run --release -- bench", "tests"),
    ("cargo run --release -p form-lab --example ", "examples"),
    (
        "cargo run --release -p form-learn --example ablation ",
        "examples",
    ),
    (
        "cargo run --release -p form-paper --example learning_growth ",
        "examples",
    ),
    ("cargo test --workspace", "tests"),
    ("pip install ./python", "python"),
    ("python python/benches/tabular.py ", "python"),
    ("python python/benches/water_seeds.py ", "ecosystem"),
    ("python python/benches/half_cheetah_seeds.py ", "ecosystem"),
    ("pip install \"./python[", "ecosystem"),
];

/// What is wrong with the blocks of a page as far as it can be told without running them. `rust` is the text of the file that
/// has Rust's blocks tested.
pub fn problems(page: &Page, rust: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let mut commands_before = false;
    for (line, piece) in &page.pieces {
        let mut complain = |problem: &str| problems.push(page.complaint(*line, problem));
        let (info, text) = match piece {
            Piece::Block { info, text } => (info, text),
            Piece::Stray(problem) => {
                complain(problem);
                continue;
            }
            _ => continue,
        };
        let kind = match Kind::of(info) {
            Ok(kind) => kind,
            Err(problem) => {
                complain(&problem);
                continue;
            }
        };
        if matches!(kind, Kind::Output | Kind::Tree) && !commands_before {
            complain("what commands print, and no commands before it");
        }
        if let Err(problem) = check(kind, text, page, rust) {
            complain(&problem);
        }
        commands_before = match kind {
            Kind::Commands { .. } => true,
            Kind::Output => commands_before,
            _ => false,
        };
    }
    problems
}

fn check(kind: Kind, text: &str, page: &Page, rust: &str) -> Result<(), String> {
    match kind {
        Kind::Install => install(text),
        Kind::Grammar if !GRAMMARS.contains(&page.name.as_str()) => {
            Err("a grammar, which nothing checks, on a page that is known for none".to_owned())
        }
        Kind::Formulae => (text.lines()).try_for_each(|formula| {
            let read: Result<Formula, _> = formula.parse();
            read.map(drop).map_err(|error| error.to_string())
        }),
        Kind::Machine => {
            let read: Result<Machine, _> = text.parse();
            read.map(drop).map_err(|error| error.to_string())
        }
        Kind::Json => json(text),
        Kind::JsonLines => json_lines(text),
        Kind::EventLog => event_log(text),
        Kind::Task => (Task::from_toml(text).map(drop)).map_err(|error| error.to_string()),
        Kind::Settings => settings(text),
        Kind::Rust if !rust.contains(&format!("include_str!(\"../{}\")", page.name)) => {
            Err("Rust on a page that book/lib.rs does not name".to_owned())
        }
        _ => Ok(()),
    }
}

fn install(text: &str) -> Result<(), String> {
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        if !INSTALL.iter().any(|(known, _)| line.starts_with(known)) {
            return Err(format!("nothing is known to run `{line}`"));
        }
    }
    Ok(())
}

fn json(text: &str) -> Result<(), String> {
    let value: serde_json::Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if value.get("edges").is_some() {
        Machine::from_json(text).map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn json_lines(text: &str) -> Result<(), String> {
    let mut traces = false;
    for line in text.lines() {
        let value: serde_json::Value =
            serde_json::from_str(line).map_err(|error| format!("{line}: {error}"))?;
        traces |= value.get("steps").is_some() || value.get("signature").is_some();
    }
    if !traces {
        return Ok(());
    }
    let file = || TraceFile::new("the block", std::io::Cursor::new(text.to_owned()));
    let signature: Signature =
        (file().and_then(TraceFile::signature)).map_err(|e| e.to_string())?;
    let read = file().and_then(|file| file.traces(&signature));
    read.map(drop).map_err(|error| error.to_string())
}

fn event_log(text: &str) -> Result<(), String> {
    let options = EventLogOptions {
        case: "case".to_owned(),
        activity: "activity".to_owned(),
        objects: Vec::new(),
        outcome: None,
        goal: Vec::new(),
        dead_end: Vec::new(),
    };
    let read = read_csv_log("the block", text.as_bytes(), &options);
    read.map(drop).map_err(|error| error.to_string())
}

/// Settings may leave out what the preset `fast` says.
fn settings(text: &str) -> Result<(), String> {
    let mut whole = RunConfig::new("all-yellow", form_lab::Method::Form, form_lab::Preset::Fast);
    if RunConfig::from_toml(text, Path::new("the block")).is_ok() {
        return Ok(());
    }
    let table: toml::Table = text.parse().map_err(|error| format!("{error}"))?;
    for (key, value) in &table {
        let mut set = |name: &str, value: &toml::Value| {
            let set = whole.set(name, &value.to_string());
            set.map_err(|error| format!("{name}: {error:#}"))
        };
        let Some(inner) = value.as_table() else {
            set(key, value)?;
            continue;
        };
        for (last, value) in inner {
            set(&format!("{key}.{last}"), value)?;
        }
    }
    Ok(())
}
