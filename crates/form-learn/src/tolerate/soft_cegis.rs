//! CEGIS with soft traces: the fewest traces that a machine with one number of states misjudges, and the machines that misjudge
//! no more.
//!
//! This is MaxSAT over the machines. It is core-guided (OLL: Andres et al. 2012; RC2: Ignatiev et al. 2019): the solver assumes
//! that no trace is misjudged. A core names traces of which one is; its weight is added to the lower bound, and a totalizer lets
//! one of them be misjudged for free. A model is a candidate, and an upper bound after its replay on all traces. As in the loop
//! without mistakes ([`cegis`](crate::cegis)) the solver knows only traces that some candidate misjudged, each up to where that
//! showed. The first cores and a good machine come from [`packing`](super::packing).

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::budget::Budget;
use crate::cegis::ConflictBudget;
use crate::counterexamples::{Mistake, mistakes};
use crate::cuts;
use crate::encode::{Candidate, Encoding, Lit, Measure, Solved};
use crate::minimise::CandidateLoop;
use crate::outcome::Learnt;
use crate::prefix_tree::PrefixTree;
use crate::problem::Problem;
use crate::traces::TracePrefix;
use form_core::Kind;

/// The loop for one number of states.
pub(super) struct SoftCegis {
    tree: PrefixTree,
    pub(super) encoding: Encoding,
    /// For each trace that the solver knows: the literal that it is misjudged.
    pub(super) misjudged: HashMap<usize, Lit>,
    /// The traces, and their numbers of observations, that are encoded.
    bound: HashSet<(usize, usize)>,
    /// What the solver assumes. Every assignment misjudges traces of the weight `lower`, and of the weights of the assumptions
    /// that it violates.
    pub(super) soft: BTreeMap<Lit, Soft>,
    counters: Vec<Vec<Lit>>,
    /// The assumptions that machines cost no more than a bound, if there is one: what follows is about these machines then.
    within: Vec<Lit>,
    /// Assumptions that wait until no core without them is left, so that cores are disjoint at first.
    waiting: BTreeSet<Lit>,
    /// Whether the assumptions are clauses: only machines that misjudge traces of the weight `lower` are left.
    hard: bool,
    /// Lower bound on the weight of misjudged traces.
    pub(super) lower: u64,
    /// Upper bound: the machine that misjudges the lowest weight so far.
    pub(super) best: Option<(u64, Learnt)>,
    /// Disjoint cores of all machines with this number of states, once they have been looked for.
    pub(super) packed: Option<Vec<Vec<TracePrefix>>>,
    /// The solver calls that this took.
    pub(super) packing_calls: usize,
}

/// An assumption.
#[derive(Clone, Copy)]
pub(super) struct Soft {
    pub(super) weight: u64,
    /// If it is about a counter: which one, and which literal of it.
    counter: Option<(usize, usize)>,
}

/// What is known after a search for the fewest misjudged traces.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fewest {
    /// The lower bound has met the best machine, or the bound that was given.
    Proven,
    /// More than what is tolerated.
    TooMany,
    /// No machine has this number of states, whatever it misjudges.
    NoMachine,
    /// A limit was reached first.
    Unknown,
}

impl SoftCegis {
    /// `None` if a limit is reached meanwhile.
    pub(super) fn new(problem: &Problem, states: usize, budget: &Budget) -> Option<Self> {
        let observations = problem.traces.observations();
        let shape = problem.soft_shape(states);
        Some(Self {
            tree: problem.empty_tree(),
            encoding: Encoding::new(shape, &problem.vocabulary, observations, budget)?,
            misjudged: HashMap::new(),
            bound: HashSet::new(),
            soft: BTreeMap::new(),
            counters: Vec::new(),
            within: Vec::new(),
            waiting: BTreeSet::new(),
            hard: false,
            lower: 0,
            best: None,
            packed: None,
            packing_calls: 0,
        })
    }

    /// The effort so far: traces that the solver knows, nodes, solver calls, clauses.
    pub(super) fn effort(&self) -> crate::effort::Effort {
        let (calls, clauses) = self.encoding.effort();
        crate::effort::Effort {
            counterexamples: self.bound.len(),
            steps: self.tree.len(),
            calls: calls + self.packing_calls,
            clauses,
        }
    }

