//! Event logs as traces: CSV with one event per row, and XES (IEEE 1849), the format of process mining.
//!
//! The events of one case, in the order of the file, are one trace. An event becomes the atom of its activity over its objects:
//! `Pack item`, with the object `order 17`, is `Pack_item(order_17)`. Where no columns of objects are named, an activity that is an atom
//! already, as `pack(o17)`, stays as it is. How a case ended is read from a column or attribute.

use std::collections::{BTreeSet, HashMap};

use form_core::{Error, GroundAtom, Kind, Name, Result};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event as Xml};

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

/// Reads a CSV file with a header; errors call the file `name`.
pub fn read_csv_log(name: &str, text: &[u8], options: &EventLogOptions) -> Result<EventLog> {
    let mut reader = csv::ReaderBuilder::new().from_reader(text);
    let fault = |line: usize, problem: String| Error::Json {
        file: name.to_owned(),
        line,
        column: 1,
        problem,
    };
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
                fault(
                    1,
                    format!(
                        "no column is called `{wanted}`; there are {}",
                        known.join(", ")
                    ),
                )
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
    cases.finish().map_err(|problem| fault(1, problem))
}

/// The line of a record, from 1. The reader's own count is one too low after Windows line ends.
fn line_of(text: &[u8], position: Option<&csv::Position>) -> usize {
    let start = position.map_or(0, |position| position.byte() as usize);
    let start = start.min(text.len());
    // The record before may have left its line end, and blank lines follow it.
    let ends = (text[start..].iter()).take_while(|b| matches!(**b, b'\r' | b'\n'));
    let start = start + ends.count();
    1 + text[..start].iter().filter(|b| **b == b'\n').count()
}

/// What is wrong with a record, without the reader's place.
fn csv_problem(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::UnequalLengths {
            expected_len, len, ..
        } => format!("{len} fields, but the header has {expected_len}"),
        csv::ErrorKind::Utf8 { .. } => "not UTF-8 text".to_owned(),
        _ => error.to_string(),
    }
}

/// Reads a XES file; errors call the file `name`.
pub fn read_xes_log(name: &str, text: &[u8], options: &EventLogOptions) -> Result<EventLog> {
    let mut reader = Reader::from_reader(text);
    let mut cases = Cases::new(options);
    let mut depth: Vec<Element> = Vec::new();
    let (mut traces, mut buffer) = (0, Vec::new());
    loop {
        let at = reader.buffer_position() as usize;
        let fault = |problem: String| {
            let before = &text[..at.min(text.len())];
            let start = before
                .iter()
                .rposition(|b| *b == b'\n')
                .map_or(0, |i| i + 1);
            Error::Json {
                file: name.to_owned(),
                line: before.iter().filter(|b| **b == b'\n').count() + 1,
                column: at - start + 1,
                problem,
            }
        };
        match reader.read_event_into(&mut buffer) {
            Err(error) => return Err(fault(error.to_string())),
            Ok(Xml::Eof) if depth.is_empty() => break,
            Ok(Xml::Eof) => return Err(fault("the file ends too early".to_owned())),
            Ok(Xml::Start(tag)) => {
                let element = Element::new(&tag);
                traces += usize::from(element.is("trace"));
                if let (Some(parent), Some(pair)) = (depth.last_mut(), attribute(&tag)) {
                    parent.attributes.extend(pair.map(Some).map_err(fault)?);
                }
                depth.push(element);
            }
            Ok(Xml::Empty(tag)) => {
                if let (Some(parent), Some(pair)) = (depth.last_mut(), attribute(&tag)) {
                    parent.attributes.extend(pair.map(Some).map_err(fault)?);
                }
            }
            Ok(Xml::End(_)) => {
                let Some(element) = depth.pop() else { continue };
                if element.is("event")
                    && let Some(parent) = depth.last_mut().filter(|parent| parent.is("trace"))
                {
                    parent.events.push(element.attributes);
                } else if element.is("trace") {
                    let number = traces.to_string();
                    let case = element.attributes.get(&options.case).unwrap_or(&number);
                    cases.add_trace(case, &element).map_err(fault)?;
                }
            }
            Ok(_) => {}
        }
        buffer.clear();
    }
    if traces == 0 {
        return Err(Error::Json {
            file: name.to_owned(),
            line: 1,
            column: 1,
            problem: "there is no `<trace>`: is this a XES file?".to_owned(),
        });
    }
    cases.finish().map_err(|problem| Error::Json {
        file: name.to_owned(),
        line: 1,
        column: 1,
        problem,
    })
}

/// An open element of a XES file.
struct Element {
    name: String,
    attributes: HashMap<String, String>,
    /// The attributes of its events.
    events: Vec<HashMap<String, String>>,
}

impl Element {
    fn new(tag: &BytesStart<'_>) -> Self {
        Self {
            name: tag.local_name().as_ref().to_owned(),
            attributes: HashMap::new(),
            events: Vec::new(),
        }
    }

