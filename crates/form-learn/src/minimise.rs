//! The smallest machine with a given number of states, or the proof that there is none.
//!
//! The cost is bounded from below: machines of the lowest possible cost are asked for, then of the next, until one is
//! consistent, which is then the cheapest. A second question, whether there is a machine at any cost, finds the proof where
//! there is none. Both are tried for a while in turn; then each gets a thread of its own, if there are two, or they go on in
//! turn. Either answer is exact, so the result does not depend on which comes first.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ScopedJoinHandle;

use crate::attempt::{Allowance, Answer, Attempt, Effort, Given};
use crate::decode::Design;
use crate::encode::{Lit, Measure};
use crate::outcome::{Learnt, StopReason};
use crate::watch::Watch;

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

impl Progress {
    /// Remembers a consistent machine, unless a cheaper one is known.
    fn keep(&mut self, learnt: &Learnt) {
        if self
            .best
            .as_ref()
            .is_none_or(|best| learnt.cost < best.cost)
        {
            self.best = Some(learnt.clone());
        }
    }
}

/// Sets a flag when it goes, whatever happens before.
struct AtEnd(Arc<AtomicBool>);

impl Drop for AtEnd {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
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
                return break_ties(attempt, given, progress, design, watch).map(Some);
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
            Answer::Found(design) => progress.keep(&design.learnt),
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
    let [over, refuted] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
    let known = progress.best.is_some();
    let (minimal, proof) = std::thread::scope(|scope| {
        let prover = (!known).then(|| {
            let (watch, refuted, known) = (watch.and(&over), refuted.clone(), attempt.known());
            scope.spawn(move || {
                let Some(mut prover) = Attempt::knowing(given, known, &watch) else {
                    return (Answer::Undecided, Effort::default());
                };
                let answer = prover.ask(given, &[], None);
                refuted.store(matches!(answer, Answer::Nothing), Ordering::Relaxed);
                (answer, prover.effort())
            })
        });
        let watch = watch.and(&refuted);
        attempt.encoding().watch(&watch);
        // However this ends: nobody waits for the other thread longer than it takes to tell it.
        let at_end = AtEnd(over);
        let minimal = match cheapest(attempt, given, progress, None) {
            Answer::Found(design) => break_ties(attempt, given, progress, design, &watch).map(Some),
            Answer::Nothing => Ok(None),
            Answer::Undecided => Err(Stop(watch.reason().unwrap_or(StopReason::Interrupted))),
        };
        drop(at_end);
        (minimal, prover.map(ScopedJoinHandle::join))
    });
    match proof {
        Some(Ok((answer, effort))) => {
            progress.aside = effort;
            match answer {
                Answer::Nothing => return Ok(None),
                Answer::Found(design) => progress.keep(&design.learnt),
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
    progress: &mut Progress,
    mut design: Design,
    watch: &Watch,
) -> Result<Learnt, Stop> {
    progress.keep(&design.learnt);
    let mut ask =
        |assumptions: &[Lit], attempt: &mut Attempt| match attempt.ask(given, assumptions, None) {
            Answer::Found(design) => {
                progress.keep(&design.learnt);
                Ok(Some(design))
            }
            Answer::Nothing => Ok(None),
            Answer::Undecided => Err(Stop(watch.reason().unwrap_or(StopReason::Interrupted))),
        };
    let mut assumptions = attempt
        .encoding()
        .at_most(Measure::Cost, design.learnt.cost.size);
    let others = attempt.encoding().fresh_question();
    attempt.encoding().leave_out(others, &design);
    for _ in 0..ONE_BY_ONE {
        let all: Vec<Lit> = assumptions.iter().copied().chain([others]).collect();
        let Some(other) = ask(&all, attempt)? else {
            return Ok(design.learnt);
        };
        attempt.encoding().leave_out(others, &other);
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

#[cfg(test)]
mod tests {
    use form_core::{Kind, Signature, Trace};

    use super::*;
    use crate::data::Data;
    use crate::problem::Options;
    use crate::vocabulary::vocabulary;

    #[test]
    fn the_cheapest_machine_is_not_lost_when_a_limit_falls_into_the_ties() {
        let signature = Signature::parse(["a", "b", "c"]).unwrap();
        let options = Options::default();
        let mut data = Data::default();
        let steps = ["a", "b", "c"].map(|atom| signature.observation([atom]).unwrap());
        data.add(&Trace::new(Kind::Goal, steps));
        let given = Given {
            candidates: vocabulary(&signature, true).unwrap(),
            signature,
            options,
            data,
        };
        let interrupt = Arc::new(AtomicBool::new(false));
        let watch = Watch::default().and(&interrupt);
        let mut attempt = Attempt::new(&given, 1, &watch).unwrap();
        let mut progress = Progress::default();
        let Answer::Found(design) = cheapest(&mut attempt, &given, &mut progress, None) else {
            panic!("there is one")
        };
        let learnt = design.learnt.clone();
        interrupt.store(true, Ordering::Relaxed);
        let stopped = break_ties(&mut attempt, &given, &mut progress, design, &watch);
        assert!(matches!(stopped, Err(Stop(StopReason::Interrupted))));
        assert_eq!(progress.best, Some(learnt));
    }
}
