//! The clauses that say: a machine with so many states is consistent with these traces.
//!
//! This is the only place that knows a SAT solver exists.

use cadical::Solver;
use form_core::{AtomSet, Kind};

use super::tree::Tree;
use super::vocabulary::Candidate;
use std::collections::HashMap;

/// A literal of the solver.
pub(crate) type Lit = i32;

/// The literal that is always true.
const TRUE: Lit = 1;
const FALSE: Lit = -1;

/// The shape of the machines to be searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// States that are neither accepting nor rejecting.
    pub(crate) states: usize,
    pub(crate) rejecting: bool,
    pub(crate) disjuncts: usize,
    pub(crate) cyclic: bool,
    pub(crate) forall_alone: bool,
}

impl Shape {
    pub(crate) fn accept(self) -> usize {
        self.states
    }
    pub(crate) fn reject(self) -> usize {
        self.states + 1
    }
    fn targets(self, from: usize) -> Vec<usize> {
        let inner = (0..self.states).filter(|to| if self.cyclic { *to != from } else { *to > from });
        let terminal = [self.accept(), self.reject()];
        inner.chain(terminal.into_iter().take(if self.rejecting { 2 } else { 1 })).collect()
    }
}

/// A place for an edge.
pub(crate) struct Slot {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) present: Lit,
    pub(crate) positive: Vec<Lit>,
    pub(crate) negative: Vec<Lit>,
}

pub(crate) struct Encoding {
    pub(crate) solver: Solver<cadical::Timeout>,
    pub(crate) shape: Shape,
    pub(crate) slots: Vec<Slot>,
    /// slots_of[from] -> list of (to, slots)
    by_target: Vec<Vec<(usize, Vec<usize>)>>,
    candidates: Vec<Candidate>,
    foralls: Vec<usize>,
    statics: Vec<usize>,
    /// states[node][u]
    states: Vec<Vec<Lit>>,
    /// holds[slot][observation]
    holds: Vec<Vec<Lit>>,
    blocked: HashMap<(usize, usize, usize, bool), Lit>,
    stays: HashMap<(usize, usize, usize), Lit>,
    variables: i32,
    pub(crate) calls: usize,
    counter: Vec<Lit>,
    justified: HashMap<(usize, usize), Vec<Lit>>,
    pub(crate) act: Lit,
    pub(crate) clauses: usize,
}

impl Encoding {
    pub(crate) fn new(shape: Shape, candidates: &[Candidate]) -> Self {
        let foralls = (0..candidates.len()).filter(|i| candidates[*i].forall).collect();
        let statics = (0..candidates.len()).filter(|i| !candidates[*i].forall).collect();
        let mut encoding = Self {
            solver: match std::env::var("CFG") { Ok(c) => Solver::with_config(&c).unwrap(), _ => Solver::new() },
            shape,
            slots: Vec::new(),
            by_target: Vec::new(),
            candidates: candidates.to_vec(),
            foralls,
            statics,
            states: Vec::new(),
            holds: Vec::new(),
            blocked: HashMap::new(),
            stays: HashMap::new(),
            variables: 1,
            calls: 0,
            counter: Vec::new(),
            justified: HashMap::new(),
            act: 0,
            clauses: 0,
        };
        encoding.clause(&[TRUE]);
        encoding.act = encoding.fresh();
        encoding.machine();
        encoding.determinism();
        let mut root = vec![FALSE; shape.states];
        root[0] = TRUE;
        encoding.states.push(root);
        encoding
    }

    fn fresh(&mut self) -> Lit {
        self.variables += 1;
        self.variables
    }

    /// A variable the solver tries as false first: it tries variables as true, so this is a negated one.
    fn absent(&mut self) -> Lit {
        -self.fresh()
    }

    fn clause(&mut self, literals: &[Lit]) {
        if literals.len() > 1 && literals.contains(&TRUE) {
            return;
        }
        self.clauses += 1;
        self.solver.add_clause(literals.iter().copied().filter(|l| *l != FALSE));
    }

