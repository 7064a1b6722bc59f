//! Running and checking machines: `cargo bench -p form-core`.
//!
//! `step` runs the machines of the paper's Figures 4a, 5a and 6, compiled and, as the baseline, by the definition of truth over
//! the whole buffer; compare the two by items per second.

use std::fmt::Write;
use std::io::Cursor;
use std::sync::Arc;

use divan::Bencher;
use divan::counter::ItemsCount;
use form_core::speed::{Numbers, Workload};
use form_core::{Machine, Replay, Signature, TraceFile, check};

fn main() {
    divan::main();
}

/// The tasks of the paper by the names of their machine files.
const TASKS: [&str; 3] = ["all_yellow", "green_but_one", "blue_all_yellow_7"];

/// The atoms of the paper's room with lava: twelve checkpoints, two per colour, goal and lava.
fn room() -> Signature {
    let atoms = "yellow(o0) yellow(o1) red(o2) red(o3) blue(o4) blue(o5) purple(o6) purple(o7) grey(o8) grey(o9) green(o10) green(o12) goal lava";
    Signature::parse(atoms.split(' ')).expect("they are atoms")
}

/// The work for the machine of an example.
fn workload(task: &str) -> Workload {
    let path = format!("{}/../../examples/{task}.form", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the examples are there");
    Workload::new(&text, &room()).expect("it is a machine of the room")
}

#[divan::bench_group]
mod step {
    use super::*;

    const STEPS: usize = 4096;

    #[divan::bench(args = TASKS)]
    fn compiled(bencher: Bencher<'_, '_>, task: &str) {
        let work = workload(task);
        let bencher = bencher.counter(ItemsCount::new(STEPS));
        bencher.bench(|| work.run(STEPS));
    }

    /// A key for the door of its colour, with 100 colours.
    #[divan::bench]
    fn join(bencher: Bencher<'_, '_>) {
        let atoms = (0..100).flat_map(|i| [format!("key(o{i})"), format!("door(o{i})")]);
        let signature = Signature::parse(atoms).expect("they are atoms");
        let machine = "initial u0\naccept u1\nu0 -> u1 : exists X. (once key(X) and door(X))";
        let work = Workload::new(machine, &signature).expect("it is a machine of these atoms");
        let bencher = bencher.counter(ItemsCount::new(STEPS));
        bencher.bench(|| work.run(STEPS));
    }

    /// Algorithm 1 over an explicit buffer.
    #[divan::bench(args = TASKS)]
    fn by_definition(bencher: Bencher<'_, '_>, task: &str) {
        let work = workload(task);
        let bencher = bencher.counter(ItemsCount::new(STEPS));
        bencher.bench(|| work.run_by_definition(STEPS));
    }
}

/// Parses and checks a machine of 200 states and 1,000 edges.
#[divan::bench(max_time = 5)]
fn check_large_machine(bencher: Bencher<'_, '_>) {
    let signature = room();
    let atoms = signature.atoms();
    let quantified = [
        "exists X. red(X)",
        "forall X. yellow(X)",
        "not exists X. blue(X)",
    ];
    let mut numbers = Numbers(7);
    let mut text = "machine large\ninitial u0\naccept u199\n".to_owned();
    for i in 0..1000 {
        let (from, to) = (i % 199, if i < 199 { i + 1 } else { numbers.below(200) });
        let (a, b) = (
            &atoms[numbers.below(atoms.len())],
            quantified[numbers.below(3)],
        );
        // Writing to a string cannot fail.
        let _ = writeln!(text, "u{from} -> u{to} : {a} and {b}");
    }
    bencher.bench(|| {
        let machine: Machine = text.parse().expect("it is a machine");
        check(&machine.bind(&signature).expect("the room has its atoms"))
    });
}

/// Replays a machine on 100,000 traces of 100 observations (150 MB of JSON), on all cores.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn replay_traces(bencher: Bencher<'_, '_>) {
    let signature = room();
    let machine: Machine = "initial u0\naccept u_acc\nu0 -> u_acc : goal and lava"
        .parse()
        .expect("it is a machine");
    let machine = machine.bind(&signature).expect("the room has its atoms");
    let mut numbers = Numbers(99);
    let mut lines = String::new();
    for _ in 0..100_000 {
        lines.push_str(r#"{"kind":"incomplete","steps":["#);
        let mut last = 0;
        for step in 0..100 {
            // Never the same atom twice in a row: every step counts.
            last = (last + 1 + numbers.below(signature.len() - 1)) % signature.len();
            let comma = if step == 0 { "" } else { "," };
            let _ = write!(lines, "{comma}[\"{}\"]", signature.atoms()[last]);
        }
        lines.push_str("]}\n");
    }
    let lines: Arc<[u8]> = lines.into_bytes().into();
    let bencher = bencher.counter(ItemsCount::new(10_000_000_usize));
    bencher.bench(|| {
        let file = TraceFile::new("traces", Cursor::new(lines.clone())).expect("it is text");
        let mut replay = Replay::default();
        replay.add(&machine, file).expect("the lines are traces");
        assert_eq!((replay.steps, replay.disagreements), (10_000_000, 0));
        replay
    });
}
