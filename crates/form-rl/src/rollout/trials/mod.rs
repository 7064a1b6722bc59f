//! Trajectories against a second account of what happened: random machines, random walks, and for every episode a story that is
//! told from its actions alone, step by step and without the game.

#![allow(clippy::unwrap_used, reason = "in a test it is the assertion")]

mod machines;
mod story;
mod told;

use std::collections::{BTreeMap, BTreeSet};

use form_env::{Copies, Worlds};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

use self::story::Story;
use self::told::Told;
use super::experience::{End, Experience, Finished};
use super::game::Game;
use super::rules::{Credit, Episode, GameConfig};
use crate::agents::cast::{Cast, Roles};
use crate::agents::sight::Progress;
use crate::{Agent, Batch, NetworkStyle, Outputs, PpoConfig};

const SEED: u64 = 7;

/// What is played, and by which rules.
#[derive(Clone, Debug)]
struct Trial {
    machine: String,
    /// The machine by which the world says that an episode is over, if it is another one.
    truth: Option<String>,
    roles: Roles,
    config: GameConfig,
    /// Batches and their steps.
    batches: Vec<usize>,
    limit: usize,
    /// Units of memory.
    memory: usize,
}

/// All that came of a trial.
struct Record {
    stories: BTreeMap<u32, Story>,
    episodes: Vec<Episode>,
    /// Trajectories with their agents, batch after batch.
    finished: Vec<(usize, Finished)>,
}

fn trials() -> impl Strategy<Value = Trial> {
    let credit = prop_oneof![3 => Just(Credit::Shared), 2 => Just(Credit::HandOver)];
    let roles = prop_oneof![
        6 => Just(Roles::PerState),
        1 => Just(Roles::Single),
        1 => Just(Roles::Unaided)
    ];
    let config = (credit, any::<bool>()).prop_map(|(credit, shaping)| GameConfig {
        credit,
        shaping: shaping || credit == Credit::HandOver,
        gamma: 0.9,
    });
    (
        machines::machines(),
        prop::option::weighted(0.3, machines::machines()),
        roles,
        config,
        prop::collection::vec(1_usize..12, 1..6),
        1_usize..25,
    )
        .prop_map(|(machine, truth, roles, config, batches, limit)| Trial {
            machine,
            truth,
            roles,
            config,
            batches,
            limit,
            memory: 0,
        })
}

impl Trial {
    fn world(&self) -> Told {
        Told::new(self.truth.as_ref().unwrap_or(&self.machine), self.limit)
    }

    fn game(&self) -> Game<Copies<Told>> {
        let worlds = Copies::new(vec![self.world(); 3], SEED).unwrap();
        let machine: form_core::Machine = self.machine.parse().unwrap();
        let machine = machine.bind(worlds.signature()).unwrap();
        let cast = Cast::new(machine, self.roles, Progress::Bits, worlds.spec());
        Game::new(worlds, cast, self.config.clone(), 2 * self.memory).unwrap()
    }

    fn agents(&self, game: &Game<Copies<Told>>) -> Vec<Agent> {
        let style = NetworkStyle {
            vector_units: 4,
            hidden: vec![4],
            memory: self.memory,
            ..NetworkStyle::default()
        };
        let mut random = Pcg64Mcg::seed_from_u64(1);
        let (training, actions) = (PpoConfig::default(), game.worlds().actions().len());
        (game.cast().parts().iter())
            .map(|part| {
                let network = style.network(&part.sight, actions);
                Agent::new(&part.name, &network, 1, &training, &mut random).unwrap()
            })
            .collect()
    }

    fn run(&self) -> Record {
        let mut game = self.game();
        let mut agents = self.agents(&game);
        let mut random = Pcg64Mcg::seed_from_u64(2);
        let (mut episodes, mut finished) = (Vec::new(), Vec::new());
        for steps in &self.batches {
            let gathered = game.gather(&mut agents, *steps, &mut random, &mut episodes);
            for (agent, gathered) in gathered.unwrap().into_iter().enumerate() {
                finished.extend(gathered.into_iter().map(|one| (agent, one)));
            }
        }
        let over = episodes
            .iter()
            .map(|one| (one.world, one.number, &one.actions));
        let open = game.players.iter().enumerate();
        let open = open.map(|(world, player)| (world, game.worlds.episode(world), &player.actions));
        let tell = |(world, number, actions): (usize, u64, &Vec<u8>)| {
            let story = Story::tell(self, world, number, actions);
            (story.id, story)
        };
        Record {
            stories: over.chain(open).map(tell).collect(),
            episodes,
            finished,
        }
    }
}

