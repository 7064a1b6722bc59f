//! The runs of each experiment: which task, method and settings, and which run they start from.

use anyhow::Result;
use form_lab::{Method, Preset, Retrain, RunConfig};

/// An experiment of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Experiment {
    /// Figure 7, AllYellow: every method.
    AllYellow,
    /// Figure 7, GreenButOne: every method.
    GreenButOne,
    /// Figure 7, Blue-AllYellow-7: every method.
    BlueAllYellow7,
    /// Figures 11 to 14: transfer to tasks with more checkpoints.
    Transfer,
    /// Table 3: the learning times of first-order and propositional machines.
    Timings,
    /// Not in the paper: held-out maps, and more checkpoints without retraining.
    Unseen,
}

/// A run of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedRun {
    /// Its folder, relative to that of all runs: `all-yellow/form-1`.
    pub name: String,
    /// Its configuration.
    pub config: RunConfig,
    /// The run whose machine and policies it starts from, if it does.
    pub from: Option<(String, Retrain)>,
}

/// The settings that all runs share.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanOptions {
    /// The preset.
    pub preset: Preset,
    /// The number of seeds, which count from 1.
    pub seeds: u64,
    /// Settings that override those of the preset and the experiment.
    pub set: Vec<(String, String)>,
}

/// The iterations of methods without a machine, 3.1 M steps: more than the median run with a machine takes to converge.
const WITHOUT_MACHINE: u64 = 48;
/// The iterations of the others, 5 M steps.
const WITH_MACHINE: u64 = 1200;
/// The steps of runs with the paper's settings, unless they converge before.
const OF_THE_PAPER: u64 = 20_000_000;

impl Experiment {
    /// All experiments but `Timings`, which uses the runs of the tasks.
    pub const ALL: [Self; 5] = [
        Self::AllYellow,
        Self::GreenButOne,
        Self::BlueAllYellow7,
        Self::Transfer,
        Self::Unseen,
    ];

    /// The name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AllYellow => "all-yellow",
            Self::GreenButOne => "green-but-one",
            Self::BlueAllYellow7 => "blue-all-yellow-7",
            Self::Transfer => "transfer",
            Self::Timings => "timings",
            Self::Unseen => "unseen",
        }
    }

    /// Its runs; a run comes after the one that it starts from.
    pub fn runs(self, options: &PlanOptions) -> Result<Vec<PlannedRun>> {
        let mut runs = self.own_runs(options)?;
        // Last, so that they override what the experiment sets.
        for run in &mut runs {
            for (key, value) in &options.set {
                run.config.set(key, value)?;
            }
        }
        Ok(runs)
    }

    fn own_runs(self, options: &PlanOptions) -> Result<Vec<PlannedRun>> {
        let seeds = || 1..=options.seeds;
        match self {
            Self::AllYellow | Self::GreenButOne | Self::BlueAllYellow7 => {
                let mut methods = vec![
                    Method::Form,
                    Method::Handcrafted,
                    Method::Propositional,
                    Method::Ppo,
                ];
                // The paper reports it for this task only.
                if self == Self::AllYellow {
                    methods.push(Method::RecurrentPpo);
                }
                of_task(self.as_str(), &methods, options)
            }
            Self::Timings => {
                let mut runs = Vec::new();
                for task in [Self::AllYellow, Self::GreenButOne, Self::BlueAllYellow7] {
                    let methods = [Method::Form, Method::Propositional];
                    runs.extend(of_task(task.as_str(), &methods, options)?);
                }
                Ok(runs)
            }
            Self::Transfer => transfer(options),
            Self::Unseen => seeds()
                .map(|seed| {
                    let mut run =
                        planned_run("unseen", "all-yellow", Method::Form, "form", seed, options)?;
                    show_rooms_in_their_own_frame(&mut run.config)?;
                    run.config.set("layouts", "1000")?;
                    run.config.set("progress", "plane")?;
                    // No early stop: policies that know the training maps by heart go on to generalise.
                    run.config.set("stop.success", "2")?;
                    run.config.set("iterations", "300")?;
                    Ok(run)
                })
                .collect(),
        }
    }
}

impl PlannedRun {
    /// Which runs are made first: those that tell most, then those that take longest.
    fn rank(&self) -> u8 {
        match self.config.method {
            Method::Handcrafted | Method::Form | Method::SinglePolicy | Method::ReachAvoid => 0,
            Method::Propositional => 1,
            Method::Ppo => 2,
            Method::RecurrentPpo => 3,
        }
    }
}

