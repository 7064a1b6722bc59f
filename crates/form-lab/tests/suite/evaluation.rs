//! Evaluations: as many episodes as were asked for, each counted once, of runs that are over and of those that go on.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use form_env::{EpisodeOutcome, Split};
use form_lab::{
    Display, EvaluationPlan, GridEnvFactory, Method, RunFolder, SavedRun, Session, Trainer,
    evaluate, play,
};
use form_rl::Choice;

use crate::tiny::{FINAL, LATEST, config};

fn trainer(folder: &Path, machine: Option<&str>) -> Trainer<GridEnvFactory> {
    let mut config = config(folder, Method::Handcrafted);
    config.machine = machine.map(str::to_owned);
    let envs = GridEnvFactory::new(&config).unwrap();
    Trainer::new(config, envs, Arc::default()).unwrap()
}

fn plan(episodes: usize, choice: Choice) -> EvaluationPlan {
    EvaluationPlan {
        split: Split::HeldOut,
        episodes,
        choice,
        seed: 5,
    }
}

#[test]
fn every_episode_is_played_and_counted_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = trainer(folder.path(), None);
    for episodes in [1, 7, 515] {
        let found = run.evaluate(&plan(episodes, Choice::Sample)).unwrap();
        assert_eq!(found.episodes, episodes as u64);
        let sum = found.successes + found.dead_ends + found.out_of_time + found.cut_off;
        assert_eq!(sum, found.episodes);
        assert_eq!(found.success, found.successes as f64 / episodes as f64);
        assert_eq!(found.return_, found.success);
        let interval = found.success_interval;
        assert!(interval.low <= found.success && found.success <= interval.high);
        assert_eq!(found.length_interval.is_none(), episodes == 1);
        // The machine is the task's own.
        assert_eq!((found.refuted, found.cut_off), (0, 0));
    }
}

#[test]
fn the_episodes_are_the_first_of_their_worlds_whatever_they_came_to() {
    let folder = tempfile::tempdir().unwrap();
    let run = trainer(folder.path(), None);
    let (config, machine) = (run.config().clone(), run.machine().clone());
    let mut agents = trainer(folder.path(), None);
    let envs = GridEnvFactory::new(&config).unwrap();
    let plan = plan(515, Choice::Sample);
    let played = play(&config, &envs, &machine, agents.agents_mut(), &plan).unwrap();
    let numbers: Vec<(u64, usize)> = (played.iter()).map(|one| (one.number, one.world)).collect();
    let expected: Vec<_> = (0..515).map(|i| ((i / 258) as u64, i % 258)).collect();
    assert_eq!(numbers, expected);
    let [goals, late] = [EpisodeOutcome::Goal, EpisodeOutcome::OutOfTime]
        .map(|outcome| played.iter().filter(|one| one.outcome == outcome).count());
    assert!(goals > 0 && late > 0, "{goals} {late}");
}

#[test]
fn the_same_seed_gives_the_same_and_training_does_not_notice() {
    let folder = tempfile::tempdir().unwrap();
    let (mut watched, mut alone) = (trainer(folder.path(), None), trainer(folder.path(), None));
    for _ in 0..2 {
        let drawn = watched.evaluate(&plan(300, Choice::Sample)).unwrap();
        assert_eq!(watched.evaluate(&plan(300, Choice::Sample)).unwrap(), drawn);
        let greedy = watched.evaluate(&plan(300, Choice::Greedy)).unwrap();
        assert!(greedy.greedy && greedy.held_out && !drawn.greedy);
        assert_ne!(greedy.length, drawn.length);
        let other = EvaluationPlan {
            seed: 6,
            ..plan(300, Choice::Sample)
        };
        assert_ne!(watched.evaluate(&other).unwrap().length, drawn.length);
        let iterations = [&mut watched, &mut alone].map(|run| run.iterate().unwrap().unwrap());
        assert_eq!(iterations[0].metrics, iterations[1].metrics);
        assert_eq!(iterations[0].policies, iterations[1].policies);
    }
}

#[test]
fn a_machine_that_is_wrong_is_told_apart_from_policies_that_are() {
    let folder = tempfile::tempdir().unwrap();
    // It takes the goal alone for the end.
    let hasty = "initial u0\naccept u1\nu0 -> u1 : goal\n";
    let found = trainer(folder.path(), Some(hasty))
        .evaluate(&plan(100, Choice::Sample))
        .unwrap();
    // In the last step of an episode the goal is out of time and mistaken at once.
    let mistaken = found.cut_off..=found.cut_off + found.out_of_time;
    assert!(
        found.cut_off > 0 && mistaken.contains(&found.refuted),
        "{found:?}"
    );
    // It never sees the end, which the world tells of.
    let blind = "initial u0\naccept u1\nu0 -> u1 : goal and exists X. red(X)\n";
    let found = trainer(folder.path(), Some(blind))
        .evaluate(&plan(100, Choice::Sample))
        .unwrap();
    assert!(found.successes > 0 && found.cut_off == 0, "{found:?}");
    assert_eq!(found.refuted, found.successes);
}

#[test]
fn a_run_is_evaluated_while_it_trains_and_when_it_is_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let config = config(folder.path(), Method::Form);
    let envs = GridEnvFactory::new(&config).unwrap();
    let mut session = Session::begin(config, envs.clone(), &path, Arc::default()).unwrap();
    // Nobody has trained it, and it is still being held.
    let run = SavedRun::open(&path).unwrap();
    assert_eq!(
        (run.state.iteration, run.task_name().unwrap()),
        (0, "tiny".to_owned())
    );
    assert!(run.file().ends_with(format!("{LATEST}.safetensors")));
    session.run(&mut Display::quiet()).unwrap();
    let run = SavedRun::open(&path).unwrap();
    assert_eq!(run.state.iteration, 6);
    assert!(run.file().ends_with(format!("{FINAL}.safetensors")));
    let envs = GridEnvFactory::new(&run.config).unwrap();
    let machine = &run.checkpoint.machine;
    let plan = plan(20, Choice::Greedy);
    let mut agents = run.agents().unwrap();
    let found = evaluate(&run.config, &envs, machine, &mut agents, &plan).unwrap();
    assert_eq!(found.episodes, 20);
}

#[test]
fn what_cannot_be_evaluated_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let said = |path: &Path| format!("{:#}", SavedRun::open(path).unwrap_err());
    let path = folder.path().join("run");
    assert!(said(&path).contains("no such file or folder"));
    assert!(said(folder.path()).contains("is not a run folder"));
    let config = config(folder.path(), Method::Handcrafted);
    let envs = GridEnvFactory::new(&config).unwrap();
    drop(Session::begin(config, envs, &path, Arc::default()).unwrap());
    let latest = RunFolder::open(&path).unwrap().checkpoint(LATEST);
    let whole = fs::read(&latest).unwrap();
    for damaged in [&whole[..whole.len() / 2], &[], &[&whole[..], b"x"].concat()] {
        fs::write(&latest, damaged).unwrap();
        let message = said(&path);
        assert!(message.contains("latest.safetensors"), "{message}");
    }
    fs::remove_file(&latest).unwrap();
    let message = said(&path);
    assert!(
        message.contains("run has no checkpoint: repeat the run"),
        "{message}"
    );
}