    fn machine(&mut self) {
        let shape = self.shape;
        for from in 0..shape.states {
            let mut targets = Vec::new();
            for to in shape.targets(from) {
                let mut parallel = Vec::new();
                for _ in 0..shape.disjuncts {
                    parallel.push(self.slots.len());
                    let present = self.absent();
                    let positive: Vec<Lit> = self.candidates.iter().map(|_| 0).collect();
                    let mut slot = Slot { from, to, present, positive: positive.clone(), negative: positive };
                    for i in 0..self.candidates.len() {
                        slot.positive[i] = self.absent();
                        slot.negative[i] = self.absent();
                    }
                    for i in 0..self.candidates.len() {
                        self.clause(&[-slot.positive[i], present]);
                        self.clause(&[-slot.negative[i], present]);
                        self.clause(&[-slot.positive[i], -slot.negative[i]]);
                    }
                    let mut some = slot.positive.clone();
                    some.push(-present);
                    self.clause(&some);
                    if shape.forall_alone {
                        for f in self.foralls.clone() {
                            for i in 0..self.candidates.len() {
                                if i != f {
                                    self.clause(&[-slot.positive[f], -slot.positive[i]]);
                                }
                            }
                        }
                    }
                    self.slots.push(slot);
                    self.holds.push(Vec::new());
                }
                for pair in parallel.windows(2) {
                    let (first, second) = (self.slots[pair[0]].present, self.slots[pair[1]].present);
                    self.clause(&[-second, first]);
                }
                targets.push((to, parallel));
            }
            self.by_target.push(targets);
        }
        // every state but the first is entered
        for to in 1..shape.states {
            let entering: Vec<Lit> = self.slots.iter().filter(|s| s.to == to).map(|s| s.present).collect();
            self.clause(&entering);
            let leaving: Vec<Lit> = self.slots.iter().filter(|s| s.from == to).map(|s| s.present).collect();
            self.clause(&leaving);
        }
    }

    /// Two positive literals that no observation satisfies together never help.
    pub(crate) fn exclude_pairs(&mut self, observations: &[AtomSet]) {
        for (x, a) in self.statics.clone().into_iter().enumerate() {
            for b in self.statics.clone().into_iter().skip(x + 1) {
                let (ma, mb) = (&self.candidates[a].mask, &self.candidates[b].mask);
                let nested = ma.is_subset(mb) || mb.is_subset(ma);
                if nested || !observations.iter().any(|o| o.intersects(ma) && o.intersects(mb)) {
                    for s in 0..self.slots.len() {
                        let (pa, pb) = (self.slots[s].positive[a], self.slots[s].positive[b]);
                        self.clause(&[-pa, -pb]);
                    }
                }
            }
        }
    }

    /// A negative literal that blocks nothing and excludes nothing never helps.
    pub(crate) fn exclude_idle_negatives(&mut self, observations: &[AtomSet]) {
        for i in self.statics.clone() {
            let useful: Vec<usize> = (0..self.candidates.len())
                .filter(|a| {
                    let (mi, ma) = (&self.candidates[i].mask, &self.candidates[*a].mask);
                    self.candidates[*a].forall || (*a != i && !ma.is_subset(mi) && observations.iter().any(|o| o.intersects(ma) && o.intersects(mi)))
                })
                .collect();
            for s in 0..self.slots.len() {
                let mut clause = vec![-self.slots[s].negative[i]];
                clause.extend(useful.iter().map(|a| self.slots[s].positive[*a]));
                clause.extend(self.justified.get(&(s, i)).into_iter().flatten());
                self.clause(&clause);
            }
        }
    }

