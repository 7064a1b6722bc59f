//! The agents of a game, asked step by step in a world that someone else steps.

use form_env::Worlds;

use super::env_slot::{EnvSlot, StepResult};
use super::game::Game;
use super::game_config::GameConfig;
use super::inference::Inference;
use super::label_noise::WrongLabels;
use crate::agents::agent_assignment::{AgentAssignment, AssignmentMode};
use crate::reach_avoid::navigator::Navigator;
use crate::{Agent, Result};

/// Agents that play in the first of some worlds, which their caller steps: [`Player::begin`] after a reset, [`Player::observe`]
/// after a step, and [`Player::logits`] in between. They act as in a [`Game`].
#[derive(Debug)]
pub struct Player {
    assignment: AgentAssignment,
    config: GameConfig,
    agents: Vec<Agent>,
    slots: [EnvSlot; 1],
    inference: Vec<Inference>,
    navigator: Option<Navigator>,
    /// The logits of the present step, once they were asked for: a recurrent layer takes every step once.
    logits: Option<Option<Vec<f32>>>,
}

impl Player {
    /// Agents for such worlds, at the start of an episode. Fails if they do not fit.
    pub fn new<W: Worlds + Clone>(
        worlds: &W,
        assignment: AgentAssignment,
        config: GameConfig,
        agents: Vec<Agent>,
        hidden_size: usize,
    ) -> Result<Self> {
        let game = Game::new(
            worlds.clone(),
            assignment.clone(),
            config.clone(),
            hidden_size,
        )?;
        game.check_agents(agents.iter().map(|agent| (agent.name(), agent.network())))?;
        let mut player = Self {
            slots: [EnvSlot::new(&assignment, hidden_size)],
            inference: agents.iter().map(|_| Inference::default()).collect(),
            navigator: assignment.policy().map(|policy| Navigator::new(policy)),
            assignment,
            config,
            agents,
            logits: None,
        };
        player.begin(worlds);
        Ok(player)
    }

    /// Who acts in which state.
    pub fn assignment(&self) -> &AgentAssignment {
        &self.assignment
    }

    /// The name of the machine's state.
    pub fn state(&self) -> &str {
        let state = self.slots[0].monitor.state();
        self.assignment.machine().state_name(state)
    }

    /// An episode has begun.
    pub fn begin<W: Worlds>(&mut self, worlds: &W) {
        self.slots[0].begin(&self.assignment, worlds, 0, WrongLabels::default());
        self.logits = None;
    }

    /// The world has taken this action. Returns whether the machine agrees with it: where it does not, a game would stop.
    pub fn observe<W: Worlds>(&mut self, worlds: &W, action: u8) -> bool {
        let slot = &mut self.slots[0];
        slot.actions.push(action);
        self.logits = None;
        let result = slot.advance(&self.assignment, &self.config, worlds, 0, None);
        !matches!(result, StepResult::Refuted(_))
    }

    /// The logits of the actions; nothing where actions are random: before a machine is known that can accept, where the machine is
    /// terminal and the world is not, and where a reach-avoid policy has no plan.
    pub fn logits<W: Worlds>(&mut self, worlds: &W) -> Result<Option<&[f32]>> {
        let logits = match self.logits.take() {
            Some(known) => known,
            None => self.evaluate(worlds)?,
        };
        Ok(self.logits.insert(logits).as_deref())
    }

    fn evaluate<W: Worlds>(&mut self, worlds: &W) -> Result<Option<Vec<f32>>> {
        let assignment = &self.assignment;
        if assignment.mode() != AssignmentMode::Unaided && !assignment.can_accept() {
            return Ok(None);
        }
        if let Some(number) = self.slots[0].agent(assignment) {
            let inference = &mut self.inference[number];
            inference.worlds = vec![0];
            inference.gather(number, assignment, worlds, &self.slots);
            if let Some(mut policy) = self.agents[number].evaluators().next() {
                inference.evaluate(&mut policy, &mut self.slots)?;
            }
            return Ok(Some(inference.outputs.logits.clone()));
        }
        let (slot, machine) = (&mut self.slots[0], assignment.machine());
        let running = !machine.is_terminal(slot.monitor.state());
        let navigator = self.navigator.as_mut().filter(|_| running);
        let logits = navigator.and_then(|navigator| slot.reach_avoid_logits(navigator, worlds, 0));
        Ok(logits.map(|logits| logits.to_vec()))
    }
}