/// The episode and the step in it at which something was seen.
fn when(vector: &[f32]) -> (u32, usize) {
    (vector[0] as u32, vector[1] as usize)
}

fn close(found: f32, expected: f64) -> bool {
    (f64::from(found) - expected).abs() < 1e-5
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    /// Every step of an agent is handed out once, by the end of its episode, and earned what the rules say.
    #[test]
    fn every_step_is_handed_out_once_and_earns_what_it_should(trial in trials()) {
        let record = trial.run();
        let mut earned: BTreeMap<u32, f64> = BTreeMap::new();
        let mut steps = BTreeSet::new();
        for (agent, Finished { steps: those, .. }) in &record.finished {
            let size = those.vectors.len() / those.actions.len();
            for (place, vector) in those.vectors.chunks_exact(size).enumerate() {
                let (id, time) = when(vector);
                let story = &record.stories[&id];
                prop_assert!(steps.insert((id, time)), "twice");
                prop_assert_eq!(story.steps[time].actor, Some(*agent));
                prop_assert_eq!(story.steps[time].action, those.actions[place]);
                prop_assert_eq!(&story.steps[time].view, vector);
                let expected = story.rewards(trial.config.credit)[time];
                let found = those.rewards[place];
                prop_assert!(close(found, expected), "{found}, not {expected}");
                *earned.entry(id).or_default() += f64::from(found);
                prop_assert_eq!(those.starts[place], time == 0);
            }
        }
        for episode in &record.episodes {
            let found = record.stories.values().find(|story| story.is(episode)).unwrap();
            let acted = found.steps.iter().filter(|step| step.actor.is_some()).count();
            let handed_out = steps.range((found.id, 0)..(found.id + 1, 0)).count();
            prop_assert_eq!(handed_out, acted, "of episode {:?}", episode);
            if acted > 0 {
                let total = earned[&found.id];
                prop_assert!(close(total as f32, episode.earned), "{total}, not {}", episode.earned);
            }
        }
    }

    /// What an agent that was cut off would have seen next; and nothing where the episode, or its turn, came to its end.
    #[test]
    fn trajectories_end_as_they_should(trial in trials()) {
        let record = trial.run();
        for (_, Finished { steps, end }) in &record.finished {
            let size = steps.vectors.len() / steps.actions.len();
            let (id, last) = when(&steps.vectors[steps.vectors.len() - size..]);
            let story = &record.stories[&id];
            let expected = story.end(last, &trial);
            match end {
                End::Terminated => prop_assert_eq!(None, expected),
                End::Truncated(glance) => prop_assert_eq!(Some(&glance.vector), expected.as_ref()),
            }
        }
    }

    /// Advantages with the agent's own critic where a trajectory was cut off, and with 0 where it was over.
    #[test]
    fn only_truncated_trajectories_are_bootstrapped(trial in trials()) {
        let record = trial.run();
        let mut agents = trial.agents(&trial.game());
        let training = PpoConfig { gamma: 0.9, lambda: 0.8, ..PpoConfig::default() };
        for (number, agent) in agents.iter_mut().enumerate() {
            let own = record.finished.iter().filter(|(agent, _)| *agent == number);
            let own: Vec<Finished> = own.map(|(_, finished)| finished.clone()).collect();
            let judged = Experience::judge(agent, own.clone(), &training).unwrap();
            let mut at = 0;
            for Finished { steps, end } in own {
                let mut next = match end {
                    End::Terminated => 0.0,
                    End::Truncated(after) => {
                        let mut outputs = Outputs::default();
                        agent.evaluate(&Batch::all(&[], &after.vector), &mut outputs).unwrap();
                        f64::from(outputs.values[0])
                    }
                };
                let mut advantage = 0.0;
                for step in (0..steps.actions.len()).rev() {
                    let value = f64::from(steps.values[step]);
                    let error = f64::from(steps.rewards[step]) + 0.9 * next - value;
                    advantage = error + 0.9 * 0.8 * advantage;
                    next = value;
                    prop_assert!(close(judged.advantages()[at + step], advantage));
                    prop_assert!(close(judged.returns()[at + step], advantage + value));
                }
                at += steps.actions.len();
            }
            prop_assert_eq!(at, judged.len());
        }
    }

    /// An episode is refuted where its trace is a disagreement, and not before.
    #[test]
    fn counterexamples_are_disagreements(trial in trials()) {
        prop_assume!(trial.roles != Roles::Unaided);
        let record = trial.run();
        let (signature, machine) = (told::signature(), &trial.machine);
        let machine = machine.parse::<form_core::Machine>().unwrap().bind(&signature).unwrap();
        for episode in &record.episodes {
            let story = record.stories.values().find(|story| story.is(episode)).unwrap();
            let whole = story.trace(episode.steps());
            prop_assert_eq!(whole.kind(), episode.outcome.kind());
            let disagreement = whole.disagreement(&machine);
            prop_assert_eq!(episode.counterexample.is_some(), disagreement.is_some());
            if let Some(trace) = &episode.counterexample {
                prop_assert_eq!(trace, &whole);
            }
            for steps in 1..episode.steps() {
                prop_assert_eq!(story.trace(steps).disagreement(&machine), None);
            }
        }
    }
}

