//! Task files in TOML: reading them, with the place of every mistake, and writing them.
//!
//! ```toml
//! name = "two-rooms"
//! about = "Visit any red checkpoint, then the goal."
//! machine = "two_rooms.form"      # a file beside this one, or the machine itself in '''…'''
//! steps = 500
//! lava = 2                        # none if left out
//!
//! [room]                          # or room = "paper"
//! rows = [                        # or size = [9, 5] and goal = [7, 3]
//!     "#########",
//!     "#...#...#",
//!     "#.......#",
//!     "#...#..G#",
//!     "#########",
//! ]
//! area = [1, 1, 6, 3]             # where checkpoints may lie: left, top, right, bottom; anywhere if left out
//!
//! keys = ["red", "blue"]          # one of each colour, observed as `key(red)`; none if left out
//! doors = ["red", "blue"]
//!
//! [checkpoints]
//! red = 2
//! blue = [1, 2, 4]                # every map has one of these numbers of them
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::io;
use std::path::Path;

use form_core::{Machine, Snippet};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::object_sets::Counts;
use super::room_file;
use super::table::{Table, fault};
use super::task::{Field, Task, TaskDescription};
use crate::error::{Error, Result};
use crate::grid::colour::Colour;
use crate::grid::room::Room;

/// How a machine file that a task names is read.
pub(crate) type ReadMachine<'a> = dyn Fn(&Path) -> io::Result<String> + 'a;

const KEYS: [&str; 9] = [
    "name",
    "about",
    "machine",
    "room",
    "steps",
    "lava",
    "keys",
    "doors",
    "checkpoints",
];

/// The limit of steps where a file does not set one: the paper's.
const STEPS: u32 = 3000;

/// Reads a task file.
///
/// Machine files are named relative to `folder`.
pub(crate) fn read(text: &str, folder: &Path, read_machine: &ReadMachine<'_>) -> Result<Task> {
    let document = DeTable::parse(text).map_err(|error| {
        let at = error.span().unwrap_or(0..0);
        fault(text, at, error.message())
    })?;
    let end = text.len()..text.len();
    let table = Table::new(text, document.get_ref(), end, &KEYS)?;
    let machine = table.required("machine")?;
    let checkpoints = match table.get("checkpoints") {
        Some(value) => read_checkpoints(text, value)?,
        None => BTreeMap::new(),
    };
    let description = TaskDescription {
        name: table.string(table.required("name")?)?.to_owned(),
        about: match table.get("about") {
            Some(about) => table.string(about)?.to_owned(),
            None => String::new(),
        },
        room: read_room(text, &table)?,
        checkpoints,
        keys: read_colours(text, &table, "keys")?,
        doors: read_colours(text, &table, "doors")?,
        lava: table.get("lava").map_or(Ok(0), |lava| table.number(lava))?,
        steps: match table.get("steps") {
            Some(steps) => u32::try_from(table.number(steps)?).map_err(|_| {
                let problem = format!("an episode has at most {} steps", u32::MAX);
                fault(text, steps.span(), problem)
            })?,
            None => STEPS,
        },
        machine: read_machine_of(&table, machine, folder, read_machine)?,
    };
    Task::check(description).map_err(|(part, problem)| {
        let key = match part {
            Field::Name => "name",
            Field::Checkpoints | Field::Colour(_) => "checkpoints",
            Field::Lava => "lava",
            Field::Steps => "steps",
            Field::Machine => "machine",
        };
        let value = table.get(key);
        let inside = value.and_then(|value| match part {
            Field::Colour(colour) => value.get_ref().as_table()?.get(colour.as_str()),
            _ => None,
        });
        let at = inside.or(value).map_or(0..0, Spanned::span);
        fault(text, at, problem)
    })
}

fn read_room(text: &str, table: &Table<'_>) -> Result<Room> {
    let room = table.required("room")?;
    match room.get_ref() {
        DeValue::String(name) if name == "paper" => Ok(Room::paper()),
        DeValue::Table(inside) => room_file::read(text, room.span(), inside),
        _ => Err(fault(
            text,
            room.span(),
            "expected \"paper\", the room of the paper, or a table with `rows` or `size`",
        )),
    }
}

fn read_checkpoints(text: &str, value: &Spanned<DeValue<'_>>) -> Result<BTreeMap<Colour, Counts>> {
    let Some(inside) = value.get_ref().as_table() else {
        let problem = "expected a table of colours and numbers, as in `yellow = 2`, or `yellow = [2, 4]` where maps differ";
        return Err(fault(text, value.span(), problem));
    };
    let known = Colour::ALL.map(Colour::as_str);
    let table = Table::new(text, inside, value.span(), &known)?;
    let mut checkpoints = BTreeMap::new();
    for colour in Colour::ALL {
        if let Some(count) = table.get(colour.as_str()) {
            checkpoints.insert(colour, read_counts(text, &table, count)?);
        }
    }
    Ok(checkpoints)
}

/// A number of objects, or a list of the numbers of which every map has one.
fn read_counts<'a>(
    text: &str,
    table: &Table<'a>,
    value: &'a Spanned<DeValue<'a>>,
) -> Result<Counts> {
    if value.get_ref().as_array().is_none() {
        return Ok(table.number(value)?.into());
    }
    let numbers = table.array(value, "a list of numbers")?.iter();
    let numbers = numbers.map(|number| table.number(number));
    Counts::new(numbers.collect::<Result<Vec<usize>>>()?).ok_or_else(|| {
        let problem =
            "an empty list: name the numbers of checkpoints that maps may have, as in `[2, 4]`";
        fault(text, value.span(), problem)
    })
}

