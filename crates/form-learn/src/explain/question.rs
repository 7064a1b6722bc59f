//! One question to the solver: is there a machine, consistent with these traces, that shows otherwise than claimed?

use form_core::Trace;

use super::claim::Claim;
use crate::attempt::Given;
use crate::data::Refutation;
use crate::decode::decode;
use crate::encode::{Encoding, Lit, Shape};
use crate::outcome::Learnt;
use crate::tree::Tree;
use crate::watch::Watch;

/// The problem, and what ends the work early.
#[derive(Clone, Copy)]
pub(super) struct Setting<'a> {
    pub(super) given: &'a Given,
    pub(super) watch: &'a Watch,
}

impl Setting<'_> {
    /// The part of a trace as a trace of its own.
    pub(super) fn trace(&self, part: &Refutation) -> Trace {
        let observations = self.given.data.observations();
        let steps = self.given.data.steps(part).iter();
        let steps = steps.map(|step| observations[*step as usize].clone());
        Trace::new(part.kind, steps)
    }
}

/// The answer to a question.
pub(super) enum Reply {
    /// A machine that shows otherwise.
    Machine(Learnt),
    /// There is none.
    None,
    /// No answer within the limits.
    Open,
}

/// The question about machines with one number of states.
pub(super) struct Question {
    encoding: Encoding,
    tree: Tree,
    bounds: Vec<Lit>,
}

impl Question {
    /// Nothing if a limit was reached meanwhile.
    pub(super) fn new(setting: &Setting<'_>, claim: &Claim<'_>, states: usize) -> Option<Self> {
        let shape = Shape {
            // Which traces there will be is not known yet.
            reached: [false; 2],
            ..setting.given.shape(states)
        };
        let observations = setting.given.data.observations();
        let mut encoding = Encoding::new(
            shape,
            &setting.given.candidates,
            observations,
            setting.watch,
        )?;
        for clause in claim.clauses(&encoding) {
            encoding.require(&clause);
        }
        let bounds = claim
            .bounds()
            .into_iter()
            .flat_map(|(measure, bound)| encoding.at_most(measure, bound))
            .collect();
        Some(Self {
            encoding,
            tree: setting.given.bare_tree(),
            bounds,
        })
    }

    /// Adds traces that the machine has to be consistent with.
    pub(super) fn add(&mut self, setting: &Setting<'_>, parts: &[Refutation]) {
        let observations = setting.given.data.observations();
        for part in parts {
            self.tree
                .add(part.kind, setting.given.data.steps(part), observations);
        }
        self.encoding.extend(&self.tree, observations);
    }

    /// Asks, and again if the machine found has the edge after all, in another numbering.
    pub(super) fn ask(&mut self, claim: &mut Claim<'_>, conflicts: Option<i32>) -> Reply {
        loop {
            let answer = match conflicts {
                None => self.encoding.solve(&self.bounds),
                Some(conflicts) => self.encoding.solve_limited(&self.bounds, conflicts),
            };
            match answer {
                None => return Reply::Open,
                Some(false) => return Reply::None,
                Some(true) => {}
            }
            let learnt = decode(&self.encoding).learnt;
            let Claim::Edge(edge) = claim else {
                return Reply::Machine(learnt);
            };
            let Some(clauses) = edge.leave_out(&self.encoding, &learnt.machine) else {
                return Reply::Machine(learnt);
            };
            for clause in clauses {
                self.encoding.require(&clause);
            }
        }
    }
}
