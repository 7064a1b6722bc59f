//! Small cores, found with [tables](Relaxation) instead of machines.
//!
//! Every machine has a table, so traces that no table is consistent with are a core. The loop of candidates and counterexamples finds one.
//! Then one trace after the other is left out, which needs many refutations, but those of tables take few conflicts.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::budget::Budget;
use crate::counterexamples::Mistake;
use crate::encode::{Lit, Relaxation, Solved};
use crate::problem::Problem;
use crate::traces::TracePrefix;

/// The tables with one number of states, and the traces that their solver knows.
pub(super) struct Tables {
    relaxation: Relaxation,
    states: usize,
    /// For each known trace: the literal that its run begins, so that a table must be consistent with it.
    begun: BTreeMap<usize, Lit>,
    /// What is encoded of them.
    known: HashSet<TracePrefix>,
    /// The ways to cut a trace into stays, where they have been counted.
    cuts: HashMap<usize, f64>,
    /// The solver calls so far.
    pub(super) calls: usize,
}

impl Tables {
    /// Tables for no traces yet; nothing if the options allow no tables, or at a limit.
    pub(super) fn new(problem: &Problem, states: usize, budget: &Budget) -> Option<Self> {
        Some(Self {
            relaxation: Relaxation::without_traces(problem, states, budget)?,
            states,
            begun: BTreeMap::new(),
            known: HashSet::new(),
            cuts: HashMap::new(),
            calls: 0,
        })
    }

    /// Encodes a prefix of a trace; whether it was not known.
    fn learn(&mut self, problem: &Problem, prefix: &TracePrefix) -> bool {
        if !self.known.insert(*prefix) {
            return false;
        }
        let relaxation = &mut self.relaxation;
        let begun = (self.begun.entry(prefix.trace)).or_insert_with(|| relaxation.new_run());
        relaxation.add_apart(problem, prefix, *begun);
        true
    }

    /// The mistakes of some table that is consistent with what is known of these traces.
    fn solve(
        &mut self,
        problem: &Problem,
        traces: &[usize],
        conflicts: i32,
    ) -> Solved<Vec<(Mistake, TracePrefix)>> {
        self.calls += 1;
        // Runs on other traces would only keep the solver busy.
        let begun: Vec<Lit> = (self.begun.iter())
            .map(|(trace, begun)| {
                if traces.contains(trace) {
                    *begun
                } else {
                    -begun
                }
            })
            .collect();
        self.relaxation.table(problem, &begun, conflicts)
    }

    /// The traces among these that the last refutation used.
    fn used(&self, traces: &[usize]) -> Vec<usize> {
        let used = |trace: &usize| self.relaxation.core_has(&[self.begun[trace]]);
        traces.iter().copied().filter(used).collect()
    }

    /// A core of one suspect and of others of these traces; nothing if some table is consistent with them all, or if that takes too long.
    pub(super) fn core_of(
        &mut self,
        problem: &Problem,
        suspect: usize,
        others: &BTreeSet<usize>,
    ) -> Option<Vec<usize>> {
        self.learn(problem, &problem.traces.whole(suspect));
        let mut traces = vec![suspect];
        loop {
            let mut found = match self.solve(problem, &traces, CONFLICTS) {
                Solved::Unknown => return None,
                Solved::Unsat => break,
                Solved::Sat(found) => found,
            };
            found.retain(|(_, prefix)| others.contains(&prefix.trace));
            let mut adds = false;
            for prefix in problem.select(found, PER_MISTAKE, self.states, &mut self.cuts) {
                adds |= self.learn(problem, &prefix);
                if !traces.contains(&prefix.trace) {
                    traces.push(prefix.trace);
                    adds = true;
                }
            }
            if !adds {
                return None;
            }
        }
        let core = self.used(&traces);
        Some(self.reduce(problem, core))
    }

    /// Leaves out one trace after the other, as long as no table is consistent with the rest.
    fn reduce(&mut self, problem: &Problem, mut core: Vec<usize>) -> Vec<usize> {
        let mut needed = 0;
        while needed < core.len() {
            let mut rest = core.clone();
            rest.remove(needed);
            match self.solve(problem, &rest, REDUCE_CONFLICTS) {
                // What is needed stays in front.
                Solved::Unsat => core = self.used(&rest),
                _ => needed += 1,
            }
            needed = needed.min(core.len());
        }
        core
    }
}

