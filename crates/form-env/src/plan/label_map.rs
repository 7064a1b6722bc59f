//! Where labels are: the walls of a room, and the atoms that are observed on entering each of its cells.

use std::collections::HashMap;
use std::sync::Arc;

use form_core::AtomSet;

use crate::env::environment::Environment;
use crate::env::spec::Cell;
use crate::error::{Error, Result};
use crate::grid::map::{Content, Map};
use crate::grid::room::{CellNumber, Room};
use crate::tasks::task::Task;

/// A room, and the label of each of its cells.
#[derive(Clone, Debug)]
pub struct LabelMap {
    pub(super) room: Room,
    /// The different labels; the first is empty.
    pub(super) labels: Arc<[AtomSet]>,
    /// By number of the cell: which of them is observed there.
    pub(super) label: Box<[u16]>,
}

impl LabelMap {
    /// Where the atoms of an environment in this room are. Fails where it cannot say where one of its atoms is.
    pub fn of(environment: &dyn Environment, room: &Room) -> Result<Self> {
        let mut labels = vec![AtomSet::new(); room.walls().len()];
        for atom in environment.signature().ids() {
            let cells = environment.cells_of(atom);
            let cells = cells.ok_or_else(|| Error::Unplaceable {
                atom: environment.signature().atom(atom).to_string(),
            })?;
            for cell in cells.into_iter().filter(|cell| !room.is_wall(*cell)) {
                labels[usize::from(room.number(cell))].insert(atom);
            }
        }
        Ok(Self::new(room.clone(), labels))
    }

    /// Of what is observed in each cell of a room.
    pub fn from_labels(room: Room, label: impl Fn(Cell) -> AtomSet) -> Self {
        let numbers = 0..room.walls().len() as CellNumber;
        let labels = numbers.map(|number| match room.cell(number) {
            wall if room.is_wall(wall) => AtomSet::new(),
            cell => label(cell),
        });
        let labels = labels.collect();
        Self::new(room, labels)
    }

    /// Of a label per cell, by number of the cell.
    fn new(room: Room, by_cell: Vec<AtomSet>) -> Self {
        let mut labels = vec![AtomSet::new()];
        let mut numbers = HashMap::from([(AtomSet::new(), 0)]);
        let label = (by_cell.into_iter())
            .map(|label| {
                *numbers.entry(label).or_insert_with_key(|label| {
                    labels.push(label.clone());
                    // A room has fewer than 2¹⁶ cells.
                    labels.len() as u16 - 1
                })
            })
            .collect();
        Self {
            room,
            labels: labels.into(),
            label,
        }
    }

    /// The room.
    pub fn room(&self) -> &Room {
        &self.room
    }

    /// What is observed on entering a cell.
    pub fn label(&self, cell: Cell) -> &AtomSet {
        &self.labels[usize::from(self.label[usize::from(self.room.number(cell))])]
    }
}

impl Task {
    /// Where the labels of a map are.
    pub fn label_map(&self, map: &Map) -> LabelMap {
        self.label_map_of(&map.contents)
    }

    pub(super) fn label_map_of(&self, contents: &[Content]) -> LabelMap {
        LabelMap {
            room: self.room().clone(),
            labels: self.labels.clone(),
            label: contents.iter().map(|content| u16::from(*content)).collect(),
        }
    }
}
