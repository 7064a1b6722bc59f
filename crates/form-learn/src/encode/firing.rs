//! Which edges can fire on an observation. Everything here depends on the observation alone, so it is encoded once per distinct
//! observation and shared by all nodes of the prefix tree.

use form_core::AtomSet;

use super::Encoding;
use super::solver::Lit;

impl Encoding {
    /// Encodes an observation, unless it is known.
    pub(super) fn add_observation(&mut self, number: u32, observation: &AtomSet) {
        if self.holds.contains_key(&(0, number)) {
            return;
        }
        let (here, elsewhere): (Vec<usize>, Vec<usize>) =
            (self.now.iter()).partition(|i| self.vocabulary[**i].mask.intersects(observation));
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

    /// `holds`: the slot has an edge, and its literals about the newest observation hold on this one.
    fn add_holds(&mut self, slot: usize, holds: Lit, here: &[usize], elsewhere: &[usize]) {
        let slot = &self.slots[slot];
        self.solver.add(&[-holds, slot.present]);
        if self.shape.has_tables() {
            self.solver.add(&[-holds, -slot.windowed]);
        }
        let mut otherwise = vec![holds, -slot.present];
        if self.shape.has_tables() {
            otherwise.push(slot.windowed);
        }
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

    /// Edges to different targets fire on different observations, unless a `forall` keeps them apart. Redundant: this follows
    /// from determinism, but not by unit propagation.
    fn add_exclusion(&mut self, from: usize, number: u32) {
        let groups = self.outgoing[from].clone();
        if self.windows.is_empty() || self.shape.has_tables() {
            for (to, slots) in &groups {
                let holds: Vec<Lit> = slots.iter().map(|s| self.holds[&(*s, number)]).collect();
                let fires = self.solver.disjunction(&holds);
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
                        clause.extend([self.slots[a].windowed, self.slots[b].windowed]);
                    }
                    self.solver.add(&clause);
                }
            }
        }
    }
}
