//! Weight initialisation: uniform as PyTorch's defaults, or orthogonal.

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use super::layer::Tensor;

/// The initialisation of weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Initial {
    /// Uniform in ± 1 / √(number of inputs), as PyTorch's defaults; the actor's times `actor_gain`.
    #[default]
    Uniform,
    /// Orthogonal matrices (Saxe et al., 2014) and no biases, as CleanRL and Stable-Baselines3 have them: times √2 in general, times 1
    /// for the critic and for an LSTM, and times 0.01 for the actor.
    Orthogonal,
}

impl Initial {
    /// Whether it is the default, which is not serialised.
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Draws the weights of a tensor. The actor's uniform ones are multiplied by `actor_gain`.
    pub(crate) fn fill(
        self,
        tensor: &Tensor,
        actor_gain: f32,
        rng: &mut dyn Rng,
        weights: &mut [f32],
    ) {
        let head = tensor.name.split('.').next();
        match self {
            Self::Uniform => {
                let gain = if head == Some("actor") {
                    actor_gain
                } else {
                    1.0
                };
                for weight in weights {
                    let unit: f32 = rng.random();
                    *weight = (2.0 * unit - 1.0) * tensor.bound * gain;
                }
            }
            Self::Orthogonal if tensor.shape.len() < 2 => weights.fill(0.0),
            Self::Orthogonal => {
                let gain = match head {
                    Some("actor") => 0.01,
                    Some("critic") => 1.0,
                    _ => tensor.gain,
                };
                orthogonal(tensor.shape[0], gain, rng, weights);
            }
        }
    }
}

/// Fills a matrix with that many rows so that they, or the columns where there are fewer, are orthogonal and of length `gain`: normally
/// distributed vectors made orthogonal one after the other are uniformly distributed. By Gram and Schmidt, twice over, which is as
/// exact as the numbers are (Giraud et al., 2005).
fn orthogonal(rows: usize, gain: f32, rng: &mut dyn Rng, weights: &mut [f32]) {
    let columns = weights.len() / rows;
    let (long, short) = (rows.max(columns), rows.min(columns));
    let mut vectors: Vec<Vec<f64>> = Vec::with_capacity(short);
    for _ in 0..short {
        let mut vector: Vec<f64> = (0..long).map(|_| normal(rng)).collect();
        for other in vectors.iter().chain(&vectors) {
            let along = dot(&vector, other);
            for (x, y) in vector.iter_mut().zip(other) {
                *x -= along * y;
            }
        }
        let length = dot(&vector, &vector).sqrt();
        vector.iter_mut().for_each(|x| *x /= length);
        vectors.push(vector);
    }
    for (place, weight) in weights.iter_mut().enumerate() {
        let (row, column) = (place / columns, place % columns);
        let x = match rows >= columns {
            true => vectors[column][row],
            false => vectors[row][column],
        };
        *weight = gain * x as f32;
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// A normally distributed number, by Box and Muller.
fn normal(rng: &mut dyn Rng) -> f64 {
    let (radius, angle): (f64, f64) = (rng.random(), rng.random());
    // 1 − radius is above 0.
    let radius = (-2.0 * (1.0 - radius).ln()).sqrt();
    radius * (std::f64::consts::TAU * angle).cos()
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_pcg::Pcg64Mcg;

    use super::*;

    /// The products of all rows (or columns) with each other.
    #[test]
    fn matrices_are_orthogonal_whichever_side_is_longer() {
        for (rows, columns) in [(5, 12), (12, 5), (7, 7), (1, 64)] {
            let mut weights = vec![0.0; rows * columns];
            let mut rng = Pcg64Mcg::seed_from_u64(1);
            orthogonal(rows, 1.5, &mut rng, &mut weights);
            let at = |row: usize, column: usize| f64::from(weights[row * columns + column]);
            let short = rows.min(columns);
            for i in 0..short {
                for j in 0..short {
                    let product: f64 = if rows <= columns {
                        (0..columns).map(|k| at(i, k) * at(j, k)).sum()
                    } else {
                        (0..rows).map(|k| at(k, i) * at(k, j)).sum()
                    };
                    let expected = if i == j { 2.25 } else { 0.0 };
                    assert!((product - expected).abs() < 1e-5, "{i} {j}: {product}");
                }
            }
        }
    }

    #[test]
    fn normal_numbers_have_mean_0_and_variance_1() {
        let mut rng = Pcg64Mcg::seed_from_u64(2);
        let drawn: Vec<f64> = (0..20_000).map(|_| normal(&mut rng)).collect();
        let mean = drawn.iter().sum::<f64>() / 20_000.0;
        let variance = drawn.iter().map(|x| x * x).sum::<f64>() / 20_000.0;
        assert!(
            mean.abs() < 0.03 && (variance - 1.0).abs() < 0.04,
            "{mean} {variance}"
        );
    }
}
