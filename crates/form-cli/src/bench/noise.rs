//! The rows about traces of which some are wrong: the paper's tasks with flipped kinds, and an order log with one wrong line.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use form_core::{CompareOptions, Comparison, Kind, Observations, Signature, Trace, compare};
use form_env::{Random, Stream, Task, generator};
use form_learn::{LearnOutcome, Learner, Limits, Options, Tolerance};
use form_paper::thread_seconds;
use rand::RngExt;
use rand::seq::IndexedRandom;
use rayon::prelude::*;

use super::learn::problem;
use super::{Benchmark, Row, middle};
use crate::output;

/// The seeds of the walks and of the flipped kinds.
const SEEDS: std::ops::RangeInclusive<u64> = 1..=20;
/// The time limit of one problem, elapsed: enough for a minute of the processor on a busy computer.
const LIMIT: Duration = Duration::from_secs(300);

pub(super) const BENCHMARKS: [Benchmark; 22] = [
    row("noise.all-yellow.1"),
    row("noise.all-yellow.2"),
    row("noise.all-yellow.5"),
    row("noise.green-but-one.1"),
    row("noise.green-but-one.2"),
    row("noise.green-but-one.5"),
    row("noise.blue-all-yellow-7.1"),
    row("noise.blue-all-yellow-7.2"),
    row("noise.blue-all-yellow-7.5"),
    row("noise.all-yellow.0.auto"),
    row("noise.all-yellow.1.auto"),
    row("noise.all-yellow.2.auto"),
    row("noise.all-yellow.5.auto"),
    row("noise.green-but-one.0.auto"),
    row("noise.green-but-one.1.auto"),
    row("noise.green-but-one.2.auto"),
    row("noise.green-but-one.5.auto"),
    row("noise.blue-all-yellow-7.0.auto"),
    row("noise.blue-all-yellow-7.1.auto"),
    row("noise.blue-all-yellow-7.2.auto"),
    row("noise.blue-all-yellow-7.5.auto"),
    Benchmark {
        name: "noise.orders",
        measure: orders,
    },
];

const fn row(name: &'static str) -> Benchmark {
    Benchmark {
        name,
        measure: flipped,
    }
}

/// Processor seconds to learn a task's machine from traces of which a percentage has a wrong kind, `noise.TASK.PERCENT`: the median over the
/// seeds. With `.auto` behind it the tolerance is chosen by description length, else it is the number of wrong traces. The note tells how often the machine is that of the figure, and how often the suspects are exactly the flipped traces.
fn flipped(name: &str) -> Result<Row> {
    let mut parts = name.split('.').skip(1);
    let (Some(task), Some(percent)) = (parts.next(), parts.next()) else {
        bail!("`{name}` names no task and percentage")
    };
    let percent: usize = percent.parse()?;
    let auto = parts.next() == Some("auto");
    let task = Task::builtin(task)?;
    // One seed per core.
    let judged: Vec<Judged> = (SEEDS.into_par_iter())
        .map(|seed| judged(name, &task, percent, auto, seed))
        .collect::<Result<_>>()?;
    let count = |is: fn(&Judged) -> bool| judged.iter().filter(|one| is(one)).count();
    let (proven, figures) = (count(|one| one.proven), count(|one| one.figure));
    let exact = count(|one| one.exact);
    let seconds: Vec<f64> = judged.iter().map(|one| one.seconds).collect();
    let (seeds, slowest) = (seconds.len(), seconds.iter().copied().fold(0.0, f64::max));
    let quick = seconds.iter().filter(|taken| **taken <= 10.0).count();
    Ok(Row {
        note: Some(format!(
            "processor time, seeds side by side; of {seeds}: proven {proven}, the machine of the figure {figures}, exactly the wrong traces {exact}; slowest {slowest:.2} s, within 10 s {quick}"
        )),
        ..Row::new(name, middle(seconds), "s")
    })
}

/// What was learnt from the traces of one seed.
struct Judged {
    seconds: f64,
    proven: bool,
    /// Whether the machine is that of the figure.
    figure: bool,
    /// Whether the suspects are the flipped traces.
    exact: bool,
}

/// Learns from the traces of one seed.
fn judged(name: &str, task: &Task, percent: usize, auto: bool, seed: u64) -> Result<Judged> {
    let (signature, mut traces) = problem(name, seed)?;
    let mut random = generator(seed, Stream::Other(0));
    let number = (traces.len() * percent).div_ceil(100);
    let flipped = flip(&mut traces, number, &mut random);
    let (start, before) = (Instant::now(), thread_seconds());
    let mut learner = Learner::new(&signature, &Options::default());
    // The first line of each distinct trace.
    let mut lines: Vec<Vec<usize>> = Vec::new();
    let mut numbers: std::collections::HashMap<&Trace, usize> = std::collections::HashMap::new();
    for (line, trace) in traces.iter().enumerate() {
        match learner.add(trace) {
            Some(_) => {
                numbers.insert(trace, lines.len());
                lines.push(vec![line]);
            }
            None => lines[numbers[trace]].push(line),
        }
    }
    let limits = Limits {
        time: Some(LIMIT),
        ..Limits::default()
    };
    let tolerance = match auto {
        true => Tolerance::Auto,
        false => Tolerance::AtMost(number as u64),
    };
    let learnt = learner.learn_tolerant(tolerance, &limits)?;
    let seconds = match thread_seconds().zip(before) {
        Some((after, before)) => after - before,
        None => start.elapsed().as_secs_f64(),
    };
    let proven = matches!(learnt.outcome, LearnOutcome::Minimal(_));
    let suspects: BTreeSet<usize> = (learnt.suspects.iter())
        .flat_map(|suspect| lines[suspect.trace].iter().copied())
        .collect();
    let exact = suspects == flipped;
    let mut figure = false;
    if let Some(learnt) = learnt.outcome.learnt() {
        let options = CompareOptions {
            observations: Observations::Single,
            rewards: false,
            ..CompareOptions::default()
        };
        let bound = learnt.machine.bind(&signature)?;
        let same = compare(task.truth(), &bound, &options)?;
        figure = matches!(same, Comparison::Equivalent { .. });
    }
    let yes = |is: bool| if is { "yes" } else { "no" };
    output::remark(&format!(
        "{name}, seed {seed}: {seconds:.2} s; proven {}, the machine of the figure {}, exactly the wrong traces {}",
        yes(proven),
        yes(figure),
        yes(exact)
    ));
    Ok(Judged {
        seconds,
        proven,
        figure,
        exact,
    })
}

