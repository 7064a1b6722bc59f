//! The rows about learning machines. From random walks in the paper's room: the paper's tasks, beside the times of its Table 3, and
//! chains of sub-tasks. From sampled traces: chains, chains with a dead end, machines with two branches, cycles, and a problem of the shape of
//! ZooKeeper's elections. The baseline of these is the learner before it had stays, chains and the relaxation, where it was measured on
//! problems of the same kind.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use form_core::{Edge, Machine, Signature, Trace};
use form_env::{RandomWalks, Task};
use form_learn::{LearnOutcome, Learner, Limits, Options};
use form_paper::{MachineFamily, SUB_TASKS, elections};

use super::{Baseline, Benchmark, Row, middle};

/// Seeds of the random walks, each a problem of its own.
const SEEDS: std::ops::RangeInclusive<u64> = 1..=5;
/// Traces of each kind.
const TRACES: usize = 100;
/// How often every problem is solved, if the time allows it.
const REPEATS: usize = 5;
/// Time for a row: most need far less, so all of `form bench` stays within two minutes.
const LIMIT: Duration = Duration::from_secs(30);

/// The source of the baselines: they are of the last ILASP task alone, not of the tries that led to it.
const TABLE: &str = "the paper's ILASP, Table 3";

pub(super) const BENCHMARKS: [Benchmark; 22] = [
    Benchmark {
        name: "learn.all-yellow",
        measure: |name| measure(name, Some(paper(1.0)), LIMIT),
    },
    Benchmark {
        name: "learn.all-yellow.propositional",
        measure: |name| measure(name, Some(paper(16.3)), LIMIT),
    },
    Benchmark {
        name: "learn.green-but-one",
        measure: |name| measure(name, Some(paper(0.5)), LIMIT),
    },
    Benchmark {
        name: "learn.green-but-one.propositional",
        measure: |name| measure(name, Some(paper(0.6)), LIMIT),
    },
    Benchmark {
        name: "learn.blue-all-yellow-7",
        measure: |name| measure(name, Some(paper(12.8)), LIMIT),
    },
    Benchmark {
        name: "learn.blue-all-yellow-7.propositional",
        measure: |name| {
            let baseline = Baseline {
                value: 3600.0,
                source: "the paper's ILASP, Table 3: no answer in 3,600 s",
            };
            measure(name, Some(baseline), 2 * LIMIT)
        },
    },
    // Atoms over the window: the time to reach for each, and the task's own machine.
    Benchmark {
        name: "learn.any-two-yellow",
        measure: |name| measure(name, Some(wanted(0.05)), LIMIT),
    },
    Benchmark {
        name: "learn.yellow-and-blue",
        measure: |name| measure(name, Some(wanted(0.05)), LIMIT),
    },
    Benchmark {
        name: "learn.key-and-door",
        measure: |name| measure(name, Some(wanted(0.05)), LIMIT),
    },
    Benchmark {
        name: "learn.chain-5",
        measure: |name| measure(name, Some(before_relaxation(2.9)), LIMIT),
    },
    Benchmark {
        name: "learn.chain-6",
        measure: |name| measure(name, Some(before_relaxation(19.1)), LIMIT),
    },
    Benchmark {
        name: "learn.chain-7",
        measure: |name| measure(name, Some(before_relaxation(60.0)), 2 * LIMIT),
    },
    Benchmark {
        name: "learn.chain-8",
        measure: |name| measure(name, None, 2 * LIMIT),
    },
    Benchmark {
        name: "learn.sampled-chain-8",
        measure: |name| measure(name, None, LIMIT),
    },
    Benchmark {
        name: "learn.dead-end-5",
        measure: |name| measure(name, Some(before_relaxation(3.8)), LIMIT),
    },
    Benchmark {
        name: "learn.dead-end-6",
        measure: |name| measure(name, None, LIMIT),
    },
    Benchmark {
        name: "learn.branches-5",
        measure: |name| measure(name, Some(before_relaxation(2.0)), LIMIT),
    },
    Benchmark {
        name: "learn.branches-6",
        measure: |name| measure(name, None, LIMIT),
    },
    Benchmark {
        name: "learn.cycle-4",
        measure: |name| measure(name, None, LIMIT),
    },
    Benchmark {
        name: "learn.cycle-5",
        measure: |name| measure(name, None, LIMIT),
    },
    Benchmark {
        name: "learn.cycle-6",
        measure: |name| measure(name, None, 2 * LIMIT),
    },
    Benchmark {
        name: "learn.elections",
        measure: |name| measure(name, None, LIMIT),
    },
];

