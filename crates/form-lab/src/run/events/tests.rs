//! Event files, read back by a parser that is written from the descriptions of TFRecords and protocol buffers alone.

use std::fs;
use std::path::Path;

use super::EventFile;

/// What one record says.
#[derive(Debug, PartialEq)]
enum Said {
    Version(String),
    SessionStarts {
        step: u64,
    },
    Scalars {
        time: f64,
        step: u64,
        values: Vec<(String, f32)>,
    },
}

/// The field of a message: its number and what it holds.
enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// CRC-32C bit by bit, as its definition has it.
fn crc(data: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in data {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 {
                crc >> 1 ^ 0x82f6_3b78
            } else {
                crc >> 1
            };
        }
    }
    !crc
}

fn check_sum(data: &[u8], stored: &[u8]) {
    let crc = crc(data);
    let masked = crc.rotate_right(15).wrapping_add(0xa282_ead8);
    assert_eq!(stored, masked.to_le_bytes());
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> &'a [u8] {
    let (taken, after) = rest.split_at(length);
    *rest = after;
    taken
}

fn varint(rest: &mut &[u8]) -> u64 {
    let mut value = 0;
    for place in 0.. {
        let byte = take(rest, 1)[0];
        value |= u64::from(byte & 0x7f) << (7 * place);
        if byte < 0x80 {
            break;
        }
    }
    value
}

fn fields(mut message: &[u8]) -> Vec<(u64, Field<'_>)> {
    let mut found = Vec::new();
    while !message.is_empty() {
        let key = varint(&mut message);
        let field = match key & 7 {
            0 => Field::Number(varint(&mut message)),
            1 => Field::Bytes(take(&mut message, 8)),
            2 => {
                let length = varint(&mut message) as usize;
                Field::Bytes(take(&mut message, length))
            }
            5 => Field::Bytes(take(&mut message, 4)),
            other => panic!("wire type {other}"),
        };
        found.push((key >> 3, field));
    }
    found
}

fn scalar(message: &[u8]) -> (String, f32) {
    let fields = fields(message);
    let [(1, Field::Bytes(tag)), (2, Field::Bytes(value))] = &fields[..] else {
        panic!("not a scalar");
    };
    let tag = String::from_utf8(tag.to_vec()).unwrap();
    (tag, f32::from_le_bytes((*value).try_into().unwrap()))
}

fn event(message: &[u8]) -> Said {
    let (mut time, mut step, mut said) = (0.0, 0, None);
    for field in fields(message) {
        match field {
            (1, Field::Bytes(bytes)) => time = f64::from_le_bytes(bytes.try_into().unwrap()),
            (2, Field::Number(number)) => step = number,
            (3, Field::Bytes(text)) => {
                said = Some(Said::Version(String::from_utf8(text.to_vec()).unwrap()));
            }
            (5, Field::Bytes(summary)) => {
                let values = fields(summary).into_iter().map(|field| match field {
                    (1, Field::Bytes(value)) => scalar(value),
                    _ => panic!("not a value"),
                });
                let values = values.collect();
                said = Some(Said::Scalars { time, step, values });
            }
            (7, Field::Bytes([8, 1])) => said = Some(Said::SessionStarts { step }),
            (other, _) => panic!("field {other}"),
        }
    }
    assert!(time > 0.0);
    said.unwrap()
}

fn read(path: &Path) -> Vec<Said> {
    let file = fs::read(path).unwrap();
    let mut rest = &file[..];
    let mut found = Vec::new();
    while !rest.is_empty() {
        let length = take(&mut rest, 8);
        check_sum(length, take(&mut rest, 4));
        let data = take(
            &mut rest,
            u64::from_le_bytes(length.try_into().unwrap()) as usize,
        );
        check_sum(data, take(&mut rest, 4));
        found.push(event(data));
    }
    found
}

fn scalars(time: f64, step: u64, values: &[(&str, f32)]) -> Said {
    let values = values
        .iter()
        .map(|(tag, value)| ((*tag).to_owned(), *value));
    Said::Scalars {
        time,
        step,
        values: values.collect(),
    }
}

#[test]
fn what_is_written_is_what_others_read() {
    // The example that the definition of the checksum gives.
    assert_eq!(crc(b"123456789"), 0xe306_9283);
    let folder = tempfile::tempdir().unwrap();
    let mut events = EventFile::create(folder.path(), None).unwrap();
    let values = [("success", 0.25), ("policy/u0/loss", -1.5)];
    events.append_at(1.5, 1, values).unwrap();
    events.append_at(2.5, 300, [("success", 0.0)]).unwrap();
    let long = "x".repeat(1000);
    events
        .append_at(3.5, 1 << 40, [(long.as_str(), 1e10)])
        .unwrap();
    assert_eq!(
        read(events.path()),
        [
            Said::Version("brain.Event:2".to_owned()),
            Said::SessionStarts { step: 0 },
            scalars(1.5, 1, &[("success", 0.25), ("policy/u0/loss", -1.5)]),
            scalars(2.5, 300, &[("success", 0.0)]),
            scalars(3.5, 1 << 40, &[(&long, 1e10)]),
        ]
    );
}

#[test]
fn a_resumed_run_writes_to_a_file_that_comes_later() {
    let folder = tempfile::tempdir().unwrap();
    // A clock that runs ahead, once.
    let ahead = folder
        .path()
        .join("events.out.tfevents.9999999999.form.007");
    fs::write(&ahead, "").unwrap();
    let mut paths = vec![ahead];
    for iteration in [5, 3] {
        let mut events = EventFile::create(folder.path(), Some(iteration)).unwrap();
        events.append(iteration + 1, [("success", 1.0)]).unwrap();
        let said = read(events.path());
        assert_eq!(said.len(), 3);
        assert_eq!(
            said[1],
            Said::SessionStarts {
                step: iteration + 1
            }
        );
        paths.push(events.path().to_owned());
    }
    assert!(paths.is_sorted(), "{paths:?}");
    let name = paths[2].file_name().unwrap();
    assert_eq!(name, "events.out.tfevents.9999999999.form.009");
}

#[test]
fn a_missing_folder_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let error = EventFile::create(&folder.path().join("no"), None).unwrap_err();
    let message = format!("{error:#}");
    assert!(
        message.contains("no: there is no such file or folder"),
        "{message}"
    );
}
