//! The law of trace files: plain and gzipped they read alike, what was read survives being written and read again, and
//! duplicates, contradictions and replays are what a plain comparison of the traces says.

use std::io::{Cursor, Read, Write};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use form_core::{
    ContradictionReason, Dataset, Error, Formula, Kind, Machine, Replay, Result, Signature, Trace,
    TraceFile, read_signature,
};

/// Bytes up to which archives are unpacked, traces up to which every pair is compared.
const LARGEST: u64 = 1 << 19;
const MOST_TRACES: usize = 64;

/// Bytes read as a trace file and as a signature, as they are and gzipped.
pub fn traces(bytes: &[u8]) {
    let packed = bytes.starts_with(&[0x1f, 0x8b]);
    let mut plain = Vec::new();
    if packed {
        // A broken archive is refused somewhere on the way; what comes out before that is checked by other inputs.
        let unpacked = MultiGzDecoder::new(bytes)
            .take(LARGEST)
            .read_to_end(&mut plain);
        if unpacked.is_ok_and(|n| n as u64 == LARGEST) {
            return;
        }
    } else {
        plain = bytes.to_vec();
    }
    let signature = signature_of(bytes);
    let list = read_signature("t", Cursor::new(bytes.to_vec()));
    if !packed {
        let gzipped = gzipped(bytes);
        alike(&signature, &signature_of(&gzipped));
        alike(&list, &read_signature("t", Cursor::new(gzipped)));
    }
    match &list {
        Err(error) => refused_well(error, &plain),
        Ok(list) => {
            let written: Vec<String> = list.atoms().iter().map(ToString::to_string).collect();
            let again = read_signature("t", Cursor::new(written.join("\n").into_bytes()));
            assert_eq!(again.expect("a list of atoms reads back"), *list);
        }
    }
    match signature {
        Err(error) => refused_well(&error, &plain),
        Ok(signature) => {
            let traces = traces_of(bytes, &signature);
            if !packed {
                alike(&traces, &traces_of(&gzipped(bytes), &signature));
            }
            match traces {
                Err(error) => refused_well(&error, &plain),
                Ok(traces) => survive(bytes, &signature, &traces),
            }
        }
    }
}

fn file(bytes: &[u8]) -> Result<TraceFile> {
    TraceFile::new("t", Cursor::new(bytes.to_vec()))
}

fn signature_of(bytes: &[u8]) -> Result<Signature> {
    file(bytes)?.signature()
}

fn traces_of(bytes: &[u8], signature: &Signature) -> Result<Vec<(usize, Trace)>> {
    file(bytes)?.traces(signature)
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::none());
    encoder
        .write_all(bytes)
        .expect("writing to memory succeeds");
    encoder.finish().expect("writing to memory succeeds")
}

fn alike<T: PartialEq + std::fmt::Debug>(plain: &Result<T>, gzipped: &Result<T>) {
    match (plain, gzipped) {
        (Ok(plain), Ok(gzipped)) => assert_eq!(plain, gzipped),
        (Err(plain), Err(gzipped)) => assert_eq!(plain.to_string(), gzipped.to_string()),
        _ => panic!("plain {plain:?}, gzipped {gzipped:?}"),
    }
}

/// A refused file is refused at a place in it, unless it cannot be read at all.
fn refused_well(error: &Error, plain: &[u8]) {
    if !matches!(error, Error::Io { .. }) {
        super::refused_well(error, &String::from_utf8_lossy(plain));
    }
}

fn survive(bytes: &[u8], signature: &Signature, traces: &[(usize, Trace)]) {
    let written: String = (traces.iter())
        .map(|(_, trace)| trace.to_json(signature) + "\n")
        .collect();
    let again = traces_of(written.as_bytes(), signature)
        .unwrap_or_else(|error| panic!("does not read back: {error}\n{written}"));
    assert!(
        (again.iter().map(|(_, trace)| trace)).eq(traces.iter().map(|(_, trace)| trace)),
        "{written}"
    );
    replayed_one_by_one(bytes, signature, traces);

    let mut data = Dataset::new(signature.clone());
    data.read(file(bytes).expect("read before"))
        .expect("read before");
    assert_eq!(data.traces().len() + data.duplicates().len(), traces.len());
    if traces.len() > MOST_TRACES {
        return;
    }
    let different = data.traces();
    let mut expected = Vec::new();
    for (j, (second, later)) in different.iter().enumerate() {
        for (first, earlier) in &different[..j] {
            assert_ne!(earlier, later, "a duplicate was kept");
            if let Some(reason) = contradiction(earlier, later) {
                expected.push(((first.line, second.line), reason));
            }
        }
        if later.steps().is_empty() && later.kind() != Kind::Incomplete {
            let reason = ContradictionReason::OverAtOnce;
            expected.push(((second.line, second.line), reason));
        }
    }
    let found: Vec<_> = (data.contradictions().iter())
        .map(|c| ((c.first.0.line, c.second.0.line), c.reason))
        .collect();
    assert_eq!(found, expected);
}

/// Why two different traces cannot both be true.
fn contradiction(first: &Trace, second: &Trace) -> Option<ContradictionReason> {
    let (short, long) = if first.steps().len() <= second.steps().len() {
        (first, second)
    } else {
        (second, first)
    };
    if first.steps() == second.steps() {
        Some(ContradictionReason::SameObservations)
    } else {
        (short.kind() != Kind::Incomplete && long.steps().starts_with(short.steps()))
            .then_some(ContradictionReason::GoesOn)
    }
}

/// Streaming a file through a machine finds what its traces, one by one, disagree with.
fn replayed_one_by_one(bytes: &[u8], signature: &Signature, traces: &[(usize, Trace)]) {
    let Some(atom) = signature.atoms().last() else {
        return;
    };
    let machine = Machine::builder("one_edge")
        .initial("u0")
        .accept("u1")
        .edge_with("u0", "u1", Formula::atom(atom.clone()), None)
        .build()
        .expect("one edge into the accepting state is a machine");
    let bound = machine.bind(signature).expect("its atom is in there");
    let mut replay = Replay::default();
    replay
        .add(&bound, file(bytes).expect("read before"))
        .expect("read before");
    let disagree: Vec<usize> = (traces.iter())
        .filter(|(_, trace)| trace.disagreement(&bound).is_some())
        .map(|(line, _)| *line)
        .collect();
    assert_eq!(replay.total(), traces.len() as u64);
    assert_eq!(replay.disagreements, disagree.len() as u64);
    let first = replay.first.map(|first| first.line);
    assert_eq!(first, disagree.first().copied());
}
