//! The cheapest machine [skeleton](crate::skeletons) by skeleton, where the relaxation is not exact.
//!
//! A machine costs at least as much as its skeleton with one literal per connection. So for each bound on the cost there are few
//! skeletons; the [relaxation](Relaxation) refutes nearly all of them, for any cost, and the encoding is asked about the others alone.
//! At the lowest cost the same pass finds all ties.

use crate::budget::Budget;
use crate::cegis::{Cegis, ConflictBudget};
use crate::effort::Effort;
use crate::encode::{Candidate, Lit, Measure, Relaxation, Solved};
use crate::minimise::{Bounds, break_ties, cheapest, enumerate_ties};
use crate::outcome::{Learnt, StopReason};
use crate::problem::Problem;
use crate::skeletons::{Skeleton, skeletons};

/// The skeletons of machines with one number of states that are not refuted.
#[derive(Default)]
pub(crate) struct OpenSkeletons {
    /// Refutes skeletons.
    relaxation: Option<Relaxation>,
    /// What refuted some of them.
    cores: Vec<Vec<Lit>>,
    /// Those of which all cost less than this have been enumerated; `None` if there are too many.
    enumerated: Option<usize>,
    /// Those that are not refuted.
    open: Vec<Skeleton>,
    /// A bound on the cost, and how many of them are refuted under it.
    refuted: (usize, usize),
}

impl OpenSkeletons {
    /// No skeleton is known yet. The relaxation is made later unless it is given.
    pub(crate) fn new(relaxation: Option<Relaxation>) -> Self {
        Self {
            relaxation,
            enumerated: Some(0),
            ..Self::default()
        }
    }

    /// Forgets everything if a trace has been added for which the clauses are not right any more.
    pub(crate) fn renew(&mut self, problem: &Problem) {
        let old = self.relaxation.as_ref();
        if old.is_some_and(|relaxation| !relaxation.is_current(problem)) {
            *self = Self::new(None);
        }
    }

    pub(crate) fn effort(&self) -> Effort {
        let relaxation = self.relaxation.as_ref();
        relaxation.map_or(Effort::default(), Relaxation::effort)
    }

    /// Enumerates the skeletons that cost at most this, and refutes what the relaxation can with this number of conflicts. `None` if
    /// there are too many, or a limit is reached.
    fn extend(
        &mut self,
        problem: &Problem,
        states: usize,
        cost: usize,
        conflicts: i32,
        budget: &Budget,
    ) -> Option<()> {
        let shape = problem.shape(states);
        if self.relaxation.is_none() {
            self.relaxation = Relaxation::new(problem, states, budget);
        }
        let relaxation = self.relaxation.as_mut()?;
        while self.enumerated? <= cost {
            let Some(more) = skeletons(&shape, false, self.enumerated?, problem.stays()) else {
                self.enumerated = None;
                return None;
            };
            for skeleton in more {
                let cube = relaxation.skeleton(&skeleton);
                let is_in_cube = |core: &Vec<Lit>| core.iter().all(|l| cube.contains(l));
                // The last call may have been stopped in between.
                if self.cores.iter().any(is_in_cube) || self.open.contains(&skeleton) {
                    continue;
                }
                match relaxation.solve(problem, &cube, Some(conflicts), CALLS, budget) {
                    Solved::Unsat => {
                        let used = cube.into_iter().filter(|l| relaxation.core_has(&[*l]));
                        self.cores.push(used.collect());
                    }
                    Solved::Sat(()) | Solved::Unknown => self.open.push(skeleton),
                }
                budget.check()?;
            }
            self.enumerated = self.enumerated.map(|cost| cost + 1);
        }
        Some(())
    }

    /// The next machine of at most this cost, under further assumptions, whose skeleton is not among the first `refuted` open ones.
    fn next(
        &mut self,
        cegis: &mut Cegis,
        problem: &Problem,
        cost: usize,
        assumptions: &[Lit],
        refuted: &mut usize,
        budget: Option<ConflictBudget>,
    ) -> Solved<Candidate> {
        let bound = cegis.encoding().at_most(Measure::Cost, cost);
        while let Some(skeleton) = self.open.get(*refuted) {
            let cube = cegis.encoding().skeleton(skeleton);
            let all = [&bound[..], &cube, assumptions].concat();
            match cegis.solve(problem, &all, budget) {
                Solved::Unsat => {}
                answer => return answer,
            }
            match cegis
                .encoding()
                .core_has(&[&bound[..], assumptions].concat())
            {
                true => *refuted += 1,
                // It is refuted for any cost.
                false => _ = self.open.remove(*refuted),
            }
        }
        Solved::Unsat
    }

    /// How many of the open skeletons are refuted under this bound on the cost.
    fn refuted_under(&self, cost: usize) -> usize {
        match self.refuted.0 == cost {
            true => self.refuted.1,
            false => 0,
        }
    }

    /// The cheapest machine, from the lower bound upwards, with a conflict budget for each call, this number of steps of the bound.
    pub(crate) fn cheapest(
        &mut self,
        cegis: &mut Cegis,
        problem: &Problem,
        bounds: &mut Bounds,
        conflicts: i32,
        most_steps: usize,
        budget: &Budget,
    ) -> Solved<Candidate> {
        bounds.raise(cegis.encoding().shape().lowest_cost(0));
        let states = cegis.encoding().shape().states;
        let calls = ConflictBudget {
            conflicts,
            calls: usize::MAX,
        };
        for step in 0..most_steps {
            let (cost, steps) = (bounds.lower, most_steps - step);
            if (self.extend(problem, states, cost, conflicts, budget)).is_none() {
                return cheapest(cegis, problem, bounds, Some(conflicts), steps);
            }
            let mut refuted = self.refuted_under(cost);
            let answer = self.next(cegis, problem, cost, &[], &mut refuted, Some(calls));
            self.refuted = (cost, refuted);
            match answer {
                Solved::Unsat => bounds.refute_lower(),
                answer => return answer,
            }
        }
        Solved::Unknown
    }

    /// Among the machines of the lowest cost, of which one is given, the best: see [`break_ties`].
    pub(crate) fn break_ties(
        &mut self,
        cegis: &mut Cegis,
        problem: &Problem,
        bounds: &mut Bounds,
        mut best: Candidate,
        budget: &Budget,
    ) -> Result<Learnt, StopReason> {
        let cost = best.learnt.cost.size;
        if self.enumerated.is_some_and(|enumerated| enumerated > cost) {
            // What is refuted here is so only because of the machines that are blocked.
            let mut refuted = self.refuted_under(cost);
            let next = |cegis: &mut Cegis, others: Lit| {
                self.next(cegis, problem, cost, &[others], &mut refuted, None)
            };
            if enumerate_ties(cegis, bounds, &mut best, ENUMERATED, next, budget)? {
                return Ok(best.learnt);
            }
        }
        break_ties(cegis, problem, bounds, best, budget)
    }
}

/// How many calls the relaxation has to refute a skeleton.
const CALLS: usize = 16;
/// How many machines of the same cost are enumerated.
const ENUMERATED: usize = 30;
