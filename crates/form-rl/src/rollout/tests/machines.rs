//! Random machines over the atoms of the scripted environment: cycles, `forall`s, rewards on edges, states without a path to
//! acceptance.

use proptest::prelude::*;

const FORMULAE: [&str; 6] = [
    "a",
    "b",
    "exists X. p(X)",
    "forall X. p(X)",
    "p(x) and not a",
    "b and not forall X. p(X)",
];

/// The text of a machine with one to three states that are not terminal.
pub(super) fn machines() -> impl Strategy<Value = String> {
    let edge = |states: usize| {
        (
            0..states,
            prop_oneof![4 => 0..states, 1 => states..states + 2],
            0..FORMULAE.len(),
            prop::option::weighted(0.2, 0_u8..4),
        )
    };
    (1_usize..4).prop_flat_map(move |states| {
        prop::collection::vec(edge(states), 1..9).prop_map(move |edges| {
            let mut text = "initial u0\naccept u_acc\nreject u_rej\n".to_owned();
            for (from, to, formula, reward) in edges {
                let to = match to.checked_sub(states) {
                    None => format!("u{to}"),
                    Some(0) => "u_acc".to_owned(),
                    Some(_) => "u_rej".to_owned(),
                };
                text += &format!("u{from} -> {to} : {}", FORMULAE[formula]);
                if let Some(reward) = reward {
                    text += &format!(" => 0.{reward}");
                }
                text.push('\n');
            }
            text
        })
    })
}
