//! Generalised advantage estimation, GAE (Schulman, Moritz, Levine, Jordan, Abbeel, ICLR 2016,
//! arXiv:1506.02438).
//!
//! A truncated trajectory is not a terminated one: it is bootstrapped with the critic's value of the observation after it.

use crate::{Error, Result};

/// How a trajectory ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TrajectoryEnd {
    /// In a terminal state: the value after it is 0.
    Terminated,
    /// Cut off, by a step limit or because the batch was full.
    Truncated {
        /// The critic's value of the observation after the last step, to bootstrap with.
        value: f32,
    },
}

/// Consecutive steps of one agent.
#[derive(Clone, Copy, Debug)]
pub struct Trajectory<'a> {
    /// The reward of every step.
    pub rewards: &'a [f32],
    /// The critic's value of the observation before every step.
    pub values: &'a [f32],
    /// How it ended.
    pub end: TrajectoryEnd,
}

/// GAE: writes the advantage of every step, and its return, advantage plus value, which is the critic's target.
///
/// The advantage of step t is Âₜ = Σₖ (γλ)ᵏ δₜ₊ₖ, with the TD error δₜ = rₜ + γ V(sₜ₊₁) − V(sₜ). It is computed backwards, by
/// Âₜ = δₜ + γλ Âₜ₊₁.
pub fn gae(
    trajectory: &Trajectory<'_>,
    gamma: f32,
    lambda: f32,
    advantages: &mut [f32],
    returns: &mut [f32],
) -> Result<()> {
    let expected = trajectory.rewards.len();
    let sizes = [
        ("values", trajectory.values.len()),
        ("advantages", advantages.len()),
        ("returns", returns.len()),
    ];
    for (what, found) in sizes {
        if found != expected {
            return Err(Error::Size {
                what,
                found,
                expected,
            });
        }
    }
    let mut next_value = match trajectory.end {
        TrajectoryEnd::Terminated => 0.0,
        TrajectoryEnd::Truncated { value } => value,
    };
    let mut next_advantage = 0.0;
    for step in (0..expected).rev() {
        let value = trajectory.values[step];
        let td_error = trajectory.rewards[step] + gamma * next_value - value;
        next_advantage = td_error + gamma * lambda * next_advantage;
        next_value = value;
        advantages[step] = next_advantage;
        returns[step] = next_advantage + value;
    }
    Ok(())
}

/// Normalises to mean 0 and standard deviation 1; all 0 if all are equal.
pub fn normalise(advantages: &mut [f32]) {
    let count = advantages.len().max(1) as f64;
    let mean = advantages.iter().map(|x| f64::from(*x)).sum::<f64>() / count;
    let square = |x: &f32| (f64::from(*x) - mean).powi(2);
    let deviation = (advantages.iter().map(square).sum::<f64>() / count).sqrt();
    let scale = 1.0 / deviation.max(1e-4);
    for x in advantages {
        *x = ((f64::from(*x) - mean) * scale) as f32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(end: TrajectoryEnd, lambda: f32, expected: [f32; 3]) {
        let trajectory = Trajectory {
            rewards: &[1.0, 0.0, 2.0],
            values: &[0.5, 1.0, -1.0],
            end,
        };
        let (mut found, mut returns) = ([0.0; 3], [0.0; 3]);
        gae(&trajectory, 0.5, lambda, &mut found, &mut returns).unwrap();
        for step in 0..3 {
            assert!((found[step] - expected[step]).abs() < 1e-6, "{found:?}");
            let value = trajectory.values[step];
            assert!((returns[step] - expected[step] - value).abs() < 1e-6);
        }
    }

    const TRUNCATED: TrajectoryEnd = TrajectoryEnd::Truncated { value: 4.0 };

    /// With λ = 0 the advantage is the TD error.
    #[test]
    fn one_step() {
        check(TrajectoryEnd::Terminated, 0.0, [1.0, -1.5, 3.0]);
        check(TRUNCATED, 0.0, [1.0, -1.5, 5.0]);
    }

    /// With λ = 1 it is the discounted return less the value.
    #[test]
    fn the_whole_return() {
        check(
            TrajectoryEnd::Terminated,
            1.0,
            [1.5 - 0.5, 1.0 - 1.0, 2.0 + 1.0],
        );
        check(TRUNCATED, 1.0, [2.0 - 0.5, 2.0 - 1.0, 4.0 + 1.0]);
    }

    /// In between, γλ = 1/4 weighs the TD errors 1, -1.5 and 3.
    #[test]
    fn in_between() {
        let last = 3.0;
        let middle = -1.5 + last / 4.0;
        check(
            TrajectoryEnd::Terminated,
            0.5,
            [1.0 + middle / 4.0, middle, last],
        );
    }

    #[test]
    fn a_value_too_many_is_refused() {
        let trajectory = Trajectory {
            rewards: &[1.0],
            values: &[1.0, 2.0],
            end: TrajectoryEnd::Terminated,
        };
        let error = gae(&trajectory, 0.9, 0.9, &mut [0.0], &mut [0.0]).unwrap_err();
        assert_eq!(error.to_string(), "values: 2 given, 1 needed");
    }

    #[test]
    fn normalised_advantages_have_mean_0_and_deviation_1() {
        let mut found = [1.0, 3.0];
        normalise(&mut found);
        assert_eq!(found, [-1.0, 1.0]);
        let mut same = [7.0, 7.0];
        normalise(&mut same);
        assert_eq!(same, [0.0, 0.0]);
        normalise(&mut []);
    }
}
