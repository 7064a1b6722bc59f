//! The output of `form learn --explain`: the traces that force the number of states and the edges, and the effort per number of
//! states.

use std::collections::HashSet;
use std::time::Duration;

use anyhow::Result;
use form_core::{AtomSet, BoundMachine, Dataset, Edge, Machine, Run};
use form_learn::{Criterion, Explanation, Learnt, Proof, Reason, Round, TracePrefix};
use serde_json::{Value, json};

use super::stop_name;
use crate::output::count;

/// The explanation as comments of a machine file.
pub fn to_text(
    data: &Dataset,
    learnt: &Learnt,
    explanation: &Explanation,
    time: Duration,
) -> Result<String> {
    let mut text = Text {
        data,
        learnt,
        bound: learnt.machine.bind(data.signature())?,
        shown: HashSet::new(),
        lines: Vec::new(),
    };
    let states = count(learnt.states, "state");
    text.line(0, "");
    let size = learnt.cost.size;
    text.line(
        0,
        format!("Forced by some traces: every machine with {states} and at most {size} edges and literals that is"),
    );
    text.line(
        0,
        "consistent with them has it, for some numbering of its states. Literals that are idle on the data are excluded.",
    );
    if learnt.states > 1 {
        text.line(0, "");
        match &explanation.states {
            None => text.line(0, format!("{states}: {NOT_REACHED}")),
            Some(proof) => {
                let claim = format!("{states}: no machine with fewer states is consistent with");
                text.proof(0, &claim, proof);
            }
        }
    }
    for (edge, reason) in learnt.machine.edges().iter().zip(&explanation.edges) {
        text.line(0, "");
        text.line(0, edge_text(&learnt.machine, edge));
        match reason {
            None => text.line(1, NOT_REACHED),
            Some(reason) => text.reason(edge, reason),
        }
    }
    let stopped = (explanation.stopped)
        .map(|reason| format!(", stopped by a limit: {}", stop_name(reason)))
        .unwrap_or_default();
    text.line(0, "");
    let milliseconds = time.as_secs_f64() * 1000.0;
    text.line(0, format!("explained in {milliseconds:.1} ms{stopped}"));
    Ok(text.lines.concat())
}

const NOT_REACHED: &str = "not explained: a limit was reached first";

/// `u0 -> u1 : forall X. yellow(X)`.
fn edge_text(machine: &Machine, edge: &Edge) -> String {
    let (from, to) = (machine.state_name(edge.from), machine.state_name(edge.to));
    format!("{from} -> {to} : {}", edge.formula)
}

/// The lines so far, and the traces whose observations they show.
struct Text<'a> {
    data: &'a Dataset,
    learnt: &'a Learnt,
    bound: BoundMachine,
    shown: HashSet<TracePrefix>,
    lines: Vec<String>,
}

impl Text<'_> {
    fn line(&mut self, depth: usize, line: impl AsRef<str>) {
        let line = format!("# {}{}", "  ".repeat(depth), line.as_ref());
        self.lines.push(format!("{}\n", line.trim_end()));
    }

    fn reason(&mut self, edge: &Edge, reason: &Reason) {
        let machine = &self.learnt.machine;
        let (from, to) = (machine.state_name(edge.from), machine.state_name(edge.to));
        if reason.criterion == Criterion::Size {
            return self.proof(1, "forced by", &reason.proof);
        }
        let what = match &reason.forced {
            None => "the edge",
            Some(core) => {
                let claim = if core.literals.atoms().next().is_none() {
                    format!("an edge from {from} to {to} is forced by")
                } else {
                    format!("with at least `{}` forced by", core.literals)
                };
                self.proof(1, &claim, &core.proof);
                if core.literals == edge.formula {
                    "the absence of further literals"
                } else {
                    "the rest"
                }
            }
        };
        let cost = self.learnt.cost;
        let ground = count(cost.ground, "literal");
        let (by, among) = match reason.criterion {
            Criterion::Size | Criterion::Ground => (
                "the fewest literals that name objects",
                format!("with at most {ground} that name objects"),
            ),
            Criterion::Negative => (
                "the fewest literals that name objects, then the fewest negations",
                format!(
                    "with at most {ground} that name objects and {}",
                    count(cost.negative, "negation")
                ),
            ),
            Criterion::Order => (
                "the fixed order",
                "that come no later in that order".to_owned(),
            ),
        };
        self.line(
            1,
            format!("{what} is a choice among machines of the same size, by {by}; another one has"),
        );
        if let Some(alternative) = &reason.alternative {
            self.difference(&alternative.machine);
        }
        let claim = format!("among machines {among}, the whole edge is forced by");
        self.proof(1, &claim, &reason.proof);
    }

    /// The edges of another machine that the learnt one does not have.
    fn difference(&mut self, other: &Machine) {
        let ours: Vec<String> = (self.learnt.machine.edges().iter())
            .map(|edge| edge_text(&self.learnt.machine, edge))
            .collect();
        for edge in other.edges() {
            let theirs = edge_text(other, edge);
            if !ours.contains(&theirs) {
                self.line(2, theirs);
            }
        }
    }

    fn proof(&mut self, depth: usize, claim: &str, proof: &Proof) {
        let traces = match proof.traces.len() {
            0 => "no trace at all".to_owned(),
            n => count(n, "trace"),
        };
        let perhaps = if proof.irreducible {
            ""
        } else {
            " (perhaps not all of them are needed)"
        };
        self.line(depth, format!("{claim} {traces}{perhaps}"));
        for prefix in &proof.traces {
            let place = self.place(prefix);
            if self.shown.insert(*prefix) {
                self.line(depth + 1, place);
                self.line(depth + 2, self.observations(prefix));
            } else {
                self.line(depth + 1, format!("{place} (above)"));
            }
        }
    }

    /// The file and line of a trace or prefix, and how it ended.
    fn place(&self, prefix: &TracePrefix) -> String {
        let place = self.data.describe(self.data.traces()[prefix.trace].0);
        if prefix.whole {
            format!("{place}, {}", prefix.kind)
        } else {
            let length = count(prefix.length, "observation");
            let length = if prefix.length == 1 {
                "observation".to_owned()
            } else {
                length
            };
            format!("the first {length} of {place}, after which the episode went on")
        }
    }

    /// The observations of a prefix, with the machine's state wherever it changes. Of many observations only those that matter:
    /// the first with a new relevant atom since the state was entered, and the last one.
    fn observations(&self, prefix: &TracePrefix) -> String {
        let machine = &self.learnt.machine;
        let steps = &self.data.traces()[prefix.trace].1.steps()[..prefix.length];
        let relevant = self.bound.relevant_atoms();
        let mut run = Run::new(&self.bound);
        let mut seen = AtomSet::new();
        let mut words: Vec<String> = Vec::new();
        for (i, step) in steps.iter().enumerate() {
            let news = step.intersection(&relevant).difference(&seen);
            let moved = run.step(&self.bound, step).edge.is_some();
            if moved {
                // The buffer starts after the observation that changed the state.
                seen.clear();
            } else {
                seen.union_with(step);
            }
            if steps.len() <= SHORT || moved || !news.is_empty() || i + 1 == steps.len() {
                let atoms = self.data.signature().texts(step);
                let mut word = match &atoms[..] {
                    [atom] => atom.clone(),
                    atoms => format!("{{{}}}", atoms.join(", ")),
                };
                if moved {
                    word += &format!(" -> {}", machine.state_name(run.state()));
                }
                words.push(word);
            } else if words.last().is_none_or(|word| word != "…") {
                words.push("…".to_owned());
            }
        }
        if words.is_empty() {
            return "no observation".to_owned();
        }
        words.join(", ")
    }
}