/// How many traces of each mistake are added at a time: with many to choose from, cores are small. Tables have more conflicts than
/// [guards](super::packing), as theirs are cheaper.
const PER_MISTAKE: usize = 8;
/// The conflicts of one call.
const CONFLICTS: i32 = 20_000;
/// The conflicts of one call that makes a core smaller.
const REDUCE_CONFLICTS: i32 = 1000;

#[cfg(test)]
mod tests {
    use form_core::{AtomSet, Kind, Machine, MachineStatus, Run, Signature, Trace};

    use super::super::soft_cegis::SoftCegis;
    use super::*;
    use crate::learner::Learner;
    use crate::minimise::CandidateLoop;
    use crate::options::{Limits, Options};

    /// Chains, a branch and dead ends.
    const MACHINES: [&str; 4] = [
        "u0 -> u1 : exists X. blue(X)\n u1 -> u2 : forall X. yellow(X)\n u2 -> u_acc : goal",
        "u0 -> u1 : exists X. blue(X)\n u1 -> u2 : forall X. yellow(X)\n u2 -> u3 : blue(b)\n u3 -> u_acc : goal",
        "reject u_rej\nu0 -> u1 : blue(a)\n u1 -> u2 : yellow(a)\n u2 -> u_acc : goal\n u2 -> u_rej : lava",
        "u0 -> u1 : blue(a)\n u0 -> u2 : blue(b)\n u1 -> u_acc : goal\n u2 -> u3 : yellow(a)\n u3 -> u_acc : goal",
    ];

    /// Traces of a machine, a tenth of them with another kind.
    fn learner(seed: usize) -> Learner {
        let atoms = [
            "blue(a)",
            "blue(b)",
            "yellow(a)",
            "yellow(b)",
            "goal",
            "lava",
        ];
        let signature = Signature::parse(atoms).unwrap();
        let ids: Vec<_> = signature.ids().collect();
        let edges = MACHINES[seed % MACHINES.len()];
        let machine: Machine = (format!("initial u0\naccept u_acc\n{edges}").parse()).unwrap();
        let bound = machine.bind(&signature).unwrap();
        let options = Options {
            first_order: seed / MACHINES.len() % 3 != 2,
            max_disjuncts: 1 + seed / MACHINES.len() % 2,
            ..Options::default()
        };
        let mut learner = Learner::new(&signature, &options);
        let mut state = seed as u64 + 1;
        let mut below = |bound: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(99);
            (state >> 33) as usize % bound
        };
        for number in 0..70 {
            let (mut run, mut steps) = (Run::new(&bound), Vec::new());
            let most = 2 + below(16);
            while steps.len() < most && machine.status(run.state()) == MachineStatus::Running {
                let observation = AtomSet::from_iter([ids[below(ids.len())]]);
                run.step(&bound, &observation);
                steps.push(observation);
            }
            let kind = match (machine.status(run.state()), number % 10 == 9) {
                (MachineStatus::Running, false) | (MachineStatus::Accepted, true) => {
                    Kind::Incomplete
                }
                (MachineStatus::Rejected, false) => Kind::DeadEnd,
                _ => Kind::Goal,
            };
            learner.add(&Trace::new(kind, steps));
        }
        learner
    }

    /// What tables say is a core, is one for machines with guards, which know nothing of tables.
    #[test]
    fn no_machine_is_consistent_with_a_core_of_tables() {
        let budget = Budget::new(&Limits::default());
        let (mut cores, mut small) = (0, 0);
        for seed in 0..24 {
            let learner = learner(seed);
            let problem = learner.problem();
            let all: BTreeSet<usize> = (0..problem.traces.len()).collect();
            for states in 2..=4 {
                let mut tables = Tables::new(problem, states, &budget).unwrap();
                for suspect in (9..problem.traces.len()).step_by(10) {
                    let Some(core) = tables.core_of(problem, suspect, &all) else {
                        continue;
                    };
                    let mut guards = SoftCegis::new(problem, states, &budget).unwrap();
                    let right: Vec<Lit> = (core.iter())
                        .map(|trace| guards.right(problem, *trace))
                        .collect();
                    let solved = guards.encoding().solve(&right, None);
                    assert!(matches!(solved, Solved::Unsat), "{seed} {states} {core:?}");
                    cores += 1;
                    small += usize::from(core.len() < all.len() / 2);
                }
            }
        }
        assert!(
            cores > 100 && small > cores / 2,
            "{cores}, {small} of them small"
        );
    }
}
