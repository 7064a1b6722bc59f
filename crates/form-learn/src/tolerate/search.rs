//! The search over numbers of states: the fewest misjudged traces of each, until they are few enough, and the cheapest machine that
//! misjudges so few.

use std::time::Instant;

use form_core::Kind;

use super::soft_cegis::{Fewest, SoftCegis};
use super::tolerant_outcome::Level;
use crate::budget::Budget;
use crate::cegis::ConflictBudget;
use crate::counterexamples::mistakes;
use crate::encode::Solved;
use crate::minimise::{Bounds, CandidateLoop, break_ties, cheapest};
use crate::options::Limits;
use crate::outcome::{Learnt, Round, StopReason};
use crate::problem::Problem;

/// A search over numbers of states.
pub(super) struct Search<'a> {
    pub(super) problem: &'a Problem,
    pub(super) limits: &'a Limits,
    pub(super) budget: Budget,
    pub(super) levels: Vec<Level>,
    pub(super) rounds: Vec<Round>,
    /// The machine of the answer, with what it misjudges.
    pub(super) chosen: Option<(u64, Learnt)>,
    /// A machine of the same size that misjudges other traces, once the answer is known: none, or one.
    pub(super) other: Option<Option<Learnt>>,
    /// Whether such a machine is looked for.
    pub(super) seeks_others: bool,
    /// The machine with the fewest states of those that misjudge few enough, not proven to be the answer.
    pub(super) best: Option<(u64, Learnt)>,
}

/// The search for one number of states, while it is under way.
pub(super) struct Open {
    pub(super) states: usize,
    pub(super) cegis: SoftCegis,
}

impl<'a> Search<'a> {
    pub(super) fn new(problem: &'a Problem, limits: &'a Limits) -> Self {
        Self {
            problem,
            limits,
            budget: Budget::new(limits),
            levels: Vec::new(),
            rounds: Vec::new(),
            chosen: None,
            other: None,
            seeks_others: true,
            best: None,
        }
    }

    /// The exact number for one number of states after the other, until no trace is misjudged.
    pub(super) fn fewest_of_all(&mut self) -> Result<(), StopReason> {
        let mut fewest: Option<(u64, Open)> = None;
        for states in 1..=self.limits.max_states {
            let mut open = self.open(states, true)?;
            if self.fewest(&mut open, u64::MAX, None) == Fewest::Unknown {
                return Err(self.budget.stop_reason());
            }
            let weight = self.levels[states - 1].fewest_misjudged;
            if (fewest.as_ref()).is_none_or(|(before, _)| weight < *before) {
                self.best.clone_from(&open.cegis.best);
                fewest = Some((weight, open));
            }
            if weight == 0 {
                break;
            }
        }
        let (weight, mut open) = fewest.ok_or(StopReason::States)?;
        self.chosen = Some((weight, self.cheapest(&mut open)?));
        Ok(())
    }

    /// The first number of states with few enough misjudged traces.
    pub(super) fn at_most(&mut self, tolerated: u64) -> Result<(), StopReason> {
        for states in 1..=self.limits.max_states {
            let mut open = self.open(states, true)?;
            let fewest = self.fewest(&mut open, tolerated, None);
            if let Some((weight, learnt)) = &open.cegis.best
                && *weight <= tolerated
            {
                self.best = Some((*weight, learnt.clone()));
            }
            match fewest {
                Fewest::TooMany | Fewest::NoMachine => {}
                Fewest::Unknown => return Err(self.budget.stop_reason()),
                Fewest::Proven => {
                    let level = &self.levels[states - 1];
                    if level.fewest_misjudged <= tolerated {
                        let weight = level.fewest_misjudged;
                        let learnt = self.cheapest(&mut open)?;
                        self.chosen = Some((weight, learnt));
                        return Ok(());
                    }
                }
            }
        }
        Err(StopReason::States)
    }

    /// Begins with a number of states; whether fewer are `refuted` then.
    pub(super) fn open(&mut self, states: usize, refuted: bool) -> Result<Open, StopReason> {
        if let Some(progress) = &self.limits.progress
            && refuted
        {
            progress.tries(states);
        }
        let cegis = SoftCegis::new(self.problem, states, &self.budget);
        let cegis = cegis.ok_or_else(|| self.budget.stop_reason())?;
        // The machine without edges misjudges all traces that are over.
        let over = (self.problem.traces.from(0).iter().enumerate())
            .filter(|(_, (kind, _))| *kind != Kind::Incomplete)
            .map(|(trace, _)| self.problem.traces.weight(trace));
        let before = self.levels.last().map(|level| level.fewest_misjudged);
        self.levels.push(Level {
            states,
            fewest_misjudged: before.unwrap_or_else(|| over.fold(0, u64::saturating_add)),
            at_least: 0,
            bits: None,
            shortest_proven: false,
        });
        self.rounds.push(Round {
            states,
            ..Round::default()
        });
        Ok(Open { states, cegis })
    }

