//! The joint loop on a small world: machine and policies are learnt together, and what was found stays true.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use form_core::Kind;
use form_lab::{EnvFactory, GridEnvFactory, Method, RunConfig, StopCause, Trainer};

use crate::tiny::config;

fn trainer(config: RunConfig) -> Trainer<GridEnvFactory> {
    let envs = GridEnvFactory::new(&config).unwrap();
    Trainer::new(config, envs, Arc::default()).unwrap()
}

#[test]
fn the_machine_of_the_task_is_learnt_from_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = trainer(config(folder.path(), Method::Form));
    assert_eq!(run.machine().edges().len(), 0);
    let mut learnt = 0;
    let mut steps = 0;
    for number in 1..=6 {
        let iteration = run.iterate().unwrap().unwrap();
        let row = &iteration.metrics;
        assert_eq!(row.iteration, number);
        assert!(row.steps > steps);
        steps = row.steps;
        learnt += u64::from(iteration.relearnt.is_some());
        assert_eq!(row.relearnings, learnt);
        assert_eq!(row.traces, run.traces().len() as u64);
        // A machine that is wrong is nothing to train with: an iteration learns a machine or policies.
        assert!(iteration.relearnt.is_none() || iteration.policies.is_empty());
        // No trace that was kept is contradicted by the machine that was learnt last.
        if learnt > 0 {
            let machine = run.game().assignment().bound_machine();
            assert!((run.traces().iter()).all(|trace| trace.disagreement(machine).is_none()));
        }
        assert_eq!(
            iteration.stop_cause,
            (number == 6).then_some(StopCause::OutOfIterations)
        );
    }
    assert!(learnt > 0);
    assert!(run.traces().iter().any(|trace| trace.kind() == Kind::Goal));
    // Two red checkpoints lie about and then the goal: the machine says so in as many states as the task's own.
    let truth = run.envs().truth().unwrap();
    assert_eq!(run.machine().states().len(), truth.states().len());
    assert_eq!(run.machine().edges().len(), truth.edges().len());
}

#[test]
fn a_given_machine_stays_and_is_trained_with_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = trainer(config(folder.path(), Method::Handcrafted));
    let iteration = run.iterate().unwrap().unwrap();
    assert_eq!(run.state().relearnings, 0);
    assert_eq!(iteration.metrics.counterexamples, 0);
    assert!(!iteration.policies.is_empty());
    assert_eq!(Some(run.machine()), run.envs().truth());
}

#[test]
fn a_wrong_machine_to_start_from_is_corrected() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = config(folder.path(), Method::Form);
    config.machine = Some("initial u0\naccept u1\nu0 -> u1 : goal\n".to_owned());
    let mut run = trainer(config);
    while run.state().stop_cause.is_none() {
        run.iterate().unwrap().unwrap();
    }
    // First it is found to accept too early, and later what it should have said.
    assert!(run.state().relearnings > 1);
    assert_eq!(run.machine().states().len(), 3, "{}", run.machine());
}

#[test]
fn every_method_trains() {
    for method in Method::ALL {
        let folder = tempfile::tempdir().unwrap();
        let mut config = config(folder.path(), method);
        config.iterations = 10;
        let mut run = trainer(config);
        let mut trained = 0;
        while run.state().stop_cause.is_none() {
            trained += run.iterate().unwrap().unwrap().policies.len();
        }
        // The reach-avoid policy is given.
        assert_eq!(trained > 0, method != Method::ReachAvoid, "{method}");
        assert_eq!(
            run.state().relearnings > 0,
            method.learns_machine(),
            "{method}"
        );
    }
}

#[test]
fn a_run_that_is_told_to_stop_stops() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path(), Method::Handcrafted);
    let envs = GridEnvFactory::new(&config).unwrap();
    let stop = Arc::new(AtomicBool::new(true));
    let mut run = Trainer::new(config, envs, stop).unwrap();
    assert!(run.iterate().unwrap().is_none());
}

/// Appendix C, by evaluations: a run that has crossed the line ends when it falls, and fresh episodes say so, too.
#[test]
fn a_run_stops_when_its_success_falls() {
    let ending = |crossing: &str| {
        let folder = tempfile::tempdir().unwrap();
        let mut config = config(folder.path(), Method::Handcrafted);
        for (key, value) in [
            ("stop.crossing", crossing),
            // Anything below the best is a fall, sooner or later.
            ("stop.fall", "0.01"),
            ("stop.episodes", "30"),
            ("evaluation.episodes", "60"),
            ("evaluation.share", "100"),
            ("iterations", "40"),
        ] {
            config.set(key, value).unwrap();
        }
        let mut run = trainer(config);
        let mut rates = Vec::new();
        while run.state().stop_cause.is_none() {
            rates.extend(run.iterate().unwrap().unwrap().metrics.success);
        }
        let (last, before) = rates.split_last().unwrap();
        let best = before.iter().copied().fold(0.0, f64::max);
        (run.state().stop_cause.clone(), *last < best)
    };
    assert_eq!(ending("0.01"), (Some(StopCause::Fell), true));
    // Nobody crosses this.
    assert_eq!(ending("1.01").0, Some(StopCause::OutOfIterations));
}

/// A learning rate beyond all bounds: the policy that broke is named.
#[test]
fn losses_that_are_no_numbers_end_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = config(folder.path(), Method::Handcrafted);
    config.set("ppo.learning_rate", "1e38").unwrap();
    let mut run = trainer(config);
    let error = loop {
        match run.iterate() {
            Ok(iteration) => assert!(iteration.unwrap().stop_cause.is_none()),
            Err(error) => break format!("{error:#}"),
        }
    };
    assert!(
        error.contains("the policy of state u") && error.contains("training diverged"),
        "{error}"
    );
}

/// With wrong labels, a run with a tolerance learns the machine of the task, keeps it though it misjudges episodes, and is the same
/// again. Without a tolerance it does not learn it.
#[test]
fn wrong_labels_are_tolerated() {
    let run = |tolerate: &str| {
        let folder = tempfile::tempdir().unwrap();
        let mut config = config(folder.path(), Method::Form);
        config.label_noise = 0.01;
        config.iterations = 40;
        config.set("learning.tolerate", tolerate).unwrap();
        let mut run = trainer(config);
        // Without a tolerance, traces may contradict each other, which is an error.
        while run.state().stop_cause.is_none() && run.iterate().is_ok() {}
        run
    };
    let edges = |machine: &form_core::Machine| -> Vec<String> {
        (machine.edges().iter())
            .map(|edge| edge.formula.to_string())
            .collect()
    };
    let (one, other) = (run("auto"), run("auto"));
    assert_eq!(one.state().stop_cause, Some(StopCause::OutOfIterations));
    assert_eq!(one.machine(), other.machine());
    assert_eq!(one.traces(), other.traces());
    let truth = edges(one.envs().truth().unwrap());
    assert_eq!(edges(one.machine()), truth, "{}", one.machine());
    assert_eq!(one.machine().states().len(), truth.len() + 1);
    let machine = one.game().assignment().bound_machine();
    let misjudged = |trace: &&form_core::Trace| trace.disagreement(machine).is_some();
    assert!(one.traces().iter().any(|trace| misjudged(&trace)));
    let exact = run("0");
    assert_ne!(edges(exact.machine()), truth, "{}", exact.machine());
}
