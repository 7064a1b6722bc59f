//! A machine as a Mermaid state diagram, which many Markdown renderers draw.

use std::fmt::Write as _;

use super::{Role, formula_text, reward_text, role};
use crate::machine::machine::Machine;

/// The machine as a Mermaid `stateDiagram-v2`.
///
/// States have neutral identifiers and their names as labels, so no name can be a Mermaid keyword.
pub fn to_mermaid(machine: &Machine) -> String {
    let mut diagram = "stateDiagram-v2\n    direction LR\n".to_owned();
    diagram.push_str("    classDef accepting fill:#d9f2e0,stroke:#2f8f4e,color:#123d20\n");
    diagram.push_str("    classDef rejecting fill:#fbe0dc,stroke:#c0392b,color:#4d130c\n");
    for state in machine.state_ids() {
        let (i, name) = (state.index(), escaped(machine.state_name(state)));
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(diagram, "    state \"{name}\" as s{i}");
    }
    let _ = writeln!(diagram, "    [*] --> s{}", machine.initial().index());
    for edge in machine.edges() {
        let reward = reward_text(edge).map_or_else(String::new, |reward| format!(" / {reward}"));
        let label = escaped(&format!("{}{reward}", formula_text(edge)));
        let (from, to) = (edge.from.index(), edge.to.index());
        let _ = writeln!(diagram, "    s{from} --> s{to} : {label}");
    }
    for state in machine.state_ids() {
        let i = state.index();
        let class = match role(machine, state) {
            Role::Accept => "accepting",
            Role::Reject => "rejecting",
            Role::Initial | Role::Plain => continue,
        };
        let _ = writeln!(diagram, "    s{i} --> [*]\n    class s{i} {class}");
    }
    diagram
}

/// Mermaid reads labels as Markdown: an underscore at the border of a word would start or end emphasis, so it becomes a character
/// code, as do all special characters.
fn escaped(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let in_word = |i: Option<usize>| {
        i.and_then(|i| chars.get(i))
            .is_some_and(|c| c.is_alphanumeric())
    };
    let mut label = String::with_capacity(text.len());
    for (i, c) in chars.iter().enumerate() {
        let plain = match c {
            '_' => in_word(i.checked_sub(1)) && in_word(Some(i + 1)),
            '(' | ')' | ',' | '.' | ' ' | '/' | '-' => true,
            '∀' | '∃' | '¬' | '∧' | '∨' | '⊤' => true,
            c => c.is_alphanumeric(),
        };
        if plain {
            label.push(*c);
        } else {
            let _ = write!(label, "#{};", u32::from(*c));
        }
    }
    label
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn only_underscores_inside_words_stay() {
        assert_eq!(escaped("u_acc"), "u_acc");
        assert_eq!(escaped("_p_(a)"), "#95;p#95;(a)");
        assert_eq!(escaped("a:b;c"), "a#58;b#59;c");
    }
}
