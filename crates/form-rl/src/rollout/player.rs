//! One world's part of the game: where its machine stands, and the trajectories of the agents in it.

use form_core::{AtomSet, Monitor, Recorder, StateId};
use form_env::{Outcome, Worlds};

use super::experience::{End, Finished, Glance, Steps};
use super::rules::{Credit, GameConfig};
use crate::agents::cast::{Cast, Roles};
use crate::agents::sight::Moment;

/// What an agent has done in the episode so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Part {
    /// Whether it has acted in this episode.
    pub(crate) visited: bool,
    /// Its steps that nobody has learnt from yet.
    pub(crate) steps: Steps,
    /// What it would see now, if it acts no longer.
    pub(crate) after: Option<Glance>,
}

/// One world's part of the game.
#[derive(Clone, Debug)]
pub(crate) struct Player {
    pub(crate) monitor: Monitor,
    pub(crate) recorder: Recorder,
    /// The actions of the episode so far.
    pub(crate) actions: Vec<u8>,
    /// Whether the episode is over and no other has begun.
    pub(crate) idle: bool,
    /// All rewards of the episode so far.
    pub(crate) earned: f64,
    /// By agent.
    pub(crate) parts: Vec<Part>,
    /// What the agents remember, one after another; only agents with memory do.
    pub(crate) memory: Vec<f32>,
    /// Trajectories that are over, with their agents.
    pub(crate) finished: Vec<(usize, Finished)>,
}

/// What a step did to an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// It goes on.
    GoesOn,
    /// It is over, as the world said.
    Over(Outcome),
    /// The machine disagrees with the world.
    Refuted(Outcome),
}

impl Player {
    pub(crate) fn new(cast: &Cast, memory: usize) -> Self {
        Self {
            monitor: Monitor::new(cast.machine()),
            recorder: Recorder::new(),
            actions: Vec::new(),
            idle: false,
            earned: 0.0,
            parts: vec![Part::default(); cast.parts().len()],
            memory: vec![0.0; memory],
            finished: Vec::new(),
        }
    }

    /// Begins an episode that has just been started in its world: the observation at reset counts.
    pub(crate) fn begin<W: Worlds>(&mut self, cast: &Cast, worlds: &W, world: usize) {
        self.monitor.reset(cast.machine());
        self.recorder = Recorder::new();
        self.actions.clear();
        self.idle = false;
        self.earned = 0.0;
        self.parts.fill(Part::default());
        self.memory.fill(0.0);
        self.hear(cast, worlds.labels(world));
    }

    fn hear(&mut self, cast: &Cast, labels: &AtomSet) -> f64 {
        self.recorder.observe(labels);
        self.monitor.observe(cast.machine(), labels).reward
    }

    /// Who acts now, if anybody.
    pub(crate) fn agent(&self, cast: &Cast) -> Option<usize> {
        cast.agent(self.monitor.state())
    }

    /// Takes in what a step did in the world: rewards and their shares, hand-overs, the end of the episode. `acted` is the agent
    /// whose step was put into its part.
    pub(crate) fn advance<W: Worlds>(
        &mut self,
        cast: &Cast,
        config: &GameConfig,
        worlds: &W,
        world: usize,
        acted: Option<usize>,
    ) -> Turn {
        let (labels, outcome) = (worlds.labels(world), worlds.outcome(world));
        let before = self.monitor.state();
        // The buffer is emptied when the state changes; the agent that leaves still wants to see it.
        let mut seen = None;
        let mut reward = 0.0;
        if !labels.is_empty() {
            seen = Some(self.monitor.seen().union(labels));
            reward = self.hear(cast, labels);
        }
        let state = self.monitor.state();
        if cast.roles() == Roles::Unaided {
            reward = f64::from(u8::from(outcome == Outcome::Goal));
        } else if config.shaping {
            let (here, there) = (cast.potential(before), cast.potential(state));
            reward += f64::from(config.gamma * there - here);
        }
        self.earned += reward;
        let turn = self.verdict(cast, before, outcome);
        let Some(acted) = acted else {
            return turn;
        };
        self.share(config.credit, reward as f32, acted);
        let next = cast.agent(state);
        let leaves = next != Some(acted);
        if turn == Turn::GoesOn && !leaves {
            return turn;
        }
        let terminated = matches!(turn, Turn::Over(Outcome::Goal | Outcome::DeadEnd));
        if config.credit == Credit::HandOver && leaves && next.is_some() {
            // Whatever comes of the episode, this agent has done its part.
            self.finish(acted, End::Terminated);
        } else if !terminated {
            let moment = match &seen {
                Some(seen) if state != before && (leaves || cast.is_over(state)) => Moment {
                    state: before,
                    seen,
                },
                _ => self.moment(),
            };
            let after = glance(cast, worlds, world, acted, moment, &self.memory);
            self.parts[acted].after = Some(after);
        }
        if turn != Turn::GoesOn {
            self.finish_all(terminated);
        }
        turn
    }

