//! Signature files: a trace file, for the atoms that it declares or that occur in it, or a plain list of atoms.

use std::io::{BufRead, Read};

use super::block::LONGEST_LINE;
use super::file::TraceFile;
use super::sink::short;
use crate::error::{Error, Result};
use crate::logic::atom::GroundAtom;
use crate::logic::signature::Signature;

/// Reads a signature: a trace file (the atoms that its first line declares, else those that occur), or a list of atoms, one per
/// line, with `#` comments.
pub fn read_signature(name: &str, bytes: impl Read + Send + 'static) -> Result<Signature> {
    read_within(name, bytes, LONGEST_LINE)
}

/// [`read_signature`] with a maximum size of lists in bytes.
fn read_within(name: &str, bytes: impl Read + Send + 'static, limit: usize) -> Result<Signature> {
    let mut file = TraceFile::new(name, bytes)?;
    let io = |source| Error::Io {
        path: name.to_owned(),
        source,
    };
    let start = file.blocks.bytes.fill_buf().map_err(io)?;
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    if start.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'{') {
        return file.signature();
    }
    let mut atoms: Vec<GroundAtom> = Vec::new();
    let mut read = 0;
    // A device, or a small archive, can have a line without end, or endlessly many lines.
    let bytes = file.blocks.bytes.take(limit as u64 + 1);
    for (i, line) in bytes.split(b'\n').enumerate() {
        read += line.as_ref().map_or(0, |line| line.len() + 1);
        if read > limit {
            return Err(Error::Limit {
                what: format!("{name}: bytes in a list of atoms"),
                limit,
                hint: "a signature has one atom per line".to_owned(),
            });
        }
        let line = String::from_utf8(line.map_err(io)?).map_err(|error| {
            let good = error.utf8_error().valid_up_to();
            Error::Json {
                file: name.to_owned(),
                line: i + 1,
                column: String::from_utf8_lossy(&error.as_bytes()[..good])
                    .chars()
                    .count()
                    + 1,
                problem: "not UTF-8 text".to_owned(),
            }
        })?;
        let content = line
            .trim_start_matches('\u{feff}')
            .split('#')
            .next()
            .unwrap_or_default();
        if !content.trim().is_empty() {
            let located = |error: Error| Error::Json {
                file: name.to_owned(),
                line: i + 1,
                column: error.position().map_or(1, |(_, column)| column),
                problem: short(&error),
            };
            atoms.push(content.parse().map_err(located)?);
        }
    }
    Ok(Signature::new(atoms))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_atoms_are_located() {
        let at = |bytes: &'static [u8]| read_signature("s", bytes).unwrap_err().to_string();
        assert_eq!(at(b"goal\ngr\xc3\xbcn\xff"), "s:2:5: not UTF-8 text");
        assert!(at(b"goal\r\np(\r\n").starts_with("s:2:3: not an atom: "));
        assert_eq!(
            read_signature("s", &b"goal\r\np(a) # c\r\n"[..])
                .unwrap()
                .len(),
            2
        );
    }

    /// Devices and small archives can be endless: neither one line nor many exhaust the memory.
    #[test]
    fn lists_without_end_are_refused() {
        for endless in [0, b'\n', b'#'] {
            let read = read_within("s", std::io::repeat(endless), 1 << 12);
            let message = read.unwrap_err().to_string();
            assert!(
                message.starts_with("s: bytes in a list of atoms: more than the limit of 4096"),
                "{message}"
            );
        }
        assert_eq!(read_within("s", &b"goal\n"[..], 5).unwrap().len(), 1);
        assert!(read_within("s", &b"goal\n\n"[..], 5).is_err());
    }
}
