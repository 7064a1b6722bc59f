//! When values have settled.

use super::grid::Grid;
use crate::net::vectorised;

/// Decides when values have settled. From poses without a way to a cell to reach they never do, but fall on and on; so the rule counts the
/// poses whose values still change: a way that gets longer by one step settles at least one pose per iteration.
pub(super) struct SettledRule {
    changing: usize,
    unchanged_for: usize,
    left: usize,
}

/// Iterations without a newly settled pose before the rule stops.
const PATIENCE: usize = 4;

/// A change that is none, in steps.
const NO_CHANGE: f32 = 1e-3;

impl SettledRule {
    pub(super) fn new(grid: &Grid) -> Self {
        Self {
            changing: usize::MAX,
            unchanged_for: 0,
            // No shortest way is longer than the number of poses.
            left: grid.poses() + PATIENCE,
        }
    }

    pub(super) fn has_settled(&self) -> bool {
        self.unchanged_for >= PATIENCE || self.left == 0
    }

    pub(super) fn update(&mut self, before: &[f32], after: &[f32]) {
        let (mut greatest, mut changing) = (0.0_f32, 0);
        vectorised(
            #[inline(always)]
            || {
                for (before, after) in before.iter().zip(after) {
                    greatest = greatest.max((before - after).abs());
                }
                let limit = 0.1 * greatest;
                for (before, after) in before.iter().zip(after) {
                    changing += usize::from((before - after).abs() > limit);
                }
            },
        );
        self.left = self.left.saturating_sub(1);
        self.unchanged_for = match changing < self.changing {
            true => 0,
            false => self.unchanged_for + 1,
        };
        if greatest < NO_CHANGE {
            self.left = 0;
        }
        self.changing = changing;
    }
}
