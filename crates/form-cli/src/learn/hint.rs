//! What else would give a machine, or a smaller one: quick tries after `form learn`, told on standard error.

use std::time::{Duration, Instant};

use anyhow::Result;
use form_core::Dataset;
use form_learn::{LearnOutcome, Learner, Limits, Options, StopReason, Tolerance, TolerantOutcome};

use super::tolerance::weights;
use super::{Args, Learning, Solver, learner};
use crate::object_counts::ObjectCounts;
use crate::output::{self, count};

/// The work of one try, most often some tenths of a second. Work and not time, so that the same traces have the same hints.
const WORK: u64 = 5_000;
/// The time of all tries together, for traces of which a little work takes long.
const TIME: Duration = Duration::from_secs(10);
/// The most traces that are left out to save states; no more than a tenth of all, but always one.
const FEW: u64 = 5;
/// The most states that a try has after a search without proof.
const QUICK_STATES: usize = 5;

/// What the tries are about.
struct Problem<'a> {
    args: &'a Args,
    data: &'a Dataset,
    options: &'a Options,
    limits: Limits,
    deadline: Instant,
}

/// Names an option that gives a machine where there is none or a smaller one, or the few traces without which there is a much smaller one.
pub fn give(
    args: &Args,
    data: &Dataset,
    options: &Options,
    limits: &Limits,
    result: &Learning,
) -> Result<()> {
    let problem = Problem::new(args, data, options, limits);
    let hints = match &result.outcome {
        LearnOutcome::Minimal(learnt) => problem.smaller(learnt.states, usize::MAX)?,
        LearnOutcome::Stopped {
            best: Some(best), ..
        } => problem.smaller(best.states, QUICK_STATES)?,
        LearnOutcome::Stopped { best: None, .. } => problem.any()?,
        LearnOutcome::Contradictory(_) => Vec::new(),
    };
    for hint in hints {
        output::remark(&format!("hint: {hint}"));
    }
    Ok(())
}

/// Names `--lifted` before the search where most objects occur in one trace only: their names are nothing to learn from, and make it slow.
pub fn at_own_objects(args: &Args, data: &Dataset) {
    let in_language = args.once || args.joins || args.counts > 1;
    if args.lifted
        || args.propositional
        || in_language
        || args.solver != Solver::Sat
        || args.explain
    {
        return;
    }
    let mut counts = ObjectCounts::new(data.signature());
    for (_, trace) in data.traces() {
        counts.add(trace);
    }
    if let Some(own) = counts.own_objects() {
        output::remark(&format!(
            "hint: {own}: with --lifted every trace has objects of its own, their names do not count, and learning may be faster"
        ));
    }
}

/// How many of contradictory traces are to be tolerated, and what that gives.
pub fn for_contradictions(
    args: &Args,
    data: &Dataset,
    options: &Options,
    limits: &Limits,
) -> Result<String> {
    let problem = Problem::new(args, data, options, limits);
    let most = match args.solver {
        Solver::Sat => args.max_states.min(QUICK_STATES),
        Solver::Clingo | Solver::Ilasp => 0,
    };
    let advice = match problem.tolerated(most)? {
        Some((learnt, states)) => format!(
            "`--tolerate {}` gives a machine with {}",
            learnt.misjudged,
            count(states, "state")
        ),
        None => "`--tolerate N` allows traces to be wrong".to_owned(),
    };
    Ok(advice)
}

impl<'a> Problem<'a> {
    /// Tries stay within the limits of the search, and within their own.
    fn new(args: &'a Args, data: &'a Dataset, options: &'a Options, limits: &Limits) -> Self {
        let time = limits.time.map_or(TIME, |time| time.min(TIME));
        Problem {
            args,
            data,
            options,
            limits: Limits {
                work: Some(limits.work.map_or(WORK, |work| work.min(WORK))),
                ..limits.clone()
            },
            deadline: Instant::now() + time,
        }
    }

