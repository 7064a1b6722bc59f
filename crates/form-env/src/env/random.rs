//! Random generators: one seed, and one stream per purpose.
//!
//! All randomness enters through a generator that is passed in. A run makes its generators here. ChaCha8 is portable and has
//! numbered streams, so the draws for one map or episode do not depend on other draws, on the number of threads, or on their order.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// The generator that runs use. An environment takes any [`rand::Rng`].
pub type Random = ChaCha8Rng;

/// What a generator is for. No two of them draw the same numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// The training map of this number.
    Map(u64),
    /// The held-out map of this number.
    HeldOutMap(u64),
    /// One episode of one world. Worlds are numbered up to 2²² and episodes up to 2⁴⁰; larger numbers wrap.
    Episode {
        /// The world.
        world: u64,
        /// The number of the episode in that world.
        episode: u64,
    },
    /// Anything else, numbered by the caller: a random walk, a policy's actions.
    Other(u64),
}

/// Bits that number a stream; the two above them say what it is for.
const BITS: u32 = 62;
const EPISODE_BITS: u32 = 40;

impl Stream {
    fn number(self) -> u64 {
        let (purpose, number) = match self {
            Self::Map(i) => (0, i),
            Self::HeldOutMap(i) => (1, i),
            Self::Episode { world, episode } => (
                2,
                world << EPISODE_BITS | episode & ((1 << EPISODE_BITS) - 1),
            ),
            Self::Other(i) => (3, i),
        };
        purpose << BITS | number & ((1 << BITS) - 1)
    }
}

/// The generator of a run with this seed for this purpose.
///
/// ```
/// use form_env::{Stream, generator};
/// use rand::Rng;
/// let mut a = generator(7, Stream::Map(0));
/// let mut b = generator(7, Stream::Map(1));
/// assert_ne!(a.next_u64(), b.next_u64());
/// ```
pub fn generator(seed: u64, stream: Stream) -> Random {
    let mut random = Random::seed_from_u64(seed);
    random.set_stream(stream.number());
    random
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;
    use std::collections::BTreeSet;

    #[test]
    fn streams_do_not_meet() {
        let mut streams = vec![Stream::Map(0), Stream::Map(1), Stream::HeldOutMap(0)];
        streams.extend([Stream::Other(0), Stream::Other(1 << 40)]);
        for (world, episode) in [(0, 0), (0, 1), (1, 0), (3, (1 << 40) - 1)] {
            streams.push(Stream::Episode { world, episode });
        }
        let numbers: BTreeSet<u64> = streams.iter().map(|stream| stream.number()).collect();
        assert_eq!(numbers.len(), streams.len());
        let first: BTreeSet<u64> = (streams.iter())
            .map(|stream| generator(7, *stream).next_u64())
            .collect();
        assert_eq!(first.len(), streams.len());
    }

    /// Seeds written down in papers and configs must go on meaning the same.
    #[test]
    fn a_seed_gives_the_same_numbers_for_ever() {
        let mut random = generator(7, Stream::Map(0));
        assert_eq!(
            [random.next_u32(), random.next_u32(), random.next_u32()],
            [601_310_139, 677_729_076, 781_920_570]
        );
    }
}
