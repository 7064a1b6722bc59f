//! The rows about running machines. `cargo bench -p form-core` measures more of them.

use anyhow::Result;
use form_core::Signature;
use form_core::speed::Workload;

use super::{Baseline, Benchmark, Row, median};

pub(super) const BENCHMARKS: [Benchmark; 2] = [
    Benchmark {
        name: "machine.step",
        measure: |name| {
            let machines = TASKS.map(str::to_owned);
            step(name, &room_signature()?, &machines)
        },
    },
    Benchmark {
        name: "machine.join",
        measure: |name| step(name, &keys_and_doors()?, &[JOIN.to_owned()]),
    },
];

/// A key, then the door of its colour.
const JOIN: &str = "initial u0\naccept u_acc\nu0 -> u1 : exists X. (once key(X) and door(X))\nu1 -> u_acc : exists X. key(X)";

/// A hundred keys and doors.
fn keys_and_doors() -> Result<Signature> {
    let atoms = (0..100).flat_map(|i| [format!("key(o{i})"), format!("door(o{i})")]);
    Ok(Signature::parse(atoms)?)
}

/// The machines of the paper's Figures 4a, 5a and 6.
const TASKS: [&str; 3] = [
    "initial u0\naccept u_acc\nu0 -> u1 : forall X. yellow(X)\nu1 -> u_acc : goal",
    "initial u0\naccept u_acc\nreject u_rej\n\
     u0 -> u1 : exists X. green(X) and not green(o12) and not lava\nu0 -> u_rej : lava\n\
     u1 -> u_acc : goal and not lava\nu1 -> u_rej : lava",
    "initial u0\naccept u_acc\nu0 -> u1 : exists X. blue(X)\nu1 -> u2 : forall X. yellow(X)\n\
     u2 -> u3 : purple(o7)\nu3 -> u_acc : goal",
];

/// The atoms of the paper's room with lava: twelve checkpoints, two per colour, goal and lava.
fn room_signature() -> Result<Signature> {
    let colours = ["yellow", "red", "blue", "purple", "grey", "green"];
    let checkpoint = |i: usize| match i {
        // One of the greens is number 12, the one that GreenButOne excludes.
        11 => "green(o12)".to_owned(),
        i => format!("{}(o{i})", colours[i / 2]),
    };
    let atoms = (0..12)
        .map(checkpoint)
        .chain(["goal".to_owned(), "lava".to_owned()]);
    Ok(Signature::parse(atoms)?)
}

/// Steps per second on one core, of the slowest machine; the baseline is the definition of truth, evaluated literally.
fn step(name: &str, signature: &Signature, machines: &[String]) -> Result<Row> {
    const STEPS: usize = 2_000_000;
    let mut slowest = f64::INFINITY;
    let mut slowest_baseline = f64::INFINITY;
    for text in machines {
        let work = Workload::new(text, signature)?;
        let compiled = median(7, || {
            work.run(STEPS);
            Ok(())
        })?;
        let by_definition = median(3, || {
            work.run_by_definition(STEPS / 100);
            Ok(())
        })?;
        slowest = slowest.min(STEPS as f64 / compiled);
        slowest_baseline = slowest_baseline.min((STEPS / 100) as f64 / by_definition);
    }
    let baseline = Some(Baseline {
        value: slowest_baseline,
        source: "the definition, evaluated over the whole buffer",
    });
    Ok(Row {
        baseline,
        ..Row::new(name, slowest, "steps/s")
    })
}