    fn is(&self, name: &str) -> bool {
        self.name == name
    }
}

/// The key and value of `<string key="concept:name" value="…"/>` and its like.
fn attribute(tag: &BytesStart<'_>) -> Option<Result<(String, String), String>> {
    let (mut key, mut value) = (None, None);
    for attribute in tag.attributes() {
        let attribute = match attribute {
            Ok(attribute) => attribute,
            Err(error) => return Some(Err(error.to_string())),
        };
        let text = match attribute.normalized_value(quick_xml::XmlVersion::Implicit1_0) {
            Ok(text) => text.into_owned(),
            Err(error) => return Some(Err(error.to_string())),
        };
        match attribute.key.as_ref() {
            "key" => key = Some(text),
            "value" => value = Some(text),
            _ => {}
        }
    }
    Some(Ok((key?, value?)))
}

/// The cases while they are read.
struct Cases<'a> {
    options: &'a EventLogOptions,
    numbers: HashMap<String, usize>,
    cases: Vec<(String, Vec<GroundAtom>, String)>,
    /// The names that were made from texts.
    names: HashMap<String, BTreeSet<String>>,
    /// Activities that look like atoms and are none, or have objects of their own, with their names.
    no_atoms: BTreeSet<(String, String)>,
}

impl<'a> Cases<'a> {
    fn new(options: &'a EventLogOptions) -> Self {
        Self {
            options,
            numbers: HashMap::new(),
            cases: Vec::new(),
            names: HashMap::new(),
            no_atoms: BTreeSet::new(),
        }
    }

    fn case(&mut self, name: &str) -> usize {
        let next = self.cases.len();
        let number = *self.numbers.entry(name.to_owned()).or_insert(next);
        if number == next {
            self.cases
                .push((name.to_owned(), Vec::new(), String::new()));
        }
        number
    }

    fn add(
        &mut self,
        case: &str,
        activity: &str,
        objects: &[&str],
        outcome: Option<&str>,
    ) -> Result<(), String> {
        let number = self.case(case);
        if activity.is_empty() {
            return Err(format!("the activity `{}` is empty", self.options.activity));
        }
        let atom = match written_atom(activity) {
            Some(atom) if self.options.objects.is_empty() => atom,
            _ => {
                let predicate = self.name(activity)?;
                if activity.contains('(') {
                    (self.no_atoms).insert((activity.to_owned(), predicate.to_string()));
                }
                let objects = (objects.iter())
                    .filter(|object| !object.is_empty())
                    .map(|object| self.name(object))
                    .collect::<Result<Vec<_>, String>>()?;
                GroundAtom::new(predicate, objects)
            }
        };
        self.cases[number].1.push(atom);
        if let Some(outcome) = outcome.filter(|outcome| !outcome.is_empty()) {
            outcome.clone_into(&mut self.cases[number].2);
        }
        Ok(())
    }

    fn add_trace(&mut self, case: &str, trace: &Element) -> Result<(), String> {
        let number = self.case(case);
        let options = self.options;
        let outcome = options.outcome.as_ref();
        for event in &trace.events {
            let value = |key: &String| event.get(key).map_or("", |value| value.trim());
            let objects: Vec<&str> = options.objects.iter().map(value).collect();
            self.add(case, value(&options.activity), &objects, outcome.map(value))?;
        }
        if let Some(outcome) = outcome.and_then(|key| trace.attributes.get(key)) {
            outcome.trim().clone_into(&mut self.cases[number].2);
        }
        Ok(())
    }

    /// A name of the language: other characters than letters, digits and `_` become `_`.
    fn name(&mut self, text: &str) -> Result<Name, String> {
        let word: String = (text.chars())
            .map(|c| if c.is_alphanumeric() { c } else { '_' })
            .collect();
        let name = Name::new(&word).or_else(|_| Name::new(&format!("{word}_")));
        let name = name.map_err(|error| error.to_string())?;
        (self.names.entry(name.to_string()).or_default()).insert(text.to_owned());
        Ok(name)
    }

    /// Refuses outcomes that no case has: none means `goal`, or one has another case of letters. Notes that none means `dead-end`.
    fn check_outcomes(&self) -> Result<Option<String>, String> {
        let found: BTreeSet<&str> = (self.cases.iter())
            .map(|(_, _, outcome)| outcome.as_str())
            .filter(|outcome| !outcome.is_empty())
            .collect();
        let quoted = |list: &mut dyn Iterator<Item = &str>| -> String {
            let quoted: Vec<String> = list.take(20).map(|one| format!("`{one}`")).collect();
            quoted.join(", ")
        };
        for (means_goal, wanted) in [(true, &self.options.goal), (false, &self.options.dead_end)] {
            if wanted.is_empty() || wanted.iter().any(|one| found.contains(one.as_str())) {
                continue;
            }
            let named = quoted(&mut wanted.iter().map(String::as_str));
            let mut like = (found.iter())
                .filter(|known| wanted.iter().any(|one| one.eq_ignore_ascii_case(known)));
            let what = if means_goal { "a goal" } else { "a dead end" };
            let problem = format!("no case has the outcome {named}, which is to mean {what}");
            return match like.next() {
                Some(like) => Err(format!("{problem}: is `{like}` meant?")),
                None if !means_goal => Ok(Some(problem)),
                None if found.is_empty() => Err(format!("{problem}; no case has any outcome")),
                None => Err(format!(
                    "{problem}; there are {}",
                    quoted(&mut found.into_iter())
                )),
            };
        }
        Ok(None)
    }

