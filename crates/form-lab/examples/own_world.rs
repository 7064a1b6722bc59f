//! A world of one's own, outside the grid, from its rules to policies that master it: a robot that makes tea.
//!
//! On a counter stand, side by side, a kettle, a table and some cups. The robot moves left and right and uses what it stands
//! before. Tea is made by boiling the water, filling every cup, and serving; a cup filled with cold water does not count. What
//! the robot sees is where it stands, nothing else: what it has done is for the machine to know, and the machine is learnt.
//! Then machine and policies are taken to a kitchen with more cups. `book/src/own_worlds.md` walks through this file. An argument
//! names a folder for the runs; without one they are temporary.

#![allow(clippy::print_stdout, reason = "what was learnt is its output")]

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Result, ensure};
use form_core::{AtomId, AtomSet, Signature};
use form_env::{
    CheckOptions, Environment, EpisodeOutcome, Error, Feature, Spec, Split, check_environment,
};
use form_lab::{
    CopiesEnvFactory, Display, Evaluation, EvaluationPlan, Method, Preset, Retrain, RunConfig,
    SavedRun, Session, Trainer, begin_transfer, evaluate, transfer_config,
};
use form_rl::Choice;
use rand::{Rng, RngExt};

/// Where things stand on the counter, from the left. The rest of it are cups.
const KETTLE: usize = 0;
const TABLE: usize = 1;
const STEPS: usize = 60;

/// The world. The first fields say what it looks like from outside, the others where an episode stands.
#[derive(Clone)]
struct Kitchen {
    /// What is observed when the thing at a place is used.
    counter: Vec<String>,
    signature: Signature,
    spec: Spec,
    actions: Vec<String>,
    at: usize,
    boiled: bool,
    filled: Vec<bool>,
    steps: usize,
    labels: AtomSet,
    outcome: EpisodeOutcome,
}

impl Kitchen {
    fn new(cups: usize) -> Result<Self> {
        let cups = (0..cups).map(|cup| format!("cup(c{cup})"));
        let counter: Vec<String> = ["boiled", "served"]
            .map(str::to_owned)
            .into_iter()
            .chain(cups)
            .collect();
        let feature = |label: &String| Feature {
            name: format!("before {label}"),
            low: 0.0,
            high: 1.0,
        };
        Ok(Self {
            // All that can ever be observed. `forall X. cup(X)` ranges over the cups in it.
            signature: Signature::parse(&counter)?,
            spec: Spec {
                planes: None,
                vector: counter.iter().map(feature).collect(),
            },
            actions: ["left", "right", "use"].map(str::to_owned).into(),
            at: KETTLE,
            boiled: false,
            filled: vec![false; counter.len() - 2],
            counter,
            steps: 0,
            labels: AtomSet::new(),
            outcome: EpisodeOutcome::Running,
        })
    }

    /// Uses what the robot stands before. Whether that completes the task is the ground truth: nobody outside sees it.
    fn use_it(&mut self) {
        let label: Option<AtomId> = self.signature.id_of_text(&self.counter[self.at]);
        self.labels.extend(label);
        match self.at {
            KETTLE => self.boiled = true,
            TABLE if self.filled.iter().all(|filled| *filled) => {
                self.outcome = EpisodeOutcome::Goal;
            }
            TABLE => {}
            cup => self.filled[cup - 2] |= self.boiled,
        }
    }
}

impl Environment for Kitchen {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn actions(&self) -> &[String] {
        &self.actions
    }

    fn reset(&mut self, random: &mut dyn Rng) -> form_env::Result<()> {
        self.at = random.random_range(0..self.counter.len());
        self.boiled = false;
        self.filled.fill(false);
        self.steps = 0;
        self.labels.clear();
        self.outcome = EpisodeOutcome::Running;
        Ok(())
    }

    fn step(&mut self, action: usize) -> form_env::Result<EpisodeOutcome> {
        if action >= self.actions.len() {
            let actions = self.actions.len();
            return Err(Error::NoSuchAction { action, actions });
        }
        self.labels.clear();
        if self.outcome.is_over() {
            return Ok(self.outcome);
        }
        match action {
            0 => self.at = self.at.saturating_sub(1),
            1 => self.at = (self.at + 1).min(self.counter.len() - 1),
            _ => self.use_it(),
        }
        self.steps += 1;
        if self.outcome == EpisodeOutcome::Running && self.steps == STEPS {
            self.outcome = EpisodeOutcome::OutOfTime;
        }
        Ok(self.outcome)
    }

