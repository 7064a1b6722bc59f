//! The search for the smallest machine with one number of states, or for the proof that there is none.
//!
//! [Chains](crate::chains) come first: they need no solver. Where observations are [letters](crate::letters), one solver answers all
//! that is left. Otherwise two questions run in turn, with conflict budgets that double:
//! the cheapest machine, and the proof that there is none, first by the [relaxation](Relaxation), then, where that has a
//! consistent table, by the encoding without a bound on the cost. With two threads the questions run side by side. Either
//! answer is exact, so the result does not depend on which comes first. While no consistent machine is known, the first
//! question is also asked for more states (see [`above`](crate::above)).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::above::Above;
use crate::budget::{Budget, SetOnDrop};
use crate::by_skeleton::OpenSkeletons;
use crate::cegis::{Cegis, ConflictBudget};
use crate::chains::{Chains, all_chains};
use crate::effort::Effort;
use crate::encode::{Candidate, Relaxation, Solved};
use crate::letters::{Letters, smallest};
use crate::minimise::{Bounds, break_ties, cheapest};
use crate::outcome::{Learnt, StopReason};
use crate::problem::Problem;

/// The search with one number of states.
pub(crate) struct Search {
    pub(crate) states: usize,
    pub(crate) bounds: Bounds,
    /// Whether the chains have been enumerated.
    chains: bool,
    /// The first prover, if the options allow one.
    relaxation: Option<Relaxation>,
    /// Whether a table is consistent with all traces, so that the relaxation cannot prove anything.
    has_table: bool,
    /// The skeletons of the machines that are searched for the cheapest one, if the options allow them.
    skeletons: Option<OpenSkeletons>,
    /// The second prover.
    prover: Option<Cegis>,
    /// The search for the cheapest machine.
    cegis: Option<Cegis>,
}

impl Search {
    pub(crate) fn new(states: usize) -> Self {
        Self {
            states,
            bounds: Bounds::default(),
            chains: false,
            relaxation: None,
            has_table: false,
            skeletons: None,
            prover: None,
            cegis: None,
        }
    }

    /// Prepares for traces that were added since the last call: keeps what is still right.
    pub(crate) fn renew(&mut self, problem: &Problem) {
        self.chains = false;
        self.has_table = false;
        self.relaxation
            .take_if(|relaxation| !relaxation.is_current(problem));
        if let Some(skeletons) = &mut self.skeletons {
            skeletons.renew(problem);
        }
        self.cegis.take_if(|cegis| !cegis.is_current(problem));
        self.prover.take_if(|prover| !prover.is_current(problem));
        (self.bounds.incumbent).take_if(|best| !problem.counterexamples(best, 0).is_empty());
    }

    /// The loop for the cheapest machine, if it has begun and knows all observations.
    pub(crate) fn current(&mut self, problem: &Problem) -> Option<&mut Cegis> {
        self.cegis
            .as_mut()
            .filter(|cegis| cegis.is_current(problem))
    }

    /// The effort so far.
    pub(crate) fn effort(&self) -> Effort {
        let loops = self.cegis.iter().chain(&self.prover).map(Cegis::effort);
        loops
            .chain(self.relaxation.as_ref().map(Relaxation::effort))
            .chain(self.skeletons.as_ref().map(OpenSkeletons::effort))
            .fold(Effort::default(), |sum, one| sum + one)
    }

