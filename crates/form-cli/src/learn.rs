//! `form learn`: the smallest machine that is consistent with traces.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use form_core::{Contradiction, ContradictionReason, Dataset, Trace};
use form_learn::asp::{learn_with_clingo, learn_with_ilasp, to_asp, to_ilasp};
use form_learn::{Learner, Learnt, Limits, Options, Outcome, Round, StopReason};
use serde_json::json;

use crate::output::count;
use crate::{Answer, input, output};

/// Learn the smallest machine that is consistent with traces
///
/// Fewest states first, then fewest edges and literals, then a fixed order: the same set of traces gives the same
/// machine. The answer is proven minimal, or says what was proven before a limit was reached (exit code 1).
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  form learn examples/all_yellow.jsonl\n  form learn examples/green_but_one.jsonl -o green.form\n  form learn examples/all_yellow.jsonl --propositional --max-disjuncts 2"
)]
pub struct Args {
    /// Trace files (JSON Lines, .gz too)
    #[arg(required = true)]
    traces: Vec<PathBuf>,
    /// The observable atoms: a trace file, or a list of atoms, one a line
    #[arg(long, value_name = "FILE")]
    signature: Option<PathBuf>,
    /// Write the machine to a file (.form or .json)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Leave quantified atoms out
    #[arg(long)]
    propositional: bool,
    /// The most states to try, the accepting and the rejecting one not counted
    #[arg(long, value_name = "N", default_value_t = Limits::default().max_states)]
    max_states: usize,
    /// How many parallel edges, a disjunction, may lead from one state to another
    #[arg(long, value_name = "K", default_value_t = 1)]
    max_disjuncts: usize,
    /// Allow cycles
    #[arg(long)]
    cyclic: bool,
    /// Allow other literals beside a positive `forall`
    #[arg(long)]
    forall_anywhere: bool,
    /// Stop after this time, such as 500ms, 60s or 5m
    #[arg(long, value_name = "TIME", value_parser = duration)]
    time_limit: Option<Duration>,
    /// Stop when the process uses more than so many MiB of memory
    #[arg(long, value_name = "MIB")]
    memory_limit: Option<u64>,
    /// How many threads replay the traces; the result does not depend on it
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// The solver: built in, or an external program
    #[arg(long, value_enum, default_value_t = Solver::Sat)]
    solver: Solver,
    /// Only write the problem for another solver, for --max-states states
    #[arg(long, value_enum)]
    export: Option<Export>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Solver {
    /// The built-in one
    Sat,
    /// The answer set solver clingo
    Clingo,
    /// ILASP, as in the paper
    Ilasp,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Export {
    /// An answer set program for clingo
    Asp,
    /// The paper's task for ILASP
    Ilasp,
}

pub fn run(args: &Args) -> Result<Answer> {
    if args.max_states == 0 || args.max_disjuncts == 0 {
        bail!("--max-states and --max-disjuncts must be at least 1");
    }
    if let Some(threads) = args.threads {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build_global()
            .context("cannot start the threads")?;
    }
    let signature = input::signature(args.signature.as_deref(), &args.traces)?.unwrap_or_default();
    let mut data = Dataset::new(signature);
    for path in &args.traces {
        data.read(input::trace_file(path)?)?;
    }
    let contradictions = data.contradictions();
    if let Some(first) = contradictions.first() {
        return contradiction(args, &data, first, contradictions.len());
    }
    let options = Options {
        first_order: !args.propositional,
        max_disjuncts: args.max_disjuncts,
        cyclic: args.cyclic,
        forall_alone: !args.forall_anywhere,
    };
    if let Some(export) = args.export {
        let traces: Vec<Trace> = data
            .traces()
            .iter()
            .map(|(_, trace)| trace.clone())
            .collect();
        let write = match export {
            Export::Asp => to_asp,
            Export::Ilasp => to_ilasp,
        };
        output::write(
            args.output.as_deref(),
            &write(data.signature(), &traces, &options, args.max_states),
        )?;
        return Ok(Answer::Yes);
    }
    let limits = Limits {
        max_states: args.max_states,
        time: args.time_limit,
        memory: args.memory_limit.map(|mib| mib << 20),
        interrupt: Some(interrupt()?),
    };
    let start = Instant::now();
    let (outcome, rounds) = learn(args.solver, &data, &options, &limits)?;
    report(args, &data, &outcome, &rounds, start.elapsed())
}

fn learn(
    solver: Solver,
    data: &Dataset,
    options: &Options,
    limits: &Limits,
) -> Result<(Outcome, Vec<Round>)> {
    let traces = || -> Vec<Trace> {
        data.traces()
            .iter()
            .map(|(_, trace)| trace.clone())
            .collect()
    };
    let signature = data.signature();
    Ok(match solver {
        Solver::Sat => {
            let mut learner = Learner::new(signature, options);
            for (_, trace) in data.traces() {
                learner.add(trace);
            }
            (learner.learn(limits)?, learner.rounds().to_vec())
        }
        Solver::Clingo => (
            learn_with_clingo(signature, &traces(), options, limits, Path::new("clingo"))?,
            Vec::new(),
        ),
        Solver::Ilasp => (
            learn_with_ilasp(signature, &traces(), options, limits, Path::new("ILASP"))?,
            Vec::new(),
        ),
    })
}

/// A flag that Ctrl-C sets: the search then ends with what it has.
fn interrupt() -> Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let set = flag.clone();
    ctrlc::set_handler(move || set.store(true, Ordering::Relaxed))
        .context("cannot handle Ctrl-C")?;
    Ok(flag)
}

fn report(
    args: &Args,
    data: &Dataset,
    outcome: &Outcome,
    rounds: &[Round],
    time: Duration,
) -> Result<Answer> {
    let learnt = outcome.learnt();
    if let (Some(path), Some(learnt)) = (&args.output, learnt) {
        let text = output::machine_text(&learnt.machine, Some(path))?;
        output::write(Some(path), &text)?;
    }
    if args.json {
        output::print_json(&to_json(data, outcome, rounds, time)?)?;
    } else {
        if let Some(learnt) = learnt {
            output::print(&learnt.machine.to_string())?;
        }
        output::print(&summary(data, outcome, rounds, time))?;
    }
    Ok(if matches!(outcome, Outcome::Minimal(_)) {
        Answer::Yes
    } else {
        Answer::No
    })
}

fn summary(data: &Dataset, outcome: &Outcome, rounds: &[Round], time: Duration) -> String {
    let size = |learnt: &Learnt| {
        format!(
            "{}, {} in all",
            count(learnt.states, "state"),
            count(learnt.cost.size, "edge and literal")
                .replace("edge and literals", "edges and literals"),
        )
    };
    let mut text = match outcome {
        Outcome::Minimal(learnt) => format!(
            "# {} (terminal states not counted): proven minimal\n",
            size(learnt)
        ),
        Outcome::Stopped {
            reason,
            at_least_states,
            at_least_cost,
            best,
        } => {
            let why = match reason {
                StopReason::Time => "the time was up",
                StopReason::States => "no machine has as few states as --max-states allows",
                StopReason::Memory => "the memory was up",
                StopReason::Interrupted => "it was interrupted",
            };
            let best = best.as_ref().map_or_else(
                || "no consistent machine was found".to_owned(),
                |best| format!("the best machine so far has {}", size(best)),
            );
            format!(
                "# stopped, {why}: {best}; proven that at least {} are needed, and with so many at least {at_least_cost} \
                 edges and literals\n",
                count(*at_least_states, "state")
            )
        }
        Outcome::Contradictory(pairs) => format!(
            "# {} of traces contradict each other\n",
            count(pairs.len(), "pair")
        ),
    };
    text += &format!(
        "# from {} over {} in {:.1} ms\n",
        count(data.traces().len(), "different trace"),
        count(data.signature().len(), "atom"),
        time.as_secs_f64() * 1000.0
    );
    for round in rounds {
        text += &format!(
            "# {}: {} of the data, {}, {:.1} ms{}\n",
            count(round.states, "state"),
            count(round.counterexamples, "step"),
            count(round.solver_calls, "question"),
            round.time.as_secs_f64() * 1000.0,
            if round.refuted { ", refuted" } else { "" }
        );
    }
    text
}

fn to_json(
    data: &Dataset,
    outcome: &Outcome,
    rounds: &[Round],
    time: Duration,
) -> Result<serde_json::Value> {
    let machine = outcome
        .learnt()
        .map(|learnt| serde_json::from_str::<serde_json::Value>(&learnt.machine.to_json()));
    let (proof, bound) = match outcome {
        Outcome::Minimal(_) => ("minimal", None),
        Outcome::Stopped {
            reason,
            at_least_states,
            at_least_cost,
            ..
        } => {
            let reason = match reason {
                StopReason::Time => "time",
                StopReason::States => "states",
                StopReason::Memory => "memory",
                StopReason::Interrupted => "interrupted",
            };
            (
                reason,
                Some(json!({ "states": at_least_states, "cost": at_least_cost })),
            )
        }
        Outcome::Contradictory(_) => ("contradictory", None),
    };
    Ok(json!({
        "machine": machine.transpose()?,
        "states": outcome.learnt().map(|learnt| learnt.states),
        "cost": outcome.learnt().map(|learnt| learnt.cost.size),
        "proof": proof,
        "at_least": bound,
        "traces": data.traces().len(),
        "seconds": time.as_secs_f64(),
        "rounds": rounds.iter().map(|round| json!({
            "states": round.states,
            "steps": round.counterexamples,
            "solver_calls": round.solver_calls,
            "seconds": round.time.as_secs_f64(),
            "refuted": round.refuted,
        })).collect::<Vec<_>>(),
    }))
}

fn contradiction(
    args: &Args,
    data: &Dataset,
    first: &Contradiction,
    number: usize,
) -> Result<Answer> {
    let how = match first.reason {
        ContradictionReason::SameObservations => "the same observations end in different ways",
        ContradictionReason::GoesOn => "one goes on where the other was over",
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
        output::print(&format!(
            "no machine is consistent with the traces: {a} ({}) and {b} ({}): {how} ({} in all; `form traces` lists them)",
            kinds.0,
            kinds.1,
            count(number, "contradiction")
        ))?;
    }
    Ok(Answer::No)
}

/// `500ms`, `60s`, `5m`, `1h`; seconds without a unit.
fn duration(text: &str) -> Result<Duration, String> {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let number: f64 = text[..end]
        .parse()
        .map_err(|_| "expected a number and a unit, as in 60s".to_owned())?;
    let unit = match &text[end..] {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        other => return Err(format!("unknown unit `{other}`: use ms, s, m or h")),
    };
    Duration::try_from_secs_f64(number * unit).map_err(|error| error.to_string())
}
