//! The blocks of a trace file: whole lines, plain or unpacked, that are parsed at once.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read};
use std::sync::Arc;

use super::archive::Gunzip;
use super::line::{self, Header, Line, LineFault, Sink};
use super::sink::Collector;
use crate::error::{Error, Result};
use crate::machine::step_mode::StepMode;

/// The size of a block of lines in bytes.
pub(super) const BLOCK: usize = 1 << 18;

/// The maximum length of a line in bytes: a small archive can have an endless one.
pub(super) const LONGEST_LINE: usize = 1 << 28;

/// The blocks of a file, one after the other.
pub(super) struct Blocks {
    pub(super) name: Arc<str>,
    pub(super) bytes: Box<dyn BufRead + Send>,
    /// The number of lines read so far.
    lines: usize,
    /// The bytes after the last whole line.
    rest: Vec<u8>,
    finished: bool,
    /// A block that was read and given back.
    first: Option<Block>,
}

/// Some whole lines of a file.
pub(super) struct Block {
    file: Arc<str>,
    pub(super) first_line: usize,
    pub(super) bytes: Vec<u8>,
}

/// What the first line of a file declares.
#[derive(Clone, Default)]
pub(super) struct Declared {
    /// The signature.
    pub(super) atoms: Option<HashSet<String>>,
    /// Which environment steps the traces have.
    pub(super) steps: StepMode,
}

impl Blocks {
    /// Reads `bytes`, gzipped or not; errors call the file `name`.
    pub(super) fn new(name: &str, bytes: impl Read + Send + 'static) -> Result<Self> {
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
            first: None,
        })
    }

    /// Reads the first block and what its first line declares; the rest of the block comes again.
    pub(super) fn declared(&mut self) -> Result<Declared> {
        let mut first = self.next()?;
        let declared = first.as_mut().and_then(Block::take_declaration);
        self.first = first;
        Ok(declared.unwrap_or_default())
    }

    /// The next blocks of lines, several per core.
    pub(super) fn several(&mut self) -> Result<Vec<Block>> {
        let count = 4 * rayon::current_num_threads();
        let mut blocks = Vec::new();
        // Blocks of ordinary lines have little more than `BLOCK` bytes. Of long lines fewer are read at a time.
        let mut room = count * 2 * BLOCK;
        while blocks.len() < count && room > 0 {
            match self.next()? {
                Some(block) => {
                    room = room.saturating_sub(block.bytes.len());
                    blocks.push(block);
                }
                None => break,
            }
        }
        Ok(blocks)
    }

    /// The next block, if the file has not ended.
    pub(super) fn next(&mut self) -> Result<Option<Block>> {
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
    pub(super) fn each_line<S: Sink>(
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
    pub(super) fn atoms(&self) -> Result<HashSet<String>> {
        let mut sink = Collector::default();
        self.each_line(&mut sink, |_, _, _| Ok(()))?;
        Ok(sink.atoms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Long lines are read too, but fewer at a time.
    #[test]
    fn few_long_lines_are_held_at_a_time() {
        let many = 4 * rayon::current_num_threads();
        let long = " ".repeat(2 * many * BLOCK);
        let text = format!("{long}\n").repeat(3);
        let mut file = Blocks::new("t", std::io::Cursor::new(text)).unwrap();
        assert_eq!(file.several().unwrap().len(), 1);
        let text = " \n".repeat(many * BLOCK);
        let mut file = Blocks::new("t", std::io::Cursor::new(text)).unwrap();
        assert_eq!(file.several().unwrap().len(), many);
    }
}
