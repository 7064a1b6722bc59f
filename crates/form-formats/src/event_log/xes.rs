//! Event logs in XES (IEEE 1849): a case is a `<trace>` of `<event>`s with attributes.

use std::collections::HashMap;

use form_core::Result;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event as Xml};

use super::cases::Cases;
use super::{EventLog, EventLogOptions, fault};

/// Reads a XES file; errors call the file `name`.
pub fn read_xes_log(name: &str, text: &[u8], options: &EventLogOptions) -> Result<EventLog> {
    let mut reader = Reader::from_reader(text);
    let mut cases = Cases::new(options);
    let mut depth: Vec<Element> = Vec::new();
    let (mut traces, mut buffer) = (0, Vec::new());
    loop {
        let at = reader.buffer_position() as usize;
        let located = |problem: String| {
            let before = &text[..at.min(text.len())];
            let start = before
                .iter()
                .rposition(|b| *b == b'\n')
                .map_or(0, |i| i + 1);
            let line = before.iter().filter(|b| **b == b'\n').count() + 1;
            fault(name, (line, at - start + 1), problem)
        };
        match reader.read_event_into(&mut buffer) {
            Err(error) => return Err(located(error.to_string())),
            Ok(Xml::Eof) if depth.is_empty() => break,
            Ok(Xml::Eof) => return Err(located("the file ends too early".to_owned())),
            Ok(Xml::Start(tag)) => {
                let element = Element::new(&tag);
                traces += usize::from(element.is("trace"));
                if let (Some(parent), Some(pair)) = (depth.last_mut(), attribute(&tag)) {
                    parent.attributes.extend(pair.map(Some).map_err(located)?);
                }
                depth.push(element);
            }
            Ok(Xml::Empty(tag)) => {
                if let (Some(parent), Some(pair)) = (depth.last_mut(), attribute(&tag)) {
                    parent.attributes.extend(pair.map(Some).map_err(located)?);
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
                    add_trace(&mut cases, options, case, &element).map_err(located)?;
                }
            }
            Ok(_) => {}
        }
        buffer.clear();
    }
    if traces == 0 {
        let problem = "there is no `<trace>`: is this a XES file?";
        return Err(fault(name, (1, 1), problem.to_owned()));
    }
    cases.finish(name)
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

/// Adds the events of a case, and how it ended if the case says so itself.
fn add_trace(
    cases: &mut Cases<'_>,
    options: &EventLogOptions,
    case: &str,
    trace: &Element,
) -> Result<(), String> {
    cases.case(case);
    let outcome = options.outcome.as_ref();
    for event in &trace.events {
        let value = |key: &String| event.get(key).map_or("", |value| value.trim());
        let objects: Vec<&str> = options.objects.iter().map(value).collect();
        cases.add(case, value(&options.activity), &objects, outcome.map(value))?;
    }
    if let Some(outcome) = outcome.and_then(|key| trace.attributes.get(key)) {
        cases.ended(case, outcome.trim());
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use form_core::Kind;

    use super::super::test_options as options;
    use super::*;

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
