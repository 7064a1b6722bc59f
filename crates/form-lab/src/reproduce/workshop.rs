//! Carrying out many runs at once, each in a folder of its own, until they are done or the time is up.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};

use super::orders::Order;
use crate::arena::GridArena;
use crate::config::RunConfig;
use crate::display::Display;
use crate::run_folder::RunFolder;
use crate::session::{Finish, Resumed, RunResult, Session};
use crate::trained::TrainedRun;
use crate::transfer::{begin_transfer, transfer_config};

/// How runs are carried out.
#[derive(Clone, Debug)]
pub struct Workshop {
    /// Where their folders are.
    pub folder: PathBuf,
    /// How many are carried out at once.
    pub jobs: usize,
    /// How many threads each of them has.
    pub threads: usize,
    /// How long all of them may take together.
    pub budget: Option<Duration>,
    /// Set from elsewhere to stop everything; what was done is kept.
    pub interrupt: Arc<AtomicBool>,
}

/// What became of an order.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// The order.
    pub order: Order,
    /// What the run came to; nothing if there was no time for all of it.
    pub result: Option<RunResult>,
}

impl Delivery {
    /// Whether it is one of the runs of a folder that differ in their seeds only.
    pub(super) fn is_of(&self, folder: &str, group: &str) -> bool {
        self.order.name == format!("{folder}/{group}-{}", self.order.config.seed)
    }
}

/// Where an order stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    Waiting,
    Taken,
    Done,
    GivenUp,
}

impl Workshop {
    /// The folder of a run.
    pub fn run(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Carries orders out. Runs that were done before are not done again, those that were stopped go on.
    pub fn carry_out(
        &self,
        orders: &[Order],
        say: &(dyn Fn(&str) + Sync),
    ) -> Result<Vec<Delivery>> {
        // A budget beyond all time is none.
        let deadline = (self.budget).and_then(|budget| Instant::now().checked_add(budget));
        // One for all runs: whoever stops them, the deadline or a person, stops all.
        let stop = Arc::new(AtomicBool::new(self.budget == Some(Duration::ZERO)));
        let standings = Mutex::new(vec![Standing::Waiting; orders.len()]);
        let failure: Mutex<Option<anyhow::Error>> = Mutex::new(None);
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..self.jobs.max(1))
                .map(|_| {
                    scope.spawn(|| {
                        self.work(orders, &standings, &stop, say)
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
        self.deliveries(orders)
    }

    /// What is there of some orders.
    pub fn deliveries(&self, orders: &[Order]) -> Result<Vec<Delivery>> {
        orders
            .iter()
            .map(|order| {
                let path = self.run(&order.name);
                let result = match path.join("config.toml").is_file() {
                    true => {
                        expect_order(order, &path)?;
                        RunResult::of_run(&RunFolder::open(&path)?)?
                    }
                    false => None,
                };
                Ok(Delivery {
                    order: order.clone(),
                    result,
                })
            })
            .collect()
    }

    fn work(
        &self,
        orders: &[Order],
        standings: &Mutex<Vec<Standing>>,
        stop: &Arc<AtomicBool>,
        say: &(dyn Fn(&str) + Sync),
    ) -> Result<()> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(self.threads)
            .build()
            .context("cannot start threads")?;
        while !stop.load(Ordering::Relaxed) {
            let Some(place) = next(orders, standings) else {
                let waiting = match standings.lock() {
                    Ok(standings) => standings.contains(&Standing::Waiting),
                    Err(_) => false,
                };
                if !waiting {
                    return Ok(());
                }
                // What it starts from is still being made.
                std::thread::park_timeout(Duration::from_millis(100));
                continue;
            };
            let order = &orders[place];
            let done = pool.install(|| self.one(order, stop, say));
            let done = done.with_context(|| format!("the run {}", order.name));
            if let Ok(mut standings) = standings.lock() {
                standings[place] = match done {
                    Ok(true) => Standing::Done,
                    _ => Standing::GivenUp,
                };
            }
            done?;
        }
        Ok(())
    }

    /// Carries one order out; whether it is done.
    fn one(
        &self,
        order: &Order,
        stop: &Arc<AtomicBool>,
        say: &(dyn Fn(&str) + Sync),
    ) -> Result<bool> {
        let path = self.run(&order.name);
        let mut session = if path.join("config.toml").is_file() {
            expect_order(order, &path)?;
            match Session::resume(&path, stop.clone())? {
                Resumed::Ended(_) => return Ok(true),
                Resumed::Session(session) => *session,
            }
        } else {
            self.begin(order, &path, stop)?
        };
        match session.run(&mut Display::quiet())? {
            Finish::Ended(result) => {
                say(&format!("{}: {}", order.name, result.message));
                Ok(true)
            }
            Finish::Interrupted { iteration } => {
                say(&format!(
                    "{}: stopped after iteration {iteration}",
                    order.name
                ));
                Ok(false)
            }
        }
    }

    fn begin(
        &self,
        order: &Order,
        path: &Path,
        stop: &Arc<AtomicBool>,
    ) -> Result<Session<GridArena>> {
        let Some((base, retrain)) = &order.from else {
            let arena = GridArena::new(&order.config)?;
            return Session::begin(order.config.clone(), arena, path, stop.clone());
        };
        let source = TrainedRun::open(&self.run(base))?;
        let mut config = transfer_config(&source, &order.config.task, retrain.clone())?;
        config.iterations = order.config.iterations;
        let arena = GridArena::new(&config)?;
        let (session, _) = begin_transfer(config, Some(&source), arena, path, stop.clone())?;
        Ok(session)
    }
}

/// Refuses a run that was made with other settings: what is said of an experiment must not come from another one.
fn expect_order(order: &Order, path: &Path) -> Result<()> {
    let found = RunConfig::open(&path.join("config.toml"))?;
    // What a run took over from another one stands in its own configuration only.
    let own = |config: &RunConfig| RunConfig {
        machine: None,
        transfer: None,
        ..config.clone()
    };
    let differences = own(&found).differences(&own(&order.config))?;
    if let Some((name, there, wanted)) = differences.first() {
        bail!(
            "{} is a run with other settings: {name} is {there} there and {wanted} here; name another folder with --runs, or remove it",
            path.display()
        );
    }
    Ok(())
}

/// The first order that can be begun; what starts from a run that was given up is given up, too.
fn next(orders: &[Order], standings: &Mutex<Vec<Standing>>) -> Option<usize> {
    let mut standings = standings.lock().ok()?;
    for place in 0..orders.len() {
        if standings[place] != Standing::Waiting {
            continue;
        }
        let base = (orders[place].from.as_ref())
            .and_then(|(base, _)| orders.iter().position(|order| order.name == *base));
        match base.map_or(Standing::Done, |base| standings[base]) {
            Standing::Done => {
                standings[place] = Standing::Taken;
                return Some(place);
            }
            Standing::GivenUp => standings[place] = Standing::GivenUp,
            Standing::Waiting | Standing::Taken => {}
        }
    }
    None
}
