//! One slot of the vectorised environment: a world, the run of its machine, and the agents' trajectories in its episode.

use std::borrow::Cow;
use std::sync::Arc;

use form_core::{AtomSet, BoundMachine, Monitor, Recorder, StateId, StepMode};
use form_env::EpisodeOutcome::{self, DeadEnd, Goal};
use form_env::{Action, Worlds};

use super::game_config::{Credit, EndPotential, GameConfig};
use super::label_noise::{WrongLabels, observable};
use crate::agents::agent_assignment::{AgentAssignment, AssignmentMode};
use crate::agents::observation_encoder::MachineState;
use crate::experience::{ClosedTrajectory, Observation, Steps};
use crate::reach_avoid::course::Course;
use crate::reach_avoid::navigator::Navigator;

/// An agent's trajectory in the current episode.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct OpenTrajectory {
    /// Whether the agent has acted in this episode.
    pub(crate) visited: bool,
    /// Its steps since its last trajectory was closed.
    pub(crate) steps: Steps,
    /// The observation after its last step, if another agent has taken over.
    pub(crate) next: Option<Observation>,
}

/// One world, its machine and its trajectories.
#[derive(Clone, Debug)]
pub(crate) struct EnvSlot {
    /// The number of its world in the game.
    pub(crate) number: usize,
    /// The machine, for the atoms that can be observed in the episode.
    pub(crate) machine: Arc<BoundMachine>,
    pub(crate) monitor: Monitor,
    pub(crate) recorder: Recorder,
    /// The actions of the episode so far.
    pub(crate) actions: Vec<u8>,
    /// Whether the episode is over and the next has not begun.
    pub(crate) idle: bool,
    /// The sum of the episode's rewards so far, shaping included.
    pub(crate) total_reward: f64,
    /// The machine's reward for the labels at reset: it is paid with the first step.
    owed: f64,
    /// One per agent.
    pub(crate) trajectories: Vec<OpenTrajectory>,
    /// The hidden state of the agent's recurrent layer; empty without one.
    pub(crate) hidden_state: Vec<f32>,
    /// Closed trajectories, with their agents.
    pub(crate) closed: Vec<(usize, ClosedTrajectory)>,
    /// The plan that the reach-avoid policy carries out, where it acts in place of agents.
    course: Option<Course>,
    /// What is known of wrong labels.
    wrong_labels: WrongLabels,
    /// Whether the machine has begun anew in this episode, because it disagreed with the world.
    misjudged: bool,
}

/// The effect of a step on the episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepResult {
    /// The episode continues.
    Continues,
    /// The world ended the episode.
    Ended(EpisodeOutcome),
    /// The machine disagrees with the world: the trace is a counterexample.
    Refuted(EpisodeOutcome),
}

impl EnvSlot {
    pub(crate) fn new(assignment: &AgentAssignment, hidden_size: usize) -> Self {
        Self {
            number: 0,
            machine: assignment.bound_machine().clone(),
            monitor: Monitor::new(assignment.bound_machine()),
            recorder: Recorder::with_mode(assignment.machine().step_mode()),
            actions: Vec::new(),
            idle: false,
            total_reward: 0.0,
            owed: 0.0,
            trajectories: vec![OpenTrajectory::default(); assignment.roles().len()],
            hidden_state: vec![0.0; hidden_size],
            closed: Vec::new(),
            course: None,
            wrong_labels: WrongLabels::default(),
            misjudged: false,
        }
    }

    /// Begins an episode that has just been started in its world. The labels at reset count as the first observation, and the reward of
    /// an edge that they fire as one of the first step.
    pub(crate) fn begin<W: Worlds>(
        &mut self,
        assignment: &AgentAssignment,
        worlds: &W,
        world: usize,
        wrong_labels: WrongLabels,
    ) {
        self.wrong_labels = wrong_labels;
        self.misjudged = false;
        let own = worlds.own_signature(world);
        self.machine = (assignment.bound_machine()).restricted(own.map(AsRef::as_ref));
        self.monitor.reset(&self.machine);
        let recorder = Recorder::with_mode(assignment.machine().step_mode());
        self.recorder = recorder.within(own.cloned());
        self.actions.clear();
        self.idle = false;
        self.total_reward = 0.0;
        self.trajectories.fill(OpenTrajectory::default());
        self.hidden_state.fill(0.0);
        self.course = None;
        let labels = self.labels(worlds, world);
        self.owed = self.observe(&labels);
    }

