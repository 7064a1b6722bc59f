//! Symmetry breaking: of machines that differ only in the numbering of their states or parallel edges, one is kept.
//!
//! Without cycles, states can be numbered in the order in which the last of their predecessors is numbered, since a queue
//! would release them then; those released together are ordered by their edges from it. Parallel edges are ordered by their
//! first positive literal. With cycles, states are numbered breadth first: in the order of their first predecessors (Ulyantsev,
//! Zakirzyanov and Shalyto 2015).

use super::Encoding;
use super::solver::Lit;

impl Encoding {
    pub(super) fn break_symmetries(&mut self) {
        for groups in self.outgoing.clone() {
            for (_, slots) in groups {
                for pair in slots.windows(2) {
                    self.order(pair[0], pair[1], &[]);
                }
            }
        }
        // ends[v][u]: u is the last predecessor of v, or with cycles the first.
        let ends: Vec<Vec<Lit>> = (0..self.shape.states)
            .map(|to| self.end_predecessor(to))
            .collect();
        self.order_states(&ends);
    }

    /// The first positive literal of one slot does not come after that of the other, unless one of these holds.
    fn order(&mut self, first: usize, second: usize, unless: &[Lit]) {
        for (a, b) in self.slots[first]
            .up_to
            .iter()
            .zip(&self.slots[second].up_to)
        {
            let clause: Vec<Lit> = [*a, -b].iter().chain(unless).copied().collect();
            self.solver.add(&clause);
        }
    }

    fn order_states(&mut self, last: &[Vec<Lit>]) {
        for to in 1..self.shape.states.saturating_sub(1) {
            for (from, is_last) in last[to].iter().enumerate() {
                for earlier in &last[to + 1][..from] {
                    self.solver.add(&[-is_last, -earlier]);
                }
                let (first, second) = (self.first_slot(from, to), self.first_slot(from, to + 1));
                if let (Some(first), Some(second)) = (first, second) {
                    self.order(first, second, &[-is_last, -last[to + 1][from]]);
                }
            }
        }
    }

    fn first_slot(&self, from: usize, to: usize) -> Option<usize> {
        self.slots
            .iter()
            .position(|slot| slot.from == from && slot.to == to)
    }

    /// For each lower state: it is the last from which an edge leads to this one, or with cycles the first. There is one: without a
    /// state that no edge enters there would be a smaller machine.
    fn end_predecessor(&mut self, to: usize) -> Vec<Lit> {
        let mut edges: Vec<Lit> = (0..to)
            .filter_map(|from| {
                self.first_slot(from, to)
                    .map(|slot| self.slots[slot].present)
            })
            .collect();
        if to > 0 {
            self.solver.add(&edges);
        }
        if self.shape.options.cyclic {
            edges.reverse();
        }
        let mut ends: Vec<Lit> = (0..edges.len())
            .map(|from| {
                let last = self.solver.fresh();
                let mut otherwise = vec![last, -edges[from]];
                self.solver.add(&[-last, edges[from]]);
                for later in &edges[from + 1..] {
                    self.solver.add(&[-last, -later]);
                    otherwise.push(*later);
                }
                self.solver.add(&otherwise);
                last
            })
            .collect();
        if self.shape.options.cyclic {
            ends.reverse();
        }
        ends
    }
}