    /// Whether the episode goes on, now that its machine has moved on from this state.
    fn verdict(&self, cast: &Cast, before: StateId, outcome: Outcome) -> Turn {
        // A machine at its end before anything was done is wrong as soon as anything else is observed.
        let too_early = cast.is_over(before) && self.recorder.steps().len() > 1;
        match too_early || cast.disagrees(self.monitor.state(), outcome) {
            true => Turn::Refuted(outcome),
            false if outcome.is_over() => Turn::Over(outcome),
            false => Turn::GoesOn,
        }
    }

    /// Gives a reward to those who have contributed to it: equal shares for all whose states were visited, or all of it to the
    /// one who acted.
    fn share(&mut self, credit: Credit, reward: f32, acted: usize) {
        match credit {
            Credit::HandOver => self.parts[acted].steps.earn(reward),
            Credit::Shared => {
                let visited = self.parts.iter().filter(|part| part.visited).count();
                let share = reward / visited.max(1) as f32;
                for part in self.parts.iter_mut().filter(|part| part.visited) {
                    part.steps.earn(share);
                }
            }
        }
    }

    /// Closes the trajectory of an agent, if it has one.
    fn finish(&mut self, agent: usize, end: End) {
        let steps = std::mem::take(&mut self.parts[agent].steps);
        if !steps.is_empty() {
            self.finished.push((agent, Finished { steps, end }));
        }
    }

    /// Closes all trajectories: the episode is over.
    fn finish_all(&mut self, terminated: bool) {
        for agent in 0..self.parts.len() {
            let end = match self.parts[agent].after.take() {
                Some(after) if !terminated => End::Truncated(after),
                _ => End::Terminated,
            };
            self.finish(agent, end);
        }
    }

    /// Cuts off the trajectory of the agent that acts now: the batch is full. Those of agents that act no longer are not complete
    /// before their episode is over, and stay.
    pub(crate) fn cut<W: Worlds>(&mut self, cast: &Cast, worlds: &W, world: usize) {
        let Some(agent) = self.agent(cast) else {
            return;
        };
        if self.parts[agent].steps.is_empty() {
            return;
        }
        let after = glance(cast, worlds, world, agent, self.moment(), &self.memory);
        self.finish(agent, End::Truncated(after));
    }

    pub(crate) fn moment(&self) -> Moment<'_> {
        Moment {
            state: self.monitor.state(),
            seen: self.monitor.seen(),
        }
    }
}

/// What an agent sees of a world at a moment.
fn glance<W: Worlds>(
    cast: &Cast,
    worlds: &W,
    world: usize,
    agent: usize,
    moment: Moment<'_>,
    memory: &[f32],
) -> Glance {
    let sight = &cast.parts()[agent].sight;
    let mut glance = Glance {
        image: vec![0; sight.image_len()],
        vector: vec![0.0; sight.vector_len()],
        memory: memory.to_vec(),
    };
    let machine = cast.machine();
    let (image, vector) = (&mut glance.image, &mut glance.vector);
    sight.write(worlds, world, machine, moment, image, vector);
    glance
}
