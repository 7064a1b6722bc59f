//! A shortest solution of a task from the current state of a world: for pictures, for tests, and to compare policies with.
//!
//! Breadth-first search over pairs of a pose and a [situation](super::situations), which is everything else that the rest of the
//! episode depends on.

use form_core::{Monitor, StepMode};

use super::situations::{Next, Situations};
use super::task::Task;
use super::world::GridWorld;
use crate::grid::map::{Content, Map, NOTHING};
use crate::grid::pose::Pose;
use crate::grid::room::CellNumber;
use crate::grid::rules::Action;

/// The length of a shortest solution. The limit of steps per episode is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortest {
    /// Exactly this number of steps.
    Exactly(usize),
    /// At least this number of steps: the search reached its limit.
    AtLeast(usize),
    /// The task cannot be completed.
    Impossible,
}

/// A shortest sequence of actions that completes the task, or `None` if there is none, or none was found within `limit` pairs of a
/// pose and a situation. An episode that ran out of time is treated as if it continued.
pub fn solution(world: &GridWorld, limit: usize) -> Option<Vec<Action>> {
    let mut search = Search::new(world.task(), world.map());
    match search.run(world.pose(), world.truth(), limit) {
        End::Found { last, action, .. } => Some(search.way_to(last, action)),
        End::Limit { .. } | End::Exhausted => None,
    }
}

/// The length of a shortest solution, or a lower bound that was proven within `limit` pairs of a pose and a situation.
pub fn shortest(world: &GridWorld, limit: usize) -> Shortest {
    shortest_from(
        world.task(),
        world.map(),
        world.pose(),
        world.truth(),
        limit,
    )
}

/// The same for the parts of a world.
pub(crate) fn shortest_from(
    task: &Task,
    map: &Map,
    pose: Pose,
    truth: &Monitor,
    limit: usize,
) -> Shortest {
    match Search::new(task, map).run(pose, truth, limit) {
        End::Found { steps, .. } => Shortest::Exactly(steps),
        End::Limit { steps } => Shortest::AtLeast(steps),
        End::Exhausted => Shortest::Impossible,
    }
}

/// A pose and a situation in one number: `situation * poses + pose`.
type Node = u32;

/// A node that has not been reached.
const UNREACHED: u32 = u32::MAX;

/// The result of a search.
enum End {
    /// The action from this node completes the task.
    Found {
        last: Node,
        action: Action,
        steps: usize,
    },
    /// The limit was reached: every solution has at least this many steps.
    Limit { steps: usize },
    /// There is no solution.
    Exhausted,
}

struct Search<'a> {
    task: &'a Task,
    contents: &'a [Content],
    situations: Situations,
    poses: usize,
    /// By situation and pose: the node before it and the action from there, in the two lowest bits. The start leads to itself.
    came_from: Vec<Vec<u32>>,
    reached: usize,
}

impl<'a> Search<'a> {
    fn new(task: &'a Task, map: &'a Map) -> Self {
        Self {
            task,
            contents: &map.contents,
            situations: Situations::new(task.truth_on(map).clone(), task.labels.to_vec()),
            poses: 4 * task.room().walls().len(),
            came_from: Vec::new(),
            reached: 0,
        }
    }

    fn run(&mut self, pose: Pose, truth: &Monitor, limit: usize) -> End {
        if self.task.outcome(truth.state()).is_over() {
            return End::Exhausted;
        }
        let start = self.situations.of(truth);
        let Some(start) = self.node(start, pose) else {
            return End::Limit { steps: 1 };
        };
        self.visit(start, start << 2);
        let every_step = self.task.step_mode() == StepMode::All;
        let (mut front, mut next) = (vec![start], Vec::new());
        for steps in 1.. {
            for here in front.drain(..) {
                let (situation, pose) = self.parts(here);
                for action in &Action::ALL[..Action::MOVES] {
                    let walls = self.task.room().walls();
                    let (to, observed) = (self.task.rules).step(
                        walls,
                        self.contents,
                        &self.task.legend,
                        pose,
                        *action as u8,
                    );
                    let outcome = match observed {
                        NOTHING if !every_step => Next::Situation(situation),
                        label => self.situations.after(situation, usize::from(label)),
                    };
                    let after = match outcome {
                        Next::Situation(after) => after,
                        Next::Completed => {
                            return End::Found {
                                last: here,
                                action: *action,
                                steps,
                            };
                        }
                        Next::Over => continue,
                    };
                    let Some(there) = self.node(after, to).filter(|_| self.reached < limit) else {
                        return End::Limit { steps };
                    };
                    if self.visit(there, here << 2 | *action as u32) {
                        next.push(there);
                    }
                }
            }
            if next.is_empty() {
                break;
            }
            std::mem::swap(&mut front, &mut next);
        }
        End::Exhausted
    }

