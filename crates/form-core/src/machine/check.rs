//! What is wrong with a machine, whatever the traces: edges that overlap, edges that can never fire, states that cannot
//! be reached, states from which acceptance is impossible.

use std::collections::{BTreeSet, HashSet};

use super::bound::{BoundFormula, BoundMachine};
use super::explore::firing_edges;
use super::machine::{EdgeId, Machine, StateId};
use super::satisfy::{Buffer, Satisfiable, find_buffer};
use crate::logic::atom::{Atom, GroundAtom, Name};
use crate::logic::signature::Signature;

/// The findings of [`check`].
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Pairs of edges of one state with different targets that hold together; declaration order decides.
    pub overlaps: Vec<Overlap>,
    /// Edges that no run takes.
    pub never_fire: Vec<(EdgeId, NeverFires)>,
    /// States that no run reaches.
    pub unreachable: Vec<StateId>,
    /// Reachable states, not rejecting, from which no run accepts.
    pub cannot_accept: Vec<StateId>,
    /// Questions that were too large to decide: the findings above may be incomplete there.
    pub undecided: Vec<String>,
}

/// Two edges that hold together, and a buffer that shows it.
#[derive(Clone, Debug)]
pub struct Overlap {
    /// The state both leave.
    pub state: StateId,
    /// The earlier edge, which wins.
    pub first: EdgeId,
    /// The later edge.
    pub second: EdgeId,
    /// Over this buffer both formulae hold.
    pub witness: Buffer,
}

/// Why an edge never fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NeverFires {
    /// No buffer satisfies its formula.
    Contradiction,
    /// Wherever its formula holds, an earlier edge of the state holds too.
    Shadowed,
    /// Every run that could satisfy it has left the state before.
    LeftBefore,
}

impl Findings {
    /// Whether there is nothing to report.
    pub fn is_clean(&self) -> bool {
        self.overlaps.is_empty()
            && self.never_fire.is_empty()
            && self.unreachable.is_empty()
            && self.cannot_accept.is_empty()
            && self.undecided.is_empty()
    }

    /// Whether no two edges with different targets can hold together, proven for every pair.
    pub fn is_deterministic(&self) -> bool {
        self.overlaps.is_empty() && self.undecided.is_empty()
    }
}

/// Checks a machine over all observations of its signature.
pub fn check(machine: &BoundMachine) -> Findings {
    let mut findings = Findings::default();
    let mut alive = vec![true; machine.machine().edges().len()];
    for state in machine.machine().state_ids() {
        let edges: Vec<(EdgeId, BoundFormula)> = (machine.outgoing(state).iter())
            .map(|id| (*id, machine.bound_formula(*id)))
            .collect();
        find_overlaps(machine, state, &edges, &mut findings);
        for (edge, reason) in edges_that_never_fire(machine, state, &edges, &mut findings) {
            alive[edge.index()] = false;
            findings.never_fire.push((edge, reason));
        }
    }
    let reached = closure(
        machine.machine(),
        &alive,
        [machine.machine().initial()],
        false,
    );
    let accepting = closure(
        machine.machine(),
        &alive,
        [machine.machine().accept()],
        true,
    );
    for state in machine.machine().state_ids() {
        if !reached.contains(&state) {
            findings.unreachable.push(state);
        } else if !accepting.contains(&state) && Some(state) != machine.machine().reject() {
            findings.cannot_accept.push(state);
        }
    }
    findings
}

/// Whether two edges of some state with different targets can hold together: exact, for learnt machines.
pub fn first_overlap(machine: &BoundMachine) -> Option<Overlap> {
    machine.machine().state_ids().find_map(|state| {
        let edges: Vec<(EdgeId, BoundFormula)> = (machine.outgoing(state).iter())
            .map(|id| (*id, machine.bound_formula(*id)))
            .collect();
        let mut findings = Findings::default();
        find_overlaps(machine, state, &edges, &mut findings);
        findings.overlaps.into_iter().next()
    })
}

