//! `form traces`: the content of trace files.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Result;
use form_core::{ContradictionReason, Dataset, Kind};
use serde_json::json;

use crate::output::count;
use crate::{Answer, input, output};

/// Summarise trace files: numbers, signature, duplicates, contradictions
///
/// Traces contradict each other if the same observations end in different ways, or if one goes on where another was over. The exit
/// code is then 1.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  form traces examples/all_yellow.jsonl\n  form traces examples/all_yellow.jsonl --json"
)]
pub struct Args {
    /// Trace files (JSON Lines, .gz too)
    #[arg(required = true)]
    traces: Vec<PathBuf>,
    /// The observable atoms: a trace file, a list of atoms (one per line), or a task
    #[arg(long, value_name = "FILE")]
    signature: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<Answer> {
    let signature = input::signature(args.signature.as_deref(), &args.traces)?.unwrap_or_default();
    let mut data = Dataset::new(signature);
    for path in &args.traces {
        data.read(input::trace_file(path)?)?;
    }
    let contradictions = data.contradictions();
    let mut kinds: BTreeMap<Kind, usize> = BTreeMap::new();
    for (_, trace) in data.traces() {
        *kinds.entry(trace.kind()).or_default() += 1;
    }
    let of = |kind| kinds.get(&kind).copied().unwrap_or(0);
    let observations: usize = data
        .traces()
        .iter()
        .map(|(_, trace)| trace.steps().len())
        .sum();
    let longest = data
        .traces()
        .iter()
        .map(|(_, trace)| trace.steps().len())
        .max()
        .unwrap_or(0);
    if args.json {
        let pair = |a, b| (data.describe(a).to_string(), data.describe(b).to_string());
        output::print_json(&json!({
            "traces": data.traces().len(),
            "goal": of(Kind::Goal),
            "dead_end": of(Kind::DeadEnd),
            "incomplete": of(Kind::Incomplete),
            "observations": observations,
            "longest": longest,
            "signature": data.signature().atoms().iter().map(ToString::to_string).collect::<Vec<_>>(),
            "duplicates": data.duplicates().iter().map(|(a, b)| pair(*a, *b)).collect::<Vec<_>>(),
            "contradictions": contradictions.iter().map(|c| pair(c.first.0, c.second.0)).collect::<Vec<_>>(),
        }))?;
    } else {
        let mut text = format!(
            "{} ({} goal, {} dead-end, {} incomplete), {}, the longest has {longest}\n",
            count(data.traces().len(), "distinct trace"),
            of(Kind::Goal),
            of(Kind::DeadEnd),
            of(Kind::Incomplete),
            count(observations, "observation"),
        );
        text += &format!(
            "signature: {}\n",
            data.signature().describe(&data.signature().ids().collect())
        );
        if let Some((first, again)) = data.duplicates().first() {
            text += &format!(
                "{}, the first: {} repeats {}\n",
                count(data.duplicates().len(), "duplicate"),
                data.describe(*again),
                data.describe(*first)
            );
        }
        for c in &contradictions {
            let named = |(origin, kind): (form_core::Origin, Kind)| {
                format!("{} ({kind})", data.describe(origin))
            };
            let how = match c.reason {
                ContradictionReason::SameObservations => "the same observations, different kinds",
                ContradictionReason::GoesOn => "one goes on where the other was over",
                ContradictionReason::OverAtOnce => {
                    "the episode is over before the first observation"
                }
            };
            let which = if c.first == c.second {
                named(c.first)
            } else {
                format!("{} and {}", named(c.first), named(c.second))
            };
            text += &format!("contradiction: {which}: {how}\n");
        }
        output::print(&text)?;
    }
    Ok(if contradictions.is_empty() {
        Answer::Yes
    } else {
        Answer::No
    })
}
