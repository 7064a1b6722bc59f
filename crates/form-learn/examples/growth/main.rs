//! How the time to learn grows with the traces, with the objects of a colour, and with the sub-tasks in a row, up to where
//! it stops being practical.
//!
//! ```text
//! cargo run --release -p form-learn --example growth -- 20 book/src/images/learning_growth.svg
//! ```
//! prints the tables of `book/src/algorithms/learner.md`, with at most 20 seconds for a machine, and draws them. Without arguments it has
//! a tenth of a second for each, which is enough to see that it works, and draws nothing.

#![allow(clippy::print_stdout, reason = "the tables are its output")]

mod plot;
mod table;

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use form_core::Trace;
use form_learn::walks::Walks;
use form_learn::{Learner, Limits, Options, Outcome};

/// Random walks with each of these seeds; the median counts.
const SEEDS: [u64; 3] = [1, 2, 3];

/// The walks for a task, by their seed.
type Task = fn(u64) -> Walks;

/// What is measured together: a title, what is varied, and how the time grows for several tasks.
struct Study {
    title: &'static str,
    varied: &'static str,
    /// How much of it.
    sizes: Vec<usize>,
    series: Vec<Series>,
}

/// The growth for one task, as far as it was practical.
struct Series {
    task: &'static str,
    points: Vec<Point>,
}

/// The median time to learn a machine.
struct Point {
    /// None if it was not within the limit.
    time: Option<Duration>,
    /// The states learnt, or those proven necessary.
    states: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let limit = arguments.first().map_or("0.1", String::as_str);
    let limit = Duration::try_from_secs_f64(limit.parse()?)?;
    let studies = [traces(limit)?, objects(limit)?, chains(limit)?];
    for study in &studies {
        println!("{}", table::markdown(study, limit));
    }
    println!("{}", many_traces(limit)?);
    if let Some(path) = arguments.get(1) {
        plot::draw(&studies, limit, Path::new(path))?;
    }
    Ok(())
}

/// More and more traces of the same task, all kinds alike.
fn traces(limit: Duration) -> Result<Study, Box<dyn Error>> {
    let sizes = vec![10, 100, 1_000, 10_000];
    let tasks: [(_, Task); 3] = [
        ("AllYellow", Walks::all_yellow),
        ("GreenButOne-NoLava", Walks::green_but_one),
        ("Blue-AllYellow-7", Walks::blue_all_yellow_7),
    ];
    let mut series = Vec::new();
    for (task, walks) in tasks {
        series.push(grow(
            task,
            &sizes,
            &Options::default(),
            limit,
            |size, seed| {
                let walks = walks(seed).each(0);
                let kinds = walks.wanted.len();
                walks.each(size.div_ceil(kinds))
            },
        )?);
    }
    Ok(Study {
        title: "Traces",
        varied: "traces in all",
        sizes,
        series,
    })
}

/// More and more yellow checkpoints, 100 traces of each kind.
fn objects(limit: Duration) -> Result<Study, Box<dyn Error>> {
    let sizes = vec![2, 4, 8, 16];
    let propositional = Options {
        first_order: false,
        max_disjuncts: 2,
        ..Options::default()
    };
    let tasks: [(_, Task, _); 3] = [
        ("AllYellow", Walks::all_yellow, Options::default()),
        (
            "Blue-AllYellow-7",
            Walks::blue_all_yellow_7,
            Options::default(),
        ),
        ("AllYellow, propositional", Walks::all_yellow, propositional),
    ];
    let mut series = Vec::new();
    for (task, walks, options) in tasks {
        series.push(grow(task, &sizes, &options, limit, |size, seed| {
            let mut walks = walks(seed).each(100);
            // Two are there already; more follow the others, so that all keep their numbers.
            walks.objects.push(("yellow".to_owned(), size - 2));
            walks
        })?);
    }
    Ok(Study {
        title: "Objects of a colour",
        varied: "yellow checkpoints",
        sizes,
        series,
    })
}

/// More and more sub-tasks in a row, the goal counted, 100 traces of each kind.
fn chains(limit: Duration) -> Result<Study, Box<dyn Error>> {
    let sizes: Vec<usize> = (2..=8).collect();
    let options = Options::default();
    let chain = |size, seed| Walks::chain(size, seed).each(100);
    Ok(Study {
        title: "Sub-tasks in a row",
        varied: "sub-tasks",
        series: vec![grow("chain", &sizes, &options, limit, chain)?],
        sizes,
    })
}

/// Learns for one size after the other, until it is not practical any more.
fn grow(
    task: &'static str,
    sizes: &[usize],
    options: &Options,
    limit: Duration,
    walks: impl Fn(usize, u64) -> Walks,
) -> Result<Series, Box<dyn Error>> {
    let mut points = Vec::new();
    for size in sizes {
        let mut times = Vec::new();
        for seed in SEEDS {
            let walks = walks(*size, seed);
            times.push(learn(&walks, &walks.record()?, options, limit)?);
            // Most have failed already: so has the median.
            if times.iter().filter(|point| point.time.is_none()).count() > SEEDS.len() / 2 {
                break;
            }
        }
        times.sort_by_key(|point| point.time.unwrap_or(Duration::MAX));
        let point = times.swap_remove(times.len() / 2);
        let practical = point.time.is_some();
        points.push(point);
        if !practical {
            break;
        }
    }
    Ok(Series { task, points })
}

/// Learns from scratch: the traces are given to the learner, then every number of states is tried.
fn learn(
    walks: &Walks,
    traces: &[Trace],
    options: &Options,
    limit: Duration,
) -> Result<Point, Box<dyn Error>> {
    let start = Instant::now();
    let mut learner = Learner::new(&walks.signature()?, options);
    for trace in traces {
        learner.add(trace);
    }
    let limits = Limits {
        max_states: 20,
        time: Some(limit),
        ..Limits::default()
    };
    Ok(match learner.learn(&limits)? {
        Outcome::Minimal(learnt) => Point {
            time: Some(start.elapsed()),
            states: learnt.states,
        },
        Outcome::Stopped {
            at_least_states, ..
        } => Point {
            time: None,
            states: at_least_states,
        },
        Outcome::Contradictory(pairs) => return Err(format!("contradictions: {pairs:?}").into()),
    })
}

/// 10,000 traces of up to 100 observations of Blue-AllYellow-7: the time and the memory.
fn many_traces(limit: Duration) -> Result<String, Box<dyn Error>> {
    let mut walks = Walks::blue_all_yellow_7(1).each(5_000);
    walks.max_observations = Some(100);
    let traces = walks.record()?;
    let steps: usize = traces.iter().map(|trace| trace.steps().len()).sum();
    forget_peak_memory();
    let point = learn(&walks, &traces, &Options::default(), limit)?;
    let memory = peak_memory().map_or_else(
        || "unknown here".to_owned(),
        |bytes| format!("{} MiB", bytes >> 20),
    );
    Ok(format!(
        "Blue-AllYellow-7 from {} traces of at most 100 observations, {} in all: {}; peak memory, the traces themselves \
         included: {memory}.",
        table::grouped(traces.len()),
        table::grouped(steps),
        table::cell(&point, limit)
    ))
}

/// Starts counting the peak of the memory anew, where the system can (Linux).
fn forget_peak_memory() {
    // Elsewhere the peak is unknown anyway.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// The most memory the process used, in bytes, where the system tells (Linux).
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}
