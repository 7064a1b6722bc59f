//! The machines of the paper's figures are learnt from random walks in its room, for every seed.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::path::Path;
use std::sync::Arc;

use form_core::{
    CompareOptions, Comparison, GroundObservations, GroundOptions, Machine, Observations,
    Signature, StateId, Trace, compare, ground,
};
use form_env::{RandomWalks, Task};
use form_learn::{LearnOutcome, Learner, Limits, Options};

/// Traces of each kind, as in the paper's experiments.
const TRACES: usize = 100;

/// Random walks for a task of the paper, named after its machine file.
fn walks(task: &str, seed: u64) -> (Signature, Vec<Trace>) {
    let task = Task::builtin(&task.replace('_', "-")).unwrap();
    let mut description = task.description().clone();
    if description.lava > 0 {
        // Few random walks survive 3,000 steps among lava.
        description.steps = 500;
    }
    let task = Arc::new(Task::new(description).unwrap());
    let walks = RandomWalks {
        each: TRACES,
        seed,
        max_episodes: 1_000_000,
    };
    let recorded = walks.record(&task, || false).unwrap();
    assert!(recorded.has(TRACES));
    let traces = recorded.traces.into_values().flatten();
    (task.signature().clone(), traces.collect())
}

fn learn((signature, traces): &(Signature, Vec<Trace>), options: &Options) -> Machine {
    let mut learner = Learner::new(signature, options);
    for trace in traces {
        learner.add(trace);
    }
    match learner.learn(&Limits::default()).unwrap() {
        LearnOutcome::Minimal(learnt) => learnt.machine,
        outcome => panic!("{outcome:?}"),
    }
}

/// Two disjuncts, without quantifiers: the machines the paper compares with.
fn propositional() -> Options {
    Options {
        first_order: false,
        max_disjuncts: 2,
        ..Options::default()
    }
}

/// A machine that ships with the project.
fn shipped(task: &str) -> Machine {
    let file = format!("../../examples/{task}.form");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    std::fs::read_to_string(path).unwrap().parse().unwrap()
}

/// The edges of a machine, whatever its states are called: they are numbered in the order in which they are reached,
/// breadth first, the edges of a state by the order of their formulae.
fn edges(machine: &Machine) -> BTreeSet<String> {
    let mut numbers: HashMap<StateId, String> = HashMap::from([
        (machine.initial(), "0".to_owned()),
        (machine.accept(), "accept".to_owned()),
    ]);
    numbers.extend(machine.reject().map(|state| (state, "reject".to_owned())));
    let mut queue = VecDeque::from([machine.initial()]);
    let mut lines = BTreeSet::new();
    while let Some(state) = queue.pop_front() {
        let mut edges: Vec<(Vec<String>, StateId)> = (machine.edges_from(state))
            .map(|(_, edge)| (literals(&edge.formula), edge.to))
            .collect();
        edges.sort_unstable();
        for (formula, to) in edges {
            let next = numbers.len();
            let number = numbers.entry(to).or_insert_with(|| {
                queue.push_back(to);
                next.to_string()
            });
            let number = number.clone();
            let (from, formula) = (&numbers[&state], formula.join(" and "));
            lines.insert(format!("{from} -> {number} : {formula}"));
        }
    }
    assert_eq!(lines.len(), machine.edges().len(), "{machine}");
    lines
}

/// The literals of a conjunction in order.
fn literals(formula: &form_core::Formula) -> Vec<String> {
    let literals = formula.as_conjunction().unwrap();
    let text = |(atom, positive): &(_, bool)| match positive {
        true => format!("{atom}"),
        false => format!("not {atom}"),
    };
    let mut literals: Vec<String> = literals.iter().map(text).collect();
    literals.sort_unstable();
    literals
}

/// For each seed the learnt machine is the shipped one.
fn is_learnt(task: &str) {
    let figure = edges(&shipped(task));
    for seed in 1..=20 {
        let learnt = learn(&walks(task, seed), &Options::default());
        assert_eq!(edges(&learnt), figure, "{task}, seed {seed}");
    }
}

#[test]
fn figure_4a_for_20_seeds() {
    is_learnt("all_yellow");
}

/// With the literals that determinism needs.
#[test]
fn figure_5a_for_20_seeds() {
    is_learnt("green_but_one");
}

#[test]
fn figure_6_for_20_seeds() {
    is_learnt("blue_all_yellow_7");
}

/// The learnt machine without quantifiers is equivalent to the figure's, which is the shipped one grounded, and has as many
/// states. One atom is observed at a time in the room, and so in the figures.
fn is_learnt_without_quantifiers(task: &str, seeds: u64) {
    let compare_options = CompareOptions {
        observations: Observations::Single,
        ..CompareOptions::default()
    };
    for seed in 1..=seeds {
        let walks = walks(task, seed);
        let signature = &walks.0;
        let figure = grounded(task, signature);
        let learnt = learn(&walks, &propositional());
        assert_eq!(learnt.states().len(), figure.states().len(), "{learnt}");
        let [first, second] = [&learnt, &figure].map(|machine| machine.bind(signature).unwrap());
        let comparison = compare(&first, &second, &compare_options).unwrap();
        assert!(
            matches!(comparison, Comparison::Equivalent { .. }),
            "{task}, seed {seed}: {comparison:?}\n{learnt}"
        );
    }
}

/// The figure's machine: `crates/form-core/tests/suite/figures.rs` compares it with the picture.
fn grounded(task: &str, signature: &Signature) -> Machine {
    let options = GroundOptions {
        observations: GroundObservations::Single,
        ..GroundOptions::default()
    };
    ground(&shipped(task).bind(signature).unwrap(), &options).unwrap()
}

#[test]
fn figure_4b_without_quantifiers() {
    is_learnt_without_quantifiers("all_yellow", 5);
}

#[test]
fn figure_5b_without_quantifiers() {
    is_learnt_without_quantifiers("green_but_one", 5);
}

/// The task that ILASP had no answer for in an hour.
#[test]
fn figure_9_without_quantifiers() {
    is_learnt_without_quantifiers("blue_all_yellow_7", 1);
}
