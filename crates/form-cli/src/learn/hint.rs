//! What else would give a machine, or a smaller one: a quick try after `form learn`, told on standard error.

use std::time::Duration;

use anyhow::Result;
use form_core::Dataset;
use form_learn::{LearnOutcome, Learner, Limits, Options, Tolerance, TolerantOutcome};

use super::tolerance::weights;
use super::{Args, learner};
use crate::output::{self, count};

/// The time of one try.
const TRY: Duration = Duration::from_secs(1);
/// The most traces that are left out to save states.
const FEW: u64 = 5;
/// The most states that a try has after a search without proof.
const QUICK_STATES: usize = 5;

/// Names an option that gives a machine where there is none, or the few traces without which there is a much smaller one.
pub fn give(
    args: &Args,
    data: &Dataset,
    options: &Options,
    limits: &Limits,
    outcome: &LearnOutcome,
) -> Result<()> {
    let all = (data.traces().len() + data.duplicates().len()) as u64;
    let few = (all / 100).clamp(1, FEW);
    match outcome {
        LearnOutcome::Minimal(learnt) => {
            let smaller = learnt.states.saturating_sub(2);
            without_few(args, data, options, few, &quick(limits, smaller))?;
        }
        LearnOutcome::Stopped {
            best: Some(best), ..
        } => {
            let smaller = best.states.saturating_sub(2).min(QUICK_STATES);
            without_few(args, data, options, few, &quick(limits, smaller))?;
        }
        LearnOutcome::Stopped { best: None, .. } => {
            let limits = quick(limits, limits.max_states);
            let disjuncts = Options {
                max_disjuncts: 2,
                ..options.clone()
            };
            let cyclic = Options {
                cyclic: true,
                ..options.clone()
            };
            let tries = [
                (options.max_disjuncts == 1).then_some(("--max-disjuncts 2", disjuncts)),
                (!options.cyclic).then_some(("--cyclic", cyclic)),
            ];
            for (option, options) in tries.into_iter().flatten() {
                let mut learner: Learner = learner(args, data, &options);
                for (_, trace) in data.traces() {
                    learner.add(trace);
                }
                if let Some(learnt) = learner.learn(&limits)?.learnt() {
                    return say(option, learnt.states);
                }
            }
            for tolerated in [1, few] {
                if let Some(learnt) = tolerant(args, data, options, tolerated, &limits)?
                    && let Some(machine) = learnt.outcome.learnt()
                {
                    return say(
                        &format!("--tolerate {}", learnt.misjudged.max(1)),
                        machine.states,
                    );
                }
            }
        }
        LearnOutcome::Contradictory(_) => {}
    }
    Ok(())
}

/// Names the few traces without which there is a machine within these limits.
fn without_few(
    args: &Args,
    data: &Dataset,
    options: &Options,
    few: u64,
    limits: &Limits,
) -> Result<()> {
    if limits.max_states == 0 {
        return Ok(());
    }
    let Some(smaller) = tolerant(args, data, options, few, limits)? else {
        return Ok(());
    };
    let Some(machine) = smaller.outcome.learnt() else {
        return Ok(());
    };
    let places: Vec<String> = (smaller.suspects.iter())
        .map(|suspect| data.describe(data.traces()[suspect.trace].0).to_string())
        .collect();
    output::remark(&format!(
        "hint: without {}: {} (see --tolerate {})",
        places.join(" and "),
        count(machine.states, "state"),
        smaller.misjudged
    ));
    Ok(())
}

fn say(option: &str, states: usize) -> Result<()> {
    let states = count(states, "state");
    output::remark(&format!(
        "hint: with {option} there is a machine with {states}"
    ));
    Ok(())
}

fn quick(limits: &Limits, max_states: usize) -> Limits {
    Limits {
        max_states,
        time: Some(TRY),
        ..limits.clone()
    }
}

/// The machine that misjudges at most this number of traces, if the traces are more than these.
fn tolerant(
    args: &Args,
    data: &Dataset,
    options: &Options,
    tolerated: u64,
    limits: &Limits,
) -> Result<Option<TolerantOutcome>> {
    let weights = weights(data);
    if weights.iter().sum::<u64>() <= tolerated {
        return Ok(None);
    }
    let mut learner = learner(args, data, options);
    for ((_, trace), weight) in data.traces().iter().zip(weights) {
        learner.add_weighted(trace, weight);
    }
    Ok(Some(
        learner.learn_tolerant(Tolerance::AtMost(tolerated), limits)?,
    ))
}