/// Seconds that the learner took before it had stays, chains and the relaxation: the median of five walks for five sub-tasks and of three
/// for six; for seven there was no answer in these, one walk. For sampled traces: processor time, the median of five.
fn before_relaxation(seconds: f64) -> Baseline {
    Baseline {
        value: seconds,
        source: "the learner without stays, chains and relaxation, two shared cores",
    }
}

fn paper(seconds: f64) -> Baseline {
    Baseline {
        value: seconds,
        source: TABLE,
    }
}

fn wanted(seconds: f64) -> Baseline {
    Baseline {
        value: seconds,
        source: "the time that was to be reached",
    }
}

/// The options of a row. The paper's propositional machines have two disjuncts.
fn options(name: &str) -> Options {
    let default = Options::default();
    match name {
        "learn.any-two-yellow" => Options {
            counts: 2,
            ..default
        },
        "learn.yellow-and-blue" => Options {
            once: true,
            ..default
        },
        "learn.key-and-door" => Options {
            joins: true,
            ..default
        },
        _ if name.contains(".cycle-") => Options {
            cyclic: true,
            ..default
        },
        _ if name.ends_with(".propositional") => Options {
            first_order: false,
            max_disjuncts: 2,
            ..default
        },
        _ => default,
    }
}

/// Whether the options of a row allow atoms that the paper does not have.
fn has_windows(options: &Options) -> bool {
    options.once || options.counts > 1 || options.joins
}

/// Traces of the task of a row, `learn.TASK[.propositional]`.
pub(super) fn problem(name: &str, seed: u64) -> Result<(Signature, Vec<Trace>)> {
    let task = name.split('.').nth(1).unwrap_or_default();
    if task == "elections" {
        return elections(seed);
    }
    for (prefix, family) in [
        ("sampled-chain-", MachineFamily::Chain),
        ("cycle-", MachineFamily::Cycle),
        ("dead-end-", MachineFamily::DeadEnd),
        ("branches-", MachineFamily::Branches),
    ] {
        if let Some(states) = task.strip_prefix(prefix) {
            let traces = family.sample(states.parse()?, TRACES, seed)?;
            return Ok((family.signature()?, traces));
        }
    }
    let mut task = match task.strip_prefix("chain-") {
        Some(sub_tasks) => chain(sub_tasks.parse()?)?,
        None => Task::builtin(task)?,
    };
    if task.description().lava > 0 {
        // Few random walks survive 3,000 steps among lava.
        let mut description = task.description().clone();
        description.steps = 500;
        task = Task::new(description)?;
    }
    let walks = RandomWalks {
        each: TRACES,
        seed,
        max_episodes: 1_000_000,
    };
    let recorded = walks.record(&Arc::new(task.clone()), || false)?;
    let traces = recorded.traces.into_values().flatten().collect();
    Ok((task.signature().clone(), traces))
}

/// A chain of sub-tasks in the paper's room, of which the last is the goal.
fn chain(sub_tasks: usize) -> Result<Task> {
    let formulae = (SUB_TASKS.into_iter().cycle())
        .take(sub_tasks - 1)
        .chain(["goal"]);
    let mut machine = Machine::builder("chain").initial("u0").accept("u_acc");
    for (i, formula) in formulae.enumerate() {
        let next = match i + 1 == sub_tasks {
            true => "u_acc".to_owned(),
            false => format!("u{}", i + 1),
        };
        machine = machine.edge(&format!("u{i}"), &next, formula)?;
    }
    let mut description = Task::builtin("blue-all-yellow-7")?.description().clone();
    description.machine = machine.build()?;
    // Long chains are rarely completed by chance in 3,000 steps.
    description.steps = 10_000;
    Ok(Task::new(description)?)
}

