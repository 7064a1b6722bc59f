//! The cells of a map from which a task can be completed: an exact search over the objects that the agent can reach.
//!
//! Between two objects the agent walks through empty cells, where nothing is observed. So a walk is, for the machine, a sequence of
//! objects, each reached from the one before without touching a third: both border on the same region of empty cells, or on each
//! other. The search states are pairs of an object and a run of the machine. Lava ends the episode and is never entered. The limit
//! of steps is ignored. Machines that observe every step have a [search of their own](super::every_step).

use std::collections::HashSet;

use form_core::{AtomSet, BoundMachine, Run, StateId, StepMode};

use super::every_step;
use super::task::Task;
use crate::env::spec::EpisodeOutcome;
use crate::grid::map::{Content, NOTHING};
use crate::grid::room::CellNumber;

/// The maximum number of search states; a map that needs more counts as unsolvable.
const MOST_STEPS: usize = 20_000;

/// The cells, in order, from which the task can be completed on a map with these contents, of this set of objects.
pub(crate) fn starts(task: &Task, objects: usize, contents: &[Content]) -> Vec<CellNumber> {
    let truth = &task.sets[objects].truth;
    if task.step_mode() == StepMode::All {
        return every_step::starts(task, truth, contents);
    }
    let places = Places::new(task, contents);
    let solvable: Vec<bool> = (places.bordering.iter())
        .map(|objects| can_be_completed(task, truth, &places, objects))
        .collect();
    (places.region.iter().enumerate())
        .filter(|(_, region)| region.is_some_and(|region| solvable[region]))
        .map(|(cell, _)| cell as CellNumber)
        .collect()
}

/// The regions of empty cells and the objects that border on them.
struct Places {
    /// By cell.
    region: Vec<Option<usize>>,
    /// What lies in each cell that has something to walk to.
    objects: Vec<Content>,
    /// By region: the objects that border on it.
    bordering: Vec<Vec<usize>>,
    /// By object: the objects that can be gone to without touching another.
    next: Vec<Vec<usize>>,
}

impl Places {
    fn new(task: &Task, contents: &[Content]) -> Self {
        let room = task.room();
        let (walls, column) = (room.walls(), room.height());
        // Walls go all around, so a cell that is not one has four neighbours.
        let neighbours = |cell: usize| [cell - column, cell - 1, cell + 1, cell + column];
        let empty = |cell: usize| !walls[cell] && contents[cell] == NOTHING;
        let mut region: Vec<Option<usize>> = vec![None; walls.len()];
        let mut regions = 0;
        let mut open = Vec::new();
        for start in (0..walls.len()).filter(|cell| empty(*cell)) {
            if region[start].is_some() {
                continue;
            }
            region[start] = Some(regions);
            open.push(start);
            while let Some(cell) = open.pop() {
                for next in neighbours(cell) {
                    if empty(next) && region[next].is_none() {
                        region[next] = Some(regions);
                        open.push(next);
                    }
                }
            }
            regions += 1;
        }
        let walkable =
            |cell: &usize| contents[*cell] != NOTHING && Some(contents[*cell]) != task.lava();
        let cells: Vec<usize> = (0..walls.len()).filter(walkable).collect();
        let mut bordering: Vec<Vec<usize>> = vec![Vec::new(); regions];
        for (object, cell) in cells.iter().enumerate() {
            for region in neighbours(*cell)
                .into_iter()
                .filter_map(|next| region[next])
            {
                if bordering[region].last() != Some(&object) {
                    bordering[region].push(object);
                }
            }
        }
        let next = (cells.iter())
            .map(|cell| {
                let mut next: Vec<usize> = Vec::new();
                for neighbour in neighbours(*cell) {
                    match region[neighbour] {
                        Some(region) => next.extend(&bordering[region]),
                        None => next.extend(cells.binary_search(&neighbour)),
                    }
                }
                next.sort_unstable();
                next.dedup();
                next
            })
            .collect();
        Self {
            region,
            objects: cells.iter().map(|cell| contents[*cell]).collect(),
            bordering,
            next,
        }
    }
}

