//! Trace files: JSON Lines, plain or gzipped, streamed in blocks of whole lines that all cores parse.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;

use super::archive::Gunzip;
use super::line::{self, Header, Line, LineFault, Sink};
use super::sink::{Collector, Dropped, Interner};
use super::trace::{Kind, Trace};
use crate::error::{Error, Result};
use crate::logic::atom_set::AtomSet;
use crate::logic::signature::Signature;
use crate::machine::step_mode::StepMode;

/// A trace file being read.
pub struct TraceFile {
    name: Arc<str>,
    pub(super) bytes: Box<dyn BufRead + Send>,
    /// The number of lines read so far.
    lines: usize,
    /// The bytes after the last whole line.
    rest: Vec<u8>,
    finished: bool,
    /// What the first line declares, once it has been read.
    declared: Option<Declared>,
    /// The first block, without the line that declares something, if nothing else of it was read yet.
    first: Option<Block>,
}

/// What the first line of a file declares.
#[derive(Clone, Default)]
struct Declared {
    /// The signature.
    atoms: Option<HashSet<String>>,
    /// Which environment steps the traces have.
    steps: StepMode,
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

/// The size of a block of lines in bytes.
const BLOCK: usize = 1 << 18;

/// The maximum length of a line in bytes: a small archive can have an endless one.
pub(super) const LONGEST_LINE: usize = 1 << 28;

/// Some whole lines of a file.
struct Block {
    file: Arc<str>,
    first_line: usize,
    bytes: Vec<u8>,
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
        let mut bytes = BufReader::with_capacity(BLOCK, bytes);
        let io = |source| Error::Io {
            path: name.to_owned(),
            source,
        };
        let gzipped = bytes.fill_buf().map_err(io)?.starts_with(&[0x1f, 0x8b]);
        let bytes: Box<dyn BufRead + Send> = if gzipped {
            let plain = Gunzip::new(bytes);
            Box::new(BufReader::with_capacity(BLOCK, plain))
        } else {
            Box::new(bytes)
        };
        Ok(Self {
            name: name.into(),
            bytes,
            lines: 0,
            rest: Vec::new(),
            finished: false,
            declared: None,
            first: None,
        })
    }

    /// The name given.
    pub fn name(&self) -> &str {
        &self.name
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
            let blocks = self.blocks()?;
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
        steps.must_be(mode, &self.name, what)?;
        Ok(self)
    }

