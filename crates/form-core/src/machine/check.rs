//! Static checks of a machine: overlapping edges (nondeterminism), edges that never fire, unreachable states, and states from
//! which no run accepts.

use std::collections::BTreeSet;

use super::bound::BoundMachine;
use super::explore::{Explored, explore};
use super::machine::{EdgeId, Machine, StateId};
use super::satisfy::{Buffer, Satisfiable, find_buffer, find_first};
use super::step_mode::StepMode;
use crate::logic::atom::{Atom, GroundAtom, QuantifiedAtom, Quantifier};
use crate::logic::identifier::Name;
use crate::logic::signature::Signature;

/// The maximum number of objects that a generic signature makes up for a count: binding refuses larger ones.
const MOST_MADE_UP: usize = 1000;

/// The result of [`check`].
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Pairs of edges of one state with different targets that can hold together; declaration order decides between them.
    pub overlaps: Vec<Overlap>,
    /// Edges that no run takes.
    pub never_fire: Vec<(EdgeId, NeverFires)>,
    /// States that no run reaches.
    pub unreachable: Vec<StateId>,
    /// Reachable states, not rejecting, from which no run accepts.
    pub cannot_accept: Vec<StateId>,
    /// Questions that were too large to decide: the findings above may be incomplete.
    pub undecided: Vec<Undecided>,
}

/// Two edges that can hold together, and a buffer on which they do.
#[derive(Clone, Debug)]
pub struct Overlap {
    /// Their source.
    pub state: StateId,
    /// The earlier edge, which wins.
    pub first: EdgeId,
    /// The later edge.
    pub second: EdgeId,
    /// A buffer on which both formulae hold.
    pub witness: Buffer,
    /// Whether a run can have such a buffer without leaving the state before; `None` if that is not known.
    pub in_a_run: Option<bool>,
}

/// Why an edge never fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NeverFires {
    /// No buffer satisfies its formula.
    Contradiction,
    /// Wherever its formula holds, an earlier edge of the state holds too.
    Shadowed,
    /// Every run that could satisfy it leaves the state before.
    LeftBefore,
}

/// A question that was too large to decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undecided {
    /// Whether two edges can hold together.
    Overlap(EdgeId, EdgeId),
    /// Whether an edge fires in some run.
    Fires(EdgeId),
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
        let open = |question: &Undecided| matches!(question, Undecided::Overlap(..));
        self.overlaps.is_empty() && !self.undecided.iter().any(open)
    }
}

/// Checks a machine over all observations of its signature.
///
/// Any observation may follow any other here. Compressed traces do not repeat one, which is ignored: it could exclude a run only
/// where every atom of the signature matters to a state.
pub fn check(machine: &BoundMachine) -> Findings {
    let mut findings = Findings::default();
    let lifted = machine.machine();
    for state in lifted.state_ids() {
        let mut runs = Runs::new(machine, state);
        if runs.tracked {
            runs.explored = explore(machine, state);
        }
        runs.find_overlaps(&mut findings);
        runs.find_edges_that_never_fire(&mut findings);
    }
    let mut alive = vec![true; lifted.edges().len()];
    for (edge, _) in &findings.never_fire {
        alive[edge.index()] = false;
    }
    let reached = closure(lifted, &alive, lifted.initial(), false);
    let accepting = closure(lifted, &alive, lifted.accept(), true);
    for state in lifted.state_ids() {
        if !reached.contains(&state) {
            findings.unreachable.push(state);
        } else if !accepting.contains(&state) && Some(state) != lifted.reject() {
            findings.cannot_accept.push(state);
        }
    }
    findings
}

/// The overlaps of [`check`] alone; like there, pairs that are too large to decide are not among them. No runs are explored, which takes
/// long where a state looks back at thousands of atoms; so a witness may be a buffer that no run has.
pub fn overlaps(machine: &BoundMachine) -> Vec<Overlap> {
    let mut findings = Findings::default();
    for state in machine.machine().state_ids() {
        Runs::new(machine, state).find_overlaps(&mut findings);
    }
    findings.overlaps
}

