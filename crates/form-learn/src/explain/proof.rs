//! Finding a few traces that show a claim.
//!
//! As in the search for the machine itself, the solver proposes a machine that shows otherwise, and traces that refute it
//! are added, until there is none: then the traces show the claim. There may be many of them, and not the best ones. So
//! a few are [selected](super::selection) that refute every machine met so far. If another machine gets past these, it has
//! now been met, and the next selection takes care of it too; if none does, they show the claim. In the end, what can be
//! left out is left out.

use std::collections::HashSet;

use form_core::{BoundMachine, Kind, Trace};

use super::claim::Claim;
use super::question::{Question, Reply, Setting};
use super::selection::select;
use super::{Evidence, Proof};
use crate::data::Refutation;
use crate::outcome::{Learnt, StopReason};

/// Proves one claim after the other, and remembers what may be of use for the next one.
pub(super) struct Prover<'a> {
    setting: Setting<'a>,
    /// Machines that some trace refutes.
    met: Vec<Met>,
    /// Traces that refuted one of them, and their numbers.
    pool: Vec<(usize, Trace)>,
    /// Numbers of traces that are part of a proof: a reader has to look at them anyway.
    used: HashSet<usize>,
}

/// What came of a claim.
pub(super) enum Finding {
    /// These traces show it.
    Shown(Proof),
    /// This machine is consistent with all traces and shows otherwise.
    Otherwise(Learnt),
}

/// A machine that some trace refutes.
struct Met {
    learnt: Learnt,
    bound: BoundMachine,
    /// Whether it is known to come no later than the learnt one in the order of the tie-break.
    in_order: bool,
    /// For each trace of the pool, as far as looked at: after how many observations the machine is wrong.
    failures: Vec<Option<usize>>,
}

/// A claim, and those machines met that show otherwise, by number.
struct Case<'a, 'b> {
    claim: &'a mut Claim<'b>,
    denials: Vec<usize>,
}

impl<'a> Prover<'a> {
    pub(super) fn new(setting: Setting<'a>) -> Self {
        Self {
            setting,
            met: Vec::new(),
            pool: Vec::new(),
            used: HashSet::new(),
        }
    }

    /// A few traces that show the claim, unless a machine shows otherwise or a limit is reached.
    pub(super) fn prove(&mut self, claim: &mut Claim<'_>) -> Result<Finding, StopReason> {
        let met = self.met.iter().enumerate();
        let denials = met
            .filter(|(_, met)| claim.is_denied_by(&met.learnt, met.in_order))
            .map(|(i, _)| i)
            .collect();
        let mut case = Case { claim, denials };
        let start = self.selection(&case);
        let shown = match self.extend(&mut case, start)? {
            Err(machine) => return Ok(Finding::Otherwise(machine)),
            Ok(evidence) => evidence,
        };
        let shown = self.improve(&mut case).unwrap_or(shown);
        let (evidence, irreducible) = self.reduce(&mut case, shown);
        Ok(Finding::Shown(self.proof(evidence, irreducible)))
    }

    /// Why there was no answer.
    fn why(&self) -> StopReason {
        let reason = self.setting.watch.reason();
        reason.unwrap_or(StopReason::Interrupted)
    }

    /// Adds traces until they show the claim; else the machine that is consistent with all of them and shows otherwise.
    fn extend(
        &mut self,
        case: &mut Case<'_, '_>,
        mut evidence: Vec<Refutation>,
    ) -> Result<Result<Vec<Refutation>, Learnt>, StopReason> {
        for states in case.claim.states() {
            let question = Question::new(&self.setting, case.claim, states);
            let mut question = question.ok_or_else(|| self.why())?;
            question.add(&self.setting, &evidence);
            loop {
                if let Some(reason) = self.setting.watch.reason() {
                    return Err(reason);
                }
                match question.ask(case.claim, None) {
                    Reply::None => break,
                    Reply::Open => return Err(self.why()),
                    Reply::Machine(learnt) => match self.meet(case, learnt) {
                        Err(consistent) => return Ok(Err(consistent)),
                        Ok(refutations) => {
                            question.add(&self.setting, &refutations);
                            evidence.extend(refutations);
                        }
                    },
                }
            }
        }
        Ok(Ok(evidence))
    }

    /// Selects traces again and again, until no machine gets past them; `None` if that takes too long.
    fn improve(&mut self, case: &mut Case<'_, '_>) -> Option<Vec<Refutation>> {
        for _ in 0..SELECTIONS {
            let selection = self.selection(case);
            if self.shows(case, &selection)? {
                return Some(selection);
            }
        }
        let selection = self.selection(case);
        self.extend(case, selection).ok()?.ok()
    }

