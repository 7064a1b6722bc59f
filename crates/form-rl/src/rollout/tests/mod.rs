//! Property tests of rollouts: random machines and random actions, compared with a reference implementation that replays every
//! episode from its actions, without the game.

#![allow(clippy::unwrap_used, reason = "in a test it is the assertion")]

mod machines;
mod reference_rollout;
mod scripted_env;

use std::collections::{BTreeMap, BTreeSet};

use form_env::{Copies, Worlds};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

use self::reference_rollout::ReferenceRollout;
use self::scripted_env::ScriptedEnv;
use super::game::Game;
use super::game_config::{Credit, EndPotential, Episode, GameConfig};
use crate::agents::agent_assignment::{AgentAssignment, AssignmentMode};
use crate::agents::observation_encoder::ProgressEncoding;
use crate::experience::ClosedTrajectory;
use crate::{Agent, Architecture, Batch, Outputs, PpoConfig};

const SEED: u64 = 7;

/// A game to play.
#[derive(Clone, Debug)]
struct Scenario {
    machine: String,
    /// The world's own machine, if it is another one.
    truth: Option<String>,
    roles: AssignmentMode,
    config: GameConfig,
    /// The number of steps of each batch.
    batches: Vec<usize>,
    limit: usize,
    /// Units of the LSTM.
    memory: usize,
}

/// The rollouts of a scenario.
struct Record {
    references: BTreeMap<u32, ReferenceRollout>,
    episodes: Vec<Episode>,
    /// Trajectories with their agents, batch after batch.
    closed: Vec<(usize, ClosedTrajectory)>,
}

fn scenarios() -> impl Strategy<Value = Scenario> {
    let credit = prop_oneof![3 => Just(Credit::Shared), 2 => Just(Credit::HandOver)];
    let roles = prop_oneof![
        6 => Just(AssignmentMode::PerState),
        1 => Just(AssignmentMode::Single),
        1 => Just(AssignmentMode::Unaided)
    ];
    let ends = prop_oneof![Just(EndPotential::Zero), Just(EndPotential::Distance)];
    let config = (credit, any::<bool>(), ends).prop_map(|(credit, shaping, end)| GameConfig {
        credit,
        shaping: shaping || credit == Credit::HandOver,
        gamma: 0.9,
        end,
    });
    (
        machines::machines(),
        prop::option::weighted(0.3, machines::machines()),
        roles,
        config,
        prop::collection::vec(1_usize..12, 1..6),
        1_usize..25,
    )
        .prop_map(|(machine, truth, roles, config, batches, limit)| Scenario {
            machine,
            truth,
            roles,
            config,
            batches,
            limit,
            memory: 0,
        })
}

impl Scenario {
    fn world(&self) -> ScriptedEnv {
        ScriptedEnv::new(self.truth.as_ref().unwrap_or(&self.machine), self.limit)
    }

    fn game(&self) -> Game<Copies<ScriptedEnv>> {
        let worlds = Copies::new(vec![self.world(); 3], SEED).unwrap();
        let machine: form_core::Machine = self.machine.parse().unwrap();
        let machine = machine.bind(worlds.signature()).unwrap();
        let assignment =
            AgentAssignment::new(machine, self.roles, ProgressEncoding::Bits, worlds.spec());
        Game::new(worlds, assignment, self.config.clone(), 2 * self.memory).unwrap()
    }

    fn agents(&self, game: &Game<Copies<ScriptedEnv>>) -> Vec<Agent> {
        let architecture = Architecture {
            vector_units: 4,
            hidden: vec![4],
            memory: self.memory,
            ..Architecture::default()
        };
        let mut random = Pcg64Mcg::seed_from_u64(1);
        let (training, actions) = (PpoConfig::default(), game.worlds().actions().len());
        (game.assignment().roles().iter())
            .map(|part| {
                let network = architecture.network(&part.encoder, actions);
                Agent::new(&part.name, &network, 1, &training, &mut random).unwrap()
            })
            .collect()
    }