    fn determinism(&mut self) {
        // implied[slot][b]: some positive literal makes candidate b true
        let mut implied: Vec<Vec<Lit>> = Vec::new();
        for s in 0..self.slots.len() {
            let mut row = Vec::new();
            for b in 0..self.candidates.len() {
                let causes: Vec<Lit> = (0..self.candidates.len())
                    .filter(|a| self.candidates[b].follows_from(&self.candidates[*a]))
                    .map(|a| self.slots[s].positive[a])
                    .collect();
                if causes.len() == 1 {
                    row.push(causes[0]);
                } else {
                    let v = self.absent();
                    let mut c = causes.clone();
                    c.push(-v);
                    self.clause(&c);
                    row.push(v);
                }
            }
            implied.push(row);
        }
        let mut justified: HashMap<(usize, usize), Vec<Lit>> = HashMap::new();
        for a in 0..self.slots.len() {
            for b in a + 1..self.slots.len() {
                if self.slots[a].from != self.slots[b].from || self.slots[a].to == self.slots[b].to {
                    continue;
                }
                let mut reasons = vec![-self.slots[a].present, -self.slots[b].present, -self.act];
                for i in 0..self.candidates.len() {
                    for (x, y) in [(a, b), (b, a)] {
                        let v = self.absent();
                        let negative = self.slots[y].negative[i];
                        self.clause(&[-v, implied[x][i]]);
                        self.clause(&[-v, negative]);
                        reasons.push(v);
                        justified.entry((y, i)).or_default().push(v);
                    }
                }
                self.clause(&reasons);
            }
        }
        self.justified = justified.clone();
        if self.shape.forall_alone {
            // an edge with a positive forall has negative literals only where they keep it apart from another edge
            for s in 0..self.slots.len() {
                let any = self.absent();
                for f in self.foralls.clone() {
                    let p = self.slots[s].positive[f];
                    self.clause(&[-p, any]);
                }
                for i in 0..self.candidates.len() {
                    let mut clause = vec![-any, -self.slots[s].negative[i]];
                    clause.extend(justified.get(&(s, i)).into_iter().flatten());
                    self.clause(&clause);
                }
            }
        }
    }

    /// holds[slot][o]: the slot has an edge whose literals about the newest observation hold on it.
    fn observation(&mut self, number: usize, observation: &AtomSet) {
        for s in 0..self.slots.len() {
            while self.holds[s].len() <= number {
                self.holds[s].push(0);
            }
            if self.holds[s][number] != 0 {
                continue;
            }
            let v = self.fresh();
            self.holds[s][number] = v;
            let present = self.slots[s].present;
            let mut violated = vec![v, -present];
            self.clause(&[-v, present]);
            for i in self.statics.clone() {
                let wrong = if self.candidates[i].mask.intersects(observation) {
                    self.slots[s].negative[i]
                } else {
                    self.slots[s].positive[i]
                };
                self.clause(&[-v, -wrong]);
                violated.push(wrong);
            }
            self.clause(&violated);
        }
    }

    /// Encodes new nodes of the tree, parents before children; nodes that got an end later included.
    pub(crate) fn extend(&mut self, tree: &Tree, new: &[usize]) {
        for &node in new {
            let known = node < self.states.len();
            if known {
                // the node exists as an inner node: contradiction
                self.clause(&[FALSE, FALSE]);
                continue;
            }
            assert_eq!(node, self.states.len());
            self.node(tree, node);
        }
    }

