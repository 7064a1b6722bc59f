//! Claims about machines, and the clauses of the query for a machine that violates a claim.
//!
//! There are two claims. *No machine with fewer states* is consistent with the traces. *Every machine with as many states that
//! is no larger has this edge*: from its i-th state to its j-th one, with exactly this label or at least these literals, for
//! some [numbering](super::numbering) of its states.
//!
//! The machines are those of the encoding, in which an edge enters every state but the initial one. It excludes literals that
//! are idle on all observations of the data (see `encode::idle`), so the second claim is about machines without such. The first
//! is not affected: without its idle literals a machine is as consistent and has no more states.

use form_core::{Atom, Formula, Machine};

use super::Criterion;
use super::numbering::{Ends, can_be_renumbered};
use crate::encode::{EdgeSlot, Encoding, Lit, Measure};
use crate::outcome::Learnt;

/// A claim that traces may prove.
#[derive(Clone, Debug)]
pub(super) enum Claim<'a> {
    /// No machine with fewer states than this is consistent.
    States(usize),
    /// Every machine as good as the learnt one has an edge.
    Edge(EdgeClaim<'a>),
}

/// The claim about one edge of the learnt machine.
#[derive(Clone, Debug)]
pub(super) struct EdgeClaim<'a> {
    learnt: &'a Learnt,
    ends: Ends,
    /// The literals of its label that are claimed; all of it, and nothing else, if `exact`.
    label: Vec<(Atom, bool)>,
    exact: bool,
    criterion: Criterion,
    cyclic: bool,
    /// How machines have the edge in another numbering than that of the encoding.
    renumbered: Vec<Renumbered>,
}

/// The ends of the edge in another numbering, and all edges between non-terminal states that a machine may have for that
/// numbering to exist.
#[derive(Clone, Debug)]
pub(super) struct Renumbered {
    ends: Ends,
    joined: Vec<Ends>,
}

impl Claim<'_> {
    /// The numbers of states for which no machine may violate the claim.
    pub(super) fn states(&self) -> Vec<usize> {
        match self {
            Self::States(fewer_than) => (1..*fewer_than).rev().collect(),
            Self::Edge(edge) => vec![edge.learnt.states],
        }
    }

    /// The bounds on the machines that the claim is about.
    pub(super) fn bounds(&self) -> Vec<(Measure, usize)> {
        let Self::Edge(edge) = self else {
            return Vec::new();
        };
        let cost = edge.learnt.cost;
        let bounds = [
            (Criterion::Size, Measure::Cost, cost.size),
            (Criterion::Ground, Measure::Ground, cost.ground),
            (Criterion::Negative, Measure::Negative, cost.negative),
        ];
        let counted = bounds
            .into_iter()
            .filter(|(criterion, ..)| *criterion <= edge.criterion);
        counted
            .map(|(_, measure, bound)| (measure, bound))
            .collect()
    }

    /// The clauses for machines that violate the claim.
    pub(super) fn clauses(&self, encoding: &Encoding) -> Vec<Vec<Lit>> {
        match self {
            Self::States(_) => Vec::new(),
            Self::Edge(edge) => edge.clauses(encoding),
        }
    }

    /// Whether a machine of the encoding violates the claim. `in_order`: it is known to come no later than the learnt one in the
    /// order of the tie-break.
    pub(super) fn is_violated_by(&self, machine: &Learnt, in_order: bool) -> bool {
        match self {
            Self::States(fewer_than) => machine.states < *fewer_than,
            Self::Edge(edge) => {
                machine.states == edge.learnt.states
                    && (in_order || edge.criterion.admits(machine, edge.learnt))
                    && edge.found_in(&machine.machine).is_none()
            }
        }
    }

    /// Whether machines that come later in the order of the tie-break are excluded.
    pub(super) fn is_about_order(&self) -> bool {
        matches!(self, Self::Edge(edge) if edge.criterion == Criterion::Order)
    }
}

impl<'a> EdgeClaim<'a> {
    /// The claim that machines have an edge of the learnt one.
    pub(super) fn new(
        learnt: &'a Learnt,
        number: usize,
        criterion: Criterion,
        cyclic: bool,
    ) -> Self {
        let edge = &learnt.machine.edges()[number];
        Self {
            learnt,
            ends: ends(edge),
            label: owned(&edge.formula),
            exact: true,
            criterion,
            cyclic,
            renumbered: Vec::new(),
        }
    }

