//! The search: propose the cheapest machine, look for a trace that refutes it, add that trace, propose again.
//!
//! Few traces matter, so the solver sees few; the evaluator of `form-core`, which knows nothing of the encoding, sees
//! all of them. For each number of states the cost is bounded from below: machines of cost 2, 3, … are asked for until
//! one is consistent, which is then the cheapest. In between, the solver tries for a while to show that no machine with
//! so many states is consistent at any cost; once it does, the search goes on with one more state.

use std::time::{Duration, Instant};

use form_core::{Kind, Signature, Trace};

use crate::data::Data;
use crate::decode::{Design, decode};
use crate::encode::{Encoding, Lit, Measure, Shape, Watch};
use crate::error::{Error, Result};
use crate::outcome::{Learnt, Outcome, Round, StopReason};
use crate::problem::{Limits, Options};
use crate::tree::Tree;
use crate::verify::overlap;
use crate::vocabulary::{Candidate, vocabulary};

/// Learns the smallest machine from traces, which may keep coming.
///
/// It keeps its solver and everything proven between calls of [`learn`](Learner::learn): traces that the machine
/// already explains cost their replay, others only what they change.
///
/// ```
/// use form_core::{Kind, Signature, Trace};
/// use form_learn::{Learner, Limits, Options, Outcome};
/// let signature = Signature::parse(["yellow(o0)", "yellow(o1)", "goal"])?;
/// let mut learner = Learner::new(&signature, &Options::default());
/// for (kind, steps) in [(Kind::Goal, &["yellow(o0)", "goal"][..]), (Kind::Incomplete, &["goal"])] {
///     let steps: Vec<_> = steps.iter().map(|atom| signature.observation([atom])).collect::<Result<_, _>>()?;
///     learner.add(&Trace::new(kind, steps));
/// }
/// let Outcome::Minimal(learnt) = learner.learn(&Limits::default())? else { panic!() };
/// assert_eq!((learnt.states, learnt.cost.size), (2, 4));
/// # Ok::<(), form_learn::Error>(())
/// ```
pub struct Learner {
    signature: Signature,
    options: Options,
    candidates: Vec<Candidate>,
    data: Data,
    /// The parts of traces that the solver knows.
    tree: Tree,
    encoding: Option<Encoding>,
    /// How many observations and whether a rejecting state the encoding was made for.
    encoded: (usize, bool),
    /// No machine with fewer states is consistent.
    states: usize,
    /// None with that many states is cheaper.
    cost: usize,
    /// Conflicts granted to the next attempt at a proof that there is none at all.
    conflicts: i32,
    /// A consistent machine with that many states, not proven to be the cheapest.
    best: Option<Learnt>,
    /// The answer, and how many traces it has been replayed on.
    answer: Option<(Learnt, usize)>,
    /// Refutations added since they were last counted.
    counterexamples: usize,
    rounds: Vec<Round>,
}

/// A search that had to end.
struct Stop(StopReason);

impl Learner {
    /// A learner without traces. `forall` ranges over the signature.
    pub fn new(signature: &Signature, options: &Options) -> Self {
        let candidates = vocabulary(signature, options.first_order);
        let foralls = candidates
            .iter()
            .filter(|c| c.forall)
            .map(|c| c.mask.clone())
            .collect();
        Self {
            signature: signature.clone(),
            options: options.clone(),
            candidates,
            data: Data::default(),
            tree: Tree::new(foralls),
            encoding: None,
            encoded: (0, false),
            states: 1,
            cost: 0,
            conflicts: FIRST_CONFLICTS,
            best: None,
            answer: None,
            counterexamples: 0,
            rounds: Vec::new(),
        }
    }

    /// Adds a trace; its number, or `None` if it was there already.
    pub fn add(&mut self, trace: &Trace) -> Option<usize> {
        self.data.add(trace)
    }

    /// How many different traces there are.
    pub fn traces(&self) -> usize {
        self.data.len()
    }

