//! The texts that a run logs and shows: its progress, new machines, and reports of a stall.

use anyhow::Result;
use form_core::{Signature, Trace};

use crate::display::{PolicyLosses, Snapshot, counted};
use crate::env_factory::EnvFactory;
use crate::train::{Iteration, RelearntMachine, Stalled, Trainer};

/// The progress after an iteration.
pub(super) fn snapshot<A: EnvFactory>(
    trainer: &mut Trainer<A>,
    iteration: &Iteration,
) -> Result<Snapshot> {
    let random = trainer.random_success()?;
    let machine = trainer.machine();
    let signature = trainer.game().assignment().bound_machine().signature();
    // The success of an earlier machine says nothing about this one.
    let since = trainer.state().machine_since;
    let last = (trainer.state().evaluations.last).filter(|last| last.iteration >= since);
    Ok(Snapshot {
        iteration: iteration.metrics.iteration,
        steps: iteration.metrics.steps,
        steps_per_second: iteration.timings.steps_per_second,
        success: last.map(|last| last.success()),
        episodes: last.map_or(0, |last| last.episodes),
        is_new: iteration.metrics.success.is_some(),
        random: Some(random),
        machine: machine.describe_size(),
        counterexample: (trainer.traces().last()).map(|trace| in_words(trace, signature)),
        losses: (iteration.policies.iter())
            .map(|row| PolicyLosses {
                state: row.state.clone(),
                policy: row.policy_loss.unwrap_or(f64::NAN),
                value: row.value_loss.unwrap_or(f64::NAN),
            })
            .collect(),
    })
}

/// A run whose evaluations have stopped improving.
pub(super) fn stalled(iteration: u64, stalled: &Stalled) -> String {
    let mut text = format!(
        "iteration {iteration}: stalled: no better than {:.1} % in the last {} evaluations",
        100.0 * stalled.best,
        stalled.evaluations
    );
    for map in &stalled.maps {
        text += &format!("; {map}");
    }
    for reason in &stalled.reasons {
        text += &format!("\n  likely: {reason}");
    }
    text
}

/// A new machine.
pub(super) fn machine<A: EnvFactory>(trainer: &Trainer<A>, learnt: &RelearntMachine) -> String {
    let traces = counted(trainer.traces().len() as u64, "trace");
    let milliseconds = 1000.0 * learnt.time.as_secs_f64();
    let how = match (learnt.by_queries, learnt.minimal) {
        (true, _) => format!("found by queries, {traces}, not minimal"),
        (_, true) => format!("learnt from {traces} in {milliseconds:.1} ms, proven minimal"),
        _ => {
            format!("learnt from {traces} in {milliseconds:.1} ms, the best within the time limit")
        }
    };
    let mut text = format!(
        "iteration {}: machine {:03} {how}",
        trainer.state().iteration,
        trainer.state().relearnings,
    );
    for policy in &learnt.reused {
        if let Some(from) = &policy.from {
            text += &format!("; {} reuses the policy of {from}", policy.role);
        }
    }
    for line in learnt.machine.to_string().lines() {
        if line.contains("->") {
            text += &format!("\n  {line}");
        }
    }
    text
}

/// A trace on one line.
fn in_words(trace: &Trace, signature: &Signature) -> String {
    let steps: Vec<String> = (trace.steps().iter())
        .map(|step| signature.texts(step).join(" and "))
        .collect();
    format!("{}: {}", trace.kind().as_str(), steps.join(", "))
}
