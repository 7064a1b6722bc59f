//! What is said of repeated measurements: averages, spread, and how sure one can be.
//!
//! A value that the data do not determine (the mean of nothing, the deviation of one number) is `None`.

use form_env::{Stream, generator};
use rand::RngExt;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// The confidence of intervals where nothing else is said.
pub const CONFIDENCE: f64 = 0.95;

/// Where a quantity lies, with some confidence.
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

/// The sample standard deviation, with n − 1 below the line.
pub fn deviation(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let centre = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

/// The middle value, or the mean of the middle two.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// The value below which the share `q` of the values lies, interpolated linearly between them (type 7 of Hyndman and Fan,
/// what NumPy and R do). `None` also where `q` is not between 0 and 1, or a value is not a number.
pub fn quantile(values: &[f64], q: f64) -> Option<f64> {
    if values.is_empty() || !(0.0..=1.0).contains(&q) || values.iter().any(|value| value.is_nan()) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = q * (sorted.len() - 1) as f64;
    let (below, above) = (
        sorted[place.floor() as usize],
        sorted[place.ceil() as usize],
    );
    // Equal neighbours may be infinite: their difference would not be a number.
    Some(if below == above {
        below
    } else {
        below + (above - below) * place.fract()
    })
}

/// The interquartile mean: of the middle half of the values. As robust as the median against a run that went wrong, and less at the
/// mercy of single values (Agarwal et al., "Deep reinforcement learning at the edge of the statistical precipice", 2021). As their
/// library rliable does, whole values are cut off: a quarter of them at either end, rounded down.
pub fn interquartile_mean(values: &[f64]) -> Option<f64> {
    if values.iter().any(|value| value.is_nan()) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let cut = sorted.len() / 4;
    mean(&sorted[cut..sorted.len() - cut])
}

/// How often the bootstrap draws.
const RESAMPLES: usize = 20_000;

/// Where a statistic of runs lies: the percentile interval of a stratified bootstrap, as rliable makes it. Runs are drawn again with
/// replacement, within every stratum (a task) as many as it has; `statistic` is of all of them together. The same values give the
/// same interval. None where the statistic is not defined, or there is nothing to draw from.
pub fn bootstrap_interval(
    strata: &[Vec<f64>],
    statistic: impl Fn(&[f64]) -> Option<f64>,
    confidence: f64,
) -> Option<Interval> {
    let tail = 1.0 - upper_tail(confidence)?;
    let mut random = generator(0, Stream::Other(0));
    let mut found = Vec::with_capacity(RESAMPLES);
    let mut drawn = Vec::new();
    for _ in 0..RESAMPLES {
        drawn.clear();
        for stratum in strata.iter().filter(|stratum| !stratum.is_empty()) {
            let one = |_| stratum[random.random_range(0..stratum.len())];
            drawn.extend((0..stratum.len()).map(one));
        }
        found.push(statistic(&drawn)?);
    }
    Some(Interval {
        low: quantile(&found, tail)?,
        high: quantile(&found, 1.0 - tail)?,
    })
}

/// Where the mean of the population lies, if it is about normally distributed: Student's t.
pub fn mean_interval(values: &[f64], confidence: f64) -> Option<Interval> {
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

/// Where a probability lies that led to so many successes in so many trials: the score interval of Wilson (1927), which
/// stays within 0 and 1 and is honest when all or none succeed.
pub fn proportion_interval(successes: u64, trials: u64, confidence: f64) -> Option<Interval> {
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
        assert_eq!(median(&[6.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[6.0, 1.0, 2.0, 4.0]), Some(3.0));
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[1.0, f64::NAN]), None);
    }

    #[test]
    fn deviations() {
        assert_eq!(deviation(&[1.0]), None);
        assert_eq!(deviation(&[5.0, 5.0]), Some(0.0));
        // The squares of -3, -1, 4 are 26 together.
        close(deviation(&[0.0, 2.0, 7.0]).unwrap(), 13f64.sqrt());
    }

    #[test]
    fn quantiles() {
        let values = [40.0, 10.0, 20.0, 30.0];
        let at = |q| quantile(&values, q);
        assert_eq!(at(0.0), Some(10.0));
        assert_eq!(at(1.0), Some(40.0));
        assert_eq!(at(0.25), Some(17.5));
        assert_eq!(at(1.5), None);
        assert_eq!(quantile(&[f64::INFINITY; 2], 0.5), Some(f64::INFINITY));
    }

    /// `scipy.stats.trim_mean(values, 0.25)` of SciPy 1.17.1, which is what rliable 1.2.0 calls the interquartile mean.
    #[test]
    fn interquartile_means() {
        for (values, expected) in [
            (&[7.0][..], 7.0),
            (&[1.0, 2.0], 1.5),
            (&[3.0, 1.0, 2.0], 2.0),
            (&[4.0, 1.0, 3.0, 2.0], 2.5),
            (&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 100.0], 4.5),
            (&RATES, 0.963_333_333_333_333_4),
        ] {
            close(interquartile_mean(values).unwrap(), expected);
        }
        assert_eq!(interquartile_mean(&[]), None);
        assert_eq!(interquartile_mean(&[f64::NAN, 1.0]), None);
    }

    const RATES: [f64; 5] = [0.995, 0.91, 1.0, 0.985, 0.64];
    const OTHERS: [f64; 5] = [0.25, 0.31, 0.28, 0.4, 0.12];

    /// What rliable 1.2.0 says of the same numbers, a column a task, with 200,000 resamples:
    ///
    /// ```python
    /// from rliable import library, metrics
    /// iqm = lambda scores: numpy.array([metrics.aggregate_iqm(scores)])
    /// library.get_interval_estimates({"m": scores}, iqm, reps=200000)
    /// ```
    ///
    /// gives 0.7300 to 0.9983 for one task (all 3,125 resamples gone through: the same) and 0.4750 to 0.6742 for two.
    #[test]
    fn bootstrap_intervals() {
        let near = |found: f64, expected: f64| {
            assert!((found - expected).abs() < 0.005, "{found}, not {expected}");
        };
        let one = bootstrap_interval(&[RATES.to_vec()], interquartile_mean, 0.95).unwrap();
        near(one.low, 0.7300);
        near(one.high, 0.9983);
        let strata = [RATES.to_vec(), OTHERS.to_vec()];
        let two = bootstrap_interval(&strata, interquartile_mean, 0.95).unwrap();
        near(two.low, 0.4750);
        near(two.high, 0.6742);
        let again = bootstrap_interval(&strata, interquartile_mean, 0.95).unwrap();
        assert_eq!(two, again);
        // One run says nothing of others, and nothing is said of none.
        let alone = bootstrap_interval(&[vec![0.5]], interquartile_mean, 0.95).unwrap();
        assert_eq!((alone.low, alone.high), (0.5, 0.5));
        assert_eq!(bootstrap_interval(&[], interquartile_mean, 0.95), None);
        assert_eq!(
            bootstrap_interval(&[vec![]], interquartile_mean, 0.95),
            None
        );
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

        #[test]
        fn quantiles_grow(values in prop::collection::vec(-1e6..1e6, 1..20), a in 0.0..=1.0, b in 0.0..=1.0) {
            let (a, b) = if a <= b { (a, b) } else { (b, a) };
            prop_assert!(quantile(&values, a) <= quantile(&values, b));
        }
    }
}