/// A state, and the runs in it.
struct Runs<'a> {
    machine: &'a BoundMachine,
    state: StateId,
    /// Whether an edge looks at the window. Where none does every buffer can occur; elsewhere a run must reach it without leaving
    /// the state.
    tracked: bool,
    explored: Option<Explored>,
}

impl<'a> Runs<'a> {
    fn new(machine: &'a BoundMachine, state: StateId) -> Self {
        Self {
            machine,
            state,
            tracked: !machine.progress_atoms(state).is_empty(),
            explored: None,
        }
    }

    fn steps(&self) -> StepMode {
        self.machine.machine().step_mode()
    }

    fn find_overlaps(&self, findings: &mut Findings) {
        let edges = self.machine.outgoing(self.state);
        for (i, first) in edges.iter().enumerate() {
            for second in &edges[i + 1..] {
                if self.machine.outcome(*first).0 != self.machine.outcome(*second).0 {
                    self.find_overlap(*first, *second, findings);
                }
            }
        }
    }

    fn find_overlap(&self, first: EdgeId, second: EdgeId, findings: &mut Findings) {
        let both = [first, second].map(|edge| (self.machine.bound_formula(edge), true));
        let witness = match find_buffer(&both, self.machine.signature(), self.steps()) {
            Satisfiable::No => return,
            Satisfiable::Unknown => {
                findings.undecided.push(Undecided::Overlap(first, second));
                return;
            }
            Satisfiable::Yes(witness) => witness,
        };
        // A buffer that a run can have is the better witness.
        let in_a_run = self
            .explored
            .as_ref()
            .map(|e| e.together.get(&(first, second)));
        let (witness, in_a_run) = match in_a_run {
            Some(Some(better)) => (better.clone(), Some(true)),
            Some(None) => (witness, Some(false)),
            None => (witness, (!self.tracked).then_some(true)),
        };
        findings.overlaps.push(Overlap {
            state: self.state,
            first,
            second,
            witness,
            in_a_run,
        });
    }

    fn find_edges_that_never_fire(&self, findings: &mut Findings) {
        let edges = self.machine.outgoing(self.state);
        for (i, edge) in edges.iter().enumerate() {
            if self
                .explored
                .as_ref()
                .is_some_and(|explored| explored.fired.contains(edge))
            {
                continue;
            }
            let formula = self.machine.bound_formula(*edge);
            let mut wanted = vec![(formula, true)];
            wanted.extend(
                edges[..i]
                    .iter()
                    .map(|e| (self.machine.bound_formula(*e), false)),
            );
            let signature = self.machine.signature();
            match find_buffer(&wanted, signature, self.steps()) {
                Satisfiable::No => {
                    let reason = match find_buffer(&[(formula, true)], signature, self.steps()) {
                        Satisfiable::No => NeverFires::Contradiction,
                        _ => NeverFires::Shadowed,
                    };
                    findings.never_fire.push((*edge, reason));
                }
                _ if self.explored.is_some() => {
                    findings.never_fire.push((*edge, NeverFires::LeftBefore));
                }
                // A buffer of one observation can occur in every run.
                Satisfiable::Yes(_)
                    if !self.tracked
                        || matches!(
                            find_first(&wanted, signature, self.steps()),
                            Satisfiable::Yes(_)
                        ) => {}
                _ => findings.undecided.push(Undecided::Fires(*edge)),
            }
        }
    }
}

