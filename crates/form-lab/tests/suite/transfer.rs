//! Transfer: policies arrive to the bit, those that are not trained further stay so, and a run begun with them is a run like any
//! other.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use form_env::Split;
use form_lab::{
    Display, EvaluationPlan, Finish, GridEnvFactory, Method, PolicyTransfer, Resumed, Retrain,
    RunConfig, SavedRun, Session, Trainer, begin_transfer, evaluate, inherit, read_rows,
    transfer_config,
};
use form_rl::{Agent, Choice, Network, WeightOrigin};

/// The copy of the checkpoint that policies come from.
const ORIGIN: &str = "origin.safetensors";

use crate::tiny::{TASK, config};

/// A short run in a folder called `source`.
fn source(folder: &Path, method: Method, settings: &[(&str, &str)]) -> SavedRun {
    let mut config = config(folder, method);
    config.iterations = 3;
    for (key, value) in settings {
        config.set(key, value).unwrap();
    }
    let path = folder.join("source");
    let envs = GridEnvFactory::new(&config).unwrap();
    let mut session = Session::begin(config, envs, &path, Arc::default()).unwrap();
    session.run(&mut Display::quiet()).unwrap();
    SavedRun::open(&path).unwrap()
}

/// The task with something changed in its file.
fn other_task(folder: &Path, changes: &[(&str, &str)]) -> String {
    let mut text = TASK.to_owned();
    for (from, to) in changes {
        assert!(text.contains(from));
        text = text.replace(from, to);
    }
    let path = folder.join("other.toml");
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn more_red(folder: &Path) -> String {
    other_task(folder, &[("red = 2", "red = 4")])
}

fn trainer(config: &RunConfig) -> Trainer<GridEnvFactory> {
    let envs = GridEnvFactory::new(config).unwrap();
    Trainer::new(config.clone(), envs, Arc::default()).unwrap()
}

/// A run in memory with the policies of another one.
fn moved(
    source: &SavedRun,
    task: &str,
    retrain: &Retrain,
) -> (Trainer<GridEnvFactory>, Vec<PolicyTransfer>) {
    let config = transfer_config(source, task, retrain.clone()).unwrap();
    let mut trainer = trainer(&config);
    let report = inherit(&mut trainer, &source.checkpoint, retrain).unwrap();
    (trainer, report)
}

fn begin(
    config: &RunConfig,
    source: Option<&SavedRun>,
    path: &Path,
    stop: &Arc<AtomicBool>,
) -> anyhow::Result<(Session<GridEnvFactory>, Vec<PolicyTransfer>)> {
    let envs = GridEnvFactory::new(config).unwrap();
    begin_transfer(config.clone(), source, envs, path, stop.clone())
}

fn bits(network: &Network) -> Vec<u32> {
    network.weights().iter().map(|x| x.to_bits()).collect()
}

fn policy<'a>(run: &'a SavedRun, name: &str) -> &'a Network {
    let mut policies = run.checkpoint.policies.iter();
    &policies.find(|policy| policy.name == name).unwrap().network
}

