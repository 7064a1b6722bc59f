//! Maps with different objects in one run: machine, policies, evaluation, and the way back from a checkpoint.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use form_core::Machine;
use form_env::Split;
use form_lab::{EvaluationPlan, GridEnvFactory, Method, Preset, RunConfig, Trainer};
use form_rl::{Choice, ProgressEncoding};

use crate::exploration::{is_that_of_the_task, succeeds_on_held_out_maps};
use crate::session::same_in_pieces;
use crate::tiny;

/// The tiny task with one to three red checkpoints.
fn config(folder: &Path, method: Method) -> RunConfig {
    let mut config = tiny::config(folder, method);
    let path = folder.join("mixed.toml");
    fs::write(&path, tiny::TASK.replace("red = 2", "red = [1, 2, 3]")).unwrap();
    path.to_str().unwrap().clone_into(&mut config.task);
    config.layouts = 8;
    config
}

fn trainer(config: RunConfig) -> Trainer<GridEnvFactory> {
    let envs = GridEnvFactory::new(&config).unwrap();
    Trainer::new(config, envs, Arc::default()).unwrap()
}

#[test]
fn the_machine_is_learnt_over_the_objects_of_each_map() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = trainer(config(folder.path(), Method::Form));
    while run.state().stop_cause.is_none() {
        run.iterate().unwrap().unwrap();
    }
    assert!(is_that_of_the_task(&run), "{}", run.machine());
    let machine = run.game().assignment().bound_machine();
    let sizes: std::collections::BTreeSet<usize> = (run.traces().iter())
        .map(|trace| trace.own_signature().unwrap().len())
        .collect();
    assert!(sizes.len() > 1, "{sizes:?}");
    for trace in run.traces() {
        assert_eq!(trace.disagreement(machine), None);
    }
}

/// The task's own machine misjudges no episode, whatever shows the progress.
#[test]
fn a_given_machine_is_right_on_every_map() {
    let folder = tempfile::tempdir().unwrap();
    for method in [Method::Handcrafted, Method::SinglePolicy] {
        for progress in [ProgressEncoding::Bits, ProgressEncoding::Plane] {
            let mut config = config(folder.path(), method);
            config.progress = progress;
            let truth = GridEnvFactory::new(&config).unwrap();
            config.machine = Some(truth.task().description().machine.to_string());
            config.iterations = 3;
            let mut run = trainer(config);
            while run.state().stop_cause.is_none() {
                run.iterate().unwrap().unwrap();
            }
            assert_eq!(run.state().counterexamples, 0);
            let evaluation = run
                .evaluate(&EvaluationPlan {
                    split: Split::HeldOut,
                    episodes: 40,
                    choice: Choice::Sample,
                    seed: 3,
                })
                .unwrap();
            assert_eq!((evaluation.refuted, evaluation.impossible), (0, 0));
            assert!(evaluation.shortest_exact);
        }
    }
}

/// The machine of the paper's task with two, three or four yellow checkpoints, by exploring, and success on held-out maps.
#[test]
fn exploration_finds_the_machine() {
    let task = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/all_yellow_mixed.toml");
    let task = task.to_str().unwrap();
    let mut config = RunConfig::new(task, Method::ReachAvoid, Preset::Fast);
    config.set("stop.episodes", "100").unwrap();
    let mut run = trainer(config);
    while run.state().stop_cause.is_none() {
        run.iterate().unwrap().unwrap();
    }
    assert!(is_that_of_the_task(&run), "{}", run.machine());
    succeeds_on_held_out_maps(&mut run);
}

#[test]
fn a_run_stopped_after_every_iteration_is_the_same_run() {
    for method in [
        Method::Form,
        Method::Handcrafted,
        Method::Ppo,
        Method::ReachAvoid,
    ] {
        let folder = tempfile::tempdir().unwrap();
        same_in_pieces(&config(folder.path(), method), folder.path());
    }
}

/// What needs the same objects everywhere says so.
#[test]
fn what_needs_the_same_objects_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |method, key: &str, value: &str| {
        let mut config = config(folder.path(), method);
        config.set(key, value).unwrap();
        let envs = GridEnvFactory::new(&config).unwrap();
        let error = Trainer::new(config, envs, Arc::default()).err().unwrap();
        format!("{error:#}")
    };
    for (key, value) in [
        ("learning.once", "true"),
        ("learning.counts", "2"),
        ("learning.joins", "true"),
    ] {
        let error = refused(Method::Form, key, value);
        assert!(error.contains("need the same objects"), "{error}");
    }
    let error = refused(Method::ReachAvoid, "learning.tolerate", "auto");
    assert!(error.contains("repeats walks"), "{error}");
    // A machine that names an object of some maps only.
    let machine: Machine = "initial u0\naccept u1\nu0 -> u1 : red(o1)".parse().unwrap();
    let mut config = config(folder.path(), Method::Handcrafted);
    config.machine = Some(machine.to_string());
    let envs = GridEnvFactory::new(&config).unwrap();
    let error = Trainer::new(config, envs, Arc::default()).err().unwrap();
    let error = format!("{error:#}");
    assert!(
        error.contains("fewest objects") && error.contains("red(o1)"),
        "{error}"
    );
}