    /// What each number of states has taken so far.
    pub fn rounds(&self) -> &[Round] {
        &self.rounds
    }

    /// The machine that was learnt last, if it is proven minimal for all traces added so far.
    pub(crate) fn answer(&self) -> Option<&Learnt> {
        let (learnt, checked) = self.answer.as_ref()?;
        (*checked == self.data.len()).then_some(learnt)
    }

    /// What the problem consists of.
    pub(crate) fn problem(&self) -> (&Signature, &Options, &[Candidate], &Data) {
        (&self.signature, &self.options, &self.candidates, &self.data)
    }

    /// The smallest machine that is consistent with all traces added so far, or why there is none.
    pub fn learn(&mut self, limits: &Limits) -> Result<Outcome> {
        if !self.data.contradictions().is_empty() {
            return Ok(Outcome::Contradictory(self.data.contradictions().to_vec()));
        }
        if let Some(learnt) = self.still_holds() {
            return Ok(Outcome::Minimal(learnt));
        }
        let watch = Watch {
            deadline: limits.time.map(|time| Instant::now() + time),
            memory: limits.memory,
            interrupt: limits.interrupt.clone(),
        };
        let found = self.search(limits, &watch);
        Ok(match found {
            Ok(learnt) => {
                self.trust(&learnt)?;
                self.answer = Some((learnt.clone(), self.data.len()));
                Outcome::Minimal(learnt)
            }
            Err(Stop(reason)) => Outcome::Stopped {
                reason,
                at_least_states: self.states,
                at_least_cost: self.cost,
                best: self.best.clone(),
            },
        })
    }

    /// Before anyone sees the machine: it has been replayed on all traces, and is now checked for determinism, both by
    /// code that knows nothing of the encoding.
    fn trust(&self, learnt: &Learnt) -> Result<()> {
        let bound = learnt.machine.bind(&self.signature)?;
        match overlap(&bound) {
            None => Ok(()),
            Some(overlap) => Err(Error::Refuted {
                problem: format!("{overlap:?} in\n{}", learnt.machine),
            }),
        }
    }

    /// The last answer, if the traces added since agree with it.
    fn still_holds(&mut self) -> Option<Learnt> {
        let (learnt, checked) = self.answer.take()?;
        if self.refutes(&learnt, checked) {
            return None;
        }
        self.answer = Some((learnt.clone(), self.data.len()));
        Some(learnt)
    }

    /// One number of states after the other, until a machine is found.
    fn search(&mut self, limits: &Limits, watch: &Watch) -> Result<Learnt, Stop> {
        let rejecting = self.data.shortest(Kind::DeadEnd).is_some();
        if self.encoded != (self.data.observations().len(), rejecting) {
            self.encoding = None;
        }
        if self.tree.len() == 1 {
            self.plant();
        }
        // A machine found before need not agree with the traces added since.
        self.best = None;
        loop {
            if self.states > limits.max_states {
                return Err(Stop(StopReason::States));
            }
            let start = Instant::now();
            self.encode(watch);
            let before = (self.tree.len(), self.effort());
            let found = self.search_states(watch);
            self.account(before, start.elapsed(), matches!(found, Ok(None)));
            if let Some(learnt) = found? {
                return Ok(learnt);
            }
            self.states += 1;
            self.cost = 0;
            self.conflicts = FIRST_CONFLICTS;
            self.encoding = None;
            // What refuted smaller machines is mostly of no use for this one, and would slow it down.
            self.plant();
        }
    }

    /// Starts the tree anew, from the shortest trace of each end.
    fn plant(&mut self) {
        let foralls = self
            .candidates
            .iter()
            .filter(|c| c.forall)
            .map(|c| c.mask.clone())
            .collect();
        self.tree = Tree::new(foralls);
        for seed in [Kind::Goal, Kind::DeadEnd]
            .into_iter()
            .filter_map(|kind| self.data.shortest(kind))
        {
            self.tree
                .add(seed.kind, self.data.steps(&seed), self.data.observations());
        }
    }