fn find_overlaps(
    machine: &BoundMachine,
    state: StateId,
    edges: &[(EdgeId, BoundFormula)],
    findings: &mut Findings,
) {
    for (i, (first, first_formula)) in edges.iter().enumerate() {
        for (second, second_formula) in &edges[i + 1..] {
            if machine.outcome(*first).0 == machine.outcome(*second).0 {
                continue;
            }
            let both = [(first_formula, true), (second_formula, true)];
            match find_buffer(&both, machine.signature()) {
                Satisfiable::No => {}
                Satisfiable::Yes(witness) => {
                    let (first, second) = (*first, *second);
                    findings.overlaps.push(Overlap {
                        state,
                        first,
                        second,
                        witness,
                    });
                }
                Satisfiable::Unknown => findings.undecided.push(format!(
                    "whether {} and {} can hold together",
                    machine.machine().describe_edge(*first),
                    machine.machine().describe_edge(*second),
                )),
            }
        }
    }
}

fn edges_that_never_fire(
    machine: &BoundMachine,
    state: StateId,
    edges: &[(EdgeId, BoundFormula)],
    findings: &mut Findings,
) -> Vec<(EdgeId, NeverFires)> {
    // Where no `forall` is involved every buffer can come up; elsewhere a run has to get there without leaving.
    let tracked = !machine.progress_atoms(state).is_empty();
    let firing = if tracked {
        firing_edges(machine, state)
    } else {
        None
    };
    if tracked && firing.is_none() {
        let name = machine.machine().state_name(state);
        findings.undecided.push(format!(
            "whether every edge out of {name} fires in some run"
        ));
    }
    let mut never = Vec::new();
    for (i, (edge, formula)) in edges.iter().enumerate() {
        if firing.as_ref().is_some_and(|fired| fired.contains(edge)) {
            continue;
        }
        let mut wanted: Vec<(&BoundFormula, bool)> = edges[..i]
            .iter()
            .map(|(_, earlier)| (earlier, false))
            .collect();
        wanted.insert(0, (formula, true));
        let reason = match find_buffer(&wanted, machine.signature()) {
            Satisfiable::Yes(_) if firing.is_some() => NeverFires::LeftBefore,
            Satisfiable::Yes(_) => continue,
            Satisfiable::Unknown if firing.is_some() => NeverFires::LeftBefore,
            Satisfiable::Unknown => {
                findings.undecided.push(format!(
                    "whether {} ever fires",
                    machine.machine().describe_edge(*edge)
                ));
                continue;
            }
            Satisfiable::No => match find_buffer(&[(formula, true)], machine.signature()) {
                Satisfiable::No => NeverFires::Contradiction,
                _ => NeverFires::Shadowed,
            },
        };
        never.push((*edge, reason));
    }
    never
}

/// The states reachable from `start` over edges that fire, or from which `start` is reachable.
fn closure(
    machine: &Machine,
    alive: &[bool],
    start: impl IntoIterator<Item = StateId>,
    backwards: bool,
) -> HashSet<StateId> {
    let mut next: Vec<Vec<StateId>> = vec![Vec::new(); machine.states().len()];
    for (edge, _) in machine
        .edges()
        .iter()
        .zip(alive)
        .filter(|(_, alive)| **alive)
    {
        let (a, b) = if backwards {
            (edge.to, edge.from)
        } else {
            (edge.from, edge.to)
        };
        next[a.index()].push(b);
    }
    let mut queue: Vec<StateId> = start.into_iter().collect();
    let mut reached: HashSet<StateId> = queue.iter().copied().collect();
    while let Some(state) = queue.pop() {
        for to in &next[state.index()] {
            if reached.insert(*to) {
                queue.push(*to);
            }
        }
    }
    reached
}

