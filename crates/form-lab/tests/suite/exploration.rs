//! Unknown tasks with the reach-avoid policy.

use std::sync::Arc;

use form_core::{CompareOptions, Comparison, Observations, compare};
use form_env::Split;
use form_lab::{Evaluation, EvaluationPlan, GridEnvFactory, Method, Preset, RunConfig, Trainer};
use form_rl::Choice;

fn trainer(task: &str, choice: &str) -> Trainer<GridEnvFactory> {
    let mut config = RunConfig::new(task, Method::ReachAvoid, Preset::Fast);
    config.set("exploration.choice", choice).unwrap();
    config.set("stop.episodes", "100").unwrap();
    let envs = GridEnvFactory::new(&config).unwrap();
    Trainer::new(config, envs, Arc::default()).unwrap()
}

/// The machine of the task in a few thousand steps, and success on maps that were never explored.
#[test]
fn the_machine_of_an_unknown_task_is_found_in_a_few_thousand_steps() {
    for task in ["all-yellow", "green-but-one", "blue-all-yellow-7"] {
        let mut run = trainer(task, "disagreement");
        while run.state().stop_cause.is_none() {
            run.iterate().unwrap().unwrap();
        }
        let state = run.state();
        assert!(
            state.steps_to_final_machine.unwrap() < 30_000,
            "{task}: {state:?}"
        );
        assert!(is_that_of_the_task(&run), "{task}: {}", run.machine());
        // No kept trace contradicts it.
        let truth = run.envs().task().truth();
        let learnt = run.machine().bind(truth.signature()).unwrap();
        assert!((run.traces().iter()).all(|trace| trace.disagreement(&learnt).is_none()));
        succeeds_on_held_out_maps(&mut run);
    }
}

/// Whether the learnt machine is equivalent to the task's.
pub fn is_that_of_the_task(run: &Trainer<GridEnvFactory>) -> bool {
    let truth = run.envs().task().truth();
    let learnt = run.machine().bind(truth.signature()).unwrap();
    let options = CompareOptions {
        observations: Observations::Single,
        rewards: false,
        ..CompareOptions::default()
    };
    let compared = compare(&learnt, truth, &options).unwrap();
    matches!(compared, Comparison::Equivalent { .. })
}

/// 100 episodes on maps that were never explored.
fn on_held_out_maps(run: &mut Trainer<GridEnvFactory>) -> Evaluation {
    let plan = EvaluationPlan {
        split: Split::HeldOut,
        episodes: 100,
        choice: Choice::Sample,
        seed: 7,
    };
    run.evaluate(&plan).unwrap()
}

/// Nearly always, and hardly more slowly than can be.
pub fn succeeds_on_held_out_maps(run: &mut Trainer<GridEnvFactory>) {
    let held_out = on_held_out_maps(run);
    assert!(
        held_out.success >= 0.99 && held_out.ratio.unwrap() < 1.2,
        "{}: {held_out:?}",
        run.machine()
    );
}

/// With wrong labels, walks are repeated until they agree: the machine of the task, whose traces have no wrong label, and the same run
/// again. Without a tolerance it is not found.
#[test]
fn walks_with_wrong_labels_agree() {
    let run = |task: &str, tolerate: &str| {
        let mut config = RunConfig::new(task, Method::ReachAvoid, Preset::Fast);
        config.label_noise = 0.02;
        config.set("learning.tolerate", tolerate).unwrap();
        config.set("stop.episodes", "100").unwrap();
        let envs = GridEnvFactory::new(&config).unwrap();
        let mut run = Trainer::new(config, envs, Arc::default()).unwrap();
        // Without a tolerance, traces contradict each other, which is an error.
        while run.state().stop_cause.is_none()
            && run.state().steps < 200_000
            && run.iterate().is_ok()
        {}
        run
    };
    for task in ["all-yellow", "green-but-one"] {
        let tolerant = run(task, "auto");
        assert!(
            is_that_of_the_task(&tolerant),
            "{task}: {}",
            tolerant.machine()
        );
        assert_eq!(
            (tolerant.state().stop_cause.as_ref()).map(form_lab::StopCause::as_str),
            Some("converged"),
            "{task}"
        );
        let truth = tolerant.envs().task().truth();
        let wrong = |trace: &form_core::Trace| trace.disagreement(truth).is_some();
        assert!(!tolerant.traces().iter().any(wrong), "{task}");
        let again = run(task, "auto");
        assert_eq!(tolerant.state().steps, again.state().steps);
        assert_eq!(tolerant.traces(), again.traces());
        assert!(!is_that_of_the_task(&run(task, "0")), "{task}");
    }
}

#[test]
fn every_choice_learns_a_task() {
    for choice in ["uniform", "counts", "disagreement"] {
        let mut run = trainer("all-yellow", choice);
        while run.state().stop_cause.is_none() {
            run.iterate().unwrap().unwrap();
        }
        assert_eq!(
            run.machine().edges().len(),
            2,
            "{choice}: {}",
            run.machine()
        );
    }
}

/// A learner that may use one state only has no machine: queries find one, and it carries out the task on other maps.
#[test]
fn queries_find_a_machine_where_the_learner_has_none() {
    for task in ["green-but-one", "blue-all-yellow-7"] {
        let mut config = RunConfig::new(task, Method::ReachAvoid, Preset::Fast);
        config.set("learning.max_states", "1").unwrap();
        config.set("stop.episodes", "100").unwrap();
        let envs = GridEnvFactory::new(&config).unwrap();
        let mut run = Trainer::new(config, envs, Arc::default()).unwrap();
        while run.state().stop_cause.is_none() {
            run.iterate().unwrap().unwrap();
        }
        let state = run.state();
        assert!(
            state.steps_to_final_machine.unwrap() < 100_000,
            "{task}: {state:?}"
        );
        let held_out = on_held_out_maps(&mut run);
        assert!(held_out.success >= 0.98, "{task}: {held_out:?}");
    }
}

/// Whether the learner or queries find a machine depends on its work, not on the clock or on threads: the same run to the bit.
#[test]
fn the_limit_of_the_learner_does_not_depend_on_the_clock() {
    let run = |work: u64, threads: usize, seconds: u64| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let mut config = RunConfig::new("blue-all-yellow-7", Method::ReachAvoid, Preset::Fast);
        config
            .set("exploration.work_limit", &work.to_string())
            .unwrap();
        // Without any time at all the other methods would have no machine.
        config
            .set("learning.time_limit", &seconds.to_string())
            .unwrap();
        config.set("stop.episodes", "50").unwrap();
        let envs = GridEnvFactory::new(&config).unwrap();
        let mut run = Trainer::new(config, envs, Arc::default()).unwrap();
        let mut by_queries = Vec::new();
        let mut rows = Vec::new();
        pool.install(|| {
            while run.state().stop_cause.is_none() {
                let iteration = run.iterate().unwrap().unwrap();
                by_queries.extend(iteration.relearnt.map(|found| found.by_queries));
                rows.push(iteration.metrics);
            }
        });
        (
            by_queries,
            rows,
            run.machine().to_string(),
            run.traces().to_vec(),
        )
    };
    let with_learner = run(50_000, 1, 600);
    assert!(with_learner.0.iter().all(|by_queries| !by_queries));
    // So little that it ends in the middle of a search.
    let little = run(20, 1, 600);
    assert!(little.0.iter().all(|by_queries| *by_queries));
    assert_eq!(little, run(20, 3, 0));
    assert_eq!(with_learner, run(50_000, 3, 0));
}
