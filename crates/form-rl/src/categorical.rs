//! The categorical distribution over actions that logits define.

use rand::{Rng, RngExt};

/// Writes the log-probabilities `z − ln Σ eᶻ`, without overflow for large logits.
pub fn log_softmax(logits: &[f32], logs: &mut [f32]) {
    let greatest = logits.iter().fold(f32::NEG_INFINITY, |a, b| a.max(*b));
    let sum: f32 = logits.iter().map(|z| (z - greatest).exp()).sum();
    let log_sum = sum.ln();
    for (log, logit) in logs.iter_mut().zip(logits) {
        *log = (logit - greatest) - log_sum;
    }
}

/// Samples an action.
pub fn sample(logits: &[f32], rng: &mut impl Rng) -> usize {
    sample_at(logits, rng.random())
}

/// The action that [`sample`] draws with this random number from 0 to 1.
pub(crate) fn sample_at(logits: &[f32], number: f32) -> usize {
    let greatest = logits.iter().fold(f32::NEG_INFINITY, |a, b| a.max(*b));
    let sum: f32 = logits.iter().map(|z| (z - greatest).exp()).sum();
    let mut left = number * sum;
    for (action, logit) in logits.iter().enumerate() {
        left -= (logit - greatest).exp();
        if left < 0.0 {
            return action;
        }
    }
    // Rounding can leave a remainder.
    greedy(logits)
}

/// The most probable action; the first of several.
pub fn greedy(logits: &[f32]) -> usize {
    let mut best = 0;
    for (action, logit) in logits.iter().enumerate() {
        if *logit > logits[best] {
            best = action;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_pcg::Pcg64Mcg;

    use super::*;

    #[test]
    fn probabilities_add_up_even_for_large_logits() {
        let mut logs = [0.0; 3];
        log_softmax(&[1000.0, 1000.0, -1000.0], &mut logs);
        let half = 0.5_f32.ln();
        assert!((logs[0] - half).abs() < 1e-6 && (logs[1] - half).abs() < 1e-6);
        assert!(logs[2] < -1000.0);
    }

    #[test]
    fn actions_are_drawn_as_often_as_they_are_probable() {
        let logits = [0.0, 3.0_f32.ln(), f32::NEG_INFINITY];
        let mut rng = Pcg64Mcg::seed_from_u64(1);
        let mut counts = [0; 3];
        for _ in 0..4000 {
            counts[sample(&logits, &mut rng)] += 1;
        }
        assert_eq!(counts[2], 0);
        assert!((900..1100).contains(&counts[0]), "{counts:?}");
    }

    #[test]
    fn the_first_of_equals_is_greedy() {
        assert_eq!(greedy(&[1.0, 2.0, 2.0]), 1);
    }
}
