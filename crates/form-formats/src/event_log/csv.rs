//! Event logs in CSV: a header, then one event per row.

use form_core::Result;

use super::cases::Cases;
use super::{EventLog, EventLogOptions, fault};

/// Reads a CSV file with a header; errors call the file `name`.
pub fn read_csv_log(name: &str, text: &[u8], options: &EventLogOptions) -> Result<EventLog> {
    let mut reader = ::csv::ReaderBuilder::new().from_reader(text);
    let fault = |line: usize, problem: String| fault(name, (line, 1), problem);
    let headers = reader
        .headers()
        .map_err(|error| fault(1, csv_problem(&error)))?;
    let headers = headers.clone();
    let column = |wanted: &String| {
        headers
            .iter()
            .position(|header| header == wanted)
            .ok_or_else(|| {
                let known: Vec<&str> = headers.iter().collect();
                let known = known.join(", ");
                let problem = format!("no column is called `{wanted}`; there are {known}");
                // One column whose name looks like several.
                let other = [";", "\t", "|"].into_iter();
                let separator = other
                    .filter(|_| headers.len() == 1)
                    .find(|one| known.contains(one));
                let hint = match separator {
                    None => "",
                    Some("\t") => ": columns are separated by commas, and here by tabs",
                    Some(";") => ": columns are separated by commas, and here by `;`",
                    Some(_) => ": columns are separated by commas, and here by `|`",
                };
                fault(1, problem + hint)
            })
    };
    let (case, activity) = (column(&options.case)?, column(&options.activity)?);
    let objects = options
        .objects
        .iter()
        .map(column)
        .collect::<Result<Vec<_>>>()?;
    let outcome = options.outcome.as_ref().map(column).transpose()?;
    let mut cases = Cases::new(options);
    for record in reader.records() {
        let record =
            record.map_err(|error| fault(line_of(text, error.position()), csv_problem(&error)))?;
        let line = || line_of(text, record.position());
        let value = |column: usize| record.get(column).unwrap_or_default().trim();
        if value(case).is_empty() {
            return Err(fault(
                line(),
                format!("the column `{}` is empty", options.case),
            ));
        }
        let objects: Vec<&str> = objects.iter().map(|column| value(*column)).collect();
        cases
            .add(value(case), value(activity), &objects, outcome.map(value))
            .map_err(|problem| fault(line(), problem))?;
    }
    cases.finish(name)
}

/// The line of a record, from 1. The reader's own count is one too low after Windows line ends.
fn line_of(text: &[u8], position: Option<&::csv::Position>) -> usize {
    let start = position.map_or(0, |position| position.byte() as usize);
    let start = start.min(text.len());
    // The record before may have left its line end, and blank lines follow it.
    let ends = (text[start..].iter()).take_while(|b| matches!(**b, b'\r' | b'\n'));
    let start = start + ends.count();
    1 + text[..start].iter().filter(|b| **b == b'\n').count()
}

