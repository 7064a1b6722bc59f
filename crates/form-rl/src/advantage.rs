//! Generalised advantage estimation (Schulman et al., 2016): how much better an action was than expected.
//!
//! A trajectory that was cut off is not one that ended: what would have come after it is worth what the critic says.

use crate::{Error, Result};

/// How a trajectory ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ending {
    /// Nothing comes after it.
    Terminated,
    /// It was cut off, by a limit or because the batch was full.
    Truncated {
        /// What the critic says about the observation after the last step.
        value: f32,
    },
}

/// Consecutive steps of one agent.
#[derive(Clone, Copy, Debug)]
pub struct Trajectory<'a> {
    /// What every step earned.
    pub rewards: &'a [f32],
    /// What the critic said before every step.
    pub values: &'a [f32],
    /// How it ended.
    pub ending: Ending,
}

/// Writes the advantage of every step, and the return that the critic should have foretold: advantage plus value.
///
/// The advantage of step t is Σₖ (γλ)ᵏ δₜ₊ₖ with δₜ = rₜ + γ V(sₜ₊₁) − V(sₜ).
pub fn advantages(
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
    let mut next_value = match trajectory.ending {
        Ending::Terminated => 0.0,
        Ending::Truncated { value } => value,
    };
    let mut next_advantage = 0.0;
    for step in (0..expected).rev() {
        let value = trajectory.values[step];
        let surprise = trajectory.rewards[step] + gamma * next_value - value;
        next_advantage = surprise + gamma * lambda * next_advantage;
        next_value = value;
        advantages[step] = next_advantage;
        returns[step] = next_advantage + value;
    }
    Ok(())
}

/// Shifts and scales to mean 0 and standard deviation 1; all 0 where there is nothing to tell apart.
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

    fn check(ending: Ending, lambda: f32, expected: [f32; 3]) {
        let trajectory = Trajectory {
            rewards: &[1.0, 0.0, 2.0],
            values: &[0.5, 1.0, -1.0],
            ending,
        };
        let (mut found, mut returns) = ([0.0; 3], [0.0; 3]);
        advantages(&trajectory, 0.5, lambda, &mut found, &mut returns).unwrap();
        for step in 0..3 {
            assert!((found[step] - expected[step]).abs() < 1e-6, "{found:?}");
            let value = trajectory.values[step];
            assert!((returns[step] - expected[step] - value).abs() < 1e-6);
        }
    }

    const TRUNCATED: Ending = Ending::Truncated { value: 4.0 };

    /// With λ = 0 the advantage is the surprise of one step.
    #[test]
    fn one_step() {
        check(Ending::Terminated, 0.0, [1.0, -1.5, 3.0]);
        check(TRUNCATED, 0.0, [1.0, -1.5, 5.0]);
    }

    /// With λ = 1 it is the discounted return less the value.
    #[test]
    fn the_whole_return() {
        check(Ending::Terminated, 1.0, [1.5 - 0.5, 1.0 - 1.0, 2.0 + 1.0]);
        check(TRUNCATED, 1.0, [2.0 - 0.5, 2.0 - 1.0, 4.0 + 1.0]);
    }

    /// In between, γλ = 1/4 weighs the surprises 1, -1.5 and 3.
    #[test]
    fn in_between() {
        let last = 3.0;
        let middle = -1.5 + last / 4.0;
        check(Ending::Terminated, 0.5, [1.0 + middle / 4.0, middle, last]);
    }

    #[test]
    fn a_value_too_many_is_refused() {
        let trajectory = Trajectory {
            rewards: &[1.0],
            values: &[1.0, 2.0],
            ending: Ending::Terminated,
        };
        let error = advantages(&trajectory, 0.9, 0.9, &mut [0.0], &mut [0.0]).unwrap_err();
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
