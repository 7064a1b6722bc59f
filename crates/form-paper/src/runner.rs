//! Carries out planned runs, several at once, each in its own folder, until all are finished or the time is up.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use form_lab::{
    Display, Finish, GridEnvFactory, MetricsRow, Resumed, RunConfig, RunFolder, RunResult,
    SavedRun, Session, begin_transfer, read_rows, transfer_config,
};

use crate::plan::PlannedRun;

/// How runs are carried out.
#[derive(Clone, Debug)]
pub struct Runner {
    /// The folder that holds the folders of all runs.
    pub folder: PathBuf,
    /// How many runs train at once.
    pub jobs: usize,
    /// The number of threads per run.
    pub threads: usize,
    /// The time limit of all runs together.
    pub budget: Option<Duration>,
    /// Set by the caller to stop all runs; they can be resumed.
    pub interrupt: Arc<AtomicBool>,
}

/// What came of a planned run.
#[derive(Clone, Debug)]
pub struct RunOutcome {
    /// The run.
    pub run: PlannedRun,
    /// Its result; none if it is not finished.
    pub result: Option<RunResult>,
    /// How far it is, if it has begun and is not finished.
    pub progress: Option<RunProgress>,
}

/// How far a run is.
#[derive(Clone, Debug, PartialEq)]
pub struct RunProgress {
    /// Its environment steps.
    pub steps: u64,
    /// The success rates of its evaluations, but for the one before training.
    pub success: Vec<f64>,
}

impl RunProgress {
    /// What the table of metrics in a run's folder says; none if there is no table yet.
    fn of_run(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join("metrics.csv");
        if !path.is_file() {
            return Ok(None);
        }
        let rows = read_rows::<MetricsRow>(&path)?;
        Ok(Some(Self {
            steps: rows.last().map_or(0, |row| row.steps),
            success: (rows.iter().filter(|row| row.steps > 0))
                .filter_map(|row| row.success)
                .collect(),
        }))
    }
}

impl RunOutcome {
    /// Whether it belongs to a group: runs in one folder that differ only in their seeds.
    pub(crate) fn is_of(&self, folder: &str, group: &str) -> bool {
        self.run.name == format!("{folder}/{group}-{}", self.run.config.seed)
    }
}

/// The status of a run while a [`Runner`] works.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RunStatus {
    Waiting,
    Running,
    Finished,
    GivenUp,
}

