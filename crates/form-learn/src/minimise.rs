//! The cheapest machine with a given number of states.
//!
//! The cost is bounded from below: the CEGIS loop looks for a machine of the lowest possible cost, then of the next, until one
//! is consistent, which is then the cheapest. Ties between machines of that cost are broken last.

use crate::budget::Budget;
use crate::cegis::{Cegis, ConflictBudget};
use crate::encode::{Candidate, Encoding, Lit, Measure, Solved};
use crate::outcome::{Learnt, StopReason};
use crate::problem::Problem;

/// The bounds on the cost of machines with one number of states.
#[derive(Default)]
pub(crate) struct Bounds {
    /// Lower bound: no machine is cheaper.
    pub(crate) lower: usize,
    /// Upper bound: the cheapest consistent machine so far, not proven to be the cheapest.
    pub(crate) incumbent: Option<Learnt>,
}

impl Bounds {
    /// Raises the lower bound.
    pub(crate) fn raise(&mut self, lower: usize) {
        self.lower = self.lower.max(lower);
    }

    /// No machine costs as much as the lower bound. The machine that is known refutes a proof that says so of its own cost: then the solver
    /// or an encoding is wrong, and to go on would be to claim what is not so.
    pub(crate) fn refute_lower(&mut self) {
        assert!(
            (self.incumbent.as_ref()).is_none_or(|best| self.lower < best.cost.size),
            "no machine costs {}, it is said, but one is known",
            self.lower
        );
        self.lower += 1;
    }

    /// Remembers a consistent machine, unless a cheaper one is known.
    pub(crate) fn improve(&mut self, learnt: &Learnt) {
        if (self.incumbent.as_ref()).is_none_or(|best| learnt.cost < best.cost) {
            self.incumbent = Some(learnt.clone());
        }
    }
}

/// A loop of candidates and counterexamples, over an encoding.
pub(crate) trait CandidateLoop {
    fn encoding(&mut self) -> &mut Encoding;

    /// Proposes candidates under the assumptions until one is right about the traces or there is none.
    fn solve(
        &mut self,
        problem: &Problem,
        assumptions: &[Lit],
        budget: Option<ConflictBudget>,
    ) -> Solved<Candidate>;
}

impl CandidateLoop for Cegis {
    fn encoding(&mut self) -> &mut Encoding {
        self.encoding()
    }

    fn solve(
        &mut self,
        problem: &Problem,
        assumptions: &[Lit],
        budget: Option<ConflictBudget>,
    ) -> Solved<Candidate> {
        self.solve(problem, assumptions, budget)
    }
}

/// The cheapest machine, from the lower bound upwards; with a conflict budget for each call, this number of steps of the
/// bound.
pub(crate) fn cheapest<C: CandidateLoop>(
    cegis: &mut C,
    problem: &Problem,
    bounds: &mut Bounds,
    conflicts: Option<i32>,
    most_steps: usize,
) -> Solved<Candidate> {
    bounds.raise(cegis.encoding().shape().lowest_cost(0));
    let budget = conflicts.map(|conflicts| ConflictBudget {
        conflicts,
        calls: usize::MAX,
    });
    let mut steps = 0;
    loop {
        let bound = cegis.encoding().at_most(Measure::Cost, bounds.lower);
        match cegis.solve(problem, &bound, budget) {
            Solved::Unsat if cegis.encoding().core_has(&bound) => bounds.refute_lower(),
            answer => return answer,
        }
        steps += 1;
        if budget.is_some() && steps == most_steps {
            return Solved::Unknown;
        }
    }
}

