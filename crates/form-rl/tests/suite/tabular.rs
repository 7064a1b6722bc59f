//! Tabular methods: CRM reaches the optimum, windows of `forall` are part of the table, shaping changes no policy.

use std::sync::Arc;

use form_core::{AtomSet, BoundMachine, Machine, MachineStatus, Monitor, Signature};
use form_env::{Benchmark, LabelledMdp, LetterWorld, Naming, Outcome};
use form_rl::{Optimum, QLearner, QSettings, learning_curve};
use proptest::prelude::*;

fn bind(machine: &Machine, signature: &Signature) -> Arc<BoundMachine> {
    Arc::new(machine.bind(signature).unwrap())
}

fn never() -> bool {
    false
}

/// A corridor: left and right, with these labels.
fn corridor(signature: &Signature, labels: &[&[&str]], start: usize) -> LabelledMdp {
    let to = |next| {
        vec![Outcome {
            probability: 1.0,
            next,
            reward: 0.0,
            terminated: false,
        }]
    };
    let last = labels.len() - 1;
    let outcomes = (0..labels.len())
        .map(|at| vec![to(at.saturating_sub(1)), to((at + 1).min(last))])
        .collect();
    let labels = labels
        .iter()
        .map(|label| signature.observation(*label).unwrap())
        .collect();
    LabelledMdp::new(signature.clone(), labels, outcomes, vec![(1.0, start)]).unwrap()
}

/// The greedy steps of a learner from the start to acceptance.
fn greedy_steps(
    learner: &QLearner,
    table: &LabelledMdp,
    bound: &BoundMachine,
    situation_of: impl Fn(&Monitor) -> usize,
) -> Option<usize> {
    let mut state = table.starts()[0].1;
    let mut monitor = Monitor::new(bound);
    monitor.observe(bound, &table.labels()[table.label_of(state)]);
    for steps in 1..1000 {
        let values = learner.values(state, situation_of(&monitor));
        let best = (0..values.len()).max_by(|a, b| values[*a].total_cmp(&values[*b]))?;
        state = table.outcomes(state, best)[0].next;
        monitor.observe(bound, &table.labels()[table.label_of(state)]);
        if bound.machine().status(monitor.state()) == MachineStatus::Accepted {
            return Some(steps);
        }
    }
    None
}

fn of_state(learner: &QLearner) -> impl Fn(&Monitor) -> usize {
    |monitor| {
        let seen = |situation| learner.situation(situation);
        (0..learner.situations())
            .find(|i| seen(*i).1 == monitor.state().index())
            .unwrap()
    }
}

/// The shortest way is 1 + 5 steps; the value is 0.9 to the power of the steps before the last.
#[test]
fn the_optimum_of_a_corridor_is_known() {
    let signature = Signature::parse(["key", "door"]).unwrap();
    let labels: [&[&str]; 6] = [&["key"], &[], &[], &[], &[], &["door"]];
    let table = corridor(&signature, &labels, 1);
    let machine: Machine = "initial u\naccept acc\nu -> v : key\nv -> acc : door"
        .parse()
        .unwrap();
    let bound = bind(&machine, &signature);
    let settings = QSettings {
        epsilon: 0.0,
        ..QSettings::default()
    };
    let optimum = Optimum::new(&table, vec![bound.clone()], &settings).unwrap();
    assert!((optimum.value(&table, 0) - 0.9_f64.powi(5)).abs() < 1e-9);
    let per_step = optimum.reward_per_step(&table, &settings, 3, 0);
    assert!((per_step[0] - 1.0 / 6.0).abs() < 1e-12);
}

#[test]
fn crm_reaches_the_optimum_with_and_without_shaping() {
    let world = LetterWorld::office(Naming::Words);
    let table = world.model().unwrap();
    for (name, machine) in Benchmark::Office.tasks() {
        let bound = bind(&machine, table.signature());
        let best = Optimum::new(&table, vec![bound.clone()], &QSettings::default()).unwrap();
        let best = best.value(&table, 0);
        for shaping in [false, true] {
            let settings = QSettings {
                shaping,
                ..QSettings::default()
            };
            let mut learner = QLearner::of_table(&table, vec![bound.clone()], settings, 3).unwrap();
            learner.run(&table, 100_000, &never).unwrap();
            let steps = greedy_steps(&learner, &table, &bound, of_state(&learner));
            let steps = steps.unwrap_or_else(|| panic!("{name} is not completed"));
            assert!(
                (0.9_f64.powi(steps as i32 - 1) - best).abs() < 1e-9,
                "{name}: {steps} steps"
            );
        }
    }
}

