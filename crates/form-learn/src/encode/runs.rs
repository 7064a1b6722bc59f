//! The runs of the machine on the traces, node by node of the prefix tree (Algorithm 1).

use form_core::{AtomSet, Kind};

use super::Encoding;
use super::solver::{FALSE, Lit, TRUE};
use crate::prefix_tree::PrefixTree;

/// After how many nodes the budget is checked.
pub(super) const CHECKED: usize = 256;

impl Encoding {
    /// Encodes the nodes of the tree that are new since the last call.
    pub(crate) fn extend(&mut self, tree: &PrefixTree, observations: &[AtomSet]) {
        if self.shape.has_tables() {
            return self.extend_tables(tree, observations);
        }
        for node in self.states.len()..tree.len() {
            // What is missing is encoded by the next call: a limit ends the search meanwhile.
            if node % CHECKED == 0 && self.solver.check().is_none() {
                return;
            }
            let observation = tree.node(node).observation;
            self.add_observation(observation, &observations[observation as usize]);
            self.add_node(tree, node);
        }
    }

    fn extend_tables(&mut self, tree: &PrefixTree, observations: &[AtomSet]) {
        let Some(mut runs) = self.table_runs.take() else {
            return;
        };
        runs.tighten(&mut self.solver, tree);
        for node in runs.len()..tree.len() {
            if node % CHECKED == 0 && self.solver.check().is_none() {
                break;
            }
            let observation = tree.node(node).observation;
            self.add_observation(observation, &observations[observation as usize]);
            for from in 0..self.shape.states {
                for (to, _) in &self.outgoing[from] {
                    let key = (from, *to, observation);
                    runs.moves.fires.insert(key, self.fires[&key]);
                }
            }
            runs.add_node(&mut self.solver, tree);
        }
        self.table_runs = Some(runs);
    }

    fn add_node(&mut self, tree: &PrefixTree, node: usize) {
        let before = self.states[tree.node(node).parent].clone();
        let after = self.states_after(tree, node, &before);
        for from in 0..self.shape.states {
            if before[from] != FALSE {
                self.add_moves(tree, node, from, &before, &after);
            }
        }
        self.states.push(after);
    }

    /// The states in which the run may be at the node: the end of a trace is known, and before it no run has ended.
    fn states_after(&mut self, tree: &PrefixTree, node: usize, before: &[Lit]) -> Vec<Lit> {
        if self.shape.soft {
            return self.soft_states_after(before);
        }
        let inner = self.shape.states;
        let end = tree.node(node).end;
        let mut after: Vec<Lit> = (0..inner)
            .map(|state| {
                // Without cycles a run never comes to a state with a lower number.
                let reachable =
                    self.shape.options.cyclic || before[..=state].iter().any(|l| *l != FALSE);
                if end.is_none() && reachable {
                    self.solver.fresh()
                } else {
                    FALSE
                }
            })
            .collect();
        after.push(if end == Some(Kind::Goal) { TRUE } else { FALSE });
        after.push(if end == Some(Kind::DeadEnd) {
            TRUE
        } else {
            FALSE
        });
        if end.is_none() {
            self.solver.add(&after[..inner]);
            for a in 0..inner {
                for b in a + 1..inner {
                    self.solver.add(&[-after[a], -after[b]]);
                }
            }
        }
        after
    }

    /// From `from` the run stays unless an edge fires, and follows an edge that does.
    fn add_moves(
        &mut self,
        tree: &PrefixTree,
        node: usize,
        from: usize,
        before: &[Lit],
        after: &[Lit],
    ) {
        let here = before[from];
        let groups = self.outgoing[from].clone();
        let mut somewhere = vec![-here, after[from]];
        somewhere.extend(groups.iter().map(|(to, _)| after[*to]));
        self.solver.add(&somewhere);
        let observation = tree.node(node).observation;
        if self.windows.is_empty() {
            for (to, _) in groups {
                let fires = self.fires[&(from, to, observation)];
                self.solver.add(&[-here, -fires, after[to]]);
                self.solver.add(&[-here, -after[to], fires]);
            }
            return;
        }
        let complete: Vec<Lit> = (0..self.windows.len())
            .map(|f| self.complete(tree, node, f, from))
            .collect();
        for (to, slots) in groups {
            if let [slot] = slots[..] {
                self.add_fires(slot, observation, &complete, here, after[to]);
                continue;
            }
            // A move needs an edge that fires, and an edge that fires is followed.
            let mut causes = vec![-here, -after[to]];
            for slot in slots {
                let fires = if after[to] == FALSE {
                    FALSE
                } else {
                    self.solver.fresh()
                };
                self.add_fires(slot, observation, &complete, here, fires);
                self.solver.add(&[-here, -fires, after[to]]);
                causes.push(fires);
            }
            self.solver.add(&causes);
        }
    }

    /// While the run is `here`, `fires` holds iff the literals of the slot do, given for each `forall` whether it is complete.
    fn add_fires(
        &mut self,
        slot: usize,
        observation: u32,
        complete: &[Lit],
        here: Lit,
        fires: Lit,
    ) {
        let holds = self.holds[&(slot, observation)];
        if self.single {
            return self.add_fires_single(slot, holds, complete, here, fires);
        }
        self.solver.add(&[-here, -fires, holds]);
        let mut otherwise = vec![-here, -holds, fires];
        for (f, complete) in complete.iter().enumerate() {
            let i = self.windows[f];
            for (literal, missing) in [
                (self.slots[slot].positive[i], -complete),
                (self.slots[slot].negative[i], *complete),
            ] {
                if fires != FALSE {
                    self.solver.add(&[-here, -fires, -literal, -missing]);
                }
                otherwise.push(self.blocks(literal, missing));
            }
        }
        self.solver.add(&otherwise);
    }

    /// [`Self::add_fires`] where an edge has one positive literal.
    fn add_fires_single(
        &mut self,
        slot: usize,
        holds: Lit,
        complete: &[Lit],
        here: Lit,
        fires: Lit,
    ) {
        let slot = self.slots[slot].clone();
        let mut causes = vec![-here, -fires, holds];
        let mut otherwise = vec![-here, -holds, fires];
        if complete.iter().any(|complete| *complete != FALSE) {
            causes.push(slot.windowed);
            for (f, complete) in complete.iter().enumerate() {
                let i = self.windows[f];
                let (positive, negative) = (slot.positive[i], slot.negative[i]);
                self.solver.add(&[-here, -positive, -complete, fires]);
                self.solver.add(&[-here, -fires, -positive, *complete]);
                self.solver.add(&[-here, -fires, -negative, -complete]);
                otherwise.push(self.blocks(negative, *complete));
            }
        }
        self.solver.add(&causes);
        self.solver.add(&otherwise);
    }

    /// The literal is on its edge and its condition is not met.
    fn blocks(&mut self, literal: Lit, missing: Lit) -> Lit {
        match missing {
            TRUE => literal,
            FALSE => FALSE,
            missing => match self.blocked.get(&(literal, missing)) {
                Some(blocked) => *blocked,
                None => {
                    let blocked = self.solver.both(literal, missing);
                    self.blocked.insert((literal, missing), blocked);
                    blocked
                }
            },
        }
    }
}
