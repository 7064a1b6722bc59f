//! A machine for Graphviz.

use std::fmt::Write as _;

use super::{Role, formula_text, reward_text, role, wrapped};
use crate::machine::machine::Machine;

/// Columns of a label before it is broken.
const LABEL_WIDTH: usize = 28;

/// The machine in Graphviz's language, left to right.
pub fn to_dot(machine: &Machine) -> String {
    let mut dot = format!("digraph {} {{\n", quoted(machine.name()));
    dot.push_str("    rankdir=LR;\n");
    dot.push_str("    node [shape=circle, fontname=\"Helvetica\"];\n");
    dot.push_str("    edge [fontname=\"Helvetica\", fontsize=11];\n");
    dot.push_str("    start [shape=point];\n");
    for state in machine.state_ids() {
        let style = match role(machine, state) {
            Role::Accept => ", shape=doublecircle, color=\"#2f8f4e\"",
            Role::Reject => ", shape=doublecircle, color=\"#c0392b\"",
            Role::Initial | Role::Plain => "",
        };
        let (i, name) = (state.index(), quoted(machine.state_name(state)));
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(dot, "    s{i} [label={name}{style}];");
    }
    let _ = writeln!(dot, "    start -> s{};", machine.initial().index());
    for edge in machine.edges() {
        let mut lines = wrapped(&formula_text(edge), LABEL_WIDTH);
        lines.extend(reward_text(edge));
        let (from, to) = (edge.from.index(), edge.to.index());
        let label = quoted(&lines.join("\n"));
        let _ = writeln!(dot, "    s{from} -> s{to} [label={label}];");
    }
    dot.push_str("}\n");
    dot
}

fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", escaped.replace('\n', "\\n"))
}
