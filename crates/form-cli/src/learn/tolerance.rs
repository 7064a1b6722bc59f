//! `form learn --tolerate`: how many traces may be misjudged, the table of states and misjudged traces, and the suspects.

use std::collections::BTreeMap;
use std::path::PathBuf;

use form_core::{Dataset, Kind, Origin};
use form_learn::{Level, OtherSuspects, Suspect, TolerantOutcome};
use serde_json::{Value, json};

use crate::input;
use crate::output::{called, count};

/// The tolerance of one trace, as it is written.
const ONE: &str = "--tolerate 1";

/// Reads a percentage such as `20%`, between 0 and 100, as a share.
pub fn parse_share(text: &str) -> Result<f64, String> {
    let wanted = "expected a percentage between 0% and 100%, such as 20%";
    let percent = text.strip_suffix('%').ok_or(wanted)?;
    let percent: f64 = percent.trim().parse().map_err(|_| wanted)?;
    match percent > 0.0 && percent < 100.0 {
        true => Ok(percent / 100.0),
        false => Err(wanted.to_owned()),
    }
}

/// How often each distinct trace occurs.
pub fn weights(data: &Dataset) -> Vec<u64> {
    let mut weights = vec![0; data.traces().len()];
    for (_, number) in data.occurrences() {
        weights[number] += 1;
    }
    weights
}

/// One line of a file that the machine misjudges.
struct SuspectLine {
    origin: Origin,
    kind: Kind,
    expected: Kind,
    after: usize,
    observations: usize,
    /// What the trace is called in its file.
    id: Option<String>,
}

/// The suspects line by line, duplicates included. `files` are those of the data, to look up what traces are called.
fn suspects(data: &Dataset, suspects: &[Suspect], files: &[PathBuf]) -> Vec<SuspectLine> {
    let suspects: BTreeMap<usize, &Suspect> = suspects.iter().map(|one| (one.trace, one)).collect();
    let line = |(origin, number): (Origin, usize)| {
        let suspect = suspects.get(&number)?;
        let trace = &data.traces()[number].1;
        Some(SuspectLine {
            origin,
            kind: trace.kind(),
            expected: suspect.expected,
            after: suspect.after,
            observations: trace.steps().len(),
            id: None,
        })
    };
    let mut lines: Vec<SuspectLine> = data.occurrences().into_iter().filter_map(line).collect();
    let places = lines
        .iter()
        .map(|line| (data.file_name(line.origin), line.origin.line));
    let mut ids: BTreeMap<(String, usize), String> = input::trace_ids(files, places);
    for line in &mut lines {
        line.id = ids.remove(&(data.file_name(line.origin).to_owned(), line.origin.line));
    }
    lines
}

/// The lines that another machine of the same size misjudges and this one does not, and those for which it is the other way round.
fn instead(data: &Dataset, learnt: &TolerantOutcome) -> Option<(Vec<String>, Vec<String>)> {
    let OtherSuspects::Traces(others) = &learnt.others else {
        return None;
    };
    let only = |these: &[Suspect], those: &[Suspect]| -> Vec<String> {
        let is_in = |one: &Suspect| those.iter().any(|other| other.trace == one.trace);
        let these: Vec<Suspect> = these.iter().filter(|one| !is_in(one)).copied().collect();
        let lines = suspects(data, &these, &[]).into_iter();
        lines
            .map(|line| data.describe(line.origin).to_string())
            .collect()
    };
    let (mine, theirs) = (&learnt.suspects, others);
    Some((only(mine, theirs), only(theirs, mine)))
}

