//! A good machine and disjoint cores, before the search for the fewest misjudged traces: its upper and its lower bound.
//!
//! *Samples*: a few traces are likely to have no wrong one among them, and a cheap machine that judges them rightly is then often
//! the right one (sample consensus; Fischler, Bolles 1981). So the machines of some samples are replayed on all traces, and the best is kept.
//!
//! *Packing*: traces that this machine misjudges are likely to be wrong. With each of them come a few traces that it judges rightly,
//! such that no machine is consistent with all of these: a core. It is found with [tables](Tables), and where these do not suffice by the
//! loop of candidates and counterexamples, with a solver of its own for each suspect. Cores that share no trace add up. A search that assumes
//! all traces at once finds cores with several wrong ones in them, of which only one counts.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use form_core::Kind;

use super::soft_cegis::{SoftCegis, weight_of};
use super::tables::Tables;
use crate::budget::Budget;
use crate::counterexamples::mistakes;
use crate::cuts;
use crate::encode::{Lit, Measure, Solved};
use crate::outcome::Learnt;
use crate::problem::Problem;
use crate::traces::TracePrefix;

/// Traces that no machine of the search is consistent with, or a machine that is consistent with all traces in question.
enum Verdict {
    Core(Vec<TracePrefix>),
    Machine(Learnt),
}

impl SoftCegis {
    /// Looks for a good machine, then for disjoint cores with a trace that it misjudges in each, until they exceed what is tolerated.
    pub(super) fn pack(&mut self, problem: &Problem, tolerated: u64, budget: &Budget) {
        self.packed = Some(Vec::new());
        let mut guide = self.best.clone();
        for sample in samples(problem) {
            if (guide.as_ref()).is_some_and(|(weight, _)| *weight <= tolerated) {
                break;
            }
            if budget.check().is_none() {
                return;
            }
            let learnt = self.apart(problem, budget, |alone| alone.machine_of(problem, &sample));
            if let Some(learnt) = learnt {
                self.consider(problem, learnt, &mut guide);
            }
        }
        // Made for the first suspect; no longer asked once they have shown no core for several.
        let (mut tables, mut in_vain) = (None, 0);
        let mut tried = BTreeSet::new();
        while let Some((weight, best)) = &guide {
            if self.lower >= *weight || self.lower > tolerated || budget.check().is_none() {
                return;
            }
            let wrong: BTreeSet<usize> = (mistakes(&problem.traces, &problem.bind(best), 0).iter())
                .map(|(_, prefix)| prefix.trace)
                .collect();
            let is_free = |trace: &usize| self.weight_left(problem, *trace) > 0;
            let is_open = |trace: &usize| !tried.contains(trace) && is_free(trace);
            let Some(suspect) = wrong.iter().copied().find(is_open) else {
                return;
            };
            let right: BTreeSet<usize> = (0..problem.traces.len())
                .filter(|trace| !wrong.contains(trace) && is_free(trace))
                .collect();
            let small = match in_vain < IN_VAIN {
                true => {
                    let states = self.states();
                    let tables = tables.get_or_insert_with(|| Tables::new(problem, states, budget));
                    self.small_core(problem, tables, suspect, &right)
                }
                false => None,
            };
            in_vain += usize::from(small.is_none());
            let verdict = match small {
                Some(core) => Some(Verdict::Core(core)),
                None => self.apart(problem, budget, |alone| {
                    alone.core_of(problem, suspect, &right)
                }),
            };
            match verdict {
                // There is no machine at all, whatever the traces.
                Some(Verdict::Core(core)) if core.is_empty() => return,
                Some(Verdict::Core(core)) => {
                    self.relax_traces(problem, &core);
                    self.packed.get_or_insert_default().push(core);
                }
                Some(Verdict::Machine(learnt)) => {
                    self.consider(problem, learnt, &mut guide);
                    tried.insert(suspect);
                }
                None => {
                    tried.insert(suspect);
                }
            }
        }
    }

    /// A core of a suspect and others of these traces, if tables show one.
    fn small_core(
        &mut self,
        problem: &Problem,
        tables: &mut Option<Tables>,
        suspect: usize,
        others: &BTreeSet<usize>,
    ) -> Option<Vec<TracePrefix>> {
        let tables = tables.as_mut()?;
        let before = tables.calls;
        let core = tables.core_of(problem, suspect, others);
        self.packing_calls += tables.calls - before;
        let whole = |trace| problem.traces.whole(trace);
        Some(core?.into_iter().map(whole).collect())
    }

    /// The weight of a trace that is in no core yet.
    fn weight_left(&self, problem: &Problem, trace: usize) -> u64 {
        match self.misjudged.get(&trace) {
            None => problem.traces.weight(trace),
            Some(misjudged) => self.soft.get(&-misjudged).map_or(0, |soft| soft.weight),
        }
    }

