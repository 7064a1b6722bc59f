//! `form learn --holdout`: traces that are kept back, and how well the learnt machine judges them.

use std::collections::HashMap;

use anyhow::Result;
use form_core::{Dataset, Origin, Trace};
use form_learn::LearnOutcome;
use serde_json::{Value, json};

use crate::output::count;

/// How well a machine judges the traces that were kept back.
pub struct HeldOut {
    pub traces: usize,
    /// The misjudged ones, by file and line; `None` without a machine.
    pub misjudged: Option<Vec<String>>,
}

/// Keeps a share of the distinct traces back, spread evenly over the files: the same traces in every call.
pub fn split(data: Dataset, share: f64) -> (Dataset, Vec<(Origin, Trace)>) {
    if share == 0.0 {
        return (data, Vec::new());
    }
    // The traces at which the share of those so far passes the next whole number.
    let so_far = |traces: usize| (share * traces as f64).floor() as usize;
    keep_back(&data, |i| so_far(i + 1) > so_far(i))
}

/// The data without the distinct traces of these numbers, and these.
pub fn keep_back(
    data: &Dataset,
    is_kept_back: impl Fn(usize) -> bool,
) -> (Dataset, Vec<(Origin, Trace)>) {
    let mut kept = Dataset::new(data.signature().clone());
    let files = 1
        + (data.traces().iter())
            .map(|(origin, _)| origin.file)
            .max()
            .unwrap_or(0);
    for file in 0..files {
        kept.add_file(data.file_name(Origin { file, line: 1 }));
    }
    let mut repetitions: HashMap<Origin, Vec<Origin>> = HashMap::new();
    for (first, again) in data.duplicates() {
        repetitions.entry(*first).or_default().push(*again);
    }
    let mut held_out = Vec::new();
    for (i, (origin, trace)) in data.traces().iter().enumerate() {
        if is_kept_back(i) {
            held_out.push((*origin, trace.clone()));
            continue;
        }
        kept.add(*origin, trace.clone());
        for again in repetitions.get(origin).into_iter().flatten() {
            kept.add(*again, trace.clone());
        }
    }
    (kept, held_out)
}

/// Replays the machine on the traces that were kept back.
pub fn judge(
    data: &Dataset,
    held_out: &[(Origin, Trace)],
    outcome: &LearnOutcome,
) -> Result<HeldOut> {
    let misjudged = match outcome.learnt() {
        None => None,
        Some(learnt) => {
            let machine = learnt.machine.bind(data.signature())?;
            let wrong =
                (held_out.iter()).filter(|(_, trace)| trace.disagreement(&machine).is_some());
            Some(
                wrong
                    .map(|(origin, _)| data.describe(*origin).to_string())
                    .collect(),
            )
        }
    };
    Ok(HeldOut {
        traces: held_out.len(),
        misjudged,
    })
}

impl HeldOut {
    /// As comments of a machine file.
    pub fn to_text(&self) -> String {
        let traces = count(self.traces, "distinct trace");
        match &self.misjudged {
            None => format!("# kept back: {traces}; there is no machine to judge them\n"),
            Some(wrong) => {
                let right = self.traces - wrong.len();
                let percent = 100.0 * right as f64 / self.traces.max(1) as f64;
                let mut text =
                    format!("# kept back: {traces}, {right} judged rightly ({percent:.1} %)\n");
                for place in wrong.iter().take(SHOWN) {
                    text += &format!("#   misjudged: {place}\n");
                }
                if wrong.len() > SHOWN {
                    text += &format!("#   … {} in all\n", wrong.len());
                }
                text
            }
        }
    }

    pub fn to_json(&self) -> Value {
        json!({ "traces": self.traces, "misjudged": self.misjudged })
    }
}

/// How many misjudged traces are listed.
const SHOWN: usize = 10;