    /// The smallest machine; `None` if no machine with this number of states is consistent.
    pub(crate) fn smallest(
        &mut self,
        problem: &Problem,
        above: &mut Above,
        budget: &Budget,
    ) -> Result<Option<Learnt>, StopReason> {
        let (cegis, bounds) = above.reached(self.states);
        self.cegis = self.cegis.take().or(cegis);
        self.bounds.raise(bounds.lower);
        if let Some(best) = &bounds.incumbent {
            self.bounds.improve(best);
        }
        if let Some(best) = &self.bounds.incumbent {
            budget.found(best);
        }
        if !self.chains && problem.options.techniques.chains {
            match all_chains(problem, self.states, budget) {
                Chains::Best(learnt) => return Ok(Some(learnt)),
                // Whatever there is has one more edge or literal.
                Chains::None => self.bounds.raise(2 * self.states + 1),
                Chains::Unknown(best) => {
                    if let Some(best) = best {
                        budget.found(&best);
                        self.bounds.improve(&best);
                    }
                }
            }
            self.chains = true;
        }
        self.bounds.raise(problem.lowest_cost(self.states));
        above.chains(problem, self.states, budget);
        let needed = self.bounds.incumbent.is_none() || !problem.options.first_order;
        if needed && self.relaxation.is_none() {
            self.relaxation = Relaxation::new(problem, self.states, budget);
        }
        // Where tables are machines, the relaxation answers all questions alone.
        if let Some(letters) = (self.relaxation.as_mut()).filter(|relaxation| relaxation.is_exact())
        {
            match smallest(letters, problem, &mut self.bounds, above, budget)? {
                Letters::Answer(answer) => return Ok(answer),
                Letters::ManyTies => {}
            }
        }
        // Mostly the relaxation refutes a number of states at once. Where a chain has more states, these are probably too few.
        let (conflicts, calls) = match above.best.is_some() {
            true => (LIKELY, usize::MAX),
            false => (AT_FIRST, CALLS),
        };
        let proof = self.prove(problem, Some(conflicts), calls, budget);
        if matches!(proof, Solved::Unsat) {
            return Ok(None);
        }
        if self.skeletons.is_none() && problem.shape(self.states).has_skeletons() {
            // A relaxation with a table proves nothing any more: it refutes skeletons.
            let relaxation = self.relaxation.take_if(|_| self.has_table);
            self.skeletons = Some(OpenSkeletons::new(relaxation));
        }
        // Once a consistent machine is known, only the cheapest one is asked for.
        let one_question = self.bounds.incumbent.is_some() || budget.one_thread();
        let mut found = match one_question || !problem.options.cyclic {
            true => self.in_turn(problem, above, 1, budget),
            // The relaxation has been asked: with cycles it rarely answers after a few conflicts more.
            false => self.cheapest(problem, FIRST_CONFLICTS, budget),
        };
        if matches!(found, Solved::Unknown) {
            found = match self.bounds.incumbent.is_some() || budget.one_thread() {
                true => self.in_turn(problem, above, usize::MAX, budget),
                false => self.side_by_side(problem, above, budget),
            };
        }
        match (found, &mut self.cegis) {
            (Solved::Unsat, _) => Ok(None),
            (Solved::Sat(candidate), Some(cegis)) => {
                budget.found(&candidate.learnt);
                cegis.encoding().set_budget(budget);
                let learnt = match &mut self.skeletons {
                    Some(skeletons) => {
                        skeletons.break_ties(cegis, problem, &mut self.bounds, candidate, budget)
                    }
                    None => break_ties(cegis, problem, &mut self.bounds, candidate, budget),
                };
                learnt.map(Some)
            }
            _ => Err(budget.stop_reason()),
        }
    }

    /// Both questions in turn, this number of times.
    fn in_turn(
        &mut self,
        problem: &Problem,
        above: &mut Above,
        times: usize,
        budget: &Budget,
    ) -> Solved<Candidate> {
        let mut conflicts = FIRST_CONFLICTS;
        for _ in 0..times {
            if budget.exhausted().is_some() {
                break;
            }
            match self.cheapest(problem, conflicts, budget) {
                Solved::Unknown => {}
                answer => return answer,
            }
            let proof = self.prove(problem, Some(conflicts), usize::MAX, budget);
            if matches!(proof, Solved::Unsat) {
                return Solved::Unsat;
            }
            self.look_above(problem, above, conflicts, budget);
            conflicts = conflicts.saturating_mul(2);
        }
        Solved::Unknown
    }