    /// Keeps a machine that misjudges fewer traces than the one before.
    fn consider(&mut self, problem: &Problem, learnt: Learnt, guide: &mut Option<(u64, Learnt)>) {
        let found = mistakes(&problem.traces, &problem.bind(&learnt), 0);
        let weight = weight_of(problem, &found);
        if (guide.as_ref()).is_none_or(|(best, _)| weight < *best) {
            *guide = Some((weight, learnt));
            if !self.is_bounded() {
                self.best.clone_from(guide);
            }
        }
    }

    /// Asks with a solver that knows no traces yet.
    fn apart<T>(
        &mut self,
        problem: &Problem,
        budget: &Budget,
        ask: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<T> {
        let mut alone = Self::new(problem, self.states(), budget)?;
        let answer = ask(&mut alone);
        self.packing_calls += alone.effort().calls;
        answer
    }

    /// A cheap machine that is consistent with these traces, if it is found soon.
    fn machine_of(&mut self, problem: &Problem, traces: &[usize]) -> Option<Learnt> {
        let right: Vec<Lit> = (traces.iter())
            .map(|trace| self.right(problem, *trace))
            .collect();
        let lowest = self.lowest_cost();
        for cost in lowest..=lowest + EXTRA_COST {
            let bound = self.encoding.at_most(Measure::Cost, cost);
            let assumptions = [bound, right.clone()].concat();
            match self.encoding.solve(&assumptions, Some(CONFLICTS)) {
                Solved::Sat(()) => return Some(self.encoding.decode().learnt),
                Solved::Unsat => {}
                Solved::Unknown => return None,
            }
        }
        None
    }

    /// The assumption that a machine is right about a trace.
    pub(super) fn right(&mut self, problem: &Problem, trace: usize) -> Lit {
        self.encode(problem, &problem.traces.whole(trace));
        -self.misjudged[&trace]
    }

    /// A core of one suspect and of others of these traces, or a machine that is right about all of them; nothing if that takes too long.
    fn core_of(
        &mut self,
        problem: &Problem,
        suspect: usize,
        others: &BTreeSet<usize>,
    ) -> Option<Verdict> {
        let mut right = vec![self.right(problem, suspect)];
        loop {
            match self.encoding.solve(&right, Some(CONFLICTS)) {
                Solved::Unknown => return None,
                Solved::Unsat => {
                    let used = self.encoding.core_of(&right);
                    let used = self.reduce(used);
                    let mut core: Vec<usize> = (self.misjudged.iter())
                        .filter(|(_, misjudged)| used.contains(&-**misjudged))
                        .map(|(trace, _)| *trace)
                        .collect();
                    core.sort_unstable();
                    let whole = |trace| problem.traces.whole(trace);
                    return Some(Verdict::Core(core.into_iter().map(whole).collect()));
                }
                Solved::Sat(()) => {}
            }
            let learnt = self.encoding.decode().learnt;
            let mut found = mistakes(&problem.traces, &problem.bind(&learnt), 0);
            found.retain(|(_, prefix)| others.contains(&prefix.trace));
            if !self.learn_from(problem, found) {
                return Some(Verdict::Machine(learnt));
            }
            right = self.soft.keys().copied().collect();
        }
    }
}

/// Disjoint samples of the traces, each with a share of the strongest of each kind.
fn samples(problem: &Problem) -> Vec<Vec<usize>> {
    let mut traces: Vec<usize> = (0..problem.traces.len()).collect();
    // Ends that need many stays, then long traces.
    traces.sort_by_cached_key(|trace| {
        let (kind, steps) = &problem.traces.from(*trace)[0];
        let stays = match kind {
            Kind::Incomplete => 0,
            _ => cuts::stays(steps)[0],
        };
        (Reverse(stays), Reverse(steps.len()), *trace)
    });
    let number = (traces.len() / SAMPLE).min(MOST_SAMPLES);
    let mut samples = vec![Vec::new(); number];
    let of = |kind: Kind| {
        let of = traces.iter().copied();
        of.filter(move |trace| problem.traces.from(*trace)[0].0 == kind)
            .take(number * SAMPLE)
    };
    let all = Kind::ALL.into_iter().flat_map(of);
    for (place, trace) in all.enumerate().filter(|_| number > 0) {
        samples[place % number].push(trace);
    }
    samples
}

/// The traces of each kind in a sample, and the most samples.
const SAMPLE: usize = 8;
const MOST_SAMPLES: usize = 24;
/// By how much the machine of a sample may cost more than the cheapest of its number of states.
const EXTRA_COST: usize = 6;
/// The conflicts of one call.
const CONFLICTS: i32 = 5000;
/// The number of suspects for which tables may show no core before only guards are asked.
const IN_VAIN: usize = 4;
