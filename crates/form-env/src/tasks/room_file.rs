//! The room of a task file: a picture of its walls, or its size and nothing in it.

use std::fmt::Write;
use std::ops::Range;

use toml::de::DeTable;

use super::table::{Table, fault};
use crate::env::spec::Cell;
use crate::error::Result;
use crate::grid::room::{Area, Room};

const KEYS: [&str; 4] = ["rows", "size", "goal", "area"];

/// Reads the table of a room.
pub(crate) fn read(text: &str, place: Range<usize>, table: &DeTable<'_>) -> Result<Room> {
    let table = Table::new(text, table, place.clone(), &KEYS)?;
    let mut room = match (table.get("rows"), table.get("size")) {
        (Some(rows), None) => {
            let rows = table.array(rows, "a list of rows, each a text in quotes")?;
            let pictures =
                (rows.iter().map(|row| table.string(row))).collect::<Result<Vec<_>>>()?;
            Room::read(&pictures).map_err(|(row, problem)| {
                let at = rows.get(row).map_or(place.clone(), toml::Spanned::span);
                fault(text, at, problem)
            })?
        }
        (None, Some(size)) => {
            let [width, height] = table.numbers(size, "width and height, as in [13, 13]")?;
            Room::empty(width, height)
                .map_err(|error| fault(text, size.span(), error.to_string()))?
        }
        (Some(_), Some(size)) => {
            let problem =
                "`rows` and `size`: the picture says how large the room is, leave `size` out";
            return Err(fault(text, size.span(), problem));
        }
        (None, None) => {
            return Err(fault(text, place, "a room needs `rows` or `size`"));
        }
    };
    if let Some(goal) = table.get("goal") {
        if table.get("rows").is_some() {
            let problem = "the goal is the `G` in the picture, leave `goal` out";
            return Err(fault(text, goal.span(), problem));
        }
        let [x, y] = table.numbers(goal, "column and row, as in [11, 11]")?;
        let cell = Cell { x, y };
        if room.is_wall(cell) {
            return Err(fault(text, goal.span(), format!("a wall is at ({x}, {y})")));
        }
        room = room.with_goal(cell);
    }
    if let Some(area) = table.get("area") {
        let expected = "left, top, right and bottom, as in [1, 1, 10, 10]";
        let [left, top, right, bottom] = table.numbers(area, expected)?;
        let area_of = Area {
            first: Cell { x: left, y: top },
            last: Cell {
                x: right,
                y: bottom,
            },
        };
        if left > right || top > bottom || right >= room.width() || bottom >= room.height() {
            let (width, height) = (room.width(), room.height());
            let problem = format!("not an area of a room of {width} × {height} cells: {expected}");
            return Err(fault(text, area.span(), problem));
        }
        room = room.with_area(area_of);
    }
    Ok(room)
}

/// Writes the table of a room, as a picture.
pub(crate) fn write(room: &Room) -> String {
    let mut text = "\n[room]\nrows = [\n".to_owned();
    for row in room.rows() {
        let _ = writeln!(text, "    \"{row}\",");
    }
    let Area { first, last } = room.area();
    let _ = writeln!(
        text,
        "]\narea = [{}, {}, {}, {}]",
        first.x, first.y, last.x, last.y
    );
    text
}
