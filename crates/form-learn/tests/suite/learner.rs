//! The learner as a whole: the paper's machines from the shipped traces, whatever their order, in pieces or at once,
//! and limits that are values.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use form_core::{AtomSet, Kind, Machine, Signature, StepMode, Trace, TraceFile};
use form_learn::{
    LearnOutcome, Learner, Limits, Options, SearchProgress, SearchStatus, StopReason,
};

use super::problems::{Random, labelled};

pub fn shipped(task: &str) -> (Signature, Vec<Trace>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../examples/{task}.jsonl"));
    let open = || TraceFile::new(task, File::open(&path).unwrap()).unwrap();
    let signature = open().signature().unwrap();
    let traces = open().traces(&signature).unwrap();
    (
        signature,
        traces.into_iter().map(|(_, trace)| trace).collect(),
    )
}

fn learn(signature: &Signature, traces: &[Trace], options: &Options) -> Machine {
    let mut learner = Learner::new(signature, options);
    for trace in traces {
        learner.add(trace);
    }
    minimal(learner.learn(&Limits::default()).unwrap())
}

fn minimal(outcome: LearnOutcome) -> Machine {
    match outcome {
        LearnOutcome::Minimal(learnt) => learnt.machine,
        outcome => panic!("{outcome:?}"),
    }
}

