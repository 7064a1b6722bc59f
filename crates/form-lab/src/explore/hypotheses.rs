//! The machines beside the learnt one: those that differ from it in one place and agree with all traces so far.
//!
//! The learner answers with one machine of many that agree with the traces. Where another one would judge some walk differently, the
//! world has not been asked yet. So each hypothesis comes with a shortest walk that tells it from the learnt machine: a probe. Whatever
//! the world does then, one of the two is refuted (a membership query, as in active automata learning; Angluin 1987).
//!
//! A hypothesis changes one literal, drops a negated one or adds one, or adds an edge. These are neighbours, not all machines: when no
//! probe is left, the machine is right among its neighbours only.

use std::collections::BTreeMap;
use std::sync::Arc;

use form_core::{
    Atom, AtomSet, BoundMachine, CompareOptions, Comparison, Formula, Machine, Observations,
    Signature, Trace, compare,
};

/// The most pairs of runs that are compared for one hypothesis.
const MOST_STEPS: usize = 200_000;
/// How often a hypothesis is put to the test before it is set aside: obstacles can keep a walk from going as planned.
const MOST_ATTEMPTS: u32 = 3;
/// The same where maps have different objects, including the maps on which no walk could tell it from the machine.
const MOST_MAPS: u32 = 12;

/// The hypotheses that are still open, the likely ones first.
#[derive(Debug, Default)]
pub(crate) struct Hypotheses {
    open: Vec<Hypothesis>,
    /// How often each is put to the test.
    most_attempts: u32,
}

#[derive(Debug)]
struct Hypothesis {
    /// Its number among all variants of the machine.
    number: usize,
    machine: Arc<BoundMachine>,
}

/// How often hypotheses were put to the test, by number. Those that are not listed never were.
pub(crate) type Attempts = BTreeMap<usize, u32>;

impl Hypotheses {
    /// Those beside this machine; `varied` tells whether maps have different objects.
    pub(crate) fn beside(
        machine: &Machine,
        signature: &Signature,
        vocabulary: &[Atom],
        traces: &[Trace],
        varied: bool,
    ) -> Self {
        let mut open = Vec::new();
        for (number, variant) in variants(machine, vocabulary).into_iter().enumerate() {
            let Ok(bound) = variant.bind(signature) else {
                continue;
            };
            if agrees(&bound, traces) {
                open.push(Hypothesis {
                    number,
                    machine: Arc::new(bound),
                });
            }
        }
        Self {
            open,
            most_attempts: if varied { MOST_MAPS } else { MOST_ATTEMPTS },
        }
    }

    /// Drops those that a new trace refutes.
    pub(crate) fn add(&mut self, trace: &Trace) {
        (self.open).retain(|one| trace.disagreement(&one.machine).is_none());
    }

    /// Whether there are any that have not been put to the test often enough.
    pub(crate) fn are_open(&self, attempts: &Attempts) -> bool {
        let tried = |one: &Hypothesis| attempts.get(&one.number).copied().unwrap_or(0);
        (self.open.iter()).any(|one| tried(one) < self.most_attempts)
    }

    /// A walk that tells the first open hypothesis from the machine on its map; nothing if none is left that any walk would tell. Only walks
    /// over these observations are made.
    pub(crate) fn probe(
        &mut self,
        machine: &BoundMachine,
        observations: &[AtomSet],
        attempts: &mut Attempts,
    ) -> Option<Vec<AtomSet>> {
        let mut at = 0;
        while let Some(one) = self.open.get(at) {
            let attempts = attempts.entry(one.number).or_default();
            if *attempts < self.most_attempts {
                *attempts += 1;
                let options = CompareOptions {
                    observations: Observations::Given(observations.to_vec()),
                    rewards: false,
                    max_steps: MOST_STEPS,
                };
                let other = one.machine.restricted(machine.own_signature());
                if let Ok(Comparison::Different(difference)) = compare(machine, &other, &options) {
                    return Some(difference.trace);
                }
                // No walk tells the two apart; on a map with other objects, one may.
                if machine.own_signature().is_some() && *attempts < self.most_attempts {
                    at += 1;
                    continue;
                }
                *attempts = self.most_attempts;
            }
            self.open.remove(at);
        }
        None
    }
}

fn agrees(machine: &BoundMachine, traces: &[Trace]) -> bool {
    (traces.iter()).all(|trace| trace.disagreement(machine).is_none())
}

/// An edge as it is changed: its ends by name, and the literals of its conjunction.
#[derive(Clone)]
struct Draft {
    from: String,
    to: String,
    literals: Vec<(Atom, bool)>,
}

