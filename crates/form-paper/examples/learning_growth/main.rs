//! How the time to learn a machine grows with the number of traces, of objects per colour, and of sub-tasks in a row, up to where
//! it stops being practical.
//!
//! ```text
//! cargo run --release -p form-paper --example learning_growth -- 20 book/src/images/learning_growth.svg
//! ```
//! prints the tables of `book/src/algorithms/learner.md`, five seeds with at most 20 seconds per machine, and draws them. Without
//! arguments it is one seed and a tenth of a second, enough to see that it works, and nothing is drawn.

#![allow(clippy::print_stdout, reason = "the tables are its output")]

mod plot;
mod table;

use std::error::Error;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use form_core::{Signature, Trace};
use form_env::{Colour, RandomWalks, Task};
use form_learn::{LearnOutcome, Learner, Limits, Options};
use form_paper::MachineFamily;

/// Short searches are repeated until they have taken this long together, since the processor's clock is coarse.
const MEASURED: Duration = Duration::from_millis(300);

/// How much is measured.
#[derive(Clone, Copy)]
struct Effort {
    /// The longest time for a machine.
    limit: Duration,
    /// How many sets of traces: median and worst of them are shown.
    seeds: usize,
}

/// What is varied, and how the time grows for several tasks.
struct Study {
    title: &'static str,
    varied: &'static str,
    /// The values of what is varied.
    sizes: Vec<usize>,
    series: Vec<Series>,
}

/// The growth for one task, as far as it is practical.
struct Series {
    task: &'static str,
    points: Vec<Point>,
}

/// The time to learn a machine: processor time of all threads, where the system reports it, else elapsed time.
struct Point {
    /// The median over the seeds; `None` if it exceeds the limit.
    time: Option<Duration>,
    /// The longest; `None` if it exceeds the limit.
    worst: Option<Duration>,
    /// The states learnt, or those proven necessary.
    states: usize,
}

/// Traces to learn from.
struct Problem {
    signature: Signature,
    traces: Vec<Trace>,
    options: Options,
}

type Fallible<T> = Result<T, Box<dyn Error>>;

fn main() -> Fallible<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let limit = arguments.first().map_or("0.1", String::as_str);
    let limit = Duration::try_from_secs_f64(limit.parse()?)?;
    let seeds = if arguments.is_empty() { 1 } else { 5 };
    let effort = Effort { limit, seeds };
    let studies = [traces(effort)?, objects(effort)?, states(effort)?];
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
fn traces(effort: Effort) -> Fallible<Study> {
    let sizes = vec![10, 100, 1_000, 10_000];
    let mut series = Vec::new();
    for (title, name) in [
        ("AllYellow", "all-yellow"),
        ("GreenButOne-NoLava", "green-but-one"),
        ("Blue-AllYellow-7", "blue-all-yellow-7"),
    ] {
        series.push(grow(title, &sizes, effort, |traces, seed| {
            record(&paper_task(name, 2)?, traces, &Options::default(), seed)
        })?);
    }
    Ok(Study {
        title: "Traces",
        varied: "traces in all",
        sizes,
        series,
    })
}

/// More and more yellow checkpoints, 100 traces of each kind.
fn objects(effort: Effort) -> Fallible<Study> {
    let sizes = vec![2, 4, 8, 16];
    let propositional = Options {
        first_order: false,
        max_disjuncts: 2,
        ..Options::default()
    };
    let mut series = Vec::new();
    for (title, name, options) in [
        ("AllYellow", "all-yellow", Options::default()),
        ("Blue-AllYellow-7", "blue-all-yellow-7", Options::default()),
        ("AllYellow, propositional", "all-yellow", propositional),
    ] {
        series.push(grow(title, &sizes, effort, |yellow, seed| {
            record(&paper_task(name, yellow)?, 200, &options, seed)
        })?);
    }
    Ok(Study {
        title: "Objects of a colour",
        varied: "yellow checkpoints",
        sizes,
        series,
    })
}

/// More and more states, 100 sampled traces of each kind.
fn states(effort: Effort) -> Fallible<Study> {
    let sizes: Vec<usize> = (4..=8).collect();
    let mut series = Vec::new();
    for family in MachineFamily::ALL {
        series.push(grow(family.as_str(), &sizes, effort, |states, seed| {
            Ok(Problem {
                signature: family.signature()?,
                traces: family.sample(states, 100, seed)?,
                options: Options {
                    cyclic: family == MachineFamily::Cycle,
                    ..Options::default()
                },
            })
        })?);
    }
    Ok(Study {
        title: "States",
        varied: "states",
        sizes,
        series,
    })
}

