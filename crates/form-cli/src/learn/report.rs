//! The output of `form learn`: the machine with what was proven, as text or JSON, and contradictory traces.

use std::path::Path;

use anyhow::Result;
use form_core::{Contradiction, ContradictionReason, Dataset};
use form_learn::{LearnOutcome, Limits, Options, Round, Tolerance};
use serde_json::json;

use super::{Args, Learning, cross_validation, explanation, hint, stop_name, tolerance};
use crate::Answer;
use crate::output::{self, count};

/// Prints the result, and writes the machine to its file. `atoms` is the number of atoms in the traces as they were written.
pub fn print(args: &Args, data: &Dataset, atoms: usize, result: &Learning) -> Result<Answer> {
    let learnt = result.outcome.learnt();
    let is_minimal = matches!(result.outcome, LearnOutcome::Minimal(_));
    let to_file = (args.output.as_deref()).filter(|path| *path != Path::new("-"));
    if let (Some(path), Some(learnt)) = (to_file, learnt) {
        let text = output::machine_text(&learnt.machine, Some(path))?;
        output::write(Some(path), &text)?;
    }
    if args.json {
        output::print_json(&to_json(args, data, result)?)?;
    } else {
        let mut text = learnt.map_or_else(String::new, |learnt| learnt.machine.to_string());
        text += &summary(args, data, atoms, result);
        if args.explain {
            text += &explanation::rounds_to_text(&result.rounds, is_minimal && !is_auto(args));
            text += &match (learnt, &result.explanation) {
                (Some(learnt), Some((explanation, time))) => {
                    explanation::to_text(data, learnt, explanation, *time)?
                }
                _ => "#\n# no explanation: no machine was proven minimal\n".to_owned(),
            };
        } else {
            text += &rounds_to_text(&result.rounds);
        }
        if let Some(learnt) = &result.tolerant {
            text += &tolerance::to_text(data, learnt, &args.traces);
        }
        if let Some(held_out) = &result.held_out {
            text += &held_out.to_text();
        }
        text += &cross_validation::to_text(&result.cross_validation);
        output::print(&text)?;
    }
    Ok(match is_minimal {
        true => Answer::Yes,
        false => Answer::No,
    })
}

/// What was proven, and from what, as comments of a machine file.
fn summary(args: &Args, data: &Dataset, atoms: usize, result: &Learning) -> String {
    let state_limit = format!("--max-states {}", args.max_states);
    let proven = match &result.tolerant {
        None => result.outcome.describe(&state_limit),
        Some(learnt) if learnt.outcome.learnt().is_some() => format!(
            "{}, {}",
            learnt.describe(&state_limit),
            tolerance::misjudged(data, learnt)
        ),
        Some(learnt) => learnt.describe(&state_limit),
    };
    format!(
        "# {proven}\n# learnt from {} over {} in {:.1} ms\n",
        count(data.traces().len(), "distinct trace"),
        count(atoms, "atom"),
        result.time.as_secs_f64() * 1000.0
    )
}

/// Whether description length chooses the number of states.
fn is_auto(args: &Args) -> bool {
    args.tolerate == Some(Tolerance::Auto)
}

fn rounds_to_text(rounds: &[Round]) -> String {
    let line = |round: &Round| {
        format!(
            "# {}: {}, {}, {:.1} ms{}\n",
            count(round.states, "state"),
            count(round.counterexamples, "counterexample"),
            count(round.solver_calls, "solver call"),
            round.time.as_secs_f64() * 1000.0,
            if round.refuted { ", refuted" } else { "" }
        )
    };
    rounds.iter().map(line).collect()
}

fn to_json(args: &Args, data: &Dataset, result: &Learning) -> Result<serde_json::Value> {
    let outcome = &result.outcome;
    let machine = outcome
        .learnt()
        .map(|learnt| serde_json::from_str::<serde_json::Value>(&learnt.machine.to_json()));
    let lower_bound = match outcome {
        // Of fewer states nothing is proven then.
        LearnOutcome::Minimal(_) if is_auto(args) => None,
        LearnOutcome::Minimal(learnt) => Some(learnt.states),
        LearnOutcome::Stopped {
            at_least_states, ..
        } => Some(*at_least_states),
        LearnOutcome::Contradictory(_) => None,
    };
    let (proof, bound) = match outcome {
        LearnOutcome::Minimal(_) if is_auto(args) => ("shortest-description", None),
        LearnOutcome::Minimal(_) => ("minimal", None),
        LearnOutcome::Stopped {
            reason,
            at_least_states,
            at_least_cost,
            ..
        } => (
            stop_name(*reason),
            Some(json!({ "states": at_least_states, "cost": at_least_cost })),
        ),
        LearnOutcome::Contradictory(_) => ("contradictory", None),
    };
    let mut value = json!({
        "machine": machine.transpose()?,
        "states": outcome.learnt().map(|learnt| learnt.states),
        "cost": outcome.learnt().map(|learnt| learnt.cost.size),
        // Description length chooses a number of states without a proof.
        "proven": matches!(outcome, LearnOutcome::Minimal(_)) && !is_auto(args),
        "lower_bound": lower_bound,
        "proof": proof,
        "at_least": bound,
        "traces": data.traces().len(),
        "seconds": result.time.as_secs_f64(),
        "rounds": result.rounds.iter().map(|round| json!({
            "states": round.states,
            "counterexamples": round.counterexamples,
            "steps": round.steps,
            "solver_calls": round.solver_calls,
            "clauses": round.clauses,
            "seconds": round.time.as_secs_f64(),
            "refuted": round.refuted,
        })).collect::<Vec<_>>(),
    });
    if let Some(learnt) = &result.tolerant {
        tolerance::add_json(&mut value, data, learnt, &args.traces);
    }
    if let Some(held_out) = &result.held_out {
        value["holdout"] = held_out.to_json();
    }
    if args.cross_validate.is_some() {
        value["cross_validation"] = cross_validation::to_json(&result.cross_validation);
    }
    if args.explain {
        value["explanation"] = match (outcome.learnt(), &result.explanation) {
            (Some(learnt), Some((explanation, time))) => {
                explanation::to_json(data, learnt, explanation, *time)?
            }
            _ => serde_json::Value::Null,
        };
    }
    Ok(value)
}

/// Prints the first contradiction: no machine can be consistent.
pub fn contradiction(
    args: &Args,
    data: &Dataset,
    (options, limits): (&Options, &Limits),
    (first, number): (&Contradiction, usize),
) -> Result<Answer> {
    let how = match first.reason {
        ContradictionReason::SameObservations => "the same observations end in different ways",
        ContradictionReason::GoesOn => "one goes on where the other was over",
        ContradictionReason::OverAtOnce => "the episode is over before the first observation",
    };
    let (a, b) = (
        data.describe(first.first.0).to_string(),
        data.describe(first.second.0).to_string(),
    );
    if args.json {
        output::print_json(
            &json!({ "proof": "contradictory", "contradiction": [a, b], "contradictions": number }),
        )?;
    } else {
        let kinds = (first.first.1, first.second.1);
        let which = if a == b {
            format!("{a} ({})", kinds.0)
        } else {
            format!("{a} ({}) and {b} ({})", kinds.0, kinds.1)
        };
        output::print(&format!(
            "no machine is consistent with the traces: {which}: {how} ({} in all; `form traces` lists them, {})",
            count(number, "contradiction"),
            hint::for_contradictions(args, data, options, limits)?
        ))?;
    }
    Ok(Answer::No)
}
