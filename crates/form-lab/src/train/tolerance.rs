//! The joint loop where labels may be wrong (`learning.tolerate`): when a machine is doubted, and what replaces it.
//!
//! With wrong labels every machine misjudges episodes, the right one too. So the learner gets a sample of the episodes, whether they are
//! misjudged or not, and looks for the shortest description of them. Its machine replaces the current one only if it judges
//! episodes better that it was not learnt from: every second one is kept back for that.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::Result;
use form_core::{BoundMachine, Kind, Machine, Trace};
use form_env::Worlds;
use form_learn::{Learnt, Limits, StopReason, Tolerance};
use form_rl::Episode;
use serde::{Deserialize, Serialize};

use super::relearnt::{RelearnOutcome, RelearntMachine};
use super::{Trainer, new_learner};
use crate::env_factory::EnvFactory;

/// The episodes since a machine was learnt.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MisjudgedEpisodes {
    /// All of them.
    pub(crate) episodes: u64,
    /// Those that it misjudged.
    pub(crate) misjudged: u64,
    /// The share that it misjudges because labels are wrong, as far as known.
    pub(crate) expected: f64,
    /// After how many steps random walks are given up, while no machine is known.
    pub(crate) longest_walk: usize,
}

impl Default for MisjudgedEpisodes {
    fn default() -> Self {
        Self {
            episodes: 0,
            misjudged: 0,
            expected: 0.0,
            longest_walk: SHORT_WALK,
        }
    }
}

impl MisjudgedEpisodes {
    fn share(&self) -> f64 {
        self.misjudged as f64 / self.episodes.max(1) as f64
    }

    /// Whether wrong labels alone do not explain what was misjudged: more than expected, by three standard deviations.
    fn refutes(&self) -> bool {
        let expected = self.episodes as f64 * self.expected;
        let deviation = (expected * (1.0 - self.expected).max(0.0)).sqrt();
        self.misjudged as f64 > expected + 3.0 * deviation
    }
}

/// Two machines on the same traces.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Comparison {
    /// Traces that the first one alone misjudges.
    first: u64,
    /// Traces that the second one alone misjudges.
    second: u64,
    /// The share that the second one misjudges.
    share: f64,
}

impl Comparison {
    fn new<'a>(
        first: &BoundMachine,
        second: &BoundMachine,
        traces: impl Iterator<Item = &'a Trace>,
    ) -> Self {
        let wrong = |trace: &Trace, machine| trace.disagreement(machine).is_some();
        let mut comparison = Self::default();
        let (mut all, mut misjudged) = (0_u64, 0_u64);
        for trace in traces {
            all += 1;
            let (one, other) = (wrong(trace, first), wrong(trace, second));
            comparison.first += u64::from(one && !other);
            comparison.second += u64::from(other && !one);
            misjudged += u64::from(other);
        }
        comparison.share = misjudged as f64 / all.max(1) as f64;
        comparison
    }

    /// Whether the second is better, by two standard deviations of a fair coin (McNemar 1947).
    fn second_is_better(&self) -> bool {
        let (first, second) = (self.first as f64, self.second as f64);
        first > second && (first - second).powi(2) >= 4.0 * (first + second)
    }
}

