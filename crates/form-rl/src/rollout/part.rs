//! A part of a game: consecutive worlds, with all that acting in them needs. The parts of a game share nothing that changes, so each
//! acts for many steps on a core of its own without waiting for the others.
//!
//! An action depends on its own world alone: a network's outputs for a sample do not depend on the other samples, and the random
//! numbers belong to the world. So the number of parts changes no result.

use form_env::Worlds;
use rand::{Rng, RngExt};

use super::env_slot::{EnvSlot, StepResult};
use super::game_config::{Choice, Episode, GameConfig};
use super::inference::Inference;
use super::label_noise::WrongLabels;
use crate::agents::agent_assignment::AgentAssignment;
use crate::net::Evaluator;
use crate::reach_avoid::navigator::Navigator;
use crate::{Result, greedy, sample, sample_at};

/// The distribution that an action is drawn from.
pub(super) enum Draw<'a> {
    /// Uniform over this number of actions.
    Uniform(usize),
    /// A policy's.
    Logits(&'a [f32]),
}

impl Draw<'_> {
    pub(super) fn action(self, rng: &mut impl Rng) -> u8 {
        match self {
            Self::Uniform(count) => rng.random_range(0..count) as u8,
            Self::Logits(logits) => sample(logits, rng) as u8,
        }
    }

    /// The action for a random number from 0 to 1.
    pub(super) fn action_at(self, number: f32) -> u8 {
        match self {
            Self::Uniform(count) => ((number * count as f32) as usize).min(count - 1) as u8,
            Self::Logits(logits) => sample_at(logits, number) as u8,
        }
    }
}

/// What all parts of a game go by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules<'a> {
    pub(super) assignment: &'a AgentAssignment,
    pub(super) config: &'a GameConfig,
    pub(super) wrong_labels: WrongLabels,
}

/// Consecutive worlds of a game. They are numbered from 0 here; episodes have the numbers of the game.
#[derive(Debug)]
pub(super) struct Part<'a, W> {
    /// The number of its first world in the game.
    pub(super) first: usize,
    pub(super) rules: Rules<'a>,
    pub(super) worlds: &'a mut W,
    pub(super) slots: &'a mut [EnvSlot],
    /// One per agent.
    pub(super) inference: &'a mut [Inference],
    /// One per agent.
    pub(super) policies: Vec<Evaluator<'a>>,
    pub(super) navigator: Option<&'a mut Navigator>,
}

