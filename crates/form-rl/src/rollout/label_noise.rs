//! Wrong labels, for experiments: true atoms that are not observed, and observed ones that are not true.
//!
//! The noise of a step depends on the seed, the world, the episode and the step alone. So it is the same for any number of threads,
//! and in an episode that is replayed from its actions.

use std::borrow::Cow;

use form_core::{AtomId, AtomSet};
use form_env::{Stream, Worlds, generator};
use rand::RngExt;

/// Wrong labels: in every step each true atom is missed with this probability, and with the same probability one atom of the
/// signature is added.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LabelNoise {
    /// The probability, from 0 to 1.
    pub rate: f64,
    /// The seed.
    pub seed: u64,
}

/// What a game does about wrong labels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WrongLabels {
    /// Wrong labels that are made, for experiments.
    pub noise: Option<LabelNoise>,
    /// Where a machine disagrees with its world, whether it begins anew and the episode goes on, without training. Else the episode is
    /// over, as a counterexample.
    pub restart: bool,
}

/// The words of the random stream that one step may use: more than a label has atoms.
const WORDS_PER_STEP: u128 = 1 << 20;

impl LabelNoise {
    /// The labels of a step as they are observed where these atoms can be, in a world, an episode and a step of these numbers.
    pub fn observed(
        &self,
        labels: &AtomSet,
        observable: &AtomSet,
        (world, episode, step): (usize, u64, usize),
    ) -> AtomSet {
        let world = world as u64;
        let mut random = generator(!self.seed, Stream::Episode { world, episode });
        random.set_word_pos(step as u128 * WORDS_PER_STEP);
        // The order of atoms is that of the signature.
        let mut observed: AtomSet = (labels.iter())
            .filter(|_| !random.random_bool(self.rate))
            .collect();
        if !observable.is_empty() && random.random_bool(self.rate) {
            let ids: Vec<AtomId> = observable.iter().collect();
            observed.insert(ids[random.random_range(0..ids.len())]);
        }
        observed
    }
}

/// The atoms that can be observed in a world.
pub fn observable<W: Worlds>(worlds: &W, world: usize) -> Cow<'_, AtomSet> {
    match worlds.own_signature(world) {
        Some(own) => Cow::Borrowed(own),
        None => Cow::Owned(worlds.signature().ids().collect()),
    }
}

#[cfg(test)]
mod tests {
    use form_core::Signature;

    use super::*;

    /// Both rates are as asked for, steps differ, and each is the same again.
    #[test]
    fn labels_are_dropped_and_added_at_the_rate() {
        let signature = Signature::parse(["a", "b", "c", "d"]).unwrap();
        let noise = LabelNoise { rate: 0.1, seed: 7 };
        let labels = signature.observation(["a", "b"]).unwrap();
        let all: AtomSet = signature.ids().collect();
        let (mut dropped, mut added) = (0, 0);
        for step in 0..10_000 {
            let place = (step % 4, (step % 5) as u64, step);
            let observed = noise.observed(&labels, &all, place);
            assert_eq!(observed, noise.observed(&labels, &all, place));
            dropped += labels.difference(&observed).len();
            added += observed.difference(&labels).len();
        }
        // 2,000 dropped less those added back; half of the 1,000 added atoms are true already.
        assert!((1800..=2150).contains(&dropped), "{dropped}");
        assert!((430..=570).contains(&added), "{added}");
        let none = LabelNoise { rate: 0.0, seed: 7 };
        assert_eq!(none.observed(&labels, &all, (0, 0, 0)), labels);
    }
}
