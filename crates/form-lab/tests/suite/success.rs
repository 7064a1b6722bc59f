//! Success that is true: on policies whose rate is known, every figure shown is about that rate, from the first evaluation to the
//! result. Episodes that ended within some time tell another story.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use form_core::{AtomSet, Signature};
use form_env::{
    Environment, EpisodeOutcome, Error, Feature, GridWorld, GridWorlds, Result, Spec, Split, Worlds,
};
use form_lab::{
    CopiesEnvFactory, Display, EnvFactory, EvaluationPlan, Finish, GridEnvFactory, Method,
    MetricsRow, Preset, RunConfig, RunFolder, RunResult, Session, Trainer, evaluate, read_rows,
};
use form_rl::Choice;
use rand::{Rng, RngExt};

use crate::tiny;

/// Half of its episodes are completed by the first step, the others by none: whatever is learnt, half of them succeed.
#[derive(Clone)]
struct Lottery {
    signature: Signature,
    spec: Spec,
    actions: Vec<String>,
    labels: AtomSet,
    wins: bool,
    steps: u32,
    outcome: EpisodeOutcome,
}

/// The steps of an episode that cannot be completed: many times as many as a world takes in an iteration.
const LIMIT: u32 = 300;

impl Lottery {
    fn new() -> Self {
        let feature = |name: &str| Feature {
            name: name.to_owned(),
            low: 0.0,
            high: 1.0,
        };
        Self {
            signature: Signature::parse(["won"]).unwrap(),
            spec: Spec {
                planes: None,
                vector: vec![feature("time")],
            },
            actions: vec!["wait".to_owned(), "hope".to_owned()],
            labels: AtomSet::new(),
            wins: false,
            steps: 0,
            outcome: EpisodeOutcome::Running,
        }
    }
}

impl Environment for Lottery {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn actions(&self) -> &[String] {
        &self.actions
    }

    fn reset(&mut self, random: &mut dyn Rng) -> Result<()> {
        *self = Self::new();
        self.wins = random.random_bool(0.5);
        Ok(())
    }

    fn step(&mut self, action: usize) -> Result<EpisodeOutcome> {
        if action >= self.actions.len() {
            let actions = self.actions.len();
            return Err(Error::NoSuchAction { action, actions });
        }
        self.labels.clear();
        if self.outcome.is_over() {
            return Ok(self.outcome);
        }
        self.steps += 1;
        if self.wins {
            self.labels.extend(self.signature.id_of_text("won"));
            self.outcome = EpisodeOutcome::Goal;
        } else if self.steps >= LIMIT {
            self.outcome = EpisodeOutcome::OutOfTime;
        }
        Ok(self.outcome)
    }

    fn labels(&self) -> &AtomSet {
        &self.labels
    }

    fn observe(&self, _planes: &mut [u8], vector: &mut [f32]) {
        vector[0] = self.steps as f32 / LIMIT as f32;
    }
}

fn lottery(method: Method) -> (RunConfig, CopiesEnvFactory<Lottery>) {
    let mut config = RunConfig::new("lottery", method, Preset::Fast);
    for (key, value) in [
        ("worlds", "16"),
        ("iterations", "8"),
        ("least_samples", "16"),
        // Sixteen steps of each world.
        ("ppo.train_batch", "256"),
        ("ppo.minibatch", "128"),
        ("ppo.epochs", "1"),
        ("learning.explore", "16"),
        ("network.hidden", "[4]"),
        ("network.vector_units", "4"),
        ("evaluation.episodes", "100"),
        ("evaluation.share", "1000"),
        ("evaluation.final_episodes", "400"),
    ] {
        config.set(key, value).unwrap();
    }
    let truth = "initial u0\naccept u_acc\nu0 -> u_acc : won\n"
        .parse()
        .unwrap();
    (
        config,
        CopiesEnvFactory::new(Lottery::new()).with_truth(truth),
    )
}

fn ended(finish: Finish) -> RunResult {
    match finish {
        Finish::Ended(result) => *result,
        Finish::Interrupted { .. } => panic!("nobody interrupts it"),
    }
}

