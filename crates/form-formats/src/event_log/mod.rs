//! Event logs as traces: CSV with one event per row, and XES (IEEE 1849), the format of process mining.
//!
//! The events of one case, in the order of the file, are one trace. An event becomes the atom of its activity over its objects:
//! `Pack item`, with the object `order 17`, is `Pack_item(order_17)`. Where no columns of objects are named, an activity that is an atom
//! already, as `pack(o17)`, stays as it is. How a case ended is read from a column or attribute.

mod cases;
mod csv;
mod xes;

use form_core::{Error, GroundAtom, Kind};

pub use csv::read_csv_log;
pub use xes::read_xes_log;

/// Which columns of a CSV file, or attributes of a XES file, mean what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventLogOptions {
    /// The column with the case. In XES a case is a `<trace>`, and this its attribute with the name.
    pub case: String,
    /// The activity.
    pub activity: String,
    /// The objects of the event; empty values are left out. Without any, an activity such as `pack(o17)` has its objects.
    pub objects: Vec<String>,
    /// How the case ended: the last value that is not empty counts.
    pub outcome: Option<String>,
    /// The values of the outcome that mean `goal`.
    pub goal: Vec<String>,
    /// The values of the outcome that mean `dead-end`. All others mean `incomplete`.
    pub dead_end: Vec<String>,
}

/// The traces of an event log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventLog {
    /// For each case its name, kind and atoms, in the order of the first events.
    pub cases: Vec<(String, Kind, Vec<GroundAtom>)>,
    /// Remarks for the user: names that became the same, outcomes that are not listed.
    pub notes: Vec<String>,
}

impl EventLog {
    /// The log as a trace file: each trace with its case as `id`.
    pub fn to_jsonl(&self) -> String {
        let mut text = String::new();
        for (id, kind, atoms) in &self.cases {
            let steps: Vec<[String; 1]> = atoms.iter().map(|atom| [atom.to_string()]).collect();
            let line = serde_json::json!({ "id": id, "kind": kind.as_str(), "steps": steps });
            text += &line.to_string();
            text.push('\n');
        }
        text
    }
}

/// A mistake in a log, at a line and column.
fn fault(file: &str, (line, column): (usize, usize), problem: String) -> Error {
    Error::Json {
        file: file.to_owned(),
        line,
        column,
        problem,
    }
}

#[cfg(test)]
/// The options of the tests.
fn test_options() -> EventLogOptions {
    EventLogOptions {
        case: "case".to_owned(),
        activity: "activity".to_owned(),
        objects: vec!["order".to_owned()],
        outcome: Some("outcome".to_owned()),
        goal: vec!["ok".to_owned()],
        dead_end: vec!["lost".to_owned()],
    }
}
