//! The rows about traces with objects of their own: orders, each with its own number.

use std::time::Instant;

use anyhow::Result;
use form_core::{Kind, Signature, Trace};
use form_env::{Random, Stream, generator};
use form_learn::{LearnOutcome, Learner, Lifting, Limits, Options, unlift};
use rand::RngExt;

use super::{Benchmark, Row, middle};

pub(super) const BENCHMARKS: [Benchmark; 3] = [
    Benchmark {
        name: "objects.orders-500",
        measure: |name| measure(name, 500, 1),
    },
    Benchmark {
        name: "objects.orders-10000",
        measure: |name| measure(name, 10_000, 1),
    },
    // Deliveries of up to four orders, complete when all are shipped.
    Benchmark {
        name: "objects.deliveries-1000",
        measure: |name| measure(name, 1000, 4),
    },
];

/// Seconds to learn from this number of deliveries of up to this number of orders, all of them different, names taken away included: the
/// median of five.
fn measure(name: &str, deliveries: usize, orders: usize) -> Result<Row> {
    let (signature, traces) = log(deliveries, orders)?;
    let mut seconds = Vec::new();
    let mut machine = String::new();
    for _ in 0..5 {
        let start = Instant::now();
        let mut lifting = Lifting::new(&signature);
        for trace in &traces {
            lifting.add(trace);
        }
        let lifted = lifting.finish()?;
        let mut learner = Learner::lifted(&lifted.signature, &Options::default());
        for trace in &lifted.traces {
            learner.add(trace);
        }
        if let LearnOutcome::Minimal(learnt) = learner.learn(&Limits::default())? {
            let edges: Vec<String> = (unlift(&learnt.machine)?.edges().iter())
                .map(|edge| edge.formula.to_string())
                .collect();
            machine = edges.join("; ");
        }
        seconds.push(start.elapsed().as_secs_f64());
    }
    let atoms = signature.len();
    Ok(Row {
        note: Some(format!("{atoms} atoms, edges: {machine}")),
        ..Row::new(name, middle(seconds), "s")
    })
}

/// A log of deliveries: each of its orders is created, paid, packed and shipped, or cancelled. A delivery is complete once all
/// its orders are shipped, and fails if one is cancelled.
fn log(deliveries: usize, orders: usize) -> Result<(Signature, Vec<Trace>)> {
    let mut random = generator(3, Stream::Other(0));
    let logs: Vec<(Kind, Vec<String>)> = (0..deliveries)
        .map(|delivery| {
            let orders = random.random_range(1..=orders);
            delivery_log(delivery, orders, &mut random)
        })
        .collect();
    let mut atoms: Vec<&String> = logs.iter().flat_map(|(_, atoms)| atoms).collect();
    atoms.sort();
    atoms.dedup();
    let signature = Signature::parse(atoms)?;
    let mut traces = Vec::new();
    for (kind, atoms) in &logs {
        let steps: Result<Vec<_>, _> = (atoms.iter())
            .map(|atom| signature.observation([atom]))
            .collect();
        traces.push(Trace::new(*kind, steps?));
    }
    Ok((signature, traces))
}

fn delivery_log(delivery: usize, orders: usize, random: &mut Random) -> (Kind, Vec<String>) {
    let stages = ["created", "paid", "packed", "shipped"];
    let name = |order: usize| format!("d{delivery}o{order}");
    // All orders are created first: then it is known which there are.
    let mut atoms: Vec<String> = (0..orders)
        .map(|o| format!("created({})", name(o)))
        .collect();
    let mut next = vec![1; orders];
    let length = random.random_range(0..3 * orders + 2);
    for _ in 0..length {
        let order = random.random_range(0..orders);
        if random.random_range(0..15) == 0 {
            atoms.push(format!("cancelled({})", name(order)));
            return (Kind::DeadEnd, atoms);
        }
        if next[order] < stages.len() {
            atoms.push(format!("{}({})", stages[next[order]], name(order)));
            next[order] += 1;
        }
        if next.iter().all(|next| *next == stages.len()) {
            return (Kind::Goal, atoms);
        }
    }
    (Kind::Incomplete, atoms)
}
