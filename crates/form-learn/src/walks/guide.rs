//! What a walk that is helped heads for: the things that the edges of the machine's state ask for.

use form_core::{Atom, AtomSet, BoundMachine, Monitor, Quantifier, Signature};

use super::room::Room;

/// For each state what its edges ask for.
pub(super) struct Guide {
    states: Vec<Asked>,
}

/// What the edges of a state ask for.
#[derive(Default)]
struct Asked {
    /// What has to be observed now.
    now: AtomSet,
    /// What has to be observed while in the state: each is wanted once.
    once: AtomSet,
    /// What would end the episode badly.
    shunned: AtomSet,
}

impl Guide {
    pub(super) fn new(machine: &BoundMachine) -> Self {
        let lifted = machine.machine();
        let mut states: Vec<Asked> = lifted.state_ids().map(|_| Asked::default()).collect();
        for edge in lifted.edges() {
            let asked = &mut states[edge.from.index()];
            let literals = edge.formula.literals();
            // What an edge denies is no help to it: `exists X. green(X) and not green(o12)`.
            let mut denied = AtomSet::new();
            for (atom, _) in (literals.iter()).filter(|(a, positive)| !positive && !is_forall(a)) {
                denied.union_with(&about(atom, machine.signature()));
            }
            for (atom, _) in literals.iter().filter(|(_, positive)| *positive) {
                let atoms = about(atom, machine.signature()).difference(&denied);
                if Some(edge.to) == lifted.reject() {
                    asked.shunned.union_with(&atoms);
                } else if is_forall(atom) {
                    asked.once.union_with(&atoms);
                } else {
                    asked.now.union_with(&atoms);
                }
            }
        }
        Self { states }
    }

    /// For every cell of the room, how far it is to something that is asked for.
    pub(super) fn distances(&self, room: &Room<'_>, monitor: &Monitor) -> Vec<Option<u32>> {
        let asked = &self.states[monitor.state().index()];
        let wanted = asked.now.union(&asked.once.difference(monitor.seen()));
        room.distances(&wanted, &asked.shunned)
    }
}

/// The ground atoms that an atomic formula is about.
fn about(atom: &Atom, signature: &Signature) -> AtomSet {
    match atom {
        Atom::Ground(ground) => signature.id_of(ground).into_iter().collect(),
        Atom::Quantified(quantified) => signature.instances(quantified),
    }
}

fn is_forall(atom: &Atom) -> bool {
    matches!(atom, Atom::Quantified(quantified) if quantified.quantifier() == Quantifier::Forall)
}
