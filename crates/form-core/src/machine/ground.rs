//! Grounding: the equivalent propositional machine for one signature (paper, Figures 4b, 8 and 9).
//!
//! A window needs memory, which a propositional machine keeps in its states: state u splits into one state per set S of atoms
//! already observed of those that u's `forall`s, `atleast`s and `once`s look for. There, `forall X. p(X)` means "the instances outside
//! S are all in this observation", `once p(o)` is settled if S has it, and `exists X. p(X)` is a disjunction. Observing some awaited
//! atoms without leaving u leads from S to a larger set.

use std::collections::{HashMap, HashSet, VecDeque};

use super::atomic_test::{Scope, Test};
use super::bound::{BoundFormula, BoundMachine};
use super::join::Condition;
use super::machine::{Machine, StateId};
use super::observations::Observations;
use super::satisfy::{Satisfiable, find_buffer};
use crate::error::{Error, Result};
use crate::logic::atom::Atom;
use crate::logic::atom_set::{AtomId, AtomSet};
use crate::logic::dnf::{Cube, absorb, dnf};
use crate::logic::formula::Formula;
use crate::logic::signature::Signature;
use crate::logic::truth::satisfies;

/// How to ground.
#[derive(Clone, Debug)]
pub struct GroundOptions {
    /// The observations for which the result is equivalent. `Single` gives the machines of the paper's figures.
    pub observations: GroundObservations,
    /// The maximum number of edges; more are an error.
    pub max_edges: usize,
}

/// The observations that a grounded machine is equivalent for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroundObservations {
    /// Every set of atoms.
    All,
    /// One atom at a time.
    Single,
}

impl From<GroundObservations> for Observations {
    fn from(observations: GroundObservations) -> Self {
        match observations {
            GroundObservations::All => Self::All,
            GroundObservations::Single => Self::Single,
        }
    }
}

impl Default for GroundOptions {
    fn default() -> Self {
        Self {
            observations: GroundObservations::All,
            max_edges: 200_000,
        }
    }
}

/// The maximum number of cubes for which a formula is split into parallel edges.
const MAX_PARALLEL: usize = 64;

/// The maximum number of combinations of atoms that one atomic formula becomes.
const MAX_CHOICES: usize = 5_000;

/// The maximum number of awaited atoms, where all subsets are enumerated and where one atom comes at a time.
const MAX_AWAITED: usize = 16;
const MAX_AWAITED_SINGLE: usize = 20;

/// A propositional machine that is equivalent to the given one over the observations.
pub fn ground(machine: &BoundMachine, options: &GroundOptions) -> Result<Machine> {
    let lifted = machine.machine();
    let mut grounding = Grounding {
        machine,
        options,
        names: Names::new(lifted),
        queue: VecDeque::from([(lifted.initial(), AtomSet::new())]),
        reached: HashSet::from([(lifted.initial(), AtomSet::new())]),
        edges: Vec::new(),
    };
    // Breadth first: states are in the order that a reader expects.
    while let Some((state, seen)) = grounding.queue.pop_front() {
        grounding.state(state, &seen)?;
    }
    let mut builder = Machine::builder(&format!("{}_ground", lifted.name()))
        .initial(lifted.state_name(lifted.initial()))
        .accept(lifted.state_name(lifted.accept()))
        .step_mode(lifted.step_mode());
    if let Some(reject) = lifted.reject() {
        builder = builder.reject(lifted.state_name(reject));
    }
    for GroundEdge {
        from,
        to,
        formula,
        reward,
    } in grounding.edges
    {
        builder = builder.edge_with(&from, &to, formula, reward);
    }
    builder.build()
}

/// A state of the grounded machine: a state, and the observed atoms of those that it waits for.
type Split = (StateId, AtomSet);

struct Grounding<'a> {
    machine: &'a BoundMachine,
    options: &'a GroundOptions,
    names: Names,
    queue: VecDeque<Split>,
    reached: HashSet<Split>,
    edges: Vec<GroundEdge>,
}

struct GroundEdge {
    from: String,
    to: String,
    formula: Formula,
    reward: Option<f64>,
}