impl<F: EnvFactory> Trainer<F> {
    /// Where labels may be wrong: looks for a better machine, if it is time to.
    ///
    /// It is time while no machine is known, when the machine misjudges more than wrong labels explain, and ever more rarely after it
    /// was learnt: a machine may be wrong about what its policies do not do yet.
    pub(super) fn reconsider(
        &mut self,
        tolerance: Tolerance,
        number: u64,
        episodes: &[Episode],
    ) -> Result<Option<RelearnOutcome>> {
        let misjudged = (episodes.iter())
            .filter(|episode| episode.counterexample.is_some())
            .count() as u64;
        self.state.counterexamples += misjudged;
        let counts = self.state.misjudged.get_or_insert_default();
        counts.episodes += episodes.len() as u64;
        counts.misjudged += misjudged;
        let age = number - self.state.machine_since;
        let accepts = self.game.assignment().can_accept();
        let due = !accepts || counts.refutes() || age.is_power_of_two();
        if !due || episodes.is_empty() || !self.config.method.learns_machine() {
            return Ok(None);
        }
        let new = shortest(episodes, &self.traces, 2 * self.config.learning.keep);
        let goals = episodes.iter().filter(|episode| episode.is_success());
        if !accepts && goals.count() < FEW_GOALS {
            let counts = self.state.misjudged.get_or_insert_default();
            counts.longest_walk = counts.longest_walk.saturating_mul(2);
        }
        self.traces.extend(new.iter().cloned());
        if !self.traces.iter().any(|trace| trace.kind() == Kind::Goal) {
            return Ok(Some(RelearnOutcome::NoGoalYet));
        }
        let start = Instant::now();
        let learnt = match self.shortest_description(tolerance)? {
            Ok(learnt) => learnt.machine,
            Err(StopReason::Interrupted) => {
                return Ok(Some(RelearnOutcome::Stopped(StopReason::Interrupted)));
            }
            // The current machine is the best that is known.
            Err(_) => return Ok(Some(self.confirm())),
        };
        if !(learnt.edges().iter()).any(|edge| edge.to == learnt.accept()) {
            // The few goals so far may be mistakes: more must be seen.
            return Ok(Some(RelearnOutcome::NoGoalYet));
        }
        let bound = learnt.bind(self.game.worlds().signature())?;
        let current = self.game.assignment().bound_machine();
        let comparison = Comparison::new(current, &bound, self.newest(1));
        let simpler = accepts && size(&learnt) < size(self.machine());
        let better =
            comparison.second_is_better() || (simpler && comparison.first >= comparison.second);
        if learnt == *self.machine() || !better {
            return Ok(Some(self.confirm()));
        }
        self.state.misjudged = Some(MisjudgedEpisodes {
            expected: comparison.share,
            ..MisjudgedEpisodes::default()
        });
        let relearnt = RelearntMachine {
            by_queries: false,
            counterexamples: new,
            time: start.elapsed(),
            ..self.follow(learnt)?
        };
        Ok(Some(RelearnOutcome::Machine(Box::new(relearnt))))
    }

    /// The machine of the shortest description of the newest traces, repeated ones as often as they were observed; or, with a number
    /// of traces or a percentage, the smallest one that misjudges no more.
    fn shortest_description(&self, tolerance: Tolerance) -> Result<Result<Learnt, StopReason>> {
        let mut learner = new_learner(self.game.worlds(), &self.config)?;
        for trace in self.newest(0) {
            learner.add(trace);
        }
        let limits = Limits {
            max_states: self.config.learning.max_states,
            time: Some(Duration::from_secs(self.config.learning.time_limit)),
            interrupt: Some(self.interrupt.clone()),
            ..Limits::default()
        };
        let learnt = match tolerance {
            Tolerance::Auto => learner.learn_shortest_description(&limits)?,
            _ => {
                let outcome = learner.learn_tolerant(tolerance, &limits)?.outcome;
                outcome.learnt().cloned()
            }
        };
        if self.interrupt.load(Ordering::Relaxed) {
            return Ok(Err(StopReason::Interrupted));
        }
        Ok(learnt.ok_or(StopReason::Time))
    }

    /// After how many steps a random walk is given up. Where labels may be wrong, short episodes are better: they have fewer wrong labels.
    /// So walks are as short as they can be and still reach a goal now and then.
    pub(super) fn longest_walk(&self) -> usize {
        match self.config.learning.tolerance() {
            None => usize::MAX,
            Some(_) => self.state.misjudged.unwrap_or_default().longest_walk,
        }
    }

    /// Every second one of the newest traces: those that the learner gets (0), or those that are kept back (1). Of many goals the
    /// shorter half counts.
    fn newest(&self, half: usize) -> impl Iterator<Item = &Trace> {
        let from = self.traces.len().saturating_sub(NEWEST);
        let lengths = goal_lengths(&self.traces[from..]);
        let few = lengths.len().div_ceil(2).max(self.config.learning.keep);
        let longest = lengths.get(few).copied().unwrap_or(usize::MAX);
        let short =
            move |trace: &Trace| trace.kind() != Kind::Goal || trace.steps().len() <= longest;
        let traces = self.traces.iter().enumerate().skip(from);
        let of = traces.filter(move |(number, trace)| number % 2 == half && short(trace));
        of.map(|(_, trace)| trace)
    }