    fn node(&mut self, tree: &Tree, node: usize) {
        let n = self.shape.states;
        let parent = tree.nodes[node].parent;
        let o = tree.nodes[node].observation;
        self.observation(o, &tree.observations[o]);
        let end = tree.nodes[node].end;
        let before = self.states[parent].clone();
        let mut after: Vec<Lit> = Vec::with_capacity(n + 2);
        for u in 0..n {
            let lit = if end.is_some() {
                FALSE
            } else if !self.shape.cyclic && (0..=u).all(|w| before[w] == FALSE) {
                FALSE
            } else {
                self.fresh()
            };
            after.push(lit);
        }
        after.push(if end == Some(Kind::Goal) { TRUE } else { FALSE });
        after.push(if end == Some(Kind::DeadEnd) { TRUE } else { FALSE });
        if end.is_none() {
            self.clause(&after[..n]);
            for a in 0..n {
                for b in a + 1..n {
                    self.clause(&[-after[a], -after[b]]);
                }
            }
        }
        for u in 0..n {
            if before[u] == FALSE {
                continue;
            }
            // where can it go
            let targets: Vec<(usize, Vec<usize>)> = self.by_target[u].clone();
            let mut go = vec![-before[u], after[u]];
            for (to, _) in &targets {
                go.push(after[*to]);
            }
            self.clause(&go);
            for (to, slots) in targets {
                // leaving needs an edge that fires
                if after[to] != FALSE {
                    if let [s] = slots[..] {
                        self.fires(&[-before[u], -after[to]], s, tree, node, u);
                    } else {
                        let mut some = vec![-before[u], -after[to]];
                        for &s in &slots {
                            let f = self.fresh();
                            self.fires(&[-f], s, tree, node, u);
                            some.push(f);
                        }
                        self.clause(&some);
                    }
                }
                // an edge that fires leads on
                for s in slots {
                    let mut clause = vec![-before[u], -self.holds[s][o], after[to]];
                    for f in 0..self.foralls.len() {
                        let c = self.complete(tree, node, f, u);
                        let i = self.foralls[f];
                        let (p, q) = (self.slots[s].positive[i], self.slots[s].negative[i]);
                        if c == FALSE {
                            clause.push(p);
                        } else if c == TRUE {
                            clause.push(q);
                        } else {
                            let anc = tree.nodes[node].complete_since[f].unwrap_or(0);
                            let key = if self.shape.cyclic { (s, f, node, true) } else { (s, f, anc, true) };
                            let bp = self.both(key, p, -c);
                            let key = (key.0, key.1, key.2, false);
                            let bn = self.both(key, q, c);
                            clause.push(bp);
                            clause.push(bn);
                        }
                    }
                    self.clause(&clause);
                }
            }
        }
        self.states.push(after);
    }

    fn both(&mut self, key: (usize, usize, usize, bool), a: Lit, b: Lit) -> Lit {
        if let Some(v) = self.blocked.get(&key) {
            return *v;
        }
        let v = self.fresh();
        self.clause(&[-v, a]);
        self.clause(&[-v, b]);
        self.blocked.insert(key, v);
        v
    }

    /// premise -> slot fires at node from state u
    fn fires(&mut self, premise: &[Lit], s: usize, tree: &Tree, node: usize, u: usize) {
        let o = tree.nodes[node].observation;
        let with = |l: &[Lit]| -> Vec<Lit> { premise.iter().chain(l).copied().collect() };
        let h = self.holds[s][o];
        self.clause(&with(&[h]));
        for f in 0..self.foralls.len() {
            let c = self.complete(tree, node, f, u);
            let i = self.foralls[f];
            let (p, q) = (self.slots[s].positive[i], self.slots[s].negative[i]);
            self.clause(&with(&[-p, c]));
            self.clause(&with(&[-q, -c]));
        }
    }

    /// Whether the f-th forall holds at the node if the state before it is u.
    fn complete(&mut self, tree: &Tree, node: usize, f: usize, u: usize) -> Lit {
        match tree.nodes[node].complete_since[f] {
            None => FALSE,
            Some(anc) => {
                let parent = tree.nodes[node].parent;
                if anc == parent {
                    TRUE
                } else if !self.shape.cyclic {
                    self.states[anc][u]
                } else {
                    self.stays(tree, parent, anc, u)
                }
            }
        }
    }

