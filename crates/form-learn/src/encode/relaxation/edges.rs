//! The edges of relaxed machines: which observations may stand together in a table.

use std::collections::HashMap;

use form_core::AtomSet;

use super::Relaxation;
use crate::encode::solver::Lit;

/// An edge without its negations.
#[derive(Clone, Debug)]
pub(super) struct RelaxedEdge {
    /// For each atom about the newest observation: it is positive here.
    positive: Vec<Lit>,
    /// For each `forall`: it is the literal of this edge.
    pub(super) foralls: Vec<Lit>,
    /// There is an edge.
    present: Lit,
}

impl Relaxation {
    pub(super) fn add_edges(&mut self) -> Option<()> {
        if let Some(letters) = &mut self.letters {
            letters.add_edges(&mut self.solver, &self.shape)?;
            self.runs.moves.waits_anywhere = vec![Vec::new(); self.shape.states];
            self.number_states();
            return Some(());
        }
        for from in 0..self.shape.states {
            let mut waits = Vec::new();
            for to in self.shape.targets(from) {
                self.solver.check()?;
                let edges: Vec<RelaxedEdge> = (0..self.shape.options.max_disjuncts)
                    .map(|_| self.new_edge())
                    .collect();
                let mut here = Vec::new();
                for f in 0..self.foralls.len() {
                    let foralls: Vec<Lit> = edges.iter().map(|edge| edge.foralls[f]).collect();
                    let forall = self.solver.disjunction(&foralls);
                    self.runs.moves.waits.insert((from, to, f), forall);
                    here.push(forall);
                }
                self.edges.insert((from, to), edges);
                waits.push(here);
            }
            // Edges with a `forall` have no negation to exclude each other, so they all lead to one target.
            let targets: Vec<Lit> = (waits.iter())
                .map(|foralls| self.solver.disjunction(foralls))
                .collect();
            self.solver.at_most_one(&targets);
            let anywhere = (0..self.foralls.len())
                .map(|f| {
                    let foralls: Vec<Lit> = waits.iter().map(|foralls| foralls[f]).collect();
                    self.solver.disjunction(&foralls)
                })
                .collect();
            self.runs.moves.waits_anywhere.push(anywhere);
        }
        self.number_states();
        Some(())
    }

    fn new_edge(&mut self) -> RelaxedEdge {
        let positive: Vec<Lit> = self
            .now
            .iter()
            .map(|_| self.solver.fresh_absent())
            .collect();
        let foralls: Vec<Lit> = (self.foralls.iter())
            .map(|_| self.solver.fresh_absent())
            .collect();
        for (i, forall) in foralls.iter().enumerate() {
            for other in foralls[i + 1..].iter().chain(&positive) {
                self.solver.add(&[-forall, -other]);
            }
        }
        let present = (self.solver).disjunction(&[&positive[..], &foralls].concat());
        RelaxedEdge {
            positive,
            foralls,
            present,
        }
    }

    /// Adds an observation to the tables, unless it is known.
    pub(super) fn add_observation(&mut self, number: u32, observation: &AtomSet) {
        let known = &self.runs.moves.fires;
        if known.contains_key(&(0, self.shape.accept(), number)) {
            return;
        }
        if let Some(letters) = &self.letters {
            for from in 0..self.shape.states {
                for (to, fires) in letters.fires(from, observation) {
                    self.runs.moves.fires.insert((from, to, number), fires);
                }
            }
            return;
        }
        let holds: Vec<bool> = (self.now.iter())
            .map(|mask| mask.intersects(observation))
            .collect();
        for from in 0..self.shape.states {
            let mut targets = Vec::new();
            for to in self.shape.targets(from) {
                let edges = self.edges[&(from, to)].clone();
                let fires: Vec<Lit> = (edges.iter())
                    .map(|edge| self.edge_fires(edge, &holds))
                    .collect();
                let fires = self.solver.disjunction(&fires);
                self.runs.moves.fires.insert((from, to, number), fires);
                targets.push(fires);
            }
            self.solver.at_most_one(&targets);
        }
    }