    fn finish(self) -> Result<EventLog, String> {
        let no_dead_end = self.check_outcomes()?;
        let mut notes: Vec<String> = (self.names.iter())
            .filter(|(_, texts)| texts.len() > 1)
            .map(|(name, texts)| {
                let texts: Vec<String> = texts.iter().map(|text| format!("`{text}`")).collect();
                format!("{} are all called `{name}`", texts.join(", "))
            })
            .collect();
        notes.sort();
        notes.extend(no_dead_end);
        let no_atoms = self.no_atoms.iter().take(10);
        notes.extend(no_atoms.map(|(activity, name)| {
            let why = match written_atom(activity) {
                Some(_) => "its objects are those of the named columns",
                None => "it is no atom",
            };
            format!("the activity `{activity}` is called `{name}`: {why}")
        }));
        let options = self.options;
        let mut others: BTreeSet<&String> = BTreeSet::new();
        let mut cases = Vec::new();
        for (name, atoms, outcome) in &self.cases {
            let kind = if options.goal.contains(outcome) {
                Kind::Goal
            } else if options.dead_end.contains(outcome) {
                Kind::DeadEnd
            } else {
                if !outcome.is_empty() {
                    others.insert(outcome);
                }
                Kind::Incomplete
            };
            cases.push((name.clone(), kind, atoms.clone()));
        }
        if options.outcome.is_none() {
            notes.push("no outcome is named: all traces are incomplete".to_owned());
        }
        if !others.is_empty() {
            let others: Vec<String> = (others.iter().take(10)).map(|o| format!("`{o}`")).collect();
            notes.push(format!(
                "incomplete, since neither goal nor dead end: {}",
                others.join(", ")
            ));
        }
        Ok(EventLog { cases, notes })
    }
}

/// The atom that an activity is, as `pack(o17)`, and not just a text with parentheses in it.
fn written_atom(activity: &str) -> Option<GroundAtom> {
    let atom = activity.parse::<GroundAtom>().ok()?;
    let dense = |text: &str| text.replace(", ", ",");
    (dense(&atom.to_string()) == dense(activity)).then_some(atom)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    fn options() -> EventLogOptions {
        EventLogOptions {
            case: "case".to_owned(),
            activity: "activity".to_owned(),
            objects: vec!["order".to_owned()],
            outcome: Some("outcome".to_owned()),
            goal: vec!["ok".to_owned()],
            dead_end: vec!["lost".to_owned()],
        }
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
    fn a_xes_log_becomes_traces() {
        let text = r#"<?xml version="1.0"?>
<log><string key="creator" value="x"/>
<trace><string key="case" value="A&amp;B"/><string key="outcome" value="ok"/>
 <event><string key="activity" value="pay"/><string key="order" value="o1"/><date key="time:timestamp" value="2020"/></event>
 <event><string key="activity" value="ship"/></event></trace>
<trace><event><string key="activity" value="pay"/></event></trace></log>"#;
        let log = read_xes_log("log.xes", text.as_bytes(), &options()).unwrap();
        let written: Vec<String> = (log.cases.iter())
            .map(|(id, kind, atoms)| format!("{id} {kind} {atoms:?}"))
            .collect();
        assert_eq!(log.cases[0].0, "A&B", "{written:?}");
        assert_eq!(log.cases[0].1, Kind::Goal);
        assert_eq!(log.cases[0].2[0].to_string(), "pay(o1)");
        assert_eq!(
            (log.cases[1].0.as_str(), log.cases[1].1),
            ("2", Kind::Incomplete)
        );
    }

    #[test]
    fn mistakes_have_a_place() {
        let csv = |text: &str| read_csv_log("l.csv", text.as_bytes(), &options()).unwrap_err();
        let missing = csv("case,order,outcome\n").to_string();
        assert!(missing.starts_with("l.csv:1:1: no column is called `activity`; there are case"));
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
        let xes = |text: &str| read_xes_log("l.xes", text.as_bytes(), &options()).unwrap_err();
        assert!(
            xes("<log></log>")
                .to_string()
                .contains("there is no `<trace>`")
        );
        assert!(xes("<log><trace>").to_string().contains("too early"));
        assert_eq!(xes("<log>\n<trace></log>").position().map(|p| p.0), Some(2));
    }
}
