//! Runs of a bound machine: state and buffer.

use super::bound::BoundMachine;
use super::machine::{EdgeId, StateId};
use super::step_mode::Compressor;
use crate::logic::atom_set::AtomSet;

/// The effect of one observation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The edge that was taken, if any.
    pub edge: Option<EdgeId>,
    /// The reward of the step.
    pub reward: f64,
}

impl Step {
    /// No edge was taken.
    pub const STAY: Self = Self {
        edge: None,
        reward: 0.0,
    };
}

/// A run: its state and its buffer, represented by the union of its observations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    state: StateId,
    seen: AtomSet,
}

impl Run {
    /// A run at the machine's initial state.
    pub fn new(machine: &BoundMachine) -> Self {
        Self {
            state: machine.machine().initial(),
            seen: AtomSet::with_room_for(machine.signature().len()),
        }
    }

    /// The current state.
    #[inline]
    pub fn state(&self) -> StateId {
        self.state
    }

    /// The union of the observations since the state was entered.
    #[inline]
    pub fn seen(&self) -> &AtomSet {
        &self.seen
    }

    /// Goes back to the initial state with an empty buffer.
    pub fn reset(&mut self, machine: &BoundMachine) {
        self.state = machine.machine().initial();
        self.seen.clear();
    }

    /// The state-transition function (Algorithm 1): add the observation to the buffer, take the first edge whose
    /// formula holds, and empty the buffer when the state changes. Unless the machine observes every step, an empty observation
    /// does nothing.
    #[inline]
    pub fn step(&mut self, machine: &BoundMachine, observation: &AtomSet) -> Step {
        if observation.is_empty() && !machine.observes_every_step() {
            return Step::STAY;
        }
        self.seen.union_with(observation);
        match machine.choose(self.state, observation, &self.seen) {
            None => Step::STAY,
            Some(edge) => {
                let (to, reward) = machine.outcome(edge);
                if to != self.state {
                    self.state = to;
                    self.seen.clear();
                }
                Step {
                    edge: Some(edge),
                    reward,
                }
            }
        }
    }
}

/// A run over raw observations, one per environment step, of which it takes those that count for the machine.
#[derive(Clone, Debug)]
pub struct Monitor {
    run: Run,
    compressor: Compressor,
}

impl Monitor {
    /// A monitor at the initial state.
    pub fn new(machine: &BoundMachine) -> Self {
        Self::resumed(
            machine,
            machine.machine().initial(),
            &AtomSet::new(),
            &AtomSet::new(),
        )
    }

    /// A monitor that goes on where another one stopped: with its [state](Self::state), the atoms [seen](Self::seen) there and the
    /// [newest](Self::newest) observation.
    pub fn resumed(
        machine: &BoundMachine,
        state: StateId,
        seen: &AtomSet,
        newest: &AtomSet,
    ) -> Self {
        let mut run = Run::new(machine);
        run.state = state;
        run.seen.copy_from(seen);
        let mode = machine.machine().step_mode();
        let compressor = Compressor::resumed(mode, newest, machine.signature().len());
        Self { run, compressor }
    }

    /// The current state.
    #[inline]
    pub fn state(&self) -> StateId {
        self.run.state()
    }

    /// The union of the observations since the state was entered.
    pub fn seen(&self) -> &AtomSet {
        self.run.seen()
    }

    /// The last observation that was not dropped. Empty at the start of an episode.
    pub fn newest(&self) -> &AtomSet {
        self.compressor.last()
    }

    /// What one raw observation would do, without taking it.
    ///
    /// ```
    /// use form_core::{Machine, Monitor, Signature};
    /// let machine: Machine = "initial u0\naccept u1\nu0 -> u1 : goal".parse()?;
    /// let signature = Signature::parse(["goal", "lava"])?;
    /// let machine = machine.bind(&signature)?;
    /// let monitor = Monitor::new(&machine);
    /// assert!(monitor.peek(&machine, &signature.observation(["goal"])?).edge.is_some());
    /// assert_eq!(monitor.state(), machine.machine().initial());
    /// # Ok::<(), form_core::Error>(())
    /// ```
    pub fn peek(&self, machine: &BoundMachine, observation: &AtomSet) -> Step {
        if !self.compressor.would_admit(observation) {
            return Step::STAY;
        }
        let seen = self.run.seen.union(observation);
        match machine.choose(self.run.state, observation, &seen) {
            None => Step::STAY,
            Some(edge) => Step {
                edge: Some(edge),
                reward: machine.outcome(edge).1,
            },
        }
    }

    /// Takes one raw observation.
    #[inline]
    pub fn observe(&mut self, machine: &BoundMachine, observation: &AtomSet) -> Step {
        if self.compressor.admits(observation) {
            self.run.step(machine, observation)
        } else {
            Step::STAY
        }
    }

    /// Starts a new episode.
    pub fn reset(&mut self, machine: &BoundMachine) {
        self.run.reset(machine);
        self.compressor.reset();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logic::signature::Signature;
    use crate::machine::machine::Machine;

    #[test]
    fn a_resumed_monitor_goes_on_like_the_one_it_was_taken_from() {
        let machine: Machine =
            "initial u0\naccept acc\nu0 -> u1 : forall X. p(X)\nu1 -> u2 : goal\nu2 -> acc : goal"
                .parse()
                .unwrap();
        let signature = Signature::parse(["p(a)", "p(b)", "goal"]).unwrap();
        let machine = machine.bind(&signature).unwrap();
        let labels = ["p(a)", "p(a)", "p(b)", "goal", "goal", "p(a)", "goal"];
        let observe = |monitor: &mut Monitor, label: &str| {
            monitor.observe(&machine, &signature.observation([label]).unwrap())
        };
        for stop in 0..labels.len() {
            let mut monitor = Monitor::new(&machine);
            for label in &labels[..stop] {
                observe(&mut monitor, label);
            }
            let mut resumed =
                Monitor::resumed(&machine, monitor.state(), monitor.seen(), monitor.newest());
            for label in &labels[stop..] {
                let expected = observe(&mut monitor, label);
                assert_eq!(observe(&mut resumed, label), expected);
            }
            assert_eq!(resumed.state(), machine.machine().accept());
        }
    }
}