/// Prefixes up to this length are shown in full.
const SHORT: usize = 12;

/// The effort per number of states, as a table in comments.
pub fn rounds_to_text(rounds: &[Round], found: bool) -> String {
    let mut text =
        "#\n# states  counterexamples  solver calls  clauses  seconds  result\n".to_owned();
    for (i, round) in rounds.iter().enumerate() {
        let result = if round.refuted {
            "too few"
        } else if found && i + 1 == rounds.len() {
            "the smallest machine"
        } else {
            "not settled"
        };
        text += &format!(
            "# {:>6}  {:>15}  {:>12}  {:>7}  {:>7.3}  {result}\n",
            round.states,
            round.counterexamples,
            round.solver_calls,
            round.clauses,
            round.time.as_secs_f64(),
        );
    }
    text
}

/// The explanation as JSON.
pub fn to_json(
    data: &Dataset,
    learnt: &Learnt,
    explanation: &Explanation,
    time: Duration,
) -> Result<Value> {
    let proof = |proof: &Proof| {
        let traces = proof.traces.iter().map(|prefix| {
            json!({
                "trace": data.describe(data.traces()[prefix.trace].0).to_string(),
                "observations": prefix.length,
                "whole": prefix.whole,
                "kind": prefix.kind.as_str(),
            })
        });
        json!({ "traces": traces.collect::<Vec<_>>(), "irreducible": proof.irreducible })
    };
    let machine = &learnt.machine;
    let edges = machine.edges().iter().zip(&explanation.edges);
    let edges: Result<Vec<Value>> = edges
        .map(|(edge, reason)| {
            let alternative = reason
                .as_ref()
                .and_then(|reason| reason.alternative.as_ref());
            let alternative = alternative
                .map(|other| serde_json::from_str::<Value>(&other.machine.to_json()))
                .transpose()?;
            let core = reason.as_ref().and_then(|reason| reason.forced.as_ref());
            Ok(json!({
                "from": machine.state_name(edge.from),
                "to": machine.state_name(edge.to),
                "formula": edge.formula.to_string(),
                "level": reason.as_ref().map(|reason| criterion_name(reason.criterion)),
                "proof": reason.as_ref().map(|reason| proof(&reason.proof)),
                "core": core.map(|core| {
                    json!({ "literals": core.literals.to_string(), "proof": proof(&core.proof) })
                }),
                "alternative": alternative,
            }))
        })
        .collect();
    Ok(json!({
        "states": explanation.states.as_ref().map(proof),
        "edges": edges?,
        "stopped": explanation.stopped.map(stop_name),
        "seconds": time.as_secs_f64(),
    }))
}

fn criterion_name(criterion: Criterion) -> &'static str {
    match criterion {
        Criterion::Size => "size",
        Criterion::Ground => "ground",
        Criterion::Negative => "negative",
        Criterion::Order => "order",
    }
}