/// Seconds to learn a task's machine from scratch, all numbers of states included: the median over the seeds, each
/// several times.
fn measure(name: &str, baseline: Option<Baseline>, limit: Duration) -> Result<Row> {
    let options = options(name);
    let problems = SEEDS
        .map(|seed| problem(name, seed))
        .collect::<Result<Vec<_>>>()?;
    let start = Instant::now();
    let mut seconds = Vec::new();
    let truth = match has_windows(&options) {
        true => Some(Task::builtin(name.trim_start_matches("learn."))?),
        false => None,
    };
    for round in 0..REPEATS {
        // Another round only if it will end in time.
        let elapsed = start.elapsed();
        if round > 0 && elapsed + elapsed / round as u32 > limit {
            break;
        }
        for (i, (signature, traces)) in problems.iter().enumerate() {
            let left = limit.saturating_sub(start.elapsed());
            let began = Instant::now();
            match learn(signature, traces, &options, left)? {
                LearnOutcome::Minimal(learnt) => {
                    seconds.push(began.elapsed().as_secs_f64());
                    if let Some(task) = &truth {
                        expect_machine(task, &learnt.machine)?;
                    }
                }
                // The first round counts even if it is not complete, a later one does not.
                LearnOutcome::Stopped { .. } if round > 0 => {
                    seconds.truncate(round * problems.len());
                    break;
                }
                LearnOutcome::Stopped {
                    at_least_states, ..
                } => {
                    return Ok(Row {
                        name: name.to_owned(),
                        value: (i > 0).then(|| middle(seconds)),
                        unit: "s",
                        baseline,
                        note: Some(format!(
                            "after {} s only {i} of {} problems were solved, the next needs at least \
                             {at_least_states} states",
                            limit.as_secs_f64(),
                            problems.len(),
                        )),
                    });
                }
                LearnOutcome::Contradictory(_) => bail!("the walks contradict each other"),
            }
        }
    }
    Ok(Row {
        baseline,
        ..Row::new(name, middle(seconds), "s")
    })
}

/// Two states besides the accepting one, and the edges of the task's machine.
fn expect_machine(task: &Task, learnt: &Machine) -> Result<()> {
    let edges = |machine: &Machine| -> BTreeSet<String> {
        let edge = |edge: &Edge| {
            let mut atoms: Vec<String> = (edge.formula.literals().iter())
                .map(|(atom, positive)| format!("{positive} {atom}"))
                .collect();
            atoms.sort();
            let (from, to) = (machine.state_name(edge.from), machine.state_name(edge.to));
            format!("{from} -> {to}: {}", atoms.join(", "))
        };
        machine.edges().iter().map(edge).collect()
    };
    let truth = task.truth().machine();
    if learnt.states().len() != 3 || edges(learnt) != edges(truth) {
        bail!("not the machine of the task:\n{learnt}");
    }
    Ok(())
}

fn learn(
    signature: &Signature,
    traces: &[Trace],
    options: &Options,
    limit: Duration,
) -> Result<LearnOutcome> {
    let mut learner = Learner::new(signature, options);
    for trace in traces {
        learner.add(trace);
    }
    let limits = Limits {
        time: Some(limit),
        ..Limits::default()
    };
    Ok(learner.learn(&limits)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_of_any_length_leads_to_acceptance() {
        for sub_tasks in [5, 8] {
            let task = chain(sub_tasks).unwrap();
            let machine = task.truth().machine();
            assert_eq!(machine.states().len(), sub_tasks + 1);
            let last = machine.edges().last().unwrap();
            assert_eq!(last.to, machine.accept());
        }
    }

    #[test]
    fn a_limit_that_is_hit_is_told() {
        let row = |limit| measure("learn.green-but-one", Some(paper(0.5)), limit).unwrap();
        let none = row(Duration::ZERO);
        assert!(none.value.is_none() && none.ratio().is_none());
        let note = none.note.unwrap();
        assert!(note.contains("0 of 5 problems were solved"), "{note}");
        let some = row(Duration::from_secs(3600));
        assert!(some.value.unwrap() > 0.0 && some.ratio().unwrap() > 0.0);
        assert_eq!(some.note, None);
    }
}
