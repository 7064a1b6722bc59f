//! The smallest machine with a given number of states, or the proof that there is none.
//!
//! The cost is bounded from below: the CEGIS loop looks for a machine of the lowest possible cost, then of the next, until one
//! is consistent, which is then the cheapest. A second question, whether there is a machine of any cost, finds the
//! refutation where there is none. Both run in turn with conflict budgets; then each gets its own thread if there are two,
//! else they go on in turn. Either answer is exact, so the result does not depend on which comes first.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ScopedJoinHandle;

use crate::budget::Budget;
use crate::cegis::{Cegis, ConflictBudget, Effort};
use crate::encode::{Candidate, Lit, Measure, Solved};
use crate::outcome::{Learnt, StopReason};
use crate::problem::Problem;

/// The bounds on the cost of machines with one number of states.
#[derive(Default)]
pub(crate) struct Bounds {
    /// Lower bound: no machine is cheaper.
    pub(crate) lower: usize,
    /// Upper bound: the cheapest consistent machine so far, not proven to be the cheapest.
    pub(crate) incumbent: Option<Learnt>,
    /// The effort of a second thread.
    pub(crate) side_effort: Effort,
}

impl Bounds {
    /// Remembers a consistent machine, unless a cheaper one is known.
    fn improve(&mut self, learnt: &Learnt) {
        if (self.incumbent.as_ref()).is_none_or(|best| learnt.cost < best.cost) {
            self.incumbent = Some(learnt.clone());
        }
    }
}

/// Sets a flag when it is dropped, also by a panic.
struct SetOnDrop(Arc<AtomicBool>);

impl Drop for SetOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The smallest machine; `None` if no machine with this number of states is consistent.
pub(crate) fn smallest(
    cegis: &mut Cegis,
    problem: &Problem,
    bounds: &mut Bounds,
    budget: &Budget,
) -> Result<Option<Learnt>, StopReason> {
    let mut conflicts = FIRST_CONFLICTS;
    loop {
        let unlimited_calls = ConflictBudget {
            conflicts,
            calls: usize::MAX,
        };
        match cheapest(cegis, problem, bounds, Some(unlimited_calls)) {
            Solved::Sat(candidate) => {
                return break_ties(cegis, problem, bounds, candidate, budget).map(Some);
            }
            Solved::Unsat => return Ok(None),
            Solved::Unknown => {}
        }
        if let Some(reason) = budget.exhausted() {
            return Err(reason);
        }
        if bounds.incumbent.is_some() {
            conflicts = conflicts.saturating_mul(2);
            continue;
        }
        let few_calls = ConflictBudget {
            conflicts,
            calls: CALLS,
        };
        match cegis.solve(problem, &[], Some(few_calls)) {
            Solved::Sat(candidate) => bounds.improve(&candidate.learnt),
            Solved::Unsat => return Ok(None),
            Solved::Unknown => {}
        }
        if rayon::current_num_threads() > 1 {
            return side_by_side(cegis, problem, bounds, budget);
        }
        conflicts = conflicts.saturating_mul(2);
    }
}

/// Both questions at once, each in its own thread.
fn side_by_side(
    cegis: &mut Cegis,
    problem: &Problem,
    bounds: &mut Bounds,
    budget: &Budget,
) -> Result<Option<Learnt>, StopReason> {
    let [over, refuted] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
    let needs_prover = bounds.incumbent.is_none();
    let (minimal, proof) = std::thread::scope(|scope| {
        let prover = needs_prover.then(|| {
            let (budget, refuted) = (budget.with_interrupt(&over), refuted.clone());
            let (states, tree) = (cegis.encoding().shape().states, cegis.tree().clone());
            scope.spawn(move || {
                let Some(mut prover) = Cegis::from_tree(problem, states, tree, &budget) else {
                    return (Solved::Unknown, Effort::default());
                };
                let answer = prover.solve(problem, &[], None);
                refuted.store(matches!(answer, Solved::Unsat), Ordering::Relaxed);
                (answer, prover.effort())
            })
        });
        let budget = budget.with_interrupt(&refuted);
        cegis.encoding().set_budget(&budget);
        // However this ends, the other thread is told to end too.
        let at_end = SetOnDrop(over);
        let minimal = match cheapest(cegis, problem, bounds, None) {
            Solved::Sat(candidate) => {
                break_ties(cegis, problem, bounds, candidate, &budget).map(Some)
            }
            Solved::Unsat => Ok(None),
            Solved::Unknown => Err(budget.stop_reason()),
        };
        drop(at_end);
        (minimal, prover.map(ScopedJoinHandle::join))
    });
    match proof {
        Some(Ok((answer, effort))) => {
            bounds.side_effort = effort;
            match answer {
                Solved::Unsat => return Ok(None),
                Solved::Sat(candidate) => bounds.improve(&candidate.learnt),
                Solved::Unknown => {}
            }
        }
        Some(Err(panic)) => std::panic::resume_unwind(panic),
        None => {}
    }
    minimal
}