/// The table and the suspects, as comments of a machine file.
pub fn to_text(data: &Dataset, learnt: &TolerantOutcome, files: &[PathBuf]) -> String {
    if learnt.levels.is_empty() {
        // A limit was reached before anything was found.
        return String::new();
    }
    let auto = learnt.by_description();
    let mut text = match auto {
        true => {
            "#\n# states  misjudged traces and bits of the shortest description found\n".to_owned()
        }
        false => "#\n# states  fewest misjudged traces\n".to_owned(),
    };
    for level in &learnt.levels {
        text += &format!("# {:>6}  {}\n", level.states, level_text(level, auto));
    }
    if learnt.outcome.learnt().is_none() {
        return text;
    }
    if auto {
        text += "# chosen by description length: every state, edge and literal takes log2(2 atoms + states + 3) bits,\n\
                 # quantified atoms counted, too; m misjudged of n traces take log2(n choose m) + m, those beyond two thirds of n none more\n";
    }
    if let Some(warning) = learnt.warning(ONE) {
        text += &format!("# warning: {warning}\n");
    }
    let suspects = suspects(data, &learnt.suspects, files);
    text += &match suspects.len() {
        0 => "#\n# no suspects: every trace is judged as it says\n".to_owned(),
        number => format!("#\n# {}:\n", count(number, "suspect")),
    };
    for line in suspects {
        let place = data.describe(line.origin);
        let when = match line.after < line.observations {
            true => format!(
                " after {} of {}",
                line.after,
                count(line.observations, "observation")
            ),
            false => String::new(),
        };
        let id = called(line.id.as_deref());
        text += &format!(
            "#   {place}{id}: {}, expected {}{when}\n",
            line.kind, line.expected
        );
    }
    if let Some((mine, theirs)) = instead(data, learnt) {
        text += &format!(
            "# {} may be right and {} wrong just as well: another machine of this size says so\n",
            mine.join(", "),
            theirs.join(", ")
        );
    }
    text
}

/// What is known of one number of states. With description length, what a quick search found is called a bound.
fn level_text(level: &Level, auto: bool) -> String {
    let fewest = level.fewest_misjudged;
    match (level.bits, level.proven()) {
        (Some(bits), _) if level.shortest_proven => format!("{fewest}, {bits:.1} bits (proven)"),
        (Some(bits), _) => format!("{fewest}, at most {bits:.1} bits"),
        (None, _) if auto => "no shorter one found".to_owned(),
        (None, true) => format!("{fewest} (proven)"),
        (None, false) => format!(
            "at least {} (proven), at most {fewest} (found)",
            level.at_least
        ),
    }
}

/// `2 of 200 traces misjudged`.
pub fn misjudged(data: &Dataset, learnt: &TolerantOutcome) -> String {
    let all = data.traces().len() + data.duplicates().len();
    format!("{} of {} misjudged", learnt.misjudged, count(all, "trace"))
}

/// Adds what is asked for with a tolerance to the JSON output.
pub fn add_json(value: &mut Value, data: &Dataset, learnt: &TolerantOutcome, files: &[PathBuf]) {
    // Without a machine nothing is judged.
    value["misjudged"] = (learnt.outcome.learnt()).map(|_| learnt.misjudged).into();
    value["warning"] = learnt.warning(ONE).into();
    value["tolerated"] = learnt.tolerated.into();
    value["suspects"] = (suspects(data, &learnt.suspects, files).into_iter())
        .map(|line| {
            json!({
                "file": data.file_name(line.origin),
                "line": line.origin.line,
                "id": line.id,
                "kind": line.kind.as_str(),
                "expected": line.expected.as_str(),
                "after": line.after,
            })
        })
        .collect();
    // Nothing is known of others: null; others are not possible: an empty list.
    value["other_suspects"] = match &learnt.others {
        OtherSuspects::Unknown => Value::Null,
        OtherSuspects::None => json!([]),
        OtherSuspects::Traces(others) => (suspects(data, others, files).into_iter())
            .map(|line| json!({ "file": data.file_name(line.origin), "line": line.origin.line, "id": line.id }))
            .collect(),
    };
    value["levels"] = (learnt.levels.iter())
        .map(|level| {
            json!({
                "states": level.states,
                "fewest_misjudged": level.fewest_misjudged,
                "at_least": level.at_least,
                "proven": level.proven(),
                "bits": level.bits,
                "shortest_proven": level.bits.map(|_| level.shortest_proven),
            })
        })
        .collect();
}
