//! Every technique of the search is exact: without it, and without all of them, the same machine is found.

use form_core::{Kind, Signature, Trace};
use form_learn::{LearnOutcome, Learner, Limits, Options, Techniques};

use super::brute_force::{MAX_SIZE, best};
use super::families::{CYCLIC, Family, GUARDED, LETTERED};
use super::machines::with_threads;
use super::problems::{Problem, problem};

/// All techniques, all but one, none.
fn combinations() -> Vec<Techniques> {
    let all = Techniques::default();
    let none = Techniques {
        stays: false,
        order: false,
        pieces: false,
        chains: false,
        relaxation: false,
        letters: false,
        skeletons: false,
        follow: false,
        above: false,
        connections: false,
    };
    let mut combinations = vec![all, none];
    let switches: [fn(&mut Techniques); 10] = [
        |all| all.stays = false,
        |all| all.order = false,
        |all| all.pieces = false,
        |all| all.chains = false,
        |all| all.relaxation = false,
        |all| all.letters = false,
        |all| all.skeletons = false,
        |all| all.follow = false,
        |all| all.above = false,
        |all| all.connections = false,
    ];
    for switch in switches {
        let mut without = all;
        switch(&mut without);
        combinations.push(without);
    }
    combinations
}

/// The machine, as it is written, and its size.
fn learn(problem: &Problem, techniques: Techniques) -> Option<(usize, form_learn::Cost, String)> {
    let options = Options {
        techniques,
        ..problem.options.clone()
    };
    let mut learner = Learner::new(&problem.signature, &options);
    for trace in &problem.traces {
        learner.add(trace);
    }
    let limits = Limits {
        max_states: problem.max_states,
        ..Limits::default()
    };
    match learner.learn(&limits).unwrap() {
        LearnOutcome::Minimal(learnt) => {
            let bound = learnt.machine.bind(&problem.signature).unwrap();
            let wrong = |trace: &&Trace| trace.disagreement(&bound).is_some();
            assert_eq!(problem.traces.iter().find(wrong), None);
            assert!(form_core::check(&bound).overlaps.is_empty());
            Some((learnt.states, learnt.cost, learnt.machine.to_string()))
        }
        LearnOutcome::Stopped { .. } | LearnOutcome::Contradictory(_) => None,
    }
}

#[test]
fn without_any_technique_the_same_machine_is_found() {
    for seed in 0..150 {
        let problem = problem(7 * seed);
        let expected = learn(&problem, Techniques::default());
        for techniques in combinations() {
            let other = learn(&problem, techniques);
            assert_eq!(other, expected, "{techniques:?}\n{}", problem.describe());
        }
    }
}

/// The number of these problems whose machine has more than this number of states; all of these techniques agree on it.
fn agreed(family: &Family, problems: u64, states: usize, combinations: &[Techniques]) -> usize {
    let mut found = 0;
    for seed in 0..problems {
        let problem = family.problem(seed);
        let expected = learn(&problem, Techniques::default());
        for techniques in combinations {
            let other = learn(&problem, *techniques);
            let problem = problem.describe();
            assert_eq!(other, expected, "{seed} {techniques:?}\n{problem}");
        }
        found += usize::from(expected.is_some_and(|(learnt, _, _)| learnt > states));
    }
    found
}

#[test]
fn letters_find_the_machine_of_the_encoding() {
    let found = agreed(&LETTERED, 120, 2, &combinations());
    assert!(
        found > 20,
        "only {found} machines have more than two states"
    );
}

#[test]
fn guards_are_the_same_without_any_technique() {
    let found = agreed(&GUARDED, 72, 1, &combinations());
    assert!(found > 30, "only {found} machines have more than one state");
}

#[test]
fn pieces_of_long_traces_refute_no_machine_too_many() {
    let all = Techniques::default();
    let others = [
        Techniques {
            pieces: false,
            ..all
        },
        Techniques {
            relaxation: false,
            ..all
        },
    ];
    let found = agreed(&CYCLIC, 60, 1, &others);
    assert!(found > 30, "only {found} machines have more than one state");
}