    /// Begins anew, with the machines that cost no more than a bound. What the solver has learnt stays.
    pub(super) fn begin_within(&mut self, problem: &Problem, cost: usize) {
        self.within = self.encoding.at_most(Measure::Cost, cost);
        self.counters.clear();
        self.waiting.clear();
        self.lower = 0;
        self.best = None;
        self.soft = (self.misjudged.iter())
            .filter_map(|(trace, misjudged)| {
                let (weight, counter) = (problem.traces.weight(*trace), None);
                (weight > 0).then_some((-misjudged, Soft { weight, counter }))
            })
            .collect();
        for core in self.packed.clone().unwrap_or_default() {
            self.relax_traces(problem, &core);
        }
    }

    /// Whether machines are bounded by their cost.
    pub(super) fn is_bounded(&self) -> bool {
        !self.within.is_empty()
    }

    /// The number of states.
    pub(super) fn states(&self) -> usize {
        self.encoding.shape().states
    }

    /// The lowest cost of a machine with this number of states.
    pub(super) fn lowest_cost(&self) -> usize {
        self.encoding.shape().lowest_cost(0)
    }

    /// Raises the lower bound until it meets the best machine or `known`, which some machine with fewer states misjudges, or
    /// exceeds what is tolerated. With a limit on solver calls, besides the limits of the whole search, it may end without an answer.
    pub(super) fn fewest(
        &mut self,
        problem: &Problem,
        known: Option<u64>,
        tolerated: u64,
        budget: Option<ConflictBudget>,
        limits: &Budget,
    ) -> Fewest {
        if budget.is_none() && self.packed.is_none() {
            self.pack(problem, tolerated, limits);
        }
        let mut calls = 0;
        loop {
            let upper = self.best.as_ref().map(|(weight, _)| *weight);
            if (upper.into_iter().chain(known)).any(|upper| upper <= self.lower) {
                return Fewest::Proven;
            }
            if self.lower > tolerated {
                return Fewest::TooMany;
            }
            if budget.is_some_and(|budget| calls >= budget.calls) {
                return Fewest::Unknown;
            }
            calls += 1;
            let assumptions: Vec<Lit> = (self.soft.keys().copied())
                .filter(|literal| !self.waiting.contains(literal))
                .collect();
            let conflicts = budget.map(|budget| budget.conflicts);
            match self.solve_within(&assumptions, conflicts) {
                Solved::Unknown => return Fewest::Unknown,
                Solved::Sat(()) => {
                    let learnt = self.encoding.decode().learnt;
                    let last = upper.is_some_and(|upper| upper <= self.lower.saturating_add(1));
                    if !self.refine(problem, &learnt) || last {
                        self.waiting.clear();
                    }
                }
                Solved::Unsat => {
                    let core = self.encoding.core_of(&assumptions);
                    if core.is_empty() {
                        return Fewest::NoMachine;
                    }
                    // The last core need not be small.
                    let weight = (core.iter()).map(|literal| self.soft[literal].weight).min();
                    let next = self.lower.saturating_add(weight.unwrap_or(0));
                    let last = next > tolerated || upper.is_some_and(|upper| next >= upper);
                    let core = if last { core } else { self.reduce(core) };
                    self.relax(&core);
                }
            }
        }
    }

    fn solve_within(&mut self, assumptions: &[Lit], conflicts: Option<i32>) -> Solved<()> {
        let all = [&self.within, assumptions].concat();
        self.encoding.solve(&all, conflicts)
    }

    /// Makes a core smaller: by asking again, then by leaving out one assumption after the other, with few conflicts each.
    pub(super) fn reduce(&mut self, mut core: Vec<Lit>) -> Vec<Lit> {
        for _ in 0..TRIMS {
            core.reverse();
            match self.solve_within(&core, Some(REDUCE_CONFLICTS)) {
                Solved::Unsat => {
                    let smaller = self.encoding.core_of(&core);
                    let same = smaller.len() == core.len();
                    core = smaller;
                    if same {
                        break;
                    }
                }
                _ => break,
            }
        }
        let mut needed = 0;
        while needed < core.len().min(FAILED) {
            let mut rest = core.clone();
            rest.remove(needed);
            match self.solve_within(&rest, Some(REDUCE_CONFLICTS)) {
                // What is needed stays in front.
                Solved::Unsat => core = self.encoding.core_of(&rest),
                _ => needed += 1,
            }
            needed = needed.min(core.len());
        }
        core
    }