/// Whether a rate measured on this number of episodes is compatible with a true one. The seeds are fixed, so this does not depend on
/// luck; the interval is wide enough that another seed would do as well.
fn is_about(rate: f64, episodes: u64, truth: f64) -> bool {
    // 3.29 standard errors: a confidence of 99.9 %.
    (rate - truth).abs() <= 3.29 * (truth * (1.0 - truth) / episodes as f64).sqrt()
}

/// The figure shown is within its interval, and what ended episodes did, the figure of version 0.1, is not.
#[test]
fn half_of_the_episodes_are_impossible_and_every_figure_says_so() {
    for method in [Method::Form, Method::Handcrafted, Method::Ppo] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        let (config, envs) = lottery(method);
        let mut session = Session::begin(config, envs, &path, Arc::default()).unwrap();
        let result = ended(session.run(&mut Display::quiet()).unwrap());
        let rows: Vec<MetricsRow> = read_rows(&RunFolder::open(&path).unwrap().metrics()).unwrap();
        assert_eq!(rows[0].iteration, 0);
        let evaluated = rows
            .iter()
            .filter_map(|row| Some((row.success?, row.evaluated?)));
        let evaluated: Vec<(f64, u64)> = evaluated.collect();
        assert!(
            evaluated.len() > 5,
            "{method}: {} evaluations",
            evaluated.len()
        );
        for (rate, episodes) in &evaluated {
            assert!(is_about(*rate, *episodes, 0.5), "{method}: {rate}");
        }
        // The last row is the result.
        let success = result.success.unwrap();
        assert_eq!(evaluated.last(), Some(&(success, 400)));
        let evaluation = result.evaluation.unwrap();
        assert_eq!((evaluation.success, evaluation.episodes), (success, 400));
        let interval = evaluation.success_interval;
        assert!(
            (interval.low..=interval.high).contains(&0.5),
            "{interval:?}"
        );
        assert!(is_about(evaluation.random.unwrap(), 400, 0.5));
        assert_eq!(evaluation.out_of_time, 400 - evaluation.successes);
        // Nobody knows how short a lottery can be.
        assert_eq!((evaluation.shortest, evaluation.ratio), (None, None));
        // What ended episodes did: every world is soon busy with an impossible one, and until its end only the others end.
        let early: Vec<&MetricsRow> = rows.iter().filter(|row| row.episodes > 0).collect();
        let first = early[0].ended_success.unwrap();
        assert_eq!(first, 1.0, "{method}");
        assert!(!is_about(first, early[0].episodes, 0.5), "{method}");
        // It has not converged, whatever they did.
        assert_eq!(result.ending, "out-of-iterations");
    }
}

/// The share of random walks that complete a world's task within its limit, exactly: by going through all places it can be in.
fn chance(start: &GridWorld) -> f64 {
    let key = |world: &GridWorld| {
        let truth = world.truth();
        let place = (world.agent(), world.direction(), truth.state());
        (place, truth.seen().clone(), truth.newest().clone())
    };
    let mut now = HashMap::from([(key(start), (start.clone(), 1.0))]);
    let mut completed = 0.0;
    while !now.is_empty() {
        let mut next: HashMap<_, (GridWorld, f64)> = HashMap::new();
        for (world, share) in now.into_values() {
            let actions = world.actions().len();
            for action in 0..actions {
                let share = share / actions as f64;
                let mut after = world.clone();
                match after.step(action).unwrap() {
                    EpisodeOutcome::Goal => completed += share,
                    EpisodeOutcome::Running => {
                        next.entry(key(&after)).or_insert((after, 0.0)).1 += share;
                    }
                    EpisodeOutcome::DeadEnd | EpisodeOutcome::OutOfTime => {}
                }
            }
        }
        now = next;
    }
    completed
}

const SMALL: &str = r#"name = "small"
machine = '''
initial u0
accept  u_acc
u0 -> u1 : exists X. red(X)
u1 -> u_acc : goal
'''
steps = 25
[room]
size = [6, 6]
[checkpoints]
red = 1
blue = 1
"#;

