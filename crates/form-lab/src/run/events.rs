//! Event files for TensorBoard: scalars, each with a tag, a step, a value and the time.
//!
//! An event file is a sequence of TFRecords (length, checksum of the length, data, checksum of the data; the checksums are
//! CRC-32C, turned and shifted), each an `Event` message of TensorFlow's protocol buffers. The messages here have the few
//! fields that scalars need, under the numbers of `event.proto` and `summary.proto`.
//!
//! A file starts with a session event. A run that resumes after iteration k writes a new file, whose session starts at step k + 1:
//! TensorBoard then discards that step and later ones. TensorBoard reads files in the order of their names, which start with the
//! time and never decrease.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};

use crate::atomic_files::{append, cannot};

const PREFIX: &str = "events.out.tfevents.";
/// The first record of a file; session events need version 2.
const VERSION: &str = "brain.Event:2";
const SESSION_STARTS: u64 = 1;

/// What an event says besides its time and step: a field of `Event`, by its number.
enum What<'a> {
    FileVersion(&'a str),
    /// A message with a field 1 for every scalar.
    Summary(Vec<u8>),
    /// A message whose field 1 is the status.
    SessionLog(u64),
}

/// An `Event`.
fn event(wall_time: f64, step: i64, what: &What<'_>) -> Vec<u8> {
    let mut message = field(1, 1);
    message.extend(wall_time.to_le_bytes());
    // Zero is what a field that is not there says.
    if step != 0 {
        message.extend(field(2, 0));
        message.extend(varint(step as u64));
    }
    message.extend(match what {
        What::FileVersion(version) => bytes(3, version.as_bytes()),
        What::Summary(values) => bytes(5, values),
        What::SessionLog(status) => bytes(7, &[field(1, 0), varint(*status)].concat()),
    });
    message
}

/// A scalar, as a field of `Summary`: its tag, and its value, which is written even if zero.
fn scalar(tag: &str, value: f32) -> Vec<u8> {
    let mut message = bytes(1, tag.as_bytes());
    message.extend(field(2, 5));
    message.extend(value.to_le_bytes());
    bytes(1, &message)
}

/// What a field begins with: its number and its wire type, 0 for a variable-length integer, 1 and 5 for eight and four bytes, 2 for
/// a length and that number of bytes.
fn field(number: u64, wire: u64) -> Vec<u8> {
    varint(number << 3 | wire)
}

/// A field with these bytes, after their number.
fn bytes(number: u64, data: &[u8]) -> Vec<u8> {
    [&field(number, 2)[..], &varint(data.len() as u64), data].concat()
}

/// Seven bits to a byte, the lowest first, with a mark on all but the last.
fn varint(mut value: u64) -> Vec<u8> {
    let mut found = Vec::new();
    while value >= 0x80 {
        found.push(value as u8 | 0x80);
        value >>= 7;
    }
    found.push(value as u8);
    found
}

/// An event file that scalars are appended to.
#[derive(Debug)]
pub struct EventFile {
    path: PathBuf,
    file: File,
}

impl EventFile {
    /// Creates an event file in a folder; `resumed_after` is the last iteration before a run resumes.
    pub fn create(folder: &Path, resumed_after: Option<u64>) -> Result<Self> {
        let now = now();
        // A clock that was set back must not put this file before earlier ones.
        let (mut seconds, mut number) = (now as u64, 0);
        if let Some((last_seconds, last_number)) = last(folder)?
            && last_seconds >= seconds
        {
            (seconds, number) = (last_seconds, last_number + 1);
        }
        let path = folder.join(format!("{PREFIX}{seconds:010}.form.{number:03}"));
        let file = File::options()
            .create_new(true)
            .append(true)
            .open(&path)
            .map_err(|error| cannot("write", &path, error))?;
        let mut events = Self { path, file };
        events.write(&event(now, 0, &What::FileVersion(VERSION)))?;
        let first = match resumed_after {
            Some(iteration) => step(iteration)?.saturating_add(1),
            None => 0,
        };
        events.write(&event(now, first, &What::SessionLog(SESSION_STARTS)))?;
        Ok(events)
    }

    #[cfg(test)]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends the values of an iteration with the current time. The operating system has them when this returns.
    pub fn append<'a>(
        &mut self,
        iteration: u64,
        scalars: impl IntoIterator<Item = (&'a str, f64)>,
    ) -> Result<()> {
        self.append_at(now(), iteration, scalars)
    }

    /// As [`append`](Self::append), with a time in seconds since 1970.
    pub fn append_at<'a>(
        &mut self,
        wall_time: f64,
        iteration: u64,
        scalars: impl IntoIterator<Item = (&'a str, f64)>,
    ) -> Result<()> {
        let values = (scalars.into_iter())
            .flat_map(|(tag, value)| scalar(tag, value as f32))
            .collect();
        self.write(&event(wall_time, step(iteration)?, &What::Summary(values)))
    }

    fn write(&mut self, event: &[u8]) -> Result<()> {
        // In one write: a reader never sees a torn record, only an unfinished last one.
        append(&mut self.file, &self.path, &record(event))
    }
}

/// A TFRecord.
fn record(data: &[u8]) -> Vec<u8> {
    let length = (data.len() as u64).to_le_bytes();
    [
        &length[..],
        &checksum(&length).to_le_bytes(),
        data,
        &checksum(data).to_le_bytes(),
    ]
    .concat()
}

/// The masked CRC-32C of TFRecords.
fn checksum(data: &[u8]) -> u32 {
    crc32c::crc32c(data)
        .rotate_right(15)
        .wrapping_add(0xa282_ead8)
}

fn step(iteration: u64) -> Result<i64> {
    i64::try_from(iteration).with_context(|| format!("iteration {iteration} is too large"))
}

fn now() -> f64 {
    // Zero for a clock before 1970.
    (SystemTime::now().duration_since(UNIX_EPOCH)).map_or(0.0, |time| time.as_secs_f64())
}

/// The time and number of the last event file of this program in a folder.
fn last(folder: &Path) -> Result<Option<(u64, u64)>> {
    let failed = |error| cannot("list", folder, error);
    let mut last = None;
    for entry in fs::read_dir(folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let parts = name
            .to_str()
            .and_then(|name| name.strip_prefix(PREFIX))
            .and_then(|rest| rest.split_once(".form."));
        if let Some((seconds, number)) = parts
            && let (Ok(seconds), Ok(number)) = (seconds.parse(), number.parse())
        {
            last = last.max(Some((seconds, number)));
        }
    }
    Ok(last)
}

#[cfg(test)]
mod tests;
