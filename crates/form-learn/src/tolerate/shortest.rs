//! The number of states by description length: the machine whose [`description`](super::description), together with the traces that it misjudges, is
//! shortest.

use super::description::Description;
use super::search::{Open, QUICK, Search};
use super::soft_cegis::Fewest;
use crate::cegis::ConflictBudget;
use crate::outcome::{Learnt, StopReason};

/// The shortest description so far.
struct Shortest {
    bits: f64,
    /// Its machine, with what that misjudges.
    found: Option<(u64, Learnt)>,
}

impl Search<'_> {
    /// The shortest description of the machine and the traces that it misjudges. The first number of states whose description is
    /// shorter than that of the next one is chosen; both get a few solver calls. Then, with `prove`, no machine with that number of
    /// states has a shorter one.
    pub(super) fn shortest_description(
        &mut self,
        total: u64,
        prove: bool,
    ) -> Result<(), StopReason> {
        let description = Description::new(self.problem, total);
        let mut shortest = Shortest {
            bits: f64::INFINITY,
            found: None,
        };
        let mut chosen: Option<Open> = None;
        for states in 1..=self.limits.max_states {
            let mut this = self.open(states, false)?;
            let before = shortest.bits;
            self.sweep(&mut this, &description, &mut shortest, Some(QUICK))?;
            if shortest.bits >= before {
                break;
            }
            self.best.clone_from(&shortest.found);
            chosen = Some(this);
        }
        let mut this = chosen.ok_or(StopReason::States)?;
        if prove {
            self.sweep(&mut this, &description, &mut shortest, None)?;
            self.best.clone_from(&shortest.found);
        }
        let (weight, learnt) = shortest.found.ok_or(StopReason::States)?;
        // Of the machines of this cost that misjudge as few, the first in order.
        let quick = (!prove).then_some(QUICK);
        let learnt = match self.fewest_within(&mut this, learnt.cost.size, weight, quick) {
            Fewest::Unknown if prove => return Err(self.budget.stop_reason()),
            Fewest::Unknown => learnt,
            _ => self.cheapest(&mut this)?,
        };
        let level = &mut self.levels[this.states - 1];
        (level.fewest_misjudged, level.bits) = (weight, Some(shortest.bits));
        level.shortest_proven = prove;
        self.chosen = Some((weight, learnt));
        Ok(())
    }

    /// The fewest misjudged traces of the machines of one cost after the other, as long as the description may become shorter. With a
    /// budget, also until a few costs in a row have not made it shorter.
    fn sweep(
        &mut self,
        open: &mut Open,
        description: &Description,
        shortest: &mut Shortest,
        budget: Option<ConflictBudget>,
    ) -> Result<(), StopReason> {
        let mut in_vain = 0;
        let mut row: Option<f64> = None;
        let mut cost = open.cegis.lowest_cost();
        while let Some(most) = description.most_misjudged(open.states, cost, shortest.bits) {
            let fewest = self.fewest_within(open, cost, most, budget);
            if self.budget.exhausted().is_some() || (fewest == Fewest::Unknown && budget.is_none())
            {
                return Err(self.budget.stop_reason());
            }
            in_vain += 1;
            if let Some((weight, learnt)) = &open.cegis.best {
                let bits = description.bits(open.states, learnt.cost.size, *weight);
                if row.is_none_or(|row| bits < row) {
                    row = Some(bits);
                    let level = &mut self.levels[open.states - 1];
                    (level.fewest_misjudged, level.bits) = (*weight, row);
                    in_vain = 0;
                }
                if bits < shortest.bits {
                    shortest.bits = bits;
                    shortest.found = Some((*weight, learnt.clone()));
                }
            }
            if budget.is_some() && in_vain > COSTS_IN_VAIN {
                break;
            }
            cost += 1;
        }
        Ok(())
    }
}

/// How many costs in a row need not make a description shorter: an edge costs two or three.
const COSTS_IN_VAIN: usize = 3;