impl Machine {
    /// A signature for a machine that comes without one: every ground atom it names, and for every quantified atom two
    /// instances over objects `_1`, `_2`, … that it does not name.
    ///
    /// Two formulae that can hold together over any signature can hold together over this one: `exists` is satisfied by
    /// the first instance and `not forall` by the second, and neither is touched by a literal that does not already
    /// contradict the quantified atom itself.
    pub fn generic_signature(&self) -> Signature {
        let atoms = self.atoms();
        let named: BTreeSet<&str> = atoms
            .iter()
            .flat_map(|atom| atom.constants())
            .map(Name::as_str)
            .collect();
        let mut instances: Vec<GroundAtom> = Vec::new();
        for atom in atoms {
            match atom {
                Atom::Ground(ground) => instances.push(ground.clone()),
                Atom::Quantified(quantified) => {
                    let fresh: Vec<Name> = (1..)
                        .map(|i| format!("_{i}"))
                        .filter(|name| !named.contains(name.as_str()))
                        .take(2 * quantified.variables() as usize)
                        .map(|name| Name::new(&name).expect("an underscore and digits are a name"))
                        .collect();
                    let (first, second) = fresh.split_at(quantified.variables() as usize);
                    instances.extend([quantified.instance(first), quantified.instance(second)]);
                }
            }
        }
        Signature::new(instances)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(edges: &str, signature: &[&str]) -> (BoundMachine, Findings) {
        let text = format!("initial u0\naccept acc\nreject rej\n{edges}");
        let machine: Machine = text.parse().unwrap();
        let signature = if signature.is_empty() {
            machine.generic_signature()
        } else {
            Signature::parse(signature).unwrap()
        };
        let bound = machine.bind(&signature).unwrap();
        let findings = check(&bound);
        (bound, findings)
    }

    #[test]
    fn an_edge_that_runs_cannot_reach() {
        let signature = ["p(a)", "p(b)", "goal"];
        let (_, f) = findings(
            "u0 -> u1 : p(a)\nu0 -> acc : forall X. p(X)\nu1 -> acc : goal",
            &signature,
        );
        assert_eq!(f.never_fire, [(EdgeId(1), NeverFires::LeftBefore)]);
        let (_, f) = findings(
            "u0 -> acc : forall X. p(X)\nu0 -> u1 : p(a)\nu1 -> acc : goal",
            &signature,
        );
        // Both at once still completes the buffer.
        assert_eq!(f.never_fire, []);
        assert_eq!(f.overlaps.len(), 1);
    }

    #[test]
    fn contradictions_and_shadows() {
        let edges = "u0 -> u1 : exists X. green(X)\nu0 -> rej : green(o1)\nu0 -> rej : lava and not lava\nu1 -> acc : goal";
        let (bound, f) = findings(edges, &["green(o1)", "green(o2)", "lava", "goal"]);
        assert_eq!(
            f.never_fire,
            [
                (EdgeId(1), NeverFires::Shadowed),
                (EdgeId(2), NeverFires::Contradiction)
            ]
        );
        assert_eq!(f.overlaps.len(), 1);
        assert_eq!(
            f.overlaps[0].witness.describe(bound.signature()),
            "[{green(o1)}]"
        );
        let unreachable: Vec<&str> = f
            .unreachable
            .iter()
            .map(|s| bound.machine().state_name(*s))
            .collect();
        assert_eq!(unreachable, ["rej"]);
    }

    #[test]
    fn dead_states_and_unreachable_ones() {
        let edges = "u0 -> u1 : a\nu0 -> acc : b and not a\nu2 -> acc : a\nu1 -> rej : b";
        let (bound, f) = findings(edges, &[]);
        let names = |states: &[StateId]| {
            states
                .iter()
                .map(|s| bound.machine().state_name(*s).to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(names(&f.unreachable), ["u2"]);
        assert_eq!(names(&f.cannot_accept), ["u1"]);
        assert!(f.is_deterministic());
    }

    #[test]
    fn without_a_signature_objects_are_made_up() {
        let (bound, f) = findings(
            "u0 -> acc : exists X. green(X)\nu0 -> rej : lava and not green(o12)",
            &[],
        );
        assert_eq!(f.overlaps.len(), 1);
        assert_eq!(
            f.overlaps[0].witness.describe(bound.signature()),
            "[{green(_2), lava}]"
        );
        let (_, f) = findings(
            "u0 -> acc : exists X. on(X, b)\nu0 -> rej : lava and not exists X, Y. on(X, Y)",
            &[],
        );
        assert!(f.is_deterministic());
        let (_, f) = findings(
            "u0 -> acc : exists X. p(X) and not forall X. p(X)\nu0 -> rej : lava",
            &[],
        );
        assert_eq!(f.overlaps.len(), 1, "two instances are needed");
    }

    #[test]
    fn many_objects_are_no_problem() {
        let signature: Vec<String> = (0..200)
            .map(|i| format!("yellow(o{i})"))
            .chain(["goal".to_owned()])
            .collect();
        let texts: Vec<&str> = signature.iter().map(String::as_str).collect();
        let (_, f) = findings("u0 -> u1 : forall X. yellow(X)\nu1 -> acc : goal", &texts);
        assert!(f.undecided.is_empty() && f.never_fire.is_empty());
    }
}