    /// Leaves out what is not needed, long parts first. `false`: a limit was reached before it was shown that all that is
    /// left is needed.
    fn reduce(
        &mut self,
        case: &mut Case<'_, '_>,
        mut evidence: Vec<Refutation>,
    ) -> (Vec<Refutation>, bool) {
        evidence.sort_by_key(|part| std::cmp::Reverse((part.length, part.trace)));
        let mut irreducible = true;
        // Halves, quarters and so on first: most are not needed if the selection was given up.
        let mut size = evidence.len().next_power_of_two();
        while size > 0 {
            let mut start = 0;
            while start < evidence.len() {
                let end = (start + size).min(evidence.len());
                let rest = [&evidence[..start], &evidence[end..]].concat();
                match self.shows(case, &rest) {
                    Some(true) => evidence = rest,
                    Some(false) => start = end,
                    None if self.setting.watch.reason().is_some() => return (evidence, false),
                    None => {
                        irreducible &= size > 1;
                        start = end;
                    }
                }
            }
            size /= 2;
        }
        (evidence, irreducible)
    }

    /// Whether the traces show the claim, if that can be told within the limits.
    fn shows(&mut self, case: &mut Case<'_, '_>, evidence: &[Refutation]) -> Option<bool> {
        let traces: Vec<Trace> = evidence.iter().map(|e| self.setting.trace(e)).collect();
        let gets_past = |i: &usize| {
            let machine = &self.met[*i].bound;
            let mut traces = traces.iter();
            traces.all(|trace| trace.disagreement(machine).is_none())
        };
        if case.denials.iter().any(gets_past) {
            return Some(false);
        }
        for states in case.claim.states() {
            if self.setting.watch.reason().is_some() {
                return None;
            }
            let mut question = Question::new(&self.setting, case.claim, states)?;
            question.add(&self.setting, evidence);
            match question.ask(case.claim, Some(CONFLICTS)) {
                Reply::None => {}
                Reply::Open => return None,
                Reply::Machine(learnt) => {
                    // Some trace refutes it, since all of them together show the claim.
                    let _ = self.meet(case, learnt);
                    return Some(false);
                }
            }
        }
        Some(true)
    }

    /// Takes note of a machine that shows otherwise and of traces that refute it; an error if none does.
    fn meet(&mut self, case: &mut Case<'_, '_>, learnt: Learnt) -> Result<Vec<Refutation>, Learnt> {
        let bound = self.setting.given.bound(&learnt);
        let refutations = self.setting.given.data.refutations(&bound, 0);
        if refutations.is_empty() {
            return Err(learnt);
        }
        for part in &refutations {
            if self.pool.iter().all(|(trace, _)| *trace != part.trace) {
                let whole = self.setting.given.data.whole(part.trace);
                self.pool.push((part.trace, self.setting.trace(&whole)));
            }
        }
        case.denials.push(self.met.len());
        self.met.push(Met {
            learnt,
            bound,
            in_order: case.claim.is_about_order(),
            failures: Vec::new(),
        });
        Ok(refutations)
    }

    /// A few traces that refute all machines met that show otherwise.
    fn selection(&mut self, case: &Case<'_, '_>) -> Vec<Refutation> {
        for i in &case.denials {
            let met = &mut self.met[*i];
            let new = &self.pool[met.failures.len()..];
            let failures = new.iter().map(|(_, trace)| {
                let found = trace.disagreement(&met.bound)?;
                Some(found.after)
            });
            met.failures.extend(failures.collect::<Vec<_>>());
        }
        let failures: Vec<&[Option<usize>]> = (case.denials.iter())
            .map(|i| &self.met[*i].failures[..])
            .collect();
        let price = |trace: &usize| PRICE / if self.used.contains(trace) { 2 } else { 1 };
        let prices: Vec<usize> = self.pool.iter().map(|(trace, _)| price(trace)).collect();
        (select(&failures, &prices).into_iter())
            .map(|(i, length)| {
                let whole = self.setting.given.data.whole(self.pool[i].0);
                if length == whole.length {
                    return whole;
                }
                Refutation {
                    length,
                    kind: Kind::Incomplete,
                    ..whole
                }
            })
            .collect()
    }

    fn proof(&mut self, mut evidence: Vec<Refutation>, irreducible: bool) -> Proof {
        evidence.sort_by_key(|part| (part.length, part.trace));
        self.used.extend(evidence.iter().map(|part| part.trace));
        let parts = evidence.into_iter().map(|part| Evidence {
            trace: part.trace,
            length: part.length,
            whole: part.length == self.setting.given.data.whole(part.trace).length,
            kind: part.kind,
        });
        Proof {
            evidence: parts.collect(),
            irreducible,
        }
    }
}

/// Conflicts for the question whether a few traces are enough, once it is known that all of them are.
const CONFLICTS: i32 = 50_000;
/// How often traces are selected anew.
const SELECTIONS: usize = 100;
/// What it costs to use a trace at all, in observations; half of it if it is part of another proof.
const PRICE: usize = 60;