    fn run(&self) -> Record {
        let mut game = self.game();
        let mut agents = self.agents(&game);
        let mut random = Pcg64Mcg::seed_from_u64(2);
        let (mut episodes, mut closed) = (Vec::new(), Vec::new());
        for steps in &self.batches {
            let batch = game.rollout(&mut agents, *steps, &mut random, &mut episodes);
            for (agent, own) in batch.unwrap().into_iter().enumerate() {
                closed.extend(own.into_iter().map(|one| (agent, one)));
            }
        }
        let over = episodes
            .iter()
            .map(|one| (one.world, one.number, &one.actions));
        let open = game.slots.iter().enumerate();
        let open = open.map(|(world, slot)| (world, game.worlds.episode(world), &slot.actions));
        let replay = |(world, number, actions): (usize, u64, &Vec<u8>)| {
            let reference = ReferenceRollout::replay(self, world, number, actions);
            (reference.id, reference)
        };
        Record {
            references: over.chain(open).map(replay).collect(),
            episodes,
            closed,
        }
    }
}

/// The episode and the step of an observation.
fn when(vector: &[f32]) -> (u32, usize) {
    (vector[0] as u32, vector[1] as usize)
}

fn close(found: f32, expected: f64) -> bool {
    (f64::from(found) - expected).abs() < 1e-5
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    /// Every step of an agent is handed out once, by the end of its episode, with the reward of the reference.
    #[test]
    fn every_step_is_handed_out_once_and_earns_what_it_should(scenario in scenarios()) {
        let record = scenario.run();
        let mut earned: BTreeMap<u32, f64> = BTreeMap::new();
        let mut steps = BTreeSet::new();
        for (agent, ClosedTrajectory { steps: those, .. }) in &record.closed {
            let size = those.vectors.len() / those.actions.len();
            for (place, vector) in those.vectors.chunks_exact(size).enumerate() {
                let (id, time) = when(vector);
                let reference = &record.references[&id];
                prop_assert!(steps.insert((id, time)), "twice");
                prop_assert_eq!(reference.steps[time].actor, Some(*agent));
                prop_assert_eq!(reference.steps[time].action, those.actions[place]);
                prop_assert_eq!(&reference.steps[time].view, vector);
                let expected = reference.rewards(scenario.config.credit)[time];
                let found = those.rewards[place];
                prop_assert!(close(found, expected), "{found}, not {expected}");
                *earned.entry(id).or_default() += f64::from(found);
                prop_assert_eq!(those.starts[place], time == 0);
            }
        }
        for episode in &record.episodes {
            let found = record.references.values().find(|reference| reference.is(episode)).unwrap();
            let acted = found.steps.iter().filter(|step| step.actor.is_some()).count();
            let handed_out = steps.range((found.id, 0)..(found.id + 1, 0)).count();
            prop_assert_eq!(handed_out, acted, "of episode {:?}", episode);
            if acted > 0 {
                let total = earned[&found.id];
                prop_assert!(close(total as f32, episode.total_reward), "{total}, not {}", episode.total_reward);
            }
        }
    }

    /// Potential-based shaping (Ng, Harada, Russell 1999) prefers no policy: whatever is done in an episode that terminates, its
    /// discounted return differs by −Φ of its first state from the one without shaping.
    #[test]
    fn shaping_adds_a_constant_to_the_return_of_every_policy(scenario in scenarios()) {
        let aided = scenario.roles != AssignmentMode::Unaided;
        prop_assume!(aided && scenario.config.credit == Credit::HandOver);
        let mut scenario = scenario;
        scenario.config.end = EndPotential::Zero;
        let record = scenario.run();
        let mut rewards: BTreeMap<(u32, usize), f64> = BTreeMap::new();
        for (_, ClosedTrajectory { steps, .. }) in &record.closed {
            let size = steps.vectors.len() / steps.actions.len();
            for (vector, reward) in steps.vectors.chunks_exact(size).zip(&steps.rewards) {
                rewards.insert(when(vector), f64::from(*reward));
            }
        }
        let mut plain = scenario.clone();
        plain.config.shaping = false;
        for episode in record.episodes.iter().filter(|episode| {
            episode.counterexample.is_none() && episode.outcome.kind() != form_core::Kind::Incomplete
        }) {
            let shaped = record.references.values().find(|reference| reference.is(episode)).unwrap();
            let plain = ReferenceRollout::replay(&plain, episode.world, episode.number, &episode.actions);
            // A machine that is terminal at reset has no agent to earn anything.
            let Some(first) = shaped.steps.first().filter(|step| step.actor.is_some()) else { continue };
            let difference: f64 = (plain.steps.iter().enumerate())
                .map(|(time, step)| 0.9_f64.powi(time as i32) * (rewards[&(shaped.id, time)] - step.earned))
                .sum();
            let machine = scenario.machine.parse().unwrap();
            let constant = -reference_rollout::potential(&machine, first.before);
            prop_assert!(close(difference as f32, constant), "{difference}, not {constant}");
        }
    }

    /// Truncated trajectories have the observation after them, terminated ones have none.
    #[test]
    fn trajectories_end_as_they_should(scenario in scenarios()) {
        let record = scenario.run();
        for (_, ClosedTrajectory { steps, next }) in &record.closed {
            let size = steps.vectors.len() / steps.actions.len();
            let (id, last) = when(&steps.vectors[steps.vectors.len() - size..]);
            let reference = &record.references[&id];
            let expected = reference.end(last, &scenario);
            prop_assert_eq!(next.as_ref().map(|next| &next.vector), expected.as_ref());
        }
    }

    /// Truncated trajectories are bootstrapped by the agent's own critic, terminated ones by 0.
    #[test]
    fn only_truncated_trajectories_are_bootstrapped(scenario in scenarios()) {
        let record = scenario.run();
        let mut agents = scenario.agents(&scenario.game());
        let training = PpoConfig { gamma: 0.9, lambda: 0.8, ..PpoConfig::default() };
        for (number, agent) in agents.iter_mut().enumerate() {
            let own = record.closed.iter().filter(|(agent, _)| *agent == number);
            let own: Vec<ClosedTrajectory> = own.map(|(_, closed)| closed.clone()).collect();
            let experience = agent.estimate_advantages(own.clone(), &training).unwrap();
            let mut at = 0;
            for ClosedTrajectory { steps, next } in own {
                let mut next_value = match next {
                    None => 0.0,
                    Some(after) => {
                        let mut outputs = Outputs::default();
                        agent.evaluate(&Batch::all(&[], &after.vector), &mut outputs).unwrap();
                        f64::from(outputs.values[0])
                    }
                };
                let mut advantage = 0.0;
                for step in (0..steps.actions.len()).rev() {
                    let value = f64::from(steps.values[step]);
                    let error = f64::from(steps.rewards[step]) + 0.9 * next_value - value;
                    advantage = error + 0.9 * 0.8 * advantage;
                    next_value = value;
                    prop_assert!(close(experience.advantages()[at + step], advantage));
                    prop_assert!(close(experience.returns()[at + step], advantage + value));
                }
                at += steps.actions.len();
            }
            prop_assert_eq!(at, experience.len());
        }
    }

    /// An episode is refuted where its trace is a disagreement, and not before.
    #[test]
    fn counterexamples_are_disagreements(scenario in scenarios()) {
        prop_assume!(scenario.roles != AssignmentMode::Unaided);
        let record = scenario.run();
        let (signature, machine) = (scripted_env::signature(), &scenario.machine);
        let machine = machine.parse::<form_core::Machine>().unwrap().bind(&signature).unwrap();
        for episode in &record.episodes {
            let reference = record.references.values().find(|reference| reference.is(episode)).unwrap();
            let whole = reference.trace(episode.steps());
            prop_assert_eq!(whole.kind(), episode.outcome.kind());
            let disagreement = whole.disagreement(&machine);
            prop_assert_eq!(episode.counterexample.is_some(), disagreement.is_some());
            if let Some(trace) = &episode.counterexample {
                prop_assert_eq!(trace, &whole);
            }
            for steps in 1..episode.steps() {
                prop_assert_eq!(reference.trace(steps).disagreement(&machine), None);
            }
        }
    }
}

