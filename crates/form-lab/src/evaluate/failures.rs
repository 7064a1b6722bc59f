//! Failures of an evaluation by map and by machine state.

use std::collections::BTreeMap;

use form_core::Machine;
use form_rl::Episode;
use serde::{Deserialize, Serialize};

use super::baseline::Start;

/// The minimum number of episodes on a map before it is reported.
const ENOUGH: u64 = 4;

/// Where episodes fail.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failures {
    /// The maps with failures, worst first; empty if maps have no numbers.
    pub maps: Vec<MapFailures>,
    /// The machine states in which failed episodes ended, worst first; empty for methods without a machine.
    pub states: Vec<StateFailures>,
}

/// The failures on one map.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MapFailures {
    /// The number of the map in its set.
    pub map: usize,
    /// The number of episodes on it.
    pub episodes: u64,
    /// How many of them failed.
    pub failures: u64,
    /// The machine states in which those ended.
    pub states: Vec<StateFailures>,
}

/// The failures in one machine state, whose policy made the last step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateFailures {
    /// The name of the state.
    pub state: String,
    /// How many episodes failed there.
    pub failures: u64,
}

impl Failures {
    /// Groups the failures of episodes with these starts. The machine names the states.
    pub(crate) fn of(played: &[Episode], starts: &[Start], machine: Option<&Machine>) -> Self {
        let mut failures = Self::default();
        for (episode, start) in played.iter().zip(starts) {
            let state = machine.map(|machine| machine.state_name(episode.state));
            failures.count(start.map, state, episode.is_success());
        }
        failures.sort();
        failures
    }

    fn count(&mut self, map: Option<usize>, state: Option<&str>, success: bool) {
        if let Some(map) = map {
            let known = self.maps.iter().position(|known| known.map == map);
            let place = known.unwrap_or_else(|| {
                self.maps.push(MapFailures {
                    map,
                    episodes: 0,
                    failures: 0,
                    states: Vec::new(),
                });
                self.maps.len() - 1
            });
            let found = &mut self.maps[place];
            found.episodes += 1;
            found.failures += u64::from(!success);
            if let Some(state) = state.filter(|_| !success) {
                add(&mut found.states, state, 1);
            }
        }
        if let Some(state) = state.filter(|_| !success) {
            add(&mut self.states, state, 1);
        }
    }

    /// Adds the failures of another evaluation with the same maps and the same machine.
    pub(crate) fn pool(&mut self, other: &Self) {
        let mut maps: BTreeMap<usize, MapFailures> = std::mem::take(&mut self.maps)
            .into_iter()
            .map(|found| (found.map, found))
            .collect();
        for found in &other.maps {
            let mine = maps.entry(found.map).or_insert_with(|| MapFailures {
                map: found.map,
                episodes: 0,
                failures: 0,
                states: Vec::new(),
            });
            mine.episodes += found.episodes;
            mine.failures += found.failures;
            for state in &found.states {
                add(&mut mine.states, &state.state, state.failures);
            }
        }
        self.maps = maps.into_values().collect();
        for state in &other.states {
            add(&mut self.states, &state.state, state.failures);
        }
        self.sort();
    }

    /// Keeps only the maps with failures.
    #[must_use]
    pub(crate) fn failing(mut self) -> Self {
        self.maps.retain(|map| map.failures > 0);
        self
    }

    fn sort(&mut self) {
        let most_first = |states: &mut Vec<StateFailures>| {
            states.sort_by(|a, b| (b.failures, &a.state).cmp(&(a.failures, &b.state)));
        };
        self.maps.sort_by_key(|found| {
            let share = found.failures as f64 / found.episodes.max(1) as f64;
            ((-1e9 * share) as i64, found.map)
        });
        for map in &mut self.maps {
            most_first(&mut map.states);
        }
        most_first(&mut self.states);
    }

    /// The maps on which most episodes fail, as text: `map 3 fails 20 of 20, in u2`. Maps with few episodes are left out.
    pub fn worst_maps(&self, most: usize) -> Vec<String> {
        let often = |map: &&MapFailures| map.episodes >= ENOUGH && 2 * map.failures > map.episodes;
        (self.maps.iter().filter(often).take(most))
            .map(|found| {
                let place = in_states(&found.states, found.failures);
                let (map, failures, episodes) = (found.map, found.failures, found.episodes);
                format!("map {map} fails {failures} of {episodes}{place}")
            })
            .collect()
    }

    /// The states in which episodes fail, as text: `failed in u1: 12, in u0: 3`.
    pub fn by_state(&self) -> Option<String> {
        let list: Vec<String> = (self.states.iter())
            .map(|found| format!("in {}: {}", found.state, found.failures))
            .collect();
        (!list.is_empty()).then(|| format!("failed {}", list.join(", ")))
    }
}

fn add(states: &mut Vec<StateFailures>, state: &str, failures: u64) {
    match states.iter_mut().find(|known| known.state == state) {
        Some(known) => known.failures += failures,
        None => states.push(StateFailures {
            state: state.to_owned(),
            failures,
        }),
    }
}

/// `, in u2`, or `, in u2 (12) and u0 (8)`.
fn in_states(states: &[StateFailures], failures: u64) -> String {
    match states {
        [] => String::new(),
        [only] if only.failures == failures => format!(", in {}", only.state),
        several => {
            let list: Vec<String> = (several.iter())
                .map(|found| format!("{} ({})", found.state, found.failures))
                .collect();
            format!(", in {}", list.join(" and "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(episodes: &[(usize, &str, bool)]) -> Failures {
        let mut failures = Failures::default();
        for (map, state, success) in episodes {
            failures.count(Some(*map), Some(state), *success);
        }
        failures.sort();
        failures
    }

    #[test]
    fn the_worst_maps_come_first_and_name_the_states() {
        let found = counted(&[
            (0, "u0", true),
            (0, "u1", false),
            (3, "u2", false),
            (3, "u2", false),
            (3, "u2", false),
            (3, "u2", false),
            (7, "u2", false),
            (5, "u0", false),
            (5, "u1", false),
            (5, "u1", true),
            (5, "u1", false),
        ]);
        assert_eq!(
            found.worst_maps(9),
            [
                "map 3 fails 4 of 4, in u2",
                "map 5 fails 3 of 4, in u1 (2) and u0 (1)"
            ]
        );
        assert_eq!(found.worst_maps(1).len(), 1);
        assert_eq!(
            found.by_state().unwrap(),
            "failed in u2: 5, in u1: 3, in u0: 1"
        );
        assert_eq!(Failures::default().by_state(), None);
    }

    #[test]
    fn pooling_adds_up() {
        let one = counted(&[(0, "u0", false), (1, "u0", true)]);
        let two = counted(&[(1, "u1", false), (0, "u1", false)]);
        let mut both = one;
        both.pool(&two);
        let whole = counted(&[
            (0, "u0", false),
            (1, "u0", true),
            (1, "u1", false),
            (0, "u1", false),
        ]);
        assert_eq!(both, whole);
        assert_eq!(both.failing().maps.len(), 2);
    }
}
