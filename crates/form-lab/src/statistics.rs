//! Means and confidence intervals.
//!
//! A value that the data do not determine (the mean of nothing, the deviation of one number) is `None`.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// The confidence of all intervals.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// A confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The arithmetic mean.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The sample standard deviation, with denominator n − 1.
fn deviation(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let centre = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

/// The Student interval of the mean of a normal population.
pub(crate) fn mean_interval(values: &[f64], confidence: f64) -> Option<Interval> {
    let (centre, spread) = (mean(values)?, deviation(values)?);
    let tail = upper_tail(confidence)?;
    let freedom = (values.len() - 1) as f64;
    let quantile = StudentsT::new(0.0, 1.0, freedom).ok()?.inverse_cdf(tail);
    let half = quantile * spread / (values.len() as f64).sqrt();
    Some(Interval {
        low: centre - half,
        high: centre + half,
    })
}

/// The score interval of Wilson (1927) for a probability: it stays within 0 and 1, and has a width when all or no trials succeed.
pub(crate) fn proportion_interval(
    successes: u64,
    trials: u64,
    confidence: f64,
) -> Option<Interval> {
    if trials == 0 || successes > trials {
        return None;
    }
    let z = Normal::standard().inverse_cdf(upper_tail(confidence)?);
    let n = trials as f64;
    let share = successes as f64 / n;
    let scale = 1.0 + z * z / n;
    let centre = (share + z * z / (2.0 * n)) / scale;
    let half = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt() / scale;
    Some(Interval {
        // At the ends the formula gives 0 and 1, up to rounding.
        low: if successes == 0 { 0.0 } else { centre - half },
        high: if successes == trials {
            1.0
        } else {
            centre + half
        },
    })
}

/// The share of a symmetric distribution below the upper end of its central interval.
fn upper_tail(confidence: f64) -> Option<f64> {
    (confidence > 0.0 && confidence < 1.0).then_some(0.5 + confidence / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::f64::consts::PI;

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-8, "{found}, not {expected}");
    }

    #[test]
    fn averages() {
        assert_eq!(mean(&[]), None);
        assert_eq!(mean(&[1.0, 2.0, 6.0]), Some(3.0));
    }

    #[test]
    fn deviations() {
        assert_eq!(deviation(&[1.0]), None);
        assert_eq!(deviation(&[5.0, 5.0]), Some(0.0));
        // The squares of -3, -1, 4 are 26 together.
        close(deviation(&[0.0, 2.0, 7.0]).unwrap(), 13f64.sqrt());
    }

    /// With one and two degrees of freedom the quantiles of Student's t are elementary.
    #[test]
    fn intervals_of_means() {
        let two = mean_interval(&[0.0, 2.0], 0.95).unwrap();
        let t = (PI * 0.475).tan();
        close(two.low, 1.0 - t);
        close(two.high, 1.0 + t);
        let three = mean_interval(&[-1.0, 0.0, 1.0], 0.9).unwrap();
        // For p = 0.95: (2p - 1) / sqrt(2 p (1 - p)).
        let t = 0.9 / (2.0 * 0.95 * 0.05f64).sqrt();
        close(three.high, t / 3f64.sqrt());
        assert_eq!(mean_interval(&[1.0], 0.95), None);
        assert_eq!(mean_interval(&[1.0, 2.0], 1.0), None);
        let same = mean_interval(&[3.0; 4], 0.95).unwrap();
        assert_eq!((same.low, same.high), (3.0, 3.0));
    }

    #[test]
    fn intervals_of_proportions() {
        let z = 1.959_963_984_540_054;
        let none = proportion_interval(0, 10, 0.95).unwrap();
        assert_eq!(none.low, 0.0);
        close(none.high, z * z / (10.0 + z * z));
        let all = proportion_interval(10, 10, 0.95).unwrap();
        assert_eq!(all.high, 1.0);
        close(all.low, 10.0 / (10.0 + z * z));
        let half = proportion_interval(8, 16, 0.95).unwrap();
        close(half.high - 0.5, z / (2.0 * (16.0 + z * z).sqrt()));
        assert_eq!(proportion_interval(0, 0, 0.95), None);
        assert_eq!(proportion_interval(2, 1, 0.95), None);
    }

    proptest! {
        #[test]
        fn a_proportion_lies_in_its_interval(trials in 1u64..10_000, share in 0.0..=1.0, confidence in 0.01..0.999) {
            let successes = (trials as f64 * share) as u64;
            let Interval { low, high } = proportion_interval(successes, trials, confidence).unwrap();
            let found = successes as f64 / trials as f64;
            prop_assert!(0.0 <= low && low <= found && found <= high && high <= 1.0);
        }
    }
}