/// A list of colours, each at most once; none if the key is left out.
fn read_colours(text: &str, table: &Table<'_>, key: &str) -> Result<BTreeSet<Colour>> {
    let mut colours = BTreeSet::new();
    let Some(value) = table.get(key) else {
        return Ok(colours);
    };
    let Some(list) = value.get_ref().as_array() else {
        let problem = "expected a list of colours, as in `[\"red\", \"blue\"]`";
        return Err(fault(text, value.span(), problem));
    };
    for value in list {
        let colour: Colour = (table.string(value)?.parse())
            .map_err(|problem: String| fault(text, value.span(), problem))?;
        if !colours.insert(colour) {
            let problem = format!("{colour} a second time: there is one of each colour");
            return Err(fault(text, value.span(), problem));
        }
    }
    Ok(colours)
}

/// The machine: a text of several lines is the machine itself, everything else the name of its file.
fn read_machine_of(
    table: &Table<'_>,
    value: &Spanned<DeValue<'_>>,
    folder: &Path,
    read: &ReadMachine<'_>,
) -> Result<Machine> {
    let machine = table.string(value)?;
    if machine.contains('\n') {
        let ends = |text: &str| text.matches('\n').count();
        // Line ends that are written as escapes are none of the file's: the mistake is somewhere in the string.
        if ends(&table.text[value.span()]) < ends(machine) {
            let place = |error: Error| fault(table.text, value.span(), error.to_string());
            return parse_machine(machine).map_err(place);
        }
        // As many lines before it as in the file, so that its mistakes are where they are found.
        let start = value.span().start;
        let lines = table.text[..start].matches('\n').count() + skipped(&table.text[start..]);
        return parse_machine(&("\n".repeat(lines) + machine));
    }
    let path = folder.join(machine);
    let text = read(&path).map_err(|error| {
        let problem = format!("cannot read the machine file `{}`: {error}", path.display());
        fault(table.text, value.span(), problem)
    })?;
    parse_machine(&text).map_err(|error| error.in_file(&path.display().to_string()))
}

/// How many line ends a string begins with that are not part of it: one behind the quotes of a text of several lines.
fn skipped(string: &str) -> usize {
    let quotes = ["\"\"\"", "'''"].into_iter();
    let inside = quotes.filter_map(|quotes| string.strip_prefix(quotes));
    inside
        .filter(|text| text.starts_with('\n') || text.starts_with("\r\n"))
        .count()
}

/// The bytes of a file. A pipe may keep its reader waiting for ever, and a device has no end.
fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let kind = std::fs::metadata(path)?.file_type();
    match kind.is_file() || kind.is_dir() {
        true => std::fs::read(path),
        false => Err(io::Error::other("a pipe or a device, not a file")),
    }
}

fn parse_machine(text: &str) -> Result<Machine> {
    let machine = if text.trim_start().starts_with('{') {
        Machine::from_json(text)
    } else {
        text.parse()
    };
    machine.map_err(|source| Error::Machine { source })
}

impl Task {
    /// Reads the text of a task file whose machine is written in it.
    pub fn from_toml(text: &str) -> Result<Self> {
        read(text, Path::new(""), &|_: &Path| {
            Err(io::Error::other("only the text of the task is at hand"))
        })
    }

    /// Reads a task file; machine files are looked for beside it.
    pub fn open(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let text = read_file(path).map_err(|source| Error::Io {
            path: name.clone(),
            source,
        })?;
        let text = String::from_utf8(text).map_err(|error| {
            let good = error.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
            let problem = "not UTF-8 text, as task files are".to_owned();
            Error::Syntax(Box::new(
                Snippet::new(&text, good..good, problem).in_file(&name),
            ))
        })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let from_disk = |file: &Path| {
            String::from_utf8(read_file(file)?)
                .map_err(|_| io::Error::other("not UTF-8 text, as machine files are"))
        };
        read(&text, folder, &from_disk).map_err(|error| error.in_file(&name))
    }

    /// The built-in task of that name, or, for a name that ends in `.toml`, the task of that file.
    pub fn find(name: &str) -> Result<Self> {
        if Path::new(name)
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            Self::open(Path::new(name))
        } else {
            Self::builtin(name)
        }
    }

    /// A task file with everything in it, the machine too; reading it gives the same task.
    pub fn to_toml(&self) -> String {
        let task = self.description();
        let string = |text: &str| toml::Value::String(text.to_owned()).to_string();
        let mut text = String::new();
        let _ = writeln!(text, "name = {}", string(&task.name));
        let _ = writeln!(text, "about = {}", string(&task.about));
        let _ = writeln!(text, "machine = '''\n{}'''", task.machine);
        let _ = writeln!(text, "steps = {}", task.steps);
        if task.lava > 0 {
            let _ = writeln!(text, "lava = {}", task.lava);
        }
        for (key, colours) in [("keys", &task.keys), ("doors", &task.doors)] {
            let names: Vec<String> = (colours.iter())
                .map(|colour| string(colour.as_str()))
                .collect();
            if !names.is_empty() {
                let _ = writeln!(text, "{key} = [{}]", names.join(", "));
            }
        }
        text += &room_file::write(&task.room);
        text += "\n[checkpoints]\n";
        for (colour, counts) in &task.checkpoints {
            let _ = match counts.numbers() {
                [one] => writeln!(text, "{colour} = {one}"),
                several => writeln!(text, "{colour} = {several:?}"),
            };
        }
        text
    }
}
