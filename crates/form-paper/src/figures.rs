//! The learning curves of an experiment.
//!
//! Two quantities are drawn: the success rate of evaluations, which starts before training, and goals per thousand steps of training,
//! which keeps growing while episodes get shorter.

use anyhow::Result;
use form_lab::{MetricsRow, mean, read_rows};

use crate::curves::{Axis, Curve, Figure, Panel, Scale};
use crate::groups::groups;
use crate::plan::Experiment;
use crate::runner::{RunOutcome, Runner};

/// The window of the moving average, in iterations.
const WINDOW: usize = 5;

/// The quantity on the vertical axis.
#[derive(Clone, Copy)]
enum Quantity {
    Success,
    Goals,
}

/// The learning curves of an experiment.
pub(crate) fn figure(
    experiment: Experiment,
    runner: &Runner,
    outcomes: &[RunOutcome],
) -> Result<Option<Figure>> {
    let wanted = match experiment {
        Experiment::Transfer => [
            (Quantity::Success, "4 yellow", "-4"),
            (Quantity::Success, "6 yellow", "-6"),
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
            for outcome in outcomes {
                let path = runner.folder_of(&outcome.run.name).join("metrics.csv");
                if outcome.is_of(experiment.as_str(), group) && path.is_file() {
                    runs.push(points(&read_rows(&path)?, quantity));
                }
            }
            runs.retain(|run: &Vec<_>| !run.is_empty());
            if !runs.is_empty() {
                let method = label.rsplit(", ").next().unwrap_or(label).to_owned();
                curves.push(Curve { method, runs });
            }
        }
        if let Quantity::Success = quantity {
            curves.extend(random(experiment, ending, outcomes, &curves));
        }
        let (label, scale) = match quantity {
            Quantity::Success => ("success rate", Scale::Percent),
            Quantity::Goals => ("goals per thousand steps", Scale::Number),
        };
        let axis = |label: &str, scale| Axis {
            label: label.to_owned(),
            scale,
        };
        panels.push(Panel {
            title: title.to_owned(),
            x: axis("environment steps", Scale::Number),
            y: axis(label, scale),
            curves,
        });
    }
    // Some runs may not have begun.
    panels.retain(|panel| !panel.curves.is_empty());
    Ok((!panels.is_empty()).then_some(Figure { panels }))
}

/// The success of random play on the episodes of the final evaluations, as a horizontal line.
fn random(
    experiment: Experiment,
    ending: &str,
    outcomes: &[RunOutcome],
    curves: &[Curve],
) -> Option<Curve> {
    let points = curves.iter().flat_map(|curve| &curve.runs).flatten();
    let last = points.map(|point| point.0).fold(0.0, f64::max);
    let groups = groups(experiment);
    let of_panel = |outcome: &&RunOutcome| {
        let mut names = groups.iter().filter(|(group, _)| group.ends_with(ending));
        names.any(|(group, _)| outcome.is_of(experiment.as_str(), group))
    };
    let results = (outcomes.iter().filter(of_panel)).filter_map(|one| one.result.as_ref());
    let evaluations = results.filter_map(|result| result.evaluation.as_ref());
    let rates: Vec<f64> = evaluations.filter_map(|found| found.random).collect();
    let rate = mean(&rates).filter(|_| last > 0.0)?;
    Some(Curve {
        method: "random".to_owned(),
        runs: vec![vec![(0.0, rate), (last, rate)]],
    })
}

/// A run as points: its evaluations, or goals over the last few iterations.
fn points(rows: &[MetricsRow], quantity: Quantity) -> Vec<(f64, f64)> {
    match quantity {
        Quantity::Success => (rows.iter())
            .filter_map(|row| Some((row.steps as f64, row.success?)))
            .collect(),
        Quantity::Goals => goals(rows),
    }
}

fn goals(rows: &[MetricsRow]) -> Vec<(f64, f64)> {
    let mut points = Vec::new();
    // The row before the first iteration has no steps.
    let rows: Vec<&MetricsRow> = rows.iter().filter(|row| row.iteration > 0).collect();
    for end in 1..=rows.len() {
        let start = end.saturating_sub(WINDOW);
        let before = start.checked_sub(1).map_or(0, |before| rows[before].steps);
        let steps = (rows[end - 1].steps - before) as f64;
        let goals: f64 = (rows[start..end].iter())
            .map(|row| row.ended_success.unwrap_or(0.0) * row.episodes as f64)
            .sum();
        points.push((rows[end - 1].steps as f64, 1000.0 * goals / steps));
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(iteration: u64, episodes: u64, ended_success: Option<f64>) -> MetricsRow {
        MetricsRow {
            iteration,
            steps: 1000 * iteration,
            episodes,
            ended_success,
            ..MetricsRow::default()
        }
    }

    #[test]
    fn goals_are_counted_over_the_steps_of_the_window() {
        let rows = [
            row(0, 0, None),
            row(1, 0, None),
            row(2, 4, Some(0.5)),
            row(3, 6, Some(1.0)),
        ];
        assert_eq!(
            points(&rows, Quantity::Goals),
            [(1000.0, 0.0), (2000.0, 1.0), (3000.0, 8.0 / 3.0)]
        );
        let many: Vec<_> = (1..=9).map(|i| row(i, i, Some(1.0))).collect();
        let last = points(&many, Quantity::Goals);
        assert_eq!(last[8], (9000.0, (5 + 6 + 7 + 8 + 9) as f64 / 5.0));
    }

    #[test]
    fn success_is_that_of_evaluations_from_the_beginning() {
        let evaluated = |iteration, success| MetricsRow {
            success,
            ..row(iteration, 10, Some(1.0))
        };
        let rows = [
            evaluated(0, Some(0.4)),
            evaluated(1, None),
            evaluated(2, Some(0.7)),
        ];
        assert_eq!(
            points(&rows, Quantity::Success),
            [(0.0, 0.4), (2000.0, 0.7)]
        );
    }
}