    /// Makes sure there is an encoding for the number of states, with all traces that matter so far.
    fn encode(&mut self, watch: &Watch) {
        let kinds = [Kind::Goal, Kind::DeadEnd].map(|kind| self.data.shortest(kind).is_some());
        let observations = self.data.observations();
        let encoding = self.encoding.get_or_insert_with(|| {
            let shape = Shape {
                states: self.states,
                rejecting: kinds[1],
                options: self.options.clone(),
            };
            Encoding::new(shape, &self.candidates, observations, watch)
        });
        self.encoded = (observations.len(), kinds[1]);
        encoding.watch(watch);
        encoding.extend(&self.tree, observations);
        // An edge into every other state and into each end, with a literal each.
        let ends = kinds.iter().filter(|exists| **exists).count();
        self.cost = self.cost.max(2 * (self.states - 1 + ends));
    }

    /// The smallest machine with this number of states; `None` if there is none at all.
    ///
    /// Two questions take turns, each with a growing allowance of conflicts: is there one of the lowest cost not yet
    /// excluded, and is there any? The first finds the answer where there is one, the second the proof where there is
    /// none.
    fn search_states(&mut self, watch: &Watch) -> Result<Option<Learnt>, Stop> {
        loop {
            let cost = self.cost;
            let bound = self.encoding().at_most(Measure::Cost, cost);
            let conflicts = self.conflicts;
            match self.encoding().solve_limited(&bound, conflicts) {
                Some(false) if bound.is_empty() => return Ok(None),
                Some(false) => self.cost += 1,
                Some(true) => {
                    let design = decode(self.encoding());
                    if !self.refutes(&design.learnt, 0) {
                        return self.break_ties(design, watch).map(Some);
                    }
                    continue;
                }
                None => {}
            }
            if self
                .best
                .as_ref()
                .is_none_or(|best| best.states != self.states)
            {
                for _ in 0..ATTEMPTS {
                    match self.encoding().solve_limited(&[], conflicts) {
                        Some(false) => return Ok(None),
                        Some(true) => {
                            let design = decode(self.encoding());
                            if !self.refutes(&design.learnt, 0) {
                                self.best = Some(design.learnt);
                                break;
                            }
                        }
                        None => {
                            self.conflicts = self.conflicts.saturating_mul(2);
                            break;
                        }
                    }
                }
            } else {
                self.conflicts = self.conflicts.saturating_mul(2);
            }
            if let Some(reason) = watch.reason() {
                return Err(Stop(reason));
            }
        }
    }

    /// Asks for a machine under assumptions, and again with every trace that refutes the answer, until it is consistent
    /// with all of them or there is none.
    fn ask(
        &mut self,
        assumptions: &[Lit],
        clause: Option<&[Lit]>,
        watch: &Watch,
    ) -> Result<Option<Design>, Stop> {
        loop {
            let answer = match clause {
                None => self.encoding().solve(assumptions),
                Some(clause) => self.encoding().solve_with_clause(assumptions, clause),
            };
            match answer {
                Some(false) => return Ok(None),
                Some(true) => {
                    let design = decode(self.encoding());
                    if !self.refutes(&design.learnt, 0) {
                        return Ok(Some(design));
                    }
                }
                None => return Err(Stop(watch.reason().unwrap_or(StopReason::Interrupted))),
            }
        }
    }

    /// Whether some trace from number `from` on refutes the machine; the search then knows it.
    fn refutes(&mut self, learnt: &Learnt, from: usize) -> bool {
        let bound = learnt
            .machine
            .bind(&self.signature)
            .expect("edges are made of the signature's atoms");
        let refutations = self.data.refutations(&bound, from);
        self.counterexamples += refutations.len();
        for refutation in &refutations {
            self.tree.add(
                refutation.kind,
                self.data.steps(refutation),
                self.data.observations(),
            );
        }
        if let Some(encoding) = &mut self.encoding
            && self.encoded.0 == self.data.observations().len()
        {
            encoding.extend(&self.tree, self.data.observations());
        }
        !refutations.is_empty()
    }

