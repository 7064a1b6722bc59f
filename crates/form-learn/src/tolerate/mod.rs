//! Learning from traces of which some are wrong: the smallest machine that misjudges few of them.
//!
//! For one number of states after the other, the fewest misjudged traces are found and proven, until they are few enough. Among the
//! machines with that number of states that misjudge fewest, the cheapest is chosen as always. [`Tolerance::Auto`] weighs
//! states against misjudged traces by description length ([`description`]).

mod description;
mod packing;
mod soft_cegis;
mod tolerance;

use std::time::Instant;

use form_core::Kind;

use crate::budget::Budget;
use crate::cegis::ConflictBudget;
use crate::counterexamples::mistakes;
use crate::encode::Solved;
use crate::error::{Error, Result};
use crate::learner::Learner;
use crate::minimise::{Bounds, CandidateLoop, break_ties, cheapest};
use crate::options::Limits;
use crate::outcome::{LearnOutcome, Learnt, Round, StopReason};
use crate::problem::Problem;
use crate::verify::is_deterministic;
use crate::vocabulary::vocabulary;
use description::Description;
use soft_cegis::{Fewest, SoftCegis};

pub use tolerance::Tolerance;

/// The result of learning with a tolerance.
#[derive(Clone, Debug, PartialEq)]
pub struct TolerantOutcome {
    /// The machine. [`LearnOutcome::Minimal`]: no machine with fewer states misjudges as few traces as tolerated, no machine with
    /// as many states misjudges fewer, and none of these is cheaper. For [`Tolerance::Auto`]: no machine with as many states has a
    /// shorter description together with the traces that it misjudges.
    pub outcome: LearnOutcome,
    /// What is known for each number of states.
    pub levels: Vec<Level>,
    /// The traces that the machine misjudges, by number.
    pub suspects: Vec<Suspect>,
    /// Whether other traces may be wrong just as well.
    pub others: OtherSuspects,
    /// Their number, duplicates counted.
    pub misjudged: u64,
    /// How many were tolerated; for [`Tolerance::Auto`] the number that was chosen.
    pub tolerated: u64,
    /// The effort per number of states.
    pub rounds: Vec<Round>,
}

/// What is known about the machines with at most one number of states.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// The number of states, accepting and rejecting ones not counted.
    pub states: usize,
    /// The fewest misjudged traces of a machine found so far, duplicates counted. For [`Tolerance::Auto`], those of the machine with
    /// the shortest description so far.
    pub fewest_misjudged: u64,
    /// Lower bound: no machine misjudges fewer. For [`Tolerance::Auto`], none with as few edges and literals.
    pub at_least: u64,
    /// The bits of the shortest description found, for [`Tolerance::Auto`].
    pub bits: Option<f64>,
}

impl Level {
    /// Whether no machine misjudges fewer traces.
    pub fn proven(&self) -> bool {
        self.fewest_misjudged == self.at_least
    }
}

/// A trace that the learnt machine misjudges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suspect {
    /// The number of the trace, as it was returned when the trace was added.
    pub trace: usize,
    /// What its kind should be for the machine.
    pub expected: Kind,
    /// The number of observations after which the machine and the trace disagree.
    pub after: usize,
}

/// Whether another machine with as many states, that costs no more and misjudges as few traces, misjudges others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum OtherSuspects {
    /// None does: proven.
    None,
    /// One misjudges these.
    Traces(Vec<Suspect>),
    /// It is not known: there is no proven machine, or the question took too long.
    #[default]
    Unknown,
}

impl Learner {
    /// The smallest machine that misjudges at most as many traces as tolerated, and among those of its size fewest. Traces that
    /// contradict each other are no error then.
    ///
    /// ```
    /// use form_core::{Kind, Signature, Trace};
    /// use form_learn::{Learner, Limits, Options, Tolerance};
    /// let signature = Signature::parse(["goal", "lava"])?;
    /// let mut learner = Learner::new(&signature, &Options::default());
    /// let goal = [signature.observation(["goal"])?];
    /// learner.add_weighted(&Trace::new(Kind::Goal, goal.clone()), 20);
    /// learner.add(&Trace::new(Kind::Incomplete, goal));
    /// let learnt = learner.learn_tolerant(Tolerance::AtMost(1), &Limits::default())?;
    /// assert_eq!((learnt.misjudged, learnt.suspects[0].expected), (1, Kind::Goal));
    /// # Ok::<(), form_learn::Error>(())
    /// ```
    pub fn learn_tolerant(
        &mut self,
        tolerance: Tolerance,
        limits: &Limits,
    ) -> Result<TolerantOutcome> {
        let total = self.problem().traces.total_weight();
        let total = total.ok_or(Error::Weights)?;
        let tolerated = match tolerance {
            Tolerance::AtMost(number) => Some(number),
            Tolerance::Share(share) => Some((share.max(0.0) * total as f64).floor() as u64),
            Tolerance::Auto => None,
        };
        if let Some(tolerated) = tolerated.filter(|tolerated| *tolerated > 0 && *tolerated >= total)
        {
            let traces = total;
            return Err(Error::Tolerance { tolerated, traces });
        }
        self.search_tolerant(limits, tolerated, |search| match tolerated {
            Some(tolerated) => search.at_most(tolerated),
            None => search.shortest_description(total, true),
        })
    }

