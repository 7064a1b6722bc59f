//! The learner: iterative deepening on the number of states. One number after the other is refuted, until a machine is found.

use std::time::{Duration, Instant};

use form_core::{AtomSet, Name, Signature, Trace};

use crate::above::Above;
use crate::budget::Budget;
use crate::effort::Effort;
use crate::error::Result;
use crate::lifted::{is_replacement, lifted_vocabulary};
use crate::options::{Limits, Options};
use crate::outcome::{LearnOutcome, Learnt, Round, StopReason};
use crate::own_signatures::OwnSignatures;
use crate::problem::Problem;
use crate::search::Search;
use crate::traces::TraceSet;
use crate::verify::is_deterministic;
use crate::vocabulary::vocabulary;

/// Learns the smallest machine from traces, to which more can be added.
///
/// It keeps its solver and all proofs between calls of [`learn`](Learner::learn): traces that the machine explains cost their
/// replay, others only what they change.
///
/// ```
/// use form_core::{Kind, Signature, Trace};
/// use form_learn::{LearnOutcome, Learner, Limits, Options};
/// let signature = Signature::parse(["yellow(o0)", "yellow(o1)", "goal"])?;
/// let mut learner = Learner::new(&signature, &Options::default());
/// for (kind, steps) in [(Kind::Goal, &["yellow(o0)", "goal"][..]), (Kind::Incomplete, &["goal"])] {
///     let steps: Vec<_> = steps.iter().map(|atom| signature.observation([atom])).collect::<Result<_, _>>()?;
///     learner.add(&Trace::new(kind, steps));
/// }
/// let LearnOutcome::Minimal(learnt) = learner.learn(&Limits::default())? else { panic!() };
/// assert_eq!((learnt.states, learnt.cost.size), (2, 4));
/// # Ok::<(), form_learn::Error>(())
/// ```
pub struct Learner {
    problem: Problem,
    /// How traces are lifted as they are added, if they have signatures of their own.
    own: Option<OwnSignatures>,
    /// Lower bound: no machine with fewer states is consistent.
    states: usize,
    /// The search for a machine with that many.
    search: Option<Search>,
    /// The search for a machine with more.
    above: Above,
    /// The minimal machine, and the number of traces that it has been replayed on.
    minimal: Option<(Learnt, usize)>,
    rounds: Vec<Round>,
    /// The work of all searches.
    work: u64,
}

impl Learner {
    /// A learner without traces. `forall` ranges over the signature.
    pub fn new(signature: &Signature, options: &Options) -> Self {
        Self {
            problem: Problem {
                signature: signature.clone(),
                options: options.clone(),
                // If there are too many, `learn` returns the error.
                vocabulary: vocabulary(signature, options).unwrap_or_default(),
                traces: TraceSet::default(),
            },
            own: None,
            states: 1,
            search: None,
            above: Above::default(),
            minimal: None,
            rounds: Vec::new(),
            work: 0,
        }
    }

    /// A learner for [lifted](crate::Lifting) traces: no edge names an object, and `forall` ranges over the objects of each trace.
    /// [`unlift`](crate::unlift) gives the machine over the original predicates.
    pub fn lifted(signature: &Signature, options: &Options) -> Self {
        let mut learner = Self::new(&Signature::default(), options);
        learner.problem.signature = signature.clone();
        let named = |name: &Name| !is_replacement(name.as_str());
        learner.problem.vocabulary = lifted_vocabulary(signature, options.first_order, named);
        learner
    }

    /// A learner for traces that have a part of the signature as their own: `forall` ranges over that part. Edges name only constants of
    /// `shared`, the atoms that every trace has.
    ///
    /// ```
    /// use form_core::{AtomSet, Kind, Signature, Trace};
    /// use form_learn::{Learner, Limits, Options};
    /// let signature = Signature::parse(["paid(o1)", "paid(o2)"])?;
    /// let [one, two] = ["paid(o1)", "paid(o2)"].map(|atom| signature.observation([atom]).unwrap());
    /// let mut learner = Learner::with_own_signatures(&signature, &one, &Options::default())?;
    /// learner.add(&Trace::new(Kind::Goal, [one.clone()]).with_signature(one.clone()));
    /// learner.add(&Trace::new(Kind::Incomplete, [one.clone()]).with_signature(one.union(&two)));
    /// let outcome = learner.learn(&Limits::default())?;
    /// assert!(outcome.learnt().unwrap().machine.to_string().contains("forall X. paid(X)"));
    /// # Ok::<(), form_learn::Error>(())
    /// ```
    pub fn with_own_signatures(
        signature: &Signature,
        shared: &AtomSet,
        options: &Options,
    ) -> Result<Self> {
        let own = OwnSignatures::new(signature, shared)?;
        let mut learner = Self::new(&Signature::default(), options);
        learner.problem.signature = own.signature.clone();
        learner.problem.vocabulary = own.vocabulary(options);
        learner.own = Some(own);
        Ok(learner)
    }

