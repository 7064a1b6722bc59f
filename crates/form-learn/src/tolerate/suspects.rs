//! The outcome of a search: its machine replayed by the evaluator, and the traces that this misjudges.

use form_core::{BoundMachine, Kind};

use super::search::Search;
use super::soft_cegis::weight_of;
use super::tolerant_outcome::{Level, OtherSuspects, Suspect, TolerantOutcome};
use crate::counterexamples::mistakes;
use crate::error::{Error, Result};
use crate::outcome::{LearnOutcome, Learnt, StopReason};
use crate::verify::is_deterministic;

impl Search<'_> {
    /// The traces that a machine misjudges.
    fn suspects(&self, learnt: &Learnt) -> Vec<Suspect> {
        let machine = self.problem.bind(learnt);
        let found = mistakes(&self.problem.traces, &machine, 0);
        let mut suspects: Vec<Suspect> = (found.into_iter())
            .map(|(_, prefix)| self.suspect(&machine, prefix.trace))
            .collect();
        suspects.sort_by_key(|suspect| suspect.trace);
        suspects
    }

    /// The outcome, with the suspects of its machine as the evaluator finds them. `tolerated` is what was asked for, if it was a number.
    pub(super) fn outcome(
        &mut self,
        ended: Result<(), StopReason>,
        tolerated: Option<u64>,
    ) -> Result<TolerantOutcome> {
        let (claimed, outcome) = match (ended, self.chosen.take()) {
            (Ok(()), Some((weight, learnt))) => (Some(weight), LearnOutcome::Minimal(learnt)),
            (ended, _) => {
                // A number of states is refuted, too, if its fewest mistakes are more than tolerated. Description length refutes none.
                let too_many = |level: &Level| tolerated.is_some_and(|most| level.at_least > most);
                let refuted = (self.rounds.iter().zip(&self.levels))
                    .take_while(|(round, level)| round.refuted || too_many(level))
                    .count();
                let (weight, best) = self.best.take().unzip();
                let stopped = LearnOutcome::Stopped {
                    reason: ended.err().unwrap_or(StopReason::Interrupted),
                    at_least_states: refuted + 1,
                    at_least_cost: 0,
                    best,
                };
                (weight, stopped)
            }
        };
        let mut suspects = Vec::new();
        let mut misjudged = 0;
        if let Some(learnt) = outcome.learnt() {
            let machine = self.problem.bind(learnt);
            is_deterministic(&machine)?;
            let found = mistakes(&self.problem.traces, &machine, 0);
            misjudged = weight_of(self.problem, &found);
            if claimed.is_some_and(|claimed| claimed != misjudged) {
                let problem = format!("it misjudges {misjudged} traces in\n{}", learnt.machine);
                return Err(Error::Refuted { problem });
            }
            suspects = self.suspects(learnt);
        }
        let others = match (&outcome, self.other.take()) {
            (LearnOutcome::Minimal(_), Some(Some(other))) => {
                OtherSuspects::Traces(self.suspects(&other))
            }
            (LearnOutcome::Minimal(_), Some(None)) => OtherSuspects::None,
            _ => OtherSuspects::Unknown,
        };
        let kinds = self.problem.traces.from(0);
        let missed =
            |one: &&Suspect| kinds[one.trace].0 == Kind::Goal && one.expected != Kind::Goal;
        let missed = suspects.iter().filter(missed).count();
        let goals = kinds.iter().filter(|(kind, _)| *kind == Kind::Goal).count();
        Ok(TolerantOutcome {
            accepts_no_goal: outcome.learnt().is_some() && goals > 0 && missed == goals,
            tolerated: tolerated.unwrap_or(0).max(match outcome {
                LearnOutcome::Minimal(_) => misjudged,
                _ => 0,
            }),
            outcome,
            levels: std::mem::take(&mut self.levels),
            rounds: std::mem::take(&mut self.rounds),
            suspects,
            others,
            misjudged,
        })
    }

    fn suspect(&self, machine: &BoundMachine, trace: usize) -> Suspect {
        let whole = self.problem.traces.trace(&self.problem.traces.whole(trace));
        let wrong = whole.disagreement(machine);
        let reached = wrong.map(|wrong| wrong.reached);
        Suspect {
            trace,
            expected: [Kind::Goal, Kind::DeadEnd, Kind::Incomplete]
                .into_iter()
                .find(|kind| Some(kind.expected()) == reached)
                .unwrap_or(Kind::Incomplete),
            after: wrong.map_or(0, |wrong| wrong.after),
        }
    }
}
