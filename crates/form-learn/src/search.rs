//! The search: one number of states after the other, until a machine is found.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use form_core::{Signature, Trace};

use crate::attempt::{Attempt, Effort, Given};
use crate::data::Data;
use crate::error::{Error, Result};
use crate::minimise::{Progress, Stop, smallest};
use crate::outcome::{Learnt, Outcome, Round, StopReason};
use crate::problem::{Limits, Options};
use crate::verify::overlap;
use crate::vocabulary::vocabulary;
use crate::watch::Watch;

/// Learns the smallest machine from traces, which may keep coming.
///
/// It keeps its solver and everything proven between calls of [`learn`](Learner::learn): traces that the machine
/// already explains cost their replay, others only what they change.
///
/// ```
/// use form_core::{Kind, Signature, Trace};
/// use form_learn::{Learner, Limits, Options, Outcome};
/// let signature = Signature::parse(["yellow(o0)", "yellow(o1)", "goal"])?;
/// let mut learner = Learner::new(&signature, &Options::default());
/// for (kind, steps) in [(Kind::Goal, &["yellow(o0)", "goal"][..]), (Kind::Incomplete, &["goal"])] {
///     let steps: Vec<_> = steps.iter().map(|atom| signature.observation([atom])).collect::<Result<_, _>>()?;
///     learner.add(&Trace::new(kind, steps));
/// }
/// let Outcome::Minimal(learnt) = learner.learn(&Limits::default())? else { panic!() };
/// assert_eq!((learnt.states, learnt.cost.size), (2, 4));
/// # Ok::<(), form_learn::Error>(())
/// ```
pub struct Learner {
    given: Given,
    /// No machine with fewer states is consistent.
    states: usize,
    /// The search for one with that many.
    attempt: Option<Attempt>,
    progress: Progress,
    /// The answer, and how many traces it has been replayed on.
    answer: Option<(Learnt, usize)>,
    rounds: Vec<Round>,
}

impl Learner {
    /// A learner without traces. `forall` ranges over the signature.
    pub fn new(signature: &Signature, options: &Options) -> Self {
        Self {
            given: Given {
                signature: signature.clone(),
                options: options.clone(),
                // Too many of them are an error, which `learn` tells of.
                candidates: vocabulary(signature, options.first_order).unwrap_or_default(),
                data: Data::default(),
            },
            states: 1,
            attempt: None,
            progress: Progress::default(),
            answer: None,
            rounds: Vec::new(),
        }
    }

    /// Adds a trace; its number, or `None` if it was there already.
    pub fn add(&mut self, trace: &Trace) -> Option<usize> {
        self.given.data.add(trace)
    }

    /// How many different traces there are.
    pub fn traces(&self) -> usize {
        self.given.data.len()
    }

    /// What each number of states has taken so far.
    pub fn rounds(&self) -> &[Round] {
        &self.rounds
    }

    /// The machine that was learnt last, if it is proven minimal for all traces added so far.
    pub(crate) fn answer(&self) -> Option<&Learnt> {
        let (learnt, checked) = self.answer.as_ref()?;
        (*checked == self.given.data.len()).then_some(learnt)
    }

    /// What the problem consists of.
    pub(crate) fn given(&self) -> &Given {
        &self.given
    }

    /// The smallest machine that is consistent with all traces added so far, or why there is none.
    pub fn learn(&mut self, limits: &Limits) -> Result<Outcome> {
        if !self.given.data.contradictions().is_empty() {
            return Ok(Outcome::Contradictory(
                self.given.data.contradictions().to_vec(),
            ));
        }
        if let Some(learnt) = self.still_holds()
            && learnt.states <= limits.max_states
        {
            return Ok(Outcome::Minimal(learnt));
        }
        let watch = Watch::new(limits);
        if self.given.candidates.len() < self.given.signature.len() {
            vocabulary(&self.given.signature, self.given.options.first_order)?;
        }
        Ok(match self.search(limits, &watch) {
            Ok(learnt) => {
                self.trust(&learnt)?;
                self.answer = Some((learnt.clone(), self.given.data.len()));
                Outcome::Minimal(learnt)
            }
            Err(Stop(reason)) => {
                let best = self.progress.best.clone();
                best.as_ref().map_or(Ok(()), |best| self.trust(best))?;
                Outcome::Stopped {
                    reason,
                    at_least_states: self.states,
                    at_least_cost: self.progress.cost,
                    best,
                }
            }
        })
    }

    /// Before anyone sees the machine: it has been replayed on all traces, and is now checked for determinism, both by
    /// code that knows nothing of the encoding.
    fn trust(&self, learnt: &Learnt) -> Result<()> {
        match overlap(&self.given.bound(learnt)) {
            None => Ok(()),
            Some(overlap) => Err(Error::Refuted {
                problem: format!("{overlap:?} in\n{}", learnt.machine),
            }),
        }
    }

    /// The last answer, if the traces added since agree with it.
    fn still_holds(&mut self) -> Option<Learnt> {
        let (learnt, checked) = self.answer.take()?;
        let given = &self.given;
        let refuted = match &mut self.attempt {
            Some(attempt) if attempt.fits(given) => attempt.refutes(given, &learnt, checked),
            _ => !given.refutations(&learnt, checked).is_empty(),
        };
        if refuted {
            return None;
        }
        self.answer = Some((learnt.clone(), self.given.data.len()));
        Some(learnt)
    }

    /// One number of states after the other, until a machine is found.
    fn search(&mut self, limits: &Limits, watch: &Watch) -> Result<Learnt, Stop> {
        self.attempt.take_if(|attempt| !attempt.fits(&self.given));
        // A machine found before need not agree with the traces added since.
        let given = &self.given;
        (self.progress.best).take_if(|best| !given.refutations(best, 0).is_empty());
        loop {
            if self.states > limits.max_states {
                return Err(Stop(StopReason::States));
            }
            if let Some(progress) = &limits.progress {
                progress.store(self.states, Ordering::Relaxed);
            }
            let start = Instant::now();
            let mut before = Effort::default();
            let attempt = match &mut self.attempt {
                Some(attempt) => {
                    before = attempt.effort();
                    attempt.encoding().watch(watch);
                    attempt
                }
                none => none.insert(
                    Attempt::new(&self.given, self.states, watch)
                        .ok_or_else(|| Stop(watch.reason().unwrap_or(StopReason::Interrupted)))?,
                ),
            };
            let found = smallest(attempt, &self.given, &mut self.progress, watch);
            let after = attempt.effort();
            self.account(before, after, start.elapsed(), matches!(found, Ok(None)));
            if let Some(learnt) = found? {
                return Ok(learnt);
            }
            self.states += 1;
            self.attempt = None;
            self.progress = Progress::default();
        }
    }

    fn account(&mut self, before: Effort, after: Effort, time: Duration, refuted: bool) {
        let (states, aside) = (self.states, std::mem::take(&mut self.progress.aside));
        if self
            .rounds
            .last()
            .is_none_or(|round| round.states != states)
        {
            self.rounds.push(Round {
                states,
                ..Round::default()
            });
        }
        if let Some(round) = self.rounds.last_mut() {
            round.counterexamples +=
                after.counterexamples - before.counterexamples + aside.counterexamples;
            round.steps += after.steps - before.steps + aside.steps;
            round.solver_calls += after.calls - before.calls + aside.calls;
            round.clauses = after.clauses + aside.clauses;
            round.time += time;
            round.refuted = refuted;
        }
    }
}
