//! `form record`: traces of random walks, to learn machines from.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use anyhow::Result;
use flate2::Compression;
use flate2::write::GzEncoder;
use form_core::{Kind, Recorder};
use form_env::{Actions, GridWorlds, Maps, Split, Stream, WorldOptions, Worlds, generator};
use rand::RngExt;
use serde_json::json;

use crate::output::count;
use crate::world::TaskName;
use crate::{Answer, input, output};

/// Record traces of random walks in the worlds of a task
///
/// So many of each way an episode can end. Every episode has its own map, never a held-out one. The exit code is 1 if the walks did
/// not end in every way often enough; Ctrl-C ends them early and keeps what was recorded.
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
    /// The most episodes to walk
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = input::whole::<u64>)]
    episodes: u64,
    /// Write to a file, compressed if it ends in .gz
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Worlds that are walked at once.
const WORLDS: usize = 64;

pub fn run(args: &Args) -> Result<Answer> {
    let interrupt = input::interrupt()?;
    let task = std::sync::Arc::new(form_env::Task::find(&args.task)?);
    let options = WorldOptions {
        actions: Actions::Moves,
        ..WorldOptions::default()
    };
    let maps = Maps::Fresh(Split::Training);
    let mut worlds = GridWorlds::new(task.clone(), maps, options, WORLDS, args.seed)?;
    let can_fail = task.truth().machine().reject().is_some();
    let mut found: BTreeMap<Kind, Vec<String>> = (Kind::ALL.into_iter())
        .filter(|kind| can_fail || *kind != Kind::DeadEnd)
        .map(|kind| (kind, Vec::new()))
        .collect();
    let mut random = generator(args.seed, Stream::Other(0));
    let mut recorders = vec![Recorder::new(); WORLDS];
    let mut actions = [0; WORLDS];
    let mut episodes = 0;
    let compressed = (args.output.as_deref())
        .and_then(Path::extension)
        .is_some_and(|extension| extension == "gz");
    let enough = |found: &BTreeMap<Kind, Vec<String>>| {
        found.values().all(|traces| traces.len() >= args.each)
    };
    while episodes < args.episodes && !enough(&found) && !interrupt.load(Ordering::Relaxed) {
        // What is true at the start of an episode belongs to its trace; what was observed already counts once.
        for (world, recorder) in recorders.iter_mut().enumerate() {
            recorder.observe(worlds.labels(world));
        }
        for action in &mut actions {
            *action = random.random_range(0..worlds.actions().len() as u8);
        }
        worlds.step(&actions)?;
        for (world, recorder) in recorders.iter_mut().enumerate() {
            recorder.observe(worlds.labels(world));
            let outcome = worlds.outcome(world);
            if !outcome.is_over() || episodes == args.episodes {
                continue;
            }
            episodes += 1;
            let trace = recorder.finish(outcome.kind());
            let traces = found.entry(outcome.kind()).or_default();
            if traces.len() < args.each {
                traces.push(trace.to_json(task.signature()));
            }
        }
        worlds.next_episodes()?;
    }
    let atoms = task.signature().atoms().iter();
    let declared: Vec<String> = atoms.map(ToString::to_string).collect();
    let mut text = json!({ "signature": declared }).to_string() + "\n";
    for trace in found.values().flatten() {
        text += trace;
        text.push('\n');
    }
    if compressed {
        let mut file = GzEncoder::new(Vec::new(), Compression::default());
        file.write_all(text.as_bytes())?;
        output::write_bytes(args.output.as_deref(), &file.finish()?)?;
    } else {
        output::write(args.output.as_deref(), &text)?;
    }
    let mut answer = Answer::Yes;
    if interrupt.load(Ordering::Relaxed) && !enough(&found) {
        output::remark("interrupted: what was recorded until then is kept");
    }
    for (kind, traces) in found.iter().filter(|(_, traces)| traces.len() < args.each) {
        let walked = count(episodes as usize, "episode");
        output::remark(&format!(
            "only {} of {} in {walked}",
            traces.len(),
            count(args.each, &format!("{kind} trace"))
        ));
        answer = Answer::No;
    }
    Ok(answer)
}
