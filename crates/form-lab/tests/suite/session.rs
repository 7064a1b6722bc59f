//! Sessions: a run that stops and goes on, however often, leaves the folder of one that never stopped.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use form_lab::{
    Display, Finish, GridEnvFactory, Method, Preset, Resumed, RunConfig, RunFolder, RunResult,
    Session,
};

use crate::tiny::{FINAL, LATEST, config};

/// The files of a run that do not depend on the clock.
fn contents(run: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for folder in ["", "machines", "checkpoints"] {
        for entry in fs::read_dir(run.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(run).unwrap().to_str().unwrap();
            let by_the_clock = ["timings.csv", "run.log", "result.json", ".lock"].contains(&name)
                || name.starts_with("events");
            if path.is_file() && !by_the_clock {
                found.insert(name.to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

fn begin(config: &RunConfig, path: &Path, stop: &Arc<AtomicBool>) -> Session<GridEnvFactory> {
    let envs = GridEnvFactory::new(config).unwrap();
    Session::begin(config.clone(), envs, path, stop.clone()).unwrap()
}

fn resume(path: &Path, stop: &Arc<AtomicBool>) -> Session<GridEnvFactory> {
    match Session::resume(path, stop.clone()).unwrap() {
        Resumed::Session(session) => *session,
        Resumed::Ended(result) => panic!("it is over: {result:?}"),
    }
}

fn ended(finish: Finish) -> RunResult {
    match finish {
        Finish::Ended(result) => *result,
        Finish::Interrupted { iteration } => panic!("interrupted after {iteration}"),
    }
}

/// Stops the run as soon as it is shown.
struct Stop(Arc<AtomicBool>);

impl Write for Stop {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        // Not in the last evaluation: that would be stopped for ever.
        if bytes.starts_with(b"iteration ") {
            self.0.store(true, Ordering::Relaxed);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Makes a run twice, once stopped after every iteration: the folders are the same. Returns the result.
pub fn same_in_pieces(config: &RunConfig, folder: &Path) -> RunResult {
    let method = config.method;
    let (whole, pieces) = (folder.join("whole"), folder.join("pieces"));
    let never = Arc::default();
    let mut session = begin(config, &whole, &never);
    let result = ended(session.run(&mut Display::quiet()).unwrap());
    let mut finish = None;
    let mut parts = 0;
    while !matches!(finish, Some(Finish::Ended(_))) {
        let stop = Arc::new(AtomicBool::new(false));
        let mut session = match finish {
            None => begin(config, &pieces, &stop),
            Some(_) => resume(&pieces, &stop),
        };
        let mut display = Display::plain(Box::new(Stop(stop)), Duration::ZERO, None);
        finish = Some(session.run(&mut display).unwrap());
        parts += 1;
    }
    assert!(parts >= result.iterations.min(6), "{method}: {parts} parts");
    let (whole, pieces) = (contents(&whole), contents(&pieces));
    assert!(whole.keys().eq(pieces.keys()), "{method}");
    for (name, bytes) in &whole {
        assert!(pieces[name] == *bytes, "{method}: {name} differs");
    }
    let latest = format!("checkpoints/{LATEST}.safetensors");
    let last = format!("checkpoints/{FINAL}.safetensors");
    assert!(whole[&latest] == whole[&last]);
    result
}

#[test]
fn a_run_stopped_after_every_iteration_is_the_same_run() {
    for method in Method::ALL {
        let folder = tempfile::tempdir().unwrap();
        let config = config(folder.path(), method);
        let result = same_in_pieces(&config, folder.path());
        assert_eq!(
            (result.ending.as_str(), result.iterations),
            ("out-of-iterations", 6)
        );
    }
}

/// Exploration to its end: with probes of the learner's machine, and with queries where the learner may have one state only.
#[test]
fn exploration_stopped_after_every_iteration_is_the_same_run() {
    for (task, max_states) in [("green-but-one", "10"), ("all-yellow", "1")] {
        let folder = tempfile::tempdir().unwrap();
        let mut config = RunConfig::new(task, Method::ReachAvoid, Preset::Fast);
        config.set("learning.max_states", max_states).unwrap();
        config.set("stop.episodes", "20").unwrap();
        config.set("evaluation.final_episodes", "20").unwrap();
        let result = same_in_pieces(&config, folder.path());
        assert_eq!(result.ending.as_str(), "converged", "{task}");
    }
}

#[test]
fn a_configuration_from_a_folder_makes_the_same_run() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("first"), folder.path().join("second"));
    let stop = Arc::default();
    let config = config(folder.path(), Method::Form);
    ended(
        begin(&config, &first, &stop)
            .run(&mut Display::quiet())
            .unwrap(),
    );
    // The task's own file is not needed any more.
    fs::remove_file(folder.path().join("tiny.toml")).unwrap();
    let again = RunConfig::open(&RunFolder::open(&first).unwrap().config()).unwrap();
    ended(
        begin(&again, &second, &stop)
            .run(&mut Display::quiet())
            .unwrap(),
    );
    assert!(contents(&first) == contents(&second));
}

#[test]
fn a_run_that_is_over_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let stop = Arc::default();
    let config = config(folder.path(), Method::Handcrafted);
    let result = ended(
        begin(&config, &path, &stop)
            .run(&mut Display::quiet())
            .unwrap(),
    );
    let run = RunFolder::open(&path).unwrap();
    assert_eq!(RunResult::of_run(&run).unwrap().unwrap(), result);
    assert_eq!(result.task, "tiny");
    let log = fs::read(run.log()).unwrap();
    match Session::resume(&path, stop.clone()).unwrap() {
        Resumed::Ended(found) => assert_eq!(*found, result),
        Resumed::Session(_) => panic!("it goes on"),
    }
    assert_eq!(fs::read(run.log()).unwrap(), log);
    // Killed after its last iteration, before it said so: nothing is trained, only said.
    fs::remove_file(run.result()).unwrap();
    fs::remove_file(run.checkpoint(FINAL)).unwrap();
    let again = ended(resume(&path, &stop).run(&mut Display::quiet()).unwrap());
    assert_eq!(again, result);
    assert_eq!(
        fs::read(run.checkpoint(FINAL)).unwrap(),
        fs::read(run.checkpoint(LATEST)).unwrap()
    );
}

#[test]
fn a_run_converges_and_says_on_what() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let mut config = config(folder.path(), Method::Handcrafted);
    // Any success will do: what is tested is that the run ends, and what it says.
    config.set("stop.success", "0").unwrap();
    config.set("stop.episodes", "10").unwrap();
    config.set("stop.patience", "1").unwrap();
    config.set("iterations", "50").unwrap();
    let result = ended(
        begin(&config, &path, &Arc::default())
            .run(&mut Display::quiet())
            .unwrap(),
    );
    assert_eq!(result.ending, "converged");
    assert!(result.iterations < 50);
    assert!(
        result.message.contains("of 10 fresh episodes succeeded"),
        "{}",
        result.message
    );
}

#[test]
fn what_cannot_be_trained_leaves_no_folder() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let mut config = config(folder.path(), Method::Handcrafted);
    config.machine = Some("initial u0\naccept u1\nu0 -> u1 : exists X. pink(X)\n".to_owned());
    let envs = GridEnvFactory::new(&config).unwrap();
    let begun = Session::begin(config, envs, &path, Arc::default());
    let message = format!("{:#}", begun.err().unwrap());
    assert!(message.contains("pink"), "{message}");
    assert!(!path.exists());
}

#[test]
fn somebody_elses_task_file_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path(), Method::Handcrafted);
    let mine = folder.path().join("task.toml");
    fs::write(&mine, "# mine\n").unwrap();
    let envs = GridEnvFactory::new(&config).unwrap();
    let begun = Session::begin(config, envs, folder.path(), Arc::default());
    let message = format!("{:#}", begun.err().unwrap());
    assert!(
        message.contains("task.toml is the file of another task"),
        "{message}"
    );
    assert_eq!(fs::read_to_string(&mine).unwrap(), "# mine\n");
}