    /// What the first line declares.
    fn declared(&mut self) -> Result<&Declared> {
        if self.declared.is_none() {
            let mut declared = Declared::default();
            self.first = self.block()?;
            if let Some(first) = self.first.as_mut() {
                declared = first.take_declaration().unwrap_or_default();
            }
            self.declared = Some(declared);
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
        while let Some(block) = self.block()? {
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
        let blocks = self.blocks()?;
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

    /// The next blocks of lines, several per core.
    fn blocks(&mut self) -> Result<Vec<Block>> {
        let count = 4 * rayon::current_num_threads();
        let mut blocks = Vec::new();
        // Blocks of ordinary lines have little more than `BLOCK` bytes. Of long lines fewer are read at a time.
        let mut room = count * 2 * BLOCK;
        while blocks.len() < count && room > 0 {
            match self.block()? {
                Some(block) => {
                    room = room.saturating_sub(block.bytes.len());
                    blocks.push(block);
                }
                None => break,
            }
        }
        Ok(blocks)
    }

    fn block(&mut self) -> Result<Option<Block>> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        let io = |name: &str, source| Error::Io {
            path: name.to_owned(),
            source,
        };
        let mut bytes = std::mem::take(&mut self.rest);
        while !self.finished {
            let start = bytes.len();
            let read = (&mut self.bytes).take(BLOCK as u64).read_to_end(&mut bytes);
            let read = read.map_err(|source| io(&self.name, source))?;
            self.finished = read == 0;
            if bytes.len() > LONGEST_LINE {
                return Err(Error::Limit {
                    what: format!("{}:{}: bytes in one line", self.name, self.lines + 1),
                    limit: LONGEST_LINE,
                    hint: "a trace file has one trace per line".to_owned(),
                });
            }
            if let Some(end) = bytes[start..].iter().rposition(|b| *b == b'\n') {
                self.rest = bytes.split_off(start + end + 1);
                break;
            }
        }
        if bytes.is_empty() {
            return Ok(None);
        }
        let first_line = self.lines + 1;
        self.lines += bytes.iter().filter(|b| **b == b'\n').count();
        let file = self.name.clone();
        Ok(Some(Block {
            file,
            first_line,
            bytes,
        }))
    }
}

impl Block {
    /// Parses each line that is not blank.
    fn each_line<S: Sink>(
        &self,
        sink: &mut S,
        mut visit: impl FnMut(usize, Line, &mut S) -> Result<(), String>,
    ) -> Result<()> {
        for (i, line) in self.bytes.split(|b| *b == b'\n').enumerate() {
            let number = self.first_line + i;
            // Windows line ends, and a byte order mark at the start of the file, are harmless.
            let line = if number == 1 {
                line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line)
            } else {
                line
            };
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let parsed =
                line::parse(line, sink).map_err(|fault| self.located(number, line, fault))?;
            if let Line::Header(Header { signature, .. }) = parsed
                && number != 1
            {
                let what = if signature {
                    "the signature"
                } else {
                    "which steps count"
                };
                let fault = LineFault {
                    at: 0,
                    problem: format!("only the first line may declare {what}"),
                };
                return Err(self.located(number, line, fault));
            }
            visit(number, parsed, sink)
                .map_err(|problem| self.located(number, line, LineFault { at: 0, problem }))?;
        }
        Ok(())
    }

    fn located(&self, line: usize, text: &[u8], fault: LineFault) -> Error {
        let before = &text[..fault.at.min(text.len())];
        Error::Json {
            file: self.file.to_string(),
            line,
            column: String::from_utf8_lossy(before).chars().count() + 1,
            problem: fault.problem,
        }
    }

    /// Removes the first line and returns what it declares, if it is no trace.
    fn take_declaration(&mut self) -> Option<Declared> {
        let end = self
            .bytes
            .iter()
            .position(|b| *b == b'\n')
            .map_or(self.bytes.len(), |i| i + 1);
        let first = Self {
            file: self.file.clone(),
            first_line: 1,
            bytes: self.bytes[..end].to_vec(),
        };
        let mut declared = None;
        let read = first.each_line(&mut Collector::default(), |_, line, sink| {
            if let Line::Header(header) = line {
                declared = Some(Declared {
                    atoms: header.signature.then(|| std::mem::take(&mut sink.atoms)),
                    steps: header.steps.unwrap_or_default(),
                });
            }
            Ok(())
        });
        // A mistake in it is reported when the line is read as a trace.
        read.ok()?;
        let declared = declared?;
        self.bytes.drain(..end);
        self.first_line = 2;
        Some(declared)
    }

    /// The atoms that occur.
    fn atoms(&self) -> Result<HashSet<String>> {
        let mut sink = Collector::default();
        self.each_line(&mut sink, |_, _, _| Ok(()))?;
        Ok(sink.atoms)
    }
}

#[cfg(test)]
mod tests {
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

    /// Long lines are read too, but fewer at a time.
    #[test]
    fn few_long_lines_are_held_at_a_time() {
        let many = 4 * rayon::current_num_threads();
        let long = " ".repeat(2 * many * BLOCK);
        let text = format!("{long}\n").repeat(3);
        let mut file = TraceFile::new("t", std::io::Cursor::new(text)).unwrap();
        assert_eq!(file.blocks().unwrap().len(), 1);
        let text = " \n".repeat(many * BLOCK);
        let mut file = TraceFile::new("t", std::io::Cursor::new(text)).unwrap();
        assert_eq!(file.blocks().unwrap().len(), many);
    }
}