    /// Adds a trace; its number, or `None` for a duplicate. The machine observes every step if the traces have every step; traces of
    /// both kinds are an error of [`learn`](Learner::learn).
    pub fn add(&mut self, trace: &Trace) -> Option<usize> {
        self.add_weighted(trace, 1)
    }

    /// Adds a trace that was observed `weight` times; its number, or `None` for a duplicate. Weights matter only where traces may
    /// be misjudged: see [`learn_tolerant`](Learner::learn_tolerant).
    pub fn add_weighted(&mut self, trace: &Trace, weight: u64) -> Option<usize> {
        match &self.own {
            Some(own) => self.problem.traces.add(&own.lift(trace), weight),
            None => self.problem.traces.add(trace, weight),
        }
    }

    /// The number of distinct traces.
    pub fn traces(&self) -> usize {
        self.problem.traces.len()
    }

    /// The effort per number of states so far.
    pub fn rounds(&self) -> &[Round] {
        &self.rounds
    }

    /// The work of all searches so far, as [`Limits::work`] counts it.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// Counts the work of a search.
    pub(crate) fn count_work(&mut self, budget: &Budget) {
        self.work += budget.looks();
    }

    /// The machine that was learnt last, if it is proven minimal for all traces added so far.
    pub(crate) fn minimal(&self) -> Option<&Learnt> {
        let (learnt, checked) = self.minimal.as_ref()?;
        (*checked == self.traces()).then_some(learnt)
    }

    pub(crate) fn problem(&self) -> &Problem {
        &self.problem
    }

    /// An outcome over the atoms of the traces as they were added.
    pub(crate) fn named(&self, outcome: LearnOutcome) -> Result<LearnOutcome> {
        match &self.own {
            Some(_) => outcome.unlifted(),
            None => Ok(outcome),
        }
    }

    /// The smallest machine that is consistent with all traces added so far, or why there is none.
    pub fn learn(&mut self, limits: &Limits) -> Result<LearnOutcome> {
        let outcome = self.learn_as_added(limits)?;
        self.named(outcome)
    }

    fn learn_as_added(&mut self, limits: &Limits) -> Result<LearnOutcome> {
        self.problem.traces.expect_one_mode()?;
        let contradictions = self.problem.traces.contradictions();
        if !contradictions.is_empty() {
            return Ok(LearnOutcome::Contradictory(contradictions.to_vec()));
        }
        if let Some(learnt) = self.still_minimal()
            && learnt.states <= limits.max_states
        {
            return Ok(LearnOutcome::Minimal(learnt));
        }
        let budget = Budget::new(limits);
        if self.problem.vocabulary.is_empty() && !self.problem.signature.is_empty() {
            vocabulary(&self.problem.signature, &self.problem.options)?;
        }
        let searched = self.search(limits, &budget);
        self.count_work(&budget);
        // Either machine has been replayed on all traces by the CEGIS loop.
        Ok(match searched {
            Ok(learnt) => {
                is_deterministic(&self.problem.bind(&learnt))?;
                self.minimal = Some((learnt.clone(), self.traces()));
                LearnOutcome::Minimal(learnt)
            }
            Err(reason) => {
                let (mut lower, mut best) = (0, None);
                if let Some(search) = &self.search
                    && search.states == self.states
                {
                    lower = search.bounds.lower;
                    best = search.bounds.incumbent.clone();
                }
                let best = best.or_else(|| self.above.best.clone());
                if let Some(best) = &best {
                    is_deterministic(&self.problem.bind(best))?;
                }
                LearnOutcome::Stopped {
                    reason,
                    at_least_states: self.states,
                    at_least_cost: lower,
                    best,
                }
            }
        })
    }

