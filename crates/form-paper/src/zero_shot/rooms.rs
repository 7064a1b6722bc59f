//! Rooms of other sizes and with other walls than the paper's.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use form_core::Machine;
use form_env::{Colour, Room, Task, TaskDescription};

/// A room by its name, its side, and where its walls are.
const ROOMS: [(&str, usize, Walls); 8] = [
    ("9x9-open", 9, Walls::None),
    ("9x9-cross", 9, Walls::Every(4)),
    ("13x13-open", 13, Walls::None),
    ("13x13-pillars", 13, Walls::Pillars),
    ("17x17-cross", 17, Walls::Every(8)),
    ("17x17-rooms", 17, Walls::Every(4)),
    ("25x25-open", 25, Walls::None),
    ("25x25-rooms", 25, Walls::Every(6)),
];

#[derive(Clone, Copy)]
enum Walls {
    /// Around the room only.
    None,
    /// All across at every multiple of a number, with a door in the middle of each part.
    Every(usize),
    /// Single cells at every third column and row.
    Pillars,
}

/// The machines that are carried out in them.
const MACHINES: [(&str, &str); 3] = [
    ("all-yellow", "forall X. yellow(X); goal"),
    (
        "blue-all-yellow-7",
        "exists X. blue(X); forall X. yellow(X); purple(o7); goal",
    ),
    (
        "green-but-one-no-red",
        "never lava; u0 -> u_rej : exists X. red(X); exists X. green(X) and not green(o11); u1 -> u_rej : exists X. grey(X); goal",
    ),
];

/// The tasks in other rooms.
pub(crate) fn tasks() -> Result<Vec<Task>> {
    let mut tasks = Vec::new();
    for (name, side, walls) in ROOMS {
        for (machine, line) in MACHINES {
            let machine = Machine::from_line(line)?.renamed(machine)?;
            tasks.push(Task::new(TaskDescription {
                name: format!("{name}-{}", machine.name()),
                about: String::new(),
                room: room(side, walls)?,
                checkpoints: BTreeMap::from(Colour::ALL.map(|colour| (colour, 2.into()))),
                keys: BTreeSet::new(),
                doors: BTreeSet::new(),
                lava: if line.contains("lava") { side / 3 } else { 0 },
                steps: 3000,
                machine,
            })?);
        }
    }
    Ok(tasks)
}

/// A square room without walls inside.
pub(crate) fn open_room(side: usize) -> Result<Room> {
    room(side, Walls::None)
}

fn room(side: usize, walls: Walls) -> Result<Room> {
    let last = side - 1;
    let symbol = |x: usize, y: usize| {
        let border = x == 0 || y == 0 || x == last || y == last;
        let inner = match walls {
            Walls::None => false,
            Walls::Every(part) => {
                let door = |along: usize| along % part == part / 2;
                x.is_multiple_of(part) && !door(y) || y.is_multiple_of(part) && !door(x)
            }
            Walls::Pillars => x.is_multiple_of(3) && y.is_multiple_of(3),
        };
        match () {
            () if border || inner => '#',
            () if (x, y) == (last - 1, last - 1) => 'G',
            () => '.',
        }
    };
    let rows: Vec<String> = (0..side)
        .map(|y| (0..side).map(|x| symbol(x, y)).collect())
        .collect();
    Ok(Room::from_rows(&rows)?)
}
