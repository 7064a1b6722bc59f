//! Trace files: JSON Lines, plain or gzipped, streamed in blocks of whole lines that all cores parse.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::File;
use std::io::Read;
use std::path::Path;

use rayon::prelude::*;

use super::block::{Block, Blocks, Declared};
use super::line::Line;
use super::sink::{Dropped, Interner};
use super::trace::{Kind, Trace};
use crate::error::{Error, Result};
use crate::logic::atom_set::AtomSet;
use crate::logic::signature::Signature;
use crate::machine::step_mode::StepMode;

/// A trace file being read.
pub struct TraceFile {
    pub(super) blocks: Blocks,
    /// What the first line declares, once it has been read.
    declared: Option<Declared>,
}

/// A trace as it is read.
#[derive(Clone, Copy)]
pub(crate) struct ParsedTrace<'a> {
    pub(crate) line: usize,
    pub(crate) kind: Kind,
    /// The steps that count.
    pub(crate) steps: &'a [AtomSet],
    /// The signature that it brings, if any.
    pub(crate) own: Option<&'a AtomSet>,
    /// The steps that do not count.
    pub(crate) dropped: Dropped,
}

impl ParsedTrace<'_> {
    pub(crate) fn trace(&self, mode: StepMode) -> Trace {
        let trace = Trace::with_mode(mode, self.kind, self.steps.iter().cloned());
        match self.own {
            None => trace,
            Some(own) => trace.with_signature(own.clone()),
        }
    }
}

