//! `form traces`: the content of trace files.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Result;
use form_core::{ContradictionReason, Dataset, Dropped, Kind, Signature, Trace};
use serde_json::json;

use crate::output::count;
use crate::{Answer, input, output};

/// Summarise trace files: numbers, signature, duplicates, dropped observations, contradictions
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
    let own = (data.traces().iter())
        .filter(|(_, trace)| trace.own_signature().is_some())
        .count();
    if args.json {
        let pair = |a, b| (data.describe(a).to_string(), data.describe(b).to_string());
        let dropped = data.dropped();
        output::print_json(&json!({
            "traces": data.traces().len(),
            "goal": of(Kind::Goal),
            "dead_end": of(Kind::DeadEnd),
            "incomplete": of(Kind::Incomplete),
            "observations": observations,
            "longest": longest,
            "signature": data.signature().atoms().iter().map(ToString::to_string).collect::<Vec<_>>(),
            "duplicates": data.duplicates().len(),
            "empty_dropped": dropped.empty,
            "repeated_dropped": dropped.repeated,
            "own_signatures": own,
            "contradictions": contradictions.iter().map(|c| pair(c.first.0, c.second.0)).collect::<Vec<_>>(),
        }))?;
    } else {
        let mut text = format!(
            "{}, {}, the longest has {longest}\n",
            output::count_kinds(
                [Kind::Goal, Kind::DeadEnd, Kind::Incomplete].map(|kind| of(kind) as u64),
                "distinct trace"
            ),
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
        let Dropped { empty, repeated } = data.dropped();
        if empty + repeated > 0 {
            text += &format!(
                "{} dropped: {empty} empty, {repeated} that repeat the one before\n",
                count((empty + repeated) as usize, "observation"),
            );
        }
        if own > 0 {
            text += &format!("{} with a signature of their own\n", count(own, "trace"));
        }
        for c in contradictions.iter().take(SHOWN) {
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
            let mut both = vec![c.first];
            both.extend((c.first != c.second).then_some(c.second));
            for (origin, kind) in both {
                if let Some(trace) = data.trace_of(origin) {
                    text += &format!("  {kind}: {}\n", in_words(trace, data.signature()));
                }
            }
        }
        if contradictions.len() > SHOWN {
            let more = contradictions.len() - SHOWN;
            text += &format!("and {}\n", count(more, "further contradiction"));
        }
        output::print(&text)?;
    }
    Ok(if contradictions.is_empty() {
        Answer::Yes
    } else {
        Answer::No
    })
}

/// How many contradictions are shown.
const SHOWN: usize = 20;

/// The observations that count, one after the other.
fn in_words(trace: &Trace, signature: &Signature) -> String {
    let steps: Vec<String> = (trace.steps().iter())
        .map(|step| signature.texts(step).join(" "))
        .collect();
    match steps.is_empty() {
        true => "no observation".to_owned(),
        false => steps.join("; "),
    }
}
