//! Data sets: traces over one signature, with duplicates and contradictions.

use std::collections::HashMap;
use std::fmt;

use super::file::TraceFile;
use super::sink::Dropped;
use super::trace::{Kind, Trace};
use crate::error::Result;
use crate::logic::atom_set::AtomSet;
use crate::logic::signature::Signature;
use crate::machine::step_mode::StepMode;

/// The file and line of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Origin {
    /// Index into the data set's files.
    pub file: usize,
    /// Line in the file, from 1.
    pub line: usize,
}

/// Traces over one signature, without duplicates.
#[derive(Clone, Debug)]
pub struct Dataset {
    signature: Signature,
    /// Which steps the traces have; that of the first file or trace.
    mode: Option<StepMode>,
    files: Vec<String>,
    traces: Vec<(Origin, Trace)>,
    duplicates: Vec<(Origin, Origin)>,
    dropped: Dropped,
    prefixes: PrefixTree,
}

/// Two contradictory traces, or one that contradicts itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// The earlier one.
    pub first: (Origin, Kind),
    /// The later one; the same trace if it contradicts itself.
    pub second: (Origin, Kind),
    /// Why.
    pub reason: ContradictionReason,
}

/// Why traces contradict each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContradictionReason {
    /// The same observations end in different ways.
    SameObservations,
    /// One goes on where the episode of the other was over.
    GoesOn,
    /// The episode is over before the first observation, which no machine can know.
    OverAtOnce,
}

impl Dataset {
    /// An empty data set.
    pub fn new(signature: Signature) -> Self {
        Self {
            signature,
            mode: None,
            files: Vec::new(),
            traces: Vec::new(),
            duplicates: Vec::new(),
            dropped: Dropped::default(),
            prefixes: PrefixTree::default(),
        }
    }

    /// Reads a file into it, whose traces must have the steps of the others; returns the file's index.
    pub fn read(&mut self, mut file: TraceFile) -> Result<usize> {
        self.expect_mode(file.step_mode()?, file.name())?;
        let index = self.add_file(file.name());
        let mode = file.step_mode()?;
        let mut read: Vec<(usize, Trace, Dropped)> = Vec::new();
        file.for_each_block(
            &self.signature,
            |traces: &mut Vec<_>, seen| traces.push((seen.line, seen.trace(mode), seen.dropped)),
            |traces| read.extend(traces),
        )?;
        for (line, trace, dropped) in read {
            self.add(Origin { file: index, line }, trace);
            self.dropped.empty += dropped.empty;
            self.dropped.repeated += dropped.repeated;
        }
        Ok(index)
    }

    /// Refuses traces that have other steps than those before.
    fn expect_mode(&mut self, mode: StepMode, what: &str) -> Result<()> {
        let known = *self.mode.get_or_insert(mode);
        let before = self.files.first().map_or("the data", String::as_str);
        mode.must_be(known, what, before)
    }

    /// Which environment steps the traces have.
    pub fn step_mode(&self) -> StepMode {
        self.mode.unwrap_or_default()
    }

    /// Names a file that traces are [added](Dataset::add) from; its index.
    pub fn add_file(&mut self, name: &str) -> usize {
        self.files.push(name.to_owned());
        self.files.len() - 1
    }

    /// The names of the files, by index.
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// Adds a trace; `false` for a duplicate.
    pub fn add(&mut self, origin: Origin, trace: Trace) -> bool {
        self.mode.get_or_insert(trace.step_mode());
        let ends = self.prefixes.insert(trace.steps(), self.traces.len());
        let twin = ends.iter().find(|i| self.traces[**i].1 == trace);
        if let Some(first) = twin {
            self.duplicates.push((self.traces[*first].0, origin));
            self.prefixes.remove_last(trace.steps());
            return false;
        }
        self.traces.push((origin, trace));
        true
    }

    /// The signature.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// The distinct traces with their origins, in order.
    pub fn traces(&self) -> &[(Origin, Trace)] {
        &self.traces
    }

    /// Duplicates: the first occurrence and the repetition.
    pub fn duplicates(&self) -> &[(Origin, Origin)] {
        &self.duplicates
    }