/// What is wrong with a record, without the reader's place.
fn csv_problem(error: &::csv::Error) -> String {
    match error.kind() {
        ::csv::ErrorKind::UnequalLengths {
            expected_len, len, ..
        } => format!("{len} fields, but the header has {expected_len}"),
        ::csv::ErrorKind::Utf8 { .. } => "not UTF-8 text".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::super::test_options as options;
    use super::*;

    #[test]
    fn a_csv_log_becomes_traces() {
        let text = "case,activity,order,outcome\n\
                    1,Pack item,order 17,\n2,pay,o2,\n1,\"ship, fast\",order 17,ok\n2,exists,,lost\n3,pay,o3,open\n";
        let log = read_csv_log("log.csv", text.as_bytes(), &options()).unwrap();
        let expected = "\
{\"id\":\"1\",\"kind\":\"goal\",\"steps\":[[\"Pack_item(order_17)\"],[\"ship__fast(order_17)\"]]}\n\
{\"id\":\"2\",\"kind\":\"dead-end\",\"steps\":[[\"pay(o2)\"],[\"exists_\"]]}\n\
{\"id\":\"3\",\"kind\":\"incomplete\",\"steps\":[[\"pay(o3)\"]]}\n";
        assert_eq!(log.to_jsonl(), expected);
        assert_eq!(
            log.notes,
            ["incomplete, since neither goal nor dead end: `open`"]
        );
    }

    #[test]
    fn mistakes_have_a_place() {
        let csv = |text: &str| read_csv_log("l.csv", text.as_bytes(), &options()).unwrap_err();
        let missing = csv("case,order,outcome\n").to_string();
        assert!(missing.starts_with("l.csv:1:1: no column is called `activity`; there are case"));
        let separator = csv("case;activity;order;outcome\n1;pay;o;\n").to_string();
        assert!(
            separator.ends_with("separated by commas, and here by `;`"),
            "{separator}"
        );
        let empty = csv("case,activity,order,outcome\n1,pay,o,\n1,,o,\n");
        assert_eq!(empty.position(), Some((3, 1)), "{empty}");
        let short = csv("case,activity,order,outcome\n1,pay\n");
        assert_eq!(short.position().map(|p| p.0), Some(2), "{short}");
        // With Windows line ends, a blank line and a quoted line break, lines are counted as editors count them.
        for (text, line) in [
            ("case,activity,order,outcome\r\n1,pay,o,\r\n1,,o,\r\n", 3),
            ("case,activity,order,outcome\r\n1,pay,o,\r\n1,pay\r\n", 3),
            (
                "case,activity,order,outcome\r\n\r\n1,\"a\r\nb\",o,\r\n,pay,o,\r\n",
                5,
            ),
        ] {
            let wrong = csv(text);
            assert_eq!(wrong.position(), Some((line, 1)), "{wrong}");
        }
        assert!(
            short
                .to_string()
                .ends_with("2 fields, but the header has 4"),
            "{short}"
        );
    }

    /// An activity that is an atom stays one, unless columns of objects are named; what only looks like one gets a name, and a note.
    #[test]
    fn activities_may_be_atoms() {
        let text =
            "case,activity,order\n1,red(o0),x\n1,\"at(o1, o2)\",x\n1,Pack (it),x\n1,goal,x\n";
        let without = EventLogOptions {
            objects: Vec::new(),
            outcome: None,
            goal: Vec::new(),
            dead_end: Vec::new(),
            ..options()
        };
        let log = read_csv_log("log.csv", text.as_bytes(), &without).unwrap();
        let steps = r#""steps":[["red(o0)"],["at(o1, o2)"],["Pack__it_"],["goal"]]"#;
        assert!(log.to_jsonl().contains(steps), "{}", log.to_jsonl());
        assert_eq!(
            log.notes[0],
            "the activity `Pack (it)` is called `Pack__it_`: it is no atom"
        );
        let with = EventLogOptions {
            objects: vec!["order".to_owned()],
            ..without
        };
        let log = read_csv_log("log.csv", text.as_bytes(), &with).unwrap();
        assert!(log.to_jsonl().contains("red_o0_(x)"), "{}", log.to_jsonl());
        let note = "the activity `red(o0)` is called `red_o0_`: its objects are those of the named columns";
        assert!(log.notes.iter().any(|one| one == note), "{:?}", log.notes);
    }

    #[test]
    fn outcomes_that_no_case_has_are_told() {
        let read = |goal: &str, dead_end: &str, end: &str| {
            let text = format!("case,activity,order,outcome\n1,pay,o1,{end}\n");
            let options = EventLogOptions {
                goal: vec![goal.to_owned()],
                dead_end: vec![dead_end.to_owned()],
                ..options()
            };
            let log = read_csv_log("log.csv", text.as_bytes(), &options);
            log.map(|log| log.notes).map_err(|error| error.to_string())
        };
        let error = |goal, dead_end, end| read(goal, dead_end, end).unwrap_err();
        let wrong_case = error("OK", "lost", "ok");
        assert!(
            wrong_case.contains("no case has the outcome `OK`"),
            "{wrong_case}"
        );
        assert!(wrong_case.contains("is `ok` meant?"), "{wrong_case}");
        assert!(error("ok", "OPEN", "open").contains("there are `open`"));
        assert!(error("ok", "lost", "").contains("no case has any outcome"));
        // A log without losses is no mistake.
        let notes = read("ok", "lost", "ok").unwrap();
        assert_eq!(
            notes,
            ["no case has the outcome `lost`, which is to mean a dead end"]
        );
        assert!(read("ok", "OK", "ok").is_err_and(|error| error.contains("`ok` meant")));
    }
}