/// Whether a walk that starts in a region with these objects around it can complete the task.
///
/// Depth-first search that prefers objects on which the machine changes state, then objects that its `forall`s still miss: on a
/// solvable map it hardly ever backtracks.
fn can_be_completed(task: &Task, truth: &BoundMachine, places: &Places, first: &[usize]) -> bool {
    let start = Run::new(truth);
    let mut known: HashSet<(usize, StateId, AtomSet)> = HashSet::new();
    let mut open: Vec<(usize, Run)> = Vec::new();
    let mut steps = 0;
    let mut expand = |run: &Run, from: Option<usize>, open: &mut Vec<(usize, Run)>| {
        let mut moved = Vec::new();
        let mut progressed = Vec::new();
        let objects = from.map_or(first, |from| &places.next[from]);
        // What is observed twice in a row counts once: coming back to the same object is of no use.
        for object in objects.iter().filter(|object| Some(**object) != from) {
            let mut after = run.clone();
            after.step(truth, &task.labels[usize::from(places.objects[*object])]);
            let state = after.state();
            match task.outcome(state) {
                EpisodeOutcome::Goal => return true,
                EpisodeOutcome::Running => {}
                EpisodeOutcome::DeadEnd | EpisodeOutcome::OutOfTime => continue,
            }
            // Of what was seen, only the atoms of `forall`s can make a difference.
            let relevant = truth.progress_atoms(state);
            let seen = after.seen().intersection(relevant);
            let ways = if state != run.state() {
                &mut moved
            } else if seen != run.seen().intersection(relevant) {
                &mut progressed
            } else {
                &mut *open
            };
            if known.insert((*object, state, seen)) {
                ways.push((*object, after));
            }
        }
        open.append(&mut progressed);
        open.append(&mut moved);
        false
    };
    if expand(&start, None, &mut open) {
        return true;
    }
    while let Some((object, run)) = open.pop() {
        steps += 1;
        if steps > MOST_STEPS {
            return false;
        }
        if expand(&run, Some(object), &mut open) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::env::random::{Stream, generator};
    use crate::grid::map::Map;
    use crate::grid::pose::Pose;
    use crate::tasks::maps::{Maps, Split};
    use crate::tasks::solution::tests::exhaustive;
    use crate::tasks::world::{GridWorld, WorldOptions};

    /// Machines that ask for different objects, and mind different objects on the way.
    const MACHINES: [&str; 5] = [
        "u0 -> u1 : forall X. yellow(X)\nu0 -> rej : lava\nu1 -> acc : goal\nu1 -> rej : lava",
        "u0 -> acc : goal\nu0 -> rej : lava\nu0 -> rej : exists X. red(X)",
        "u0 -> u1 : yellow(o0)\nu0 -> rej : lava\nu1 -> u2 : exists X. red(X)\nu1 -> rej : lava\n\
         u2 -> acc : yellow(o0)\nu2 -> rej : lava",
        "u0 -> acc : goal and not forall X. yellow(X)\nu0 -> rej : lava\nu0 -> rej : forall X. yellow(X)",
        // Twice the same object, with something else in between.
        "u0 -> u1 : yellow(o1)\nu0 -> rej : lava\nu1 -> acc : yellow(o1)\nu1 -> u0 : exists X. red(X)\nu1 -> rej : lava",
    ];

    fn task(machine: &str) -> Task {
        Task::from_toml(&format!(
            "name = \"small\"\nlava = 3\nmachine = '''\ninitial u0\naccept acc\nreject rej\n{machine}\n'''\n\
             [room]\nsize = [6, 5]\n[checkpoints]\nyellow = 2\nred = 1\n"
        ))
        .unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        /// The search over objects says the same as a search over all situations with real steps.
        #[test]
        fn agrees_with_a_search_through_all_situations(machine in 0..MACHINES.len(), seed in 0..1_000_000_u64) {
            let task = Arc::new(task(MACHINES[machine]));
            let mut random = generator(seed, Stream::Other(0));
            let (objects, contents) = task.draw_contents(&mut random);
            let found = starts(&task, objects, &contents);
            let any: Vec<CellNumber> = (task.room().free())
                .filter(|cell| contents[usize::from(*cell)] == NOTHING)
                .collect();
            let maps = Maps::Set(task.maps(0, Split::Training, 1).unwrap());
            let mut world = GridWorld::new(task, maps, WorldOptions::default()).unwrap();
            for cell in any {
                let pose = Pose { cell, direction: 0 };
                let map = Map { contents: contents.clone(), objects, starts: [cell].into(), own_start: pose };
                world.begin(map, pose);
                let solvable = exhaustive(&world).is_some();
                prop_assert_eq!(solvable, found.contains(&cell), "cell {}", cell);
            }
        }
    }
}