/// A trajectory that is truncated by the end of a batch is bootstrapped with the observation and hidden state of the next step.
#[test]
fn a_batch_ends_with_the_value_that_the_next_one_begins_with() {
    for memory in [0, 3] {
        let scenario = Scenario {
            machine: "initial u0\naccept u_acc\nu0 -> u_acc : a and b".to_owned(),
            truth: None,
            roles: AssignmentMode::Unaided,
            config: GameConfig {
                credit: Credit::Shared,
                shaping: false,
                gamma: 0.9,
                end: EndPotential::Zero,
            },
            batches: Vec::new(),
            limit: 100,
            memory,
        };
        let (mut game, training) = (scenario.game(), PpoConfig::default());
        let mut agents = scenario.agents(&game);
        let (mut random, mut episodes) = (Pcg64Mcg::seed_from_u64(2), Vec::new());
        let mut rollout =
            |agents: &mut [Agent]| game.rollout(agents, 5, &mut random, &mut episodes).unwrap();
        let first = rollout(&mut agents).remove(0);
        let next = rollout(&mut agents).remove(0);
        assert_eq!([first.len(), next.len()], [3, 3]);
        let experience = agents[0].estimate_advantages(first, &training).unwrap();
        for (world, next) in next.iter().enumerate() {
            let last = experience.returns()[5 * world + 4];
            let expected = f64::from(training.gamma * next.steps.values[0]);
            assert!(close(last, expected), "{last}, not {expected}");
        }
        assert!(episodes.is_empty());
    }
}