/// All machines that differ from this one in one place. Edges that are no conjunctions are left as they are.
fn variants(machine: &Machine, vocabulary: &[Atom]) -> Vec<Machine> {
    let name = |state| machine.state_name(state).to_owned();
    let drafts: Option<Vec<Draft>> = (machine.edges().iter())
        .map(|edge| {
            let literals = edge.formula.as_conjunction()?;
            Some(Draft {
                from: name(edge.from),
                to: name(edge.to),
                literals: (literals.into_iter())
                    .map(|(atom, positive)| (atom.clone(), positive))
                    .collect(),
            })
        })
        .collect();
    let Some(drafts) = drafts else {
        return Vec::new();
    };
    let mut changed: Vec<Vec<Draft>> = Vec::new();
    for (at, edge) in drafts.iter().enumerate() {
        let mut with = |literals: Vec<(Atom, bool)>| {
            let mut edges = drafts.clone();
            edges[at].literals = literals;
            changed.push(edges);
        };
        for (place, (atom, positive)) in edge.literals.iter().enumerate() {
            // Another atom in its place.
            for other in vocabulary.iter().filter(|other| *other != atom) {
                let mut literals = edge.literals.clone();
                literals[place] = (other.clone(), *positive);
                with(literals);
            }
            // Without it; an edge keeps a literal that is not negated.
            let left = edge.literals.iter().filter(|(_, positive)| *positive);
            if !positive || left.count() > 1 {
                let mut literals = edge.literals.clone();
                literals.remove(place);
                with(literals);
            }
        }
        // Except for one atom.
        for other in vocabulary {
            if (edge.literals.iter()).all(|(atom, _)| atom != other) {
                let mut literals = edge.literals.clone();
                literals.push((other.clone(), false));
                with(literals);
            }
        }
    }
    // One more edge, between any two states or to a dead end; before the others, so that it fires.
    let states: Vec<String> = (machine.state_ids())
        .filter(|state| !machine.is_terminal(*state))
        .map(name)
        .collect();
    let reject = (machine.reject()).map_or_else(|| "dead_end".to_owned(), name);
    let mut ends = states.clone();
    ends.extend([name(machine.accept()), reject.clone()]);
    for from in &states {
        for to in ends.iter().filter(|to| *to != from) {
            for atom in vocabulary {
                let edge = Draft {
                    from: from.clone(),
                    to: to.clone(),
                    literals: vec![(atom.clone(), true)],
                };
                changed.push([std::slice::from_ref(&edge), &drafts].concat());
            }
        }
    }
    (changed.into_iter())
        .filter_map(|edges| rebuilt(machine, &reject, &edges))
        .collect()
}

/// The machine with these edges.
fn rebuilt(machine: &Machine, reject: &str, edges: &[Draft]) -> Option<Machine> {
    let mut builder = Machine::builder("hypothesis")
        .initial(machine.state_name(machine.initial()))
        .accept(machine.state_name(machine.accept()));
    if machine.reject().is_some() || edges.iter().any(|edge| edge.to == reject) {
        builder = builder.reject(reject);
    }
    for edge in edges {
        let literals = (edge.literals.iter()).map(|(atom, positive)| {
            let formula = Formula::atom(atom.clone());
            if *positive {
                formula
            } else {
                formula.negated()
            }
        });
        builder = builder.edge_with(&edge.from, &edge.to, Formula::all(literals), None);
    }
    builder.build().ok()
}

#[cfg(test)]
mod tests {
    use form_core::{Kind, Run};
    use form_learn::learnable_atoms;

    use super::*;

    /// What the world of a machine says of a walk.
    fn judged(truth: &BoundMachine, walk: &[AtomSet]) -> Trace {
        let mut run = Run::new(truth);
        for (i, observation) in walk.iter().enumerate() {
            run.step(truth, observation);
            let kind = match truth.machine().status(run.state()) {
                form_core::MachineStatus::Accepted => Kind::Goal,
                form_core::MachineStatus::Rejected => Kind::DeadEnd,
                form_core::MachineStatus::Running => continue,
            };
            return Trace::new(kind, walk[..=i].to_vec());
        }
        Trace::new(Kind::Incomplete, walk.to_vec())
    }

    /// Probes in a world with another machine refute the wrong one; in a world with this one they end, and no hypothesis is left.
    #[test]
    fn probes_end_or_refute() {
        let signature =
            Signature::parse(["yellow(o0)", "yellow(o1)", "red(o2)", "goal", "lava"]).unwrap();
        let vocabulary = learnable_atoms(&signature, true).unwrap();
        let observations: Vec<AtomSet> =
            signature.ids().map(|id| AtomSet::from_iter([id])).collect();
        let machine: Machine =
            "initial u0\naccept u_acc\nu0 -> u1 : forall X. yellow(X)\nu1 -> u_acc : goal"
                .parse()
                .unwrap();
        let bound = machine.bind(&signature).unwrap();
        let others = [
            "initial u0\naccept u_acc\nu0 -> u1 : exists X. yellow(X)\nu1 -> u_acc : goal",
            "initial u0\naccept u_acc\nreject u_rej\nu0 -> u_rej : lava\nu0 -> u1 : forall X. yellow(X)\nu1 -> u_acc : goal",
            "initial u0\naccept u_acc\nu0 -> u1 : forall X. yellow(X)\nu1 -> u_acc : goal and not exists X. red(X)\nu0 -> u_acc : red(o2)",
        ];
        for (text, refuted) in others.iter().map(|text| (*text, true)).chain([(
            "initial u0\naccept u_acc\nu0 -> u1 : forall X. yellow(X)\nu1 -> u_acc : goal",
            false,
        )]) {
            let truth = text.parse::<Machine>().unwrap().bind(&signature).unwrap();
            let mut hypotheses = Hypotheses::beside(&machine, &signature, &vocabulary, &[], false);
            let mut attempts = Attempts::new();
            let mut found = false;
            while let Some(walk) = hypotheses.probe(&bound, &observations, &mut attempts) {
                let trace = judged(&truth, &walk);
                found |= trace.disagreement(&bound).is_some();
                hypotheses.add(&trace);
            }
            assert_eq!(found, refuted, "{text}");
            assert!(!hypotheses.are_open(&attempts));
        }
    }
}