    /// The last minimal machine, if the traces added since agree with it: then it is still minimal.
    fn still_minimal(&mut self) -> Option<Learnt> {
        let (learnt, checked) = self.minimal.take()?;
        let problem = &self.problem;
        let cegis = (self.search.as_mut()).and_then(|search| search.current(problem));
        let refuted = match cegis {
            Some(cegis) => cegis.refine(problem, &learnt, checked),
            None => !problem.counterexamples(&learnt, checked).is_empty(),
        };
        if refuted {
            return None;
        }
        self.minimal = Some((learnt.clone(), self.traces()));
        Some(learnt)
    }

    /// Iterative deepening: one number of states after the other, until a machine is found.
    fn search(&mut self, limits: &Limits, budget: &Budget) -> Result<Learnt, StopReason> {
        let problem = &self.problem;
        if let Some(search) = &mut self.search {
            search.renew(problem);
        }
        self.above.renew(problem, limits.max_states);
        // Without cycles, fewer states than a trace has stays are refuted without a search.
        let stays = match problem.options.cyclic {
            true => 1,
            false => problem.stays(),
        };
        for states in self.states..stays.min(limits.max_states.saturating_add(1)) {
            self.search = None;
            self.states = states;
            self.account(Effort::default(), Effort::default(), Duration::ZERO, true);
            self.states = states + 1;
        }
        loop {
            if self.states > limits.max_states {
                return Err(StopReason::States);
            }
            if let Some(progress) = budget.progress() {
                progress.tries(self.states);
            }
            let start = Instant::now();
            self.search.take_if(|search| search.states < self.states);
            let search = (self.search).get_or_insert_with(|| Search::new(self.states));
            let before = search.effort();
            let found = search.smallest(&self.problem, &mut self.above, budget);
            let after = search.effort();
            self.account(before, after, start.elapsed(), matches!(found, Ok(None)));
            if let Some(learnt) = found? {
                return Ok(learnt);
            }
            if let Some(progress) = budget.progress() {
                progress.refuted(self.states, start.elapsed());
            }
            self.states += 1;
        }
    }

    /// Adds the effort of a search to the round of its number of states.
    fn account(&mut self, before: Effort, after: Effort, time: Duration, refuted: bool) {
        let states = self.states;
        if (self.rounds.last()).is_none_or(|round| round.states != states) {
            self.rounds.push(Round {
                states,
                ..Round::default()
            });
        }
        if let Some(round) = self.rounds.last_mut() {
            round.counterexamples += after.counterexamples - before.counterexamples;
            round.steps += after.steps - before.steps;
            round.solver_calls += after.calls - before.calls;
            round.clauses = after.clauses;
            round.time += time;
            round.refuted = refuted;
        }
    }
}

#[cfg(test)]
mod tests {
    use form_core::Kind;

    use super::*;

    /// Two branches, so that no chain is consistent: the machine can only have come from the search with more states.
    #[test]
    fn a_machine_from_above_is_kept_when_its_number_of_states_is_reached() {
        let signature = Signature::parse(["a", "b", "goal", "lava"]).unwrap();
        let learner = || {
            let mut learner = Learner::new(&signature, &Options::default());
            for (kind, steps) in [
                (Kind::Goal, &["a", "goal"][..]),
                (Kind::DeadEnd, &["lava"]),
                (Kind::DeadEnd, &["a", "lava"]),
                (Kind::Incomplete, &["goal", "b", "goal"]),
            ] {
                let steps = steps.iter().map(|atom| signature.observation([atom]));
                learner.add(&Trace::new(
                    kind,
                    steps.map(Result::unwrap).collect::<Vec<_>>(),
                ));
            }
            learner
        };
        let LearnOutcome::Minimal(minimal) = learner().learn(&Limits::default()).unwrap() else {
            panic!("there is a machine")
        };
        let mut stopped = learner();
        stopped.states = minimal.states;
        stopped.above.best = Some(minimal.clone());
        let limits = Limits {
            time: Some(Duration::ZERO),
            ..Limits::default()
        };
        let LearnOutcome::Stopped { best, .. } = stopped.learn(&limits).unwrap() else {
            panic!("there is no time")
        };
        assert_eq!(best, Some(minimal));
    }
}
