//! The meaning of a Toro Icarte machine as a machine of this project: terminal states become the accepting and the
//! rejecting state, and what the original runtime does with unmatched observations becomes edges.

use std::collections::{BTreeMap, BTreeSet};

use form_core::syntax::{Draft, DraftEdge, Fault, Parsed, Span};
use form_core::{Formula, StepMode};

use super::edges::{StateEdges, state_edges};
use super::source::{Source, SourceEdge};
use super::{ToroIcarteOptions, Unmatched};
use crate::Converted;

const ACCEPT: &str = "u_acc";
const REJECT: &str = "u_rej";

/// Injective: no number contains `_m`.
fn state_name(state: i64) -> String {
    let digits = state.unsigned_abs();
    if state < 0 {
        format!("u_m{digits}")
    } else {
        format!("u{digits}")
    }
}

pub(super) fn convert(source: &Source, options: &ToroIcarteOptions) -> Parsed<Converted> {
    let mut notes = Vec::new();
    let mut outgoing: BTreeMap<i64, Vec<&SourceEdge>> = BTreeMap::new();
    for edge in &source.edges {
        outgoing.entry(edge.from.0).or_default().push(edge);
    }
    let terminal = terminal_set(source, &outgoing)?;
    note_terminal_states(source, &terminal, &mut notes);

    let end = source.end..source.end;
    let mut draft: Draft<Span> = Draft {
        initial: Some((state_name(source.initial.0), source.initial.1.clone())),
        accept: Some((ACCEPT.to_owned(), end.clone())),
        ..Draft::default()
    };
    let (mut unmatched, mut every_step) = (Vec::new(), Vec::new());
    for (state, edges) in &outgoing {
        if terminal.contains(state) {
            continue;
        }
        let StateEdges { kept, dead_ends } = state_edges(edges);
        for edge in kept {
            let paid_loop = edge.is_self_loop() && edge.reward.0 != 0.0;
            if paid_loop || !edge.is_self_loop() && !edge.formula.has_positive_atom() {
                every_step.push(state_name(*state));
            }
            draft.edges.push(converted(edge, &terminal));
        }
        if options.unmatched == Unmatched::Reject && !dead_ends.is_empty() {
            let from = &edges[0].from;
            unmatched.push(state_name(*state));
            if !dead_ends.iter().all(Formula::has_positive_atom) {
                every_step.push(state_name(*state));
            }
            draft
                .edges
                .extend(dead_ends.into_iter().map(|formula| DraftEdge {
                    from: (state_name(from.0), from.1.clone()),
                    to: (REJECT.to_owned(), from.1.clone()),
                    formula,
                    reward: None,
                }));
        }
    }
    if draft.edges.iter().any(|edge| edge.to.0 == REJECT) {
        draft.reject = Some((REJECT.to_owned(), end.clone()));
    }
    if !draft.edges.iter().any(|edge| edge.to.0 == ACCEPT) {
        notes.push(format!(
            "no edge into a terminal state pays a positive reward: the accepting state `{ACCEPT}` cannot be reached"
        ));
    }
    if !unmatched.is_empty() {
        notes.push(format!(
            "in {} an observation that matches no formula ends the episode in the original runtime: edges to `{REJECT}` were \
             added for these; `form convert --undefined stay` leaves them out",
            listed(&unmatched)
        ));
    }
    if !every_step.is_empty() {
        draft.step_mode = Some(StepMode::All);
        notes.push(format!(
            "in {} a self-loop pays a reward, or an edge needs no atom: so the machine has `steps all`, every step counts",
            listed(&every_step)
        ));
    }
    let machine = (draft.validate(end)).map_err(|(at, problem)| Fault::new(at, problem))?;
    Ok(Converted { machine, notes })
}

/// The terminal states: those listed, or in the older generation those that go nowhere. State -1 belongs to the original runtime.
fn terminal_set(
    source: &Source,
    outgoing: &BTreeMap<i64, Vec<&SourceEdge>>,
) -> Parsed<BTreeSet<i64>> {
    let mut terminal = BTreeSet::new();
    for (state, at) in source.terminal.iter().flatten() {
        if *state == source.initial.0 {
            let problem = format!("state {state} is the initial state, it cannot be terminal too");
            return Err(Fault::new(at.clone(), problem));
        }
        terminal.insert(*state);
    }
    let ends = |state: i64| match outgoing.get(&state).map(Vec::as_slice) {
        None => source.terminal.is_none() || state == -1,
        Some([edge]) => {
            source.terminal.is_none() && edge.is_self_loop() && edge.formula == Formula::truth()
        }
        Some(_) => false,
    };
    let mentioned = source
        .edges
        .iter()
        .flat_map(|edge| [edge.from.0, edge.to.0]);
    terminal.extend(mentioned.filter(|state| *state != source.initial.0 && ends(*state)));
    Ok(terminal)
}

fn converted(edge: &SourceEdge, terminal: &BTreeSet<i64>) -> DraftEdge<Span> {
    let reward = edge.reward.0;
    let (to, default) = if !terminal.contains(&edge.to.0) {
        (state_name(edge.to.0), 0.0)
    } else if reward > 0.0 {
        (ACCEPT.to_owned(), 1.0)
    } else {
        (REJECT.to_owned(), 0.0)
    };
    DraftEdge {
        from: (state_name(edge.from.0), edge.from.1.clone()),
        to: (to, edge.to.1.clone()),
        formula: edge.formula.clone(),
        reward: (reward != default).then(|| edge.reward.clone()),
    }
}

/// Says which terminal states were split, and which edges cannot matter.
fn note_terminal_states(source: &Source, terminal: &BTreeSet<i64>, notes: &mut Vec<String>) {
    let (mut positive, mut other, mut idle) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let (mut pairs, mut repeated) = (BTreeSet::new(), BTreeSet::new());
    for edge in &source.edges {
        if terminal.contains(&edge.from.0) {
            if !edge.is_self_loop() || edge.reward.0 != 0.0 {
                idle.insert(edge.from.0);
            }
            continue;
        }
        if terminal.contains(&edge.to.0) {
            let side = if edge.reward.0 > 0.0 {
                &mut positive
            } else {
                &mut other
            };
            side.insert(edge.to.0);
        }
        if !pairs.insert((edge.from.0, edge.to.0)) {
            repeated.insert(edge.from.0);
        }
    }
    let names =
        |states: &mut dyn Iterator<Item = i64>| listed(&states.map(state_name).collect::<Vec<_>>());
    if positive.intersection(&other).next().is_some() {
        notes.push(format!(
            "{} is reached with and without a positive reward: split into `{ACCEPT}` and `{REJECT}`",
            names(&mut positive.intersection(&other).copied())
        ));
    }
    if !idle.is_empty() {
        notes.push(format!(
            "edges out of terminal states were left out: {}",
            names(&mut idle.into_iter())
        ));
    }
    if !repeated.is_empty() {
        notes.push(format!(
            "{} has several edges to one state: all are kept, the original runtime keeps the last",
            names(&mut repeated.into_iter())
        ));
    }
}

/// A list of names for a message, cut short.
fn listed(names: &[String]) -> String {
    let mut unique = names.to_vec();
    unique.dedup();
    let more = if unique.len() > 8 { ", …" } else { "" };
    unique.truncate(8);
    format!("`{}`{more}", unique.join("`, `"))
}
