//! The built-in solver against exhaustive enumeration: the same number of states and the same cost.

use form_learn::{Cost, LearnOutcome, Learner, Limits, StopReason};

use super::brute_force::{MAX_SIZE, best};
use super::problems::{Problem, problem, windowed_problem};

fn learn(problem: &Problem) -> Option<(usize, Cost)> {
    let mut learner = Learner::new(&problem.signature, &problem.options);
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
            for trace in &problem.traces {
                assert_eq!(
                    trace.disagreement(&bound),
                    None,
                    "{}\n{}",
                    learnt.machine,
                    problem.describe()
                );
            }
            assert!(
                form_core::check(&bound).overlaps.is_empty(),
                "{}",
                learnt.machine
            );
            Some((learnt.states, learnt.cost))
        }
        LearnOutcome::Stopped {
            reason: StopReason::States,
            ..
        }
        | LearnOutcome::Contradictory(_) => None,
        outcome => panic!("{outcome:?}"),
    }
}

#[test]
fn cost_equals_that_of_exhaustive_enumeration() {
    assert!(compare(1000, problem) > 700, "few problems have a machine");
}

#[test]
fn atoms_over_the_window_cost_what_exhaustive_enumeration_says() {
    let found = compare(400, windowed_problem);
    assert!(found > 200, "only {found} problems have a machine");
}

/// Learns the problems of these numbers in both ways; how many have a machine.
fn compare(seeds: u64, problem: fn(u64) -> Problem) -> usize {
    let mut found = 0;
    for seed in 0..seeds {
        let problem = problem(seed);
        let (expected, learnt) = (best(&problem), learn(&problem));
        match (expected, learnt) {
            // Beyond the reach of the enumeration.
            (expected, Some((states, cost)))
                if cost.size > MAX_SIZE && expected.is_none_or(|(more, _)| states < more) => {}
            (expected, learnt) => {
                assert_eq!(learnt, expected, "seed {seed}\n{}", problem.describe());
                found += usize::from(learnt.is_some());
            }
        }
    }
    found
}
