//! Learning from traces of which some are wrong: against exhaustive enumeration, and its properties.

use form_core::{Kind, Machine, Signature, Trace};
use form_learn::{
    Error, LearnOutcome, Learner, Limits, Options, OtherSuspects, StopReason, Tolerance,
    TolerantOutcome,
};

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
        problem.traces[i] = Trace::with_mode(trace.step_mode(), kind, trace.steps().to_vec());
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
                assert!(
                    size_of(&problem, level.fewest_misjudged, states) > size,
                    "seed {seed}"
                );
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
                assert_eq!(
                    size_of(&problem, mistakes as u64, states),
                    least,
                    "seed {seed}"
                );
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
    let limits = Limits {
        max_states: states,
        ..Limits::default()
    };
    let mut outcome = learner(problem).learn_fewest_misjudged(&limits).unwrap();
    // Fewer states do: more of them too.
    let last = outcome.levels.last().unwrap().clone();
    for more in last.states + 1..=states {
        let level = form_learn::Level {
            states: more,
            ..last.clone()
        };
        outcome.levels.push(level);
    }
    outcome
}

/// Cores are found with tables, or without the relaxation by machines alone: the fewest misjudged traces are the same, and so is the machine.
#[test]
fn without_tables_the_same_machine_misjudges_as_few() {
    let mut nonzero = 0;
    for seed in 0..60 {
        let mut problem = larger_problem(seed).0;
        flip(&mut problem, &mut Random::new(seed), 2);
        let states = problem.max_states.min(2);
        let with = all_levels(&problem, states);
        problem.options.techniques.relaxation = false;
        let without = all_levels(&problem, states);
        let fewest = |outcome: &TolerantOutcome| -> Vec<u64> {
            let levels = outcome.levels.iter();
            levels.map(|level| level.fewest_misjudged).collect()
        };
        assert_eq!(fewest(&with), fewest(&without), "seed {seed}");
        let machine = |outcome: &TolerantOutcome| {
            let learnt = outcome.outcome.learnt();
            learnt.map(|learnt| learnt.machine.to_string())
        };
        assert_eq!(machine(&with), machine(&without), "seed {seed}");
        nonzero += usize::from(with.misjudged > 0);
    }
    assert!(nonzero > 20, "{nonzero}");
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

/// Other traces may be wrong just as well if a machine as small, that misjudges as few, judges one of the suspects rightly: asked for by
/// giving this trace a weight that is not tolerated.
#[test]
fn other_suspects_are_possible_or_refuted() {
    let (mut possible, mut refuted) = (0, 0);
    for seed in 0..600 {
        let mut problem = problem(seed);
        flip(&mut problem, &mut Random::new(seed), 1 + seed as usize % 2);
        let tolerated = problem.traces.len().saturating_sub(1).min(2) as u64;
        let ours = tolerant(&problem, tolerated, problem.max_states.min(2));
        let LearnOutcome::Minimal(learnt) = &ours.outcome else {
            assert_eq!(ours.others, OtherSuspects::Unknown);
            continue;
        };
        let numbers = |suspects: &[form_learn::Suspect]| -> Vec<usize> {
            suspects.iter().map(|suspect| suspect.trace).collect()
        };
        let expected = numbers(&ours.suspects).into_iter().any(|suspect| {
            let mut learner = Learner::new(&problem.signature, &problem.options);
            let mut distinct = 0;
            for trace in &problem.traces {
                distinct += usize::from(learner.add(trace).is_some());
                if distinct == suspect + 1 {
                    learner.add_weighted(trace, 1000);
                    distinct = usize::MAX / 2;
                }
            }
            let limits = Limits {
                max_states: learnt.states,
                ..Limits::default()
            };
            let other = learner.learn_tolerant(Tolerance::AtMost(ours.misjudged), &limits);
            let other = other.unwrap();
            matches!(&other.outcome, LearnOutcome::Minimal(other) if other.cost.size <= learnt.cost.size)
        });
        match &ours.others {
            OtherSuspects::Unknown => panic!("seed {seed}: so small a question is decided"),
            OtherSuspects::None => assert!(!expected, "seed {seed}"),
            OtherSuspects::Traces(others) => {
                assert!(expected, "seed {seed}");
                assert_ne!(numbers(others), numbers(&ours.suspects));
            }
        }
        possible += usize::from(expected);
        refuted += usize::from(!expected && !ours.suspects.is_empty());
    }
    assert!(possible >= 20 && refuted >= 20, "{possible}, {refuted}");
}

/// Without wrong traces a tolerance of zero gives what exact learning gives.
#[test]
fn nothing_tolerated_is_exact_learning() {
    for seed in 0..60 {
        let (problem, _) = larger_problem(seed);
        let exact = learner(&problem).learn(&Limits::default()).unwrap();
        let outcome = tolerant(&problem, 0, problem.max_states);
        assert_eq!(outcome.outcome, exact, "problem {seed}");
        assert!(outcome.suspects.is_empty());
    }
}

/// A trace that was added several times counts as often, at once or one by one.
#[test]
fn weights_are_duplicates() {
    for seed in 0..60 {
        let mut problem = problem(seed);
        let mut random = Random::new(seed);
        flip(&mut problem, &mut random, 2);
        let limits = Limits {
            max_states: 2,
            ..Limits::default()
        };
        let (mut once, mut often) = (learner(&problem), learner(&problem));
        for trace in &problem.traces {
            let more = random.below(4);
            once.add_weighted(trace, more as u64);
            for _ in 0..more {
                often.add(trace);
            }
        }
        let [once, often] = [once, often].map(|mut l| l.learn_fewest_misjudged(&limits).unwrap());
        assert_eq!(once.levels, often.levels, "seed {seed}");
        assert_eq!(once.suspects, often.suspects, "seed {seed}");
    }
}

#[test]
fn impossible_tolerances_and_weights_are_refused() {
    let signature = Signature::parse(["goal"]).unwrap();
    let goal = Trace::new(Kind::Goal, [signature.observation(["goal"]).unwrap()]);
    let mut learner = Learner::new(&signature, &Options::default());
    learner.add_weighted(&goal, 3);
    let limits = Limits::default();
    let learn = |learner: &mut Learner, tolerance| learner.learn_tolerant(tolerance, &limits);
    for tolerance in [
        Tolerance::AtMost(3),
        Tolerance::AtMost(u64::MAX),
        Tolerance::Share(1.0),
    ] {
        let error = learn(&mut learner, tolerance).unwrap_err();
        assert!(
            matches!(error, Error::Tolerance { traces: 3, .. }),
            "{error}"
        );
    }
    let half = learn(&mut learner, Tolerance::Share(0.5)).unwrap();
    assert_eq!(half.misjudged, 0);
    learner.add_weighted(&goal, u64::MAX);
    let error = learn(&mut learner, Tolerance::AtMost(1)).unwrap_err();
    assert!(matches!(error, Error::Weights), "{error}");
    // Exact learning does not look at weights.
    let exact = learner.learn(&limits).unwrap();
    assert!(matches!(exact, LearnOutcome::Minimal(_)));
}

/// A search that is stopped knows bounds that are right.
#[test]
fn a_limit_leaves_bounds() {
    let mut problem = larger_problem(3).0;
    flip(&mut problem, &mut Random::new(3), 2);
    let limits = Limits {
        time: Some(std::time::Duration::ZERO),
        ..Limits::default()
    };
    let stopped = learner(&problem)
        .learn_tolerant(Tolerance::AtMost(1), &limits)
        .unwrap();
    let LearnOutcome::Stopped {
        reason,
        at_least_states,
        ..
    } = stopped.outcome
    else {
        panic!("there is no time")
    };
    assert_eq!((reason, at_least_states), (StopReason::Time, 1));
}

/// The work of a search is counted, and a limit on it ends the search in the same place every time.
#[test]
fn the_work_is_counted() {
    let mut problem = larger_problem(3).0;
    flip(&mut problem, &mut Random::new(3), 2);
    for tolerance in [Tolerance::AtMost(1), Tolerance::Auto] {
        let call = |work: u64| {
            let mut learner = learner(&problem);
            let limits = Limits {
                max_states: 2,
                work: Some(work),
                ..Limits::default()
            };
            let found = learner.learn_tolerant(tolerance, &limits).unwrap();
            let calls: Vec<usize> = (found.rounds.iter())
                .map(|round| round.solver_calls)
                .collect();
            (found.outcome, calls, learner.work())
        };
        let (unlimited, calls, work) = call(u64::MAX);
        assert!(work > 0, "{tolerance}");
        assert_eq!(call(work), (unlimited, calls, work), "{tolerance}");
        for less in [0, work / 2] {
            let stopped = call(less);
            assert!(
                matches!(
                    stopped.0,
                    LearnOutcome::Stopped {
                        reason: StopReason::Work,
                        ..
                    }
                ),
                "{tolerance}, {less} of {work}: {stopped:?}"
            );
            assert_eq!(stopped, call(less), "{tolerance}");
        }
    }
}

/// The description length chooses the machine that made the traces.
#[test]
fn the_tolerance_is_chosen() {
    let signature = Signature::parse(["a", "b", "c", "goal"]).unwrap();
    let machine: Machine = "initial u0\naccept u_acc\nu0 -> u1 : a\nu1 -> u_acc : goal"
        .parse()
        .unwrap();
    let mut random = Random::new(5);
    let mut traces: Vec<Trace> = (0..150)
        .map(|_| {
            let steps = (0..8).map(|_| {
                let atom = *random.pick(&["a", "b", "c", "goal"]);
                signature.observation([atom]).unwrap()
            });
            super::problems::labelled(&machine, &signature, steps.collect())
        })
        .collect();
    let wrong = [17, 60, 121];
    for i in wrong {
        let kind = match traces[i].kind() {
            Kind::Goal => Kind::Incomplete,
            _ => Kind::Goal,
        };
        traces[i] = Trace::with_mode(traces[i].step_mode(), kind, traces[i].steps().to_vec());
    }
    let mut learner = Learner::new(&signature, &Options::default());
    for trace in &traces {
        learner.add(trace);
    }
    let learnt = learner
        .learn_tolerant(Tolerance::Auto, &Limits::default())
        .unwrap();
    let LearnOutcome::Minimal(found) = &learnt.outcome else {
        panic!("there is a machine")
    };
    assert_eq!(found.states, 2, "{}", found.machine);
    assert_eq!(learnt.misjudged, 3);
}

/// The bits of m exceptions among n traces: more of them never take fewer bits.
fn exceptions(n: usize, m: usize) -> f64 {
    (0..=m).map(|m| bits_of(n, m)).fold(0.0, f64::max)
}

fn bits_of(n: usize, m: usize) -> f64 {
    let choose = (0..m).map(|i| ((n - i) as f64 / (i + 1) as f64).log2());
    choose.sum::<f64>() + m as f64
}

/// No machine with as many states has a shorter description, as far as machines can be enumerated.
#[test]
fn no_description_is_shorter() {
    let mut compared = 0;
    for seed in 0..600 {
        let mut problem = problem(seed);
        flip(&mut problem, &mut Random::new(seed), 1 + seed as usize % 3);
        let limits = Limits {
            max_states: 2,
            ..Limits::default()
        };
        let chosen = learner(&problem).learn_tolerant(Tolerance::Auto, &limits);
        let chosen = chosen.unwrap();
        let LearnOutcome::Minimal(learnt) = &chosen.outcome else {
            panic!("there is a machine")
        };
        let (n, states) = (problem.traces.len(), learnt.states);
        let bits = chosen.levels[states - 1].bits.unwrap();
        let machine = bits - exceptions(n, chosen.misjudged as usize);
        let word = machine / (learnt.cost.size + states) as f64;
        for size in 0..SIZES[states - 1] {
            if let Some((mistakes, size)) = fewest_misjudged(&problem, states, size, n) {
                let other = (size + states) as f64 * word + exceptions(n, mistakes);
                assert!(other >= bits - 1e-9, "seed {seed}: {other}, not {bits}");
                compared += 1;
            }
        }
    }
    assert!(compared > 300, "{compared}");
}
