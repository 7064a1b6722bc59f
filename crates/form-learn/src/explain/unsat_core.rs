//! Unsatisfiable cores of traces: a few traces that prove a claim.
//!
//! As in the search for the machine itself (CEGIS), the solver proposes a machine that violates the claim, and traces that
//! refute it are added, until there is none: then the traces prove the claim. There may be many of them, and not the best
//! ones. So a [hitting set](super::hitting_set) is selected: a few traces that refute every machine met so far. If another
//! machine is consistent with these, the next selection refutes it too; if none is, they prove the claim. Last, every trace
//! is removed that is not needed, which leaves a minimal unsatisfiable subset (MUS).

use std::collections::HashSet;

use form_core::{BoundMachine, Trace};

use super::Proof;
use super::claim::Claim;
use super::hitting_set::greedy_hitting_set;
use super::query::{Context, Query};
use crate::counterexamples::counterexamples;
use crate::encode::Solved;
use crate::outcome::{Learnt, StopReason};
use crate::traces::TracePrefix;

/// Proves one claim after the other, and keeps what may be of use for the next one.
pub(super) struct Prover<'a> {
    context: Context<'a>,
    /// Machines that some trace refutes.
    refuted: Vec<RefutedMachine>,
    /// Traces that refuted one of them, and their numbers.
    pool: Vec<(usize, Trace)>,
    /// Numbers of traces that are part of a proof: they cost a reader less.
    used: HashSet<usize>,
}

/// Whether a claim holds.
pub(super) enum Verdict {
    /// These traces prove it.
    Proven(Proof),
    /// This machine is consistent with all traces and violates it.
    Refuted(Learnt),
}

/// A machine that some trace refutes.
struct RefutedMachine {
    learnt: Learnt,
    bound: BoundMachine,
    /// Whether it is known to come no later than the learnt one in the order of the tie-break.
    in_order: bool,
    /// For each trace of the pool, as far as replayed: the number of observations after which the machine is wrong.
    failures: Vec<Option<usize>>,
}

/// A claim, and the refuted machines that violate it, by number.
struct Case<'a, 'b> {
    claim: &'a mut Claim<'b>,
    violators: Vec<usize>,
}

impl<'a> Prover<'a> {
    pub(super) fn new(context: Context<'a>) -> Self {
        Self {
            context,
            refuted: Vec::new(),
            pool: Vec::new(),
            used: HashSet::new(),
        }
    }

    /// A few traces that prove the claim, unless a machine violates it or a limit is reached.
    pub(super) fn prove(&mut self, claim: &mut Claim<'_>) -> Result<Verdict, StopReason> {
        let violators = (self.refuted.iter().enumerate())
            .filter(|(_, met)| claim.is_violated_by(&met.learnt, met.in_order))
            .map(|(i, _)| i)
            .collect();
        let mut case = Case { claim, violators };
        let start = self.select(&case);
        let core = match self.extend(&mut case, start)? {
            Err(machine) => return Ok(Verdict::Refuted(machine)),
            Ok(core) => core,
        };
        let core = self.improve(&mut case).unwrap_or(core);
        let (core, irreducible) = self.reduce(&mut case, core);
        Ok(Verdict::Proven(self.proof(core, irreducible)))
    }

    /// Adds traces until they prove the claim; else the machine that is consistent with all traces and violates it.
    fn extend(
        &mut self,
        case: &mut Case<'_, '_>,
        mut core: Vec<TracePrefix>,
    ) -> Result<Result<Vec<TracePrefix>, Learnt>, StopReason> {
        let budget = self.context.budget;
        for states in case.claim.states() {
            let query = Query::new(self.context, case.claim, states);
            let mut query = query.ok_or_else(|| budget.stop_reason())?;
            query.add(&core);
            loop {
                if let Some(reason) = budget.exhausted() {
                    return Err(reason);
                }
                match query.solve(case.claim, None) {
                    Solved::Unsat => break,
                    Solved::Unknown => return Err(budget.stop_reason()),
                    Solved::Sat(learnt) => match self.refute(case, learnt) {
                        Err(consistent) => return Ok(Err(consistent)),
                        Ok(counterexamples) => {
                            query.add(&counterexamples);
                            core.extend(counterexamples);
                        }
                    },
                }
            }
        }
        Ok(Ok(core))
    }

    /// Selects hitting sets until one proves the claim; `None` if that takes too long.
    fn improve(&mut self, case: &mut Case<'_, '_>) -> Option<Vec<TracePrefix>> {
        for _ in 0..SELECTIONS {
            let selection = self.select(case);
            if self.proves(case, &selection)? {
                return Some(selection);
            }
        }
        let selection = self.select(case);
        self.extend(case, selection).ok()?.ok()
    }

