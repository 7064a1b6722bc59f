//! The policy that carries out sub-tasks, and its file.
//!
//! A file is a bundle of tensors (`values.weight`, `planes.weight`, `bias`, `log_scale`, `critic`) with a checksum; its metadata tell, under
//! `reach_avoid_policy`, which command, seed and version made it.

use std::path::Path;

use form_env::{Action, Cell, Direction, ReachAvoid};
use serde::{Deserialize, Serialize};

use super::value_iteration::{self, CRITIC, Grid, Iterations, SCALE, TENSORS, WEIGHTS};
use crate::bundle::Bundle;
use crate::categorical::{greedy, log_softmax};
use crate::{Error, Result};

/// The place of the origin in a file's metadata.
const ORIGIN: &str = "reach_avoid_policy";

/// The file of the policy in the binary.
const SHIPPED: &[u8] = include_bytes!("../../policies/reach_avoid.safetensors");

/// A policy that reaches one of some cells of a room and steps on none of some others: in any room, for any such cells, without training.
///
/// ```
/// use form_env::{Cell, Direction, ReachAvoid, Room};
/// use form_rl::ReachAvoidPolicy;
///
/// let mut sub_task = ReachAvoid::new(&Room::paper());
/// sub_task.ask_for(Cell { x: 9, y: 2 });
/// sub_task.forbid(Cell { x: 6, y: 3 });
/// let values = ReachAvoidPolicy::shipped().evaluate(&sub_task);
/// let [left, right, forward] = values.probabilities(Cell { x: 2, y: 3 }, Direction::East);
/// assert!(right > 0.9, "the way goes down and around: {left} {right} {forward}");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ReachAvoidPolicy {
    weights: Vec<f32>,
    origin: PolicyOrigin,
    shield: bool,
}

/// What made a policy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyOrigin {
    /// The command.
    pub command: String,
    /// The seed of all randomness.
    pub seed: u64,
    /// The program's version.
    pub version: String,
}

impl ReachAvoidPolicy {
    /// A policy with these weights.
    pub(crate) fn new(weights: Vec<f32>, origin: PolicyOrigin) -> Self {
        assert_eq!(weights.len(), WEIGHTS);
        Self {
            weights,
            origin,
            shield: false,
        }
    }

    /// The policy that comes with the library; its [`origin`](Self::origin) tells the command that made it.
    pub fn shipped() -> Self {
        let path = Path::new("reach_avoid.safetensors");
        Self::from_bytes(path, SHIPPED).expect("a test reads this file")
    }

    /// Weights set by hand that make value iteration exact: what training aims at, for tests and comparisons.
    pub fn ideal() -> Self {
        // No way is as long as this many times 128 steps.
        const FAR: f32 = 512.0;
        let mut weights = vec![0.0; WEIGHTS];
        let (ahead, here) = (7, 4);
        // By action and relative direction: turning left is three turns to the right.
        let values = [(0, 3, here), (1, 1, here), (2, 0, ahead)];
        for (action, direction, tap) in values {
            weights[value_iteration::VALUES.start + (action * 4 + direction) * 9 + tap] = 1.0;
        }
        for (plane, weight) in [-FAR, FAR, -FAR].into_iter().enumerate() {
            weights[value_iteration::PLANE.start + (2 * 3 + plane) * 9 + ahead] = weight;
        }
        weights[value_iteration::BIAS].fill(-1.0);
        weights[SCALE] = 16.0_f32.ln();
        weights[CRITIC].copy_from_slice(&[0.04, 2.0]);
        Self::new(weights, PolicyOrigin::default())
    }

    /// The same policy with a shield, or without: it never goes forward onto a cell to avoid.
    #[must_use]
    pub fn with_shield(mut self, shield: bool) -> Self {
        self.shield = shield;
        self
    }

    /// Whether it has a shield.
    pub fn has_shield(&self) -> bool {
        self.shield
    }

    /// What made it.
    pub fn origin(&self) -> &PolicyOrigin {
        &self.origin
    }

    /// The weights, in the order of the file's tensors.
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// Evaluates the policy for a sub-task, in all poses at once.
    pub fn evaluate(&self, sub_task: &ReachAvoid) -> ActionValues {
        let grid = Grid::new(sub_task);
        let iterations = Iterations::UntilSettled;
        let forward = value_iteration::forward(&self.weights, &grid, iterations, false);
        let (height, cells) = (sub_task.height(), sub_task.walls().len());
        let scale = self.weights[SCALE].exp();
        let mut logits = vec![[0.0; Action::MOVES]; 4 * cells];
        let mut values = vec![0.0; 4 * cells];
        for cell in (0..cells).filter(|cell| !sub_task.walls()[*cell]) {
            for direction in Direction::ALL {
                let (pose, d) = (4 * cell + direction as usize, direction as usize);
                for (action, logit) in logits[pose].iter_mut().enumerate() {
                    *logit = scale * forward.actions[grid.output(cell, d, action)];
                }
                values[pose] = self.value_of(forward.values[grid.value(cell, d)]);
            }
        }
        let values = ActionValues {
            height,
            logits,
            values,
            iterations: forward.iterations,
        };
        match self.shield {
            true => values.shielded(sub_task),
            false => values,
        }
    }