/// The order in which runs are made, if there may not be time for all.
pub fn most_telling_first(plan: &[PlannedRun]) -> Vec<PlannedRun> {
    let mut runs = plan.to_vec();
    // Stable: a run stays behind the one that it starts from.
    runs.sort_by_key(PlannedRun::rank);
    runs
}

/// The runs of several experiments, without duplicates.
pub fn plan_runs(experiments: &[Experiment], options: &PlanOptions) -> Result<Vec<PlannedRun>> {
    let mut runs: Vec<PlannedRun> = Vec::new();
    for experiment in experiments {
        for run in experiment.runs(options)? {
            if !runs.iter().any(|other| other.name == run.name) {
                runs.push(run);
            }
        }
    }
    Ok(runs)
}

/// One run per method and seed.
fn of_task(task: &str, methods: &[Method], options: &PlanOptions) -> Result<Vec<PlannedRun>> {
    let mut runs = Vec::new();
    for method in methods {
        for seed in 1..=options.seeds {
            let name = method.as_str();
            runs.push(planned_run(task, task, *method, name, seed, options)?);
        }
    }
    Ok(runs)
}

fn planned_run(
    folder: &str,
    task: &str,
    method: Method,
    name: &str,
    seed: u64,
    options: &PlanOptions,
) -> Result<PlannedRun> {
    let mut config = RunConfig::new(task, method, options.preset);
    config.seed = seed;
    match options.preset {
        Preset::Fast => {
            config.iterations = match method {
                Method::Ppo | Method::RecurrentPpo => WITHOUT_MACHINE,
                _ => WITH_MACHINE,
            };
        }
        Preset::Paper => {
            config.iterations = OF_THE_PAPER.div_ceil(config.ppo.train_batch as u64);
            // By the rule of the other preset, so that both are judged alike.
            config.stop = RunConfig::new(task, method, Preset::Fast).stop;
        }
    }
    Ok(PlannedRun {
        name: format!("{folder}/{name}-{seed}"),
        config,
        from: None,
    })
}

/// What the preset `fast` was before it showed rooms from where the agent stands: what these experiments were run with.
fn show_rooms_in_their_own_frame(config: &mut RunConfig) -> Result<()> {
    if config.preset != Preset::Fast {
        return Ok(());
    }
    for (key, value) in [
        ("view", "planes"),
        ("worlds", "128"),
        ("iterations", "300"),
        ("ppo.train_batch", "16384"),
        ("ppo.minibatch", "512"),
        ("network.filters", "[16, 32, 32]"),
        ("network.hidden", "[64, 64]"),
    ] {
        config.set(key, value)?;
    }
    Ok(())
}

/// With the indicators of the paper, so that the policy of "all yellow" has to be adapted: with a plane, nothing needs retraining. Which
/// checkpoint an indicator stands for has to be learnt by heart, for which maps are shown in their own frame.
fn transfer(options: &PlanOptions) -> Result<Vec<PlannedRun>> {
    let mut runs = Vec::new();
    for seed in 1..=options.seeds {
        let make = |task: &str, method: Method, name: &str| -> Result<PlannedRun> {
            let mut run = planned_run("transfer", task, method, name, seed, options)?;
            run.config.set("progress", "bits")?;
            show_rooms_in_their_own_frame(&mut run.config)?;
            Ok(run)
        };
        let from = |mut run: PlannedRun, base: &str, retrain: Retrain| {
            run.from = Some((format!("transfer/{base}-{seed}"), retrain));
            run
        };
        runs.push(make("all-yellow", Method::Form, "base")?);
        runs.push(make("all-yellow", Method::SinglePolicy, "single-base")?);
        for task in ["all-yellow-4", "all-yellow-6"] {
            let yellow = task.trim_start_matches("all-yellow-");
            let named = |what: &str| format!("{what}-{yellow}");
            runs.push(make(task, Method::Form, &named("scratch"))?);
            let run = make(task, Method::Form, &named("partial"))?;
            runs.push(from(run, "base", Retrain::Changed));
            let run = make(task, Method::Form, &named("full"))?;
            runs.push(from(run, "base", Retrain::Full));
            let run = make(task, Method::SinglePolicy, &named("single"))?;
            runs.push(from(run, "single-base", Retrain::Full));
        }
    }
    Ok(runs)
}
