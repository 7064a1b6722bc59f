//! Drawings of machines: text, Graphviz, Mermaid and SVG.
//!
//! All use the paper's notation for formulae, and equal machines have equal drawings.

mod columns;
mod curve;
pub(crate) mod dot;
mod geometry;
mod label;
mod layered;
mod layout;
pub(crate) mod mermaid;
pub(crate) mod svg;
pub(crate) mod text;

use super::machine::{Edge, Machine, StateId};
use crate::logic::print::Notation;

/// The role of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Initial,
    Accept,
    Reject,
    Plain,
}

fn role(machine: &Machine, state: StateId) -> Role {
    if state == machine.initial() {
        Role::Initial
    } else if state == machine.accept() {
        Role::Accept
    } else if Some(state) == machine.reject() {
        Role::Reject
    } else {
        Role::Plain
    }
}

/// The edge's formula in the paper's notation.
fn formula_text(edge: &Edge) -> String {
    edge.formula.display(Notation::Unicode).to_string()
}

/// `reward 0.5`, for an edge that states one.
fn reward_text(edge: &Edge) -> Option<String> {
    edge.reward.map(|reward| format!("reward {reward}"))
}

/// Breaks a formula before its connectives into lines of at most `width` columns, if possible. It is broken inside parentheses
/// only where an operand alone is too wide.
fn wrapped(formula: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    let mut used = 0;
    for (piece, wide) in pieces(formula, width) {
        if used > 0 && used + 1 + wide > width {
            lines.push(String::new());
            used = 0;
        }
        if let Some(line) = lines.last_mut() {
            if used > 0 {
                line.push(' ');
                used += 1;
            }
            line.push_str(piece);
            used += wide;
        }
    }
    lines
}

/// The operands of a formula with their widths, all but the first with the connective before them.
fn pieces(formula: &str, width: usize) -> Vec<(&str, usize)> {
    let mut done = Vec::new();
    let mut work = vec![(formula, 0)];
    while let Some((text, depth)) = work.pop() {
        let wide = columns(text);
        if wide <= width || depth > DEEPEST {
            done.push((text, wide));
        } else {
            let parts = split_at_depth(text, depth);
            work.extend(parts.into_iter().rev().map(|part| (part, depth + 1)));
        }
    }
    done
}

/// The maximum number of parentheses levels that are broken.
const DEEPEST: usize = 8;

/// Splits before the connectives inside at most `depth` parentheses.
fn split_at_depth(text: &str, depth: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut level: usize = 0;
    let mut start = 0;
    // A part of a part may close more parentheses than it opens: the count then stops at zero.
    for (at, c) in text.char_indices() {
        match c {
            '(' => level += 1,
            ')' => level = level.saturating_sub(1),
            '∧' | '∨' if level <= depth && at > 0 => {
                parts.push(text[start..at].trim());
                start = at;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts
}

/// The width of a text in terminal columns: ideographs take two.
fn columns(text: &str) -> usize {
    text.chars().map(|c| if is_wide(c) { 2 } else { 1 }).sum()
}

fn is_wide(c: char) -> bool {
    matches!(u32::from(c), 0x1100..=0x115F | 0x2E80..=0xA4CF | 0xAC00..=0xD7A3 | 0xF900..=0xFAFF
        | 0xFE30..=0xFE6F | 0xFF00..=0xFF60 | 0xFFE0..=0xFFE6 | 0x1F300..=0x1FAFF | 0x20000..=0x3FFFD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulae_break_before_their_connectives() {
        let formula = "∃X. green(X) ∧ ¬green(o12) ∧ (a ∨ b)";
        assert_eq!(
            wrapped(formula, 14),
            ["∃X. green(X)", "∧ ¬green(o12)", "∧ (a ∨ b)"]
        );
        assert_eq!(wrapped(formula, 99), [formula]);
        assert_eq!(wrapped("goal", 1), ["goal"]);
        assert_eq!(
            wrapped("a ∧ (bb ∨ cc) ∧ ((dd ∨ ee) ∧ ff)", 12),
            ["a", "∧ (bb ∨ cc)", "∧ ((dd ∨ ee)", "∧ ff)"]
        );
    }

    #[test]
    fn ideographs_are_two_columns_wide() {
        assert_eq!(columns("黄(o1)"), 6);
    }
}