    /// The critic: from the value of a pose to the expected return.
    fn value_of(&self, value: f32) -> f32 {
        let [slope, offset] = [CRITIC.start, CRITIC.start + 1].map(|at| self.weights[at]);
        (0.5 * (slope * value + offset)).tanh()
    }

    /// Writes the policy atomically. The shield is an option of use and not written.
    pub fn save(&self, path: &Path) -> Result<()> {
        self.bundle().write(path, ORIGIN, &self.origin)
    }

    /// The bytes of its file.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let bytes = self.bundle().into_bytes(ORIGIN, &self.origin);
        bytes.map_err(|source| Error::Damaged {
            path: "the policy".into(),
            source,
        })
    }

    /// Reads a policy that [`save`](Self::save) wrote.
    pub fn open(path: &Path) -> Result<Self> {
        Self::read(path, &Bundle::read(path)?)
    }

    /// Reads the bytes of a file; `path` is for errors.
    pub fn from_bytes(path: &Path, bytes: &[u8]) -> Result<Self> {
        Self::read(path, &Bundle::from_bytes(path, bytes)?)
    }

    fn bundle(&self) -> Bundle {
        let mut bundle = Bundle::default();
        for (name, shape, place) in TENSORS {
            bundle.put_shaped(name, shape, &self.weights[place]);
        }
        bundle
    }

    fn read(path: &Path, bundle: &Bundle) -> Result<Self> {
        let mismatch = |problem: String| Error::Mismatch {
            path: path.to_owned(),
            problem: format!("not a reach-avoid policy, as `form pretrain` makes them: {problem}"),
        };
        let origin = bundle
            .description(path, ORIGIN)
            .map_err(|error| match error {
                Error::Mismatch { problem, .. } => mismatch(problem),
                other => other,
            })?;
        if !bundle.is_checked() {
            return Err(mismatch("no checksum".to_owned()));
        }
        let mut weights = vec![0.0; WEIGHTS];
        for (name, shape, place) in TENSORS {
            let numbers = bundle.numbers(name).map_err(mismatch)?;
            if bundle.shape(name) != Some(shape) || numbers.len() != place.len() {
                let found = bundle.shape(name).unwrap_or_default();
                return Err(mismatch(format!(
                    "tensor `{name}` has the shape {found:?}, not {shape:?}"
                )));
            }
            if let Some(number) = numbers.iter().find(|number| !number.is_finite()) {
                return Err(mismatch(format!(
                    "tensor `{name}` holds {number}, which is not finite"
                )));
            }
            weights[place].copy_from_slice(&numbers);
        }
        let known = |name: &&str| TENSORS.iter().any(|(known, ..)| known == name);
        if let Some(unknown) = bundle.names("").find(|name| !known(name)) {
            return Err(mismatch(format!("unknown tensor `{unknown}`")));
        }
        Ok(Self::new(weights, origin))
    }
}

/// A policy evaluated for a sub-task: probabilities and values in all poses.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionValues {
    height: usize,
    /// By number of the cell and direction: `cell * 4 + direction`.
    logits: Vec<[f32; Action::MOVES]>,
    values: Vec<f32>,
    iterations: usize,
}

impl ActionValues {
    fn pose(&self, cell: Cell, direction: Direction) -> usize {
        4 * (cell.x * self.height + cell.y) + direction as usize
    }

    /// The same with a shield, for the sub-task that it was evaluated for.
    pub(super) fn shielded(&self, sub_task: &ReachAvoid) -> Self {
        let mut shielded = self.clone();
        for (pose, logits) in shielded.logits.iter_mut().enumerate() {
            let (cell, direction) = (pose / 4, Direction::ALL[pose % 4]);
            let here = Cell {
                x: cell / self.height,
                y: cell % self.height,
            };
            // Nobody stands in a wall, and beyond the outer ones there is nothing.
            if !sub_task.walls()[cell]
                && sub_task.avoid()[sub_task.number(sub_task.ahead(here, direction))]
            {
                logits[Action::Forward as usize] = f32::NEG_INFINITY;
            }
        }
        shielded
    }

    /// The logits of the actions `left`, `right` and `forward`. With a shield, that of `forward` is −∞ ahead of a cell to avoid.
    pub fn logits(&self, cell: Cell, direction: Direction) -> [f32; Action::MOVES] {
        self.logits[self.pose(cell, direction)]
    }

    /// The probabilities of these actions.
    pub fn probabilities(&self, cell: Cell, direction: Direction) -> [f32; Action::MOVES] {
        let mut logs = [0.0; Action::MOVES];
        log_softmax(&self.logits(cell, direction), &mut logs);
        logs.map(f32::exp)
    }

    /// The most probable action; the first of several.
    pub fn greedy(&self, cell: Cell, direction: Direction) -> Action {
        Action::ALL[greedy(&self.logits(cell, direction))]
    }

    /// The expected discounted return: near 1 close to a cell to reach, near 0 or below without a way to one.
    pub fn value(&self, cell: Cell, direction: Direction) -> f32 {
        self.values[self.pose(cell, direction)]
    }

    /// The number of iterations until the values had settled.
    pub fn iterations(&self) -> usize {
        self.iterations
    }
}
