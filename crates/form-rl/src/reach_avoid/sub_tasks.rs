//! Sub-tasks drawn at random, to train on and to measure with: rooms, objects in them, and which of these are to be reached or avoided.

use form_env::{Cell, Direction, Random, ReachAvoid, Room, Stream, generator};
use rand::RngExt;

use super::distances::Distances;
use crate::Result;

/// A family of sub-tasks.
#[derive(Clone, Debug, PartialEq)]
pub struct SubTasks {
    /// The rooms that half of the sub-tasks are in; may be empty.
    pub rooms: Vec<Room>,
    /// The sides of the rooms that are drawn for the others: from the first to the second number of cells. If 0, all are in given rooms.
    pub sides: (usize, usize),
}

/// A sub-task with its exact solution.
#[derive(Clone, Debug)]
pub struct SubTask {
    /// Which cells to reach and which to avoid.
    pub cells: ReachAvoid,
    /// Its solution.
    pub distances: Distances,
}

impl SubTasks {
    /// Sub-tasks in this room only.
    pub fn of_room(room: Room) -> Self {
        Self {
            rooms: vec![room],
            sides: (0, 0),
        }
    }

    /// Sub-tasks in drawn rooms with sides from the first to the second number of cells.
    pub fn of_sides(least: usize, most: usize) -> Self {
        Self {
            rooms: Vec::new(),
            sides: (least, most),
        }
    }

    /// Draws the sub-task of a stream: one that some pose has a way to solve.
    pub fn draw(&self, seed: u64, stream: Stream) -> Result<SubTask> {
        let mut random = generator(seed, stream);
        loop {
            let given = match self.rooms.len() {
                0 => None,
                rooms => (self.sides.1 == 0 || random.random_bool(0.5))
                    .then(|| self.rooms[random.random_range(0..rooms)].clone()),
            };
            let room = match given {
                Some(room) => room,
                None => draw_room(self.sides, &mut random)?,
            };
            let cells = draw_cells(&room, &mut random);
            let distances = Distances::new(&cells);
            let task = SubTask { cells, distances };
            if !task.starts().is_empty() {
                return Ok(task);
            }
        }
    }
}

impl SubTask {
    /// The poses from which it can be solved, on cells that are not to be avoided.
    pub fn starts(&self) -> Vec<(Cell, Direction)> {
        let (cells, height) = (&self.cells, self.cells.height());
        let free = (0..cells.walls().len())
            .filter(|number| !cells.walls()[*number] && !cells.avoid()[*number]);
        let places = free.map(|number| Cell {
            x: number / height,
            y: number % height,
        });
        places
            .flat_map(|cell| Direction::ALL.map(|direction| (cell, direction)))
            .filter(|(cell, direction)| self.distances.steps(*cell, *direction).is_some())
            .collect()
    }
}

/// A room with sides in this range: empty, with walls here and there, or divided by walls with a gap.
fn draw_room(sides: (usize, usize), random: &mut Random) -> Result<Room> {
    let mut side = || random.random_range(sides.0..=sides.1);
    let (width, height) = (side(), side());
    let mut rows = vec![vec!['.'; width]; height];
    let border = |x: usize, y: usize| x == 0 || y == 0 || x == width - 1 || y == height - 1;
    let kind = random.random_range(0..4);
    let density = random.random_range(0.0..0.35);
    if kind >= 2 {
        // Walls all across with one or two gaps each, as in the paper's room.
        for _ in 0..random.random_range(1..=(width + height) / 10 + 1) {
            let gaps = random.random_range(1..=2);
            if random.random_bool(0.5) {
                let x = random.random_range(1..width - 1);
                rows.iter_mut().for_each(|row| row[x] = '#');
                for _ in 0..gaps {
                    rows[random.random_range(1..height - 1)][x] = '.';
                }
            } else {
                let y = random.random_range(1..height - 1);
                rows[y].fill('#');
                for _ in 0..gaps {
                    rows[y][random.random_range(1..width - 1)] = '.';
                }
            }
        }
    }
    for (y, row) in rows.iter_mut().enumerate() {
        for (x, symbol) in row.iter_mut().enumerate() {
            let stray = kind == 1 && random.random_bool(density);
            if border(x, y) || stray {
                *symbol = '#';
            }
        }
    }
    let goal = (
        random.random_range(1..width - 1),
        random.random_range(1..height - 1),
    );
    rows[goal.1][goal.0] = 'G';
    let rows: Vec<String> = rows.into_iter().map(String::from_iter).collect();
    Ok(Room::from_rows(&rows)?)
}

/// Objects in a room, the cells to reach among them, and those to avoid.
fn draw_cells(room: &Room, random: &mut Random) -> ReachAvoid {
    let mut cells = ReachAvoid::new(room);
    let all = (0..room.width()).flat_map(|x| (0..room.height()).map(move |y| Cell { x, y }));
    let mut free: Vec<Cell> = all
        .filter(|cell| !room.is_wall(*cell) && *cell != room.goal())
        .collect();
    if free.is_empty() {
        return cells;
    }
    // A room with many free cells may have more objects: about one in eight, as in the paper.
    let most = (free.len() / 8).clamp(1, 40);
    let count = random.random_range(1..=2 * most).min(free.len());
    let take = |random: &mut Random, free: &mut Vec<Cell>| {
        (!free.is_empty()).then(|| free.swap_remove(random.random_range(0..free.len())))
    };
    let objects: Vec<Cell> = (0..count).filter_map(|_| take(random, &mut free)).collect();
    let only_goal = random.random_bool(0.15);
    let wanted = match only_goal {
        true => 0,
        false => random.random_range(1..=6).min(objects.len()),
    };
    if only_goal {
        cells.ask_for(room.goal());
    }
    for object in &objects[..wanted] {
        cells.ask_for(*object);
    }
    // Other objects are avoided with a probability of their own per sub-task.
    if random.random_bool(0.6) {
        let density = random.random_range(0.0..0.7);
        for object in &objects[wanted..] {
            if random.random_bool(density) {
                cells.forbid(*object);
            }
        }
        if !only_goal && random.random_bool(density) {
            cells.forbid(room.goal());
        }
    }
    // Lava: none, a little, or so much that narrow ways and pockets are left.
    let density = match random.random_range(0..4) {
        0 | 1 => 0.0,
        2 => random.random_range(0.0..0.12),
        _ => random.random_range(0.12..0.45),
    };
    for cell in free {
        if random.random_bool(density) {
            cells.forbid(cell);
        }
    }
    cells
}