/// The cheapest machine, from the lower bound upwards; with a conflict budget, one step of the bound.
fn cheapest(
    cegis: &mut Cegis,
    problem: &Problem,
    bounds: &mut Bounds,
    budget: Option<ConflictBudget>,
) -> Solved<Candidate> {
    bounds.lower = bounds.lower.max(cegis.encoding().base_cost());
    loop {
        let bound = cegis.encoding().at_most(Measure::Cost, bounds.lower);
        match cegis.solve(problem, &bound, budget) {
            Solved::Unsat if cegis.encoding().core_has(&bound) => bounds.lower += 1,
            answer => return answer,
        }
        if budget.is_some() {
            return Solved::Unknown;
        }
    }
}

/// Among the machines of the lowest cost: the fewest ground atoms, the fewest negations, then the first in order.
///
/// Mostly there are few of them, so they are enumerated with blocking clauses; of many, each measure is minimised.
fn break_ties(
    cegis: &mut Cegis,
    problem: &Problem,
    bounds: &mut Bounds,
    mut best: Candidate,
    budget: &Budget,
) -> Result<Learnt, StopReason> {
    bounds.improve(&best.learnt);
    let mut solve =
        |assumptions: &[Lit], cegis: &mut Cegis| match cegis.solve(problem, assumptions, None) {
            Solved::Sat(candidate) => {
                bounds.improve(&candidate.learnt);
                Ok(Some(candidate))
            }
            Solved::Unsat => Ok(None),
            Solved::Unknown => Err(budget.stop_reason()),
        };
    let mut assumptions = (cegis.encoding()).at_most(Measure::Cost, best.learnt.cost.size);
    let others = cegis.encoding().activation_literal();
    cegis.encoding().block(others, &best);
    for _ in 0..ENUMERATED {
        let all: Vec<Lit> = assumptions.iter().copied().chain([others]).collect();
        let Some(other) = solve(&all, cegis)? else {
            return Ok(best.learnt);
        };
        cegis.encoding().block(others, &other);
        if cegis.encoding().rank(&other) < cegis.encoding().rank(&best) {
            best = other;
        }
    }
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

/// The conflicts of the first calls for a question.
const FIRST_CONFLICTS: i32 = 1000;
/// How often in a row a machine of any cost is asked for.
const CALLS: usize = 4;
/// How many machines of the same cost are enumerated.
const ENUMERATED: usize = 8;

#[cfg(test)]
mod tests {
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
        traces.add(&Trace::new(Kind::Goal, steps));
        let problem = Problem {
            vocabulary: vocabulary(&signature, true).unwrap(),
            signature,
            options: Options::default(),
            traces,
        };
        let interrupt = Arc::new(AtomicBool::new(false));
        let budget = Budget::default().with_interrupt(&interrupt);
        let mut cegis = Cegis::new(&problem, 1, &budget).unwrap();
        let mut bounds = Bounds::default();
        let Solved::Sat(candidate) = cheapest(&mut cegis, &problem, &mut bounds, None) else {
            panic!("there is one")
        };
        let learnt = candidate.learnt.clone();
        interrupt.store(true, Ordering::Relaxed);
        let stopped = break_ties(&mut cegis, &problem, &mut bounds, candidate, &budget);
        assert_eq!(stopped, Err(StopReason::Interrupted));
        assert_eq!(bounds.incumbent, Some(learnt));
    }
}