    /// All traces as they were added, duplicates too: the origin of each and its number among the distinct ones, by origin.
    pub fn occurrences(&self) -> Vec<(Origin, usize)> {
        let distinct = self.traces.iter().enumerate();
        let mut all: Vec<(Origin, usize)> = distinct.map(|(i, (origin, _))| (*origin, i)).collect();
        let numbers: HashMap<Origin, usize> = all.iter().copied().collect();
        all.extend((self.duplicates.iter()).map(|(first, again)| (*again, numbers[first])));
        all.sort_by_key(|(origin, _)| *origin);
        all
    }

    /// The observations of files that do not count.
    pub fn dropped(&self) -> Dropped {
        self.dropped
    }

    /// The trace of an origin, if it is the first of its duplicates.
    pub fn trace_of(&self, origin: Origin) -> Option<&Trace> {
        let mut traces = self.traces.iter();
        traces.find(|(of, _)| *of == origin).map(|(_, trace)| trace)
    }

    /// The name of the file that a trace is from.
    pub fn file_name(&self, origin: Origin) -> &str {
        self.files.get(origin.file).map_or("trace", String::as_str)
    }

    /// An origin in text form: `traces.jsonl:12`.
    pub fn describe(&self, origin: Origin) -> impl fmt::Display + '_ {
        format!("{}:{}", self.file_name(origin), origin.line)
    }

    /// All contradictory pairs: the same observations with different kinds, and a goal or dead-end trace that another trace continues.
    /// Such a trace without observations contradicts itself.
    pub fn contradictions(&self) -> Vec<Contradiction> {
        let mut found = Vec::new();
        for (i, (_, trace)) in self.traces.iter().enumerate() {
            self.prefixes.along(trace.steps(), |j, whole| {
                let other = &self.traces[j].1;
                if other.own_signature() != trace.own_signature() {
                    return;
                }
                let over = other.kind() != Kind::Incomplete;
                let reason = if whole && j < i {
                    ContradictionReason::SameObservations
                } else if j == i && trace.steps().is_empty() && over {
                    ContradictionReason::OverAtOnce
                } else if !whole && over {
                    ContradictionReason::GoesOn
                } else {
                    return;
                };
                let (first, second) = (i.min(j), i.max(j));
                let named = |k: usize| (self.traces[k].0, self.traces[k].1.kind());
                found.push(Contradiction {
                    first: named(first),
                    second: named(second),
                    reason,
                });
            });
        }
        found.sort_by_key(|c| (c.second.0, c.first.0));
        found
    }
}

/// The prefix tree of the traces; each node has the traces that end there.
#[derive(Clone, Debug, Default)]
struct PrefixTree {
    children: HashMap<(usize, AtomSet), usize>,
    ends: Vec<Vec<usize>>,
}

impl PrefixTree {
    /// Adds a trace; the traces that ended at the same node before.
    fn insert(&mut self, steps: &[AtomSet], trace: usize) -> Vec<usize> {
        if self.ends.is_empty() {
            self.ends.push(Vec::new());
        }
        let mut node = 0;
        for step in steps {
            let next = self.ends.len();
            node = *self.children.entry((node, step.clone())).or_insert(next);
            if node == next {
                self.ends.push(Vec::new());
            }
        }
        let before = self.ends[node].clone();
        self.ends[node].push(trace);
        before
    }

    fn remove_last(&mut self, steps: &[AtomSet]) {
        if let Some(node) = self.node(steps) {
            self.ends[node].pop();
        }
    }

    fn node(&self, steps: &[AtomSet]) -> Option<usize> {
        steps.iter().try_fold(0, |node, step| {
            self.children.get(&(node, step.clone())).copied()
        })
    }