    /// In state u at every node from anc to node.
    fn stays(&mut self, tree: &Tree, node: usize, anc: usize, u: usize) -> Lit {
        if node == anc {
            return self.states[anc][u];
        }
        if let Some(v) = self.stays.get(&(node, anc, u)) {
            return *v;
        }
        // Iterative: from anc down to node.
        let mut path = vec![node];
        while *path.last().unwrap_or(&anc) != anc {
            let last = *path.last().unwrap_or(&anc);
            path.push(tree.nodes[last].parent);
        }
        let mut current = self.states[anc][u];
        for &next in path.iter().rev().skip(1) {
            current = match self.stays.get(&(next, anc, u)) {
                Some(v) => *v,
                None => {
                    let here = self.states[next][u];
                    let v = if here == FALSE || current == FALSE {
                        FALSE
                    } else {
                        let v = self.fresh();
                        self.clause(&[-v, here]);
                        self.clause(&[-v, current]);
                        self.clause(&[v, -here, -current]);
                        v
                    };
                    self.stays.insert((next, anc, u), v);
                    v
                }
            };
        }
        current
    }

    pub(crate) fn solve(&mut self, assumptions: &[Lit]) -> Option<bool> {
        self.calls += 1;
        let t = std::time::Instant::now();
        let r = self.solver.solve_with(assumptions.iter().copied());
        if std::env::var("TRACE").is_ok() { eprintln!("   call {} assumptions {} -> {:?} {:?}", self.calls, assumptions.len(), r, t.elapsed()); }
        r
    }

    pub(crate) fn is_true(&self, literal: Lit) -> bool {
        self.solver.value(literal.abs()).is_some_and(|v| v == (literal > 0))
    }

    /// The literals whose number is the cost.
    pub(crate) fn cost_literals(&self) -> Vec<Lit> {
        let mut all = Vec::new();
        for slot in &self.slots {
            all.push(slot.present);
            all.extend(&slot.positive);
            all.extend(&slot.negative);
        }
        all
    }

    pub(crate) fn cost(&self) -> usize {
        self.cost_literals().iter().filter(|l| self.is_true(**l)).count()
    }

    /// Builds a counter of the cost up to `limit`; `at_most(k)` is then an assumption.
    pub(crate) fn count_up_to(&mut self, limit: usize) {
        let inputs = self.cost_literals();
        // per slot, then tree of totals
        let per = 1 + 2 * self.candidates.len();
        let mut groups: Vec<Vec<Lit>> = Vec::new();
        for chunk in inputs.chunks(per) {
            groups.push(self.total(chunk, limit));
        }
        while groups.len() > 1 {
            let mut next = Vec::new();
            for pair in groups.chunks(2) {
                next.push(match pair {
                    [a, b] => self.merge(a, b, limit),
                    [a] => a.clone(),
                    _ => unreachable!(),
                });
            }
            groups = next;
        }
        self.counter = groups.pop().unwrap_or_default();
    }

    fn total(&mut self, inputs: &[Lit], limit: usize) -> Vec<Lit> {
        match inputs {
            [] => vec![],
            [a] => vec![*a],
            _ => {
                let (a, b) = inputs.split_at(inputs.len() / 2);
                let (a, b) = (self.total(a, limit), self.total(b, limit));
                self.merge(&a, &b, limit)
            }
        }
    }

    fn merge(&mut self, a: &[Lit], b: &[Lit], limit: usize) -> Vec<Lit> {
        let size = (a.len() + b.len()).min(limit + 1);
        let out: Vec<Lit> = (0..size).map(|_| self.absent()).collect();
        for i in 0..=a.len() {
            for j in 0..=b.len() {
                let sum = (i + j).min(size);
                if sum == 0 {
                    continue;
                }
                let mut clause = vec![out[sum - 1]];
                if i > 0 {
                    clause.push(-a[i - 1]);
                }
                if j > 0 {
                    clause.push(-b[j - 1]);
                }
                self.clause(&clause);
            }
        }
        for w in out.windows(2) {
            self.clause(&[-w[1], w[0]]);
        }
        out
    }

    pub(crate) fn at_most(&self, k: usize) -> Vec<Lit> {
        self.counter.get(k).map(|l| -*l).into_iter().chain([self.act]).collect()
    }

    pub(crate) fn at_least_clause(&mut self, k: usize) {
        if k > 0 {
            if let Some(l) = self.counter.get(k - 1).copied() {
                self.clause(&[l]);
            }
        }
    }
}