impl<W: Worlds> Part<'_, W> {
    /// The actions of all worlds, and the agents that chose them. `draw` samples them from the worlds' distributions, in order. Where
    /// a machine is terminal but its world is not, the distribution is uniform.
    pub(super) fn choose_actions(
        &mut self,
        choice: Choice,
        mut draw: impl FnMut(usize, Draw<'_>) -> u8,
    ) -> Result<(Vec<u8>, Vec<Option<usize>>)> {
        let assignment = self.rules.assignment;
        let count = self.worlds.actions().len();
        let mut acted = vec![None; self.slots.len()];
        self.inference
            .iter_mut()
            .for_each(|inference| inference.worlds.clear());
        for (world, slot) in self.slots.iter().enumerate() {
            let agent = slot.agent(assignment).filter(|_| !slot.idle);
            if let Some(agent) = agent.filter(|_| choice != Choice::Uniform) {
                acted[world] = Some(agent);
                self.inference[agent].worlds.push(world);
            }
        }
        for (number, policy) in self.policies.iter_mut().enumerate() {
            let inference = &mut self.inference[number];
            if inference.worlds.is_empty() {
                continue;
            }
            inference.gather(number, assignment, &*self.worlds, self.slots);
            inference.evaluate(policy, self.slots)?;
        }
        let mut rows = vec![0; self.policies.len()];
        let mut actions = Vec::with_capacity(acted.len());
        let machine = assignment.machine();
        for (world, (acted, slot)) in acted.iter().zip(self.slots.iter_mut()).enumerate() {
            actions.push(match *acted {
                // The world has ended and ignores its action.
                None if slot.idle => 0,
                None => {
                    let running = !machine.is_terminal(slot.monitor.state());
                    let navigator =
                        (self.navigator.as_mut()).filter(|_| running && choice != Choice::Uniform);
                    let logits = navigator.and_then(|navigator| {
                        slot.reach_avoid_logits(navigator, &*self.worlds, world)
                    });
                    match (logits, choice) {
                        (None, _) => draw(world, Draw::Uniform(count)),
                        (Some(logits), Choice::Greedy) => greedy(&logits) as u8,
                        (Some(logits), _) => draw(world, Draw::Logits(&logits)),
                    }
                }
                Some(agent) => {
                    let row = rows[agent];
                    rows[agent] += 1;
                    let logits = &self.inference[agent].outputs.logits[row * count..][..count];
                    match choice {
                        Choice::Greedy => greedy(logits) as u8,
                        Choice::Sample | Choice::Uniform => draw(world, Draw::Logits(logits)),
                    }
                }
            });
        }
        Ok((actions, acted))
    }

    /// Records the steps that are about to be taken in the agents' trajectories.
    pub(super) fn record(&mut self, actions: &[u8], sequence_begins: bool) {
        for (agent, inference) in self.inference.iter().enumerate() {
            inference.record(agent, self.slots, actions, sequence_begins);
        }
    }

    /// Steps all worlds, and gives away the episodes that ended.
    pub(super) fn step(
        &mut self,
        actions: &[u8],
        acted: &[Option<usize>],
        mut ended: impl FnMut(Episode),
    ) -> Result<()> {
        self.worlds.step(actions)?;
        let Rules {
            assignment, config, ..
        } = self.rules;
        for (world, slot) in self.slots.iter_mut().enumerate() {
            if slot.idle {
                continue;
            }
            slot.actions.push(actions[world]);
            let state = slot.monitor.state();
            let worlds = &*self.worlds;
            let result = slot.advance(assignment, config, worlds, world, acted[world]);
            let (outcome, refuted) = match result {
                StepResult::Continues => continue,
                StepResult::Ended(outcome) => (outcome, false),
                StepResult::Refuted(outcome) => (outcome, true),
            };
            slot.idle = true;
            let trace = slot.recorder.finish(outcome.kind());
            ended(Episode {
                world: self.first + world,
                number: worlds.episode(world),
                actions: std::mem::take(&mut slot.actions),
                outcome,
                state,
                total_reward: slot.total_reward,
                counterexample: refuted.then(|| trace.clone()),
                trace: Some(trace),
            });
        }
        Ok(())
    }

    /// Ends the episode of a world where it is.
    pub(super) fn give_up(&mut self, world: usize) -> Episode {
        let (slot, outcome) = (&mut self.slots[world], self.worlds.outcome(world));
        slot.idle = true;
        Episode {
            world: self.first + world,
            number: self.worlds.episode(world),
            actions: std::mem::take(&mut slot.actions),
            outcome,
            state: slot.monitor.state(),
            total_reward: slot.total_reward,
            trace: Some(slot.recorder.finish(outcome.kind())),
            counterexample: None,
        }
    }

    /// Starts an episode of a world.
    pub(super) fn begin(&mut self, world: usize, episode: u64) -> Result<()> {
        self.worlds.start(world, episode)?;
        self.begin_slot(world);
        Ok(())
    }

    fn begin_slot(&mut self, world: usize) {
        let Rules {
            assignment,
            wrong_labels,
            ..
        } = self.rules;
        self.slots[world].begin(assignment, &*self.worlds, world, wrong_labels);
    }

    /// Starts the next episode of every world whose episode ended or was truncated.
    pub(super) fn next_episodes(&mut self) -> Result<()> {
        if !self.slots.iter().any(|slot| slot.idle) {
            return Ok(());
        }
        for world in 0..self.slots.len() {
            if self.slots[world].idle && !self.worlds.outcome(world).is_over() {
                self.worlds.start(world, self.worlds.episode(world) + 1)?;
            }
        }
        self.worlds.next_episodes()?;
        for world in 0..self.slots.len() {
            if self.slots[world].idle {
                self.begin_slot(world);
            }
        }
        Ok(())
    }
}
