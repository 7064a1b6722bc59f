//! The cells of a map from which a task can be completed whose machine observes every step: an exact search over poses.
//!
//! Walking is not free here: an empty observation, or the same one again, may change the machine's state. So the search goes step by
//! step over pairs of a pose and a [situation](super::situations), from all cells at once, and then backwards from completion. A
//! cell counts if the task can be completed from it whatever the agent looks at first. The limit of steps is ignored.

use std::collections::HashMap;
use std::sync::Arc;

use form_core::{AtomSet, BoundMachine, Monitor};

use super::situations::{Next, Situations};
use super::task::Task;
use crate::grid::map::{Content, NOTHING};
use crate::grid::pose::Pose;
use crate::grid::room::CellNumber;
use crate::grid::rules::Action;

/// The maximum number of pairs; a map that needs more counts as unsolvable.
const MOST_PAIRS: usize = 500_000;

/// A situation, a cell and a direction.
type Pair = (usize, CellNumber, u8);

/// The cells, in order, from which the task can be completed.
pub(super) fn starts(
    task: &Task,
    truth: &Arc<BoundMachine>,
    contents: &[Content],
) -> Vec<CellNumber> {
    let walls = task.room().walls();
    let mut situations = Situations::new(truth.clone(), task.labels.to_vec());
    let mut monitor = Monitor::new(truth);
    monitor.observe(truth, &AtomSet::new());
    let first = situations.of(&monitor);
    let cells: Vec<CellNumber> = (task.room().free())
        .filter(|cell| contents[usize::from(*cell)] == NOTHING)
        .collect();

    let mut numbers: HashMap<Pair, usize> = HashMap::new();
    let mut pairs: Vec<Pair> = Vec::new();
    let mut before: Vec<Vec<usize>> = Vec::new();
    let mut completing: Vec<usize> = Vec::new();
    let mut discover = |pair: Pair, pairs: &mut Vec<Pair>, before: &mut Vec<Vec<usize>>| {
        let next = pairs.len();
        let number = *numbers.entry(pair).or_insert(next);
        if number == next {
            pairs.push(pair);
            before.push(Vec::new());
        }
        number
    };
    for cell in &cells {
        for direction in 0..4 {
            discover((first, *cell, direction), &mut pairs, &mut before);
        }
    }
    let mut here = 0;
    while here < pairs.len() {
        if pairs.len() > MOST_PAIRS {
            return Vec::new();
        }
        let (situation, cell, direction) = pairs[here];
        for action in &Action::ALL[..Action::MOVES] {
            let pose = Pose { cell, direction };
            let (to, observed) =
                (task.rules).step(walls, contents, &task.legend, pose, *action as u8);
            match situations.after(situation, usize::from(observed)) {
                Next::Situation(after) => {
                    let pair = (after, to.cell, to.direction);
                    let there = discover(pair, &mut pairs, &mut before);
                    before[there].push(here);
                }
                Next::Completed => completing.push(here),
                Next::Over => {}
            }
        }
        here += 1;
    }
    let mut can_complete = vec![false; pairs.len()];
    while let Some(pair) = completing.pop() {
        if !std::mem::replace(&mut can_complete[pair], true) {
            completing.extend(&before[pair]);
        }
    }
    // The pairs at the start were discovered first, four per cell.
    let solvable = can_complete
        .chunks(4)
        .map(|looks| looks.iter().all(|can| *can));
    (cells.into_iter().zip(solvable))
        .filter_map(|(cell, solvable)| solvable.then_some(cell))
        .collect()
}
