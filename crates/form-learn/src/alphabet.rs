//! The alphabet: the letters that edges are made of, where every observation has one atom at most and no atom is quantified.
//!
//! Then an observation is a letter, an edge has one positive literal, and from each state a letter leads to one target at most.
//! Two edges of a state to different targets need one negation, on either of them, and no negation serves two pairs. So a machine
//! costs exactly twice the number of its letters, plus the pairs of letters that lead from one state to different targets. The
//! negations are placed by a local rule that the tie-break implies.

use std::cmp::Reverse;

use form_core::{AtomSet, Formula};

use crate::follow::Edges;
use crate::outcome::{Cost, Learnt};
use crate::problem::Problem;
use crate::shape::Shape;
use crate::vocabulary::LearnableAtom;

/// The letters.
#[derive(Clone)]
pub(crate) struct Alphabet {
    /// For each letter its atom.
    pub(crate) atoms: Vec<LearnableAtom>,
}

/// A consistent machine over letters.
pub(crate) struct Lettered {
    pub(crate) learnt: Learnt,
    pub(crate) edges: Edges,
    order: Reverse<Vec<bool>>,
}

impl Lettered {
    /// The order of machines of the same cost, the best first, as the encoding ranks them.
    pub(crate) fn precedes(&self, other: &Self) -> bool {
        (self.learnt.cost, &self.order) < (other.learnt.cost, &other.order)
    }
}

impl Alphabet {
    /// The letters of a problem, those that are observed, if its observations are letters.
    pub(crate) fn new(problem: &Problem) -> Option<Self> {
        let observations = problem.traces.observations();
        let vocabulary = &problem.vocabulary;
        let atoms_of = |observation: &AtomSet| {
            let meets = |atom: &&LearnableAtom| atom.mask.intersects(observation);
            vocabulary.iter().filter(meets).take(2).count()
        };
        if !problem.options.techniques.letters
            || vocabulary.iter().any(|atom| atom.window.is_some())
            || observations.iter().any(|o| atoms_of(o) > 1)
        {
            return None;
        }
        let observed = |atom: &&LearnableAtom| observations.iter().any(|o| atom.mask.intersects(o));
        Some(Self {
            atoms: vocabulary.iter().filter(observed).cloned().collect(),
        })
    }

    /// The best machine with these edges. Of two edges to different targets the first denies the other, unless only that would
    /// name objects.
    pub(crate) fn machine(&self, shape: &Shape, edges: Edges) -> Lettered {
        let ground = |letter: usize| usize::from(self.atoms[letter].ground);
        let denied: Vec<Vec<usize>> = (edges.iter().enumerate())
            .map(|(i, (from, to, letter))| {
                let denies = |(j, other): &(usize, &(usize, usize, usize))| {
                    let apart = other.0 == *from && other.1 != *to;
                    apart && (ground(other.2), *j < i) < (ground(*letter), i < *j)
                };
                let others = edges.iter().enumerate().filter(denies);
                let mut denied: Vec<usize> = others.map(|(_, other)| other.2).collect();
                denied.sort_unstable();
                denied
            })
            .collect();
        let formula = |(i, (_, _, letter)): (usize, &(usize, usize, usize))| {
            let atom = |letter: &usize| Formula::atom(self.atoms[*letter].atom.clone());
            let negative = denied[i].iter().map(|denied| atom(denied).negated());
            Formula::all([atom(letter)].into_iter().chain(negative))
        };
        let named = (edges.iter().map(|edge| edge.2)).chain(denied.iter().flatten().copied());
        let negative = denied.iter().map(Vec::len).sum::<usize>();
        let cost = Cost {
            size: 2 * edges.len() + negative,
            ground: named.map(ground).sum(),
            negative,
        };
        let formulae = edges.iter().enumerate().map(formula);
        let parts = edges.iter().map(|(from, to, _)| (*from, *to));
        let machine = shape.machine(parts.zip(formulae).map(|((from, to), f)| (from, to, f)));
        Lettered {
            order: Reverse(self.in_order(shape, &edges, &denied)),
            learnt: Learnt {
                machine,
                states: shape.states,
                cost,
            },
            edges,
        }
    }

    /// The machine in the order of the tie-break: which slots have an edge, then their literals, slot by slot.
    fn in_order(&self, shape: &Shape, edges: &Edges, denied: &[Vec<usize>]) -> Vec<bool> {
        let (mut present, mut contents) = (Vec::new(), Vec::new());
        let mut next = 0;
        for from in 0..shape.states {
            for to in shape.targets(from) {
                for _ in 0..shape.options.max_disjuncts {
                    let here = (edges.get(next)).filter(|edge| (edge.0, edge.1) == (from, to));
                    present.push(here.is_some());
                    let letters = 0..self.atoms.len();
                    contents.extend(
                        (letters.clone()).map(|a| here.is_some_and(|(_, _, letter)| a == *letter)),
                    );
                    contents.extend(letters.map(|a| here.is_some() && denied[next].contains(&a)));
                    next += usize::from(here.is_some());
                }
            }
        }
        present.extend(contents);
        present
    }
}
