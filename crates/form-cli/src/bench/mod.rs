//! `form bench`: the project's own speed figures, each with the baseline it was measured against.

mod env;
mod learn;
mod machine;
mod net;
mod noise;
mod objects;
mod train;

use std::fmt::Write;
use std::time::Instant;

use anyhow::{Result, bail};
use serde_json::{Value, json};

use crate::{Answer, output};

/// Measure the speed of the parts and print one table
///
/// Every figure is the median of several runs. Names select rows by prefix. The rows `noise` (traces of which some are wrong) and
/// `objects` (traces with objects of their own) are measured only where they are named.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  form bench\n  form bench learn --json")]
pub struct Args {
    /// The rows to measure, such as `machine.step` or `learn` [default: all]
    names: Vec<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// A measurement: the name it goes by and what it does.
struct Benchmark {
    name: &'static str,
    measure: fn(&str) -> Result<Row>,
}

/// One line of the table.
struct Row {
    name: String,
    /// The figure; `None` if the time limit was too short.
    value: Option<f64>,
    unit: &'static str,
    baseline: Option<Baseline>,
    /// A remark.
    note: Option<String>,
}

/// What a figure is compared with.
#[derive(Clone, Copy)]
struct Baseline {
    value: f64,
    /// Its source.
    source: &'static str,
}

pub fn run(args: &Args) -> Result<Answer> {
    let benchmarks = || {
        [
            &machine::BENCHMARKS[..],
            &env::BENCHMARKS,
            &net::BENCHMARKS,
            &train::BENCHMARKS,
            &learn::BENCHMARKS,
        ]
        .into_iter()
        .flatten()
    };
    let by_name = || noise::BENCHMARKS.iter().chain(&objects::BENCHMARKS);
    let all = || benchmarks().chain(by_name());
    let known: Vec<&str> = all().map(|b| b.name).collect();
    for name in &args.names {
        if !known.iter().any(|k| k.starts_with(name.as_str())) {
            bail!(
                "no figure starts with `{name}`: there are {}",
                known.join(", ")
            );
        }
    }
    let wanted = |name: &str| {
        args.names.iter().any(|n| name.starts_with(n.as_str()))
            || args.names.is_empty() && benchmarks().any(|b| b.name == name)
    };
    let mut rows = Vec::new();
    for benchmark in all().filter(|b| wanted(b.name)) {
        output::remark(&format!("measuring {} …", benchmark.name));
        rows.push((benchmark.measure)(benchmark.name)?);
    }
    if args.json {
        let rows: Vec<Value> = rows.iter().map(Row::to_json).collect();
        output::print_json(&json!({ "rows": rows }))?;
    } else {
        let mut text = format!(
            "{:<38} {:>14} {:<9} {:>8}  baseline\n",
            "name", "value", "unit", "ratio"
        );
        for row in &rows {
            row.write(&mut text);
        }
        output::print(&text)?;
    }
    Ok(Answer::Yes)
}

impl Row {
    /// A figure that stands for itself.
    fn new(name: &str, value: f64, unit: &'static str) -> Self {
        Self {
            name: name.to_owned(),
            value: Some(value),
            unit,
            baseline: None,
            note: None,
        }
    }

    /// How many times better than the baseline.
    fn ratio(&self) -> Option<f64> {
        let (baseline, value) = (self.baseline?.value, self.value?);
        Some(if self.unit == "s" {
            baseline / value
        } else {
            value / baseline
        })
    }

    fn to_json(&self) -> Value {
        let baseline = self
            .baseline
            .map(|baseline| json!({ "value": baseline.value, "source": baseline.source }));
        let mut row = json!({
            "name": self.name,
            "value": self.value,
            "unit": self.unit,
            "baseline": baseline,
            "ratio": self.ratio(),
        });
        if let Some(note) = &self.note {
            row["note"] = note.as_str().into();
        }
        row
    }

    fn write(&self, text: &mut String) {
        let ratio = self.ratio().map(|ratio| format!("{ratio:.1}x"));
        let value = self.value.map_or_else(|| "-".to_owned(), human);
        let remarks = [self.baseline.map(|b| b.source), self.note.as_deref()];
        let remarks: Vec<&str> = remarks.into_iter().flatten().collect();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{:<38} {value:>14} {:<9} {:>8}  {}",
            self.name,
            self.unit,
            ratio.unwrap_or_default(),
            remarks.join("; ")
        );
    }
}

/// `43,210,000` or `0.0123`.
fn human(value: f64) -> String {
    if value < 1000.0 {
        return format!("{value:.4}");
    }
    let digits = format!("{value:.0}");
    let groups: Vec<&str> = (digits.as_bytes().rchunks(3))
        .rev()
        .map(|group| std::str::from_utf8(group).unwrap_or("?"))
        .collect();
    groups.join(",")
}

/// The median of several timings in seconds.
fn median(runs: usize, mut work: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut seconds = Vec::with_capacity(runs);
    for _ in 0..runs {
        let start = Instant::now();
        work()?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    Ok(middle(seconds))
}

/// The middle one of some numbers.
fn middle(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_without_a_figure_says_so() {
        let baseline = Some(Baseline {
            value: 2.0,
            source: "the source",
        });
        let figure = Row {
            baseline,
            ..Row::new("a.b", 0.5, "s")
        };
        let none = Row {
            value: None,
            note: Some("too slow".to_owned()),
            ..figure
        };
        let figure = Row {
            baseline,
            ..Row::new("a.b", 0.5, "s")
        };
        let mut text = String::new();
        figure.write(&mut text);
        none.write(&mut text);
        let lines: Vec<Vec<&str>> = text
            .lines()
            .map(|l| l.split_whitespace().collect())
            .collect();
        assert_eq!(lines[0], ["a.b", "0.5000", "s", "4.0x", "the", "source"]);
        assert_eq!(lines[1], ["a.b", "-", "s", "the", "source;", "too", "slow"]);
        let json = none.to_json();
        assert!(json["value"].is_null() && json["ratio"].is_null());
        assert_eq!(
            (&json["note"], &json["baseline"]["value"]),
            (&"too slow".into(), &2.0.into())
        );
        assert_eq!(figure.to_json().get("note"), None);
    }
}
