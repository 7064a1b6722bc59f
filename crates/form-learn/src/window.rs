//! Windows: the learnable atoms that look further back than the newest observation, and their *since* function.
//!
//! Such an atom holds iff the present state was entered at some point of the trace or before: the atom holds *since* then, as long as the
//! state lasts. Of a count that is where the k-th latest of its atoms was last observed; of a join, the latest such point of its
//! substitutions. `once` counts to one, and `forall` to all.

use std::collections::HashMap;

use form_core::{AtomId, AtomSet};

/// What of the window an atom looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Window {
    /// At least this many of its atoms have been observed.
    Count(usize),
    /// For one of these pairs, the first atom has been observed and the second is in the newest observation.
    Join(Vec<(AtomId, AtomId)>),
}

impl Window {
    /// The number of observations before the latest state entry with which the atom holds at the newest of a trace; `None` if there is none.
    /// `last_seen` has for each atom the number of observations before its last one.
    pub(crate) fn since(
        &self,
        mask: &AtomSet,
        newest: &AtomSet,
        last_seen: &HashMap<AtomId, usize>,
    ) -> Option<usize> {
        match self {
            Self::Count(count) => {
                let mut seen: Vec<usize> = (mask.iter())
                    .filter_map(|atom| last_seen.get(&atom).copied())
                    .collect();
                let kth = seen.len().checked_sub(*count)?;
                seen.sort_unstable();
                Some(seen[kth])
            }
            Self::Join(pairs) => (pairs.iter())
                .filter(|(_, now)| newest.contains(*now))
                .filter_map(|(once, _)| last_seen.get(once).copied())
                .max(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use form_core::Signature;

    #[test]
    fn counts_and_joins_hold_since_the_right_observation() {
        let signature = Signature::parse(["p(a)", "p(b)", "p(c)", "q(a)", "q(b)"]).unwrap();
        let set = |atoms: &[&str]| signature.observation(atoms).unwrap();
        let id = |atom: &str| signature.id_of_text(atom).unwrap();
        // p(a), p(b), q(a), p(a), q(b)
        let last_seen = HashMap::from([(id("p(a)"), 3), (id("p(b)"), 1), (id("q(b)"), 4)]);
        let all = set(&["p(a)", "p(b)", "p(c)"]);
        let since = |window: Window, newest: &[&str]| window.since(&all, &set(newest), &last_seen);
        assert_eq!(since(Window::Count(1), &[]), Some(3));
        assert_eq!(since(Window::Count(2), &[]), Some(1));
        assert_eq!(since(Window::Count(3), &[]), None);
        let pairs = ["a", "b"].map(|o| (id(&format!("p({o})")), id(&format!("q({o})"))));
        let join = || Window::Join(pairs.to_vec());
        assert_eq!(since(join(), &["q(b)"]), Some(1));
        assert_eq!(since(join(), &["q(a)", "q(b)"]), Some(3));
        assert_eq!(since(join(), &["p(a)"]), None);
    }
}
