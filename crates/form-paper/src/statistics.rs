//! Summaries of repeated runs: quantiles, the interquartile mean, and bootstrap intervals.
//!
//! A value that the data do not determine (the median of nothing) is `None`.

use form_env::{Stream, generator};
use form_lab::{Interval, mean};
use rand::RngExt;

/// The confidence of all intervals.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// The middle value, or the mean of the middle two.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// The value below which the share `q` of the values lies, interpolated linearly between them (type 7 of Hyndman and Fan,
/// what NumPy and R do). `None` also where `q` is not between 0 and 1, or a value is not a number.
pub(crate) fn quantile(values: &[f64], q: f64) -> Option<f64> {
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
pub(crate) fn interquartile_mean(values: &[f64]) -> Option<f64> {
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
pub(crate) fn bootstrap_interval(
    strata: &[Vec<f64>],
    statistic: impl Fn(&[f64]) -> Option<f64>,
    confidence: f64,
) -> Option<Interval> {
    if !(0.0..1.0).contains(&confidence) {
        return None;
    }
    let tail = 1.0 - (0.5 + confidence / 2.0);
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

/// `0.5 [0.3–4.5]`: the median, the least and the most, with this number of digits.
pub(crate) fn median_and_range(values: &[f64], digits: usize) -> String {
    let least = values.iter().copied().reduce(f64::min);
    let most = values.iter().copied().reduce(f64::max);
    match (median(values), least, most) {
        (Some(middle), Some(least), Some(most)) => {
            format!("{middle:.digits$} [{least:.digits$}–{most:.digits$}]")
        }
        _ => "–".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-8, "{found}, not {expected}");
    }

    #[test]
    fn medians() {
        assert_eq!(median(&[6.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[6.0, 1.0, 2.0, 4.0]), Some(3.0));
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[1.0, f64::NAN]), None);
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

    proptest! {
        #[test]
        fn quantiles_grow(values in prop::collection::vec(-1e6..1e6, 1..20), a in 0.0..=1.0, b in 0.0..=1.0) {
            let (a, b) = if a <= b { (a, b) } else { (b, a) };
            prop_assert!(quantile(&values, a) <= quantile(&values, b));
        }
    }
}
