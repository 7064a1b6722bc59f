//! A world of one's own, outside the grid, from its rules to policies that master it: a robot that makes tea.
//!
//! On a counter stand, side by side, a kettle, two cups and a table. The robot moves left and right and uses what it stands
//! before. Tea is made by boiling the water, filling every cup, and serving; a cup filled with cold water does not count. What
//! the robot sees is where it stands, nothing else: what it has done is for the machine to know, and the machine is learnt.
//! `docs/own_worlds.md` walks through this file. An argument names the run's folder; without one it is a temporary one.

#![allow(clippy::print_stdout, reason = "what was learnt is its output")]

use std::path::PathBuf;

use anyhow::{Result, ensure};
use form_core::{AtomId, AtomSet, Signature};
use form_env::{
    CheckOptions, Environment, Error, Feature, Outcome, Spec, Split, check_environment,
};
use form_lab::{
    CopiesArena, Display, EvaluationPlan, Finish, Method, Preset, RunConfig, Session, TrainedRun,
    Trainer, evaluate,
};
use form_rl::Choice;
use rand::{Rng, RngExt};

/// What stands on the counter, from left to right, by the label that using it has.
const COUNTER: [&str; 4] = ["boiled", "cup(c0)", "cup(c1)", "served"];
const CUPS: std::ops::Range<usize> = 1..3;
const STEPS: usize = 60;

/// The world. The first three fields say what it looks like from outside, the others where an episode stands.
#[derive(Clone)]
struct Kitchen {
    signature: Signature,
    spec: Spec,
    actions: Vec<String>,
    at: usize,
    boiled: bool,
    filled: [bool; COUNTER.len()],
    steps: usize,
    labels: AtomSet,
    outcome: Outcome,
}

impl Kitchen {
    fn new() -> Result<Self> {
        let feature = |label: &&str| Feature {
            name: format!("before {label}"),
            low: 0.0,
            high: 1.0,
        };
        Ok(Self {
            // All that can ever be observed. `forall X. cup(X)` ranges over the cups in it.
            signature: Signature::parse(COUNTER)?,
            spec: Spec {
                planes: None,
                vector: COUNTER.iter().map(feature).collect(),
            },
            actions: ["left", "right", "use"].map(str::to_owned).into(),
            at: 0,
            boiled: false,
            filled: [false; COUNTER.len()],
            steps: 0,
            labels: AtomSet::new(),
            outcome: Outcome::Running,
        })
    }

    /// Uses what the robot stands before. Whether that completes the task is the ground truth: nobody outside sees it.
    fn use_it(&mut self) {
        let label: Option<AtomId> = self.signature.id_of_text(COUNTER[self.at]);
        self.labels.extend(label);
        match COUNTER[self.at] {
            "boiled" => self.boiled = true,
            "served" if self.filled[CUPS].iter().all(|filled| *filled) => {
                self.outcome = Outcome::Goal;
            }
            "served" => {}
            _cup => self.filled[self.at] |= self.boiled,
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
        self.at = random.random_range(0..COUNTER.len());
        self.boiled = false;
        self.filled.fill(false);
        self.steps = 0;
        self.labels.clear();
        self.outcome = Outcome::Running;
        Ok(())
    }

    fn step(&mut self, action: usize) -> form_env::Result<Outcome> {
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
            1 => self.at = (self.at + 1).min(COUNTER.len() - 1),
            _ => self.use_it(),
        }
        self.steps += 1;
        if self.outcome == Outcome::Running && self.steps == STEPS {
            self.outcome = Outcome::OutOfTime;
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

fn main() -> Result<()> {
    // 1. Does the world keep its promises?
    let mut kitchen = Kitchen::new()?;
    let violations = check_environment(&mut kitchen, &CheckOptions::default());
    ensure!(violations.is_empty(), "the kitchen: {}", violations[0]);

    // 2. How good is somebody who knows nothing?
    let (config, arena) = (config()?, CopiesArena::new(kitchen));
    let plan = EvaluationPlan {
        split: Split::HeldOut,
        episodes: 500,
        choice: Choice::Sample,
        seed: 7,
    };
    let mut beginner = Trainer::new(config.clone(), arena.clone(), Default::default())?;
    let before = beginner.evaluate(&plan)?;

    // 3. The machine and the policies are learnt together, in a folder. A run that was stopped goes on with
    //    `Session::resume_in(&folder, |_| Ok(arena), …)`.
    let temporary = tempfile::tempdir()?;
    let folder = std::env::args_os().nth(1).map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| temporary.path().join("tea"));
    let mut session = Session::begin(config, arena.clone(), &folder, Default::default())?;
    let Finish::Ended(result) = session.run(&mut Display::quiet())? else {
        anyhow::bail!("it was interrupted, and nobody could have");
    };

    // 4. What came of it, from the folder: it holds all that is needed, but for the world itself.
    let run = TrainedRun::open(&folder)?;
    let (mut agents, machine) = (run.agents()?, &run.checkpoint.machine);
    let after = evaluate(&run.config, &arena, machine, &mut agents, &plan)?;
    print!("{machine}");
    println!("# {}", result.message);
    println!("# {} iterations, {} steps", result.iterations, result.steps);
    for (when, evaluation) in [("before", &before), ("after", &after)] {
        println!(
            "# {when}: {:.1} % of {} episodes succeed, in {:.1} steps on average",
            100.0 * evaluation.success,
            evaluation.episodes,
            evaluation.length
        );
    }
    ensure!(machine.to_string().contains("forall X. cup(X)"));
    ensure!(machine.states().len() == 4 && after.success > 0.95);
    Ok(())
}
