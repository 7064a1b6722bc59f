//! The figures as Markdown tables.

use std::fmt::Write;
use std::time::Duration;

use super::{Point, Study};

/// A study as a table, one row per task.
pub fn markdown(study: &Study, limit: Duration) -> String {
    let heads: Vec<String> = study.sizes.iter().map(|size| grouped(*size)).collect();
    let mut text = format!("| {} | {} |\n", study.varied, heads.join(" | "));
    let _ = writeln!(text, "|---{}|", "|---".repeat(heads.len()));
    for series in &study.series {
        let _ = write!(text, "| {} |", series.task);
        for i in 0..heads.len() {
            let cell = series.points.get(i).map(|point| cell(point, limit));
            let _ = write!(text, " {} |", cell.unwrap_or_default());
        }
        text.push('\n');
    }
    text
}

/// `12 ms (15 ms), 2 states`, the worst in parentheses, or `not in 60 s, 5 states or more`.
pub fn cell(point: &Point, limit: Duration) -> String {
    let states = match point.states {
        1 => "1 state".to_owned(),
        n => format!("{n} states"),
    };
    match point.time {
        Some(time) => {
            let worst = point
                .worst
                .map_or_else(|| format!("over {}", human(limit)), human);
            format!("{} ({worst}), {states}", human(time))
        }
        None => format!("not in {}, {states} or more", human(limit)),
    }
}

fn human(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        ..0.01 => format!("{:.1} ms", seconds * 1e3),
        ..1.0 => format!("{:.0} ms", seconds * 1e3),
        ..10.0 => format!("{seconds:.1} s"),
        _ => format!("{seconds:.0} s"),
    }
}

/// `10,000`.
pub fn grouped(number: usize) -> String {
    match number {
        ..1000 => number.to_string(),
        _ => format!("{},{:03}", grouped(number / 1000), number % 1000),
    }
}
