//! `form learn`: the smallest machine that is consistent with traces.

mod cross_validation;
mod explanation;
mod hint;
mod holdout;
mod progress;
mod report;
mod tolerance;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use clap::ValueEnum;
use form_core::{Dataset, Origin, Signature, Trace};
use form_learn::asp::{learn_with_clingo, learn_with_ilasp, to_asp, to_ilasp};
use form_learn::{
    Explanation, LearnOutcome, Learner, Lifting, Limits, Options, Round, StopReason, Tolerance,
    TolerantOutcome, lift,
};

use self::progress::with_progress;
use crate::{Answer, input, output};
use cross_validation::CrossValidated;
use holdout::HeldOut;

/// Learn the smallest machine that is consistent with traces
///
/// Fewest states first, then fewest edges and literals, then a fixed order: the same set of traces gives the same machine. The
/// machine is proven minimal, or the output says what was proven before a limit was reached (exit code 1). While it works, standard
/// error shows the number of states that is tried, the proven lower bound and the best machine so far. Ctrl-C ends the search like a
/// time limit: the best machine is printed with the bound.
#[derive(Clone, clap::Args)]
#[command(
    after_help = "Examples:\n  form learn examples/all_yellow.jsonl\n  form learn examples/green_but_one.jsonl -o green.form\n  form learn examples/all_yellow.jsonl --propositional --max-disjuncts 2\n  form learn examples/all_yellow.jsonl --tolerate 2%\n  form learn examples/all_yellow.jsonl --explain"
)]
pub struct Args {
    /// Trace files (JSON Lines, .gz too)
    #[arg(required = true)]
    traces: Vec<PathBuf>,
    /// The observable atoms: a trace file, a list of atoms (one per line), or a task
    #[arg(long, value_name = "FILE")]
    signature: Option<PathBuf>,
    /// Write the machine to a file (.form or .json)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Learn a machine without quantified atoms
    #[arg(long)]
    propositional: bool,
    /// The maximum number of states, accepting and rejecting ones not counted
    #[arg(long, value_name = "N", default_value_t = Limits::default().max_states, value_parser = input::whole::<usize>)]
    max_states: usize,
    /// The maximum number of parallel edges, a disjunction, from one state to another
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = input::at_most::<64>)]
    max_disjuncts: usize,
    /// Allow cycles
    #[arg(long)]
    cyclic: bool,
    /// Allow other literals beside a positive `forall`
    #[arg(long)]
    forall_anywhere: bool,
    /// Allow `once p(o)` and `exists X. once p(X)`: observed since the state was entered; not with --lifted
    #[arg(long, conflicts_with = "lifted")]
    once: bool,
    /// Allow `atleast N X. p(X)`, for N from 2 to K; not with --lifted
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = input::at_most::<64>, conflicts_with = "lifted")]
    counts: usize,
    /// Allow joins such as `exists X. (once key(X) and door(X))`; not with --lifted
    #[arg(long, conflicts_with = "lifted")]
    joins: bool,
    /// Every trace has objects of its own: edges name no object, and `forall` ranges over the objects of each trace
    ///
    /// Objects are told apart only within a trace, so that traces of different orders, patients or parcels count as the same.
    /// Edges have quantified atoms, so it does not go with --propositional, and neither with --once, --counts and --joins.
    #[arg(long, conflicts_with = "propositional")]
    lifted: bool,
    /// How many traces the machine may misjudge, duplicates counted: a number, a percentage, or `auto`
    ///
    /// The machine is the smallest that misjudges no more, and of its size one that misjudges fewest, proven. The output adds a table
    /// of states and misjudged traces and the suspects, line by line. `auto` chooses the row by description length.
    #[arg(long, value_name = "N|P%|auto", allow_hyphen_values = true)]
    tolerate: Option<Tolerance>,
    /// Learn from the other traces and say how well the machine judges this percentage of them, chosen by a fixed rule
    #[arg(long, value_name = "P%", value_parser = tolerance::parse_share)]
    holdout: Option<f64>,
    /// Learn K times from all but a K-th of the traces, and say how many of those kept back are judged rightly
    ///
    /// With --tolerate for each number of states of the table. --time-limit holds for each machine.
    #[arg(long, value_name = "K", value_parser = cross_validation::parse)]
    cross_validate: Option<usize>,
    /// The time limit, such as 500ms, 60s, 5m or 1h; seconds without a unit
    #[arg(long, value_name = "TIME", value_parser = input::duration)]
    time_limit: Option<Duration>,
    /// The limit on the work of the built-in solver, counted in looks at its limits, every few decisions and conflicts: stops at the same place on every computer
    #[arg(long, visible_alias = "conflict-limit", value_name = "N", value_parser = input::whole::<u64>)]
    work_limit: Option<u64>,
    /// The memory limit of the process, in MiB
    #[arg(long, value_name = "MIB", value_parser = input::whole::<u64>)]
    memory_limit: Option<u64>,
    /// The number of threads; the result does not depend on it
    #[arg(long, value_name = "N", value_parser = input::at_most::<256>)]
    threads: Option<usize>,
    /// The solver
    #[arg(long, value_enum, default_value_t = Solver::Sat)]
    solver: Solver,
    /// Write the problem with --max-states states for another solver, and learn nothing
    #[arg(long, value_enum)]
    export: Option<Export>,
    /// Name a few traces that force the number of states and every edge, and the effort per number of states
    #[arg(long)]
    explain: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Solver {
    /// The built-in search with the SAT solver CaDiCaL
    Sat,
    /// The answer set solver clingo, which must be installed
    Clingo,
    /// ILASP, the paper's learner, which must be installed
    Ilasp,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Export {
    /// An answer set program for clingo
    Asp,
    /// The paper's learning task for ILASP
    Ilasp,
}

pub fn run(args: &Args) -> Result<Answer> {
    if args.max_states == 0 {
        bail!("--max-states must be at least 1");
    }
    if args.json && args.output.as_deref() == Some(Path::new("-")) {
        bail!("--json and `-o -` both want standard output");
    }
    if args.explain && args.solver != Solver::Sat {
        bail!("--explain needs the built-in solver: remove --solver, or --explain");
    }
    if args.work_limit.is_some() && args.solver != Solver::Sat {
        bail!("--work-limit needs the built-in solver: remove --solver, or --work-limit");
    }
    if args.explain && args.export.is_some() {
        bail!("--explain is about a learnt machine, and --export learns none: remove one of them");
    }
    if args.tolerate.is_some() {
        if args.solver != Solver::Sat {
            bail!("--tolerate needs the built-in solver: remove --solver, or --tolerate");
        }
        if args.explain || args.export.is_some() {
            bail!("--tolerate goes neither with --explain nor with --export: both need all traces");
        }
    }
    if args.cross_validate.is_some() && (args.solver != Solver::Sat || args.export.is_some()) {
        bail!("--cross-validate needs the built-in solver, and does not go with --export");
    }
    if args.lifted && (args.solver != Solver::Sat || args.explain || args.export.is_some()) {
        bail!(
            "--lifted needs the built-in solver, and goes neither with --explain nor with --export"
        );
    }
    input::use_threads(args.threads)?;
    let signature = input::signature(args.signature.as_deref(), &args.traces)?.unwrap_or_default();
    // As they were written: lifted traces have others.
    let atoms = signature.len();
    let data = match args.lifted {
        true => lifted(&signature, &args.traces)?,
        false => {
            let mut data = Dataset::new(signature);
            for path in &args.traces {
                data.read(input::trace_file(path)?)?;
            }
            data
        }
    };
    let own = (data.traces().iter()).any(|(_, trace)| trace.own_signature().is_some());
    let as_lifted = Args {
        lifted: true,
        ..args.clone()
    };
    let (data, args) = match own {
        false => (data, args),
        true if args.solver != Solver::Sat || args.explain || args.export.is_some() => bail!(
            "traces with signatures of their own need the built-in solver, and go neither with --explain nor with --export"
        ),
        // The learner sees these traces as it sees lifted ones.
        true if args.once || args.joins || args.counts > 1 => {
            bail!("--once, --counts and --joins do not go with signatures of traces")
        }
        true => (owned(&data)?, &as_lifted),
    };
    let distinct = data.traces().len();
    let (data, held_out) = holdout::split(data, args.holdout.unwrap_or(0.0));
    if args.holdout.is_some() && held_out.is_empty() && distinct > 0 {
        bail!(
            "--holdout keeps none of the {distinct} distinct traces back: ask for a larger share"
        );
    }
    let options = Options {
        first_order: !args.propositional,
        max_disjuncts: args.max_disjuncts,
        cyclic: args.cyclic,
        forall_alone: !args.forall_anywhere,
        once: args.once,
        counts: args.counts,
        joins: args.joins,
        ..Options::default()
    };
    let limits = Limits {
        max_states: args.max_states,
        time: args.time_limit,
        work: args.work_limit,
        memory: args.memory_limit.map(|mib| mib.saturating_mul(1 << 20)),
        interrupt: Some(input::interrupt()?),
        progress: None,
    };
    let contradictions = data.contradictions();
    if let Some(first) = contradictions.first()
        && args.tolerate.is_none()
    {
        return report::contradiction(
            args,
            &data,
            (&options, &limits),
            (first, contradictions.len()),
        );
    }
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
        output::remark("there are no traces: the machine without edges is consistent with them");
    }
    hint::at_own_objects(args, &data);
    let mut result = learn(args, &data, &options, &limits)?;
    if args.holdout.is_some() {
        result.held_out = Some(holdout::judge(&data, &held_out, &result.outcome)?);
    }
    if let Some(folds) = args.cross_validate {
        let problem = (&data, &options, &limits);
        result.cross_validation = cross_validation::run(args, problem, folds, &result)?;
    }
    if args.lifted {
        result.outcome = result.outcome.unlifted()?;
    }
    let answer = report::print(args, &data, atoms, &result)?;
    if args.tolerate.is_none() && args.solver == Solver::Sat && !args.json {
        hint::give(args, &data, &options, &limits, &result)?;
    }
    Ok(answer)
}