    /// The number of a situation and a pose, as long as there are numbers.
    fn node(&self, situation: usize, pose: Pose) -> Option<Node> {
        let pose = 4 * usize::from(pose.cell) + usize::from(pose.direction & 3);
        let number = Node::try_from(situation * self.poses + pose).ok()?;
        // Two bits are for the action.
        (number < UNREACHED >> 2).then_some(number)
    }

    fn parts(&self, node: Node) -> (usize, Pose) {
        let (situation, pose) = (node as usize / self.poses, node as usize % self.poses);
        let pose = Pose {
            cell: (pose / 4) as CellNumber,
            direction: (pose % 4) as u8,
        };
        (situation, pose)
    }

    /// Whether a node is reached for the first time.
    fn visit(&mut self, node: Node, from: u32) -> bool {
        let (situation, pose) = (node as usize / self.poses, node as usize % self.poses);
        if self.came_from.len() <= situation {
            self.came_from.resize(situation + 1, Vec::new());
        }
        let poses = &mut self.came_from[situation];
        if poses.is_empty() {
            poses.resize(self.poses, UNREACHED);
        }
        let first = poses[pose] == UNREACHED;
        if first {
            poses[pose] = from;
            self.reached += 1;
        }
        first
    }

    fn way_to(&self, last: Node, action: Action) -> Vec<Action> {
        let mut actions = vec![action];
        let mut at = last;
        loop {
            let from = self.came_from[at as usize / self.poses][at as usize % self.poses];
            if from >> 2 == at {
                break;
            }
            actions.push(Action::ALL[(from & 3) as usize]);
            at = from >> 2;
        }
        actions.reverse();
        actions
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::{HashMap, VecDeque};
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::env::environment::Environment;
    use crate::env::random::{Stream, generator};
    use crate::env::spec::EpisodeOutcome;
    use crate::tasks::maps::{Maps, Split};
    use crate::tasks::world::WorldOptions;
    use rand::RngExt;

    /// The length of a shortest solution by a reference search: every situation with its whole buffer, every step by the world itself.
    pub(crate) fn exhaustive(world: &GridWorld) -> Option<usize> {
        let task = world.task();
        if task.outcome(world.truth().state()).is_over() {
            return None;
        }
        let key = |pose: Pose, monitor: &Monitor| {
            let (seen, newest) = (monitor.seen().clone(), monitor.newest().clone());
            (pose, monitor.state(), seen, newest)
        };
        let start = (world.pose(), world.truth().clone());
        let mut known = HashMap::from([(key(start.0, &start.1), 0)]);
        let mut open = VecDeque::from([start]);
        while let Some((pose, monitor)) = open.pop_front() {
            let steps = known[&key(pose, &monitor)] + 1;
            for action in &Action::ALL[..Action::MOVES] {
                let (walls, contents) = (task.room().walls(), &world.map().contents);
                let (to, observed) =
                    (task.rules).step(walls, contents, &task.legend, pose, *action as u8);
                let mut after = monitor.clone();
                after.observe(
                    task.truth_on(world.map()),
                    &task.labels[usize::from(observed)],
                );
                match task.outcome(after.state()) {
                    EpisodeOutcome::Goal => return Some(steps),
                    EpisodeOutcome::Running => {}
                    EpisodeOutcome::DeadEnd | EpisodeOutcome::OutOfTime => continue,
                }
                if let std::collections::hash_map::Entry::Vacant(place) =
                    known.entry(key(to, &after))
                {
                    place.insert(steps);
                    open.push_back((to, after));
                }
            }
        }
        None
    }

    /// Machines that ask for different objects, mind different objects on the way, and for which the newest observation matters.
    const MACHINES: [&str; 8] = [
        "u0 -> u1 : forall X. yellow(X)\nu0 -> rej : lava\nu1 -> acc : goal\nu1 -> rej : lava",
        "u0 -> acc : goal\nu0 -> rej : lava\nu0 -> rej : exists X. red(X)",
        "u0 -> u1 : yellow(o0)\nu0 -> rej : lava\nu1 -> u2 : exists X. red(X)\nu1 -> rej : lava\n\
         u2 -> acc : yellow(o0)\nu2 -> rej : lava",
        "u0 -> acc : goal and not forall X. yellow(X)\nu0 -> rej : lava\nu0 -> rej : forall X. yellow(X)",
        // Twice the same object, with something else in between.
        "u0 -> u1 : yellow(o1)\nu0 -> rej : lava\nu1 -> acc : yellow(o1)\nu1 -> rej : lava",
        "u0 -> u1 : goal\nu0 -> rej : lava\nu1 -> u2 : goal\nu1 -> rej : lava\nu2 -> acc : goal\nu2 -> rej : lava",
        // Complete with an observation that blocks the edge: any other one opens it.
        "u0 -> u1 : forall X. yellow(X) and not yellow(o0) and not lava\nu0 -> rej : lava\nu1 -> acc : goal\nu1 -> rej : lava",
        "u0 -> acc : lava\nu0 -> u0 : exists X. red(X)\nu0 -> u1 : forall X. yellow(X)\nu1 -> acc : lava\nu1 -> acc : exists X. red(X)",
    ];

    fn small(machine: &str) -> Task {
        Task::from_toml(&format!(
            "name = \"small\"\nlava = 3\nmachine = '''\ninitial u0\naccept acc\nreject rej\n{machine}\n'''\n\
             [room]\nsize = [6, 6]\n[checkpoints]\nyellow = 2\nred = 1\n"
        ))
        .unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        /// From the start of an episode, and from the middle of one.
        #[test]
        fn as_short_as_the_exhaustive_search_says(
            machine in 0..MACHINES.len(), seed in 0..1_000_000_u64, walked in 0..40_usize,
        ) {
            let task = Arc::new(small(MACHINES[machine]));
            let maps = Maps::Fresh(Split::Training);
            let mut world = GridWorld::new(task, maps, WorldOptions::default()).unwrap();
            let mut random = generator(seed, Stream::Other(0));
            world.reset(&mut random).unwrap();
            for _ in 0..walked {
                world.step(random.random_range(0..3)).unwrap();
            }
            let way = solution(&world, usize::MAX);
            let expected = exhaustive(&world);
            prop_assert_eq!(way.as_ref().map(Vec::len), expected);
            prop_assert_eq!(
                shortest(&world, usize::MAX),
                expected.map_or(Shortest::Impossible, Shortest::Exactly)
            );
            // What is proven within a limit is true.
            for limit in [1, 10, 100, 300] {
                match (shortest(&world, limit), expected) {
                    (Shortest::Exactly(steps), Some(expected)) => prop_assert_eq!(steps, expected),
                    (Shortest::AtLeast(steps), Some(expected)) => prop_assert!(steps <= expected),
                    (Shortest::Impossible | Shortest::AtLeast(_), None) => {}
                    (found, expected) => prop_assert!(false, "{:?} {:?}", found, expected),
                }
            }
            // The way leads there, and not earlier.
            for (i, action) in way.iter().flatten().enumerate() {
                prop_assert!(!world.outcome().is_over(), "over after {} steps", i);
                world.step(*action as usize).unwrap();
            }
            prop_assert!(way.is_none() || world.outcome() == EpisodeOutcome::Goal);
        }
    }
}