    /// Removes traces that are not needed, long ones first (deletion-based minimisation of a core). `false`: a limit was reached
    /// before it was proven that the rest is needed.
    fn reduce(
        &mut self,
        case: &mut Case<'_, '_>,
        mut core: Vec<TracePrefix>,
    ) -> (Vec<TracePrefix>, bool) {
        core.sort_by_key(|prefix| std::cmp::Reverse((prefix.length, prefix.trace)));
        let mut irreducible = true;
        // Halves, quarters and so on first: most are not needed if the selection was given up.
        let mut size = core.len().next_power_of_two();
        while size > 0 {
            let mut start = 0;
            while start < core.len() {
                let end = (start + size).min(core.len());
                let rest = [&core[..start], &core[end..]].concat();
                match self.proves(case, &rest) {
                    Some(true) => core = rest,
                    Some(false) => start = end,
                    None if self.context.budget.exhausted().is_some() => return (core, false),
                    None => {
                        irreducible &= size > 1;
                        start = end;
                    }
                }
            }
            size /= 2;
        }
        (core, irreducible)
    }

    /// Whether the traces prove the claim; `None` if a limit is reached first.
    fn proves(&mut self, case: &mut Case<'_, '_>, core: &[TracePrefix]) -> Option<bool> {
        let all = &self.context.problem.traces;
        let traces: Vec<Trace> = core.iter().map(|prefix| all.trace(prefix)).collect();
        let is_consistent = |i: &usize| {
            let machine = &self.refuted[*i].bound;
            (traces.iter()).all(|trace| trace.disagreement(machine).is_none())
        };
        if case.violators.iter().any(is_consistent) {
            return Some(false);
        }
        for states in case.claim.states() {
            self.context.budget.check()?;
            let mut query = Query::new(self.context, case.claim, states)?;
            query.add(core);
            match query.solve(case.claim, Some(CONFLICTS)) {
                Solved::Unsat => {}
                Solved::Unknown => return None,
                Solved::Sat(learnt) => {
                    // Some trace refutes it, since all of them together prove the claim.
                    let _ = self.refute(case, learnt);
                    return Some(false);
                }
            }
        }
        Some(true)
    }

    /// Records a machine that violates the claim, and its counterexamples; an error if there is none.
    #[allow(
        clippy::result_large_err,
        reason = "a machine is an answer here, returned once per query"
    )]
    fn refute(
        &mut self,
        case: &mut Case<'_, '_>,
        learnt: Learnt,
    ) -> Result<Vec<TracePrefix>, Learnt> {
        let problem = self.context.problem;
        let bound = problem.bind(&learnt);
        let counterexamples = counterexamples(&problem.traces, &bound, 0);
        if counterexamples.is_empty() {
            return Err(learnt);
        }
        for TracePrefix { trace, .. } in &counterexamples {
            if self.pool.iter().all(|(known, _)| known != trace) {
                let whole = problem.traces.whole(*trace);
                self.pool.push((*trace, problem.traces.trace(&whole)));
            }
        }
        case.violators.push(self.refuted.len());
        self.refuted.push(RefutedMachine {
            learnt,
            bound,
            in_order: case.claim.is_about_order(),
            failures: Vec::new(),
        });
        Ok(counterexamples)
    }

    /// A few traces that refute all machines that violate the claim.
    fn select(&mut self, case: &Case<'_, '_>) -> Vec<TracePrefix> {
        for i in &case.violators {
            let machine = &mut self.refuted[*i];
            for (_, trace) in &self.pool[machine.failures.len()..] {
                let wrong = trace.disagreement(&machine.bound);
                machine.failures.push(wrong.map(|wrong| wrong.after));
            }
        }
        let failures: Vec<&[Option<usize>]> = (case.violators.iter())
            .map(|i| &self.refuted[*i].failures[..])
            .collect();
        let price = |trace: &usize| PRICE / if self.used.contains(trace) { 2 } else { 1 };
        let prices: Vec<usize> = self.pool.iter().map(|(trace, _)| price(trace)).collect();
        let traces = &self.context.problem.traces;
        (greedy_hitting_set(&failures, &prices).into_iter())
            .map(|(i, length)| traces.prefix(self.pool[i].0, length))
            .collect()
    }

    fn proof(&mut self, mut traces: Vec<TracePrefix>, irreducible: bool) -> Proof {
        traces.sort_by_key(|prefix| (prefix.length, prefix.trace));
        self.used.extend(traces.iter().map(|prefix| prefix.trace));
        Proof {
            traces,
            irreducible,
        }
    }
}

/// The conflicts of a query whether a few traces suffice, once all of them are known to.
const CONFLICTS: i32 = 50_000;
/// How many hitting sets are tried.
const SELECTIONS: usize = 100;
/// The fixed cost of using a trace, in observations; half of it if the trace is part of another proof.
const PRICE: usize = 60;
