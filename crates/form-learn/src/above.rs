//! From above: a consistent machine with a few states more than proven necessary, long before the proof is complete.
//!
//! Too few states take long to refute; enough of them are found in no time. So chains with more states are tried at once, and
//! while one number of states is examined, the next ones get a share of the conflicts, in turn, until a machine is found.

use crate::budget::Budget;
use crate::cegis::Cegis;
use crate::chains::{Chains, chains};
use crate::encode::Solved;
use crate::minimise::{Bounds, cheapest};
use crate::outcome::Learnt;
use crate::problem::Problem;

/// The search with more states than proven necessary.
#[derive(Default)]
pub(crate) struct Above {
    /// The maximum number of states.
    pub(crate) max_states: usize,
    /// A consistent machine.
    pub(crate) best: Option<Learnt>,
    /// The numbers of states whose chains have been enumerated, up to this one.
    tried: usize,
    /// The searches by number of states.
    searches: Vec<(usize, Option<Cegis>, Bounds)>,
    /// Which of them is next.
    turn: usize,
}

impl Above {
    /// Prepares for traces that were added since the last call.
    pub(crate) fn renew(&mut self, problem: &Problem, max_states: usize) {
        self.max_states = max_states;
        self.tried = 0;
        self.searches.clear();
        self.best.take_if(|best| {
            best.states > max_states || !problem.counterexamples(best, 0).is_empty()
        });
    }

    /// The loop and the bounds of this number of states, with the machine that is known if it has as many: they are not above any more.
    pub(crate) fn reached(&mut self, states: usize) -> (Option<Cegis>, Bounds) {
        let place = self.searches.iter().position(|(of, _, _)| *of == states);
        let (_, cegis, mut bounds) =
            place.map_or_else(Default::default, |i| self.searches.remove(i));
        if let Some(best) = self.best.take_if(|best| best.states == states) {
            bounds.improve(&best);
        }
        (cegis, bounds)
    }

    /// Forgets what is not above this number of states any more.
    fn forget(&mut self, states: usize) {
        self.searches.retain(|(of, _, _)| *of > states);
        self.best.take_if(|best| best.states <= states);
    }

    /// Enumerates chains with more states, unless a machine is known.
    pub(crate) fn chains(&mut self, problem: &Problem, states: usize, budget: &Budget) {
        self.forget(states);
        if !problem.options.techniques.above || !problem.options.techniques.chains {
            return;
        }
        for more in (states + 1).max(self.tried + 1)..=self.highest(states) {
            if self.best.is_some() {
                return;
            }
            if let Chains::Best(learnt) | Chains::Unknown(Some(learnt)) =
                chains(problem, more, budget)
            {
                budget.found(&learnt);
                self.best = Some(learnt);
            }
            self.tried = more;
        }
    }

    /// Gives one of the searches its share, unless a machine is known.
    pub(crate) fn step(
        &mut self,
        problem: &Problem,
        states: usize,
        conflicts: i32,
        budget: &Budget,
    ) {
        self.forget(states);
        let off = !problem.options.techniques.above;
        if off || self.best.is_some() || self.highest(states) <= states {
            return;
        }
        self.turn += 1;
        // One state more every other time, two every fourth, and so on.
        let of = (states + 1 + self.turn.trailing_zeros() as usize).min(self.highest(states));
        let place = self.searches.iter().position(|(known, _, _)| *known == of);
        let place = place.unwrap_or_else(|| {
            let mut bounds = Bounds::default();
            bounds.raise(problem.lowest_cost(of));
            self.searches.push((of, None, bounds));
            self.searches.len() - 1
        });
        let (_, cegis, bounds) = &mut self.searches[place];
        let Some(cegis) = Cegis::begin(cegis, problem, of, budget) else {
            return;
        };
        // Any machine will do: the cheapest are the easiest to find, but a bound on the cost may have to be raised first.
        if let Solved::Sat(candidate) = cheapest(cegis, problem, bounds, Some(conflicts), 1) {
            budget.found(&candidate.learnt);
            self.best = Some(candidate.learnt);
            self.searches.retain(|(known, _, _)| *known == of);
        }
    }

    fn highest(&self, states: usize) -> usize {
        self.max_states.min(states + AHEAD)
    }
}

/// How many numbers of states are tried in advance.
const AHEAD: usize = 4;
