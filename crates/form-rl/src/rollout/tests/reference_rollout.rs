//! A reference implementation of rollouts: one episode replayed from its actions, transcribed from the paper.

use form_core::{AtomSet, BoundMachine, Kind, Machine, Run, StateId, Trace};
use form_env::{Environment, EpisodeOutcome, Stream, generator};

use super::scripted_env::{ScriptedEnv, signature};
use super::{SEED, Scenario};
use crate::agents::agent_assignment::AssignmentMode;
use crate::rollout::game_config::{Credit, EndPotential, Episode};

/// One step.
pub(super) struct Step {
    pub(super) action: u8,
    /// The agent that acted.
    pub(super) actor: Option<usize>,
    /// The reward of the step, before it is shared.
    pub(super) earned: f64,
    labels: AtomSet,
    outcome: EpisodeOutcome,
    /// The agent's observation before the step.
    pub(super) view: Vec<f32>,
    /// The world's observation after the step.
    world: Vec<f32>,
    pub(super) before: StateId,
    after: StateId,
    /// Since `before` was entered, the step included.
    seen: AtomSet,
    /// Since `after` was entered.
    buffer: AtomSet,
}

/// An episode.
pub(super) struct ReferenceRollout {
    /// As its observations have it.
    pub(super) id: u32,
    place: (usize, u64),
    first: AtomSet,
    pub(super) steps: Vec<Step>,
    machine: BoundMachine,
}

impl ReferenceRollout {
    pub(super) fn replay(scenario: &Scenario, world: usize, number: u64, actions: &[u8]) -> Self {
        let machine: Machine = scenario.machine.parse().unwrap();
        let machine = machine.bind(&signature()).unwrap();
        let mut environment = scenario.world();
        let stream = Stream::Episode {
            world: world as u64,
            episode: number,
        };
        environment.reset(&mut generator(SEED, stream)).unwrap();
        let seen_of = |environment: &ScriptedEnv| {
            let mut vector = vec![0.0; 2];
            environment.observe(&mut [], &mut vector);
            vector
        };
        let id = seen_of(&environment)[0] as u32;
        let mut run = Run::new(&machine);
        let first = environment.labels().clone();
        // The reward of an edge that fires at reset is paid with the first step.
        let mut owed = run.step(&machine, &first).reward;
        let mut last = first.clone();
        let mut observations = usize::from(!first.is_empty());
        let mut steps = Vec::new();
        for action in actions {
            let (before, mut seen) = (run.state(), run.seen().clone());
            let view = view(
                &machine,
                seen_of(&environment),
                before,
                &seen,
                scenario.roles,
            );
            let outcome = environment.step(usize::from(*action)).unwrap();
            let labels = environment.labels().clone();
            let mut earned = 0.0;
            if !labels.is_empty() && labels != last {
                seen.union_with(&labels);
                earned = run.step(&machine, &labels).reward;
                last.clone_from(&labels);
                observations += 1;
            }
            earned += std::mem::take(&mut owed);
            if scenario.roles == AssignmentMode::Unaided {
                earned = f64::from(u8::from(outcome == EpisodeOutcome::Goal));
            } else if scenario.config.shaping {
                let lifted = machine.machine();
                // Over, as the machine agrees: nothing follows.
                let terminated = match outcome {
                    EpisodeOutcome::Goal => run.state() == lifted.accept(),
                    EpisodeOutcome::DeadEnd => Some(run.state()) == lifted.reject(),
                    _ => false,
                };
                let too_early = lifted.is_terminal(before) && observations > 1;
                let there = match scenario.config.end {
                    EndPotential::Zero if terminated && !too_early => 0.0,
                    EndPotential::Distance if terminated && !too_early => match outcome {
                        EpisodeOutcome::DeadEnd => potential(lifted, before),
                        _ => 1.0,
                    },
                    _ => potential(lifted, run.state()),
                };
                earned += 0.9 * there - potential(lifted, before);
            }
            steps.push(Step {
                action: *action,
                actor: actor(machine.machine(), before, scenario.roles),
                earned,
                labels,
                outcome,
                view,
                world: seen_of(&environment),
                before,
                after: run.state(),
                seen,
                buffer: run.seen().clone(),
            });
        }
        Self {
            id,
            place: (world, number),
            first,
            steps,
            machine,
        }
    }

    pub(super) fn is(&self, episode: &Episode) -> bool {
        self.place == (episode.world, episode.number)
    }

