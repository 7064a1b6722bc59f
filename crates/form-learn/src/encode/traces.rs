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
            self.add_observation(observation, &observations[observation as usize]);
            self.add_node(tree, node);
        }
    }

    /// Everything about an observation that does not depend on where in a trace it stands.
    fn add_observation(&mut self, number: u32, observation: &AtomSet) {
        if self.holds.contains_key(&(0, number)) {
            return;
        }
        let (here, elsewhere): (Vec<usize>, Vec<usize>) =
            (self.statics.iter()).partition(|i| self.candidates[**i].mask.intersects(observation));
        for slot in 0..self.slots.len() {
            let holds = self.solver.fresh();
            self.holds.insert((slot, number), holds);
            if self.single {
                self.add_holds_single(slot, holds, &here);
            } else {
                self.add_holds(slot, holds, &here, &elsewhere);
            }
        }
        for from in 0..self.shape.states {
            self.add_exclusion(from, number);
        }
    }

    /// The place has an edge, and its literals about the newest observation hold on this one.
    fn add_holds(&mut self, slot: usize, holds: Lit, here: &[usize], elsewhere: &[usize]) {
        let slot = &self.slots[slot];
        self.solver.add(&[-holds, slot.present]);
        let mut otherwise = vec![holds, -slot.present];
        let wrong = (here.iter().map(|i| slot.negative[*i]))
            .chain(elsewhere.iter().map(|i| slot.positive[*i]));
        for wrong in wrong {
            self.solver.add(&[-holds, -wrong]);
            otherwise.push(wrong);
        }
        self.solver.add(&otherwise);
    }

    /// The same where an edge has one positive literal, which is not a `forall`.
    fn add_holds_single(&mut self, slot: usize, holds: Lit, here: &[usize]) {
        let slot = &self.slots[slot];
        let mut causes = vec![-holds];
        for i in here {
            causes.push(slot.positive[*i]);
            self.solver.add(&[-holds, -slot.negative[*i]]);
            let mut otherwise = vec![holds, -slot.positive[*i]];
            otherwise.extend(here.iter().filter(|j| *j != i).map(|j| slot.negative[*j]));
            self.solver.add(&otherwise);
        }
        self.solver.add(&causes);
    }

    /// Edges to different targets fire on different observations, unless a `forall` keeps them apart. This follows from
    /// determinism, but not at once.
    fn add_exclusion(&mut self, from: usize, number: u32) {
        let groups = self.outgoing[from].clone();
        if self.foralls.is_empty() {
            for (to, slots) in &groups {
                let holds: Vec<Lit> = slots.iter().map(|s| self.holds[&(*s, number)]).collect();
                let fires = self.any_of(&holds);
                self.fires.insert((from, *to, number), fires);
            }
            for (x, (a, _)) in groups.iter().enumerate() {
                for (b, _) in &groups[x + 1..] {
                    let both = [a, b].map(|to| -self.fires[&(from, *to, number)]);
                    self.solver.add(&both);
                }
            }
            return;
        }
        for (x, (_, first)) in groups.iter().enumerate() {
            for (_, second) in &groups[x + 1..] {
                for (a, b) in first
                    .iter()
                    .flat_map(|a| second.iter().map(move |b| (*a, *b)))
                {
                    let mut clause = vec![-self.holds[&(a, number)], -self.holds[&(b, number)]];
                    if !self.single {
                        clause.extend([self.slots[a].lasting, self.slots[b].lasting]);
                    }
                    self.solver.add(&clause);
                }
            }
        }
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
        let observation = tree.node(node).observation;
        if self.foralls.is_empty() {
            for (to, _) in groups {
                let fires = self.fires[&(from, to, observation)];
                self.solver.add(&[-here, -fires, after[to]]);
                self.solver.add(&[-here, -after[to], fires]);
            }
            return;
        }
        let complete: Vec<Lit> = (0..self.foralls.len())
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

    /// While the run is `here`: `fires` holds iff the literals at the place do, given for each `forall` whether it is
    /// complete.
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
            let i = self.foralls[f];
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

    /// The same where an edge has one positive literal.
    fn add_fires_single(
        &mut self,
        slot: usize,
        holds: Lit,
        complete: &[Lit],
        here: Lit,
        fires: Lit,
    ) {
        let place = self.slots[slot].clone();
        let mut causes = vec![-here, -fires, holds];
        let mut otherwise = vec![-here, -holds, fires];
        if complete.iter().any(|complete| *complete != FALSE) {
            causes.push(place.lasting);
            for (f, complete) in complete.iter().enumerate() {
                let i = self.foralls[f];
                let (positive, negative) = (place.positive[i], place.negative[i]);
                self.solver.add(&[-here, -positive, -complete, fires]);
                self.solver.add(&[-here, -fires, -positive, *complete]);
                self.solver.add(&[-here, -fires, -negative, -complete]);
                otherwise.push(self.blocks(negative, *complete));
            }
        }
        self.solver.add(&causes);
        self.solver.add(&otherwise);
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
