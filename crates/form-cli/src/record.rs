//! `form record`: traces of random walks, to learn machines from.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::Result;
use flate2::Compression;
use flate2::write::GzEncoder;
use form_core::{Kind, trace_header};
use form_env::{RandomWalks, Task};

use crate::output::count;
use crate::world::TaskName;
use crate::{Answer, input, output};

/// Record traces of random walks in the worlds of a task
///
/// It records the same number of traces for each way in which an episode can end. Every episode has its own map, never a held-out
/// one. The exit code is 1 if there are too few traces of some kind; Ctrl-C stops early and keeps what was recorded.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  form record all-yellow -o traces.jsonl\n  form record examples/two_rooms.toml --each 5 --seed 3 -o own.jsonl"
)]
pub struct Args {
    /// A built-in task (see `form tasks`), or a task file that ends in .toml
    #[arg(value_parser = TaskName, hide_possible_values = true)]
    task: String,
    /// Traces of each kind: goal, incomplete, and dead-end where the task can fail
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = input::whole::<usize>)]
    each: usize,
    /// The seed of maps and walks
    #[arg(long, value_name = "S", default_value_t = 0, value_parser = input::whole::<u64>)]
    seed: u64,
    /// The maximum number of episodes
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = input::whole::<u64>)]
    episodes: u64,
    /// Write to a file, compressed if it ends in .gz
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub fn run(args: &Args) -> Result<Answer> {
    let interrupt = input::interrupt()?;
    let interrupted = || interrupt.load(Ordering::Relaxed);
    let task = Arc::new(Task::find(&args.task)?);
    let walks = RandomWalks {
        each: args.each,
        seed: args.seed,
        max_episodes: args.episodes,
    };
    let recorded = walks.record(&task, interrupted)?;
    let mut text = trace_header(task.signature(), task.step_mode()) + "\n";
    for trace in recorded.traces.values().flatten() {
        text += &trace.to_json(task.signature());
        text.push('\n');
    }
    let compressed = (args.output.as_deref())
        .and_then(Path::extension)
        .is_some_and(|extension| extension == "gz");
    if compressed {
        let mut file = GzEncoder::new(Vec::new(), Compression::default());
        file.write_all(text.as_bytes())?;
        output::write_bytes(args.output.as_deref(), &file.finish()?)?;
    } else {
        output::write(args.output.as_deref(), &text)?;
    }
    if let Some(path) = &args.output {
        let number = |kind| recorded.traces.get(&kind).map_or(0, Vec::len) as u64;
        let kinds = [Kind::Goal, Kind::DeadEnd, Kind::Incomplete].map(number);
        output::remark_traces(path, kinds, task.signature().len());
    }
    let mut answer = Answer::Yes;
    if interrupted() && !recorded.has(args.each) {
        output::remark("interrupted: the traces recorded until then are kept");
    }
    for (kind, traces) in &recorded.traces {
        if traces.len() >= args.each {
            continue;
        }
        let walked = count(recorded.episodes as usize, "episode");
        output::remark(&format!(
            "only {} of {} in {walked}",
            traces.len(),
            count(args.each, &format!("{kind} trace"))
        ));
        answer = Answer::No;
    }
    Ok(answer)
}