    /// The labels of the last step, as they are observed.
    fn labels<'w, W: Worlds>(&self, worlds: &'w W, world: usize) -> Cow<'w, AtomSet> {
        let labels = worlds.labels(world);
        match &self.wrong_labels.noise {
            None => Cow::Borrowed(labels),
            Some(noise) => {
                let place = (self.number, worlds.episode(world), self.actions.len());
                Cow::Owned(noise.observed(labels, &observable(worlds, world), place))
            }
        }
    }

    /// Feeds labels to the machine and to the trace; the machine's reward.
    fn observe(&mut self, labels: &AtomSet) -> f64 {
        self.recorder.observe(labels);
        if let Some(course) = &mut self.course {
            course.observed();
        }
        self.monitor.observe(&self.machine, labels).reward
    }

    /// The logits of the reach-avoid policy; nothing if the world cannot place its atoms, or no plan can be made.
    pub(super) fn reach_avoid_logits<W: Worlds>(
        &mut self,
        navigator: &mut Navigator,
        worlds: &W,
        world: usize,
    ) -> Option<[f32; Action::MOVES]> {
        let pose = worlds.pose(world)?;
        if self.course.is_none() {
            self.course = Course::in_world(&self.machine, worlds, world);
        }
        let course = self.course.as_mut()?;
        Some(course.logits(navigator, &self.monitor, pose))
    }

    /// The agent that acts next, if any.
    pub(crate) fn agent(&self, assignment: &AgentAssignment) -> Option<usize> {
        assignment.agent(self.monitor.state())
    }

    /// Processes the world's last step. `acted` is the agent whose step was recorded. Where labels may be wrong, the world alone ends
    /// an episode: a machine that disagrees with it begins anew. Agents act on then, and learn nothing from it.
    pub(crate) fn advance<W: Worlds>(
        &mut self,
        assignment: &AgentAssignment,
        config: &GameConfig,
        worlds: &W,
        world: usize,
        acted: Option<usize>,
    ) -> StepResult {
        let acted = acted.filter(|_| !self.misjudged);
        let mut result = self.process(assignment, config, worlds, world, acted);
        if let StepResult::Refuted(outcome) = result
            && self.wrong_labels.restart
            && !outcome.is_over()
        {
            self.misjudged = true;
            self.monitor.reset(&self.machine);
            self.course = None;
            result = StepResult::Continues;
        }
        if self.misjudged {
            self.trajectories.fill(OpenTrajectory::default());
            if let StepResult::Ended(outcome) = result {
                result = StepResult::Refuted(outcome);
            }
        }
        result
    }

    /// Rewards and their shares, hand-overs between agents, the end of the episode or a disagreement.
    fn process<W: Worlds>(
        &mut self,
        assignment: &AgentAssignment,
        config: &GameConfig,
        worlds: &W,
        world: usize,
        acted: Option<usize>,
    ) -> StepResult {
        let (labels, outcome) = (self.labels(worlds, world), worlds.outcome(world));
        let before = self.monitor.state();
        // The buffer is cleared when the state changes, but the observation of the agent that leaves includes it.
        let mut seen = None;
        let mut reward = 0.0;
        if !labels.is_empty() || assignment.machine().step_mode() == StepMode::All {
            seen = Some(self.monitor.seen().union(&labels));
            reward = self.observe(&labels);
        }
        reward += std::mem::take(&mut self.owed);
        let state = self.monitor.state();
        let result = self.result(assignment, before, outcome);
        let terminated = matches!(result, StepResult::Ended(Goal | DeadEnd));
        if assignment.mode() == AssignmentMode::Unaided {
            reward = f64::from(u8::from(outcome == Goal));
        } else if config.shaping {
            // Potential-based shaping: F = γ Φ(u′) − Φ(u). With Φ = 0 where the episode terminates (Ng, Harada, Russell 1999), all
            // policies gain the same, −Φ of the first state. Where it is truncated, Φ(u′) stands for what would follow.
            // `EndPotential::Distance` is the paper's.
            let there = match (&result, config.end) {
                (_, EndPotential::Zero) if terminated => 0.0,
                (StepResult::Ended(DeadEnd), EndPotential::Distance) => {
                    assignment.potential(before)
                }
                _ => assignment.potential(state),
            };
            reward += f64::from(config.gamma * there - assignment.potential(before));
        }
        self.total_reward += reward;
        let Some(acted) = acted else {
            return result;
        };
        self.share(config.credit, reward as f32, acted);
        let next = assignment.agent(state);
        let leaves = next != Some(acted);
        if result == StepResult::Continues && !leaves {
            return result;
        }
        if config.credit == Credit::HandOver && leaves && next.is_some() {
            // The agent's sub-task is complete, for every outcome of the episode.
            self.close(acted, None);
        } else if !terminated {
            let machine_state = match &seen {
                Some(seen) if state != before && (leaves || assignment.ends_episode(state)) => {
                    MachineState {
                        state: before,
                        seen,
                    }
                }
                _ => self.machine_state(),
            };
            self.trajectories[acted].next =
                Some(self.observation(assignment, worlds, world, acted, machine_state));
        }
        if result != StepResult::Continues {
            self.close_all(terminated);
        }
        result
    }

    /// The effect of a step on the episode, in which the machine left this state.
    fn result(
        &self,
        assignment: &AgentAssignment,
        before: StateId,
        outcome: EpisodeOutcome,
    ) -> StepResult {
        // A machine that is terminal at reset is refuted by the next observation.
        let too_early = assignment.ends_episode(before) && self.recorder.steps().len() > 1;
        match too_early || assignment.disagrees(self.monitor.state(), outcome) {
            true => StepResult::Refuted(outcome),
            false if outcome.is_over() => StepResult::Ended(outcome),
            false => StepResult::Continues,
        }
    }

    /// Credits a reward: equal shares to all agents that have acted in the episode, or all of it to the one that acted now.
    fn share(&mut self, credit: Credit, reward: f32, acted: usize) {
        match credit {
            Credit::HandOver => self.trajectories[acted].steps.add_reward(reward),
            Credit::Shared => {
                let visited = |trajectory: &&mut OpenTrajectory| trajectory.visited;
                let count = self.trajectories.iter_mut().filter(visited).count();
                let share = reward / count.max(1) as f32;
                for trajectory in self.trajectories.iter_mut().filter(visited) {
                    trajectory.steps.add_reward(share);
                }
            }
        }
    }

    /// Closes the trajectory of an agent, if it has one: truncated before this observation, or terminated without one.
    fn close(&mut self, agent: usize, next: Option<Observation>) {
        let steps = std::mem::take(&mut self.trajectories[agent].steps);
        if !steps.is_empty() {
            let trajectory = ClosedTrajectory { steps, next };
            self.closed.push((agent, trajectory));
        }
    }

    /// Closes all trajectories at the end of the episode.
    fn close_all(&mut self, terminated: bool) {
        for agent in 0..self.trajectories.len() {
            let next = self.trajectories[agent].next.take();
            self.close(agent, next.filter(|_| !terminated));
        }
    }

    /// Truncates the trajectory of the agent that acts next, because the batch is full. The trajectories of other agents still
    /// receive shares of rewards, and stay open until the episode is over.
    pub(crate) fn truncate<W: Worlds>(
        &mut self,
        assignment: &AgentAssignment,
        worlds: &W,
        world: usize,
    ) {
        let Some(agent) = self.agent(assignment) else {
            return;
        };
        if self.trajectories[agent].steps.is_empty() {
            return;
        }
        let state = self.machine_state();
        let next = self.observation(assignment, worlds, world, agent, state);
        self.close(agent, Some(next));
    }

    pub(crate) fn machine_state(&self) -> MachineState<'_> {
        MachineState {
            state: self.monitor.state(),
            seen: self.monitor.seen(),
        }
    }

    /// An agent's observation of the world, for this state of the machine.
    fn observation<W: Worlds>(
        &self,
        assignment: &AgentAssignment,
        worlds: &W,
        world: usize,
        agent: usize,
        state: MachineState<'_>,
    ) -> Observation {
        let encoder = &assignment.roles()[agent].encoder;
        let mut observation = Observation {
            image: vec![0; encoder.image_len()],
            vector: vec![0.0; encoder.vector_len()],
            hidden_state: self.hidden_state.clone(),
        };
        let (image, vector) = (&mut observation.image, &mut observation.vector);
        encoder.encode(worlds, world, &self.machine, state, image, vector);
        observation
    }
}
