//! The JSON form of a machine, formulae in canonical ASCII.

use serde::{Deserialize, Serialize};

use super::machine::{Draft, DraftEdge, Machine, place_of_edge};
use crate::error::{Error, Result};
use crate::logic::atom::Name;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonMachine {
    #[serde(default = "unnamed")]
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    states: Option<Vec<String>>,
    initial: String,
    accept: String,
    #[serde(default)]
    reject: Option<String>,
    edges: Vec<JsonEdge>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonEdge {
    from: String,
    to: String,
    formula: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reward: Option<f64>,
}

fn unnamed() -> String {
    "machine".to_owned()
}

impl Machine {
    /// Reads the JSON form.
    pub fn from_json(text: &str) -> Result<Self> {
        let json: JsonMachine = serde_json::from_str(text).map_err(|error| json_error(&error))?;
        let placed = |name: String, place: &str| (name, place.to_owned());
        let mut edges = Vec::with_capacity(json.edges.len());
        for (i, edge) in json.edges.into_iter().enumerate() {
            let place = place_of_edge(i, &edge.from, &edge.to);
            let formula =
                (edge.formula.parse()).map_err(|error: Error| error.within(place.clone()))?;
            edges.push(DraftEdge {
                from: placed(edge.from, &place),
                to: placed(edge.to, &place),
                formula,
                reward: edge.reward.map(|reward| (reward, place)),
            });
        }
        let states = json.states.map(|names| {
            let place = |(i, name): (usize, String)| {
                let place = format!("state {} of \"states\"", i + 1);
                (name, place)
            };
            names.into_iter().enumerate().map(place).collect()
        });
        let draft = Draft {
            name: json.name,
            states,
            initial: Some(placed(json.initial, "\"initial\"")),
            accept: Some(placed(json.accept, "\"accept\"")),
            reject: json.reject.map(|name| placed(name, "\"reject\"")),
            edges,
        };
        draft
            .validate("the machine".to_owned())
            .map_err(|(place, problem)| Error::Machine { place, problem })
    }

    /// The JSON form, on one line.
    pub fn to_json(&self) -> String {
        let name = |state| self.state_name(state).to_owned();
        let json = JsonMachine {
            name: self.name().to_owned(),
            states: Some(self.states().iter().map(Name::to_string).collect()),
            initial: name(self.initial()),
            accept: name(self.accept()),
            reject: self.reject().map(name),
            edges: (self.edges().iter())
                .map(|edge| JsonEdge {
                    from: name(edge.from),
                    to: name(edge.to),
                    formula: edge.formula.to_string(),
                    reward: edge.reward,
                })
                .collect(),
        };
        serde_json::to_string(&json).expect("strings and finite numbers are always JSON")
    }
}

/// The error with its place; the file is named by whoever knows it.
pub(crate) fn json_error(error: &serde_json::Error) -> Error {
    let text = error.to_string();
    let problem = text
        .rsplit_once(" at line ")
        .map_or(text.as_str(), |(problem, _)| problem);
    Error::Json {
        file: String::new(),
        line: error.line(),
        column: error.column().max(1),
        problem: problem.to_owned(),
    }
}