    /// Keeps the machine: what it misjudges is due to wrong labels.
    fn confirm(&mut self) -> RelearnOutcome {
        let counts = self.state.misjudged.get_or_insert_default();
        *counts = MisjudgedEpisodes {
            expected: counts.share(),
            ..MisjudgedEpisodes::default()
        };
        RelearnOutcome::SameMachine
    }
}

/// The edges of a machine and the literals on them.
fn size(machine: &Machine) -> usize {
    let literals = |edge: &form_core::Edge| edge.formula.atoms().count();
    (machine.edges().iter())
        .map(|edge| 1 + literals(edge))
        .sum()
}

/// The lengths of the goals, in order.
fn goal_lengths(traces: &[Trace]) -> Vec<usize> {
    let goals = traces.iter().filter(|trace| trace.kind() == Kind::Goal);
    let mut lengths: Vec<usize> = goals.map(|goal| goal.steps().len()).collect();
    lengths.sort_unstable();
    lengths
}

/// The episodes of each kind with the fewest steps: a long episode has many wrong labels. Incomplete ones ran until time was out, so
/// they are cut to the length of a short goal: what an episode begins with is incomplete, too.
fn shortest(episodes: &[Episode], known: &[Trace], keep: usize) -> Vec<Trace> {
    let of = |kind: Kind| -> Vec<&Trace> {
        let mut of: Vec<(usize, &Trace)> = (episodes.iter())
            .filter_map(|episode| Some((episode.steps(), episode.trace.as_ref()?)))
            .filter(|(_, trace)| trace.kind() == kind)
            .collect();
        of.sort_by_key(|(steps, _)| *steps);
        of.truncate(keep.div_ceil(Kind::ALL.len()));
        of.into_iter().map(|(_, trace)| trace).collect()
    };
    let mut kept: Vec<Trace> = of(Kind::Goal).into_iter().cloned().collect();
    let goals = kept.len();
    let lengths = goal_lengths(if kept.is_empty() { known } else { &kept });
    kept.extend(of(Kind::DeadEnd).into_iter().cloned());
    if let Some(short) = lengths.get(lengths.len() / 4) {
        // Not many more than goals: else what is wrong with them would outweigh what the goals say.
        let number = goals.max(keep.div_ceil(10));
        let incomplete = of(Kind::Incomplete).into_iter().take(number);
        kept.extend(incomplete.map(|trace| trace.beginning((*short).max(SHORT_TRACE))));
    }
    kept
}

/// Incomplete traces are not cut to fewer observations.
const SHORT_TRACE: usize = 4;
/// After how many steps the first random walks are given up.
const SHORT_WALK: usize = 64;
/// With fewer goals in an iteration, walks become longer.
const FEW_GOALS: usize = 3;
/// How many traces count; the learner gets half of them.
const NEWEST: usize = 800;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_labels_alone_do_not_refute() {
        let counts = |episodes, misjudged, expected| MisjudgedEpisodes {
            episodes,
            misjudged,
            expected,
            ..MisjudgedEpisodes::default()
        };
        assert!(counts(10, 1, 0.0).refutes());
        assert!(!counts(10, 0, 0.0).refutes());
        assert!(!counts(1000, 120, 0.1).refutes());
        assert!(counts(1000, 150, 0.1).refutes());
    }

    #[test]
    fn a_machine_must_be_better_by_more_than_chance() {
        let better = |first, second| {
            let share = 0.0;
            let comparison = Comparison {
                first,
                second,
                share,
            };
            comparison.second_is_better()
        };
        assert!(better(4, 0) && better(30, 15));
        assert!(!better(3, 0) && !better(25, 15) && !better(0, 9) && !better(0, 0));
    }
}