/// Traces of which each has objects of its own, read piece by piece: their atoms together may be very many.
fn lifted(signature: &Signature, paths: &[PathBuf]) -> Result<Dataset> {
    let mut lifting = Lifting::new(signature);
    let mut origins = Vec::new();
    for (file, path) in paths.iter().enumerate() {
        let mut traces = input::trace_file(path)?;
        loop {
            let piece = traces.next_traces(signature)?;
            if piece.is_empty() {
                break;
            }
            for (line, trace) in piece {
                lifting.add(&trace);
                origins.push(Origin { file, line });
            }
        }
    }
    let lifted = lifting.finish()?;
    let mut data = Dataset::new(lifted.signature);
    for path in paths {
        data.add_file(&input::name(path));
    }
    for (origin, trace) in origins.into_iter().zip(lifted.traces) {
        data.add(origin, trace);
    }
    Ok(data)
}

/// Traces that bring signatures of their own, without the names of objects that are not in all of these.
fn owned(data: &Dataset) -> Result<Dataset> {
    let traces: Vec<Trace> = (data.traces().iter())
        .map(|(_, trace)| trace.clone())
        .collect();
    let lifted = lift(data.signature(), &traces, true)?;
    let mut owned = Dataset::new(lifted.signature);
    for name in data.files() {
        owned.add_file(name);
    }
    for (origin, number) in data.occurrences() {
        owned.add(origin, lifted.traces[number].clone());
    }
    Ok(owned)
}