/// With the window in the table, a `forall` that needs both ends of a corridor is learnt: from the middle one end, then all the way back.
#[test]
fn windows_of_forall_are_part_of_the_table() {
    let signature = Signature::parse(["yellow(a)", "yellow(b)"]).unwrap();
    let labels: [&[&str]; 7] = [&["yellow(a)"], &[], &[], &[], &[], &[], &["yellow(b)"]];
    let table = corridor(&signature, &labels, 3);
    let machine: Machine = "initial u\naccept acc\nu -> acc : forall X. yellow(X)"
        .parse()
        .unwrap();
    let bound = bind(&machine, &signature);
    let settings = QSettings::default();
    let best = Optimum::new(&table, vec![bound.clone()], &settings).unwrap();
    assert!(
        (best.value(&table, 0) - 0.9_f64.powi(8)).abs() < 1e-9,
        "3 + 6 steps"
    );
    let mut learner = QLearner::of_table(&table, vec![bound.clone()], settings, 0).unwrap();
    assert_eq!(learner.situations(), 3, "nothing, one, the other");
    learner.run(&table, 5_000, &never).unwrap();
    let situation_of = |monitor: &Monitor| {
        let seen = signature.texts(monitor.seen());
        (0..3).find(|i| learner.situation(*i).2 == seen).unwrap()
    };
    assert_eq!(
        greedy_steps(&learner, &table, &bound, situation_of),
        Some(9)
    );
}

/// Shaped values are the unshaped ones less the potential, which no choice between actions depends on.
#[test]
fn shaping_moves_all_actions_alike() {
    let signature = Signature::parse(["key", "door"]).unwrap();
    let labels: [&[&str]; 4] = [&["key"], &[], &[], &["door"]];
    let table = corridor(&signature, &labels, 1);
    let machine: Machine = "initial u\naccept acc\nu -> v : key\nv -> acc : door"
        .parse()
        .unwrap();
    let bound = bind(&machine, &signature);
    let learn = |shaping| {
        let settings = QSettings {
            shaping,
            epsilon: 0.5,
            ..QSettings::default()
        };
        let mut learner = QLearner::of_table(&table, vec![bound.clone()], settings, 1).unwrap();
        learner.run(&table, 20_000, &never).unwrap();
        learner
    };
    let (plain, shaped) = (learn(false), learn(true));
    // In the situations `u` and `v`.
    for (situation, potential) in [(0, -0.9), (1, -1.0)] {
        for state in 1..3 {
            for action in 0..2 {
                let difference = plain.values(state, situation)[action]
                    - shaped.values(state, situation)[action];
                assert!(
                    (difference - potential).abs() < 1e-6,
                    "{situation} {state}: {difference}"
                );
            }
        }
    }
}

/// Where the environment ends an episode, nothing comes after it.
#[test]
fn an_end_of_the_environment_has_no_value() {
    let signature = Signature::parse(["goal"]).unwrap();
    let outcome = |next, terminated| {
        vec![Outcome {
            probability: 1.0,
            next,
            reward: 0.25,
            terminated,
        }]
    };
    let outcomes = vec![
        vec![outcome(0, true), outcome(1, false)],
        vec![outcome(0, false), outcome(1, false)],
    ];
    let labels = vec![AtomSet::new(), signature.observation(["goal"]).unwrap()];
    let table = LabelledMdp::new(signature.clone(), labels, outcomes, vec![(1.0, 0)]).unwrap();
    let machine: Machine = "initial u\naccept acc\nu -> acc : goal".parse().unwrap();
    let settings = QSettings {
        environment_reward: true,
        epsilon: 0.5,
        ..QSettings::default()
    };
    let bound = vec![bind(&machine, &signature)];
    let mut learner = QLearner::of_table(&table, bound, settings, 0).unwrap();
    let episodes = learner.run(&table, 2_000, &never).unwrap();
    let values = learner.values(0, 0);
    assert!(
        (values[0] - 0.25).abs() < 1e-9 && (values[1] - 1.25).abs() < 1e-9,
        "{values:?}"
    );
    assert!(
        episodes
            .iter()
            .all(|e| e.steps == 1 && (e.reward == 1.25) == e.accepted)
    );
}

#[test]
fn a_seed_gives_its_run_and_tasks_take_turns() {
    let world = LetterWorld::office(Naming::Words);
    let table = world.model().unwrap();
    let machines: Vec<Arc<BoundMachine>> = (Benchmark::Office.tasks().iter())
        .map(|(_, machine)| bind(machine, table.signature()))
        .collect();
    let run = |seed| {
        let settings = QSettings::default();
        let mut learner = QLearner::of_table(&table, machines.clone(), settings, seed).unwrap();
        learner.run(&table, 20_000, &never).unwrap()
    };
    let episodes = run(5);
    assert_eq!(episodes, run(5));
    assert_ne!(episodes, run(6));
    for (i, episode) in episodes.iter().enumerate() {
        assert_eq!(episode.task as usize, i % 4);
        assert!((1..=1000).contains(&episode.steps));
    }
}

