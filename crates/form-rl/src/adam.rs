//! The optimiser Adam (Kingma and Ba, 2015; arXiv:1412.6980), and gradient clipping by norm.

use serde::{Deserialize, Serialize};

use crate::net::vectorised;
use crate::{Error, Result};

/// Adam and its moment estimates. β₁, β₂ and ε, which the paper's tables leave open, are those of the article and of PyTorch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Adam {
    /// The learning rate.
    pub learning_rate: f32,
    /// β₁, the decay rate of the first moment.
    pub beta_1: f32,
    /// β₂, the decay rate of the second moment.
    pub beta_2: f32,
    /// ε, added to the root of the second moment.
    pub epsilon: f32,
    steps: i32,
    means: Vec<f32>,
    squares: Vec<f32>,
}

impl Adam {
    /// An optimiser of this number of weights.
    pub fn new(weights: usize, learning_rate: f32) -> Self {
        Self {
            learning_rate,
            beta_1: 0.9,
            beta_2: 0.999,
            epsilon: 1e-8,
            steps: 0,
            means: vec![0.0; weights],
            squares: vec![0.0; weights],
        }
    }

    /// Restores an optimiser from its number of steps and its first and second moments.
    pub(crate) fn restore(
        steps: i32,
        means: Vec<f32>,
        squares: Vec<f32>,
        learning_rate: f32,
    ) -> Self {
        Self {
            steps,
            means,
            squares,
            ..Self::new(0, learning_rate)
        }
    }

    /// The number of steps so far.
    pub(crate) fn steps(&self) -> i32 {
        self.steps
    }

    /// The first and second moments of the gradient.
    pub(crate) fn moments(&self) -> (&[f32], &[f32]) {
        (&self.means, &self.squares)
    }

    /// One step of gradient descent, with bias-corrected moments.
    pub fn step(&mut self, weights: &mut [f32], gradient: &[f32]) -> Result<()> {
        for (what, found) in [("weights", weights.len()), ("gradients", gradient.len())] {
            if found != self.means.len() {
                return Err(Error::Size {
                    what,
                    found,
                    expected: self.means.len(),
                });
            }
        }
        self.steps = self.steps.saturating_add(1);
        let (beta_1, beta_2) = (self.beta_1, self.beta_2);
        let correction = |beta: f32| 1.0 - f64::from(beta).powi(self.steps);
        let rate = (f64::from(self.learning_rate) / correction(beta_1)) as f32;
        let scale = (1.0 / correction(beta_2).sqrt()) as f32;
        let epsilon = self.epsilon;
        vectorised(
            #[inline(always)]
            || {
                let moments = self.means.iter_mut().zip(&mut self.squares);
                let pairs = weights.iter_mut().zip(gradient);
                for ((weight, &slope), (mean, square)) in pairs.zip(moments) {
                    *mean = beta_1 * *mean + (1.0 - beta_1) * slope;
                    *square = beta_2 * *square + (1.0 - beta_2) * slope * slope;
                    *weight -= rate * *mean / (square.sqrt() * scale + epsilon);
                }
            },
        );
        Ok(())
    }
}

/// Scales a gradient down to a maximum L2 norm. Returns the gradient norm before that.
pub fn clip_gradient_norm(gradient: &mut [f32], max_norm: f32) -> f32 {
    let norm = sum_of_squares(gradient).sqrt() as f32;
    if norm > max_norm {
        let scale = max_norm / norm;
        for x in gradient {
            *x *= scale;
        }
    }
    norm
}

/// Eight sums side by side: one would wait for its own last addition.
fn sum_of_squares(numbers: &[f32]) -> f64 {
    let (eights, rest) = numbers.as_chunks::<8>();
    let mut sums = [0.0; 8];
    vectorised(
        #[inline(always)]
        || {
            for eight in eights {
                for (sum, x) in sums.iter_mut().zip(eight) {
                    *sum += f64::from(*x) * f64::from(*x);
                }
            }
        },
    );
    let rest: f64 = rest.iter().map(|x| f64::from(*x).powi(2)).sum();
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_goes_as_far_as_the_learning_rate() {
        let mut weights = [1.0, 1.0, 1.0];
        let mut adam = Adam::new(3, 0.1);
        adam.step(&mut weights, &[3.0, -0.02, 0.0]).unwrap();
        for (weight, expected) in weights.iter().zip([0.9, 1.1, 1.0]) {
            assert!((weight - expected).abs() < 1e-6, "{weights:?}");
        }
    }

    /// Two steps with gradients 1 and 3, by the article's formulae: the means are 0.1 and 0.39, corrected by 0.19, the squares
    /// 0.001 and 0.009999, corrected by 0.001999.
    #[test]
    fn the_second_step_agrees_with_a_hand_calculation() {
        let mut weights = [0.0];
        let mut adam = Adam::new(1, 0.01);
        adam.step(&mut weights, &[1.0]).unwrap();
        adam.step(&mut weights, &[3.0]).unwrap();
        let second: f64 = 0.01 * (0.39 / 0.19) / (0.009_999_f64 / 0.001_999).sqrt();
        assert!((f64::from(weights[0]) + 0.01 + second).abs() < 1e-7);
    }

    #[test]
    fn another_number_of_weights_is_refused() {
        let mut adam = Adam::new(2, 0.1);
        let error = adam.step(&mut [0.0; 3], &[0.0; 3]).unwrap_err();
        assert_eq!(error.to_string(), "weights: 3 given, 2 needed");
        let error = adam.step(&mut [0.0; 2], &[0.0; 3]).unwrap_err();
        assert_eq!(error.to_string(), "gradients: 3 given, 2 needed");
    }

    #[test]
    fn only_long_gradients_are_clipped() {
        let mut gradient = [3.0, 4.0];
        assert_eq!(clip_gradient_norm(&mut gradient, 10.0), 5.0);
        assert_eq!(gradient, [3.0, 4.0]);
        assert_eq!(clip_gradient_norm(&mut gradient, 1.0), 5.0);
        assert!((gradient[0] - 0.6).abs() < 1e-6 && (gradient[1] - 0.8).abs() < 1e-6);
        assert!(clip_gradient_norm(&mut [f32::NAN], 1.0).is_nan());
    }
}
