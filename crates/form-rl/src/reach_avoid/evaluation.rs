//! How well a policy carries out sub-tasks: every sub-task started counts.

use form_env::{Action, Cell, Direction, Stream, generator};
use rand::RngExt;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::policy::ReachAvoidPolicy;
use super::sub_tasks::{SubTask, SubTasks};
use crate::Result;
use crate::categorical::sample;

/// Who chooses the actions.
#[derive(Clone, Copy, Debug)]
pub enum Chooser<'a> {
    /// The most probable action of a policy.
    Greedy(&'a ReachAvoidPolicy),
    /// Actions drawn by a policy.
    Sampled(&'a ReachAvoidPolicy),
    /// All actions with the same probability.
    Random,
}

/// The outcomes of sub-tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubTaskOutcomes {
    /// Sub-tasks started.
    pub started: u64,
    /// Those that entered a cell to reach.
    pub reached: u64,
    /// Those that entered a cell to avoid.
    pub avoided: u64,
    /// Steps of those that reached.
    pub steps: u64,
    /// The steps of shortest ways in the same sub-tasks.
    pub shortest: u64,
}

impl SubTaskOutcomes {
    /// The share of sub-tasks that entered a cell to reach, of all that were started.
    pub fn success(&self) -> f64 {
        self.reached as f64 / self.started.max(1) as f64
    }

    /// How many times the shortest steps those that reached took.
    pub fn ratio(&self) -> Option<f64> {
        (self.shortest > 0).then(|| self.steps as f64 / self.shortest as f64)
    }

    fn add(mut self, other: Self) -> Self {
        self.started += other.started;
        self.reached += other.reached;
        self.avoided += other.avoided;
        self.steps += other.steps;
        self.shortest += other.shortest;
        self
    }
}

/// Plays the first `count` sub-tasks of a seed that no training draws, each from one pose with a way. A sub-task is given up after as many
/// steps as the room has poses.
pub fn evaluate_sub_tasks(
    family: &SubTasks,
    seed: u64,
    count: u64,
    chooser: Chooser<'_>,
) -> Result<SubTaskOutcomes> {
    let outcomes: Vec<Result<SubTaskOutcomes>> = (0..count)
        .into_par_iter()
        .map(|number| {
            let task = family.draw(seed, Stream::HeldOutMap(number))?;
            Ok(play(&task, seed, number, chooser))
        })
        .collect();
    (outcomes.into_iter()).try_fold(SubTaskOutcomes::default(), |sum, outcome| {
        Ok(sum.add(outcome?))
    })
}

fn play(task: &SubTask, seed: u64, number: u64, chooser: Chooser<'_>) -> SubTaskOutcomes {
    let mut random = generator(
        seed,
        Stream::Episode {
            world: 0,
            episode: number,
        },
    );
    let mut outcome = SubTaskOutcomes {
        started: 1,
        ..SubTaskOutcomes::default()
    };
    let starts = task.starts();
    let (mut cell, mut direction) = starts[random.random_range(0..starts.len())];
    let shortest = task.distances.steps(cell, direction).unwrap_or(0);
    let values = match chooser {
        Chooser::Greedy(policy) | Chooser::Sampled(policy) => Some(policy.evaluate(&task.cells)),
        Chooser::Random => None,
    };
    for steps in 1..=4 * task.cells.walls().len() as u64 {
        let action = match (&values, chooser) {
            (Some(values), Chooser::Greedy(_)) => values.greedy(cell, direction),
            (Some(values), _) => Action::ALL[sample(&values.logits(cell, direction), &mut random)],
            (None, _) => Action::ALL[random.random_range(0..Action::MOVES)],
        };
        let entered = advance(task, &mut cell, &mut direction, action);
        let at = task.cells.number(cell);
        if entered && task.cells.avoid()[at] {
            outcome.avoided = 1;
            break;
        }
        if entered && task.cells.reach()[at] {
            (outcome.reached, outcome.steps) = (1, steps);
            outcome.shortest = u64::from(shortest);
            break;
        }
    }
    outcome
}

/// One step; whether it entered a cell.
fn advance(task: &SubTask, cell: &mut Cell, direction: &mut Direction, action: Action) -> bool {
    let turned = |by: usize| Direction::ALL[(*direction as usize + by) % 4];
    match action {
        Action::Left => *direction = turned(3),
        Action::Right => *direction = turned(1),
        _ => {
            let ahead = task.cells.ahead(*cell, *direction);
            if !task.cells.walls()[task.cells.number(ahead)] {
                *cell = ahead;
                return true;
            }
        }
    }
    false
}
