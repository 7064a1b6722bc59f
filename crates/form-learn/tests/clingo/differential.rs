//! The built-in solver against clingo on larger problems: the same number of states and the same cost.

use std::path::Path;
use std::time::Duration;

use form_learn::asp::learn_with_clingo;
use form_learn::{LearnOutcome, Limits};

use crate::families::CYCLIC;
use crate::machines::{PROBLEMS, larger_problem, learn};
use crate::problems::Problem;

/// How the two compare on some problems.
#[derive(Debug, Default)]
struct Comparison {
    compared: usize,
    /// How many of these need three states.
    large: usize,
    /// The problems that clingo did not settle in time.
    unsettled: Vec<u64>,
}

impl Comparison {
    /// Learns from a problem that has an answer with both.
    fn add(&mut self, seed: u64, problem: &Problem) {
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
        let LearnOutcome::Minimal(ours) = learn(problem, &ours) else {
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
                self.compared += 1;
                self.large += usize::from(ours.states >= 3);
            }
            // What it has proven must not contradict what was found.
            LearnOutcome::Stopped {
                at_least_states, ..
            } => {
                assert!(at_least_states <= ours.states, "problem {seed}");
                self.unsettled.push(seed);
            }
            outcome @ LearnOutcome::Contradictory(_) => panic!("problem {seed}: {outcome:?}"),
        }
    }
}

#[test]
fn both_find_the_same_states_and_cost() {
    let mut both = Comparison::default();
    for seed in 0..PROBLEMS {
        both.add(seed, &larger_problem(seed).0);
    }
    // Far more than are lost on a slow computer.
    assert!(both.compared >= 250 && both.large >= 150, "{both:?}");
}

/// Cycles, and traces that are longer than the pieces they are cut into.
#[test]
fn both_agree_on_cycles_and_long_traces() {
    let mut both = Comparison::default();
    for seed in 0..CYCLES {
        both.add(seed, &CYCLIC.problem(seed));
    }
    assert!(both.compared >= 40 && both.large >= 10, "{both:?}");
}

/// How many problems with cycles there are to go through.
const CYCLES: u64 = 60;
