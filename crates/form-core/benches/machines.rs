//! Running and checking machines: `cargo bench -p form-core`.
//!
//! `step` runs the machines of the paper's Figures 4a, 5a and 6, compiled and, as the baseline, by the definition of truth over
//! the whole buffer; compare the two by items per second.

use std::fmt::Write;
use std::io::Cursor;
use std::sync::Arc;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use form_core::{
    AtomSet, BoundMachine, Machine, Replay, Run, Signature, TraceFile, check, satisfies,
};

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

fn bound(task: &str) -> BoundMachine {
    let path = format!("{}/../../examples/{task}.form", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the examples are there");
    let machine: Machine = text.parse().expect("they are machines");
    machine.bind(&room()).expect("the room has their atoms")
}

/// Pseudo-random numbers, the same in every run (Marsaglia's xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

/// Observations of one atom each.
fn observations(count: usize) -> Vec<AtomSet> {
    let ids: Vec<_> = room().ids().collect();
    let mut numbers = Numbers(0x5eed);
    (0..count)
        .map(|_| AtomSet::from_iter([ids[numbers.below(ids.len())]]))
        .collect()
}

#[divan::bench_group]
mod step {
    use super::*;

    #[divan::bench(args = TASKS)]
    fn compiled(bencher: Bencher<'_, '_>, task: &str) {
        let (machine, observations) = (bound(task), observations(4096));
        let bencher = bencher.counter(ItemsCount::new(observations.len()));
        bencher.bench(|| {
            let mut run = Run::new(&machine);
            for observation in &observations {
                black_box(run.step(&machine, observation));
                if machine.machine().is_terminal(run.state()) {
                    run.reset(&machine);
                }
            }
            run
        });
    }

    /// A key for the door of its colour, with 100 colours.
    #[divan::bench]
    fn join(bencher: Bencher<'_, '_>) {
        let atoms = (0..100).flat_map(|i| [format!("key(o{i})"), format!("door(o{i})")]);
        let signature = Signature::parse(atoms).expect("they are atoms");
        let machine: Machine =
            "initial u0\naccept u1\nu0 -> u1 : exists X. (once key(X) and door(X))"
                .parse()
                .expect("it is a machine");
        let machine = machine.bind(&signature).expect("it has the atoms");
        let ids: Vec<_> = signature.ids().collect();
        let mut numbers = Numbers(0x5eed);
        let observations: Vec<AtomSet> = (0..4096)
            .map(|_| AtomSet::from_iter([ids[numbers.below(ids.len())]]))
            .collect();
        let bencher = bencher.counter(ItemsCount::new(observations.len()));
        bencher.bench(|| {
            let mut run = Run::new(&machine);
            for observation in &observations {
                black_box(run.step(&machine, observation));
                if machine.machine().is_terminal(run.state()) {
                    run.reset(&machine);
                }
            }
            run
        });
    }

    /// Algorithm 1 over an explicit buffer.
    #[divan::bench(args = TASKS)]
    fn by_definition(bencher: Bencher<'_, '_>, task: &str) {
        let (machine, observations) = (bound(task), observations(4096));
        let bencher = bencher.counter(ItemsCount::new(observations.len()));
        bencher.bench(|| {
            let lifted = machine.machine();
            let (mut state, mut buffer) = (lifted.initial(), Vec::new());
            for observation in &observations {
                buffer.push(observation.clone());
                let taken = (lifted.edges_from(state))
                    .find(|(_, edge)| satisfies(&buffer, &edge.formula, machine.signature()));
                if let Some((_, edge)) = taken {
                    buffer.clear();
                    state = match lifted.is_terminal(edge.to) {
                        true => lifted.initial(),
                        false => edge.to,
                    };
                }
            }
            state
        });
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