    /// Among the machines of the lowest cost: the fewest ground atoms, the fewest negations, then the first in order.
    fn break_ties(&mut self, mut design: Design, watch: &Watch) -> Result<Learnt, Stop> {
        let cost = self.cost;
        let mut assumptions = self.encoding().at_most(Measure::Cost, cost);
        let different: Vec<Lit> = design.literals.iter().map(|literal| -literal).collect();
        if self.ask(&assumptions, Some(&different), watch)?.is_none() {
            return Ok(design.learnt);
        }
        for measure in [Measure::Ground, Measure::Negative] {
            let value = |learner: &mut Self, design: &Design| {
                learner
                    .encoding()
                    .counted(measure)
                    .iter()
                    .flatten()
                    .filter(|l| design.literals.contains(l))
                    .count()
            };
            for bound in 0.. {
                let at_most = self.encoding().at_most(measure, bound);
                if value(self, &design) > bound {
                    let both: Vec<Lit> = assumptions.iter().chain(&at_most).copied().collect();
                    match self.ask(&both, None, watch)? {
                        Some(better) => design = better,
                        None => continue,
                    }
                }
                assumptions.extend(at_most);
                break;
            }
        }
        let present: Vec<Lit> = self
            .encoding()
            .slots()
            .iter()
            .map(|slot| slot.present)
            .collect();
        self.prefer(&present, &mut assumptions, &mut design, watch)?;
        for slot in self.encoding().slots().to_vec() {
            if design.literals.contains(&slot.present) {
                let literals: Vec<Lit> = slot
                    .positive
                    .iter()
                    .chain(&slot.negative)
                    .copied()
                    .collect();
                self.prefer(&literals, &mut assumptions, &mut design, watch)?;
            }
        }
        Ok(design.learnt)
    }

    /// Makes as early a literal of the list hold as possible, then the next, and so on.
    fn prefer(
        &mut self,
        order: &[Lit],
        assumptions: &mut Vec<Lit>,
        design: &mut Design,
        watch: &Watch,
    ) -> Result<(), Stop> {
        let mut start = 0;
        while start < order.len() {
            let holds = |literal: &Lit| design.literals.contains(literal);
            let first = order[start..]
                .iter()
                .position(holds)
                .map_or(order.len(), |i| start + i);
            if first > start
                && let Some(better) = self.ask(assumptions, Some(&order[start..first]), watch)?
            {
                *design = better;
                continue;
            }
            assumptions.extend(order.get(first));
            start = first + 1;
        }
        Ok(())
    }

    fn encoding(&mut self) -> &mut Encoding {
        self.encoding.as_mut().expect("made before the search")
    }

    fn effort(&self) -> (usize, usize) {
        self.encoding.as_ref().map_or((0, 0), Encoding::effort)
    }

    fn account(&mut self, before: (usize, (usize, usize)), time: Duration, refuted: bool) {
        let (calls, clauses) = self.effort();
        if self
            .rounds
            .last()
            .is_none_or(|round| round.states != self.states)
        {
            self.rounds.push(Round {
                states: self.states,
                ..Round::default()
            });
        }
        let steps = self.tree.len() - before.0;
        let counterexamples = std::mem::take(&mut self.counterexamples);
        if let Some(round) = self.rounds.last_mut() {
            round.counterexamples += counterexamples;
            round.steps += steps;
            round.solver_calls += calls - before.1.0;
            round.clauses = clauses;
            round.time += time;
            round.refuted = refuted;
        }
    }
}

/// Conflicts for the first attempt at a proof that so many states do not suffice.
const FIRST_CONFLICTS: i32 = 2000;
/// How often in a row any machine at all is asked for.
const ATTEMPTS: usize = 4;
