//! How the time to learn a machine grows with the number of traces, of objects per colour, and of sub-tasks in a row, up to where
//! it stops being practical.
//!
//! ```text
//! cargo run --release -p form-paper --example learning_growth -- 20 book/src/images/learning_growth.svg
//! ```
//! prints the tables of `book/src/algorithms/learner.md`, with at most 20 seconds per machine, and draws them. Without arguments
//! the limit is a tenth of a second, enough to see that it works, and nothing is drawn.

#![allow(clippy::print_stdout, reason = "the tables are its output")]

mod plot;
mod table;

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use form_core::{Machine, Trace};
use form_env::{Colour, RandomWalks, Task};
use form_learn::{LearnOutcome, Learner, Limits, Options};

/// The seeds of the random walks; the median counts.
const SEEDS: [u64; 3] = [1, 2, 3];

/// The sub-tasks of a chain before the goal, repeated as needed: `exists`, `forall` and a numbered checkpoint in turn, never the
/// same colour twice in a row. The first three are those of Blue-AllYellow-7.
const CHAIN: [&str; 6] = [
    "exists X. blue(X)",
    "forall X. yellow(X)",
    "purple(o7)",
    "exists X. red(X)",
    "forall X. green(X)",
    "grey(o9)",
];

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

/// The median time to learn a machine.
struct Point {
    /// `None` if it exceeds the limit.
    time: Option<Duration>,
    /// The states learnt, or those proven necessary.
    states: usize,
}

/// A task, and how many of its traces to learn from.
struct Problem {
    task: Task,
    traces: usize,
    options: Options,
}

type Fallible<T> = Result<T, Box<dyn Error>>;

fn main() -> Fallible<()> {
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
fn traces(limit: Duration) -> Fallible<Study> {
    let sizes = vec![10, 100, 1_000, 10_000];
    let mut series = Vec::new();
    for (title, name) in [
        ("AllYellow", "all-yellow"),
        ("GreenButOne-NoLava", "green-but-one"),
        ("Blue-AllYellow-7", "blue-all-yellow-7"),
    ] {
        series.push(grow(title, &sizes, limit, |traces| {
            Ok(Problem {
                task: paper_task(name, 2)?,
                traces,
                options: Options::default(),
            })
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
fn objects(limit: Duration) -> Fallible<Study> {
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
        series.push(grow(title, &sizes, limit, |yellow| {
            Ok(Problem {
                task: paper_task(name, yellow)?,
                traces: 200,
                options: options.clone(),
            })
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
fn chains(limit: Duration) -> Fallible<Study> {
    let sizes: Vec<usize> = (2..=8).collect();
    let chain = |sub_tasks| {
        Ok(Problem {
            task: chain_task(sub_tasks)?,
            traces: 200,
            options: Options::default(),
        })
    };
    Ok(Study {
        title: "Sub-tasks in a row",
        varied: "sub-tasks",
        series: vec![grow("chain", &sizes, limit, chain)?],
        sizes,
    })
}

/// A task of the paper with this number of yellow checkpoints. They are numbered first, so the others get higher numbers.
fn paper_task(name: &str, yellow: usize) -> Fallible<Task> {
    let mut description = Task::builtin(name)?.description().clone();
    description.checkpoints.insert(Colour::Yellow, yellow);
    let machine = description.machine.to_string();
    let seventh = format!("purple(o{})", 7 + yellow - 2);
    description.machine = machine.replace("purple(o7)", &seventh).parse()?;
    if description.lava > 0 {
        // Few random walks survive 3,000 steps among lava.
        description.steps = 500;
    }
    Ok(Task::new(description)?)
}

/// A chain of sub-tasks in the paper's room, of which the last is the goal: four are Blue-AllYellow-7.
fn chain_task(sub_tasks: usize) -> Fallible<Task> {
    let before = sub_tasks.saturating_sub(1);
    let mut machine = Machine::builder(&format!("chain_{sub_tasks}"))
        .initial("u0")
        .accept("u_acc");
    for (i, formula) in CHAIN.iter().cycle().take(before).enumerate() {
        machine = machine.edge(&format!("u{i}"), &format!("u{}", i + 1), formula)?;
    }
    machine = machine.edge(&format!("u{before}"), "u_acc", "goal")?;
    let mut description = Task::builtin("blue-all-yellow-7")?.description().clone();
    description.name = format!("chain-{sub_tasks}");
    description.machine = machine.build()?;
    // Long chains are rarely completed by chance in 3,000 steps.
    description.steps = 10_000;
    Ok(Task::new(description)?)
}

/// Random walks, the same number of each kind that the task can end in.
fn record(problem: &Problem, seed: u64) -> Fallible<Vec<Trace>> {
    let can_fail = problem.task.truth().machine().reject().is_some();
    let each = problem.traces.div_ceil(2 + usize::from(can_fail));
    let walks = RandomWalks {
        each,
        seed,
        max_episodes: 10_000_000,
    };
    let recorded = walks.record(&Arc::new(problem.task.clone()), || false)?;
    if !recorded.has(each) {
        return Err(format!("too few traces of {}", problem.task.name()).into());
    }
    Ok(recorded.traces.into_values().flatten().collect())
}

/// Learns for one size after the other, until it is not practical any more.
fn grow(
    task: &'static str,
    sizes: &[usize],
    limit: Duration,
    problem: impl Fn(usize) -> Fallible<Problem>,
) -> Fallible<Series> {
    let mut points = Vec::new();
    for size in sizes {
        let problem = problem(*size)?;
        let mut times = Vec::new();
        for seed in SEEDS {
            times.push(learn(&problem, &record(&problem, seed)?, limit)?);
            // If most exceed the limit, so does the median.
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

/// Learns from scratch: adds the traces to a learner, which tries every number of states.
fn learn(problem: &Problem, traces: &[Trace], limit: Duration) -> Fallible<Point> {
    let start = Instant::now();
    let mut learner = Learner::new(problem.task.signature(), &problem.options);
    for trace in traces {
        learner.add(trace);
    }
    let limits = Limits {
        max_states: 20,
        time: Some(limit),
        ..Limits::default()
    };
    Ok(match learner.learn(&limits)? {
        LearnOutcome::Minimal(learnt) => Point {
            time: Some(start.elapsed()),
            states: learnt.states,
        },
        LearnOutcome::Stopped {
            at_least_states, ..
        } => Point {
            time: None,
            states: at_least_states,
        },
        LearnOutcome::Contradictory(pairs) => {
            return Err(format!("contradictions: {pairs:?}").into());
        }
    })
}

/// 10,000 traces of Blue-AllYellow-7: the time and the memory.
fn many_traces(limit: Duration) -> Fallible<String> {
    let problem = Problem {
        task: paper_task("blue-all-yellow-7", 2)?,
        traces: 10_000,
        options: Options::default(),
    };
    let traces = record(&problem, 1)?;
    let steps: usize = traces.iter().map(|trace| trace.steps().len()).sum();
    forget_peak_memory();
    let point = learn(&problem, &traces, limit)?;
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