    fn labels(&self) -> &AtomSet {
        &self.labels
    }

    fn observe(&self, _planes: &mut [u8], vector: &mut [f32]) {
        vector.fill(0.0);
        vector[self.at] = 1.0;
    }
}

/// How it is learnt: the preset's ways, in the sizes of a small world.
fn config() -> Result<RunConfig> {
    let mut config = RunConfig::new("tea", Method::Form, Preset::Fast);
    for (name, value) in [
        ("worlds", "32"),
        ("iterations", "150"),
        ("least_samples", "64"),
        ("ppo.train_batch", "1024"),
        ("ppo.minibatch", "128"),
        ("ppo.learning_rate", "0.003"),
        ("learning.explore", "120"),
        ("stop.episodes", "100"),
        ("network.vector_units", "16"),
        ("network.hidden", "[16]"),
    ] {
        config.set(name, value)?;
    }
    Ok(config)
}

/// How good a run is, in episodes that it was not trained on.
fn judge(run: &SavedRun, envs: &CopiesEnvFactory<Kitchen>) -> Result<Evaluation> {
    let mut agents = run.agents()?;
    evaluate(
        &run.config,
        envs,
        &run.checkpoint.machine,
        &mut agents,
        &PLAN,
    )
}

const PLAN: EvaluationPlan = EvaluationPlan {
    split: Split::HeldOut,
    episodes: 500,
    choice: Choice::Sample,
    seed: 7,
};

fn say(what: &str, result: &Evaluation) {
    println!(
        "# {what}: {:.1} % of {} episodes succeed, in {:.1} steps on average",
        100.0 * result.success,
        result.episodes,
        result.length
    );
}

fn main() -> Result<()> {
    let temporary = tempfile::tempdir()?;
    let folder = std::env::args_os().nth(1).map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| temporary.path().to_owned());
    let never = Arc::<AtomicBool>::default();

    // 1. Does the world keep its promises?
    let mut kitchen = Kitchen::new(2)?;
    let violations = check_environment(&mut kitchen, &CheckOptions::default());
    ensure!(violations.is_empty(), "the kitchen: {}", violations[0]);

    // 2. How good is an untrained policy? `Trainer` is a run in memory.
    let (config, envs) = (config()?, CopiesEnvFactory::new(kitchen));
    let before = Trainer::new(config.clone(), envs.clone(), never.clone())?.evaluate(&PLAN)?;

    // 3. Machine and policies are learnt together, in a folder. A run that was stopped goes on with `Session::resume_in`.
    let tea = folder.join("tea");
    let mut session = Session::begin(config, envs.clone(), &tea, never.clone())?;
    session.run(&mut Display::quiet())?;
    drop(session);

    // 4. What came of it, from the folder: it holds all that is needed, but for the world itself.
    let run = SavedRun::open(&tea)?;
    let after = judge(&run, &envs)?;
    let machine = run.checkpoint.machine.to_string();
    print!("{machine}");
    println!("# after {} iterations", run.state.iteration);
    say("before", &before);
    say("after", &after);
    ensure!(machine.contains("forall X. cup(X)") && after.success > 0.95);

    // 5. In a kitchen with four cups the machine means the same, and policies need not begin anew.
    let (more, large) = (
        folder.join("more-tea"),
        CopiesEnvFactory::new(Kitchen::new(4)?),
    );
    let config = transfer_config(&run, "more tea", Retrain::Changed)?;
    let (mut session, policies) = begin_transfer(config, Some(&run), large.clone(), &more, never)?;
    let untouched = judge(&SavedRun::open(&more)?, &large)?;
    session.run(&mut Display::quiet())?;
    for policy in policies.iter().filter(|policy| policy.retrained) {
        println!(
            "# four cups, policy {} goes on: {}",
            policy.name, policy.reason
        );
    }
    say("four cups, as it is", &untouched);
    let run = SavedRun::open(&more)?;
    let further = judge(&run, &large)?;
    say(
        &format!("four cups, after {} iterations", run.state.iteration),
        &further,
    );
    ensure!(run.checkpoint.machine.to_string() == machine && further.success > 0.9);
    Ok(())
}