    /// Both questions at once: the proof in a thread of its own.
    fn side_by_side(
        &mut self,
        problem: &Problem,
        above: &mut Above,
        budget: &Budget,
    ) -> Solved<Candidate> {
        let [over, refuted] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
        let mut prover = Self {
            relaxation: self.relaxation.take(),
            has_table: self.has_table,
            prover: self.prover.take(),
            ..Self::new(self.states)
        };
        let needs_proof = self.bounds.incumbent.is_none();
        let (answer, proof) = std::thread::scope(|scope| {
            let (for_prover, flag) = (budget.with_cancellation(&over), refuted.clone());
            let proof = scope.spawn(move || {
                let mut proof = Solved::Unknown;
                while needs_proof && for_prover.exhausted().is_none() {
                    proof = prover.prove(problem, None, usize::MAX, &for_prover);
                    if !matches!(proof, Solved::Unknown) {
                        break;
                    }
                }
                flag.store(matches!(proof, Solved::Unsat), Ordering::Relaxed);
                (proof, prover)
            });
            // However this ends, also by a panic, the other thread is told to end too.
            let at_end = SetOnDrop(over);
            let budget = budget.with_cancellation(&refuted);
            let mut conflicts = FIRST_CONFLICTS;
            let mut answer = Solved::Unknown;
            while budget.exhausted().is_none() && matches!(answer, Solved::Unknown) {
                answer = self.cheapest(problem, conflicts, &budget);
                if matches!(answer, Solved::Unknown) {
                    self.look_above(problem, above, conflicts, &budget);
                }
                conflicts = conflicts.saturating_mul(2);
            }
            drop(at_end);
            (answer, proof.join())
        });
        let (proof, prover) = proof.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (self.relaxation, self.prover) = (prover.relaxation, prover.prover);
        self.has_table = prover.has_table;
        if let Some(best) = prover.bounds.incumbent {
            self.bounds.improve(&best);
        }
        match proof {
            Solved::Unsat => Solved::Unsat,
            _ => answer,
        }
    }

    /// Gives the search with more states its share, unless a machine with fewer is known.
    fn look_above(&self, problem: &Problem, above: &mut Above, conflicts: i32, budget: &Budget) {
        if self.bounds.incumbent.is_none() {
            above.step(problem, self.states, conflicts, budget);
        }
    }

    /// The cheapest machine, a few steps of the bound.
    fn cheapest(
        &mut self,
        problem: &Problem,
        conflicts: i32,
        budget: &Budget,
    ) -> Solved<Candidate> {
        let Some(cegis) = Cegis::begin(&mut self.cegis, problem, self.states, budget) else {
            return Solved::Unknown;
        };
        let bounds = &mut self.bounds;
        match &mut self.skeletons {
            Some(skeletons) => skeletons.cheapest(cegis, problem, bounds, conflicts, STEPS, budget),
            None => cheapest(cegis, problem, bounds, Some(conflicts), STEPS),
        }
    }

    /// The proof that there is no machine, with at most this number of calls for the relaxation. `Sat`: there is one, now in the
    /// bounds.
    fn prove(
        &mut self,
        problem: &Problem,
        conflicts: Option<i32>,
        calls: usize,
        budget: &Budget,
    ) -> Solved<()> {
        if self.bounds.incumbent.is_some() {
            return Solved::Unknown;
        }
        if !self.has_table {
            if let Some(relaxation) = &mut self.relaxation {
                match relaxation.solve(problem, &[], conflicts, calls, budget) {
                    Solved::Sat(()) => self.has_table = true,
                    answer => return answer,
                }
            }
            self.has_table = true;
        }
        let Some(prover) = Cegis::begin(&mut self.prover, problem, self.states, budget) else {
            return Solved::Unknown;
        };
        let few_calls = conflicts.map(|conflicts| ConflictBudget {
            conflicts,
            calls: CALLS,
        });
        match prover.solve(problem, &[], few_calls) {
            Solved::Sat(candidate) => {
                budget.found(&candidate.learnt);
                self.bounds.improve(&candidate.learnt);
                Solved::Sat(())
            }
            Solved::Unsat => Solved::Unsat,
            Solved::Unknown => Solved::Unknown,
        }
    }
}

/// The conflicts of the relaxation before any other question is asked.
const AT_FIRST: i32 = 500;
/// The same where a refutation is likely: then the cheapest machine is hardly worth a thread.
const LIKELY: i32 = 100_000;
/// The conflicts of the first calls for a question.
const FIRST_CONFLICTS: i32 = 2000;
/// How many steps of the bound on the cost are taken at a time.
const STEPS: usize = 8;
/// The most solver calls in a row for a machine of any cost, and for the relaxation at first.
const CALLS: usize = 4;
