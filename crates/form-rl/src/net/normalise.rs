//! Running normalisation of observations: (x − mean) / standard deviation, clipped to ± 10.
//!
//! The statistics are those of all observations given to `Network::observe_statistics`: one mean and deviation per channel of the
//! image, over all its cells, and one per entry of a vector. They are part of the network: cloned, saved and inherited with it.
//! Bytes are summed exactly and vectors in order, so the result does not depend on the number of threads.

use super::config::NetworkConfig;
use super::vector::vectorised;

/// Added to the variance, against division by zero.
const EPSILON: f64 = 1e-8;

/// Normalised entries are clipped to ± this bound.
const BOUND: f32 = 10.0;

/// Samples whose squared bytes 32 bits can sum up.
const RUN: usize = 65_536;

/// Count, mean and sum of squared deviations of one number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Moments {
    pub(crate) count: f64,
    pub(crate) mean: f64,
    pub(crate) squares: f64,
}

impl Moments {
    /// Both together, by Chan, Golub and LeVeque's formula (1983).
    fn merge(&mut self, other: Self) {
        let count = self.count + other.count;
        if other.count == 0.0 {
            return;
        }
        let apart = other.mean - self.mean;
        self.squares += other.squares + apart * apart * self.count * other.count / count;
        self.mean += apart * other.count / count;
        self.count = count;
    }

    /// From counts, means and squares; `None` if they are impossible.
    pub(crate) fn from_numbers([counts, means, squares]: &[Vec<f64>; 3]) -> Option<Vec<Self>> {
        let moments = counts.iter().zip(means).zip(squares);
        let moments = moments.map(|((&count, &mean), &squares)| Self {
            count,
            mean,
            squares,
        });
        let possible = |x: Self| {
            let positive = x.count >= 0.0 && x.squares >= 0.0;
            positive && x.count.is_finite() && x.mean.is_finite() && x.squares.is_finite()
        };
        moments.map(|x| possible(x).then_some(x)).collect()
    }

    /// The mean to subtract and the factor to multiply with; the identity without observations.
    fn transformation(self) -> (f32, f32) {
        if self.count == 0.0 {
            return (0.0, 1.0);
        }
        let variance = self.squares / self.count;
        (self.mean as f32, (1.0 / (variance + EPSILON).sqrt()) as f32)
    }
}

/// The statistics of one input, and its normalisation.
#[derive(Clone, Debug)]
pub(crate) struct Normalisation {
    /// The input's name.
    pub(crate) name: String,
    moments: Vec<Moments>,
    /// One per entry of the input; those of a channel are repeated.
    means: Vec<f32>,
    scales: Vec<f32>,
}

impl Normalisation {
    fn new(name: &str, entries: usize, size: usize) -> Self {
        let mut new = Self {
            name: name.to_owned(),
            moments: Vec::new(),
            means: vec![0.0; size],
            scales: vec![0.0; size],
        };
        new.set(vec![Moments::default(); entries]);
        new
    }

    /// One per input in order; `None` for inputs that are not normalised.
    pub(crate) fn of(config: &NetworkConfig) -> Vec<Option<Self>> {
        let image = config.image.as_ref().map(|image| {
            let [.., channels] = image.shape;
            let size = image.shape.iter().product();
            (image.normalise).then(|| Self::new("image", channels, size))
        });
        let vectors = config.vectors.iter().map(|vector| {
            (vector.normalise).then(|| Self::new(&vector.name, vector.size, vector.size))
        });
        image.into_iter().chain(vectors).collect()
    }

    /// What its tensors are called in files: counts, means and sums of squared deviations, one number per entry each.
    pub(crate) fn names(&self) -> [String; 3] {
        ["count", "mean", "squares"].map(|part| format!("normalisation.{}.{part}", self.name))
    }

    pub(crate) fn moments(&self) -> &[Moments] {
        &self.moments
    }

    pub(crate) fn set(&mut self, moments: Vec<Moments>) {
        self.moments = moments;
        for (place, (mean, scale)) in self.means.iter_mut().zip(&mut self.scales).enumerate() {
            let moments = self.moments[place % self.moments.len()];
            (*mean, *scale) = moments.transformation();
        }
    }

    /// The contents of its tensors.
    pub(crate) fn numbers(&self) -> [Vec<f64>; 3] {
        let parts: [fn(&Moments) -> f64; 3] = [|x| x.count, |x| x.mean, |x| x.squares];
        parts.map(|part| self.moments.iter().map(part).collect())
    }

    /// Adds images of this size to the statistics.
    pub(crate) fn observe_images(&mut self, images: &[u8], size: usize) {
        self.merge(&of_bytes(images, size, self.moments.len()));
    }