/// The learner for a data set.
fn learner(args: &Args, data: &Dataset, options: &Options) -> Learner {
    match args.lifted {
        true => Learner::lifted(data.signature(), options),
        false => Learner::new(data.signature(), options),
    }
}

/// The result of learning, and the time it took.
struct Learning {
    outcome: LearnOutcome,
    rounds: Vec<Round>,
    time: Duration,
    explanation: Option<(Explanation, Duration)>,
    /// The table and the suspects, with a tolerance.
    tolerant: Option<TolerantOutcome>,
    /// How well the machine judges the traces that were kept back.
    held_out: Option<HeldOut>,
    /// How well machines judge traces that were kept back, for each number of states or for the answer alone.
    cross_validation: Vec<CrossValidated>,
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
        Solver::Sat if args.tolerate.is_some() => {
            return learn_tolerant(args, data, options, limits);
        }
        Solver::Sat => return learn_built_in(args, data, options, limits),
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
        tolerant: None,
        held_out: None,
        cross_validation: Vec::new(),
    })
}

fn learn_tolerant(
    args: &Args,
    data: &Dataset,
    options: &Options,
    limits: &Limits,
) -> Result<Learning> {
    let start = Instant::now();
    let tolerance = args.tolerate.unwrap_or(Tolerance::AtMost(0));
    let mut learner = learner(args, data, options);
    for ((_, trace), weight) in data.traces().iter().zip(tolerance::weights(data)) {
        learner.add_weighted(trace, weight);
    }
    let learnt = with_progress(limits, |limits| learner.learn_tolerant(tolerance, limits))?;
    Ok(Learning {
        outcome: learnt.outcome.clone(),
        rounds: learnt.rounds.clone(),
        time: start.elapsed(),
        explanation: None,
        tolerant: Some(learnt),
        held_out: None,
        cross_validation: Vec::new(),
    })
}

fn learn_built_in(
    args: &Args,
    data: &Dataset,
    options: &Options,
    limits: &Limits,
) -> Result<Learning> {
    let start = Instant::now();
    let mut learner = learner(args, data, options);
    for (_, trace) in data.traces() {
        learner.add(trace);
    }
    let outcome = with_progress(limits, |limits| learner.learn(limits))?;
    let time = start.elapsed();
    let mut explanation = None;
    if args.explain && matches!(outcome, LearnOutcome::Minimal(_)) {
        // One limit for both.
        let left = Limits {
            time: limits.time.map(|limit| limit.saturating_sub(time)),
            work: (limits.work).map(|limit| limit.saturating_sub(learner.work())),
            ..limits.clone()
        };
        explanation = Some((learner.explain(&left)?, start.elapsed() - time));
    }
    Ok(Learning {
        outcome,
        rounds: learner.rounds().to_vec(),
        time,
        explanation,
        tolerant: None,
        held_out: None,
        cross_validation: Vec::new(),
    })
}

/// A limit as JSON output names it.
fn stop_name(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Time => "time",
        StopReason::Work => "work",
        StopReason::States => "states",
        StopReason::Memory => "memory",
        StopReason::Interrupted => "interrupted",
    }
}