    /// The machine with the shortest description together with the traces it misjudges, as far as a few solver calls show: what
    /// [`Tolerance::Auto`] looks for, without the proof. Nothing at a limit before the first machine.
    pub fn learn_shortest_description(&mut self, limits: &Limits) -> Result<Option<Learnt>> {
        let total = self.problem().traces.total_weight().ok_or(Error::Weights)?;
        let found = self.search_tolerant(limits, None, |search| {
            search.seeks_others = false;
            search.shortest_description(total, false)
        });
        Ok(found?.outcome.into_learnt())
    }

    /// The machine that misjudges fewest traces of all with at most `limits.max_states` states, and the exact table up to there.
    pub fn learn_fewest_misjudged(&mut self, limits: &Limits) -> Result<TolerantOutcome> {
        self.problem().traces.total_weight().ok_or(Error::Weights)?;
        #[expect(
            clippy::redundant_closure_for_method_calls,
            reason = "the method is of one lifetime, the closure of any"
        )]
        self.search_tolerant(limits, Some(0), |search| search.fewest_of_all())
    }

    /// Searches, and counts the work of that.
    fn search_tolerant(
        &mut self,
        limits: &Limits,
        tolerated: Option<u64>,
        search_for: impl FnOnce(&mut Search<'_>) -> Result<(), StopReason>,
    ) -> Result<TolerantOutcome> {
        let problem = self.problem();
        // If there were too many atoms, the vocabulary is empty.
        if problem.vocabulary.is_empty() && !problem.signature.is_empty() {
            vocabulary(&problem.signature, &problem.options)?;
        }
        let mut search = Search::new(problem, limits);
        let ended = search_for(&mut search);
        let found = search.outcome(ended, tolerated);
        let budget = search.budget;
        self.count_work(&budget);
        let found = found?;
        Ok(TolerantOutcome {
            outcome: self.named(found.outcome)?,
            ..found
        })
    }
}

/// A search over numbers of states.
struct Search<'a> {
    problem: &'a Problem,
    limits: &'a Limits,
    budget: Budget,
    levels: Vec<Level>,
    rounds: Vec<Round>,
    /// The machine of the answer, with what it misjudges.
    chosen: Option<(u64, Learnt)>,
    /// A machine of the same size that misjudges other traces, once the answer is known: none, or one.
    other: Option<Option<Learnt>>,
    /// Whether such a machine is looked for.
    seeks_others: bool,
    /// The machine with the fewest states of those that misjudge few enough, not proven to be the answer.
    best: Option<(u64, Learnt)>,
}

/// The search for one number of states, while it is under way.
struct Open {
    states: usize,
    cegis: SoftCegis,
}

/// The shortest description so far.
struct Shortest {
    bits: f64,
    /// Its machine, with what that misjudges.
    found: Option<(u64, Learnt)>,
}