    /// Raises the lower bound of one number of states, and keeps the books.
    pub(super) fn fewest(
        &mut self,
        open: &mut Open,
        tolerated: u64,
        budget: Option<ConflictBudget>,
    ) -> Fewest {
        let start = Instant::now();
        // What fewer states achieve, more achieve too.
        let known = (self.levels[..open.states - 1].last()).map(|level| level.fewest_misjudged);
        let (cegis, limits) = (&mut open.cegis, &self.budget);
        let mut fewest = cegis.fewest(self.problem, known, tolerated, budget, limits);
        let level = &mut self.levels[open.states - 1];
        let own = open.cegis.best.as_ref().map(|(weight, _)| *weight);
        level.fewest_misjudged =
            (own.into_iter().chain(known)).fold(level.fewest_misjudged, u64::min);
        level.at_least = match fewest {
            Fewest::NoMachine => level.fewest_misjudged,
            _ => open.cegis.lower.min(level.fewest_misjudged),
        };
        if fewest == Fewest::NoMachine && known.is_none() {
            // One state without edges always is a machine.
            fewest = Fewest::Proven;
        }
        self.count(open, start);
        self.rounds[open.states - 1].refuted =
            matches!(fewest, Fewest::TooMany | Fewest::NoMachine);
        fewest
    }

    /// The same for the machines that cost no more than a bound.
    pub(super) fn fewest_within(
        &mut self,
        open: &mut Open,
        cost: usize,
        tolerated: u64,
        budget: Option<ConflictBudget>,
    ) -> Fewest {
        let start = Instant::now();
        open.cegis.begin_within(self.problem, cost);
        let (cegis, limits) = (&mut open.cegis, &self.budget);
        let fewest = cegis.fewest(self.problem, None, tolerated, budget, limits);
        self.count(open, start);
        fewest
    }

    /// Counts the effort since then.
    fn count(&mut self, open: &Open, start: Instant) {
        let effort = open.cegis.effort();
        let round = &mut self.rounds[open.states - 1];
        round.counterexamples = effort.counterexamples;
        round.steps = effort.steps;
        round.solver_calls = effort.calls;
        round.clauses = effort.clauses;
        round.time += start.elapsed();
    }

    /// The cheapest of the machines that misjudge as few traces as proven.
    pub(super) fn cheapest(&mut self, open: &mut Open) -> Result<Learnt, StopReason> {
        let start = Instant::now();
        open.cegis.harden();
        let mut bounds = Bounds::default();
        let found = cheapest(&mut open.cegis, self.problem, &mut bounds, None, 1);
        let learnt = match found {
            Solved::Sat(candidate) => {
                open.cegis.encoding().set_budget(&self.budget);
                break_ties(
                    &mut open.cegis,
                    self.problem,
                    &mut bounds,
                    candidate,
                    &self.budget,
                )
            }
            _ => Err(self.budget.stop_reason()),
        };
        if let Ok(learnt) = &learnt
            && self.seeks_others
        {
            self.look_for_another(open, learnt);
        }
        self.rounds[open.states - 1].time += start.elapsed();
        learnt
    }

    /// Asks for a machine of the same size that misjudges other traces.
    pub(super) fn look_for_another(&mut self, open: &mut Open, learnt: &Learnt) {
        let found = mistakes(&self.problem.traces, &self.problem.bind(learnt), 0);
        let suspects: Vec<usize> = found.iter().map(|(_, prefix)| prefix.trace).collect();
        let (cegis, cost) = (&mut open.cegis, learnt.cost.size);
        self.other = match cegis.other(self.problem, &suspects, cost, QUICK) {
            Solved::Sat(other) => Some(Some(other.learnt)),
            Solved::Unsat => Some(None),
            Solved::Unknown => None,
        };
    }
}

/// The first look at a number of states.
pub(super) const QUICK: ConflictBudget = ConflictBudget {
    conflicts: 4000,
    calls: 400,
};