    /// One of these traces is misjudged.
    pub(super) fn relax_traces(&mut self, problem: &Problem, core: &[TracePrefix]) {
        for prefix in core {
            self.encode(problem, prefix);
        }
        let core: Vec<Lit> = (core.iter())
            .map(|prefix| -self.misjudged[&prefix.trace])
            .collect();
        self.relax(&core);
    }

    /// One of these assumptions is violated: the lower bound rises, and a counter allows one violation.
    fn relax(&mut self, core: &[Lit]) {
        let weight = (core.iter()).map(|literal| self.soft[literal].weight).min();
        let weight = weight.unwrap_or(0);
        self.lower = self.lower.saturating_add(weight);
        for literal in core {
            let Some(soft) = self.soft.get_mut(literal) else {
                continue;
            };
            soft.weight -= weight;
            let (left, counter) = (soft.weight, soft.counter);
            if left == 0 {
                self.soft.remove(literal);
            }
            if let Some((counter, k)) = counter {
                self.assume(counter, k + 1, weight);
            }
        }
        let violated: Vec<Lit> = core.iter().map(|literal| -literal).collect();
        let counter = self.encoding.count(&violated);
        let mut violates: Vec<Lit> = self.within.iter().map(|literal| -literal).collect();
        violates.push(counter[0]);
        self.encoding.require(&violates);
        self.counters.push(counter);
        self.assume(self.counters.len() - 1, 1, weight);
    }

    /// Assumes that a counter is at most k, if it can be more.
    fn assume(&mut self, counter: usize, k: usize, weight: u64) {
        let Some(more) = self.counters[counter].get(k) else {
            return;
        };
        let counter = Some((counter, k));
        let soft = (self.soft.entry(-more)).or_insert(Soft { weight: 0, counter });
        soft.weight += weight;
        self.waiting.insert(-more);
    }

    /// Replays a machine on all traces, remembers it if it is the best, and encodes some of the traces that it misjudges; whether
    /// any of these were not encoded yet.
    fn refine(&mut self, problem: &Problem, learnt: &Learnt) -> bool {
        let found = mistakes(&problem.traces, &problem.bind(learnt), 0);
        let weight = weight_of(problem, &found);
        if (self.best.as_ref()).is_none_or(|(best, _)| weight < *best) {
            self.best = Some((weight, learnt.clone()));
        }
        self.learn_from(problem, found)
    }

    /// Encodes some of the traces that a machine misjudges; whether any of these were not encoded yet.
    pub(super) fn learn_from(
        &mut self,
        problem: &Problem,
        found: Vec<(Mistake, TracePrefix)>,
    ) -> bool {
        let is_new = |prefix: &TracePrefix| !self.bound.contains(&(prefix.trace, prefix.length));
        let mut new: Vec<(Mistake, TracePrefix)> = (found.into_iter())
            .filter(|(_, prefix)| is_new(prefix))
            .collect();
        new.sort_by_key(|(mistake, prefix)| (*mistake, prefix.length, prefix.trace));
        let mut counts = [0; 4];
        let mut chosen: HashSet<(Kind, &[u32])> = HashSet::new();
        let mut added = false;
        for (mistake, prefix) in &new {
            let key = (prefix.kind, problem.traces.steps(prefix));
            let count = &mut counts[*mistake as usize];
            // Traces that share what is encoded cost nothing more.
            if chosen.contains(&key) || *count < PER_MISTAKE {
                *count += usize::from(chosen.insert(key));
                self.encode(problem, prefix);
                added = true;
            }
        }
        added
    }

