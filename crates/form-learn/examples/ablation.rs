//! What the techniques of the search are worth: learns from trace files with all of them, then without each.
//!
//! `cargo run --release -p form-learn --example ablation -- [propositional] [kappa=K] [cyclic] [limit=SECONDS] [full] FILE …`
//! prints the processor time of each, for `full` with all techniques only. All answers must be the same.

#![allow(clippy::print_stdout, reason = "the measurements are its output")]

use std::error::Error;
use std::time::{Duration, Instant};

use form_core::TraceFile;
use form_learn::{LearnOutcome, Learner, Limits, Options, Techniques};

fn main() -> Result<(), Box<dyn Error>> {
    let mut options = Options::default();
    let mut limit = 60.0;
    let mut variants = variants();
    for argument in std::env::args().skip(1) {
        match argument.split_once('=') {
            Some(("kappa", number)) => options.max_disjuncts = number.parse()?,
            Some(("limit", seconds)) => limit = seconds.parse()?,
            _ if argument == "propositional" => options.first_order = false,
            _ if argument == "cyclic" => options.cyclic = true,
            _ if argument == "full" => variants.truncate(1),
            _ => {
                let mut answers: Vec<String> = Vec::new();
                for (name, techniques) in &variants {
                    options.techniques = *techniques;
                    answers.extend(measure(&argument, name, &options, limit)?);
                }
                answers.dedup();
                if answers.len() > 1 {
                    return Err(
                        format!("{argument}: different answers\n{}", answers.join("\n")).into(),
                    );
                }
            }
        }
    }
    Ok(())
}

/// All techniques, then all but one.
fn variants() -> Vec<(&'static str, Techniques)> {
    let all = Techniques::default();
    vec![
        ("all", all),
        (
            "no stays",
            Techniques {
                stays: false,
                ..all
            },
        ),
        (
            "no clauses about the order",
            Techniques {
                order: false,
                ..all
            },
        ),
        (
            "no pieces",
            Techniques {
                pieces: false,
                ..all
            },
        ),
        (
            "no chains",
            Techniques {
                chains: false,
                ..all
            },
        ),
        (
            "no relaxation",
            Techniques {
                relaxation: false,
                ..all
            },
        ),
        (
            "no letters",
            Techniques {
                letters: false,
                ..all
            },
        ),
        (
            "no skeletons",
            Techniques {
                skeletons: false,
                ..all
            },
        ),
        (
            "no machines followed",
            Techniques {
                follow: false,
                ..all
            },
        ),
        (
            "no search above",
            Techniques {
                above: false,
                ..all
            },
        ),
        (
            "no bound on connections",
            Techniques {
                connections: false,
                ..all
            },
        ),
    ]
}

/// Learns once and prints the time; the machine, if it was found in time.
fn measure(
    path: &str,
    name: &str,
    options: &Options,
    limit: f64,
) -> Result<Option<String>, Box<dyn Error>> {
    let signature = TraceFile::open(path)?.signature()?;
    let mut learner = Learner::new(&signature, options);
    for (_, trace) in TraceFile::open(path)?.traces(&signature)? {
        learner.add(&trace);
    }
    let limits = Limits {
        time: Some(Duration::from_secs_f64(limit)),
        ..Limits::default()
    };
    let (start, before) = (Instant::now(), processor_time());
    let outcome = learner.learn(&limits)?;
    let time = match (before, processor_time()) {
        (Some(before), Some(after)) => after - before,
        _ => start.elapsed().as_secs_f64(),
    };
    let rounds: Vec<String> = (learner.rounds().iter())
        .map(|round| {
            let seconds = round.time.as_secs_f64();
            format!(
                "{}: {} calls {seconds:.3}",
                round.states, round.solver_calls
            )
        })
        .collect();
    let (answer, machine) = match outcome {
        LearnOutcome::Minimal(learnt) => {
            let size = format!("{} states, cost {}", learnt.states, learnt.cost.size);
            (size, Some(learnt.machine.to_string()))
        }
        LearnOutcome::Stopped {
            at_least_states,
            at_least_cost,
            best,
            ..
        } => {
            let best = best.map_or(String::new(), |best| {
                format!(", a machine with {}", best.states)
            });
            (
                format!("stopped at {at_least_states} states, cost {at_least_cost}{best}"),
                None,
            )
        }
        LearnOutcome::Contradictory(_) => ("contradictory".to_owned(), None),
    };
    println!(
        "{path}\t{name}\t{time:.3} s\t{answer}\t{}",
        rounds.join(", ")
    );
    Ok(machine)
}

/// The processor time of all threads in seconds, where the system tells it.
fn processor_time() -> Option<f64> {
    let statistics = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = statistics.rsplit(')').next()?.split_whitespace().collect();
    let ticks = |i: usize| fields.get(i)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / 100.0)
}