impl Grounding<'_> {
    fn state(&mut self, state: StateId, seen: &AtomSet) -> Result<()> {
        let signature = self.machine.signature();
        let awaited: Vec<AtomId> = self
            .machine
            .progress_atoms(state)
            .difference(seen)
            .iter()
            .collect();
        let mut earlier: Vec<Formula> = Vec::new();
        for id in self.machine.outgoing(state) {
            let edge = self.machine.machine().edge(*id);
            let formula = self.propositional(&edge.formula, seen)?;
            if edge.to == state {
                // A self-loop keeps the buffer, with the atoms just observed.
                for seen_now in self.subsets(state, &awaited)? {
                    let to = (state, seen.union(&seen_now));
                    let formula =
                        Formula::all([formula.clone(), exactly(&seen_now, &awaited, signature)]);
                    self.edge(state, seen, to, &formula, edge.reward)?;
                }
            } else {
                self.edge(
                    state,
                    seen,
                    (edge.to, AtomSet::new()),
                    &formula,
                    edge.reward,
                )?;
            }
            earlier.push(formula);
        }
        // No edge fires, but some awaited atoms are observed.
        for seen_now in self.subsets(state, &awaited)? {
            let formula = exactly(&seen_now, &awaited, signature);
            if !seen_now.is_empty() && self.can_stay(&formula, &seen_now, &earlier) {
                let to = (state, seen.union(&seen_now));
                self.edge(state, seen, to, &formula, None)?;
            }
        }
        Ok(())
    }

    /// The formula over ground atoms, in a state where the atoms `seen` have been observed.
    fn propositional(&self, formula: &Formula, seen: &AtomSet) -> Result<Formula> {
        let signature = self.machine.signature();
        let mut failed = None;
        let formula = formula.substitute(|atom| {
            if matches!(atom, Atom::Ground(_)) {
                return None;
            }
            let residue = Test::bind(atom, signature, None).and_then(|test| {
                residue(&test, seen, signature).ok_or_else(|| Error::Limit {
                    what: format!("combinations of atoms for `{atom}`"),
                    limit: MAX_CHOICES,
                    hint: "ground for fewer objects".to_owned(),
                })
            });
            residue.map_err(|error| failed = Some(error)).ok()
        });
        failed.map_or(Ok(formula), Err)
    }

    /// The sets of awaited atoms that an observation may contain.
    fn subsets(&self, state: StateId, awaited: &[AtomId]) -> Result<Vec<AtomSet>> {
        let single = self.options.observations == GroundObservations::Single;
        let limit = if single {
            MAX_AWAITED_SINGLE
        } else {
            MAX_AWAITED
        };
        if awaited.len() > limit {
            let hint = if single {
                "the machine would have a state for each set of them"
            } else {
                "ground for one atom at a time (`form ground --observations single`)"
            };
            return Err(Error::Limit {
                what: format!(
                    "{} atoms that state {} waits for",
                    awaited.len(),
                    self.machine.machine().state_name(state)
                ),
                limit,
                hint: hint.to_owned(),
            });
        }
        if single {
            let singles = awaited.iter().map(|id| AtomSet::from_iter([*id]));
            return Ok([AtomSet::new()].into_iter().chain(singles).collect());
        }
        let subset = |bits: u32| {
            awaited
                .iter()
                .enumerate()
                .filter(move |(i, _)| bits >> i & 1 == 1)
        };
        let all = (0..1_u32 << awaited.len()).map(|bits| subset(bits).map(|(_, id)| *id).collect());
        let mut all: Vec<AtomSet> = all.collect();
        all.sort();
        Ok(all)
    }

    /// Whether there is an observation that satisfies the formula and fires no edge.
    fn can_stay(&self, formula: &Formula, seen_now: &AtomSet, edges: &[Formula]) -> bool {
        let signature = self.machine.signature();
        if self.options.observations == GroundObservations::Single {
            let buffer = std::slice::from_ref(seen_now);
            return !edges.iter().any(|edge| satisfies(buffer, edge, signature));
        }
        let bind = |formula: &Formula| {
            BoundFormula::new(formula, signature, None)
                .expect("grounding only names atoms of the signature")
        };
        let edges: Vec<BoundFormula> = edges.iter().map(bind).collect();
        let formula = bind(formula);
        let mut wanted: Vec<(&BoundFormula, bool)> =
            edges.iter().map(|edge| (edge, false)).collect();
        wanted.push((&formula, true));
        let steps = self.machine.machine().step_mode();
        find_buffer(&wanted, signature, steps) != Satisfiable::No
    }

    /// Adds the edge, as parallel edges if its formula is a disjunction, unless it is contradictory.
    fn edge(
        &mut self,
        from: StateId,
        seen: &AtomSet,
        to: Split,
        formula: &Formula,
        reward: Option<f64>,
    ) -> Result<()> {
        let signature = self.machine.signature();
        let parts: Vec<Formula> = match dnf(formula, signature, MAX_PARALLEL) {
            None => vec![formula.clone()],
            Some(cubes) => {
                let single = self.options.observations == GroundObservations::Single;
                let cubes = if single { one_at_a_time(cubes) } else { cubes };
                cubes
                    .iter()
                    .map(|cube| cube.to_formula(signature))
                    .collect()
            }
        };
        if parts.is_empty() {
            return Ok(());
        }
        let (from, target) = (
            self.names.of(from, seen, signature),
            self.names.of(to.0, &to.1, signature),
        );
        if self.reached.insert(to.clone()) {
            self.queue.push_back(to);
        }
        for formula in parts {
            self.edges.push(GroundEdge {
                from: from.clone(),
                to: target.clone(),
                formula,
                reward,
            });
        }
        if self.edges.len() > self.options.max_edges {
            return Err(Error::Limit {
                what: "edges of the grounded machine".to_owned(),
                limit: self.options.max_edges,
                hint: "ground for one atom at a time (`form ground --observations single`), for fewer objects, or raise the limit (`--max-edges`)".to_owned(),
            });
        }
        Ok(())
    }
}