    /// Encodes a trace up to where it was misjudged.
    pub(super) fn encode(&mut self, problem: &Problem, prefix: &TracePrefix) {
        if self.bound.contains(&(prefix.trace, prefix.length)) {
            return;
        }
        let observations = problem.traces.observations();
        let steps = problem.traces.steps(prefix);
        // A node has no end of its own: traces may contradict each other.
        let node = self.tree.add(Kind::Incomplete, steps, observations);
        self.encoding.extend(&self.tree, observations);
        let known = self.misjudged.get(&prefix.trace).copied();
        let misjudged = known.unwrap_or_else(|| self.new_soft(problem, prefix.trace));
        if !self.encoding.has_node(node) {
            return;
        }
        self.bound.insert((prefix.trace, prefix.length));
        self.encoding.expect(node, prefix.kind, misjudged);
        if prefix.kind != Kind::Incomplete {
            let mut node = node;
            for stays in cuts::stays(steps).into_iter().rev() {
                self.encoding.expect_stays(node, stays, misjudged);
                node = self.tree.node(node).parent;
            }
        }
    }

    fn new_soft(&mut self, problem: &Problem, trace: usize) -> Lit {
        let misjudged = self.encoding.misjudged_literal();
        self.misjudged.insert(trace, misjudged);
        let weight = problem.traces.weight(trace);
        if self.hard {
            self.encoding.require(&[-misjudged]);
        } else if weight > 0 {
            let soft = Soft {
                weight,
                counter: None,
            };
            self.soft.insert(-misjudged, soft);
        }
        misjudged
    }

    /// Leaves only the machines that misjudge no more than the lower bound, which some machine meets; of those within a bound on the
    /// cost, if there is one.
    pub(super) fn harden(&mut self) {
        self.hard = true;
        for literal in std::mem::take(&mut self.soft).into_keys() {
            self.encoding.require(&[literal]);
        }
    }

    /// Another machine that misjudges no more than the lower bound and costs no more than this, and that judges one of these traces
    /// rightly. Only after [`harden`](Self::harden).
    pub(super) fn other(
        &mut self,
        problem: &Problem,
        suspects: &[usize],
        cost: usize,
        budget: ConflictBudget,
    ) -> Solved<Candidate> {
        let activation = self.encoding.activation_literal();
        let mut clause = vec![-activation];
        let known = suspects.iter().filter_map(|one| self.misjudged.get(one));
        clause.extend(known.map(|misjudged| -misjudged));
        self.encoding.require(&clause);
        let mut assumptions = self.encoding.at_most(Measure::Cost, cost);
        assumptions.push(activation);
        self.solve(problem, &assumptions, Some(budget))
    }
}

impl CandidateLoop for SoftCegis {
    fn encoding(&mut self) -> &mut Encoding {
        &mut self.encoding
    }

    /// Candidates that misjudge no more than the lower bound: after [`harden`](Self::harden).
    fn solve(
        &mut self,
        problem: &Problem,
        assumptions: &[Lit],
        budget: Option<ConflictBudget>,
    ) -> Solved<Candidate> {
        loop {
            match (self.encoding).solve(assumptions, budget.map(|budget| budget.conflicts)) {
                Solved::Unsat => return Solved::Unsat,
                Solved::Unknown => return Solved::Unknown,
                Solved::Sat(()) => {
                    let candidate = self.encoding.decode();
                    let found = mistakes(&problem.traces, &problem.bind(&candidate.learnt), 0);
                    if weight_of(problem, &found) <= self.lower {
                        return Solved::Sat(candidate);
                    }
                    self.refine(problem, &candidate.learnt);
                }
            }
        }
    }
}

/// The weight of misjudged traces.
pub(super) fn weight_of(problem: &Problem, mistakes: &[(Mistake, TracePrefix)]) -> u64 {
    let weights = (mistakes.iter()).map(|(_, prefix)| problem.traces.weight(prefix.trace));
    weights.fold(0, u64::saturating_add)
}

/// How many traces of each mistake are encoded at a time.
const PER_MISTAKE: usize = 4;
/// How often a core is trimmed.
const TRIMS: usize = 3;
/// The conflicts of one call that makes a core smaller.
const REDUCE_CONFLICTS: i32 = 50;
/// How many assumptions are kept in vain before a core is small enough.
const FAILED: usize = 20;