    /// The weaker claim that machines have only the literals that the edge shares with the edge of another machine; `None` if
    /// that machine has no edge there.
    pub(super) fn weakened(&self, machine: &Machine) -> Option<Self> {
        let joined = self.joined(machine);
        let shared = |edge: &form_core::Edge| -> Vec<(Atom, bool)> {
            let other = edge.formula.literals();
            let label = self.label.iter();
            label
                .filter(|(atom, positive)| other.contains(&(atom, *positive)))
                .cloned()
                .collect()
        };
        let labels = (machine.edges().iter())
            .filter(|edge| self.fits(ends(edge), &joined))
            .map(shared);
        Some(Self {
            label: labels.max_by_key(Vec::len)?,
            exact: false,
            renumbered: Vec::new(),
            ..self.clone()
        })
    }

    /// The literals that are claimed.
    pub(super) fn formula(&self) -> Formula {
        let literals = self.label.iter().map(|(atom, positive)| {
            let formula = Formula::atom(atom.clone());
            if *positive {
                formula
            } else {
                formula.negated()
            }
        });
        Formula::all(literals)
    }

    fn clauses(&self, encoding: &Encoding) -> Vec<Vec<Lit>> {
        // With cycles any numbering is possible.
        let here = |slot: &&EdgeSlot| {
            let found = (slot.from, slot.to);
            found == self.ends || self.cyclic && self.fits(found, &[])
        };
        let mut clauses: Vec<Vec<Lit>> = (encoding.slots().iter().filter(here))
            .map(|slot| self.not_at(encoding, slot))
            .collect();
        for renumbered in &self.renumbered {
            clauses.extend(self.not_renumbered(encoding, renumbered));
        }
        if self.criterion == Criterion::Order {
            clauses.extend(self.no_later(encoding));
        }
        clauses
    }

    /// The edge is not in this slot.
    fn not_at(&self, encoding: &Encoding, slot: &EdgeSlot) -> Vec<Lit> {
        let literals = literals(encoding, slot, &self.label);
        let mut clause = vec![-slot.present];
        clause.extend(literals.into_iter().filter_map(|(literal, holds)| {
            if holds {
                Some(-literal)
            } else {
                self.exact.then_some(literal)
            }
        }));
        clause
    }

    /// The machine does not have the edge in this numbering.
    fn not_renumbered(&self, encoding: &Encoding, renumbered: &Renumbered) -> Vec<Vec<Lit>> {
        let slots = || encoding.slots().iter();
        let further: Vec<Lit> = slots()
            .filter(|slot| slot.to < self.learnt.states)
            .filter(|slot| !renumbered.joined.contains(&(slot.from, slot.to)))
            .map(|slot| slot.present)
            .collect();
        slots()
            .filter(|slot| (slot.from, slot.to) == renumbered.ends)
            .map(|slot| [self.not_at(encoding, slot), further.clone()].concat())
            .collect()
    }

    /// The machine does not come after the learnt one in the order of the tie-break.
    ///
    /// The order prefers the machine that has the first literal in which two of them differ. So where the learnt machine has
    /// a literal, the other one has it too, or has an earlier one that the learnt machine does not have.
    fn no_later(&self, encoding: &Encoding) -> Vec<Vec<Lit>> {
        let slots = encoding.slots();
        let mut edges = self.learnt.machine.edges().iter().peekable();
        let mut order: Vec<(Lit, bool)> = Vec::new();
        let mut labels: Vec<(Lit, bool)> = Vec::new();
        for slot in slots {
            // Edges are in the order of their slots, parallel ones in the first slots.
            let edge = edges.next_if(|edge| ends(edge) == (slot.from, slot.to));
            order.push((slot.present, edge.is_some()));
            if let Some(edge) = edge {
                labels.extend(literals(encoding, slot, &owned(&edge.formula)));
            }
        }
        order.extend(labels);
        let mut earlier = Vec::new();
        let mut clauses = Vec::new();
        for (literal, holds) in order {
            if holds {
                clauses.push([&earlier[..], &[literal]].concat());
            } else {
                earlier.push(literal);
            }
        }
        clauses
    }

