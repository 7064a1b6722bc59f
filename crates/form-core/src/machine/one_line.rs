//! A machine in one line, as it is typed in a shell: `never lava; exists X. blue(X); forall X. yellow(X); goal`.
//!
//! Parts are separated by `;`:
//! - a formula is the next link of a chain `u0 -> u1 -> … -> u_acc`;
//! - `never FORMULA` adds an edge to `u_rej` from every state, before its other edges;
//! - `steps all` makes every environment step an observation;
//! - `from -> to : formula [=> reward]` is an edge as in a `.form` file, between states of the chain or others.

use super::builder::{Draft, DraftEdge};
use super::form_file::edge;
use super::machine::Machine;
use crate::error::{Fault, Parsed, Result, Span, place};
use crate::logic::parse;

const INITIAL: &str = "u0";
const ACCEPT: &str = "u_acc";
const REJECT: &str = "u_rej";

impl Machine {
    /// Reads a machine that is written in one line: formulae separated by `;`, each the next step of a chain that ends in
    /// acceptance; `never FORMULA` rejects from every state; `u1 -> u0 : FORMULA` is a further edge.
    ///
    /// ```
    /// use form_core::Machine;
    /// let machine = Machine::from_line("never lava; exists X. green(X); goal")?;
    /// assert_eq!(machine.describe_size(), "2 states + accept + reject, 4 edges");
    /// # Ok::<(), form_core::Error>(())
    /// ```
    pub fn from_line(text: &str) -> Result<Self> {
        read(text).map_err(|fault| fault.located(text))
    }
}

fn read(text: &str) -> Parsed<Machine> {
    let mut never = Vec::new();
    let mut links = 0;
    let mut step_mode = None;
    let mut edges: Vec<DraftEdge<Span>> = Vec::new();
    for part in text.split(';') {
        let content = part.trim();
        let at = place(text, content);
        if content.is_empty() {
            let problem = "expected a formula, `never FORMULA` or an edge `from -> to : formula` between the `;`";
            return Err(Fault::new(place(text, part), problem));
        }
        if let Some(word) = content.strip_prefix("steps ") {
            let mode = word.trim().parse();
            step_mode = Some(mode.map_err(|problem: String| Fault::new(at, problem))?);
        } else if content.contains("->") || content.contains('→') {
            edges.push(edge(content, text)?);
        } else if let Some(rest) = content.strip_prefix("never ") {
            never.push((formula(rest, text)?, at));
        } else {
            let state = |number: usize| (format!("u{number}"), at.clone());
            edges.push(DraftEdge {
                from: state(links),
                // The last link is redirected below.
                to: state(links + 1),
                formula: formula(content, text)?,
                reward: None,
            });
            links += 1;
        }
    }
    let last = format!("u{links}");
    for edge in &mut edges {
        for state in [&mut edge.from, &mut edge.to] {
            if links > 0 && state.0 == last {
                ACCEPT.clone_into(&mut state.0);
            }
        }
    }
    let whole = place(text, text);
    let mut states = vec![INITIAL.to_owned()];
    for state in edges.iter().flat_map(|edge| [&edge.from.0, &edge.to.0]) {
        if ![ACCEPT, REJECT].contains(&state.as_str()) && !states.contains(state) {
            states.push(state.clone());
        }
    }
    let rejecting = never.iter().flat_map(|(formula, at)| {
        states.iter().map(|state| DraftEdge {
            from: (state.clone(), at.clone()),
            to: (REJECT.to_owned(), at.clone()),
            formula: formula.clone(),
            reward: None,
        })
    });
    let edges: Vec<DraftEdge<Span>> = rejecting.chain(edges).collect();
    let rejects = edges.iter().any(|edge| edge.to.0 == REJECT);
    if !edges.iter().any(|edge| edge.to.0 == ACCEPT) {
        let problem = "nothing leads to acceptance: add a formula, or an edge to `u_acc`";
        return Err(Fault::new(whole, problem));
    }
    let draft = Draft {
        name: "typed".to_owned(),
        initial: Some((INITIAL.to_owned(), whole.clone())),
        accept: Some((ACCEPT.to_owned(), whole.clone())),
        reject: rejects.then(|| (REJECT.to_owned(), whole.clone())),
        edges,
        step_mode,
        ..Draft::default()
    };
    let machine = draft.validate(whole);
    machine.map_err(|(at, problem)| Fault::new(at, problem))
}

fn formula(part: &str, text: &str) -> Parsed<crate::logic::formula::Formula> {
    let part = part.trim();
    parse::formula(part).map_err(|fault| fault.shifted(place(text, part).start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(line: &str) -> Machine {
        let lines = line.lines().map(str::trim).collect::<Vec<_>>().join("\n");
        lines.parse().unwrap()
    }

    #[test]
    fn lines_are_machines() {
        for (line, expected) in [
            ("goal", "machine typed\ninitial u0\naccept u_acc\nu0 -> u_acc : goal"),
            (
                "exists X. blue(X); forall X. yellow(X);goal",
                "machine typed\ninitial u0\naccept u_acc
                 u0 -> u1 : exists X. blue(X)\nu1 -> u2 : forall X. yellow(X)\nu2 -> u_acc : goal",
            ),
            (
                "a; never lava; u1 -> u0 : b; goal",
                "machine typed\ninitial u0\naccept u_acc\nreject u_rej\nu0 -> u_rej : lava\nu1 -> u_rej : lava
                 u0 -> u1 : a\nu1 -> u0 : b\nu1 -> u_acc : goal",
            ),
            (
                "u0 -> u_acc : goal => 0.5; u0 -> u_rej : lava",
                "machine typed\ninitial u0\naccept u_acc\nreject u_rej\nu0 -> u_acc : goal => 0.5\nu0 -> u_rej : lava",
            ),
        ] {
            assert_eq!(Machine::from_line(line).unwrap(), form(expected), "{line}");
        }
    }

    #[test]
    fn mistakes_are_shown_at_their_place() {
        for (line, column, problem) in [
            ("goal; blue(", 12, "expected"),
            ("goal;; a", 6, "expected a formula"),
            ("", 1, "expected a formula"),
            ("never lava", 1, "nothing leads to acceptance"),
            ("goal; u_acc -> u0 : a", 7, "outgoing"),
            ("never exists X. ; goal", 16, "expected"),
            ("u0 -> : a", 6, "expected the state"),
        ] {
            let error = Machine::from_line(line).unwrap_err();
            assert_eq!(error.position(), Some((1, column)), "{line}\n{error}");
            assert!(error.to_string().contains(problem), "{line}\n{error}");
        }
    }
}