/// Among the machines of the lowest cost: the fewest ground atoms, the fewest negations, then the first in order.
///
/// Mostly there are few of them, so they are enumerated with blocking clauses; of many, each measure is minimised.
pub(crate) fn break_ties<C: CandidateLoop>(
    cegis: &mut C,
    problem: &Problem,
    bounds: &mut Bounds,
    mut best: Candidate,
    budget: &Budget,
) -> Result<Learnt, StopReason> {
    let mut assumptions = (cegis.encoding()).at_most(Measure::Cost, best.learnt.cost.size);
    let bound = assumptions.clone();
    let next = |cegis: &mut C, others: Lit| {
        let all = [&bound[..], &[others]].concat();
        cegis.solve(problem, &all, None)
    };
    if enumerate_ties(cegis, bounds, &mut best, ENUMERATED, next, budget)? {
        return Ok(best.learnt);
    }
    let mut solve =
        |assumptions: &[Lit], cegis: &mut C| match cegis.solve(problem, assumptions, None) {
            Solved::Sat(candidate) => {
                bounds.improve(&candidate.learnt);
                Ok(Some(candidate))
            }
            Solved::Unsat => Ok(None),
            Solved::Unknown => Err(budget.stop_reason()),
        };
    for measure in [Measure::Ground, Measure::Negative] {
        let value = |candidate: &Candidate| match measure {
            Measure::Ground => candidate.learnt.cost.ground,
            _ => candidate.learnt.cost.negative,
        };
        while let Some(less) = value(&best).checked_sub(1) {
            let at_most = cegis.encoding().at_most(measure, less);
            let all: Vec<Lit> = assumptions.iter().chain(&at_most).copied().collect();
            match solve(&all, cegis)? {
                Some(better) => best = better,
                None => break,
            }
        }
        let at_most = cegis.encoding().at_most(measure, value(&best));
        assumptions.extend(at_most);
    }
    loop {
        let earlier = cegis.encoding().before(&best);
        let all: Vec<Lit> = assumptions.iter().copied().chain([earlier]).collect();
        match solve(&all, cegis)? {
            Some(better) => best = better,
            None => return Ok(best.learnt),
        }
    }
}

/// Enumerates at most this number of machines of the same cost, and keeps the best; whether these are all. `next` is one that is not
/// blocked while the given literal is assumed.
pub(crate) fn enumerate_ties<C: CandidateLoop>(
    cegis: &mut C,
    bounds: &mut Bounds,
    best: &mut Candidate,
    most: usize,
    mut next: impl FnMut(&mut C, Lit) -> Solved<Candidate>,
    budget: &Budget,
) -> Result<bool, StopReason> {
    bounds.improve(&best.learnt);
    let others = cegis.encoding().activation_literal();
    cegis.encoding().block(others, best);
    for _ in 0..most {
        let other = match next(cegis, others) {
            Solved::Sat(other) => other,
            Solved::Unsat => return Ok(true),
            Solved::Unknown => return Err(budget.stop_reason()),
        };
        bounds.improve(&other.learnt);
        cegis.encoding().block(others, &other);
        if cegis.encoding().rank(&other) < cegis.encoding().rank(best) {
            *best = other;
        }
    }
    Ok(false)
}

/// How many machines of the same cost are enumerated.
const ENUMERATED: usize = 8;

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use form_core::{Kind, Signature, Trace};

    use super::*;
    use crate::options::Options;
    use crate::traces::TraceSet;
    use crate::vocabulary::vocabulary;

    #[test]
    fn the_cheapest_machine_is_kept_when_a_limit_is_reached_during_the_ties() {
        let signature = Signature::parse(["a", "b", "c"]).unwrap();
        let mut traces = TraceSet::default();
        let steps = ["a", "b", "c"].map(|atom| signature.observation([atom]).unwrap());
        traces.add(&Trace::new(Kind::Goal, steps), 1);
        let problem = Problem {
            vocabulary: vocabulary(&signature, &Options::default()).unwrap(),
            signature,
            options: Options::default(),
            traces,
        };
        let interrupt = Arc::new(AtomicBool::new(false));
        let budget = Budget::default().with_cancellation(&interrupt);
        let mut cegis = Cegis::new(&problem, 1, &budget).unwrap();
        let mut bounds = Bounds::default();
        let Solved::Sat(candidate) = cheapest(&mut cegis, &problem, &mut bounds, None, 1) else {
            panic!("there is one")
        };
        let learnt = candidate.learnt.clone();
        interrupt.store(true, Ordering::Relaxed);
        let stopped = break_ties(&mut cegis, &problem, &mut bounds, candidate, &budget);
        assert_eq!(stopped, Err(StopReason::Interrupted));
        assert_eq!(bounds.incumbent, Some(learnt));
    }
}
