//! The built-in solver against clingo on larger problems: the same number of states and the same cost.

use std::path::Path;
use std::time::Duration;

use form_learn::asp::learn_with_clingo;
use form_learn::{LearnOutcome, Limits};

use crate::machines::{PROBLEMS, larger_problem, learn};

#[test]
fn both_find_the_same_states_and_cost() {
    let (mut compared, mut large, mut unsettled) = (0, 0, Vec::new());
    for seed in 0..PROBLEMS {
        let (problem, _) = larger_problem(seed);
        let ours = Limits {
            max_states: problem.max_states,
            ..Limits::default()
        };
        // Most take clingo less than a second.
        let limits = Limits {
            time: Some(Duration::from_secs(20)),
            ..ours.clone()
        };
        // Fails, not skips, where clingo is missing.
        let theirs = learn_with_clingo(
            &problem.signature,
            &problem.traces,
            &problem.options,
            &limits,
            Path::new("clingo"),
        );
        let LearnOutcome::Minimal(ours) = learn(&problem, &ours) else {
            panic!("problem {seed} has an answer")
        };
        match theirs.unwrap() {
            LearnOutcome::Minimal(theirs) => {
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
            // What it has proven must not contradict what was found.
            LearnOutcome::Stopped {
                at_least_states, ..
            } => {
                assert!(at_least_states <= ours.states, "problem {seed}");
                unsettled.push(seed);
            }
            outcome @ LearnOutcome::Contradictory(_) => panic!("problem {seed}: {outcome:?}"),
        }
    }
    // Far more than are lost on a slow computer.
    assert!(
        compared >= 250,
        "{compared} compared, unsettled: {unsettled:?}"
    );
    assert!(large >= 150, "{large} of {compared} need three states");
}