/// Where a batch cuts a trajectory off, the critic is asked about what the agent sees, and remembers, when it goes on.
#[test]
fn a_batch_ends_with_the_value_that_the_next_one_begins_with() {
    for memory in [0, 3] {
        let trial = Trial {
            machine: "initial u0\naccept u_acc\nu0 -> u_acc : a and b".to_owned(),
            truth: None,
            roles: Roles::Unaided,
            config: GameConfig {
                credit: Credit::Shared,
                shaping: false,
                gamma: 0.9,
            },
            batches: Vec::new(),
            limit: 100,
            memory,
        };
        let (mut game, training) = (trial.game(), PpoConfig::default());
        let mut agents = trial.agents(&game);
        let (mut random, mut episodes) = (Pcg64Mcg::seed_from_u64(2), Vec::new());
        let mut gather =
            |agents: &mut [Agent]| game.gather(agents, 5, &mut random, &mut episodes).unwrap();
        let first = gather(&mut agents).remove(0);
        let next = gather(&mut agents).remove(0);
        assert_eq!([first.len(), next.len()], [3, 3]);
        let judged = Experience::judge(&mut agents[0], first, &training).unwrap();
        for (world, next) in next.iter().enumerate() {
            let last = judged.returns()[5 * world + 4];
            let expected = f64::from(training.gamma * next.steps.values[0]);
            assert!(close(last, expected), "{last}, not {expected}");
        }
        assert!(episodes.is_empty());
    }
}

/// The property tests above would pass on trials in which nothing happens.
#[test]
fn trials_are_varied() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut refuted, mut won, mut out_of_time, mut held, mut again) = (0, 0, 0, 0, 0);
    for _ in 0..200 {
        let trial = trials().new_tree(&mut runner).unwrap().current();
        let record = trial.run();
        for episode in &record.episodes {
            refuted += usize::from(episode.counterexample.is_some());
            won += usize::from(episode.is_success());
            out_of_time += usize::from(episode.outcome == form_env::Outcome::OutOfTime);
        }
        for story in record.stories.values() {
            let actors: Vec<_> = story.steps.iter().map(|step| step.actor).collect();
            let agents: BTreeSet<_> = actors.iter().collect();
            let turns = 1 + actors.windows(2).filter(|two| two[0] != two[1]).count();
            held += usize::from(agents.len() > 1);
            again += usize::from(turns > agents.len() && !actors.is_empty());
        }
    }
    let counts = [refuted, won, out_of_time, held, again];
    assert!(counts.iter().all(|count| *count > 40), "{counts:?}");
}