fn small(folder: &Path) -> RunConfig {
    let path = folder.join("small.toml");
    fs::write(&path, SMALL).unwrap();
    let mut config = tiny::config(folder, Method::Form);
    config.task = path.to_str().unwrap().to_owned();
    config.layouts = 4;
    config
}

/// Random play has the success that can be computed, and so has a run before it has learnt anything.
#[test]
fn random_play_has_the_rate_that_can_be_computed() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = small(folder.path());
    config.set("evaluation.episodes", "2000").unwrap();
    let envs = GridEnvFactory::new(&config).unwrap();
    let plan = EvaluationPlan {
        split: Split::Training,
        episodes: 2000,
        choice: Choice::Sample,
        seed: 3,
    };
    let mut worlds: GridWorlds = envs.worlds(500, plan.seed, plan.split).unwrap();
    let mut known = HashMap::new();
    let mut sum = 0.0;
    for round in 0..4 {
        for world in 0..500 {
            worlds.start(world, round).unwrap();
            let start = worlds.copy_of(world).unwrap();
            let place = (worlds.map_number(world), start.agent(), start.direction());
            sum += *known.entry(place).or_insert_with(|| chance(&start));
        }
    }
    let truth = sum / 2000.0;
    assert!((0.02..0.9).contains(&truth), "{truth}");
    let mut run = Trainer::new(config.clone(), envs.clone(), Arc::default()).unwrap();
    let machine = run.machine().clone();
    let found = evaluate(&config, &envs, &machine, run.agents_mut(), &plan).unwrap();
    assert!(
        is_about(found.random.unwrap(), 2000, truth),
        "{found:?} {truth}"
    );
    // Without a machine to go by, a run plays at random, too: the same draws.
    assert_eq!(Some(found.success), found.random);
    let first = run.first_evaluation().unwrap().unwrap().metrics;
    assert!(
        is_about(first.success.unwrap(), 2000, truth),
        "{first:?} {truth}"
    );
    assert_eq!((first.iteration, first.steps), (0, 0));
    assert_eq!(first.success, Some(run.random_success().unwrap()));
    // The shortest solutions are exact, and no episode takes fewer.
    assert!(found.shortest_exact && found.ratio.unwrap() >= 1.0);
    assert_eq!(found.impossible, 0);
}

/// A map that cannot be completed in the steps allowed is named, with the state in which its episodes end.
#[test]
fn maps_that_fail_are_named_with_their_states() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("far.toml");
    let far = SMALL.replace("steps = 25", "steps = 3");
    fs::write(&path, far).unwrap();
    let mut config = small(folder.path());
    config.task = path.to_str().unwrap().to_owned();
    config.method = Method::Handcrafted;
    let envs = GridEnvFactory::new(&config).unwrap();
    let mut run = Trainer::new(config.clone(), envs, Arc::default()).unwrap();
    let plan = EvaluationPlan {
        split: Split::Training,
        episodes: 40,
        choice: Choice::Sample,
        seed: 3,
    };
    let found = run.evaluate(&plan).unwrap();
    assert!(found.impossible > 20, "{found:?}");
    assert!(found.episodes - found.successes >= found.impossible);
    // Ten episodes on each of the four maps.
    assert!((found.failures.maps.iter()).all(|map| map.episodes == 10 && map.failures > 0));
    let failures: u64 = found.failures.maps.iter().map(|map| map.failures).sum();
    assert_eq!(failures, found.episodes - found.successes);
    let by_state: u64 = (found.failures.states.iter())
        .map(|state| state.failures)
        .sum();
    assert_eq!(by_state, failures);
    let worst = &found.failures.worst_maps(1)[0];
    assert!(
        worst.starts_with("map ") && worst.contains(" of 10, in u"),
        "{worst}"
    );
}