    /// Whether something is true at reset.
    pub(super) fn begins_with_a_label(&self) -> bool {
        !self.first.is_empty()
    }

    /// The trace of the first steps.
    pub(super) fn trace(&self, steps: usize) -> Trace {
        let kind =
            (self.steps[..steps].last()).map_or(Kind::Incomplete, |step| step.outcome.kind());
        let later = self.steps[..steps].iter().map(|step| step.labels.clone());
        Trace::new(kind, [self.first.clone()].into_iter().chain(later))
    }

    /// The reward of every step for the agent that took it.
    pub(super) fn rewards(&self, credit: Credit) -> Vec<f64> {
        let mut rewards = vec![0.0; self.steps.len()];
        for (time, step) in self.steps.iter().enumerate() {
            if credit == Credit::HandOver {
                rewards[time] += step.earned;
                continue;
            }
            // The last action of every agent that has acted so far.
            let last: Vec<usize> = (0..=time)
                .filter(|earlier| {
                    let actor = self.steps[*earlier].actor;
                    (self.steps[earlier + 1..=time].iter()).all(|step| step.actor != actor)
                })
                .collect();
            for action in &last {
                rewards[*action] += step.earned / last.len() as f64;
            }
        }
        rewards
    }

    /// The observation after a step, if the trajectory of its agent was truncated there.
    pub(super) fn end(&self, last: usize, scenario: &Scenario) -> Option<Vec<f32>> {
        let lifted = self.machine.machine();
        let acts_after =
            |step: &Step| actor(lifted, step.after, scenario.roles) == self.steps[last].actor;
        let view = |step: &Step, state, seen: &AtomSet| {
            view(
                &self.machine,
                step.world.clone(),
                state,
                seen,
                scenario.roles,
            )
        };
        let step = &self.steps[last];
        if scenario.config.credit == Credit::HandOver
            && !lifted.is_terminal(step.after)
            && !acts_after(step)
        {
            return None;
        }
        let whole = self.trace(self.steps.len());
        let agreed = scenario.roles == AssignmentMode::Unaided
            || whole.disagreement(&self.machine).is_none();
        let is_over = !agreed || self.steps.last().unwrap().outcome.is_over();
        let goes_on = &self.steps[last..self.steps.len() - usize::from(is_over)];
        // Truncated at the end of a batch, when the agent acts again.
        if let Some(again) = goes_on.iter().find(|step| acts_after(step)) {
            return Some(view(again, again.after, &again.buffer));
        }
        if agreed && whole.kind() != Kind::Incomplete {
            return None;
        }
        let leaves = !acts_after(step) || lifted.is_terminal(step.after);
        Some(match leaves {
            true => view(step, step.before, &step.seen),
            false => view(step, step.after, &step.buffer),
        })
    }
}

/// The observation of the agent of a state, with this buffer.
fn view(
    machine: &BoundMachine,
    world: Vec<f32>,
    state: StateId,
    seen: &AtomSet,
    roles: AssignmentMode,
) -> Vec<f32> {
    let mut atoms = AtomSet::new();
    for other in machine.machine().state_ids() {
        if roles == AssignmentMode::Single || roles == AssignmentMode::PerState && other == state {
            atoms.union_with(machine.progress_atoms(other));
        }
    }
    let flag = |flag: bool| f32::from(u8::from(flag));
    let mut view = world;
    view.extend(atoms.iter().map(|atom| flag(seen.contains(atom))));
    if roles == AssignmentMode::Single {
        let states = machine.machine().state_ids();
        view.extend(states.map(|other| flag(other == state)));
    }
    view
}

fn actor(machine: &Machine, state: StateId, roles: AssignmentMode) -> Option<usize> {
    match roles {
        AssignmentMode::Single | AssignmentMode::Unaided => Some(0),
        AssignmentMode::PerState => (machine.state_ids())
            .filter(|state| !machine.is_terminal(*state))
            .position(|other| other == state),
        AssignmentMode::ReachAvoid => None,
    }
}

/// (N − d) / N, with d found by trying all lengths.
pub(super) fn potential(machine: &Machine, state: StateId) -> f64 {
    let count = machine.states().len();
    let mut reached = vec![state];
    for distance in 0..count {
        if reached.contains(&machine.accept()) {
            return (count - distance) as f64 / count as f64;
        }
        let next = machine
            .edges()
            .iter()
            .filter(|edge| reached.contains(&edge.from));
        reached = next.map(|edge| edge.to).collect();
    }
    0.0
}