    /// How a machine has the edge, in its own numbering, if it has it at all.
    fn found_in(&self, machine: &Machine) -> Option<Renumbered> {
        let joined = self.joined(machine);
        let has = |edge: &&form_core::Edge| {
            let other = edge.formula.literals();
            let mut label = self.label.iter();
            label.all(|(atom, positive)| other.contains(&(atom, *positive)))
                && !(self.exact && other.len() != self.label.len())
                && self.fits(ends(edge), &joined)
        };
        let edge = machine.edges().iter().find(has)?;
        Some(Renumbered {
            ends: ends(edge),
            joined,
        })
    }

    /// Blocking clauses for a machine of the encoding that has the edge after all, in another numbering, and for all machines
    /// that have it so. `None`: the machine does not have it.
    pub(super) fn block(
        &mut self,
        encoding: &Encoding,
        machine: &Machine,
    ) -> Option<Vec<Vec<Lit>>> {
        let renumbered = self.found_in(machine)?;
        let clauses = self.not_renumbered(encoding, &renumbered);
        self.renumbered.push(renumbered);
        Some(clauses)
    }

    /// Whether an edge with these ends has those of the claim in some numbering of a machine.
    fn fits(&self, found: Ends, joined: &[Ends]) -> bool {
        can_be_renumbered(self.learnt.states, joined, found, self.ends, self.cyclic)
    }

    /// The edges of a machine between non-terminal states.
    fn joined(&self, machine: &Machine) -> Vec<Ends> {
        let ends = machine.edges().iter().map(ends);
        ends.filter(|(_, to)| *to < self.learnt.states).collect()
    }
}

fn ends(edge: &form_core::Edge) -> Ends {
    (edge.from.index(), edge.to.index())
}

fn owned(formula: &Formula) -> Vec<(Atom, bool)> {
    let literals = formula.literals().into_iter();
    literals
        .map(|(atom, positive)| (atom.clone(), positive))
        .collect()
}

/// The literals of a slot in the order of the tie-break, and which of them make up a label.
fn literals(encoding: &Encoding, slot: &EdgeSlot, label: &[(Atom, bool)]) -> Vec<(Lit, bool)> {
    let with = |literals: &[Lit], positive: bool| -> Vec<(Lit, bool)> {
        let belongs = |atom: &Atom| label.iter().any(|(a, p)| a == atom && *p == positive);
        (literals.iter().zip(encoding.vocabulary()))
            .map(|(literal, learnable)| (*literal, belongs(&learnable.atom)))
            .collect()
    };
    [with(&slot.positive, true), with(&slot.negative, false)].concat()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use form_core::TraceFile;

    use super::*;
    use crate::budget::Budget;
    use crate::explain::query::Context;
    use crate::explain::unsat_core::{Prover, Verdict};
    use crate::{Learner, Limits, Options};

    /// If the learnt machine itself violates the claim, the solver must find it, and can find no other one: it is the first in
    /// order of a fresh encoding with all traces that refute others.
    #[test]
    fn the_learnt_machine_is_the_first_of_its_encoding() {
        for task in ["all_yellow", "green_but_one"] {
            let path =
                Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../examples/{task}.jsonl"));
            let open = || TraceFile::open(&path).unwrap();
            let signature = open().signature().unwrap();
            let options = Options::default();
            let mut learner = Learner::new(&signature, &options);
            for (_, trace) in open().traces(&signature).unwrap() {
                learner.add(&trace);
            }
            learner.learn(&Limits::default()).unwrap();
            let learnt = learner.minimal().unwrap();
            let context = Context {
                problem: learner.problem(),
                budget: &Budget::default(),
            };
            let mut edge = EdgeClaim::new(learnt, 0, Criterion::Order, false);
            // No machine has an edge with a contradiction on it.
            edge.label.push((edge.label[0].0.clone(), false));
            match Prover::new(context).prove(&mut Claim::Edge(edge)) {
                Ok(Verdict::Refuted(machine)) => assert_eq!(machine, *learnt, "{task}"),
                Ok(Verdict::Proven(proof)) => panic!("{task}: {proof:?}"),
                Err(reason) => panic!("{task}: {reason:?}"),
            }
        }
    }
}
