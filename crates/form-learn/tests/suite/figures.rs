//! The machines of the paper's figures come out of random walks, whatever the seed.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::path::Path;

use form_core::{
    CompareOptions, Comparison, GroundObservations, GroundOptions, Machine, Observations,
    Signature, StateId, compare, ground,
};
use form_learn::walks::Walks;
use form_learn::{Learner, Limits, Options, Outcome};

/// How many traces of each kind, as in the paper's experiments.
const TRACES: usize = 100;

fn learn(walks: &Walks, options: &Options) -> Machine {
    let mut learner = Learner::new(&walks.signature().unwrap(), options);
    for trace in walks.record().unwrap() {
        learner.add(&trace);
    }
    match learner.learn(&Limits::default()).unwrap() {
        Outcome::Minimal(learnt) => learnt.machine,
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

/// That the machine learnt from walks with each of the seeds is the shipped one.
fn is_learnt(task: &str, walks: fn(u64) -> Walks) {
    let figure = edges(&shipped(task));
    for seed in 1..=20 {
        let learnt = learn(&walks(seed).each(TRACES), &Options::default());
        assert_eq!(edges(&learnt), figure, "{task}, seed {seed}");
    }
}

#[test]
fn figure_4a_for_20_seeds() {
    is_learnt("all_yellow", Walks::all_yellow);
}

/// With the literals that determinism needs.
#[test]
fn figure_5a_for_20_seeds() {
    is_learnt("green_but_one", Walks::green_but_one);
}

#[test]
fn figure_6_for_20_seeds() {
    is_learnt("blue_all_yellow_7", Walks::blue_all_yellow_7);
}

/// That the machine without quantifiers learnt from walks does the same as the figure's, which is the shipped one
/// grounded, and has as many states. The room shows one thing at a time, and so do the figures.
fn is_learnt_without_quantifiers(task: &str, walks: fn(u64) -> Walks, seeds: u64) {
    let compare_options = CompareOptions {
        observations: Observations::Single,
        ..CompareOptions::default()
    };
    for seed in 1..=seeds {
        let walks = walks(seed).each(TRACES);
        let signature = walks.signature().unwrap();
        let figure = grounded(task, &signature);
        let learnt = learn(&walks, &propositional());
        assert_eq!(learnt.states().len(), figure.states().len(), "{learnt}");
        let [first, second] = [&learnt, &figure].map(|machine| machine.bind(&signature).unwrap());
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
    is_learnt_without_quantifiers("all_yellow", Walks::all_yellow, 5);
}

#[test]
fn figure_5b_without_quantifiers() {
    is_learnt_without_quantifiers("green_but_one", Walks::green_but_one, 5);
}

/// The task that ILASP had no answer for in an hour.
#[test]
fn figure_9_without_quantifiers() {
    is_learnt_without_quantifiers("blue_all_yellow_7", Walks::blue_all_yellow_7, 1);
}
