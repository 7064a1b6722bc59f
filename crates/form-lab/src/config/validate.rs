//! Which settings make no sense, or are beyond what any machine has room for, and why: what they are called in the file, and what
//! would be wrong with such a run.

use anyhow::{Result, anyhow, bail};
use form_rl::{AssignmentMode, Credit};

use super::RunConfig;

/// The most worlds, maps, samples of an iteration, and edges between two states that a run may ask for: far beyond what is of
/// use, and what can still be refused before the memory is gone.
const MOST_WORLDS: usize = 1 << 16;
const MOST_LAYOUTS: usize = 1 << 22;
const LARGEST_BATCH: usize = 1 << 26;
const MOST_DISJUNCTS: usize = 64;
const MOST_EPISODES: usize = 1 << 24;

impl RunConfig {
    /// Refuses what makes no sense.
    pub fn check(&self) -> Result<()> {
        self.ppo.check().map_err(|error| match error {
            // As it is called in the file.
            form_rl::Error::Setting { .. } => anyhow!("ppo.{error}"),
            other => other.into(),
        })?;
        if self.iterations == 0 {
            bail!("iterations = 0: there must be one at least");
        }
        if self.learning.max_states == 0 {
            bail!(
                "learning.max_states = 0: a machine has one at least, beside the accepting and the rejecting one"
            );
        }
        if self.learning.max_disjuncts == 0 {
            bail!("learning.max_disjuncts = 0: there must be one edge at least");
        }
        if i64::try_from(self.seed).is_err() {
            bail!("seed = {}: it must be at most {}", self.seed, i64::MAX);
        }
        if self.worlds == 0 {
            bail!("worlds = 0: there must be one at least");
        }
        if self.steps() == 0 {
            bail!(
                "ppo.train_batch = {}: fewer than the {} worlds, so none of them would take a step",
                self.ppo.train_batch,
                self.worlds
            );
        }
        if self.network.memory > 0 && !self.steps().is_multiple_of(self.network.sequence.max(1)) {
            bail!(
                "network.sequence = {}: the {} steps of a world in an iteration are no multiple of it",
                self.network.sequence,
                self.steps()
            );
        }
        // Before there is a folder: whoever plays would say so, but only once a machine is known.
        if self.method.assignment_mode() == AssignmentMode::PerState {
            if self.credit == Credit::HandOver && !self.shaping {
                bail!(
                    "credit = \"hand-over\": rewards must be shaped, or only the last agent would earn any: set shaping = true, or credit = \"shared\""
                );
            }
            if self.network.memory > 0 {
                bail!(
                    "network.memory = {}: only a method with one agent can have one",
                    self.network.memory
                );
            }
        }
        let episodes = [
            ("stop.episodes", self.stop.episodes),
            ("evaluation.episodes", self.evaluation.episodes),
            ("evaluation.final_episodes", self.evaluation.final_episodes),
        ];
        for (name, count) in episodes {
            if count == 0 {
                bail!("{name} = 0: a success rate needs one at least");
            }
        }
        if self.learning.explore == 0 {
            bail!("learning.explore = 0: nothing would ever be observed");
        }
        self.check_limits()
    }

    /// Refuses what no machine has room or time for, and what is no number.
    fn check_limits(&self) -> Result<()> {
        let counts = [
            ("worlds", self.worlds, MOST_WORLDS),
            ("layouts", self.layouts, MOST_LAYOUTS),
            ("ppo.train_batch", self.ppo.train_batch, LARGEST_BATCH),
            ("learning.explore", self.learning.explore, LARGEST_BATCH),
            ("stop.episodes", self.stop.episodes, MOST_EPISODES),
            (
                "evaluation.episodes",
                self.evaluation.episodes,
                MOST_EPISODES,
            ),
            (
                "evaluation.final_episodes",
                self.evaluation.final_episodes,
                MOST_EPISODES,
            ),
            (
                "learning.max_disjuncts",
                self.learning.max_disjuncts,
                MOST_DISJUNCTS,
            ),
        ];
        for (name, value, most) in counts {
            if value > most {
                bail!("{name} = {value}: it must be at most {most}");
            }
        }
        let shares = [
            ("stop.success", self.stop.success),
            ("stop.crossing", self.stop.crossing),
            ("stop.fall", self.stop.fall),
            ("evaluation.share", self.evaluation.share),
        ];
        for (name, value) in shares {
            if value.is_nan() {
                bail!("{name} = {value}: it must be a number");
            }
        }
        if self.evaluation.share < 0.0 {
            bail!(
                "evaluation.share = {}: it must be 0 or more",
                self.evaluation.share
            );
        }
        Ok(())
    }
}
