//! The traces to learn from: stored as numbers of observations, without duplicates, with their contradictions.

use std::collections::HashMap;

use form_core::{AtomSet, Kind, StepMode, Trace};

use crate::cuts::stays;
use crate::error::Result;
use crate::prefix_tree::Trie;
use crate::vocabulary::ObservationId;

/// All traces. Observations and traces are numbered in the order in which they were first added.
#[derive(Clone, Debug)]
pub(crate) struct TraceSet {
    observations: Vec<AtomSet>,
    numbers: HashMap<AtomSet, ObservationId>,
    traces: Vec<(Kind, Vec<ObservationId>)>,
    /// How often each trace was added. `None`: more often than can be counted.
    weights: Vec<Option<u64>>,
    /// Finds duplicates and contradictions.
    prefixes: Trie<Prefix>,
    contradictions: Vec<(usize, usize)>,
    /// The most [stays](crate::cuts) that a goal or dead end needs.
    stays: usize,
    /// Which environment steps the traces have: that of the first one.
    mode: Option<StepMode>,
    /// A trace that has other steps than the first one.
    mixed: Option<StepMode>,
}

/// A node of the trie of all traces.
#[derive(Clone, Debug, Default)]
struct Prefix {
    /// The first trace that has this prefix.
    first: usize,
    /// Whether some trace goes on after it.
    continued: bool,
    /// The traces that end at it.
    ends: Vec<usize>,
}

/// A trace, or a prefix of one. As a counterexample it refutes every machine that is wrong after its observations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TracePrefix {
    /// The number of the trace, as it was returned when the trace was added.
    pub trace: usize,
    /// The number of its observations, from the first.
    pub length: usize,
    /// Whether these are all observations of the trace.
    pub whole: bool,
    /// The kind of the whole trace; `incomplete` for a strict prefix, since the episode went on.
    pub kind: Kind,
}

impl Default for TraceSet {
    fn default() -> Self {
        Self {
            observations: Vec::new(),
            numbers: HashMap::new(),
            traces: Vec::new(),
            weights: Vec::new(),
            prefixes: Trie::new(Prefix::default()),
            contradictions: Vec::new(),
            stays: 0,
            mode: None,
            mixed: None,
        }
    }
}

impl TraceSet {
    /// Adds a trace that was observed `weight` times; its number, or `None` for a duplicate.
    pub(crate) fn add(&mut self, trace: &Trace, weight: u64) -> Option<usize> {
        if *self.mode.get_or_insert(trace.step_mode()) != trace.step_mode() {
            self.mixed = Some(trace.step_mode());
        }
        let steps: Vec<ObservationId> = trace.steps().iter().map(|o| self.number(o)).collect();
        let index = self.traces.len();
        let is_over = |kind: Kind| kind != Kind::Incomplete;
        let mut node = 0;
        let mut contradicted = Vec::new();
        for step in &steps {
            let here = self.prefixes.node(node);
            here.continued = true;
            contradicted.extend(here.ends.iter().filter(|t| is_over(self.traces[**t].0)));
            node = self.prefixes.child(node, *step, || Prefix {
                first: index,
                ..Prefix::default()
            });
        }
        let here = self.prefixes.node(node);
        let twin = (here.ends.iter()).find(|t| self.traces[**t].0 == trace.kind());
        if let Some(twin) = twin {
            let known = &mut self.weights[*twin];
            *known = known.and_then(|known| known.checked_add(weight));
            return None;
        }
        contradicted.extend(&here.ends);
        if is_over(trace.kind()) {
            contradicted.extend(here.continued.then_some(here.first));
            contradicted.extend(steps.is_empty().then_some(index));
        }
        here.ends.push(index);
        self.contradictions
            .extend(contradicted.into_iter().map(|other| (other, index)));
        if is_over(trace.kind()) {
            self.stays = self.stays.max(stays(&steps)[0]);
        }
        self.traces.push((trace.kind(), steps));
        self.weights.push(Some(weight));
        Some(index)
    }

    /// Pairs of traces that contradict each other; one that is over before the first observation is paired with itself.
    pub(crate) fn contradictions(&self) -> &[(usize, usize)] {
        &self.contradictions
    }

    /// Which environment steps the traces have.
    pub(crate) fn step_mode(&self) -> StepMode {
        self.mode.unwrap_or_default()
    }

    /// Refuses traces of which some count every step and others every change.
    pub(crate) fn expect_one_mode(&self) -> Result<()> {
        match self.mixed {
            None => Ok(()),
            Some(other) => Ok(other.must_be(self.step_mode(), "a trace", "the first trace")?),
        }
    }

    /// How often a trace was added.
    pub(crate) fn weight(&self, trace: usize) -> u64 {
        self.weights[trace].unwrap_or(u64::MAX)
    }

    /// How many traces were added, duplicates counted; `None` if these are more than can be counted.
    pub(crate) fn total_weight(&self) -> Option<u64> {
        let sum = |sum: u64, weight: &Option<u64>| sum.checked_add((*weight)?);
        self.weights.iter().try_fold(0, sum)
    }

    fn number(&mut self, observation: &AtomSet) -> ObservationId {
        if let Some(number) = self.numbers.get(observation) {
            return *number;
        }
        let number = self.observations.len() as ObservationId;
        self.observations.push(observation.clone());
        self.numbers.insert(observation.clone(), number);
        number
    }

    /// The most [stays](crate::cuts) that a goal or dead end needs.
    pub(crate) fn stays(&self) -> usize {
        self.stays
    }

    /// The distinct observations.
    pub(crate) fn observations(&self) -> &[AtomSet] {
        &self.observations
    }

    pub(crate) fn len(&self) -> usize {
        self.traces.len()
    }

    /// The first observations of a trace.
    pub(crate) fn prefix(&self, trace: usize, length: usize) -> TracePrefix {
        let (kind, steps) = &self.traces[trace];
        let whole = length == steps.len();
        TracePrefix {
            trace,
            length,
            whole,
            kind: if whole { *kind } else { Kind::Incomplete },
        }
    }

    /// A trace as a whole.
    pub(crate) fn whole(&self, trace: usize) -> TracePrefix {
        self.prefix(trace, self.traces[trace].1.len())
    }

    /// The observations of a prefix.
    pub(crate) fn steps(&self, prefix: &TracePrefix) -> &[ObservationId] {
        &self.traces[prefix.trace].1[..prefix.length]
    }

    /// A prefix as a trace.
    pub(crate) fn trace(&self, prefix: &TracePrefix) -> Trace {
        let steps = self.steps(prefix).iter();
        let steps = steps.map(|step| self.observations[*step as usize].clone());
        Trace::with_mode(self.step_mode(), prefix.kind, steps)
    }

    /// Kind and observations of the traces from number `from` on.
    pub(crate) fn from(&self, from: usize) -> &[(Kind, Vec<ObservationId>)] {
        &self.traces[from..]
    }

    /// Whether there is a trace of this kind.
    pub(crate) fn has(&self, kind: Kind) -> bool {
        self.traces.iter().any(|(of, _)| *of == kind)
    }

    /// The shortest trace of this kind.
    pub(crate) fn shortest(&self, kind: Kind) -> Option<TracePrefix> {
        (self.traces.iter().enumerate())
            .filter(|(_, (of, _))| *of == kind)
            .min_by_key(|(_, (_, steps))| (steps.len(), steps))
            .map(|(trace, _)| self.whole(trace))
    }
}