impl<'a> Search<'a> {
    fn new(problem: &'a Problem, limits: &'a Limits) -> Self {
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
    fn fewest_of_all(&mut self) -> Result<(), StopReason> {
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
    fn at_most(&mut self, tolerated: u64) -> Result<(), StopReason> {
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

    /// The shortest description of the machine and the traces that it misjudges. The first number of states whose description is
    /// shorter than that of the next one is chosen; both get a few solver calls. Then, with `prove`, no machine with that number of
    /// states has a shorter one.
    fn shortest_description(&mut self, total: u64, prove: bool) -> Result<(), StopReason> {
        let description = Description::new(self.problem, total);
        let mut shortest = Shortest {
            bits: f64::INFINITY,
            found: None,
        };
        let mut chosen: Option<Open> = None;
        for states in 1..=self.limits.max_states {
            let mut this = self.open(states, false)?;
            let before = shortest.bits;
            self.sweep(&mut this, &description, &mut shortest, Some(QUICK))?;
            if shortest.bits >= before {
                break;
            }
            self.best.clone_from(&shortest.found);
            chosen = Some(this);
        }
        let mut this = chosen.ok_or(StopReason::States)?;
        if prove {
            self.sweep(&mut this, &description, &mut shortest, None)?;
            self.best.clone_from(&shortest.found);
        }
        let (weight, learnt) = shortest.found.ok_or(StopReason::States)?;
        // Of the machines of this cost that misjudge as few, the first in order.
        let quick = (!prove).then_some(QUICK);
        let learnt = match self.fewest_within(&mut this, learnt.cost.size, weight, quick) {
            Fewest::Unknown if prove => return Err(self.budget.stop_reason()),
            Fewest::Unknown => learnt,
            _ => self.cheapest(&mut this)?,
        };
        let level = &mut self.levels[this.states - 1];
        (level.fewest_misjudged, level.bits) = (weight, Some(shortest.bits));
        level.at_least = this.cegis.lower.min(weight);
        self.chosen = Some((weight, learnt));
        Ok(())
    }

    /// The fewest misjudged traces of the machines of one cost after the other, as long as the description may become shorter. With a
    /// budget, also until a few costs in a row have not made it shorter.
    fn sweep(
        &mut self,
        open: &mut Open,
        description: &Description,
        shortest: &mut Shortest,
        budget: Option<ConflictBudget>,
    ) -> Result<(), StopReason> {
        let mut in_vain = 0;
        let mut row: Option<f64> = None;
        let mut cost = open.cegis.lowest_cost();
        while let Some(most) = description.most_misjudged(open.states, cost, shortest.bits) {
            let fewest = self.fewest_within(open, cost, most, budget);
            if self.budget.exhausted().is_some() || (fewest == Fewest::Unknown && budget.is_none())
            {
                return Err(self.budget.stop_reason());
            }
            in_vain += 1;
            if let Some((weight, learnt)) = &open.cegis.best {
                let bits = description.bits(open.states, learnt.cost.size, *weight);
                if row.is_none_or(|row| bits < row) {
                    row = Some(bits);
                    let level = &mut self.levels[open.states - 1];
                    (level.fewest_misjudged, level.bits) = (*weight, row);
                    level.at_least = open.cegis.lower.min(*weight);
                    in_vain = 0;
                }
                if bits < shortest.bits {
                    shortest.bits = bits;
                    shortest.found = Some((*weight, learnt.clone()));
                }
            }
            if budget.is_some() && in_vain > COSTS_IN_VAIN {
                break;
            }
            cost += 1;
        }
        Ok(())
    }

    /// Begins with a number of states; whether fewer are `refuted` then.
    fn open(&mut self, states: usize, refuted: bool) -> Result<Open, StopReason> {
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
        });
        self.rounds.push(Round {
            states,
            ..Round::default()
        });
        Ok(Open { states, cegis })
    }

    /// Raises the lower bound of one number of states, and keeps the books.
    fn fewest(
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
    fn fewest_within(
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
    fn cheapest(&mut self, open: &mut Open) -> Result<Learnt, StopReason> {
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
    fn look_for_another(&mut self, open: &mut Open, learnt: &Learnt) {
        let found = mistakes(&self.problem.traces, &self.problem.bind(learnt), 0);
        let suspects: Vec<usize> = found.iter().map(|(_, prefix)| prefix.trace).collect();
        let (cegis, cost) = (&mut open.cegis, learnt.cost.size);
        self.other = match cegis.other(self.problem, &suspects, cost, QUICK) {
            Solved::Sat(other) => Some(Some(other.learnt)),
            Solved::Unsat => Some(None),
            Solved::Unknown => None,
        };
    }

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
    fn outcome(
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
            misjudged = soft_cegis::weight_of(self.problem, &found);
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
        Ok(TolerantOutcome {
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

    fn suspect(&self, machine: &form_core::BoundMachine, trace: usize) -> Suspect {
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

/// How many costs in a row need not make a description shorter: an edge costs two or three.
const COSTS_IN_VAIN: usize = 3;
/// The first look at a number of states.
const QUICK: ConflictBudget = ConflictBudget {
    conflicts: 4000,
    calls: 400,
};
