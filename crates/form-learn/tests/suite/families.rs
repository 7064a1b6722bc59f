//! Learning problems whose traces are labelled by one of a few machines, the same for the same seed: over letters, with guards, and with cycles
//! and long traces.

use form_core::{AtomSet, Signature};
use form_learn::Options;

use crate::problems::{Problem, Random, labelled};

/// Problems whose traces are labelled by one of a few machines.
#[derive(Debug)]
pub struct Family {
    atoms: &'static [&'static str],
    machines: [&'static str; 6],
    first_order: bool,
    /// The first machine that has a cycle.
    cyclic_from: usize,
    /// The most traces, observations of a trace, and atoms of an observation.
    most: [usize; 3],
    max_states: usize,
}

/// Machines without quantifiers, and observations of one atom: letters. With a fork, a sink, two disjuncts and dead ends.
pub const LETTERED: Family = Family {
    atoms: &["a", "b", "c", "d", "p(x)", "p(y)"],
    machines: [
        "u0 -> u1 : a and not b\n u0 -> u2 : b\n u1 -> u3 : b\n u2 -> u3 : a\n u3 -> u_acc : d",
        "u0 -> u1 : a\n u0 -> u1 : b\n u1 -> u_acc : d",
        "u0 -> u1 : a\n u1 -> u_acc : c and not d\n u1 -> u_rej : d",
        "u0 -> u1 : a and not b\n u0 -> u2 : b\n u1 -> u_acc : c",
        "u0 -> u1 : a\n u1 -> u2 : b\n u2 -> u_acc : d",
        "u0 -> u1 : p(x)\n u0 -> u_rej : a and not p(x)\n u1 -> u_acc : p(y)\n u1 -> u_acc : d",
    ],
    first_order: false,
    cyclic_from: 6,
    most: [64, 12, 1],
    max_states: 4,
};

/// Machines with quantifiers: forks, three targets of one state, dead ends, and cycles. Every other problem has observations of two
/// atoms.
pub const GUARDED: Family = Family {
    atoms: &["p(a)", "p(b)", "q", "r"],
    machines: [
        "u0 -> u1 : exists X. p(X) and not q\n u0 -> u2 : q\n u1 -> u_acc : r\n u2 -> u_acc : forall X. p(X)",
        "u0 -> u1 : p(a)\n u0 -> u2 : p(b) and not p(a)\n u0 -> u_rej : q and not exists X. p(X)\n u1 -> u_acc : r\n u2 -> u_acc : q",
        "u0 -> u1 : forall X. p(X)\n u1 -> u_acc : r and not q\n u1 -> u_rej : q",
        "u0 -> u1 : exists X. p(X)\n u1 -> u_acc : r and not q\n u1 -> u0 : q",
        "u0 -> u1 : forall X. p(X)\n u1 -> u2 : q\n u2 -> u_acc : r and not exists X. p(X)\n u2 -> u0 : exists X. p(X)",
        "u0 -> u1 : q\n u1 -> u2 : r and not q\n u2 -> u1 : q\n u2 -> u_acc : p(a) and not q",
    ],
    first_order: true,
    cyclic_from: 3,
    most: [44, 10, 2],
    max_states: 3,
};

/// Machines with cycles, and traces that are longer than the pieces they are cut into.
pub const CYCLIC: Family = Family {
    atoms: &["p(a)", "p(b)", "q(a)", "q(b)", "r", "s"],
    machines: [
        "u0 -> u1 : exists X. p(X)\n u1 -> u0 : s and not r\n u1 -> u_acc : r",
        "u0 -> u1 : forall X. p(X)\n u1 -> u0 : s and not r\n u1 -> u_acc : r",
        "u0 -> u1 : q(a)\n u1 -> u2 : forall X. p(X)\n u2 -> u0 : s and not r\n u2 -> u_acc : r",
        "u0 -> u1 : forall X. q(X)\n u1 -> u2 : exists X. p(X)\n u2 -> u1 : s and not r\n u2 -> u_acc : r",
        "u0 -> u1 : p(a)\n u1 -> u0 : q(b) and not s and not r\n u1 -> u_acc : r and not s\n u1 -> u_rej : s",
        "u0 -> u1 : s\n u1 -> u2 : forall X. p(X)\n u2 -> u1 : exists X. q(X) and not r\n u2 -> u_rej : r",
    ],
    first_order: true,
    cyclic_from: 0,
    most: [40, 45, 2],
    max_states: 3,
};

impl Family {
    /// The problem with this number.
    pub fn problem(&self, seed: u64) -> Problem {
        let mut random = Random::new(seed);
        let signature = Signature::parse(self.atoms.iter().copied()).unwrap();
        let target = seed as usize % self.machines.len();
        let edges = self.machines[target];
        let reject = if edges.contains("u_rej") {
            "reject u_rej\n"
        } else {
            ""
        };
        let machine = format!("initial u0\naccept u_acc\n{reject}{edges}");
        let machine = machine.parse().unwrap();
        let ids: Vec<_> = signature.ids().collect();
        let [traces, observations, atoms] = self.most;
        let most_atoms = 1 + seed as usize / self.machines.len() % atoms;
        // Few traces have many ties, many none.
        let number = 5 + random.below(traces - 4);
        let traces = (0..number)
            .map(|_| {
                let length = 1 + random.below(observations);
                let steps = (0..length).map(|_| {
                    let atoms = 1 + random.below(most_atoms);
                    (0..atoms).map(|_| *random.pick(&ids)).collect::<AtomSet>()
                });
                labelled(&machine, &signature, steps.collect())
            })
            .collect();
        Problem {
            signature,
            traces,
            options: Options {
                first_order: self.first_order,
                cyclic: target >= self.cyclic_from,
                max_disjuncts: 1 + random.below(2),
                ..Options::default()
            },
            max_states: self.max_states,
        }
    }
}