/// Where evaluations do not get better the run says so, with the maps, the states and what can be known of the reasons.
#[test]
fn a_run_that_stalls_says_where_and_why() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hidden.toml");
    // Which of two red checkpoints is meant is not to be seen, and three steps are too few for most starts.
    let hidden = (SMALL.replace("steps = 25", "steps = 3"))
        .replace("exists X. red(X)", "red(o1)")
        .replace("red = 1", "red = 2");
    fs::write(&path, hidden).unwrap();
    let mut config = small(folder.path());
    config.task = path.to_str().unwrap().to_owned();
    config.method = Method::Handcrafted;
    for (key, value) in [
        ("iterations", "30"),
        ("evaluation.share", "1000"),
        ("stop.fall", "0"),
    ] {
        config.set(key, value).unwrap();
    }
    let run = folder.path().join("run");
    let envs = GridEnvFactory::new(&config).unwrap();
    let mut session = Session::begin(config, envs, &run, Arc::default()).unwrap();
    ended(session.run(&mut Display::quiet()).unwrap());
    let log = fs::read_to_string(run.join("run.log")).unwrap();
    for expected in [
        "stalled: no better than",
        "in the last 5 evaluations",
        "; map ",
        ", in u",
        "likely: u0 asks for red(o1), and view = egocentric hides the numbers of checkpoints",
        "cannot be completed in 3 steps from all of its starts",
    ] {
        assert!(log.contains(expected), "{expected}: {log}");
    }
}

/// How often a run is evaluated depends on steps alone: the budget holds, but for the first evaluation and what confirms a decision.
#[test]
fn evaluations_keep_to_their_budget() {
    let evaluations = |share: f64| {
        let folder = tempfile::tempdir().unwrap();
        let mut config = tiny::config(folder.path(), Method::Handcrafted);
        config.set("evaluation.share", &share.to_string()).unwrap();
        config.set("iterations", "40").unwrap();
        config.set("stop.fall", "0").unwrap();
        let envs = GridEnvFactory::new(&config).unwrap();
        let mut run = Trainer::new(config, envs, Arc::default()).unwrap();
        let mut count = 0;
        while run.state().stop_cause.is_none() {
            let iteration = run.iterate().unwrap().unwrap();
            count += usize::from(iteration.metrics.success.is_some());
            let measured = &run.state().evaluations;
            // The last one may have taken more than was guessed: at most all the steps that it may.
            let allowed = share * measured.training_steps as f64 + 8.0 * 120.0;
            assert!(measured.steps as f64 <= allowed, "{measured:?}");
        }
        count
    };
    assert_eq!(evaluations(0.0), 0);
    let (few, many) = (evaluations(0.2), evaluations(2.0));
    assert!(0 < few && few < many, "{few} {many}");
}

/// Every map of a set is played as often as any other, up to one episode.
#[test]
fn evaluations_play_all_maps_equally_often() {
    let folder = tempfile::tempdir().unwrap();
    let config = small(folder.path());
    for layouts in [1, 3, 4, 7, 10] {
        let mut config = config.clone();
        config.layouts = layouts;
        let envs = GridEnvFactory::new(&config).unwrap();
        let mut run = Trainer::new(config, envs, Arc::default()).unwrap();
        for episodes in [layouts, 3 * layouts, 50, 600] {
            let plan = EvaluationPlan {
                split: Split::Training,
                episodes,
                choice: Choice::Uniform,
                seed: 1,
            };
            let found = run.evaluate(&plan).unwrap();
            // With three steps and two sub-tasks, hardly any episode succeeds: all maps are among those that fail.
            for map in &found.failures.maps {
                let each = (episodes / layouts) as u64;
                assert!(
                    (each..=each + 1).contains(&map.episodes),
                    "{map:?} of {episodes}"
                );
            }
        }
    }
}

/// Intervals are wider than what is asked of them by chance: about 95 of 100 hold the true rate.
#[test]
fn ninety_five_intervals_of_a_hundred_hold_the_true_rate() {
    let (config, envs) = lottery(Method::Ppo);
    let mut run = Trainer::new(config, envs, Arc::default()).unwrap();
    let holds = |seed: &u64| {
        let plan = EvaluationPlan {
            split: Split::Training,
            episodes: 60,
            choice: Choice::Uniform,
            seed: *seed,
        };
        let interval = run.evaluate(&plan).unwrap().success_interval;
        (interval.low..=interval.high).contains(&0.5)
    };
    let held = (0..100).filter(holds).count();
    assert!((88..=100).contains(&held), "{held}");
}
