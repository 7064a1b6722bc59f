//! A machine as text: states in order, under each its edges in the order in which they are tried.
//!
//! ```text
//! all_yellow: 2 states + accept, 2 edges
//!
//! → u0
//!     → u1     ∀X. yellow(X)
//!   u1
//!     → u_acc  goal
//! ✓ u_acc      accepting
//! ```

use std::fmt::Write as _;

use super::{Role, columns, formula_text, reward_text, role};
use crate::machine::machine::{Edge, Machine};

/// The machine as aligned text, in the paper's notation.
///
/// ```
/// let machine: form_core::Machine = "
///     initial u0
///     accept  u_acc
///     u0 -> u_acc : forall X. yellow(X)
/// ".parse()?;
/// assert!(form_core::to_text(&machine).contains("→ u_acc  ∀X. yellow(X)"));
/// # Ok::<(), form_core::Error>(())
/// ```
pub fn to_text(machine: &Machine) -> String {
    let mut outgoing: Vec<Vec<&Edge>> = vec![Vec::new(); machine.states().len()];
    for edge in machine.edges() {
        outgoing[edge.from.index()].push(edge);
    }
    let widest = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(0);
    let names = widest(&mut machine.states().iter().map(|name| columns(name.as_str())));
    let formulae = widest(
        &mut (machine.edges().iter())
            .filter(|edge| edge.reward.is_some())
            .map(|edge| columns(&formula_text(edge))),
    );

    let mut text = format!("{}: {}\n\n", machine.name(), machine.describe_size());
    for state in machine.state_ids() {
        let name = machine.state_name(state);
        let (mark, remark) = match role(machine, state) {
            Role::Initial => ("→", "initial"),
            Role::Accept => ("✓", "accepting"),
            Role::Reject => ("✗", "rejecting"),
            Role::Plain => (" ", ""),
        };
        let line = format!("{mark} {}  {remark}", padded(name, names + 4));
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(text, "{}", line.trim_end());
        for edge in &outgoing[state.index()] {
            let to = padded(machine.state_name(edge.to), names);
            let formula = formula_text(edge);
            let _ = match reward_text(edge) {
                Some(reward) => {
                    writeln!(text, "    → {to}  {}  {reward}", padded(&formula, formulae))
                }
                None => writeln!(text, "    → {to}  {formula}"),
            };
        }
    }
    text
}

fn padded(text: &str, width: usize) -> String {
    let missing = width.saturating_sub(columns(text));
    format!("{text}{}", " ".repeat(missing))
}
