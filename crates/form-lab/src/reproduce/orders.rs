//! The runs that an experiment of the paper consists of.

use anyhow::Result;

use crate::config::{Method, Preset, RunConfig};
use crate::transfer::Retrain;

/// An experiment of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Experiment {
    /// Figure 7: a task by every method.
    AllYellow,
    /// The same.
    GreenButOne,
    /// The same.
    BlueAllYellow7,
    /// Figures 11 to 14: machine and policies taken to tasks with more checkpoints.
    Transfer,
    /// Table 3: how long the last machine took to learn, first-order and propositional.
    Timings,
    /// Not in the paper: maps that were never seen, and more checkpoints with no retraining.
    Unseen,
}

/// A run that is wanted.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    /// Its folder, below that of all runs: `all-yellow/form-1`.
    pub name: String,
    /// What it is.
    pub config: RunConfig,
    /// The run whose machine and policies it starts from, if it does.
    pub from: Option<(String, Retrain)>,
}

/// What all runs of an experiment have in common.
#[derive(Clone, Debug, PartialEq)]
pub struct Conditions {
    /// What settings start from.
    pub preset: Preset,
    /// How many seeds, from 1.
    pub seeds: u64,
    /// Settings that are changed for all of them.
    pub set: Vec<(String, String)>,
}

/// The most iterations of methods without a machine, 3.1 M steps: more than runs with a machine take in the median to converge.
const WITHOUT_MACHINE: u64 = 48;
/// The most iterations of the others, 5 M steps.
const WITH_MACHINE: u64 = 300;

impl Experiment {
    /// All of them, but for the timings: those are of the runs of the tasks.
    pub const ALL: [Self; 5] = [
        Self::AllYellow,
        Self::GreenButOne,
        Self::BlueAllYellow7,
        Self::Transfer,
        Self::Unseen,
    ];

    /// As it is written.
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

    /// Its runs, those that others start from first.
    pub fn orders(self, conditions: &Conditions) -> Result<Vec<Order>> {
        let mut orders = self.own_orders(conditions)?;
        // Last: whoever changes a setting has the last word.
        for order in &mut orders {
            for (key, value) in &conditions.set {
                order.config.set(key, value)?;
            }
        }
        Ok(orders)
    }

    fn own_orders(self, conditions: &Conditions) -> Result<Vec<Order>> {
        let seeds = || 1..=conditions.seeds;
        match self {
            Self::AllYellow | Self::GreenButOne | Self::BlueAllYellow7 => {
                let mut methods = vec![
                    Method::Form,
                    Method::Handcrafted,
                    Method::Propositional,
                    Method::Ppo,
                ];
                // The paper says something about it for this task only.
                if self == Self::AllYellow {
                    methods.push(Method::RecurrentPpo);
                }
                of_task(self.as_str(), &methods, conditions)
            }
            Self::Timings => {
                let mut orders = Vec::new();
                for task in [Self::AllYellow, Self::GreenButOne, Self::BlueAllYellow7] {
                    let methods = [Method::Form, Method::Propositional];
                    orders.extend(of_task(task.as_str(), &methods, conditions)?);
                }
                Ok(orders)
            }
            Self::Transfer => transfer(conditions),
            Self::Unseen => seeds()
                .map(|seed| {
                    let mut order = order(
                        "unseen",
                        "all-yellow",
                        Method::Form,
                        "form",
                        seed,
                        conditions,
                    )?;
                    order.config.set("layouts", "1000")?;
                    order.config.set("progress", "plane")?;
                    // Until 1,000 maps are no longer learnt by heart.
                    order.config.set("stop.success", "2")?;
                    order.config.set("iterations", "300")?;
                    Ok(order)
                })
                .collect(),
        }
    }
}

/// The runs of several experiments, each once.
pub fn all_orders(experiments: &[Experiment], conditions: &Conditions) -> Result<Vec<Order>> {
    let mut orders: Vec<Order> = Vec::new();
    for experiment in experiments {
        for order in experiment.orders(conditions)? {
            if !orders.iter().any(|other| other.name == order.name) {
                orders.push(order);
            }
        }
    }
    Ok(orders)
}

/// A task by some methods.
fn of_task(task: &str, methods: &[Method], conditions: &Conditions) -> Result<Vec<Order>> {
    let mut orders = Vec::new();
    for method in methods {
        for seed in 1..=conditions.seeds {
            let name = method.as_str();
            orders.push(order(task, task, *method, name, seed, conditions)?);
        }
    }
    Ok(orders)
}

fn order(
    folder: &str,
    task: &str,
    method: Method,
    name: &str,
    seed: u64,
    conditions: &Conditions,
) -> Result<Order> {
    let mut config = RunConfig::new(task, method, conditions.preset);
    config.seed = seed;
    if conditions.preset == Preset::Fast {
        config.iterations = match method {
            Method::Ppo | Method::RecurrentPpo => WITHOUT_MACHINE,
            _ => WITH_MACHINE,
        };
    }
    Ok(Order {
        name: format!("{folder}/{name}-{seed}"),
        config,
        from: None,
    })
}

/// With the paper's indicators, so that the policy of "all yellow" has to be adapted: with a plane there is nothing to retrain.
fn transfer(conditions: &Conditions) -> Result<Vec<Order>> {
    let mut orders = Vec::new();
    for seed in 1..=conditions.seeds {
        let make = |task: &str, method: Method, name: &str| -> Result<Order> {
            let mut order = order("transfer", task, method, name, seed, conditions)?;
            order.config.set("progress", "bits")?;
            Ok(order)
        };
        let from = |mut order: Order, base: &str, retrain: Retrain| {
            order.from = Some((format!("transfer/{base}-{seed}"), retrain));
            order
        };
        orders.push(make("all-yellow", Method::Form, "base")?);
        orders.push(make("all-yellow", Method::SinglePolicy, "single-base")?);
        for task in ["all-yellow-4", "all-yellow-6"] {
            let yellow = task.trim_start_matches("all-yellow-");
            let named = |what: &str| format!("{what}-{yellow}");
            orders.push(make(task, Method::Form, &named("scratch"))?);
            let order = make(task, Method::Form, &named("partial"))?;
            orders.push(from(order, "base", Retrain::Changed));
            let order = make(task, Method::Form, &named("full"))?;
            orders.push(from(order, "base", Retrain::Full));
            let order = make(task, Method::SinglePolicy, &named("single"))?;
            orders.push(from(order, "single-base", Retrain::Full));
        }
    }
    Ok(orders)
}
