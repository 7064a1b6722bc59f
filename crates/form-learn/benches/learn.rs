//! Learning and explaining machines from the shipped traces, from scratch: `cargo bench -p form-learn`.
//!
//! `form bench learn` measures the same tasks on random walks, beside the times of the paper.

use divan::Bencher;
use form_core::{Signature, Trace, TraceFile};
use form_learn::{LearnOutcome, Learner, Limits, Options};

fn main() {
    divan::main();
}

/// The tasks of the paper by the names of their trace files.
const TASKS: [&str; 3] = ["all_yellow", "green_but_one", "blue_all_yellow_7"];

fn shipped(task: &str) -> (Signature, Vec<Trace>) {
    let path = format!("{}/../../examples/{task}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let open = || TraceFile::open(&path).expect("the examples are there");
    let signature = open().signature().expect("it declares one");
    let traces = open().traces(&signature).expect("they are traces");
    (
        signature,
        traces.into_iter().map(|(_, trace)| trace).collect(),
    )
}

fn learn(signature: &Signature, traces: &[Trace], options: &Options) -> Learner {
    let mut learner = Learner::new(signature, options);
    for trace in traces {
        learner.add(trace);
    }
    let outcome = learner.learn(&Limits::default()).expect("it is learnt");
    assert!(matches!(outcome, LearnOutcome::Minimal(_)));
    learner
}

#[divan::bench(args = TASKS, max_time = 5)]
fn first_order(bencher: Bencher<'_, '_>, task: &str) {
    let (signature, traces) = shipped(task);
    bencher.bench(|| learn(&signature, &traces, &Options::default()));
}

/// As the paper's propositional machines: two disjuncts.
#[divan::bench(args = &TASKS[..2], max_time = 5)]
fn propositional(bencher: Bencher<'_, '_>, task: &str) {
    let (signature, traces) = shipped(task);
    let options = Options {
        first_order: false,
        max_disjuncts: 2,
        ..Options::default()
    };
    bencher.bench(|| learn(&signature, &traces, &options));
}

#[divan::bench(args = TASKS, max_time = 5)]
fn explain(bencher: Bencher<'_, '_>, task: &str) {
    let (signature, traces) = shipped(task);
    let learner = learn(&signature, &traces, &Options::default());
    bencher.bench_local(|| learner.explain(&Limits::default()));
}