/// What a test means for the newest observation, in a state where the atoms `seen` have been observed. `None` if that has too many
/// parts.
fn residue(test: &Test, seen: &AtomSet, signature: &Signature) -> Option<Formula> {
    let atom = |id| Formula::atom(signature.atom(id).clone());
    let mask = &test.mask;
    Some(match &test.scope {
        Scope::AnyNewest => Formula::any(mask.iter().map(atom)),
        Scope::AllSeen => Formula::all(mask.difference(seen).iter().map(atom)),
        Scope::AnySeen | Scope::AtLeast(_) if test.holds(seen, seen) => Formula::truth(),
        Scope::AnySeen => Formula::any(mask.iter().map(atom)),
        Scope::AtLeast(count) => {
            let missing: Vec<AtomId> = mask.difference(seen).iter().collect();
            let wanted = *count as usize - (mask.len() - missing.len());
            let choices = choices(&missing, wanted)?;
            Formula::any(
                (choices.iter()).map(|choice| Formula::all(choice.iter().map(|id| atom(*id)))),
            )
        }
        Scope::Join(join) => {
            let mut parts: Vec<Formula> = Vec::new();
            for conditions in join.substitutions() {
                let settled = |c: &&Condition| c.once && seen.contains(c.atom);
                if conditions.iter().any(|c| c.negated && settled(&c)) {
                    continue;
                }
                let open = conditions.iter().filter(|c| !settled(c));
                let part = Formula::all(open.map(|c| match c.negated {
                    true => atom(c.atom).negated(),
                    false => atom(c.atom),
                }));
                if !parts.contains(&part) {
                    parts.push(part);
                }
                if parts.len() > MAX_CHOICES {
                    return None;
                }
            }
            Formula::any(parts)
        }
    })
}

/// All choices of `wanted` of the atoms; `None` if there are too many.
fn choices(atoms: &[AtomId], wanted: usize) -> Option<Vec<Vec<AtomId>>> {
    // By number of atoms: the choices among those so far.
    let mut chosen: Vec<Vec<Vec<AtomId>>> = vec![vec![Vec::new()]];
    chosen.resize(wanted + 1, Vec::new());
    for atom in atoms {
        for size in (1..=wanted).rev() {
            let longer = chosen[size - 1].iter().map(|choice| {
                let mut longer = choice.clone();
                longer.push(*atom);
                longer
            });
            let longer: Vec<Vec<AtomId>> = longer.collect();
            chosen[size].extend(longer);
            if chosen[size].len() > MAX_CHOICES {
                return None;
            }
        }
    }
    chosen.pop()
}

/// Exactly these of the awaited atoms are observed.
fn exactly(seen_now: &AtomSet, awaited: &[AtomId], signature: &Signature) -> Formula {
    let (positive, negative) = awaited
        .iter()
        .copied()
        .partition(|id| seen_now.contains(*id));
    Cube { positive, negative }.to_formula(signature)
}

/// The cubes where only one atom comes at a time: two positive atoms never hold, and one makes negative ones superfluous.
fn one_at_a_time(cubes: Vec<Cube>) -> Vec<Cube> {
    let simplify = |cube: Cube| match cube.positive.len() {
        0 => Some(cube),
        1 => Some(Cube {
            negative: AtomSet::new(),
            ..cube
        }),
        _ => None,
    };
    let limit = cubes.len();
    absorb(cubes.into_iter().filter_map(simplify), limit).expect("there are no more than before")
}

/// The names of the split states: `u0`, `u0_yellow_o1`, ….
struct Names {
    given: HashMap<Split, String>,
    taken: HashSet<String>,
}

impl Names {
    fn new(machine: &Machine) -> Self {
        let unsplit = machine
            .state_ids()
            .map(|id| ((id, AtomSet::new()), machine.state_name(id).to_owned()));
        let given: HashMap<Split, String> = unsplit.collect();
        let taken = given.values().cloned().collect();
        Self { given, taken }
    }

    fn of(&mut self, state: StateId, seen: &AtomSet, signature: &Signature) -> String {
        let split = (state, seen.clone());
        if let Some(name) = self.given.get(&split) {
            return name.clone();
        }
        let mut name = self.given[&(state, AtomSet::new())].clone();
        for id in seen.iter() {
            let atom = signature.atom(id);
            let words = std::iter::once(atom.predicate()).chain(atom.constants());
            name.extend(words.map(|word| format!("_{word}")));
        }
        while !self.taken.insert(name.clone()) {
            name.push('_');
        }
        self.given.insert(split, name.clone());
        name
    }
}
