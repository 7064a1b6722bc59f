//! Learning from traces of which some are wrong: against exhaustive enumeration, and its properties.

use form_core::{Kind, Signature, Trace};
use form_learn::{Error, LearnOutcome, Learner, Limits, Options, StopReason, Tolerance, TolerantOutcome};

use super::brute_force::fewest_misjudged;
use super::machines::larger_problem;
use super::problems::{Problem, Random, problem};

/// Changes the kinds of some traces.
fn flip(problem: &mut Problem, random: &mut Random, number: usize) {
    for _ in 0..number {
        let i = random.below(problem.traces.len());
        let trace = &problem.traces[i];
        let others: Vec<Kind> = [Kind::Goal, Kind::DeadEnd, Kind::Incomplete]
            .into_iter()
            .filter(|kind| *kind != trace.kind())
            .collect();
        let kind = *random.pick(&others);
        problem.traces[i] = Trace::new(kind, trace.steps().to_vec());
    }
}

fn learner(problem: &Problem) -> Learner {
    let mut learner = Learner::new(&problem.signature, &problem.options);
    for trace in &problem.traces {
        learner.add(trace);
    }
    learner
}

fn tolerant(problem: &Problem, tolerated: u64, states: usize) -> TolerantOutcome {
    let limits = Limits {
        max_states: states,
        ..Limits::default()
    };
    let outcome = learner(problem).learn_tolerant(Tolerance::AtMost(tolerated), &limits);
    let outcome = outcome.unwrap();
    if let Some(learnt) = outcome.outcome.learnt() {
        let bound = learnt.machine.bind(&problem.signature).unwrap();
        assert!(form_core::check(&bound).overlaps.is_empty());
        let wrong = (problem.traces.iter()).filter(|t| t.disagreement(&bound).is_some());
        assert_eq!(wrong.count() as u64, outcome.misjudged);
    }
    outcome
}

/// The sizes up to which machines with one, two, … states are enumerated.
const SIZES: [usize; 3] = [7, 6, 6];

#[test]
fn the_fewest_mistakes_are_those_of_exhaustive_enumeration() {
    let (mut compared, mut nonzero, mut beyond) = (0, 0, 0);
    for seed in 0..400 {
        let mut problem = problem(seed);
        let number = 1 + seed as usize % 3;
        flip(&mut problem, &mut Random::new(seed), number);
        let mut fewest = problem.traces.len();
        for (states, size) in (1..=problem.max_states.min(2)).zip(SIZES) {
            if fewest == 0 {
                break;
            }
            // Fewer than with fewer states, or as many.
            let found = fewest_misjudged(&problem, states, size, fewest);
            let expected = found.map_or(fewest, |(mistakes, _)| mistakes);
            // None are tolerated: every number of states is examined up to the fewest.
            let ours = all_levels(&problem, states);
            let level = &ours.levels[states - 1];
            assert!(level.proven(), "seed {seed}");
            if (level.fewest_misjudged as usize) < expected {
                // The enumeration stops at a size.
                assert!(size_of(&problem, level.fewest_misjudged, states) > size, "seed {seed}");
                beyond += 1;
                fewest = level.fewest_misjudged as usize;
                continue;
            }
            assert_eq!(
                level.fewest_misjudged as usize,
                expected,
                "seed {seed}, {states} states\n{}",
                problem.describe()
            );
            // The cheapest of these.
            if let Some((mistakes, least)) = found.filter(|_| expected > 0) {
                assert_eq!(size_of(&problem, mistakes as u64, states), least, "seed {seed}");
            }
            compared += 1;
            nonzero += usize::from(expected > 0);
            fewest = expected;
        }
    }
    assert!(compared >= 400, "{compared}, beyond {beyond}");
    assert!(nonzero >= 200, "{nonzero} of {compared}");
}

/// The exact number for every number of states up to one.
fn all_levels(problem: &Problem, states: usize) -> TolerantOutcome {
    // As one more is tolerated at each call, the table is exact up to the last row.
    let mut tolerated = 0;
    loop {
        let outcome = tolerant(problem, tolerated, states);
        let last = outcome.levels.last().unwrap();
        if last.states == states && last.proven() || last.states < states {
            return match last.states < states {
                true => {
                    // Fewer states do: more of them too.
                    let mut outcome = outcome;
                    let level = outcome.levels.last().unwrap().clone();
                    for more in level.states + 1..=states {
                        outcome.levels.push(form_learn::Level { states: more, ..level.clone() });
                    }
                    outcome
                }
                false => outcome,
            };
        }
        tolerated += 1;
    }
}

/// The size of the learnt machine that misjudges this number of traces with this number of states.
fn size_of(problem: &Problem, tolerated: u64, states: usize) -> usize {
    let outcome = tolerant(problem, tolerated, states);
    let LearnOutcome::Minimal(learnt) = outcome.outcome else {
        panic!("there is a machine")
    };
    assert_eq!(outcome.misjudged, tolerated);
    learnt.cost.size
}
