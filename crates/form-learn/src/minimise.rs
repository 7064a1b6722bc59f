//! The smallest machine with a given number of states, or the proof that there is none.
//!
//! The cost is bounded from below: machines of the lowest possible cost are asked for, then of the next, until one is
//! consistent, which is then the cheapest. A second question, whether there is a machine at any cost, finds the proof where
//! there is none. The two take turns while they are easy; then each gets a thread of its own. Either answer is exact, so
//! the result does not depend on which comes first.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ScopedJoinHandle;

use crate::attempt::{Allowance, Answer, Attempt, Effort, Given};
use crate::decode::Design;
use crate::encode::{Lit, Measure, Watch};
use crate::outcome::{Learnt, StopReason};

/// What is known about one number of states.
#[derive(Default)]
pub(crate) struct Progress {
    /// No machine is cheaper.
    pub(crate) cost: usize,
    /// A consistent machine, not proven to be the cheapest.
    pub(crate) best: Option<Learnt>,
    /// What a second thread has used.
    pub(crate) aside: Effort,
}

/// A search that had to end.
pub(crate) struct Stop(pub(crate) StopReason);

/// The smallest machine; `None` if there is none at all.
pub(crate) fn smallest(
    attempt: &mut Attempt,
    given: &Given,
    progress: &mut Progress,
    watch: &Watch,
) -> Result<Option<Learnt>, Stop> {
    let mut conflicts = FIRST_CONFLICTS;
    loop {
        let allowance = Allowance {
            conflicts,
            calls: usize::MAX,
        };
        match cheapest(attempt, given, progress, Some(allowance)) {
            Answer::Found(design) => {
                return break_ties(attempt, given, design, watch).map(Some);
            }
            Answer::Nothing => return Ok(None),
            Answer::Undecided => {}
        }
        if let Some(reason) = watch.reason() {
            return Err(Stop(reason));
        }
        if progress.best.is_some() {
            conflicts = conflicts.saturating_mul(2);
            continue;
        }
        let allowance = Allowance {
            conflicts,
            calls: CALLS,
        };
        match attempt.ask(given, &[], Some(allowance)) {
            Answer::Found(design) => progress.best = Some(design.learnt),
            Answer::Nothing => return Ok(None),
            Answer::Undecided => {}
        }
        if rayon::current_num_threads() > 1 {
            return side_by_side(attempt, given, progress, watch);
        }
        conflicts = conflicts.saturating_mul(2);
    }
}

/// Both questions at once.
fn side_by_side(
    attempt: &mut Attempt,
    given: &Given,
    progress: &mut Progress,
    watch: &Watch,
) -> Result<Option<Learnt>, Stop> {
    let [found, refuted] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
    let known = progress.best.is_some();
    let (minimal, proof) = std::thread::scope(|scope| {
        let prover = (!known).then(|| {
            let (watch, refuted, known) = (watch.and(&found), refuted.clone(), attempt.known());
            scope.spawn(move || {
                let mut prover = Attempt::knowing(given, known, &watch);
                let answer = prover.ask(given, &[], None);
                refuted.store(matches!(answer, Answer::Nothing), Ordering::Relaxed);
                (answer, prover.effort())
            })
        });
        let watch = watch.and(&refuted);
        attempt.encoding().watch(&watch);
        let minimal = match cheapest(attempt, given, progress, None) {
            Answer::Found(design) => break_ties(attempt, given, design, &watch).map(Some),
            Answer::Nothing => Ok(None),
            Answer::Undecided => Err(Stop(watch.reason().unwrap_or(StopReason::Interrupted))),
        };
        found.store(minimal.is_ok(), Ordering::Relaxed);
        (minimal, prover.map(ScopedJoinHandle::join))
    });
    match proof {
        Some(Ok((answer, effort))) => {
            progress.aside = effort;
            match answer {
                Answer::Nothing => return Ok(None),
                Answer::Found(design) => progress.best = Some(design.learnt),
                Answer::Undecided => {}
            }
        }
        Some(Err(panic)) => std::panic::resume_unwind(panic),
        None => {}
    }
    minimal
}

/// The cheapest machine, from the lowest cost not yet excluded upwards; with an allowance, one step.
fn cheapest(
    attempt: &mut Attempt,
    given: &Given,
    progress: &mut Progress,
    allowance: Option<Allowance>,
) -> Answer {
    progress.cost = progress.cost.max(attempt.encoding().base_cost());
    loop {
        let bound = attempt.encoding().at_most(Measure::Cost, progress.cost);
        match attempt.ask(given, &bound, allowance) {
            Answer::Nothing if attempt.encoding().depends_on(&bound) => progress.cost += 1,
            answer => return answer,
        }
        if allowance.is_some() {
            return Answer::Undecided;
        }
    }
}

/// Among the machines of the lowest cost: the fewest ground atoms, the fewest negations, then the first in order.
///
/// There are mostly few of them, so they are gone through one by one; of many, each measure is minimised.
fn break_ties(
    attempt: &mut Attempt,
    given: &Given,
    mut design: Design,
    watch: &Watch,
) -> Result<Learnt, Stop> {
    let ask =
        |assumptions: &[Lit], attempt: &mut Attempt| match attempt.ask(given, assumptions, None) {
            Answer::Found(design) => Ok(Some(design)),
            Answer::Nothing => Ok(None),
            Answer::Undecided => Err(Stop(watch.reason().unwrap_or(StopReason::Interrupted))),
        };
    let mut assumptions = attempt
        .encoding()
        .at_most(Measure::Cost, design.learnt.cost.size);
    let mut others = attempt.encoding().besides(&design);
    for _ in 0..ONE_BY_ONE {
        let all: Vec<Lit> = assumptions.iter().copied().chain([others]).collect();
        let Some(other) = ask(&all, attempt)? else {
            return Ok(design.learnt);
        };
        others = attempt.encoding().besides_too(others, &other);
        if attempt.encoding().rank(&other) < attempt.encoding().rank(&design) {
            design = other;
        }
    }
    for measure in [Measure::Ground, Measure::Negative] {
        let value = |design: &Design| match measure {
            Measure::Ground => design.learnt.cost.ground,
            _ => design.learnt.cost.negative,
        };
        while let Some(less) = value(&design).checked_sub(1) {
            let at_most = attempt.encoding().at_most(measure, less);
            let all: Vec<Lit> = assumptions.iter().chain(&at_most).copied().collect();
            match ask(&all, attempt)? {
                Some(better) => design = better,
                None => break,
            }
        }
        let at_most = attempt.encoding().at_most(measure, value(&design));
        assumptions.extend(at_most);
    }
    loop {
        let earlier = attempt.encoding().before(&design);
        let all: Vec<Lit> = assumptions.iter().copied().chain([earlier]).collect();
        match ask(&all, attempt)? {
            Some(better) => design = better,
            None => return Ok(design.learnt),
        }
    }
}

/// Conflicts for the first attempts to answer a question.
const FIRST_CONFLICTS: i32 = 1000;
/// How often in a row any machine at all is asked for.
const CALLS: usize = 4;
/// How many machines of the same cost are gone through one by one.
const ONE_BY_ONE: usize = 8;