    /// Visits the traces that end on the path of `steps`, with whether they end at its end.
    fn along(&self, steps: &[AtomSet], mut visit: impl FnMut(usize, bool)) {
        let mut node = 0;
        for (depth, step) in std::iter::once(None)
            .chain(steps.iter().map(Some))
            .enumerate()
        {
            if let Some(step) = step {
                match self.children.get(&(node, step.clone())) {
                    Some(next) => node = *next,
                    None => return,
                }
            }
            for trace in self.ends.get(node).into_iter().flatten() {
                visit(*trace, depth == steps.len());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dataset(text: &'static str) -> Result<Dataset> {
        let signature = TraceFile::new("t.jsonl", text.as_bytes())?.signature()?;
        let mut data = Dataset::new(signature);
        data.read(TraceFile::new("t.jsonl", text.as_bytes())?)?;
        Ok(data)
    }

    #[test]
    fn duplicates_and_contradictions_are_named_by_line() {
        let data = dataset(
            r#"{"kind":"goal","steps":[["a"],["b"]]}
{"kind":"incomplete","steps":[["a"]]}
{"kind":"goal","steps":[["a"],[],["a"],["b"],["b"]]}
{"kind":"incomplete","steps":[["a"],["b"],["a"]]}
{"kind":"dead-end","steps":[["a"],["b"]]}"#,
        )
        .unwrap();
        assert_eq!(data.traces().len(), 4);
        let lines = |a: Origin, b: Origin| (a.line, b.line);
        let duplicates: Vec<_> = data
            .duplicates()
            .iter()
            .map(|(a, b)| lines(*a, *b))
            .collect();
        assert_eq!(duplicates, [(1, 3)]);
        let occurrences = data.occurrences().into_iter();
        let occurrences: Vec<_> = occurrences.map(|(origin, i)| (origin.line, i)).collect();
        assert_eq!(occurrences, [(1, 0), (2, 1), (3, 0), (4, 2), (5, 3)]);
        let (empty, repeated) = (1, 2);
        assert_eq!(data.dropped(), Dropped { empty, repeated });
        let found: Vec<_> = data
            .contradictions()
            .iter()
            .map(|c| (lines(c.first.0, c.second.0), c.reason))
            .collect();
        use ContradictionReason::{GoesOn, SameObservations};
        assert_eq!(
            found,
            [
                ((1, 4), GoesOn),
                ((1, 5), SameObservations),
                ((4, 5), GoesOn)
            ]
        );
        assert_eq!(data.describe(data.traces()[0].0).to_string(), "t.jsonl:1");
    }

    #[test]
    fn a_declared_signature_rules() {
        let data = dataset(
            "{\"signature\":[\"a\",\"b\",\"c\"]}\n{\"kind\":\"goal\",\"steps\":[[\"a\"]]}\n",
        )
        .unwrap();
        assert_eq!(data.signature().len(), 3);
        let error =
            dataset("{\"signature\":[\"a\"]}\n{\"kind\":\"goal\",\"steps\":[[\"a\", \"b\"]]}")
                .unwrap_err();
        assert_eq!(error.position(), Some((2, 32)), "{error}");
        assert!(
            error
                .to_string()
                .starts_with("t.jsonl:2:32: `b` is not in the signature"),
            "{error}"
        );
    }

    /// A line may bring a signature of its own: it is kept, written again, and tells traces apart.
    #[test]
    fn traces_bring_signatures_of_their_own() {
        let text = r#"{"signature":["p(a)","p(b)"],"kind":"goal","steps":[["p(a)"]]}
{"kind":"goal","steps":[["p(a)"]],"signature":["p(a)"]}
{"kind":"incomplete","steps":[["p(a)"]]}
{"signature":["p(a)"],"kind":"goal","steps":[["p(a)"]]}"#;
        let data = dataset(text).unwrap();
        assert_eq!((data.signature().len(), data.traces().len()), (2, 3));
        assert_eq!(data.duplicates().len(), 1);
        // Traces of different signatures do not contradict each other.
        assert!(data.contradictions().is_empty());
        let own = |i: usize| data.traces()[i].1.own_signature().map(AtomSet::len);
        assert_eq!([own(0), own(1), own(2)], [Some(2), Some(1), None]);
        for (_, trace) in data.traces() {
            let line = trace.to_json(data.signature());
            let again = TraceFile::new("t", std::io::Cursor::new(line)).unwrap();
            assert_eq!(again.traces(data.signature()).unwrap()[0].1, *trace);
        }
        for wrong in [
            r#"{"signature":["p(a)"],"kind":"goal","steps":[["p(b)"]]}"#,
            r#"{"kind":"goal","steps":[["p(b)"]],"signature":["p(a)"]}"#,
        ] {
            let error = dataset(wrong).unwrap_err().to_string();
            let expected = "t.jsonl:1:1: `p(b)` is not in the signature of its trace";
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