/// A task of the paper with this number of yellow checkpoints. They are numbered first, so the others get higher numbers.
fn paper_task(name: &str, yellow: usize) -> Fallible<Task> {
    let mut description = Task::builtin(name)?.description().clone();
    description
        .checkpoints
        .insert(Colour::Yellow, yellow.into());
    let machine = description.machine.to_string();
    let seventh = format!("purple(o{})", 7 + yellow - 2);
    description.machine = machine.replace("purple(o7)", &seventh).parse()?;
    if description.lava > 0 {
        // Few random walks survive 3,000 steps among lava.
        description.steps = 500;
    }
    Ok(Task::new(description)?)
}

/// Random walks, the same number of each kind that the task can end in.
fn record(task: &Task, traces: usize, options: &Options, seed: u64) -> Fallible<Problem> {
    let can_fail = task.truth().machine().reject().is_some();
    let each = traces.div_ceil(2 + usize::from(can_fail));
    let walks = RandomWalks {
        each,
        seed,
        max_episodes: 10_000_000,
    };
    let recorded = walks.record(&Arc::new(task.clone()), || false)?;
    if !recorded.has(each) {
        return Err(format!("too few traces of {}", task.name()).into());
    }
    Ok(Problem {
        signature: task.signature().clone(),
        traces: recorded.traces.into_values().flatten().collect(),
        options: options.clone(),
    })
}

/// Learns for one size after the other, until it is not practical any more.
fn grow(
    task: &'static str,
    sizes: &[usize],
    effort: Effort,
    problem: impl Fn(usize, u64) -> Fallible<Problem>,
) -> Fallible<Series> {
    let mut points = Vec::new();
    for size in sizes {
        let mut times = Vec::new();
        for seed in 1..=effort.seeds {
            times.push(learn(&problem(*size, seed as u64)?, effort.limit)?);
            // If most exceed the limit, so does the median.
            if times.iter().filter(|point| point.time.is_none()).count() > effort.seeds / 2 {
                break;
            }
        }
        times.sort_by_key(|point| point.time.unwrap_or(Duration::MAX));
        let worst = times.last().and_then(|point| point.time);
        // Seeds that were left out exceed the limit, too.
        let middle = (effort.seeds / 2).min(times.len() - 1);
        let point = Point {
            worst,
            ..times.swap_remove(middle)
        };
        let practical = point.time.is_some();
        points.push(point);
        if !practical {
            break;
        }
    }
    Ok(Series { task, points })
}

/// Learns from scratch: adds the traces to a learner, which tries every number of states.
fn learn(problem: &Problem, limit: Duration) -> Fallible<Point> {
    let limits = Limits {
        max_states: 20,
        time: Some(limit),
        ..Limits::default()
    };
    let start = used_time();
    let mut repeats = 0;
    loop {
        let mut learner = Learner::new(&problem.signature, &problem.options);
        for trace in &problem.traces {
            learner.add(trace);
        }
        let outcome = learner.learn(&limits)?;
        repeats += 1;
        let used = used_time().saturating_sub(start);
        let (time, states) = match outcome {
            LearnOutcome::Minimal(_) if used < MEASURED => continue,
            LearnOutcome::Minimal(learnt) => (Some(used / repeats), learnt.states),
            LearnOutcome::Stopped {
                at_least_states, ..
            } => (None, at_least_states),
            LearnOutcome::Contradictory(pairs) => {
                return Err(format!("contradictions: {pairs:?}").into());
            }
        };
        return Ok(Point {
            time,
            worst: time,
            states,
        });
    }
}

/// The processor time of all threads so far, where the system reports it (Linux, in hundredths of a second), else the time since
/// the first call.
fn used_time() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    let elapsed = START.get_or_init(Instant::now).elapsed();
    let processor = || {
        let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
        // The name of the program, in parentheses, may have spaces.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let [user, system] =
            [11, 12].map(|i| fields.get(i).and_then(|field| field.parse::<u64>().ok()));
        Some(Duration::from_millis(10 * (user? + system?)))
    };
    processor().unwrap_or(elapsed)
}

/// 10,000 traces of Blue-AllYellow-7: the time and the memory.
fn many_traces(limit: Duration) -> Fallible<String> {
    let task = paper_task("blue-all-yellow-7", 2)?;
    let problem = record(&task, 10_000, &Options::default(), 1)?;
    let traces = &problem.traces;
    let steps: usize = traces.iter().map(|trace| trace.steps().len()).sum();
    forget_peak_memory();
    let point = learn(&problem, limit)?;
    let memory = peak_memory().map_or_else(
        || "unknown here".to_owned(),
        |bytes| format!("{} MiB", bytes >> 20),
    );
    Ok(format!(
        "Blue-AllYellow-7 from {} traces, {} observations in all: {}; peak memory, the traces themselves included: {memory}.",
        table::grouped(traces.len()),
        table::grouped(steps),
        table::cell(&point, limit)
    ))
}

/// Resets the peak of the memory, where the system can (Linux).
fn forget_peak_memory() {
    // Elsewhere the peak is unknown anyway.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// The peak memory of the process in bytes, where the system reports it (Linux).
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = (status.lines()).find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}