    /// The literal that an edge fires on an observation: all its positive literals hold there.
    fn edge_fires(&mut self, edge: &RelaxedEdge, holds: &[bool]) -> Lit {
        let fires = self.solver.fresh_absent();
        let mut some = vec![-fires];
        for (positive, holds) in edge.positive.iter().zip(holds) {
            if *holds {
                some.push(*positive);
            } else {
                self.solver.add(&[-fires, -positive]);
            }
        }
        self.solver.add(&some);
        fires
    }

    /// Symmetry breaking: every state but the first is entered, and states are numbered in the order of their last predecessors,
    /// ties by their letters from it.
    fn number_states(&mut self) {
        let mut connected = HashMap::new();
        for from in 0..self.shape.states {
            for (to, present) in self.connected(from) {
                connected.insert((from, to), present);
            }
        }
        self.connected = connected.clone();
        if self.reference.is_some() {
            return self.enter_all_states();
        }
        if self.shape.options.cyclic {
            return self.number_breadth_first(&connected);
        }
        let mut before: Option<Vec<Lit>> = None;
        for to in 1..self.shape.states {
            let present: Vec<Lit> = (0..to).map(|from| connected[&(from, to)]).collect();
            self.solver.add(&present);
            // after[u]: some predecessor has number u or a higher one.
            let after: Vec<Lit> = (0..to)
                .map(|from| self.solver.disjunction(&present[from..]))
                .collect();
            // The last predecessor of the state before has no higher number than this one's.
            if let Some(before) = before {
                for (from, (earlier, here)) in before.iter().zip(&after).enumerate() {
                    self.solver.add(&[-earlier, *here]);
                    if let Some(letters) = &self.letters {
                        // Unless this is not the last predecessor of both.
                        let later = [before.get(from + 1), after.get(from + 1)];
                        let mut unless = vec![-earlier, -here];
                        unless.extend(later.into_iter().flatten());
                        letters.order(&mut self.solver, from, [to - 1, to], &unless);
                    }
                }
            }
            before = Some(after);
        }
    }

    /// Every state but the first is entered. The visits of a trace number them.
    fn enter_all_states(&mut self) {
        for to in 1..self.shape.states {
            let from = (0..self.shape.states).filter(|from| *from != to);
            let present: Vec<Lit> = from.map(|from| self.connected[&(from, to)]).collect();
            self.solver.add(&present);
        }
    }

    /// Symmetry breaking with cycles: states are numbered in the order of their first predecessors, breadth first, ties by their
    /// letters from it (Ulyantsev, Zakirzyanov and Shalyto 2015).
    fn number_breadth_first(&mut self, connected: &HashMap<(usize, usize), Lit>) {
        let mut before: Option<Vec<Lit>> = None;
        for to in 1..self.shape.states {
            let present: Vec<Lit> = (0..to).map(|from| connected[&(from, to)]).collect();
            self.solver.add(&present);
            // up_to[u]: some predecessor has number u or a lower one.
            let up_to: Vec<Lit> = (0..to)
                .map(|from| self.solver.disjunction(&present[..=from]))
                .collect();
            if let Some(before) = before {
                for (from, (earlier, here)) in before.iter().zip(&up_to).enumerate() {
                    self.solver.add(&[-here, *earlier]);
                    if let Some(letters) = &self.letters {
                        let mut unless = vec![-connected[&(from, to - 1)], -present[from]];
                        if from > 0 {
                            unless.extend([before[from - 1], up_to[from - 1]]);
                        }
                        letters.order(&mut self.solver, from, [to - 1, to], &unless);
                    }
                }
            }
            before = Some(up_to);
        }
    }

    /// For each target of a state: an edge leads there.
    fn connected(&mut self, from: usize) -> Vec<(usize, Lit)> {
        if let Some(letters) = &self.letters {
            return letters.connected(&mut self.solver, from);
        }
        let targets = self.shape.targets(from).into_iter();
        targets
            .map(|to| {
                let edges = self.edges[&(from, to)].iter();
                let present: Vec<Lit> = edges.map(|edge| edge.present).collect();
                (to, self.solver.disjunction(&present))
            })
            .collect()
    }
}
