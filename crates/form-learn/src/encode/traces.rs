//! The runs of the machine on the traces, node by node of their tree (Algorithm 1).

use form_core::{AtomSet, Kind};

use super::Encoding;
use super::solver::{FALSE, Lit, TRUE};
use crate::tree::Tree;

impl Encoding {
    /// Encodes the nodes of the tree that are new since the last call.
    pub(crate) fn extend(&mut self, tree: &Tree, observations: &[AtomSet]) {
        for node in self.states.len()..tree.len() {
            let observation = tree.node(node).observation;
            for slot in 0..self.slots.len() {
                self.add_holds(slot, observation, &observations[observation as usize]);
            }
            self.add_node(tree, node);
        }
    }

    /// The place has an edge, and its literals about the newest observation hold on this one.
    fn add_holds(&mut self, slot: usize, number: u32, observation: &AtomSet) {
        if self.holds.contains_key(&(slot, number)) {
            return;
        }
        let holds = self.solver.fresh();
        self.holds.insert((slot, number), holds);
        let present = self.slots[slot].present;
        self.solver.add(&[-holds, present]);
        let mut otherwise = vec![holds, -present];
        for i in &self.statics {
            let true_here = self.candidates[*i].mask.intersects(observation);
            let wrong = if true_here {
                &self.slots[slot].negative
            } else {
                &self.slots[slot].positive
            }[*i];
            self.solver.add(&[-holds, -wrong]);
            otherwise.push(wrong);
        }
        self.solver.add(&otherwise);
    }

    fn add_node(&mut self, tree: &Tree, node: usize) {
        let before = self.states[tree.node(node).parent].clone();
        let after = self.states_after(tree, node, &before);
        for from in 0..self.shape.states {
            if before[from] != FALSE {
                self.add_moves(tree, node, from, &before, &after);
            }
        }
        self.states.push(after);
    }

    /// Where the run may be at the node: the end is known, and before it no run has ended.
    fn states_after(&mut self, tree: &Tree, node: usize, before: &[Lit]) -> Vec<Lit> {
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

    /// From `from` the run stays unless an edge fires, and follows every edge that does.
    fn add_moves(&mut self, tree: &Tree, node: usize, from: usize, before: &[Lit], after: &[Lit]) {
        let here = before[from];
        let groups = self.outgoing[from].clone();
        let mut somewhere = vec![-here, after[from]];
        somewhere.extend(groups.iter().map(|(to, _)| after[*to]));
        self.solver.add(&somewhere);
        let complete: Vec<Lit> = (0..self.foralls.len())
            .map(|f| self.complete(tree, node, f, from))
            .collect();
        let observation = tree.node(node).observation;
        for (to, slots) in groups {
            // A move needs an edge that fires, and an edge that fires is followed.
            let mut cause = vec![-here, -after[to]];
            for slot in &slots {
                let holds = self.holds[&(*slot, observation)];
                let open = self.open(*slot, &complete);
                self.solver.add(&[-here, -holds, -open, after[to]]);
                if after[to] == FALSE {
                    continue;
                }
                if let [_] = slots[..] {
                    self.solver.add(&[-here, -after[to], holds]);
                    self.solver.add(&[-here, -after[to], open]);
                } else {
                    cause.push(self.solver.both(holds, open));
                }
            }
            if slots.len() > 1 {
                self.solver.add(&cause);
            }
        }
    }

    /// The edge at this place is not blocked by a `forall`, given for each of them whether it is complete. Nodes at
    /// which the same have come up since the same time share the literal.
    fn open(&mut self, slot: usize, complete: &[Lit]) -> Lit {
        if complete.is_empty() {
            return TRUE;
        }
        let key = (slot, complete.to_vec());
        if let Some(open) = self.open.get(&key) {
            return *open;
        }
        let open = self.solver.fresh();
        let mut blocked = vec![open];
        for (f, complete) in complete.iter().enumerate() {
            let i = self.foralls[f];
            for (literal, missing) in [
                (self.slots[slot].positive[i], -complete),
                (self.slots[slot].negative[i], *complete),
            ] {
                self.solver.add(&[-open, -literal, -missing]);
                blocked.push(self.blocks(literal, missing));
            }
        }
        self.solver.add(&blocked);
        self.open.insert(key, open);
        open
    }

    /// The literal stands on its edge and what it needs is missing.
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

    /// Whether the `forall` holds at the node, for a run that was in `state` before it: whether it was there already
    /// when the last of the atoms needed began to come up.
    fn complete(&mut self, tree: &Tree, node: usize, f: usize, state: usize) -> Lit {
        let Some(since) = tree.node(node).complete_since[f] else {
            return FALSE;
        };
        let parent = tree.node(node).parent;
        if since == parent {
            TRUE
        } else if self.shape.options.cyclic {
            self.stayed(tree, since, parent, state)
        } else {
            // There and there again: without cycles it has not left in between.
            self.states[since][state]
        }
    }

    /// The run is in `state` at every node from `since` to `node`.
    fn stayed(&mut self, tree: &Tree, since: usize, node: usize, state: usize) -> Lit {
        let mut path = vec![node];
        while path[path.len() - 1] != since
            && !self
                .stayed
                .contains_key(&(path[path.len() - 1], since, state))
        {
            path.push(tree.node(path[path.len() - 1]).parent);
        }
        let mut stayed = FALSE;
        for here in path.into_iter().rev() {
            let known = self.stayed.get(&(here, since, state)).copied();
            stayed = match known {
                Some(literal) => literal,
                None if here == since => self.states[since][state],
                None => self.conjunction(stayed, self.states[here][state]),
            };
            self.stayed.insert((here, since, state), stayed);
        }
        stayed
    }

    /// A literal that holds iff both do.
    fn conjunction(&mut self, a: Lit, b: Lit) -> Lit {
        match (a, b) {
            (FALSE, _) | (_, FALSE) => FALSE,
            (TRUE, other) | (other, TRUE) => other,
            (a, b) => {
                let both = self.solver.both(a, b);
                self.solver.add(&[both, -a, -b]);
                both
            }
        }
    }
}
