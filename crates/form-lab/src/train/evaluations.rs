//! The evaluations of a run while it trains, and the last one.
//!
//! Success is measured on a fixed set of episodes: the same maps, starts and random numbers for the whole run, actions sampled as in
//! training, every episode played to its end. An evaluation is made as soon as the budget allows it; the budget counts steps and
//! never time, so that a run is the same to the byte on every computer. The final success of a run is measured on other episodes,
//! which no decision was based on.

use anyhow::Result;
use form_env::Split;
use form_rl::{AssignmentMode, Choice, Episode};

use super::Trainer;
use crate::env_factory::EnvFactory;
use crate::evaluate::{
    Evaluation, EvaluationPlan, EvaluationSummary, Failures, Start, evaluate, evaluate_with,
    play_with, random_success, starts,
};
use crate::play_callback::PlayCallback;

/// The sets of evaluation episodes of a run. Each has its own seed, derived from that of the run.
#[derive(Clone, Copy)]
pub(super) enum EpisodeSet {
    /// The same for every evaluation during training.
    Fixed,
    /// Confirms a decision that was made after this iteration.
    Fresh(u64),
    /// Measures the final success.
    Final,
}

/// What is known of the fixed episodes independently of the policies.
#[derive(Debug)]
pub(super) struct FixedEpisodes {
    starts: Vec<Start>,
    /// The success rate of random play.
    random: f64,
}

impl<F: EnvFactory> Trainer<F> {
    /// Evaluates the current policies. The run itself does not change.
    pub fn evaluate(&mut self, plan: &EvaluationPlan) -> Result<Evaluation> {
        let machine = self.game.assignment().machine();
        evaluate(&self.config, &self.envs, machine, &mut self.agents, plan)
    }

    /// As [`evaluate`](Self::evaluate), with a callback; nothing if it was interrupted.
    pub fn evaluate_with(
        &mut self,
        plan: &EvaluationPlan,
        callback: PlayCallback<'_>,
    ) -> Result<Option<Evaluation>> {
        let machine = self.game.assignment().machine();
        let (config, envs) = (&self.config, &self.envs);
        evaluate_with(config, envs, machine, &mut self.agents, plan, callback)
    }

    /// Measures the final success, on episodes that no decision was based on; nothing if it was interrupted.
    pub(crate) fn final_evaluation(
        &mut self,
        callback: PlayCallback<'_>,
    ) -> Result<Option<Evaluation>> {
        let plan = self.plan(EpisodeSet::Final, self.config.evaluation.final_episodes);
        self.evaluate_with(&plan, callback)
    }

    /// The success rate of random play on the fixed episodes.
    pub fn random_success(&mut self) -> Result<f64> {
        Ok(self.fixed()?.random)
    }

    fn fixed(&mut self) -> Result<&FixedEpisodes> {
        if self.fixed.is_none() {
            let plan = self.plan(EpisodeSet::Fixed, self.config.evaluation.episodes);
            let (config, envs) = (&self.config, &self.envs);
            let callback = PlayCallback::none();
            self.fixed = Some(FixedEpisodes {
                starts: starts(envs, &plan, false, callback)?.unwrap_or_default(),
                random: random_success(config, envs, &plan, callback)?.unwrap_or_default(),
            });
        }
        Ok(self.fixed.get_or_insert_with(|| FixedEpisodes {
            starts: Vec::new(),
            random: 0.0,
        }))
    }

    pub(super) fn plan(&self, set: EpisodeSet, episodes: usize) -> EvaluationPlan {
        let purpose = match set {
            EpisodeSet::Fixed => 0,
            EpisodeSet::Final => 1,
            EpisodeSet::Fresh(iteration) => 2 + iteration,
        };
        EvaluationPlan {
            split: Split::Training,
            episodes,
            choice: Choice::Sample,
            seed: split_mix(self.config.seed, purpose),
        }
    }

    /// Whether anything has changed since the last evaluation, and the budget allows another. Its steps are estimated from the
    /// rollout (steps per episode that ended) and from the last evaluation; the lower estimate counts.
    pub(super) fn can_afford_evaluation(&self, steps: usize, ended: usize) -> bool {
        let (known, config) = (&self.state.evaluations, &self.config.evaluation);
        let estimate = config.episodes as f64 * steps as f64 / ended.max(1) as f64;
        let estimate = (known.last).map_or(estimate, |last| estimate.min(last.steps as f64));
        let allowed = config.share * known.training_steps as f64;
        known.changed && known.steps as f64 + estimate <= allowed
    }

    /// Plays the fixed episodes and records the result; returns where they failed, or nothing if it was interrupted.
    pub(super) fn evaluate_fixed(
        &mut self,
        callback: PlayCallback<'_>,
    ) -> Result<Option<Failures>> {
        let plan = self.plan(EpisodeSet::Fixed, self.config.evaluation.episodes);
        let Some(played) = self.play(&plan, callback)? else {
            return Ok(None);
        };
        let iteration = self.state.iteration;
        let steps = played.iter().map(|episode| episode.steps() as u64).sum();
        let known = &mut self.state.evaluations;
        known.steps += steps;
        known.changed = false;
        known.last = Some(EvaluationSummary {
            iteration,
            episodes: played.len() as u64,
            successes: played.iter().filter(|one| Episode::is_success(one)).count() as u64,
            steps,
        });
        self.fixed()?;
        let starts = (self.fixed.as_ref()).map_or(&[][..], |fixed| &fixed.starts);
        let names = (self.config.method.assignment_mode() != AssignmentMode::Unaided)
            .then(|| self.machine());
        Ok(Some(Failures::of(&played, starts, names)))
    }

    pub(super) fn play(
        &mut self,
        plan: &EvaluationPlan,
        callback: PlayCallback<'_>,
    ) -> Result<Option<Vec<Episode>>> {
        let machine = self.game.assignment().machine();
        let (config, envs) = (&self.config, &self.envs);
        play_with(config, envs, machine, &mut self.agents, plan, callback)
    }
}

/// A seed per purpose (SplitMix64), different from that of training.
fn split_mix(seed: u64, purpose: u64) -> u64 {
    let mut mixed = seed.wrapping_add((purpose + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}
