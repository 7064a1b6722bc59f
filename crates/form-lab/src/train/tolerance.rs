//! The joint loop where labels may be wrong (`learning.tolerate`): when a machine counts as refuted, and what the learner gets.
//!
//! With wrong labels every machine misjudges episodes, the right one too. So a machine is refuted by a share of misjudged episodes, not by
//! one of them; and the learner needs the episodes that are judged rightly as well, or wrong labels would be all it sees.

use form_core::{Kind, Machine, Trace};
use form_env::Worlds;
use form_learn::{LearnOutcome, Learner, Limits, Tolerance};
use form_rl::Episode;
use serde::{Deserialize, Serialize};

use super::{Trainer, learner_options};
use crate::env_factory::EnvFactory;

/// The episodes since a machine was learnt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MisjudgedEpisodes {
    /// All of them.
    pub(crate) episodes: u64,
    /// Those that it misjudged.
    pub(crate) misjudged: u64,
    /// The share that it misjudges because labels are wrong, as far as known.
    pub(crate) expected: f64,
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

/// The result of the tolerant learner.
pub(super) struct TolerantLearning {
    pub(super) outcome: LearnOutcome,
    /// The share of the traces that its machine misjudges.
    pub(super) share: f64,
}

impl<F: EnvFactory> Trainer<F> {
    /// The episodes of an iteration that the learner gets: none while the machine is not refuted.
    pub(super) fn refuting_sample(&mut self, episodes: &[Episode]) -> Vec<Trace> {
        let count = |episode: &&Episode| episode.counterexample.is_some();
        let misjudged = episodes.iter().filter(count).count() as u64;
        self.state.counterexamples += misjudged;
        let counts = self.state.misjudged.get_or_insert_default();
        counts.episodes += episodes.len() as u64;
        counts.misjudged += misjudged;
        let refuted = counts.refutes();
        match refuted && self.config.method.learns_machine() {
            false => Vec::new(),
            // What the machine says must not decide which episodes are taken. Without one that accepts, none is cut short, and
            // the shortest of each kind have the fewest wrong labels.
            true if !self.game.assignment().can_accept() => {
                shortest(episodes, self.config.learning.keep)
            }
            true => spread(episodes, self.config.learning.keep),
        }
    }

    /// Learns from all kept traces, repeated ones as often as they were observed.
    pub(super) fn learn_tolerant(
        &self,
        tolerance: Tolerance,
        limits: &Limits,
    ) -> form_learn::Result<TolerantLearning> {
        let signature = self.game.worlds().signature();
        let mut learner = Learner::new(signature, &learner_options(&self.config));
        for trace in &self.traces {
            learner.add(trace);
        }
        let learnt = learner.learn_tolerant(tolerance, limits)?;
        Ok(TolerantLearning {
            share: learnt.misjudged as f64 / self.traces.len().max(1) as f64,
            outcome: learnt.outcome,
        })
    }

    /// Keeps the machine, if the learner has found it again: what it misjudges is due to wrong labels then. Else counts anew.
    pub(super) fn confirms(&mut self, machine: &Machine, share: f64) -> bool {
        let confirmed = machine == self.machine();
        let counts = self.state.misjudged.get_or_insert_default();
        let expected = match confirmed {
            true => share.max(counts.share()),
            false => share,
        };
        *counts = MisjudgedEpisodes {
            expected,
            ..MisjudgedEpisodes::default()
        };
        confirmed
    }
}

/// The episodes of each kind with the fewest steps. Incomplete ones ran until time was out and have far more wrong labels than the
/// others, so they are cut to the length of a typical goal: what an episode begins with is incomplete, too.
fn shortest(episodes: &[Episode], keep: usize) -> Vec<Trace> {
    let of = |kind: Kind| {
        let mut of: Vec<(usize, &Trace)> = (episodes.iter())
            .filter_map(|episode| Some((episode.steps(), episode.trace.as_ref()?)))
            .filter(|(_, trace)| trace.kind() == kind)
            .collect();
        of.sort_by_key(|(steps, _)| *steps);
        of.truncate(keep.div_ceil(Kind::ALL.len()));
        of.into_iter().map(|(_, trace)| trace)
    };
    let mut kept: Vec<Trace> = of(Kind::Goal).chain(of(Kind::DeadEnd)).cloned().collect();
    let typical = of(Kind::Goal).nth(of(Kind::Goal).len() / 2);
    kept.extend(of(Kind::Incomplete).map(|trace| match typical {
        None => trace.clone(),
        Some(goal) => beginning(trace, goal.steps().len()),
    }));
    kept
}

/// The first observations of a trace that is incomplete.
fn beginning(trace: &Trace, observations: usize) -> Trace {
    let first = trace.steps().iter().take(observations).cloned();
    Trace::with_mode(trace.step_mode(), Kind::Incomplete, first)
}

/// Episodes spread evenly over all of them.
fn spread(episodes: &[Episode], keep: usize) -> Vec<Trace> {
    let every = episodes.len().div_ceil(keep.max(1)).max(1);
    (episodes.iter().step_by(every))
        .filter_map(|episode| episode.trace.clone())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_labels_alone_do_not_refute() {
        let counts = |episodes, misjudged, expected| MisjudgedEpisodes {
            episodes,
            misjudged,
            expected,
        };
        assert!(counts(10, 1, 0.0).refutes());
        assert!(!counts(10, 0, 0.0).refutes());
        assert!(!counts(1000, 120, 0.1).refutes());
        assert!(counts(1000, 150, 0.1).refutes());
    }
}