/// The edges of a machine, one per line.
fn edges(machine: &Machine) -> String {
    let text = machine.to_string();
    let lines = text.lines().filter(|line| line.contains("->"));
    lines
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn figure_4a_from_traces_of_all_yellow() {
    let (signature, traces) = shipped("all_yellow");
    let machine = learn(&signature, &traces, &Options::default());
    assert_eq!(
        edges(&machine),
        "u0 -> u1 : forall X. yellow(X)\nu1 -> u_acc : goal"
    );
}

#[test]
fn figure_5a_from_traces_of_green_but_one() {
    let (signature, traces) = shipped("green_but_one");
    let machine = learn(&signature, &traces, &Options::default());
    // The figure, and the literals that determinism needs.
    assert_eq!(
        edges(&machine),
        "u0 -> u1 : exists X. green(X) and not green(o12) and not lava\nu0 -> u_rej : lava\n\
         u1 -> u_acc : goal and not lava\nu1 -> u_rej : lava"
    );
}

#[test]
fn figure_6_from_traces_of_blue_all_yellow_7() {
    let (signature, traces) = shipped("blue_all_yellow_7");
    let machine = learn(&signature, &traces, &Options::default());
    assert_eq!(
        edges(&machine),
        "u0 -> u1 : exists X. blue(X)\nu1 -> u2 : forall X. yellow(X)\nu2 -> u3 : purple(o7)\nu3 -> u_acc : goal"
    );
}

#[test]
fn the_order_of_the_traces_does_not_matter() {
    for task in ["all_yellow", "green_but_one"] {
        let (signature, mut traces) = shipped(task);
        let first = learn(&signature, &traces, &Options::default());
        let mut random = Random::new(5);
        for _ in 0..5 {
            for i in (1..traces.len()).rev() {
                traces.swap(i, random.below(i + 1));
            }
            assert_eq!(
                learn(&signature, &traces, &Options::default()),
                first,
                "{task}"
            );
        }
    }
}

#[test]
fn in_pieces_as_at_once() {
    for task in ["all_yellow", "green_but_one"] {
        let (signature, traces) = shipped(task);
        let at_once = learn(&signature, &traces, &Options::default());
        let mut learner = Learner::new(&signature, &Options::default());
        let mut last = None;
        // Goals come first in the files: mix them, so that machines are learnt early and refuted.
        let (front, back) = traces.split_at(traces.len() / 2);
        for (a, b) in front.iter().zip(back) {
            learner.add(a);
            learner.add(b);
            last = Some(minimal(learner.learn(&Limits::default()).unwrap()));
        }
        assert_eq!(last.unwrap(), at_once, "{task}");
        // What the machine already explains costs no question to the solver.
        let calls = |learner: &Learner| {
            learner
                .rounds()
                .iter()
                .map(|r| r.solver_calls)
                .sum::<usize>()
        };
        let before = calls(&learner);
        learner.add(&Trace::new(
            Kind::Incomplete,
            traces[0].steps()[..1].to_vec(),
        ));
        assert_eq!(minimal(learner.learn(&Limits::default()).unwrap()), at_once);
        assert_eq!(calls(&learner), before);
    }
}

#[test]
fn limits_are_values_with_what_was_proven() {
    let (signature, traces) = shipped("blue_all_yellow_7");
    let mut learner = Learner::new(&signature, &Options::default());
    for trace in &traces {
        learner.add(trace);
    }
    let stop = |learner: &mut Learner, limits: &Limits| match learner.learn(limits).unwrap() {
        LearnOutcome::Stopped {
            reason,
            at_least_states,
            ..
        } => (reason, at_least_states),
        outcome => panic!("{outcome:?}"),
    };
    let two = Limits {
        max_states: 2,
        ..Limits::default()
    };
    assert_eq!(stop(&mut learner, &two), (StopReason::States, 3));
    let at_once = Limits {
        time: Some(Duration::ZERO),
        ..Limits::default()
    };
    assert_eq!(stop(&mut learner, &at_once), (StopReason::Time, 3));
    let interrupted = Limits {
        interrupt: Some(Arc::new(AtomicBool::new(true))),
        ..Limits::default()
    };
    assert_eq!(
        stop(&mut learner, &interrupted),
        (StopReason::Interrupted, 3)
    );
    if cfg!(target_os = "linux") {
        let tiny = Limits {
            memory: Some(1),
            ..Limits::default()
        };
        assert_eq!(stop(&mut learner, &tiny), (StopReason::Memory, 3));
    }
    // What was proven is kept, and the search goes on from there.
    let machine = minimal(learner.learn(&Limits::default()).unwrap());
    assert_eq!(machine, learn(&signature, &traces, &Options::default()));
}

/// Traces of a machine with a fork and a dead end, which takes some work to find.
fn forked() -> (Signature, Vec<Trace>) {
    let signature = Signature::parse(["p(a)", "p(b)", "q(a)", "q(b)", "r", "s", "t", "u"]).unwrap();
    let machine = "initial u0\naccept u_acc\nreject u_rej\nu0 -> u1 : exists X. p(X)\n\
                   u1 -> u2 : forall X. q(X)\nu1 -> u3 : t and not forall X. q(X)\n\
                   u2 -> u4 : r\nu3 -> u4 : q(a)\nu4 -> u_acc : s and not u\nu4 -> u_rej : u";
    let machine: Machine = machine.parse().unwrap();
    let ids: Vec<_> = signature.ids().collect();
    let mut random = Random::new(3);
    let traces = (0..100).map(|_| {
        let length = 1 + random.below(40);
        let steps = (0..length).map(|_| AtomSet::from_iter([*random.pick(&ids)]));
        labelled(&machine, &signature, steps.collect())
    });
    let traces = traces.collect();
    (signature, traces)
}

/// A limit on the work stops at the same place every time, for any number of threads, and the search goes on from there.
#[test]
fn a_limit_on_work_stops_at_the_same_place() {
    let (signature, traces) = forked();
    for options in [
        Options::default(),
        Options {
            cyclic: true,
            ..Options::default()
        },
        Options {
            first_order: false,
            max_disjuncts: 2,
            ..Options::default()
        },
    ] {
        let stopped_in = |threads: usize, work: u64| {
            let mut learner = Learner::new(&signature, &options);
            traces.iter().for_each(|trace| {
                learner.add(trace);
            });
            let limits = Limits {
                work: Some(work),
                ..Limits::default()
            };
            let mut outcomes = Vec::new();
            // Twice: the second call goes on where the first stopped.
            for _ in 0..2 {
                let outcome = match threads {
                    0 => learner.learn(&limits).unwrap(),
                    _ => rayon::ThreadPoolBuilder::new()
                        .num_threads(threads)
                        .build()
                        .unwrap()
                        .install(|| learner.learn(&limits).unwrap()),
                };
                let rounds: Vec<_> = (learner.rounds().iter())
                    .map(|round| (round.states, round.counterexamples, round.solver_calls))
                    .collect();
                outcomes.push((outcome, rounds));
                if threads > 0 {
                    break;
                }
            }
            outcomes
        };
        for work in [1, 10, 100, 1000] {
            let expected = stopped_in(0, work);
            let LearnOutcome::Stopped { reason, .. } = &expected[0].0 else {
                assert!(work > 10, "{work}");
                continue;
            };
            assert_eq!(*reason, StopReason::Work);
            assert_eq!(stopped_in(0, work), expected);
            for threads in [1, 3] {
                assert_eq!(stopped_in(threads, work)[0], expected[0]);
            }
        }
    }
}

/// Traces of 10,000 observations over 40 atoms, for which no small machine exists: every limit ends the search.
#[test]
fn limits_hold_for_long_traces() {
    let atoms: Vec<String> = (0..40).map(|i| format!("p{}(o{i})", i % 4)).collect();
    let signature = Signature::parse(atoms.iter().map(String::as_str)).unwrap();
    let ids: Vec<_> = signature.ids().collect();
    let mut random = Random::new(7);
    let mut long = |kind| {
        let step = |_| AtomSet::from_iter([*random.pick(&ids)]);
        Trace::new(kind, (0..10_000).map(step))
    };
    let mut learner = Learner::new(&signature, &Options::default());
    for _ in 0..4 {
        for kind in [Kind::Goal, Kind::DeadEnd, Kind::Incomplete] {
            learner.add(&long(kind));
        }
    }
    let limits = Limits {
        max_states: 1000,
        ..Limits::default()
    };
    for (limits, expected) in [
        (
            Limits {
                time: Some(Duration::from_millis(20)),
                ..limits.clone()
            },
            StopReason::Time,
        ),
        (
            Limits {
                memory: Some(1),
                ..limits.clone()
            },
            StopReason::Memory,
        ),
        (
            Limits {
                interrupt: Some(Arc::new(AtomicBool::new(true))),
                ..limits
            },
            StopReason::Interrupted,
        ),
    ] {
        if expected == StopReason::Memory && !cfg!(target_os = "linux") {
            continue;
        }
        let LearnOutcome::Stopped { reason, .. } = learner.learn(&limits).unwrap() else {
            panic!("no small machine is consistent")
        };
        assert_eq!(reason, expected);
    }
}

#[test]
fn a_search_shows_how_far_it_is() {
    let (signature, traces) = shipped("blue_all_yellow_7");
    let mut learner = Learner::new(&signature, &Options::default());
    for trace in &traces {
        learner.add(trace);
    }
    let progress = Arc::new(SearchProgress::default());
    let limits = Limits {
        progress: Some(progress.clone()),
        ..Limits::default()
    };
    assert_eq!(progress.status(), SearchStatus::default());
    let LearnOutcome::Minimal(learnt) = learner.learn(&limits).unwrap() else {
        panic!("there is a machine")
    };
    let status = progress.status();
    assert_eq!(status.states, learnt.states);
    assert_eq!(status.refuted.map(|(states, _)| states), Some(3));
    assert_eq!(status.best.map(|best| best.machine), Some(learnt.machine));
}

#[test]
fn contradictions_are_named() {
    let signature = Signature::parse(["a", "b"]).unwrap();
    let trace = |kind, steps: &[&str]| {
        Trace::new(
            kind,
            steps
                .iter()
                .map(|atom| signature.observation([*atom]).unwrap()),
        )
    };
    let mut learner = Learner::new(&signature, &Options::default());
    assert_eq!(learner.add(&trace(Kind::Goal, &["a"])), Some(0));
    assert_eq!(learner.add(&trace(Kind::Goal, &["a"])), None);
    assert_eq!(learner.add(&trace(Kind::Incomplete, &["b"])), Some(1));
    assert_eq!(learner.add(&trace(Kind::Incomplete, &["a", "b"])), Some(2));
    assert_eq!(learner.add(&trace(Kind::DeadEnd, &["b"])), Some(3));
    let outcome = learner.learn(&Limits::default()).unwrap();
    assert_eq!(outcome, LearnOutcome::Contradictory(vec![(0, 2), (1, 3)]));
    let mut learner = Learner::new(&signature, &Options::default());
    learner.add(&trace(Kind::Goal, &[]));
    let outcome = learner.learn(&Limits::default()).unwrap();
    assert_eq!(outcome, LearnOutcome::Contradictory(vec![(0, 0)]));
}

#[test]
fn without_goals_there_is_little_to_learn() {
    let signature = Signature::parse(["a", "b"]).unwrap();
    let mut learner = Learner::new(&signature, &Options::default());
    assert_eq!(
        minimal(learner.learn(&Limits::default()).unwrap())
            .edges()
            .len(),
        0
    );
    learner.add(&Trace::new(
        Kind::Incomplete,
        [signature.observation(["a"]).unwrap()],
    ));
    assert_eq!(
        minimal(learner.learn(&Limits::default()).unwrap())
            .edges()
            .len(),
        0
    );
    learner.add(&Trace::new(
        Kind::DeadEnd,
        [signature.observation(["b"]).unwrap()],
    ));
    assert_eq!(
        edges(&minimal(learner.learn(&Limits::default()).unwrap())),
        "u0 -> u_rej : b"
    );
}

/// "Press twice" and "not before a step has passed": what only every step can say.
#[test]
fn every_step_is_learnt_from() {
    let signature = Signature::parse(["press", "other"]).unwrap();
    let trace = |kind, steps: &[&[&str]]| {
        let steps = steps.iter().map(|o| signature.observation(*o).unwrap());
        Trace::with_mode(StepMode::All, kind, steps.collect::<Vec<_>>())
    };
    let mut learner = Learner::new(&signature, &Options::default());
    learner.add(&trace(Kind::Goal, &[&["press"], &["press"]]));
    learner.add(&trace(Kind::Goal, &[&["press"], &[], &["press"]]));
    learner.add(&trace(Kind::Incomplete, &[&["press"], &[], &["other"]]));
    let LearnOutcome::Minimal(learnt) = learner.learn(&Limits::default()).unwrap() else {
        panic!("two presses are a machine")
    };
    assert_eq!(learnt.machine.step_mode(), StepMode::All);
    assert_eq!((learnt.states, learnt.cost.size), (2, 4));
    learner.add(&Trace::new(Kind::Incomplete, []));
    let message = learner.learn(&Limits::default()).unwrap_err().to_string();
    assert!(message.contains("has `steps changes`"), "{message}");
}

/// Traces of a machine, a hundred of each kind that it has, of random walks over single atoms.
fn walks(machine: &str, signature: &Signature) -> Vec<Trace> {
    let machine: Machine = machine.parse().unwrap();
    let ids: Vec<_> = signature.ids().collect();
    let mut random = Random::new(7);
    let mut traces = Vec::new();
    for kind in [Kind::Goal, Kind::Incomplete] {
        let mut left = 100;
        while left > 0 {
            let length = 2 + random.below(12);
            let steps = (0..length).map(|_| AtomSet::from_iter([*random.pick(&ids)]));
            let trace = labelled(&machine, signature, steps.collect());
            if trace.kind() == kind {
                traces.push(trace);
                left -= 1;
            }
        }
    }
    traces
}

/// Tasks that need atoms over the window: two states each.
#[test]
fn tasks_of_windows_counts_and_joins() {
    let colours = [
        "yellow(a)",
        "yellow(b)",
        "yellow(c)",
        "yellow(d)",
        "blue(e)",
        "blue(f)",
        "goal",
    ];
    let keys = [
        "key(red)",
        "key(blue)",
        "key(green)",
        "door(red)",
        "door(blue)",
        "door(green)",
        "goal",
    ];
    let all = Options {
        once: true,
        counts: 3,
        joins: true,
        ..Options::default()
    };
    for (atoms, formula, options) in [
        (
            colours,
            "atleast 2 X. yellow(X)",
            Options {
                counts: 2,
                ..Options::default()
            },
        ),
        (
            colours,
            "exists X. once blue(X) and exists X. once yellow(X)",
            Options {
                once: true,
                ..Options::default()
            },
        ),
        (
            keys,
            "exists X. (once key(X) and door(X))",
            Options {
                joins: true,
                ..Options::default()
            },
        ),
    ] {
        let signature = Signature::parse(atoms).unwrap();
        let text = format!("initial u0\naccept u_acc\nu0 -> u1 : {formula}\nu1 -> u_acc : goal");
        let traces = walks(&text, &signature);
        for options in [options, all.clone()] {
            let machine = learn(&signature, &traces, &options);
            let expected = format!("u0 -> u1 : {formula}\nu1 -> u_acc : goal");
            assert_eq!(edges(&machine), expected, "{options:?}");
        }
    }
}

/// A limit on the work ends a call in the same place whenever it is made, and is none if it is large.
#[test]
fn the_work_limit_does_not_depend_on_the_clock() {
    let signature = Signature::parse(["a", "b", "c", "goal"]).unwrap();
    let learner = || {
        let mut learner = Learner::new(&signature, &Options::default());
        for (kind, steps) in [
            (Kind::Goal, &["a", "b", "goal"][..]),
            (Kind::Incomplete, &["b", "a", "goal"]),
            (Kind::Incomplete, &["a", "goal", "c"]),
            (Kind::DeadEnd, &["c", "b"]),
            (Kind::DeadEnd, &["a", "b", "c"]),
        ] {
            let steps = steps
                .iter()
                .map(|atom| signature.observation([atom]).unwrap());
            learner.add(&Trace::new(kind, steps.collect::<Vec<_>>()));
        }
        learner
    };
    let call = |work: Option<u64>| {
        let mut learner = learner();
        let limits = Limits {
            work,
            ..Limits::default()
        };
        let outcome = learner.learn(&limits).unwrap();
        (outcome, learner.work())
    };
    let (LearnOutcome::Minimal(machine), work) = call(Some(u64::MAX)) else {
        panic!("there is a machine")
    };
    assert!(work > 0);
    assert_eq!(call(Some(work)).0, LearnOutcome::Minimal(machine.clone()));
    let LearnOutcome::Minimal(unlimited) = call(None).0 else {
        panic!("there is a machine")
    };
    assert_eq!(unlimited, machine);
    for work in 0..work.min(40) {
        let (stopped, used) = call(Some(work));
        assert!(
            matches!(
                stopped,
                LearnOutcome::Stopped {
                    reason: StopReason::Work,
                    ..
                }
            ),
            "{work}: {stopped:?}"
        );
        assert_eq!((stopped, used), call(Some(work)));
    }
}