/// The states reachable from `start` over edges that fire, or from which `start` is reachable.
fn closure(
    machine: &Machine,
    alive: &[bool],
    start: StateId,
    backwards: bool,
) -> BTreeSet<StateId> {
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
    let mut queue = vec![start];
    let mut reached = BTreeSet::from([start]);
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
    /// The states that edges lead to from this one, whatever their formulae; the state itself is one of them.
    pub fn reachable_from(&self, start: StateId) -> BTreeSet<StateId> {
        closure(self, &vec![true; self.edges().len()], start, false)
    }

    /// A generic signature for a machine without one: every ground atom that it names, two instances of every quantified atom over
    /// new objects `_1`, `_2`, …, and two atoms that it does not name.
    ///
    /// Two formulae that can hold together over any signature can hold together over this one: the first instance satisfies
    /// `exists` and the second `not forall`, and only a literal that contradicts the quantified atom itself affects them. A count needs one
    /// more than it counts, and each join objects of its own, apart from those of the others.
    pub fn generic_signature(&self) -> Signature {
        let atoms = self.atoms();
        let named: BTreeSet<&str> = atoms
            .iter()
            .flat_map(|atom| atom.constants())
            .map(Name::as_str)
            .collect();
        let mut quantified: Vec<&QuantifiedAtom> = Vec::new();
        let mut instances: Vec<GroundAtom> = self.unnamed_atoms().to_vec();
        for atom in &atoms {
            match atom {
                Atom::Ground(ground) => instances.push(ground.clone()),
                Atom::Quantified(atom) => quantified.push(atom),
            }
        }
        let joins = quantified.iter().filter(|atom| atom.single().is_none());
        let joins = joins.count();
        for atom in quantified {
            let copies = match atom.quantifier() {
                _ if atom.variables() == 0 => 1,
                Quantifier::AtLeast(count) => (count as usize).min(MOST_MADE_UP) + 1,
                _ => 2 + joins,
            };
            let variables = atom.variables() as usize;
            let fresh: Vec<Name> = (1..)
                .map(|i| format!("_{i}"))
                .filter(|name| !named.contains(name.as_str()))
                .take(copies * variables)
                .map(|name| Name::new(&name).expect("an underscore and digits are a name"))
                .collect();
            for copy in 0..copies {
                let value = |v: u32| &fresh[copy * variables + v as usize];
                instances.extend((atom.literals().iter()).map(|literal| literal.instance(value)));
            }
        }
        Signature::new(instances)
    }

    /// Two propositions that no edge tests, for observations of something else.
    pub fn unnamed_atoms(&self) -> [GroundAtom; 2] {
        let atoms = self.atoms();
        let named: BTreeSet<&str> = (atoms.iter())
            .flat_map(|atom| atom.predicates())
            .map(|(predicate, _)| predicate.as_str())
            .collect();
        ["other", "other2"].map(|word| {
            let mut name = word.to_owned();
            while named.contains(name.as_str()) {
                name.push('_');
            }
            GroundAtom::new(
                Name::new(&name).expect("letters and underscores are a name"),
                [],
            )
        })
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
    fn something_else_may_be_observed() {
        let (bound, f) = findings("u0 -> acc : not a\nu0 -> rej : not b", &[]);
        assert_eq!(
            f.overlaps[0].witness.describe(bound.signature()),
            "[{other}]"
        );
        let (_, f) = findings("u0 -> acc : not lava", &[]);
        assert_eq!(f.never_fire, []);
    }

    #[test]
    fn witnesses_say_whether_a_run_gets_there() {
        let edges = "u0 -> acc : forall X. yellow(X)\nu0 -> rej : lava and not exists X. yellow(X)";
        let (_, f) = findings(edges, &["yellow(o1)", "yellow(o2)", "lava"]);
        assert_eq!((f.overlaps.len(), f.overlaps[0].in_a_run), (1, Some(false)));
        let edges = "u0 -> acc : forall X. yellow(X)\nu0 -> rej : lava";
        let (bound, f) = findings(edges, &["yellow(o1)", "yellow(o2)", "lava"]);
        assert_eq!(f.overlaps[0].in_a_run, Some(true));
        let witness = f.overlaps[0].witness.describe(bound.signature());
        assert!(
            witness.ends_with("lava, yellow(o1), yellow(o2)}]"),
            "{witness}"
        );
    }

    #[test]
    fn what_is_too_large_to_explore_does_not_spoil_the_rest() {
        let conjunction: Vec<String> = (0..20).map(|i| format!("forall X. p{i}(X)")).collect();
        let (_, f) = findings(&format!("u0 -> acc : {}", conjunction.join(" and ")), &[]);
        // Everything at once, at the first observation.
        assert!(
            f.is_deterministic() && f.undecided.is_empty() && f.never_fire.is_empty(),
            "{f:?}"
        );
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