fn retrained(report: &[PolicyTransfer]) -> Vec<(&str, bool)> {
    (report.iter())
        .map(|policy| (policy.name.as_str(), policy.retrained))
        .collect()
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

#[test]
fn with_a_plane_every_weight_is_taken_over_as_it_is() {
    for method in [Method::Handcrafted, Method::SinglePolicy, Method::Ppo] {
        let folder = tempfile::tempdir().unwrap();
        let source = source(folder.path(), method, &[]);
        let task = more_red(folder.path());
        let (trainer, report) = moved(&source, &task, &Retrain::Full);
        assert_eq!(report.len(), source.checkpoint.policies.len());
        for (agent, policy) in trainer.agents().iter().zip(&report) {
            let old = self::policy(&source, agent.name());
            assert_eq!(bits(agent.network()), bits(old), "{method}");
            let [loaded, adapted, fresh] = policy.counts();
            assert!(loaded > 0 && adapted == 0 && fresh == 0, "{policy:?}");
            assert!(policy.retrained && !agent.is_frozen());
        }
    }
}

/// The blue checkpoints are o1 to o3 here, and o2 and o3 there: none of the columns stays in its place.
#[test]
fn indicators_are_adapted_column_by_column_by_the_names_of_atoms() {
    let folder = tempfile::tempdir().unwrap();
    let blue = [("red = 2", "red = 1"), ("blue = 1", "blue = 3")];
    let own = other_task(
        folder.path(),
        &[blue[0], blue[1], ("forall X. red(X)", "forall X. blue(X)")],
    );
    fs::rename(&own, folder.path().join("blue.toml")).unwrap();
    let path = folder.path().join("blue.toml");
    let source = source(
        folder.path(),
        Method::Handcrafted,
        &[("task", path.to_str().unwrap()), ("progress", "bits")],
    );
    assert_eq!(
        source.checkpoint.policies[0].indicators,
        ["blue(o1)", "blue(o2)", "blue(o3)"]
    );
    let task = other_task(
        folder.path(),
        &[
            ("blue = 1", "blue = 2"),
            ("forall X. red(X)", "forall X. blue(X)"),
        ],
    );
    let (trainer, report) = moved(&source, &task, &Retrain::Changed);
    let fresh = self::trainer(trainer.config());
    let mut expected = fresh.agents()[0].network().clone();
    let columns = [("indicators", vec![Some(1), Some(2)])];
    expected.inherit(policy(&source, "u0"), &columns);
    let found = trainer.agents()[0].network();
    assert_eq!(bits(found), bits(&expected));
    // By their places it would have been another network.
    let mut by_place = fresh.agents()[0].network().clone();
    by_place.inherit(policy(&source, "u0"), &[]);
    assert_ne!(bits(found), bits(&by_place));
    let adapted: Vec<_> = (report[0].tensors.iter())
        .filter(|tensor| tensor.origin != WeightOrigin::Loaded)
        .collect();
    assert_eq!(adapted.len(), 1);
    assert_eq!(adapted[0].tensor, "indicators.0.weight");
    assert_eq!(
        adapted[0].origin,
        WeightOrigin::Adapted { kept: 2, fresh: 0 }
    );
    assert_eq!(
        report[0].reason,
        "it waits for other atoms (gone: blue(o1))"
    );
    assert_eq!(retrained(&report), [("u0", true), ("u1", false)]);
}

#[test]
fn those_that_are_not_trained_further_stay_as_they_are_to_the_bit() {
    let folder = tempfile::tempdir().unwrap();
    let source = source(folder.path(), Method::Handcrafted, &[("progress", "bits")]);
    // One is found soon, so that all have something to learn from.
    let task = other_task(folder.path(), &[("red = 2", "red = 1")]);
    let never = Arc::default();
    for (retrain, expected) in [
        (Retrain::Changed, [true, false]),
        (Retrain::Named(vec!["u1".to_owned()]), [false, true]),
        (Retrain::Full, [true, true]),
    ] {
        let mut config = transfer_config(&source, &task, retrain.clone()).unwrap();
        config.iterations = 6;
        config.least_samples = 1;
        let path = folder.path().join(format!("{expected:?}"));
        let (mut session, report) = begin(&config, Some(&source), &path, &never).unwrap();
        assert_eq!(
            retrained(&report),
            [("u0", expected[0]), ("u1", expected[1])]
        );
        let first: Vec<_> = (session.trainer().agents().iter())
            .map(|agent| bits(agent.network()))
            .collect();
        assert_eq!(first[1], bits(policy(&source, "u1")));
        session.run(&mut Display::quiet()).unwrap();
        drop(session);
        let run = SavedRun::open(&path).unwrap();
        for (place, name) in ["u0", "u1"].into_iter().enumerate() {
            let same = bits(policy(&run, name)) == first[place];
            assert_eq!(same, !expected[place], "{retrain:?}: {name}");
        }
        let rows: Vec<form_lab::PoliciesRow> = read_rows(&run.folder.policies()).unwrap();
        assert!(!rows.is_empty());
        for row in rows {
            assert!(expected[usize::from(row.state == "u1")], "{row:?}");
        }
    }
}

#[test]
fn zero_shot_is_what_loading_by_hand_comes_to() {
    for method in [
        Method::Handcrafted,
        Method::SinglePolicy,
        Method::RecurrentPpo,
    ] {
        let folder = tempfile::tempdir().unwrap();
        let source = source(folder.path(), method, &[]);
        let (mut trainer, report) = moved(&source, &more_red(folder.path()), &Retrain::None);
        assert!(report.iter().all(|policy| !policy.retrained));
        assert!(trainer.agents().iter().all(Agent::is_frozen));
        let config = trainer.config().clone();
        let envs = GridEnvFactory::new(&config).unwrap();
        let by_hand = |policy: &form_rl::Policy| {
            let network = policy.network.clone();
            Agent::with(&policy.name, network, config.network.sequence, &config.ppo)
        };
        let policies = source.checkpoint.policies.iter();
        let mut agents: Vec<Agent> = policies.map(by_hand).collect();
        for split in [Split::Training, Split::HeldOut] {
            let plan = EvaluationPlan {
                split,
                episodes: 30,
                choice: Choice::Sample,
                seed: 3,
            };
            let machine = &source.checkpoint.machine;
            let expected = evaluate(&config, &envs, machine, &mut agents, &plan).unwrap();
            assert_eq!(trainer.evaluate(&plan).unwrap(), expected, "{method}");
        }
    }
}

#[test]
fn a_run_with_policies_of_another_one_goes_on_and_can_be_made_again() {
    for method in [Method::Form, Method::SinglePolicy] {
        let folder = tempfile::tempdir().unwrap();
        let source = source(folder.path(), method, &[("progress", "bits")]);
        let task = more_red(folder.path());
        let names: Vec<String> = (source.checkpoint.policies.iter().take(1))
            .map(|policy| policy.name.clone())
            .collect();
        let mut config = transfer_config(&source, &task, Retrain::Named(names)).unwrap();
        config.iterations = 4;
        let paths = ["whole", "pieces", "again"].map(|name| folder.path().join(name));
        let never = Arc::default();
        let (mut session, report) = begin(&config, Some(&source), &paths[0], &never).unwrap();
        let frozen: Vec<bool> = report.iter().map(|policy| !policy.retrained).collect();
        let flags = |session: &Session<GridEnvFactory>| -> Vec<bool> {
            let agents = session.trainer().agents().iter();
            agents.map(Agent::is_frozen).collect()
        };
        assert_eq!(flags(&session), frozen);
        session.run(&mut Display::quiet()).unwrap();
        drop(session);
        // In pieces, of which the first is no more than the beginning.
        drop(begin(&config, Some(&source), &paths[1], &never).unwrap());
        loop {
            let stop = Arc::new(AtomicBool::new(false));
            let mut display = Display::plain(Box::new(Stop(stop.clone())), Duration::ZERO, None);
            let mut session = match Session::resume(&paths[1], stop).unwrap() {
                Resumed::Session(session) => *session,
                Resumed::Ended(result) => panic!("it is over: {result:?}"),
            };
            if session.trainer().state().relearnings == 0 {
                assert_eq!(flags(&session), frozen, "{method}");
            }
            if let Finish::Ended(_) = session.run(&mut display).unwrap() {
                break;
            }
        }
        // From its configuration alone, with nothing else left of where it came from.
        fs::remove_dir_all(folder.path().join("source")).unwrap();
        fs::remove_file(&task).unwrap();
        let again = RunConfig::open(&paths[0].join("config.toml")).unwrap();
        let (mut session, _) = begin(&again, None, &paths[2], &never).unwrap();
        session.run(&mut Display::quiet()).unwrap();
        drop(session);
        for name in [
            "config.toml",
            "metrics.csv",
            "policies.csv",
            "checkpoints/final.safetensors",
            ORIGIN,
        ] {
            let [whole, pieces, again] = paths
                .each_ref()
                .map(|path| fs::read(path.join(name)).unwrap());
            assert!(whole == pieces, "{method}: {name} of the run in pieces");
            assert!(whole == again, "{method}: {name} of the run made again");
        }
    }
}

/// In another room the layer above the convolutions has another shape: nobody has trained it, so it must not stay as it is.
#[test]
fn what_could_not_be_taken_over_whole_is_trained_further() {
    let folder = tempfile::tempdir().unwrap();
    let source = source(folder.path(), Method::Handcrafted, &[]);
    let task = other_task(
        folder.path(),
        &[
            ("[7, 7]", "[9, 9]"),
            ("[5, 5]", "[7, 7]"),
            ("name = \"tiny\"", "name = \"wide\""),
        ],
    );
    let (_, report) = moved(&source, &task, &Retrain::Changed);
    assert_eq!(retrained(&report), [("u0", true), ("u1", true)]);
    for policy in &report {
        assert!(!policy.changed && policy.counts()[2] > 0, "{policy:?}");
        assert!(
            policy.reason.contains("trunk.0.weight"),
            "{}",
            policy.reason
        );
    }
}

#[test]
fn what_makes_no_sense_is_refused_and_leaves_no_folder() {
    let folder = tempfile::tempdir().unwrap();
    let source = source(folder.path(), Method::Handcrafted, &[]);
    let path = folder.path().join("new");
    let refused = |config: &RunConfig| {
        let begun = begin(config, Some(&source), &path, &Arc::default());
        assert!(!path.exists());
        format!("{:#}", begun.err().unwrap())
    };
    let own = folder.path().join("tiny.toml");
    let same = transfer_config(&source, own.to_str().unwrap(), Retrain::Changed).unwrap();
    let message = refused(&same);
    assert!(message.contains("no policy would be trained"), "{message}");
    let task = more_red(folder.path());
    let named = Retrain::Named(vec!["u1".to_owned(), "u7".to_owned()]);
    let message = refused(&transfer_config(&source, &task, named).unwrap());
    assert!(
        message.contains("unknown policy `u7`; known policies: u0, u1"),
        "{message}"
    );
    let mut config = transfer_config(&source, &task, Retrain::Full).unwrap();
    config.method = Method::SinglePolicy;
    let message = refused(&config);
    assert!(message.contains("use the method of that run"), "{message}");
    // Another file of that name is kept.
    fs::create_dir(&path).unwrap();
    fs::write(path.join(ORIGIN), "mine").unwrap();
    let config = transfer_config(&source, &task, Retrain::Full).unwrap();
    let begun = begin(&config, Some(&source), &path, &Arc::default());
    let message = format!("{:#}", begun.err().unwrap());
    assert!(
        message.contains("origin.safetensors is the checkpoint of another run"),
        "{message}"
    );
    assert_eq!(fs::read(path.join(ORIGIN)).unwrap(), b"mine");
    assert!(!path.join("config.toml").exists());
}

/// A run may have another machine than the policies come from: those that nobody has trained are, whoever was named.
#[test]
fn a_state_that_is_new_begins_afresh_and_is_trained() {
    let folder = tempfile::tempdir().unwrap();
    let source = source(folder.path(), Method::Handcrafted, &[]);
    let task = more_red(folder.path());
    let mut config = transfer_config(&source, &task, Retrain::Changed).unwrap();
    let longer = "initial u0\naccept u_acc\nu0 -> u1 : forall X. red(X)\nu1 -> u2 : exists X. blue(X)\nu2 -> u_acc : goal\n";
    config.machine = Some(longer.to_owned());
    let fresh = trainer(&config);
    for (retrain, expected) in [
        (Retrain::Named(vec!["u1".to_owned()]), [false, true, true]),
        (Retrain::Changed, [true, false, true]),
        (Retrain::None, [false, false, false]),
    ] {
        let mut run = trainer(&config);
        let report = inherit(&mut run, &source.checkpoint, &retrain).unwrap();
        let found: Vec<bool> = report.iter().map(|policy| policy.retrained).collect();
        assert_eq!(found, expected, "{retrain:?}");
        assert!(report[2].tensors.is_empty());
        let [found, before] = [&run, &fresh].map(|run| bits(run.agents()[2].network()));
        assert_eq!(found, before);
    }
}
