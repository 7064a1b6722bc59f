//! Which map of a set an episode is played on.
//!
//! The episodes of `n` worlds are numbered one after the other, `episode * n + world`, and go through the `K` maps in turn. Where `n`
//! and `K` have a common divisor `g`, a world would meet only `K / g` of the maps that way, so all worlds go one map further after
//! every `K / g` episodes. For any `n` and `K`:
//!
//! - a world meets each map once in its first `K` episodes, and once in every `K` after them;
//! - when all worlds have played `e` episodes, no map was played more than once more often than another.

/// The number of the map on which a world of `worlds` plays an episode.
pub(crate) fn map_of(world: usize, episode: u64, worlds: usize, maps: usize) -> usize {
    let cycle = maps / greatest_common_divisor(worlds, maps);
    let (worlds, maps) = (worlds as u128, maps as u128);
    let (world, episode) = (world as u128, u128::from(episode));
    let cycles = episode / cycle as u128;
    ((world + episode * worlds + cycles) % maps) as usize
}

fn greatest_common_divisor(mut a: usize, mut b: usize) -> usize {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The largest difference between how often two maps were played.
    fn spread(counts: &[usize]) -> usize {
        let (least, most) = (counts.iter().min(), counts.iter().max());
        most.unwrap() - least.unwrap()
    }

    proptest! {
        #[test]
        fn every_world_meets_every_map_and_all_worlds_together_do(
            worlds in 1..150_usize, maps in 1..40_usize, rounds in 1..4_usize,
        ) {
            let mut together = vec![0; maps];
            let mut by_world = vec![vec![0; maps]; worlds];
            for episode in 0..rounds * maps {
                for (world, counts) in by_world.iter_mut().enumerate() {
                    let map = map_of(world, episode as u64, worlds, maps);
                    counts[map] += 1;
                    together[map] += 1;
                    // In the middle of a row of worlds, too.
                    prop_assert!(spread(&together) <= 1, "episode {}, world {}", episode, world);
                    prop_assert!(spread(counts) <= 1, "world {}: {:?}", world, counts);
                }
            }
            prop_assert!(by_world.iter().flatten().all(|count| *count == rounds));
        }
    }

    /// The pair that a run of the preset `fast` has: with `world + episode * 128` alone, a world met five maps of ten.
    #[test]
    fn ten_maps_in_128_worlds() {
        let of = |world: usize| -> Vec<usize> {
            (0..10)
                .map(|episode| map_of(world, episode, 128, 10))
                .collect()
        };
        assert_eq!(of(0), [0, 8, 6, 4, 2, 1, 9, 7, 5, 3]);
        assert_eq!(of(1), [1, 9, 7, 5, 3, 2, 0, 8, 6, 4]);
    }

    #[test]
    fn numbers_without_bounds() {
        assert!(map_of(usize::MAX - 1, u64::MAX, usize::MAX, 1000) < 1000);
    }
}