impl TraceFile {
    /// Opens a trace file, gzipped or not.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/all_yellow.jsonl");
    /// use form_core::TraceFile;
    /// let signature = TraceFile::open(path)?.signature()?;
    /// let traces = TraceFile::open(path)?.traces(&signature)?;
    /// assert_eq!((signature.len(), traces.len()), (13, 40));
    /// # Ok::<(), form_core::Error>(())
    /// ```
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let name = path.as_ref().display().to_string();
        match File::open(path) {
            Ok(file) => Self::new(&name, file),
            Err(source) => Err(Error::Io { path: name, source }),
        }
    }

    /// Reads traces from `bytes`, gzipped or not; errors call the file `name`.
    pub fn new(name: &str, bytes: impl Read + Send + 'static) -> Result<Self> {
        Ok(Self {
            blocks: Blocks::new(name, bytes)?,
            declared: None,
        })
    }

    /// The name given.
    pub fn name(&self) -> &str {
        &self.blocks.name
    }

    /// The atoms of the file: those its first line declares, which its traces must keep to, else those that occur.
    ///
    /// Reads no further than it has to.
    pub fn signature(mut self) -> Result<Signature> {
        if let Some(atoms) = &self.declared()?.atoms {
            return Signature::parse(atoms);
        }
        let mut atoms: HashSet<String> = HashSet::new();
        loop {
            let blocks = self.blocks.several()?;
            if blocks.is_empty() {
                break;
            }
            // Not collected into one result, which could be that of any block: the first mistake is reported.
            let parts: Vec<Result<_>> = blocks.par_iter().map(Block::atoms).collect();
            for part in parts {
                atoms.extend(part?);
            }
        }
        Signature::parse(atoms)
    }

    /// Whether the first line declares the signature.
    pub fn declares_signature(mut self) -> Result<bool> {
        Ok(self.declared()?.atoms.is_some())
    }

    /// Which environment steps the traces have: those that the first line names, else every change.
    pub fn step_mode(&mut self) -> Result<StepMode> {
        Ok(self.declared()?.steps)
    }

    /// The file, if its traces have these steps; `what` has them too, and an error names it.
    pub fn with_mode(mut self, mode: StepMode, what: &str) -> Result<Self> {
        let steps = self.step_mode()?;
        steps.must_be(mode, &self.blocks.name, what)?;
        Ok(self)
    }

    /// What the first line declares.
    fn declared(&mut self) -> Result<&Declared> {
        if self.declared.is_none() {
            self.declared = Some(self.blocks.declared()?);
        }
        Ok(self.declared.get_or_insert_default())
    }

    /// Every trace with its line, in the file's order.
    pub fn traces(mut self, signature: &Signature) -> Result<Vec<(usize, Trace)>> {
        let mut all = Vec::new();
        let mode = self.step_mode()?;
        self.for_each_block(
            signature,
            |traces: &mut Vec<_>, seen| {
                traces.push((seen.line, seen.trace(mode)));
            },
            |traces| all.extend(traces),
        )?;
        Ok(all)
    }

    /// The next traces with their lines, in the file's order; none at its end. The signature must be the same in every call. Memory
    /// does not depend on the size of the file.
    pub fn next_traces(&mut self, signature: &Signature) -> Result<Vec<(usize, Trace)>> {
        let mode = self.step_mode()?;
        let visit = |traces: &mut Vec<_>, seen: ParsedTrace<'_>| {
            traces.push((seen.line, seen.trace(mode)));
        };
        loop {
            let results = self.next_blocks(signature, &visit)?;
            let last = results.is_empty();
            let mut traces: Vec<(usize, Trace)> = Vec::new();
            for part in results {
                traces.extend(part?);
            }
            // Blank lines are no traces, and not the end.
            if last || !traces.is_empty() {
                return Ok(traces);
            }
        }
    }

    /// The different observations of the traces, in order.
    pub fn observations(self, signature: &Signature) -> Result<BTreeSet<AtomSet>> {
        let mut all = BTreeSet::new();
        self.for_each_block(
            signature,
            |found: &mut BTreeSet<AtomSet>, seen| {
                for step in seen
                    .steps
                    .iter()
                    .filter(|step| !found.contains(step))
                    .collect::<Vec<_>>()
                {
                    found.insert(step.clone());
                }
            },
            |found| all.extend(found),
        )?;
        Ok(all)
    }

    /// The trace on a line, if there is one.
    pub fn trace_on_line(mut self, wanted: usize, signature: &Signature) -> Result<Option<Trace>> {
        let mut trace = None;
        let mode = self.step_mode()?;
        self.for_each_block(
            signature,
            |found: &mut Option<Trace>, seen| {
                if seen.line == wanted {
                    *found = Some(seen.trace(mode));
                }
            },
            |found| trace = trace.take().or(found),
        )?;
        Ok(trace)
    }

    /// What the traces of these lines are called by their field `id`, as far as they have one.
    pub fn ids(mut self, lines: &BTreeSet<usize>) -> Result<BTreeMap<usize, String>> {
        #[derive(serde::Deserialize)]
        struct Named {
            id: Option<serde_json::Value>,
        }
        let mut ids = BTreeMap::new();
        while let Some(block) = self.blocks.next()? {
            let texts = block.bytes.split(|b| *b == b'\n').zip(block.first_line..);
            for (text, line) in texts.filter(|(_, line)| lines.contains(line)) {
                let named = serde_json::from_slice::<Named>(text).ok();
                let id = match named.and_then(|named| named.id) {
                    Some(serde_json::Value::String(id)) => id,
                    Some(serde_json::Value::Number(id)) => id.to_string(),
                    _ => continue,
                };
                ids.insert(line, id);
            }
        }
        Ok(ids)
    }

    /// Visits all traces on all cores: `visit` takes each trace with the result of its block so far,
    /// `finish` takes the results in the file's order. Memory does not depend on the number of traces.
    pub(crate) fn for_each_block<T: Default + Send>(
        mut self,
        signature: &Signature,
        visit: impl Fn(&mut T, ParsedTrace<'_>) + Sync,
        mut finish: impl FnMut(T),
    ) -> Result<()> {
        loop {
            let results = self.next_blocks(signature, &visit)?;
            if results.is_empty() {
                return Ok(());
            }
            for result in results {
                finish(result?);
            }
        }
    }

    /// The results of the next blocks, none at the end of the file. The signature must be the same in every call.
    fn next_blocks<T: Default + Send>(
        &mut self,
        signature: &Signature,
        visit: &(impl Fn(&mut T, ParsedTrace<'_>) + Sync),
    ) -> Result<Vec<Result<T>>> {
        let declared = self.declared()?;
        let mode = declared.steps;
        // An atom that the signature lacks may be declared, but not observed.
        let known = |atoms: &HashSet<String>| -> AtomSet {
            let known = atoms.iter();
            known
                .filter_map(|atom| signature.id_of_written(atom).ok())
                .collect()
        };
        let declared = declared.atoms.as_ref().map(known);
        let blocks = self.blocks.several()?;
        Ok((blocks.par_iter())
            .map(|block| {
                let mut result = T::default();
                let mut sink = Interner::new(signature, declared.as_ref(), mode);
                block.each_line(&mut sink, |line, parsed, sink| {
                    if let Line::Trace(kind) = parsed {
                        if let Some(atom) = sink.undeclared() {
                            return Err(format!("`{atom}` is not in the signature of its trace"));
                        }
                        let seen = ParsedTrace {
                            line,
                            kind,
                            steps: &sink.steps,
                            own: sink.own.as_ref(),
                            dropped: sink.dropped,
                        };
                        visit(&mut result, seen);
                    }
                    sink.clear();
                    Ok(())
                })?;
                Ok(result)
            })
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::block::BLOCK;
    use super::*;

    /// Of several mistakes the first is reported, for any number of blocks and cores.
    #[test]
    fn the_first_mistake_is_reported() {
        let good = "{\"kind\":\"goal\",\"steps\":[[\"goal\"]]}\n";
        let text = format!("{0}nonsense\n{0}", good.repeat(3 * BLOCK / good.len()));
        let text: &'static [u8] = text.repeat(3).into_bytes().leak();
        let line = 3 * BLOCK / good.len() + 1;
        for _ in 0..8 {
            let file = TraceFile::new("t", text).unwrap();
            assert_eq!(file.signature().unwrap_err().position(), Some((line, 1)));
        }
    }

    /// The file has the same traces piece by piece as at once, and its declaration holds to its end.
    #[test]
    fn traces_come_piece_by_piece() {
        let good = "{\"kind\":\"goal\",\"steps\":[[\"goal\"]]}\n";
        let count = 9 * rayon::current_num_threads() * BLOCK / good.len();
        let text = format!(
            "{{\"signature\":[\"goal\"]}}\n{}\n\n{good}",
            good.repeat(count)
        );
        let signature = Signature::parse(["goal", "lava"]).unwrap();
        let read = |text: String| TraceFile::new("t", std::io::Cursor::new(text)).unwrap();
        let mut file = read(text.clone());
        let (mut pieces, mut traces) = (0, Vec::new());
        loop {
            let piece = file.next_traces(&signature).unwrap();
            if piece.is_empty() {
                break;
            }
            pieces += 1;
            traces.extend(piece);
        }
        assert!(pieces > 1, "{pieces}");
        assert_eq!(traces, read(text.clone()).traces(&signature).unwrap());
        let mut undeclared = read(text + &good.replace("goal\"]", "lava\"]"));
        let refused = loop {
            match undeclared.next_traces(&signature) {
                Ok(piece) => assert!(!piece.is_empty(), "the end was reached"),
                Err(error) => break error,
            }
        };
        assert_eq!(refused.position().unwrap().0, count + 5);
    }
}
