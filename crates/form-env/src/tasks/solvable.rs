//! Whether a task can be completed on a map, and from where: exactly, over the things the agent can go to.
//!
//! Between two things the agent walks through empty cells, where nothing is observed. So a walk is, for the machine, a
//! sequence of things, each reached from the one before without touching a third: both border on the same region of
//! empty cells, or on each other. The search goes through pairs of a thing and a run of the machine. Lava ends the
//! episode and is never walked on. The limit of steps is left out of account.

use std::collections::HashSet;

use form_core::{AtomSet, Run, StateId};

use super::task::Task;
use crate::env::spec::EpisodeOutcome;
use crate::grid::map::{Content, NOTHING};
use crate::grid::room::CellNumber;

/// After so many steps of the search without an answer the map counts as one that cannot be solved.
const MOST_STEPS: usize = 20_000;

/// The cells, in order, from which the task can be completed.
pub(crate) fn starts(task: &Task, contents: &[Content]) -> Vec<CellNumber> {
    let places = Places::new(task, contents);
    let solvable: Vec<bool> = (places.bordering.iter())
        .map(|things| can_be_completed(task, &places, things))
        .collect();
    (places.region.iter().enumerate())
        .filter(|(_, region)| region.is_some_and(|region| solvable[region]))
        .map(|(cell, _)| cell as CellNumber)
        .collect()
}

/// The regions of empty cells and the things that border on them.
struct Places {
    /// By cell.
    region: Vec<Option<usize>>,
    /// What lies in each cell that has something to walk to.
    things: Vec<Content>,
    /// By region: the things that border on it.
    bordering: Vec<Vec<usize>>,
    /// By thing: the things that can be gone to without touching another.
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
        for (thing, cell) in cells.iter().enumerate() {
            for region in neighbours(*cell)
                .into_iter()
                .filter_map(|next| region[next])
            {
                if bordering[region].last() != Some(&thing) {
                    bordering[region].push(thing);
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
            things: cells.iter().map(|cell| contents[*cell]).collect(),
            bordering,
            next,
        }
    }
}

/// Whether a walk that starts in a region with these things around it can complete the task.
///
/// Depth first, and first along what moved the machine, then along what its `forall`s had not seen: on a map that can be
/// solved this hardly ever turns back.
fn can_be_completed(task: &Task, places: &Places, first: &[usize]) -> bool {
    let truth = task.truth();
    let start = Run::new(truth);
    let mut known: HashSet<(usize, StateId, AtomSet)> = HashSet::new();
    let mut open: Vec<(usize, Run)> = Vec::new();
    let mut steps = 0;
    let mut expand = |run: &Run, from: Option<usize>, open: &mut Vec<(usize, Run)>| {
        let mut moved = Vec::new();
        let mut progressed = Vec::new();
        let things = from.map_or(first, |from| &places.next[from]);
        // What is observed twice in a row counts once: coming back to the same thing is of no use.
        for thing in things.iter().filter(|thing| Some(**thing) != from) {
            let mut after = run.clone();
            after.step(truth, &task.labels[usize::from(places.things[*thing])]);
            let state = after.state();
            match task.verdict(state) {
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
            if known.insert((*thing, state, seen)) {
                ways.push((*thing, after));
            }
        }
        open.append(&mut progressed);
        open.append(&mut moved);
        false
    };
    if expand(&start, None, &mut open) {
        return true;
    }
    while let Some((thing, run)) = open.pop() {
        steps += 1;
        if steps > MOST_STEPS {
            return false;
        }
        if expand(&run, Some(thing), &mut open) {
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

    /// Machines that ask for different things, and mind different things on the way.
    const MACHINES: [&str; 5] = [
        "u0 -> u1 : forall X. yellow(X)\nu0 -> rej : lava\nu1 -> acc : goal\nu1 -> rej : lava",
        "u0 -> acc : goal\nu0 -> rej : lava\nu0 -> rej : exists X. red(X)",
        "u0 -> u1 : yellow(o0)\nu0 -> rej : lava\nu1 -> u2 : exists X. red(X)\nu1 -> rej : lava\n\
         u2 -> acc : yellow(o0)\nu2 -> rej : lava",
        "u0 -> acc : goal and not forall X. yellow(X)\nu0 -> rej : lava\nu0 -> rej : forall X. yellow(X)",
        // Twice the same thing, with something else in between.
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
        /// The search over things says the same as a search over all situations with real steps.
        #[test]
        fn agrees_with_a_search_through_all_situations(machine in 0..MACHINES.len(), seed in 0..1_000_000_u64) {
            let task = Arc::new(task(MACHINES[machine]));
            let mut random = generator(seed, Stream::Other(0));
            let contents = task.draw_contents(&mut random);
            let found = starts(&task, &contents);
            let any: Vec<CellNumber> = (task.room().free())
                .filter(|cell| contents[usize::from(*cell)] == NOTHING)
                .collect();
            let maps = Maps::Set(task.maps(0, Split::Training, 1).unwrap());
            let mut world = GridWorld::new(task, maps, WorldOptions::default()).unwrap();
            for cell in any {
                let pose = Pose { cell, direction: 0 };
                let map = Map { contents: contents.clone(), starts: [cell].into(), own_start: pose };
                world.begin(map, pose);
                let solvable = exhaustive(&world).is_some();
                prop_assert_eq!(solvable, found.contains(&cell), "cell {}", cell);
            }
        }
    }
}
