//! `form learn`: the smallest machine that is consistent with traces.

mod explanation;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use clap::ValueEnum;
use form_core::{Contradiction, ContradictionReason, Dataset, Trace};
use form_learn::asp::{learn_with_clingo, learn_with_ilasp, to_asp, to_ilasp};
use form_learn::{Explanation, LearnOutcome, Learner, Learnt, Limits, Options, Round, StopReason};
use serde_json::json;

use crate::output::count;
use crate::{Answer, input, output};

/// Learn the smallest machine that is consistent with traces
///
/// Fewest states first, then fewest edges and literals, then a fixed order: the same set of traces gives the same
/// machine. The answer is proven minimal, or says what was proven before a limit was reached (exit code 1). Here the accepting and
/// the rejecting state are not counted; wherever else a number of states is printed, they are.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  form learn examples/all_yellow.jsonl\n  form learn examples/green_but_one.jsonl -o green.form\n  form learn examples/all_yellow.jsonl --propositional --max-disjuncts 2\n  form learn examples/all_yellow.jsonl --explain"
)]
pub struct Args {
    /// Trace files (JSON Lines, .gz too)
    #[arg(required = true)]
    traces: Vec<PathBuf>,
    /// The observable atoms: a trace file, a list of atoms, one a line, or a task
    #[arg(long, value_name = "FILE")]
    signature: Option<PathBuf>,
    /// Write the machine to a file (.form or .json)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Leave quantified atoms out
    #[arg(long)]
    propositional: bool,
    /// The most states to try, the accepting and the rejecting one not counted
    #[arg(long, value_name = "N", default_value_t = Limits::default().max_states, value_parser = input::whole::<usize>)]
    max_states: usize,
    /// How many parallel edges, a disjunction, may lead from one state to another
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = input::at_most::<64>)]
    max_disjuncts: usize,
    /// Allow cycles
    #[arg(long)]
    cyclic: bool,
    /// Allow other literals beside a positive `forall`
    #[arg(long)]
    forall_anywhere: bool,
    /// Stop after this time, such as 500ms, 60s, 5m or 1h; seconds without a unit
    #[arg(long, value_name = "TIME", value_parser = input::duration)]
    time_limit: Option<Duration>,
    /// Stop when the process uses more than so many MiB of memory
    #[arg(long, value_name = "MIB", value_parser = input::whole::<u64>)]
    memory_limit: Option<u64>,
    /// How many threads to use; the result does not depend on it
    #[arg(long, value_name = "N", value_parser = input::at_most::<256>)]
    threads: Option<usize>,
    /// The solver: built in, or an external program
    #[arg(long, value_enum, default_value_t = Solver::Sat)]
    solver: Solver,
    /// Only write the problem for another solver, for --max-states states
    #[arg(long, value_enum)]
    export: Option<Export>,
    /// Name for the number of states and for every edge a few traces that force it, and what each number of states took
    #[arg(long)]
    explain: bool,
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
    if args.max_states == 0 {
        bail!("--max-states must be at least 1");
    }
    if args.json && args.output.as_deref() == Some(Path::new("-")) {
        bail!("--json and an output of `-` both want standard output");
    }
    if args.explain && args.solver != Solver::Sat {
        bail!("--explain needs the built-in solver: leave --solver out, or --explain");
    }
    if args.explain && args.export.is_some() {
        bail!(
            "--explain is about a learnt machine, and --export learns none: leave one of them out"
        );
    }
    input::use_threads(args.threads)?;
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
            &write(data.signature(), &traces, &options, args.max_states)?,
        )?;
        return Ok(Answer::Yes);
    }
    if data.traces().is_empty() {
        output::remark("there are no traces: the empty machine is consistent with them");
    }
    let limits = Limits {
        max_states: args.max_states,
        time: args.time_limit,
        memory: args.memory_limit.map(|mib| mib.saturating_mul(1 << 20)),
        interrupt: Some(input::interrupt()?),
        progress: None,
    };
    let result = learn(args, &data, &options, &limits)?;
    report(args, &data, &result)
}

/// What came of learning, and how long it took.
struct Learning {
    outcome: LearnOutcome,
    rounds: Vec<Round>,
    time: Duration,
    explanation: Option<(Explanation, Duration)>,
}

fn learn(args: &Args, data: &Dataset, options: &Options, limits: &Limits) -> Result<Learning> {
    let start = Instant::now();
    let traces = || -> Vec<Trace> {
        data.traces()
            .iter()
            .map(|(_, trace)| trace.clone())
            .collect()
    };
    let signature = data.signature();
    let outcome = match args.solver {
        Solver::Sat => return learn_built_in(args.explain, data, options, limits),
        Solver::Clingo => {
            learn_with_clingo(signature, &traces(), options, limits, Path::new("clingo"))?
        }
        Solver::Ilasp => {
            learn_with_ilasp(signature, &traces(), options, limits, Path::new("ILASP"))?
        }
    };
    Ok(Learning {
        outcome,
        rounds: Vec::new(),
        time: start.elapsed(),
        explanation: None,
    })
}

fn learn_built_in(
    explain: bool,
    data: &Dataset,
    options: &Options,
    limits: &Limits,
) -> Result<Learning> {
    let start = Instant::now();
    let mut learner = Learner::new(data.signature(), options);
    for (_, trace) in data.traces() {
        learner.add(trace);
    }
    let outcome = with_progress(limits, |limits| learner.learn(limits))?;
    let time = start.elapsed();
    let mut explanation = None;
    if explain && matches!(outcome, LearnOutcome::Minimal(_)) {
        // The limit is one for both.
        let left = Limits {
            time: limits.time.map(|limit| limit.saturating_sub(time)),
            ..limits.clone()
        };
        explanation = Some((learner.explain(&left)?, start.elapsed() - time));
    }
    Ok(Learning {
        outcome,
        rounds: learner.rounds().to_vec(),
        time,
        explanation,
    })
}

