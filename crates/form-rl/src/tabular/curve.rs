//! Learning curves as Toro Icarte et al. draw them: the reward per step of an episode, relative to the optimum of its task, averaged
//! over the last episodes.

use std::collections::VecDeque;

use super::q_learning::QEpisode;

/// The learning curve at every multiple of `tick` steps that episodes reached: the mean over the last `window` episodes of reward per
/// step, relative to the optimum of the episode's task.
pub fn learning_curve(
    episodes: &[QEpisode],
    optimum: &[f64],
    window: usize,
    tick: u64,
) -> Vec<f64> {
    let mut curve = Vec::new();
    let (mut last, mut sum) = (VecDeque::new(), 0.0);
    let mut steps = 0;
    for episode in episodes {
        let relative = episode.reward / f64::from(episode.steps) / optimum[episode.task as usize];
        steps += u64::from(episode.steps);
        // Episodes that end after a multiple do not count for it.
        while (curve.len() as u64 + 1) * tick < steps {
            curve.push(sum / last.len().max(1) as f64);
        }
        last.push_back(relative);
        sum += relative;
        if last.len() > window {
            sum -= last.pop_front().unwrap_or(0.0);
        }
    }
    curve
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_episodes_count_relative_to_their_task() {
        let episode = |task, steps, reward| QEpisode {
            task,
            steps,
            reward,
            accepted: reward > 0.0,
        };
        let episodes = [
            episode(0, 10, 0.0),
            episode(1, 10, 1.0),
            episode(0, 4, 1.0),
            episode(1, 10, 1.0),
        ];
        // Relative to the optimum: 0, 0.5, 1, 0.5; the episodes end after 10, 20, 24 and 34 steps.
        let curve = learning_curve(&episodes, &[0.25, 0.2], 2, 11);
        assert_eq!(curve, [0.0, 0.25, 0.75]);
    }
}