    /// Adds vectors to the statistics.
    pub(crate) fn observe_vectors<'a>(&mut self, rows: impl Iterator<Item = &'a [f32]> + Clone) {
        self.merge(&of_numbers(rows, self.moments.len()));
    }

    fn merge(&mut self, others: &[Moments]) {
        let mut moments = std::mem::take(&mut self.moments);
        for (moments, other) in moments.iter_mut().zip(others) {
            moments.merge(*other);
        }
        self.set(moments);
    }

    /// Writes a normalised sample.
    #[inline(always)]
    pub(crate) fn apply(&self, input: impl Iterator<Item = f32>, output: &mut [f32]) {
        let known = self.means.iter().zip(&self.scales);
        for ((y, x), (mean, scale)) in output.iter_mut().zip(input).zip(known) {
            let x = (x - mean) * scale;
            // Not `clamp`: NaN must stay NaN.
            let x = if x > BOUND { BOUND } else { x };
            *y = if x < -BOUND { -BOUND } else { x };
        }
    }
}

/// The moments of every channel. Whole numbers: the sums are exact.
fn of_bytes(images: &[u8], size: usize, channels: usize) -> Vec<Moments> {
    let mut totals = vec![(0_u64, 0_u64); channels];
    let (mut sums, mut squares) = (vec![0_u32; size], vec![0_u32; size]);
    for run in images.chunks(RUN * size) {
        sums.fill(0);
        squares.fill(0);
        vectorised(
            #[inline(always)]
            || {
                for image in run.chunks_exact(size) {
                    let to = sums.iter_mut().zip(&mut squares);
                    for ((sum, square), byte) in to.zip(image) {
                        *sum += u32::from(*byte);
                        *square += u32::from(*byte) * u32::from(*byte);
                    }
                }
            },
        );
        for (place, (sum, square)) in sums.iter().zip(&squares).enumerate() {
            let total = &mut totals[place % channels];
            total.0 += u64::from(*sum);
            total.1 += u64::from(*square);
        }
    }
    let count = (images.len() / channels) as u64;
    let moments = |(sum, square): (u64, u64)| {
        // Exact up to the division.
        let wide = u128::from(count) * u128::from(square) - u128::from(sum) * u128::from(sum);
        let divisor = count.max(1) as f64;
        Moments {
            count: count as f64,
            mean: sum as f64 / divisor,
            squares: wide as f64 / divisor,
        }
    };
    totals.into_iter().map(moments).collect()
}

/// The moments of every number: first the means, then the deviations from them.
fn of_numbers<'a>(rows: impl Iterator<Item = &'a [f32]> + Clone, size: usize) -> Vec<Moments> {
    let mut moments = vec![Moments::default(); size];
    for row in rows.clone() {
        for (moments, x) in moments.iter_mut().zip(row) {
            moments.count += 1.0;
            moments.mean += f64::from(*x);
        }
    }
    for moments in &mut moments {
        moments.mean /= moments.count.max(1.0);
    }
    for row in rows {
        for (moments, x) in moments.iter_mut().zip(row) {
            moments.squares += (f64::from(*x) - moments.mean).powi(2);
        }
    }
    moments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_merge_as_if_seen_together() {
        let rows = [[1.0, 5.0], [2.0, 5.0], [6.0, 5.0], [-1.0, 5.0]];
        let of = |rows: &[[f32; 2]]| of_numbers(rows.iter().map(<[f32; 2]>::as_slice), 2);
        let whole = of(&rows);
        let mut parts = of(&rows[..1]);
        for (moments, other) in parts.iter_mut().zip(of(&rows[1..])) {
            moments.merge(other);
        }
        assert_eq!(whole[0].mean, 2.0);
        assert_eq!(whole[0].squares, 26.0);
        for (part, whole) in parts.iter().zip(&whole) {
            assert_eq!((part.count, part.mean), (whole.count, whole.mean));
            assert!((part.squares - whole.squares).abs() < 1e-12);
        }
        let before = parts[0];
        parts[0].merge(Moments::default());
        assert_eq!(parts[0], before);
    }

    #[test]
    fn a_channel_is_counted_over_all_cells() {
        // Two images of two cells with two channels.
        let moments = of_bytes(&[1, 255, 3, 255, 5, 255, 7, 255], 4, 2);
        let expected = |mean, squares| Moments {
            count: 4.0,
            mean,
            squares,
        };
        assert_eq!(moments, [expected(4.0, 20.0), expected(255.0, 0.0)]);
    }

    #[test]
    fn outliers_are_bounded_and_the_unknown_stays() {
        let mut normalisation = Normalisation::new("v", 2, 2);
        let mut output = [0.0; 2];
        normalisation.apply([3.0, -70.0].into_iter(), &mut output);
        assert_eq!(output, [3.0, -10.0]);
        let seen = Moments {
            count: 2.0,
            mean: 1.0,
            squares: 8.0,
        };
        normalisation.merge(&[seen, seen]);
        normalisation.apply([5.0, f32::NAN].into_iter(), &mut output);
        assert!((output[0] - 2.0).abs() < 1e-6 && output[1].is_nan());
    }
}