/// The shortest ways on the figure. That for coffee, counted by hand: 7 steps around the plant to the upper row of rooms, 5 to the coffee
/// behind the door, 3 to the office.
#[test]
fn the_shortest_ways_in_office_world() {
    let world = LetterWorld::office(Naming::Words);
    let table = world.model().unwrap();
    for ((name, machine), steps) in Benchmark::Office.tasks().iter().zip([15, 29, 30, 29]) {
        let machines = vec![bind(machine, table.signature())];
        let optimum = Optimum::new(&table, machines, &QSettings::default()).unwrap();
        let value = optimum.value(&table, 0);
        assert!(
            (value - 0.9_f64.powi(steps - 1)).abs() < 1e-9,
            "{name}: {value}"
        );
    }
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let signature = Signature::parse(["goal"]).unwrap();
    let table = corridor(&signature, &[&[], &["goal"]], 0);
    let machine: Machine = "initial u\naccept acc\nu -> acc : goal".parse().unwrap();
    let check = |settings, problem: &str| {
        let bound = vec![bind(&machine, &signature)];
        let error = QLearner::of_table(&table, bound, settings, 0).unwrap_err();
        assert!(error.to_string().contains(problem), "{error}");
    };
    let usual = QSettings::default();
    check(
        QSettings {
            epsilon: 1.5,
            ..usual
        },
        "epsilon = 1.5",
    );
    check(
        QSettings {
            learning_rate: f64::NAN,
            ..usual
        },
        "learning_rate",
    );
    check(
        QSettings {
            initial: f64::INFINITY,
            ..usual
        },
        "initial",
    );
    check(
        QSettings {
            episode_steps: 0,
            ..usual
        },
        "episode_steps",
    );
    let other = Signature::parse(["goal", "lava"]).unwrap();
    let error = QLearner::of_table(&table, vec![bind(&machine, &other)], usual, 0).unwrap_err();
    assert!(error.to_string().contains("another signature"), "{error}");
    let at_the_goal = corridor(&signature, &[&["goal"], &[]], 0);
    let bound = vec![bind(&machine, &signature)];
    let mut learner = QLearner::of_table(&at_the_goal, bound, usual, 0).unwrap();
    let error = learner.run(&at_the_goal, 10, &never).unwrap_err();
    assert!(error.to_string().contains("first observation"), "{error}");
    assert!(learning_curve(&[], &[], 100, 10).is_empty());
}

const MACHINES: [&str; 4] = [
    "initial u\naccept acc\nreject rej\nu -> v : forall X. p(X)\nv -> acc : q\nv -> rej : p(b)",
    "initial u\naccept acc\nu -> v : p(a)\nv -> w : p(a)\nw -> acc : p(a) and not q",
    "initial u\naccept acc\nu -> v : exists X. p(X) => 2.5\nv -> u : q => -1\nv -> acc : forall X. p(X)",
    "initial u\naccept acc\nu -> v : not q\nv -> acc : (forall X. p(X)) and q",
];

proptest! {
    /// What a learner says of an episode is what a monitor says, which the definition of truth is tested against.
    #[test]
    fn situations_follow_the_monitor(
        which in 0..MACHINES.len(),
        bits in prop::collection::vec(0_u8..16, 1..60),
    ) {
        let signature = Signature::parse(["p(a)", "p(b)", "p(c)", "q"]).unwrap();
        let machine: Machine = MACHINES[which].parse().unwrap();
        let bound = bind(&machine, &signature);
        let ids: Vec<_> = signature.ids().collect();
        let labels = bits.iter().map(|bits| -> AtomSet {
            (0..4).filter(|i| bits >> i & 1 == 1).map(|i| ids[i]).collect()
        });
        let mut learner = QLearner::new(1, 1, vec![bound.clone()], QSettings::default(), 0).unwrap();
        learner.begin(0, &AtomSet::new()).unwrap();
        let mut monitor = Monitor::new(&bound);
        let mut reward = 0.0;
        for label in labels {
            reward += monitor.observe(&bound, &label).reward;
            let episode = learner.learn(0, 0, &label, 0.0, false).unwrap();
            let status = machine.status(monitor.state());
            prop_assert_eq!(episode.is_some(), status != MachineStatus::Running);
            match episode {
                Some(episode) => {
                    prop_assert_eq!(episode.accepted, status == MachineStatus::Accepted);
                    prop_assert_eq!(episode.reward, reward);
                    break;
                }
                None => {
                    let now = learner.situation(learner.current().unwrap());
                    prop_assert_eq!(now.1, monitor.state().index());
                }
            }
        }
    }
}