    /// What gives a machine with fewer states than this, and at most `most`. Traces are blamed only where that saves more.
    fn smaller(&self, states: usize, most: usize) -> Result<Vec<String>> {
        let mut hints = Vec::new();
        let mut blamed = states.saturating_sub(2);
        // Without cycles a machine with one or two states says as much as with them.
        if states > 2
            && !self.options.cyclic
            && let Some(found) = self.with(&self.cyclic(), (states - 1).min(most))?
        {
            hints.push(with("--cyclic", found));
            blamed = blamed.min(found - 1);
        }
        if let Some((learnt, states)) = self.tolerated(blamed.min(most))? {
            let places: Vec<String> = (learnt.suspects.iter())
                .map(|suspect| self.data.traces()[suspect.trace].0)
                .map(|origin| self.data.describe(origin).to_string())
                .collect();
            hints.push(format!(
                "without {}: {} (see --tolerate {})",
                places.join(" and "),
                count(states, "state"),
                learnt.misjudged
            ));
        }
        Ok(hints)
    }

    /// What gives a machine: the better of two options, and a tolerance if that saves states.
    fn any(&self) -> Result<Vec<String>> {
        let disjuncts = Options {
            max_disjuncts: 2,
            ..self.options.clone()
        };
        let tries = [
            (self.options.max_disjuncts == 1).then_some(("--max-disjuncts 2", disjuncts)),
            (!self.options.cyclic).then(|| ("--cyclic", self.cyclic())),
        ];
        let mut most = self.limits.max_states;
        let mut hints = Vec::new();
        for (option, options) in tries.into_iter().flatten() {
            if let Some(states) = self.with(&options, most)? {
                hints = vec![with(option, states)];
                most = states - 1;
            }
        }
        if let Some((learnt, states)) = self.tolerated(most)? {
            hints.push(with(&format!("--tolerate {}", learnt.misjudged), states));
        }
        Ok(hints)
    }

    fn cyclic(&self) -> Options {
        Options {
            cyclic: true,
            ..self.options.clone()
        }
    }

    /// The states of a machine with other options, if one is found.
    fn with(&self, options: &Options, max_states: usize) -> Result<Option<usize>> {
        if max_states == 0 {
            return Ok(None);
        }
        let mut learner: Learner = learner(self.args, self.data, options);
        for (_, trace) in self.data.traces() {
            learner.add(trace);
        }
        let outcome = learner.learn(&self.within(max_states))?;
        Ok(outcome.learnt().map(|learnt| learnt.states))
    }

    /// The smallest machine that misjudges a few traces, and its states. The more may be misjudged the fewer states there are, so a few are
    /// tried first; where that takes too long, two or one.
    fn tolerated(&self, max_states: usize) -> Result<Option<(TolerantOutcome, usize)>> {
        let weights = weights(self.data);
        let few = (weights.iter().sum::<u64>() / 10).clamp(1, FEW);
        if max_states == 0 || weights.iter().sum::<u64>() <= few {
            return Ok(None);
        }
        let mut learner = learner(self.args, self.data, self.options);
        for ((_, trace), weight) in self.data.traces().iter().zip(weights) {
            learner.add_weighted(trace, weight);
        }
        let mut numbers = vec![few, 2.min(few), 1];
        numbers.dedup();
        for number in numbers {
            let tolerance = Tolerance::AtMost(number);
            let found = learner.learn_tolerant(tolerance, &self.within(max_states))?;
            if let LearnOutcome::Stopped {
                reason: StopReason::States,
                ..
            } = found.outcome
            {
                // Fewer do not suffice either.
                break;
            }
            // A machine without edges says nothing.
            let learnt = found.outcome.learnt();
            let states = learnt.filter(|learnt| !learnt.machine.edges().is_empty());
            if let Some(states) = states.map(|learnt| learnt.states)
                && found.misjudged > 0
            {
                return Ok(Some((found, states)));
            }
        }
        Ok(None)
    }

    fn within(&self, max_states: usize) -> Limits {
        Limits {
            max_states,
            time: Some(self.deadline.saturating_duration_since(Instant::now())),
            ..self.limits.clone()
        }
    }
}

fn with(option: &str, states: usize) -> String {
    let states = count(states, "state");
    format!("with {option} there is a machine with {states}")
}
