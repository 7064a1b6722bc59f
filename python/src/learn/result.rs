//! What a search came to, as Python has it: `LearnResult` with its rounds, levels and suspects, which are numbered as the traces were
//! given.

use std::collections::BTreeMap;

use form_core::Dataset;
use form_learn::{LearnOutcome, OtherSuspects, Round, StopReason, Suspect, TolerantOutcome};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{IntoPyDict, PyType};

use super::Learner;
use crate::errors::{self, record};
use crate::machine::Machine;

/// What a search came to.
pub(super) struct Found {
    pub(super) outcome: LearnOutcome,
    rounds: Vec<Round>,
    pub(super) tolerant: Option<TolerantOutcome>,
    /// The number of distinct traces.
    traces: usize,
    /// The traces that were added, by the number of the distinct one that each is: those that the result names.
    added: BTreeMap<usize, Vec<usize>>,
}

impl Found {
    pub(super) fn new(
        (outcome, rounds): (LearnOutcome, Vec<Round>),
        tolerant: Option<TolerantOutcome>,
        data: &Dataset,
    ) -> Self {
        let mut added: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        if let LearnOutcome::Contradictory(pairs) = &outcome {
            let named = pairs.iter().flat_map(|(first, second)| [*first, *second]);
            added.extend(named.map(|number| (number, Vec::new())));
        }
        if let Some(learnt) = &tolerant {
            let others: &[Suspect] = match &learnt.others {
                OtherSuspects::Traces(others) => others,
                OtherSuspects::None | OtherSuspects::Unknown => &[],
            };
            let named = learnt.suspects.iter().chain(others);
            added.extend(named.map(|suspect| (suspect.trace, Vec::new())));
        }
        if !added.is_empty() {
            for (origin, number) in data.occurrences() {
                if let Some(lines) = added.get_mut(&number) {
                    lines.push(origin.line);
                }
            }
        }
        let traces = data.traces().len();
        Self {
            outcome,
            rounds,
            tolerant,
            traces,
            added,
        }
    }
}

impl Learner {
    /// The result for Python.
    pub(super) fn result<'py>(
        &self,
        py: Python<'py>,
        found: &Found,
        sentence: String,
        seconds: f64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (outcome, tolerant) = (&found.outcome, found.tolerant.as_ref());
        static SUSPECT: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        static LEVEL: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        static RESULT: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        static ROUND: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        let learnt = outcome.learnt();
        let machine = learnt.map(|learnt| match self.lifted {
            true => form_learn::unlift(&learnt.machine).map(Machine::of),
            false => Ok(Machine::of(learnt.machine.clone())),
        });
        let machine = machine
            .transpose()
            .map_err(|error| errors::learning(&error))?;
        let (name, at_least) = match outcome {
            // Of other numbers of states nothing is proven.
            LearnOutcome::Minimal(_) if tolerant.is_some_and(TolerantOutcome::by_description) => {
                ("shortest-description", (1, 0))
            }
            LearnOutcome::Minimal(learnt) => ("minimal", (learnt.states, learnt.cost.size)),
            LearnOutcome::Stopped {
                reason,
                at_least_states,
                at_least_cost,
                ..
            } => (stop_name(*reason), (*at_least_states, *at_least_cost)),
            LearnOutcome::Contradictory(_) => ("contradictory", (0, 0)),
        };
        let contradictions = match outcome {
            LearnOutcome::Contradictory(pairs) => {
                let position = |number: &usize| self.place(found.added[number][0]).0;
                (pairs.iter())
                    .map(|(first, second)| (position(first), position(second)))
                    .collect()
            }
            _ => Vec::new(),
        };
        let rounds = (found.rounds.iter())
            .map(|round| {
                record(py, &ROUND, "Round")?.call1((
                    round.states,
                    round.counterexamples,
                    round.steps,
                    round.solver_calls,
                    round.clauses,
                    round.time.as_secs_f64(),
                    round.refuted,
                ))
            })
            .collect::<PyResult<Vec<_>>>()?;
        let to_python = |suspects: &[Suspect]| {
            let mut added: Vec<(usize, &Suspect)> = (suspects.iter())
                .flat_map(|one| {
                    found.added[&one.trace]
                        .iter()
                        .map(move |added| (*added, one))
                })
                .collect();
            added.sort_by_key(|(added, _)| *added);
            (added.into_iter())
                .map(|(added, suspect)| {
                    let (position, place) = self.place(added);
                    let (file, line) = place.unzip();
                    let expected = suspect.expected.as_str();
                    let suspect = (position, expected, suspect.after, file, line);
                    record(py, &SUSPECT, "Suspect")?.call1(suspect)
                })
                .collect::<PyResult<Vec<_>>>()
        };
        let suspects = to_python(tolerant.map_or(&[], |learnt| &learnt.suspects))?;
        let others = match tolerant.map(|learnt| &learnt.others) {
            None | Some(OtherSuspects::None) => Some(Vec::new()),
            Some(OtherSuspects::Traces(others)) => Some(to_python(others)?),
            Some(OtherSuspects::Unknown) => None,
        };
        let levels = (tolerant.into_iter().flat_map(|learnt| &learnt.levels))
            .map(|level| {
                record(py, &LEVEL, "Level")?.call1((
                    level.states,
                    level.fewest_misjudged,
                    level.at_least,
                    level.bits,
                    level.shortest_proven,
                ))
            })
            .collect::<PyResult<Vec<_>>>()?;
        let sentence = [("sentence", sentence)].into_py_dict(py)?;
        let parts = (
            machine,
            name,
            learnt.map(|learnt| learnt.states),
            learnt.map(|learnt| learnt.cost.size),
            at_least.0,
            at_least.1,
            contradictions,
            rounds,
            self.signature.clone_ref(py),
            found.traces,
            seconds,
            (
                tolerant.map_or(0, |learnt| learnt.misjudged),
                suspects,
                levels,
                others,
            ),
        );
        record(py, &RESULT, "LearnResult")?.call(parts, Some(&sentence))
    }

    /// The sentence of `form learn`, with the arguments of Python and the contradictory traces.
    pub(super) fn sentence(&self, found: &Found, max_states: usize) -> String {
        let LearnOutcome::Contradictory(pairs) = &found.outcome else {
            return found.outcome.describe(&state_limit(max_states));
        };
        let name = |number: &usize| match self.place(found.added[number][0]) {
            (_, Some((file, line))) => format!("{file}:{line}"),
            (position, None) => format!("trace {position}"),
        };
        let which: Vec<String> = (pairs.iter().take(3))
            .map(|(first, second)| match first == second {
                true => format!("{} is over before the first observation", name(first)),
                false => format!("{} and {} end in different ways", name(first), name(second)),
            })
            .collect();
        format!(
            "no machine is consistent with the traces: {}: {}",
            found.outcome.describe(""),
            which.join(", ")
        )
    }
}

/// The maximum number of states as it is written in Python.
pub(super) fn state_limit(max_states: usize) -> String {
    format!("max_states={max_states}")
}

fn stop_name(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Time => "time-limit",
        StopReason::Work => "work-limit",
        StopReason::States => "state-limit",
        StopReason::Memory => "memory-limit",
        StopReason::Interrupted => "interrupted",
    }
}
