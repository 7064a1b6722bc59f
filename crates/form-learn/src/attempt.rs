//! One number of states: propose a machine, look for traces that refute it, add them, propose again.
//!
//! Few traces matter, so the solver sees few; the evaluator of `form-core`, which knows nothing of the encoding, sees all
//! of them.

use form_core::{BoundMachine, Kind, Signature};

use crate::data::{Data, Refutation};
use crate::decode::{Design, decode};
use crate::encode::{Encoding, Lit, Shape};
use crate::outcome::Learnt;
use crate::problem::Options;
use crate::tree::Tree;
use crate::vocabulary::Candidate;
use crate::watch::Watch;

/// What every attempt reads: the data, and what machines are made of.
pub(crate) struct Given {
    pub(crate) signature: Signature,
    pub(crate) options: Options,
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) data: Data,
}

impl Given {
    /// A machine made of the signature's atoms, ready to be run.
    pub(crate) fn bound(&self, learnt: &Learnt) -> BoundMachine {
        (learnt.machine.bind(&self.signature)).expect("edges are made of the signature's atoms")
    }

    /// What refutes a machine, among the traces from number `from` on.
    pub(crate) fn refutations(&self, learnt: &Learnt, from: usize) -> Vec<Refutation> {
        self.data.refutations(&self.bound(learnt), from)
    }

    /// A tree without traces.
    pub(crate) fn bare_tree(&self) -> Tree {
        let foralls = (self.candidates.iter())
            .filter(|candidate| candidate.forall)
            .map(|candidate| candidate.mask.clone());
        Tree::new(foralls.collect())
    }

    /// Machines with so many states for the traces there are.
    pub(crate) fn shape(&self, states: usize) -> Shape {
        let reached = [Kind::Goal, Kind::DeadEnd].map(|kind| self.data.has(kind));
        Shape {
            states,
            rejecting: reached[1],
            reached,
            options: self.options.clone(),
        }
    }

    /// A tree of the shortest trace of each end.
    fn seeds(&self) -> Tree {
        let mut tree = self.bare_tree();
        for seed in [Kind::Goal, Kind::DeadEnd]
            .into_iter()
            .filter_map(|kind| self.data.shortest(kind))
        {
            tree.add(seed.kind, self.data.steps(&seed), self.data.observations());
        }
        tree
    }
}

/// The answer to a question.
pub(crate) enum Answer {
    /// A machine that is consistent with all traces.
    Found(Design),
    /// There is none.
    Nothing,
    /// The allowance is used up, or a limit was reached.
    Undecided,
}

/// What has been used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Effort {
    pub(crate) counterexamples: usize,
    /// Their observations that were not known before.
    pub(crate) steps: usize,
    pub(crate) calls: usize,
    pub(crate) clauses: usize,
}

/// The search for a machine with a given number of states.
pub(crate) struct Attempt {
    /// The parts of traces that the solver knows.
    tree: Tree,
    encoding: Encoding,
    counterexamples: usize,
    /// How many nodes the tree began with.
    planted: usize,
    /// How many observations it was made for.
    observations: usize,
}

impl Attempt {
    /// Begins with the shortest traces. What refuted smaller machines is mostly of no use for larger ones, and would slow
    /// them down. Nothing if a limit was reached meanwhile.
    pub(crate) fn new(given: &Given, states: usize, watch: &Watch) -> Option<Self> {
        Self::knowing(given, (states, given.seeds()), watch)
    }

    /// Begins with what another one knows.
    pub(crate) fn knowing(
        given: &Given,
        (states, tree): (usize, Tree),
        watch: &Watch,
    ) -> Option<Self> {
        let observations = given.data.observations();
        let mut encoding =
            Encoding::new(given.shape(states), &given.candidates, observations, watch)?;
        encoding.extend(&tree, observations);
        Some(Self {
            planted: tree.len(),
            tree,
            encoding,
            counterexamples: 0,
            observations: observations.len(),
        })
    }

    /// The parts of traces that it knows, for another attempt with the same number of states.
    pub(crate) fn known(&self) -> (usize, Tree) {
        (self.encoding.shape().states, self.tree.clone())
    }

    /// Whether its clauses are still right: there are no new observations, and no first trace of an end.
    pub(crate) fn fits(&self, given: &Given) -> bool {
        self.observations == given.data.observations().len()
            && *self.encoding.shape() == given.shape(self.encoding.shape().states)
    }

    pub(crate) fn encoding(&mut self) -> &mut Encoding {
        &mut self.encoding
    }

    pub(crate) fn effort(&self) -> Effort {
        let (calls, clauses) = self.encoding.effort();
        Effort {
            counterexamples: self.counterexamples,
            steps: self.tree.len() - self.planted,
            calls,
            clauses,
        }
    }

    /// Asks for a machine under assumptions, and again with every trace that refutes the answer, until it is consistent
    /// with all of them or there is none. With an allowance, each call of the solver may take so many conflicts, and there
    /// are so many calls.
    pub(crate) fn ask(
        &mut self,
        given: &Given,
        assumptions: &[Lit],
        allowance: Option<Allowance>,
    ) -> Answer {
        let mut calls = 0;
        while allowance.is_none_or(|allowance| calls < allowance.calls) {
            calls += 1;
            let answer = match allowance {
                None => self.encoding.solve(assumptions),
                Some(allowance) => self
                    .encoding
                    .solve_limited(assumptions, allowance.conflicts),
            };
            match answer {
                Some(false) => return Answer::Nothing,
                None => return Answer::Undecided,
                Some(true) => {
                    let design = decode(&self.encoding);
                    if !self.refutes(given, &design.learnt, 0) {
                        return Answer::Found(design);
                    }
                }
            }
        }
        Answer::Undecided
    }

    /// Whether some trace from number `from` on refutes the machine; the solver then knows it. For an attempt that
    /// [fits](Self::fits).
    pub(crate) fn refutes(&mut self, given: &Given, learnt: &Learnt, from: usize) -> bool {
        let refutations = given.refutations(learnt, from);
        let observations = given.data.observations();
        for refutation in &refutations {
            self.tree
                .add(refutation.kind, given.data.steps(refutation), observations);
        }
        self.counterexamples += refutations.len();
        self.encoding.extend(&self.tree, observations);
        !refutations.is_empty()
    }
}

/// How much a question may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowance {
    /// Conflicts for each call of the solver.
    pub(crate) conflicts: i32,
    /// Calls.
    pub(crate) calls: usize,
}