/// Gives this number of traces another kind; which ones.
fn flip(traces: &mut [Trace], number: usize, random: &mut Random) -> BTreeSet<usize> {
    let mut flipped = BTreeSet::new();
    // A kind that no trace has is none that a wrong label could name.
    let kinds: BTreeSet<Kind> = traces.iter().map(Trace::kind).collect();
    while flipped.len() < number {
        let i = random.random_range(0..traces.len());
        if !flipped.insert(i) {
            continue;
        }
        let others: Vec<Kind> = (kinds.iter().copied())
            .filter(|kind| *kind != traces[i].kind())
            .collect();
        if let Some(kind) = others.choose(random) {
            traces[i] = Trace::with_mode(traces[i].step_mode(), *kind, traces[i].steps().to_vec());
        }
    }
    flipped
}

/// Seconds to learn from the order log with one wrong line, beside the log without it.
fn orders(name: &str) -> Result<Row> {
    let (signature, mut traces) = order_log();
    let clean = learn(&signature, &traces, None)?;
    let middle_of_log = traces.len() / 2;
    let wrong = match traces[middle_of_log].kind() {
        Kind::Incomplete => Kind::Goal,
        _ => Kind::Incomplete,
    };
    traces[middle_of_log] = Trace::new(wrong, traces[middle_of_log].steps().to_vec());
    let noisy = learn(&signature, &traces, Some(Tolerance::AtMost(1)))?;
    Ok(Row {
        note: Some(format!(
            "without the wrong line {:.3} s: {:.1} times as long; the same machine: {}; misjudged {}",
            clean.0,
            noisy.0 / clean.0,
            clean.1 == noisy.1,
            noisy.2
        )),
        ..Row::new(name, noisy.0, "s")
    })
}

/// The median time of three runs, the machine, and how many traces it misjudges.
fn learn(
    signature: &Signature,
    traces: &[Trace],
    tolerance: Option<Tolerance>,
) -> Result<(f64, Option<String>, u64)> {
    let mut seconds = Vec::new();
    let (mut machine, mut misjudged) = (None, 0);
    for _ in 0..3 {
        let start = Instant::now();
        let mut learner = Learner::new(signature, &Options::default());
        for trace in traces {
            learner.add(trace);
        }
        let limits = Limits {
            time: Some(LIMIT),
            ..Limits::default()
        };
        let outcome = match tolerance {
            None => learner.learn(&limits)?,
            Some(tolerance) => {
                let learnt = learner.learn_tolerant(tolerance, &limits)?;
                misjudged = learnt.misjudged;
                learnt.outcome
            }
        };
        seconds.push(start.elapsed().as_secs_f64());
        machine = match outcome {
            LearnOutcome::Minimal(learnt) => Some(learnt.machine.to_string()),
            _ => None,
        };
    }
    Ok((middle(seconds), machine, misjudged))
}

/// The number of traces and of orders of the log.
const LINES: usize = 1500;
const ORDERS: usize = 9;

/// A log of 1,500 days with up to nine orders each: an order is created, paid, packed and shipped, or cancelled. A day is over with
/// the delivery once some order has been shipped, and fails if one is cancelled after it was packed.
pub(super) fn order_log() -> (Signature, Vec<Trace>) {
    let stages = ["created", "paid", "packed", "shipped", "cancelled"];
    // Five predicates of nine orders less one: 44 atoms.
    let atoms: Vec<String> = (stages.iter())
        .flat_map(|stage| (0..ORDERS).map(move |order| format!("{stage}(order{order})")))
        .filter(|atom| atom != "cancelled(order8)")
        .collect();
    let signature = Signature::parse(&atoms).expect("these are atoms");
    let mut random = generator(7, Stream::Other(0));
    let mut traces = Vec::new();
    for _ in 0..LINES {
        let mut next = [0; ORDERS];
        let (mut packed, mut steps, mut kind) = (false, Vec::new(), Kind::Incomplete);
        for _ in 0..random.random_range(3..30) {
            let order = random.random_range(0..ORDERS - 1);
            if next[order] > 3 {
                continue;
            }
            let cancelled = next[order] > 0 && random.random_range(0..12) == 0;
            let stage = if cancelled { 4 } else { next[order] };
            let atom = format!("{}(order{order})", stages[stage]);
            steps.push(
                signature
                    .observation([&atom])
                    .expect("it is in the signature"),
            );
            next[order] = if cancelled { 5 } else { next[order] + 1 };
            match stage {
                2 => packed = true,
                3 if packed => kind = Kind::Goal,
                4 if packed => kind = Kind::DeadEnd,
                _ => {}
            }
            if kind != Kind::Incomplete {
                break;
            }
        }
        traces.push(Trace::new(kind, steps));
    }
    (signature, traces)
}