/// Does the work, and says now and then how far it has come, if it takes long.
fn with_progress<T>(limits: &Limits, work: impl FnOnce(&Limits) -> T) -> T {
    let states = Arc::new(AtomicUsize::new(0));
    let limits = Limits {
        progress: Some(states.clone()),
        ..limits.clone()
    };
    let start = Instant::now();
    let (done, waiting) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // Ends when the other end of the channel is gone.
            while waiting.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
                output::remark(&format!(
                    "{} s: trying {} …",
                    start.elapsed().as_secs(),
                    count(states.load(Ordering::Relaxed), "state")
                ));
            }
        });
        let result = work(&limits);
        drop(done);
        result
    })
}

/// How often somebody who waits is told something.
const PAUSE: Duration = Duration::from_secs(5);

fn report(args: &Args, data: &Dataset, result: &Learning) -> Result<Answer> {
    let outcome = &result.outcome;
    let learnt = outcome.learnt();
    let to_file = args
        .output
        .as_deref()
        .filter(|path| *path != Path::new("-"));
    if let (Some(path), Some(learnt)) = (to_file, learnt) {
        let text = output::machine_text(&learnt.machine, Some(path))?;
        output::write(Some(path), &text)?;
    }
    if args.json {
        output::print_json(&to_json(args, data, result)?)?;
    } else {
        let mut text = learnt.map_or_else(String::new, |learnt| learnt.machine.to_string());
        text += &summary(data, result);
        if args.explain {
            text += &explanation::rounds_to_text(
                &result.rounds,
                matches!(outcome, LearnOutcome::Minimal(_)),
            );
            text += &match (learnt, &result.explanation) {
                (Some(learnt), Some((explanation, time))) => {
                    explanation::to_text(data, learnt, explanation, *time)?
                }
                _ => "#\n# nothing is explained: no machine was proven minimal\n".to_owned(),
            };
        } else {
            text += &rounds_to_text(&result.rounds);
        }
        output::print(&text)?;
    }
    Ok(if matches!(outcome, LearnOutcome::Minimal(_)) {
        Answer::Yes
    } else {
        Answer::No
    })
}

fn summary(data: &Dataset, result: &Learning) -> String {
    let size = |learnt: &Learnt| {
        format!(
            "{}, {} in all",
            count(learnt.states, "state"),
            count(learnt.cost.size, "edge and literal")
                .replace("edge and literals", "edges and literals"),
        )
    };
    let mut text = match &result.outcome {
        LearnOutcome::Minimal(learnt) => format!(
            "# {} (terminal states not counted): proven minimal\n",
            size(learnt)
        ),
        LearnOutcome::Stopped {
            reason,
            at_least_states,
            at_least_cost,
            best,
        } => {
            let why = match reason {
                StopReason::Time => "the time was up",
                StopReason::States => "no machine has as few states as --max-states allows",
                StopReason::Memory => "the memory was used up",
                StopReason::Interrupted => "it was interrupted",
            };
            let best = best.as_ref().map_or_else(
                || "no consistent machine was found".to_owned(),
                |best| format!("the best machine so far has {}", size(best)),
            );
            format!(
                "# stopped, {why}: {best}; proven to be needed: {} or more, and with so many {at_least_cost} edges and \
                 literals or more (terminal states not counted)\n",
                count(*at_least_states, "state")
            )
        }
        LearnOutcome::Contradictory(pairs) => format!(
            "# {} of traces contradict each other\n",
            count(pairs.len(), "pair")
        ),
    };
    text += &format!(
        "# from {} over {} in {:.1} ms\n",
        count(data.traces().len(), "different trace"),
        count(data.signature().len(), "atom"),
        result.time.as_secs_f64() * 1000.0
    );
    text
}

fn rounds_to_text(rounds: &[Round]) -> String {
    let line = |round: &Round| {
        format!(
            "# {}: {}, {}, {:.1} ms{}\n",
            count(round.states, "state"),
            count(round.counterexamples, "counterexample"),
            count(round.solver_calls, "question"),
            round.time.as_secs_f64() * 1000.0,
            if round.refuted { ", refuted" } else { "" }
        )
    };
    rounds.iter().map(line).collect()
}

/// A limit as scripts read it.
fn stop_name(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Time => "time",
        StopReason::States => "states",
        StopReason::Memory => "memory",
        StopReason::Interrupted => "interrupted",
    }
}

fn to_json(args: &Args, data: &Dataset, result: &Learning) -> Result<serde_json::Value> {
    let outcome = &result.outcome;
    let machine = outcome
        .learnt()
        .map(|learnt| serde_json::from_str::<serde_json::Value>(&learnt.machine.to_json()));
    let (proof, bound) = match outcome {
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

fn contradiction(
    args: &Args,
    data: &Dataset,
    first: &Contradiction,
    number: usize,
) -> Result<Answer> {
    let how = match first.reason {
        ContradictionReason::SameObservations => "the same observations end in different ways",
        ContradictionReason::GoesOn => "one goes on where the other was over",
        ContradictionReason::OverAtOnce => "the episode is over before anything was observed",
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
            "no machine is consistent with the traces: {which}: {how} ({} in all; `form traces` lists them)",
            count(number, "contradiction")
        ))?;
    }
    Ok(Answer::No)
}