/// The first step is paid what the machine owes for the labels at reset, once.
#[test]
fn a_reward_at_reset_is_paid_with_the_first_step() {
    // Whatever is true at reset is worth 0.3; nothing else is worth anything.
    let atoms = ["a", "b", "p(x)", "p(y)"];
    let edges: String = (atoms.iter())
        .map(|atom| format!("u0 -> u1 : {atom} => 0.3\n"))
        .collect();
    let scenario = Scenario {
        machine: format!("initial u0\naccept u_acc\n{edges}u1 -> u_acc : a and b\n"),
        truth: None,
        roles: AssignmentMode::Single,
        config: GameConfig {
            credit: Credit::Shared,
            shaping: false,
            gamma: 0.9,
            end: EndPotential::Zero,
        },
        batches: vec![9],
        limit: 3,
        memory: 0,
    };
    let record = scenario.run();
    let mut paid_at_reset = 0;
    for (_, ClosedTrajectory { steps, .. }) in &record.closed {
        let size = steps.vectors.len() / steps.actions.len();
        let (id, first) = when(&steps.vectors[..size]);
        let labelled = record.references[&id].begins_with_a_label();
        if first == 0 && labelled {
            paid_at_reset += 1;
            assert!(close(steps.rewards[0], 0.3), "{:?}", steps.rewards);
            assert!(
                steps.rewards[1..].iter().all(|reward| *reward == 0.0),
                "{:?}",
                steps.rewards
            );
        }
    }
    assert!(paid_at_reset > 0);
}

/// The property tests above would pass on scenarios in which nothing happens.
#[test]
fn trials_are_varied() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut refuted, mut won, mut out_of_time, mut held, mut again) = (0, 0, 0, 0, 0);
    for _ in 0..200 {
        let scenario = scenarios().new_tree(&mut runner).unwrap().current();
        let record = scenario.run();
        for episode in &record.episodes {
            refuted += usize::from(episode.counterexample.is_some());
            won += usize::from(episode.is_success());
            out_of_time += usize::from(episode.outcome == form_env::EpisodeOutcome::OutOfTime);
        }
        for reference in record.references.values() {
            let actors: Vec<_> = reference.steps.iter().map(|step| step.actor).collect();
            let agents: BTreeSet<_> = actors.iter().collect();
            let turns = 1 + actors.windows(2).filter(|two| two[0] != two[1]).count();
            held += usize::from(agents.len() > 1);
            again += usize::from(turns > agents.len() && !actors.is_empty());
        }
    }
    let counts = [refuted, won, out_of_time, held, again];
    assert!(counts.iter().all(|count| *count > 40), "{counts:?}");
}
