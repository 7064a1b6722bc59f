//! Validation of a configuration: values that make no sense, and values beyond the memory of any computer. Errors use the keys of
//! the file.

use anyhow::{Result, anyhow, bail};
use form_rl::{AssignmentMode, Credit};

use super::{Method, RunConfig};

/// The maximum numbers of worlds, maps, samples per iteration, edges between two states, counted objects and episodes: far beyond what
/// is useful, and refused before memory runs out.
const MOST_WORLDS: usize = 1 << 16;
const MOST_LAYOUTS: usize = 1 << 22;
const LARGEST_BATCH: usize = 1 << 26;
const MOST_DISJUNCTS: usize = 64;
const MOST_COUNT: usize = 64;
const MOST_EPISODES: usize = 1 << 24;

impl RunConfig {
    /// Refuses values that make no sense.
    pub fn check(&self) -> Result<()> {
        self.ppo.check().map_err(|error| match error {
            // The key in the file.
            form_rl::Error::Setting { .. } => anyhow!("ppo.{error}"),
            other => other.into(),
        })?;
        if self.iterations == 0 {
            bail!("iterations = 0: at least one is needed");
        }
        if self.learning.max_states == 0 {
            bail!(
                "learning.max_states = 0: a machine needs at least one, besides the accepting and the rejecting state"
            );
        }
        if self.learning.max_disjuncts == 0 {
            bail!("learning.max_disjuncts = 0: at least one edge is needed");
        }
        if self.learning.counts == 0 {
            bail!("learning.counts = 0: 1 is no count, 2 allows `atleast 2 X. p(X)`");
        }
        if i64::try_from(self.seed).is_err() {
            bail!("seed = {}: it must be at most {}", self.seed, i64::MAX);
        }
        if self.worlds == 0 {
            bail!("worlds = 0: at least one is needed");
        }
        if self.steps() == 0 {
            bail!(
                "ppo.train_batch = {}: fewer than the {} worlds, so no world would take a step",
                self.ppo.train_batch,
                self.worlds
            );
        }
        if self.network.memory > 0 && !self.steps().is_multiple_of(self.network.sequence.max(1)) {
            bail!(
                "network.sequence = {}: it must divide the {} steps per world and iteration",
                self.network.sequence,
                self.steps()
            );
        }
        if let Some(discount) = self.shaping_discount
            && !(0.0..=1.0).contains(&discount)
        {
            bail!("shaping_discount = {discount}: it must be between 0 and 1");
        }
        // The game refuses these, too, but only once a machine is known.
        if self.method.assignment_mode() == AssignmentMode::PerState {
            if self.credit == Credit::HandOver && !self.shaping {
                bail!(
                    "credit = \"hand-over\" needs shaped rewards, or only the last agent would be rewarded: set shaping = true, or credit = \"shared\""
                );
            }
            if self.network.memory > 0 {
                bail!(
                    "network.memory = {}: only methods with a single policy can have memory",
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
                bail!("{name} = 0: a success rate needs at least one episode");
            }
        }
        self.check_exploration()?;
        self.check_noise()?;
        if self.learning.explore == 0 {
            bail!("learning.explore = 0: nothing would be observed");
        }
        self.check_limits()
    }

    /// The method `reach-avoid` explores; no other method does.
    fn check_exploration(&self) -> Result<()> {
        match (&self.exploration, self.method) {
            (None, Method::ReachAvoid) => {
                bail!("the method reach-avoid needs the section `exploration`")
            }
            (Some(_), method) if method != Method::ReachAvoid => {
                bail!("the section `exploration` is for the method reach-avoid, not for {method}")
            }
            (Some(section), _) if section.episodes == 0 => {
                bail!("exploration.episodes = 0: nothing would be explored")
            }
            _ => Ok(()),
        }
    }

    /// Wrong labels, and machines that misjudge traces.
    fn check_noise(&self) -> Result<()> {
        if !(0.0..=0.5).contains(&self.label_noise) {
            bail!(
                "label_noise = {}: it must be between 0 and 0.5",
                self.label_noise
            );
        }
        Ok(())
    }

    /// Refuses values that would exhaust memory or time, and NaN.
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
            ("learning.counts", self.learning.counts, MOST_COUNT),
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
