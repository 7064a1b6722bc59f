//! The JSON form of a machine, formulae in canonical ASCII.
//!
//! Every string is first taken as a slice of the text, so that an error in a formula or a state's name has its place in the file.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::builder::{Draft, DraftEdge};
use super::machine::Machine;
use super::step_mode::StepMode;
use crate::error::{Fault, Parsed, Result, Span, place};
use crate::logic::identifier::Name;
use crate::logic::parse;

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
    edges: Vec<&'a RawValue>,
    #[serde(borrow)]
    steps: Option<&'a RawValue>,
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
        read(text).map_err(|fault| fault.located(text))
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
        let mut json = serde_json::json!({
            "name": self.name(),
            "states": self.states().iter().map(Name::as_str).collect::<Vec<_>>(),
            "initial": name(self.initial()),
            "accept": name(self.accept()),
            "reject": self.reject().map(name),
            "edges": edges,
        });
        if self.step_mode() == StepMode::All {
            json["steps"] = self.step_mode().as_str().into();
        }
        json.to_string()
    }
}

fn read(text: &str) -> Parsed<Machine> {
    let json: JsonMachine<'_> = object(text, "a machine")?;
    let string = |raw: &RawValue| string(raw, text);
    let edge = |raw: &&RawValue| {
        let start = place(text, raw.get()).start;
        let edge: JsonEdge<'_> =
            object(raw.get(), "an edge").map_err(|fault| fault.shifted(start))?;
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
        edges: json.edges.iter().map(edge).collect::<Parsed<_>>()?,
        step_mode: json.steps.map(|raw| step_mode(raw, text)).transpose()?,
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

/// A value that must be an object: serde would accept a list of the fields' values too.
fn object<'a, T: Deserialize<'a>>(text: &'a str, what: &str) -> Parsed<T> {
    let start = text.len() - text.trim_start().len();
    if !text[start..].starts_with('{') {
        let problem = format!("expected {what}, an object `{{…}}`");
        return Err(Fault::new(start..text.trim_end().len(), problem));
    }
    serde_json::from_str(text).map_err(|error| Fault::json(text.as_bytes(), &error))
}

fn string(raw: &RawValue, text: &str) -> Parsed<(String, Span)> {
    let at = place(text, raw.get());
    match serde_json::from_str(raw.get()) {
        Ok(string) => Ok((string, at)),
        Err(_) => Err(Fault::new(at, "expected a string")),
    }
}

fn step_mode(raw: &RawValue, text: &str) -> Parsed<StepMode> {
    let (word, at) = string(raw, text)?;
    word.parse()
        .map_err(|problem: String| Fault::new(at, problem))
}

fn formula(raw: &RawValue, text: &str) -> Parsed<crate::Formula> {
    let (content, at) = string(raw, text)?;
    parse::formula(&content).map_err(|fault| {
        // Without escapes the formula is a slice of the file, after the quotation mark.
        if at.len() == content.len() + 2 {
            fault.shifted(at.start + 1)
        } else {
            Fault { at, ..fault }
        }
    })
}

fn reward(raw: &RawValue, text: &str) -> Parsed<(f64, Span)> {
    let at = place(text, raw.get());
    match serde_json::from_str::<f64>(raw.get()) {
        // The standard library reads the nearest number; serde_json may be off by one in the last place.
        Ok(reward) => Ok((raw.get().parse().unwrap_or(reward), at)),
        Err(error) if error.is_syntax() => Err(Fault::new(at, "the edge's reward is out of range")),
        Err(_) => Err(Fault::new(at, "expected a number, the edge's reward")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_are_shown_at_their_place() {
        let start = "{\"initial\":\"ä\",\"accept\":\"u_acc\",\n";
        for (rest, place, problem) in [
            (r#""edges":[["ä","u_acc","a",1]]}"#, (2, 10), "an edge"),
            (r#""edges":["a"]}"#, (2, 10), "an edge"),
            (r#""edges":"ä -> b"}"#, (2, 9), "expected a list"),
            (
                r#""edges":[{"from":"ä","too":"b"}]}"#,
                (2, 22),
                "unknown field",
            ),
            (r#""edges":[{"from":"ä"}]}"#, (2, 21), "missing field"),
            (r#""name":"ä" "edges":[]}"#, (2, 12), "expected `,`"),
            (r#""initial":"b","edges":[]}"#, (2, 1), "duplicate field"),
            (r#""edges":["#, (2, 10), "the text ends"),
            (r#""edges":[]} {}"#, (2, 13), "nothing more"),
            (
                r#""edges":[{"from":"ä","to":"u_acc","formula":"a","reward":1e999}]}"#,
                (2, 58),
                "out of range",
            ),
        ] {
            let error = Machine::from_json(&format!("{start}{rest}")).unwrap_err();
            assert_eq!(error.position(), Some(place), "{rest}\n{error}");
            assert!(error.to_string().contains(problem), "{rest}\n{error}");
        }
        for text in ["", " ", "7", "[]", "\"a\"", "null"] {
            let error = Machine::from_json(text).unwrap_err();
            assert!(error.to_string().contains("expected a machine"), "{error}");
        }
    }
}
