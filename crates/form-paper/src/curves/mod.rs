//! Learning curves: one line per method for the mean of its runs, and a band from the lowest run to the highest.
//!
//! Runs have their points at different steps. They are interpolated linearly on a common grid. Before its first point a run has its
//! first value; after its last point it keeps its last value. A run that stopped early has converged, and without this rule the
//! mean would jump wherever a run ends.

mod canvas;
mod picture;

use anyhow::{Result, bail};
use form_lab::mean;

/// Points of the grid, more than there are pixels between the axes.
const GRID: usize = 400;

/// A picture: panels side by side, with one legend.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// From left to right.
    pub panels: Vec<Panel>,
}

/// One pair of axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// The title above it.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The methods, in the order of the legend.
    pub curves: Vec<Curve>,
}

/// An axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What it shows, with its unit: `environment steps`.
    pub label: String,
    /// How its numbers are written.
    pub scale: Scale,
}

/// How the numbers of an axis are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// As they are, thousands as `k` and millions as `M`.
    Number,
    /// From 0 for `0 %` to 1 for `100 %`; the axis shows all of it.
    Percent,
}

/// The runs of a method, each as points from left to right.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The method's name, as on the command line; it decides on the colour.
    pub method: String,
    /// One list of points per seed.
    pub runs: Vec<Vec<(f64, f64)>>,
}

/// The runs of a method at one point of the grid.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Average {
    x: f64,
    mean: f64,
    low: f64,
    high: f64,
}

/// Averages runs on a grid. Runs without points do not count; the band of a single run has no width.
fn averages(runs: &[Vec<(f64, f64)>], grid: &[f64]) -> Vec<Average> {
    let average = |x: &f64| {
        let values: Vec<f64> = runs.iter().filter_map(|run| value_at(run, *x)).collect();
        let mean = mean(&values)?;
        let (low, high) = (values.iter()).fold((mean, mean), |(low, high), value| {
            (low.min(*value), high.max(*value))
        });
        let x = *x;
        Some(Average { x, mean, low, high })
    };
    grid.iter().filter_map(average).collect()
}

/// The value of a run at a place; `None` if it has no points.
fn value_at(run: &[(f64, f64)], x: f64) -> Option<f64> {
    let after = run.partition_point(|point| point.0 <= x);
    let Some(&(x1, y1)) = run.get(after) else {
        return run.last().map(|point| point.1);
    };
    let Some(&(x0, y0)) = after.checked_sub(1).and_then(|before| run.get(before)) else {
        return Some(y1);
    };
    Some(y0 + (y1 - y0) * (x - x0) / (x1 - x0))
}

impl Panel {
    /// The ends of the horizontal axis: from zero, or the leftmost point if it is left of it, to the rightmost point.
    fn x_range(&self) -> (f64, f64) {
        let (low, high) = extent(self.points().map(|point| point.0)).unwrap_or((0.0, 1.0));
        let low = low.min(0.0);
        (low, if high > low { high } else { low + 1.0 })
    }

    /// The ends of the vertical axis, with a little room at both.
    fn y_range(&self, averages: &[Vec<Average>]) -> (f64, f64) {
        let bands = averages.iter().flatten().flat_map(|at| [at.low, at.high]);
        let (low, high) = match self.y.scale {
            Scale::Percent => (0.0, 1.0),
            Scale::Number => extent(bands).unwrap_or((0.0, 1.0)),
        };
        let (low, high) = if high > low {
            (low, high)
        } else {
            (low - 0.5, low + 0.5)
        };
        let room = 0.04 * (high - low);
        (low - room, high + room)
    }

    /// The means and bands of the methods, in their order.
    fn averages(&self) -> Vec<Vec<Average>> {
        let (low, high) = self.x_range();
        let grid: Vec<f64> = (0..=GRID)
            .map(|i| low + (high - low) * i as f64 / GRID as f64)
            .collect();
        let of = |curve: &Curve| {
            // A line begins where the first of its runs does: before, nothing was measured.
            let start = curve.runs.iter().flatten().map(|point| point.0);
            let start = start.fold(f64::INFINITY, f64::min).min(high);
            let grid: Vec<f64> = [start]
                .into_iter()
                .chain(grid.iter().copied().filter(|x| *x > start))
                .collect();
            averages(&curve.runs, &grid)
        };
        self.curves.iter().map(of).collect()
    }

    fn points(&self) -> impl Iterator<Item = (f64, f64)> {
        (self.curves.iter())
            .flat_map(|curve| &curve.runs)
            .flatten()
            .copied()
    }
}

impl Figure {
    /// Whether it can be drawn.
    fn check(&self) -> Result<()> {
        if self.panels.is_empty() {
            bail!("the figure has no panels");
        }
        for panel in &self.panels {
            if panel.points().next().is_none() {
                bail!(
                    "{}: there is nothing to draw, no run has a point",
                    panel.title
                );
            }
            for curve in &panel.curves {
                for (seed, run) in curve.runs.iter().enumerate() {
                    let place = || format!("{}: {}, run {}", panel.title, curve.method, seed + 1);
                    if let Some((x, y)) =
                        (run.iter()).find(|(x, y)| !x.is_finite() || !y.is_finite())
                    {
                        bail!("{}: a point at ({x}, {y})", place());
                    }
                    if !run.is_sorted_by(|a, b| a.0 < b.0) {
                        bail!("{}: points that do not go from left to right", place());
                    }
                }
            }
        }
        Ok(())
    }
}

/// The smallest and the largest value.
fn extent(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |found, value| match found {
        None => Some((value, value)),
        Some((low, high)) => Some((value.min(low), value.max(high))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_interpolated_and_keeps_its_last_value() {
        let run = [(2.0, 0.0), (4.0, 1.0), (8.0, 0.5)];
        let expected = [
            (0.0, 0.0),
            (2.0, 0.0),
            (3.0, 0.5),
            (4.0, 1.0),
            (6.0, 0.75),
            (8.0, 0.5),
            (100.0, 0.5),
        ];
        for (x, y) in expected {
            assert_eq!(value_at(&run, x), Some(y), "at {x}");
        }
        assert_eq!(value_at(&[], 1.0), None);
        assert_eq!(value_at(&[(1.0, 7.0)], 0.0), Some(7.0));
    }

    #[test]
    fn runs_of_different_lengths_are_averaged() {
        let runs = [
            vec![(0.0, 0.0), (2.0, 1.0)],
            vec![(1.0, 0.0), (5.0, 0.0)],
            vec![],
        ];
        let at = |x: f64| averages(&runs, &[x])[0];
        let early = at(1.0);
        assert_eq!((early.mean, early.low, early.high), (0.25, 0.0, 0.5));
        let later = at(5.0);
        assert_eq!((later.mean, later.low, later.high), (0.5, 0.0, 1.0));
    }

    #[test]
    fn one_run_has_a_band_without_width() {
        let found = averages(&[vec![(0.0, 3.0)]], &[1.0]);
        assert_eq!(
            (found[0].low, found[0].mean, found[0].high),
            (3.0, 3.0, 3.0)
        );
        assert!(averages(&[vec![]], &[1.0]).is_empty());
    }
}