impl Runner {
    /// The folder of a run.
    pub fn folder_of(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Carries out runs. Finished runs are not repeated, stopped ones resume. `report` is called with one line per run.
    pub fn carry_out(
        &self,
        plan: &[PlannedRun],
        report: &(dyn Fn(&str) + Sync),
    ) -> Result<Vec<RunOutcome>> {
        // A budget beyond the end of the clock is no limit.
        let deadline = (self.budget).and_then(|budget| Instant::now().checked_add(budget));
        // One flag for all runs: the deadline and the caller stop all of them.
        let stop = Arc::new(AtomicBool::new(self.budget == Some(Duration::ZERO)));
        let statuses = Mutex::new(vec![RunStatus::Waiting; plan.len()]);
        let failure: Mutex<Option<anyhow::Error>> = Mutex::new(None);
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..self.jobs.max(1))
                .map(|_| {
                    scope.spawn(|| {
                        self.work(plan, &statuses, &stop, report)
                            .unwrap_or_else(|error| {
                                stop.store(true, Ordering::Relaxed);
                                if let Ok(mut failure) = failure.lock() {
                                    failure.get_or_insert(error);
                                }
                            });
                    })
                })
                .collect();
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    let late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
                    if late || self.interrupt.load(Ordering::Relaxed) {
                        stop.store(true, Ordering::Relaxed);
                    }
                    std::thread::park_timeout(Duration::from_millis(100));
                }
            });
            for worker in workers {
                if worker.join().is_err()
                    && let Ok(mut failure) = failure.lock()
                {
                    stop.store(true, Ordering::Relaxed);
                    failure
                        .get_or_insert_with(|| anyhow!("a run ended in a defect of the program"));
                }
            }
            over.store(true, Ordering::Relaxed);
        });
        if let Some(error) = failure.into_inner().unwrap_or(None) {
            return Err(error);
        }
        self.outcomes(plan)
    }

    /// The outcomes of planned runs, read from their folders.
    pub fn outcomes(&self, plan: &[PlannedRun]) -> Result<Vec<RunOutcome>> {
        (plan.iter())
            .map(|run| {
                let path = self.folder_of(&run.name);
                let (mut result, mut progress) = (None, None);
                if path.join("config.toml").is_file() {
                    expect_settings(run, &path)?;
                    result = RunResult::of_run(&RunFolder::open(&path)?)?;
                    if result.is_none() {
                        progress = RunProgress::of_run(&path)?;
                    }
                }
                Ok(RunOutcome {
                    run: run.clone(),
                    result,
                    progress,
                })
            })
            .collect()
    }

    fn work(
        &self,
        plan: &[PlannedRun],
        statuses: &Mutex<Vec<RunStatus>>,
        stop: &Arc<AtomicBool>,
        report: &(dyn Fn(&str) + Sync),
    ) -> Result<()> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(self.threads)
            .build()
            .context("cannot start threads")?;
        while !stop.load(Ordering::Relaxed) {
            let Some(place) = next(plan, statuses) else {
                let waiting = match statuses.lock() {
                    Ok(statuses) => statuses.contains(&RunStatus::Waiting),
                    Err(_) => false,
                };
                if !waiting {
                    return Ok(());
                }
                // The run that it starts from is still training.
                std::thread::park_timeout(Duration::from_millis(100));
                continue;
            };
            let run = &plan[place];
            let finished = pool.install(|| self.train(run, stop, report));
            let finished = finished.with_context(|| format!("the run {}", run.name));
            if let Ok(mut statuses) = statuses.lock() {
                statuses[place] = match finished {
                    Ok(true) => RunStatus::Finished,
                    _ => RunStatus::GivenUp,
                };
            }
            finished?;
        }
        Ok(())
    }

    /// Trains one run; whether it finished.
    fn train(
        &self,
        run: &PlannedRun,
        stop: &Arc<AtomicBool>,
        report: &(dyn Fn(&str) + Sync),
    ) -> Result<bool> {
        let path = self.folder_of(&run.name);
        let mut session = if path.join("config.toml").is_file() {
            expect_settings(run, &path)?;
            match Session::resume(&path, stop.clone())? {
                Resumed::Ended(_) => return Ok(true),
                Resumed::Session(session) => *session,
            }
        } else {
            self.begin(run, &path, stop)?
        };
        match session.run(&mut Display::quiet())? {
            Finish::Ended(result) => {
                report(&format!("{}: {}", run.name, result.message));
                Ok(true)
            }
            Finish::Interrupted { iteration } => {
                report(&format!(
                    "{}: stopped after iteration {iteration}",
                    run.name
                ));
                Ok(false)
            }
        }
    }

    fn begin(
        &self,
        run: &PlannedRun,
        path: &Path,
        stop: &Arc<AtomicBool>,
    ) -> Result<Session<GridEnvFactory>> {
        let Some((base, retrain)) = &run.from else {
            let envs = GridEnvFactory::new(&run.config)?;
            return Session::begin(run.config.clone(), envs, path, stop.clone());
        };
        let source = SavedRun::open(&self.folder_of(base))?;
        let mut config = transfer_config(&source, &run.config.task, retrain.clone())?;
        config.iterations = run.config.iterations;
        let envs = GridEnvFactory::new(&config)?;
        let (session, _) = begin_transfer(config, Some(&source), envs, path, stop.clone())?;
        Ok(session)
    }
}

/// Refuses a run that was made with other settings: an experiment must not report the results of another one.
fn expect_settings(run: &PlannedRun, path: &Path) -> Result<()> {
    let found = RunConfig::open(&path.join("config.toml"))?;
    // What a run inherits from another one is only in its own configuration.
    let own = |config: &RunConfig| RunConfig {
        machine: None,
        transfer: None,
        ..config.clone()
    };
    let differences = own(&found).differences(&own(&run.config))?;
    if let Some((name, there, wanted)) = differences.first() {
        bail!(
            "{} is a run with other settings: {name} is {there} there and {wanted} here; name another folder with --runs, or remove it",
            path.display()
        );
    }
    Ok(())
}

/// The first run that can begin. A run that starts from one that was given up is given up, too.
fn next(plan: &[PlannedRun], statuses: &Mutex<Vec<RunStatus>>) -> Option<usize> {
    let mut statuses = statuses.lock().ok()?;
    for place in 0..plan.len() {
        if statuses[place] != RunStatus::Waiting {
            continue;
        }
        let base = (plan[place].from.as_ref())
            .and_then(|(base, _)| plan.iter().position(|run| run.name == *base));
        match base.map_or(RunStatus::Finished, |base| statuses[base]) {
            RunStatus::Finished => {
                statuses[place] = RunStatus::Running;
                return Some(place);
            }
            RunStatus::GivenUp => statuses[place] = RunStatus::GivenUp,
            RunStatus::Waiting | RunStatus::Running => {}
        }
    }
    None
}
