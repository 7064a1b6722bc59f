//! The built-in solver against clingo on larger problems: the same number of states and the same cost.

use std::path::Path;
use std::time::Duration;

use form_learn::asp::learn_with_clingo;
use form_learn::{Limits, Outcome};

use crate::machines::{PROBLEMS, larger_problem, learn};

#[test]
fn both_find_the_same_states_and_cost() {
    let (mut compared, mut large, mut unsettled) = (0, 0, Vec::new());
    for seed in 0..PROBLEMS {
        let (problem, _) = larger_problem(seed);
        // Most take clingo less than a second.
        let limits = Limits {
            max_states: problem.max_states,
            time: Some(Duration::from_secs(10)),
            ..Limits::default()
        };
        // Fails, not skips, where clingo is missing.
        let theirs = learn_with_clingo(
            &problem.signature,
            &problem.traces,
            &problem.options,
            &limits,
            Path::new("clingo"),
        );
        match (learn(&problem, &limits), theirs.unwrap()) {
            (Outcome::Minimal(ours), Outcome::Minimal(theirs)) => {
                assert_eq!(
                    (ours.states, ours.cost),
                    (theirs.states, theirs.cost),
                    "problem {seed}: the built-in solver found\n{}\nclingo\n{}\n{}",
                    ours.machine,
                    theirs.machine,
                    problem.describe()
                );
                compared += 1;
                large += usize::from(ours.states >= 3);
            }
            // What one of them has proven must not contradict what the other found.
            (
                Outcome::Minimal(learnt),
                Outcome::Stopped {
                    at_least_states, ..
                },
            )
            | (
                Outcome::Stopped {
                    at_least_states, ..
                },
                Outcome::Minimal(learnt),
            ) => {
                assert!(at_least_states <= learnt.states, "problem {seed}");
                unsettled.push(seed);
            }
            (Outcome::Stopped { .. }, Outcome::Stopped { .. }) => unsettled.push(seed),
            (ours, theirs) => panic!("problem {seed}: {ours:?}, {theirs:?}"),
        }
    }
    assert!(
        compared >= 300,
        "{compared} compared, unsettled: {unsettled:?}"
    );
    assert!(large >= 200, "{large} of {compared} need three states");
}