/// Outside of a pool the search has threads of its own, in a pool it has not.
#[test]
fn letters_find_the_same_machine_with_any_number_of_threads() {
    for seed in 0..60 {
        let problem = LETTERED.problem(seed);
        let own = learn(&problem, Techniques::default());
        for threads in [1, 2, 3] {
            let other = with_threads(threads, || learn(&problem, Techniques::default()));
            assert_eq!(other, own, "{seed} {threads}\n{}", problem.describe());
        }
    }
}

/// The goal is reached by a long run of letters and one of two last ones. More machines of the lowest cost than the letters
/// enumerate, so that their skeletons are searched without numbers of letters.
#[test]
fn many_ties_do_not_hide_parallel_edges() {
    let many: Vec<String> = (0..130).map(|i| format!("c{i}")).collect();
    let atoms = many.iter().map(String::as_str).chain(["a", "b", "z"]);
    let signature = Signature::parse(atoms.clone()).unwrap();
    let trace = |kind: Kind, steps: &[&str]| {
        let step = |atom: &&str| signature.observation([*atom]).unwrap();
        Trace::new(kind, steps.iter().map(step))
    };
    let long = |last: &[&'static str]| -> Vec<&str> {
        many.iter()
            .map(String::as_str)
            .chain(last.iter().copied())
            .collect()
    };
    let first = [
        trace(Kind::Goal, &long(&["z", "a"])),
        trace(Kind::Goal, &long(&["b"])),
        trace(Kind::Incomplete, &["a"]),
    ];
    let second = [
        trace(Kind::Goal, &long(&["a"])),
        trace(Kind::Goal, &long(&["b"])),
        trace(Kind::Incomplete, &["a"]),
        trace(Kind::Incomplete, &["b"]),
    ];
    for traces in [first.to_vec(), second.to_vec()] {
        let problem = Problem {
            signature: signature.clone(),
            traces,
            options: Options {
                first_order: false,
                max_disjuncts: 2,
                ..Options::default()
            },
            max_states: 3,
        };
        let without = |switch: fn(&mut Techniques)| {
            let mut techniques = Techniques::default();
            switch(&mut techniques);
            techniques
        };
        for techniques in [
            Techniques::default(),
            without(|all| all.skeletons = false),
            without(|all| all.letters = false),
        ] {
            let (states, cost, _) = learn(&problem, techniques).unwrap();
            assert_eq!((states, cost.size), (2, 6), "{techniques:?}");
        }
    }
}

/// How many of these problems exhaustive enumeration agrees on.
fn compared(problems: impl Iterator<Item = Problem>) -> usize {
    let mut compared = 0;
    for problem in problems {
        let learnt = learn(&problem, Techniques::default());
        match (best(&problem), learnt) {
            (_, Some((_, cost, _))) if cost.size > MAX_SIZE => {}
            (expected, learnt) => {
                let learnt = learnt.map(|(states, cost, _)| (states, cost));
                assert_eq!(learnt, expected, "{}", problem.describe());
                compared += usize::from(learnt.is_some());
            }
        }
    }
    compared
}

#[test]
fn guards_cost_as_much_as_exhaustive_enumeration_says() {
    let compared = compared((0..72).map(|seed| {
        let mut problem = GUARDED.problem(seed);
        problem.max_states = 2;
        problem.options.max_disjuncts = 1;
        problem.traces.truncate(12);
        problem
    }));
    assert!(compared > 20, "only {compared} problems were compared");
}

#[test]
fn letters_cost_as_much_as_exhaustive_enumeration_says() {
    let compared = compared((0..60).map(|seed| {
        let mut problem = LETTERED.problem(seed);
        problem.max_states = 2;
        problem.traces.truncate(10);
        problem
    }));
    assert!(compared > 20, "only {compared} problems were compared");
}
