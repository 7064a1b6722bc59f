//! The learning curves of an experiment.
//!
//! Two quantities are drawn. The success rate is that of the episodes that ended lately; an episode that fails takes longest, so
//! at first only those that succeed have ended, and the rate looks better than it is. Goals a thousand steps have no such
//! bias, and go on growing while episodes get shorter.

use anyhow::Result;

use super::findings::groups;
use super::orders::Experiment;
use super::workshop::{Delivery, Workshop};
use crate::curves::{Axis, Curve, Figure, Panel, Scale, Spread};
use crate::metrics::{MetricsRow, read_rows};

/// Iterations over which a curve is averaged.
const WINDOW: usize = 5;

/// What is drawn.
#[derive(Clone, Copy)]
enum Quantity {
    Success,
    Goals,
}

/// The learning curves of an experiment, of the runs that have begun.
pub(super) fn figure(
    experiment: Experiment,
    workshop: &Workshop,
    deliveries: &[Delivery],
) -> Result<Option<Figure>> {
    let wanted = match experiment {
        Experiment::Transfer => [
            (Quantity::Goals, "4 yellow", "-4"),
            (Quantity::Goals, "6 yellow", "-6"),
        ],
        _ => [
            (Quantity::Success, experiment.as_str(), ""),
            (Quantity::Goals, experiment.as_str(), ""),
        ],
    };
    let mut panels = Vec::new();
    for (quantity, title, ending) in wanted {
        let mut curves = Vec::new();
        let of_panel = |(group, _): &(&str, &str)| group.ends_with(ending);
        for (group, label) in groups(experiment).into_iter().filter(of_panel) {
            let mut runs = Vec::new();
            for delivery in deliveries {
                let path = workshop.run(&delivery.order.name).join("metrics.csv");
                if delivery.is_of(experiment.as_str(), group) && path.is_file() {
                    runs.push(points(&read_rows(&path)?, quantity));
                }
            }
            runs.retain(|run: &Vec<_>| !run.is_empty());
            if !runs.is_empty() {
                let method = label.rsplit(", ").next().unwrap_or(label).to_owned();
                curves.push(Curve { method, runs });
            }
        }
        let (label, scale) = match quantity {
            Quantity::Success => ("success rate", Scale::Percent),
            Quantity::Goals => ("goals a thousand steps", Scale::Number),
        };
        let axis = |label: &str, scale| Axis {
            label: label.to_owned(),
            scale,
            range: None,
        };
        panels.push(Panel {
            title: title.to_owned(),
            x: axis("environment steps", Scale::Number),
            y: axis(label, scale),
            curves,
        });
    }
    let drawn = panels.iter().any(|panel| !panel.curves.is_empty());
    Ok(drawn.then_some(Figure {
        panels,
        spread: Spread::Range,
    }))
}

/// A run as points, each over the last few iterations.
fn points(rows: &[MetricsRow], quantity: Quantity) -> Vec<(f64, f64)> {
    let mut points = Vec::new();
    for end in 1..=rows.len() {
        let start = end.saturating_sub(WINDOW);
        let window = &rows[start..end];
        let before = start.checked_sub(1).map_or(0, |before| rows[before].steps);
        let steps = (rows[end - 1].steps - before) as f64;
        let episodes: f64 = window.iter().map(|row| row.episodes as f64).sum();
        let goals: f64 = (window.iter())
            .map(|row| row.success.unwrap_or(0.0) * row.episodes as f64)
            .sum();
        let value = match quantity {
            Quantity::Success if episodes == 0.0 => continue,
            Quantity::Success => goals / episodes,
            Quantity::Goals => 1000.0 * goals / steps,
        };
        points.push((rows[end - 1].steps as f64, value));
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_counted_over_the_steps_of_the_window() {
        let row = |iteration: u64, episodes, success| MetricsRow {
            iteration,
            steps: 1000 * iteration,
            episodes,
            success,
            ..MetricsRow::default()
        };
        let rows = [row(1, 0, None), row(2, 4, Some(0.5)), row(3, 6, Some(1.0))];
        assert_eq!(
            points(&rows, Quantity::Goals),
            [(1000.0, 0.0), (2000.0, 1.0), (3000.0, 8.0 / 3.0)]
        );
        assert_eq!(
            points(&rows, Quantity::Success),
            [(2000.0, 0.5), (3000.0, 0.8)]
        );
        let many: Vec<_> = (1..=9).map(|i| row(i, i, Some(1.0))).collect();
        let last = points(&many, Quantity::Goals);
        assert_eq!(last[8], (9000.0, (5 + 6 + 7 + 8 + 9) as f64 / 5.0));
    }
}
