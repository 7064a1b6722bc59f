//! The JSON form of a machine, formulae in canonical ASCII.
//!
//! Every string is first taken as a slice of the text, so that an error in a formula or a state's name points at its
//! place in the file.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::machine::{Draft, DraftEdge, Machine};
use crate::error::{Fault, Result};
use crate::logic::atom::Name;
use crate::logic::parse;

type Span = std::ops::Range<usize>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonMachine<'a> {
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    states: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    initial: &'a RawValue,
    #[serde(borrow)]
    accept: &'a RawValue,
    #[serde(borrow)]
    reject: Option<&'a RawValue>,
    #[serde(borrow)]
    edges: Vec<JsonEdge<'a>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonEdge<'a> {
    #[serde(borrow)]
    from: &'a RawValue,
    #[serde(borrow)]
    to: &'a RawValue,
    #[serde(borrow)]
    formula: &'a RawValue,
    #[serde(borrow)]
    reward: Option<&'a RawValue>,
}

impl Machine {
    /// Reads the JSON form.
    pub fn from_json(text: &str) -> Result<Self> {
        let json: JsonMachine<'_> =
            serde_json::from_str(text).map_err(|error| json_fault(&error, text).located(text))?;
        read(&json, text).map_err(|fault| fault.located(text))
    }

    /// The JSON form, on one line.
    pub fn to_json(&self) -> String {
        let name = |state| self.state_name(state);
        let edges: Vec<serde_json::Value> = (self.edges().iter())
            .map(|edge| {
                let mut json = serde_json::json!({
                    "from": name(edge.from),
                    "to": name(edge.to),
                    "formula": edge.formula.to_string(),
                });
                if let Some(reward) = edge.reward {
                    json["reward"] = reward.into();
                }
                json
            })
            .collect();
        let json = serde_json::json!({
            "name": self.name(),
            "states": self.states().iter().map(Name::as_str).collect::<Vec<_>>(),
            "initial": name(self.initial()),
            "accept": name(self.accept()),
            "reject": self.reject().map(name),
            "edges": edges,
        });
        json.to_string()
    }
}

fn read(json: &JsonMachine<'_>, text: &str) -> std::result::Result<Machine, Fault> {
    let string = |raw: &RawValue| string(raw, text);
    let edge = |edge: &JsonEdge<'_>| {
        Ok(DraftEdge {
            from: string(edge.from)?,
            to: string(edge.to)?,
            formula: formula(edge.formula, text)?,
            reward: edge.reward.map(|raw| reward(raw, text)).transpose()?,
        })
    };
    let mut draft = Draft {
        states: (json.states.as_ref())
            .map(|names| names.iter().map(|raw| string(raw)).collect())
            .transpose()?,
        initial: Some(string(json.initial)?),
        accept: Some(string(json.accept)?),
        reject: json.reject.map(string).transpose()?,
        edges: json
            .edges
            .iter()
            .map(edge)
            .collect::<std::result::Result<_, Fault>>()?,
        ..Draft::default()
    };
    let mut whole = 0..1;
    if let Some(raw) = json.name {
        (draft.name, whole) = string(raw)?;
    }
    draft
        .validate(whole)
        .map_err(|(at, problem)| Fault::new(at, problem))
}

/// The place of a value that is a slice of the text.
fn place(raw: &RawValue, text: &str) -> Span {
    let start = raw.get().as_ptr() as usize - text.as_ptr() as usize;
    start..start + raw.get().len()
}

fn string(raw: &RawValue, text: &str) -> std::result::Result<(String, Span), Fault> {
    let at = place(raw, text);
    match serde_json::from_str(raw.get()) {
        Ok(string) => Ok((string, at)),
        Err(_) => Err(Fault::new(at, "expected a string")),
    }
}

fn formula(raw: &RawValue, text: &str) -> std::result::Result<crate::Formula, Fault> {
    let (content, at) = string(raw, text)?;
    parse::formula(&content).map_err(|fault| {
        // Without escapes the formula's text is that of the file, after the quotation mark.
        if at.len() == content.len() + 2 {
            fault.shifted(at.start + 1)
        } else {
            Fault { at, ..fault }
        }
    })
}

fn reward(raw: &RawValue, text: &str) -> std::result::Result<(f64, Span), Fault> {
    let at = place(raw, text);
    let is_number = serde_json::from_str::<f64>(raw.get()).is_ok();
    // The standard library reads the nearest number; serde_json's may be one off in the last place.
    match raw.get().parse() {
        Ok(reward) if is_number => Ok((reward, at)),
        _ => Err(Fault::new(at, "expected a number, the edge's reward")),
    }
}

/// What is wrong with the JSON itself. Its columns count bytes, ours characters.
fn json_fault(error: &serde_json::Error, text: &str) -> Fault {
    let message = error.to_string();
    let problem = message
        .rsplit_once(" at line ")
        .map_or(message.as_str(), |(problem, _)| problem);
    let at = if error.is_eof() {
        text.len()
    } else {
        let lines = text
            .split_inclusive('\n')
            .take(error.line().saturating_sub(1));
        let start: usize = lines.map(str::len).sum();
        start + error.column().saturating_sub(1)
    };
    Fault::new(at..at + 1, problem)
}
