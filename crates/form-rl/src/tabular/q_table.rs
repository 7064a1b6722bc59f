//! A table of action values over the cross product, whose number of situations can grow.

use rand::{Rng, RngExt};

/// Action values by state, situation and action.
#[derive(Clone, Debug)]
pub(crate) struct QTable {
    values: Vec<f64>,
    actions: usize,
    /// The number of situations that there is room for.
    room: usize,
    initial: f64,
}

impl QTable {
    pub(crate) fn new(states: usize, situations: usize, actions: usize, initial: f64) -> Self {
        Self {
            values: vec![initial; states * situations * actions],
            actions,
            room: situations,
            initial,
        }
    }

    /// Makes room for this number of situations.
    pub(crate) fn grow(&mut self, situations: usize) {
        if situations <= self.room {
            return;
        }
        let (old, new) = (self.room * self.actions, situations * self.actions);
        let states = self.values.len() / old;
        let mut values = vec![self.initial; states * new];
        for (from, to) in self.values.chunks(old).zip(values.chunks_mut(new)) {
            to[..old].copy_from_slice(from);
        }
        self.values = values;
        self.room = situations;
    }

    /// Where the values of a state and a situation begin.
    #[inline]
    fn at(&self, state: usize, situation: usize) -> usize {
        (state * self.room + situation) * self.actions
    }

    #[inline]
    pub(crate) fn row(&self, state: usize, situation: usize) -> &[f64] {
        let at = self.at(state, situation);
        &self.values[at..at + self.actions]
    }

    #[inline]
    pub(crate) fn row_mut(&mut self, state: usize, situation: usize) -> &mut [f64] {
        let at = self.at(state, situation);
        &mut self.values[at..at + self.actions]
    }

    /// The value of a state and a situation: that of the best action.
    #[inline]
    pub(crate) fn value(&self, state: usize, situation: usize) -> f64 {
        let row = self.row(state, situation);
        row.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    /// A random action with probability `epsilon`, else one of the best, at random.
    #[inline]
    pub(crate) fn choose(
        &self,
        state: usize,
        situation: usize,
        epsilon: f64,
        random: &mut impl Rng,
    ) -> usize {
        if epsilon > 0.0 && random.random::<f64>() < epsilon {
            return random.random_range(0..self.actions);
        }
        let row = self.row(state, situation);
        let best = self.value(state, situation);
        let ties = row.iter().filter(|value| **value == best).count();
        let skip = if ties > 1 {
            random.random_range(0..ties)
        } else {
            0
        };
        let mut best_actions = (0..self.actions).filter(|action| row[*action] == best);
        // No value is NaN: rewards are finite, so the largest one is among them.
        best_actions.nth(skip).unwrap_or(0)
    }
}
