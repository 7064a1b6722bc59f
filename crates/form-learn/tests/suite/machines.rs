//! Larger learning problems, the same for the same seed: a random machine of three or four states is drawn, and random
//! traces are labelled by it. The machine obeys all the rules of the problem, so there is always an answer.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::Duration;

use form_core::{AtomSet, Kind, Machine, Signature, Trace};
use form_learn::{LearnOutcome, Learner, Limits, Options};

use crate::problems::{Problem, Random, labelled};

/// What can be observed: propositions, unary predicates, and binary ones; the smaller ones first.
const SIGNATURES: [&[&str]; 7] = [
    &["p(a)", "p(b)", "r", "s", "t"],
    &["p(a)", "p(b)", "q(a)", "q(b)", "r"],
    &["p(a)", "p(b)", "on(a, b)", "on(a, c)", "r"],
    &["p(a)", "p(b)", "p(c)", "r", "s"],
    &["p(a)", "p(b)", "p(c)", "q(a)", "r", "s"],
    &["p(a)", "p(b)", "q(a)", "q(b)", "r", "s", "t"],
    &[
        "p(a)", "p(b)", "q(a)", "on(a, b)", "on(b, a)", "on(b, c)", "r", "s",
    ],
];

/// What machines may say about each predicate besides its ground atoms.
const QUANTIFIED: [(&str, &[&str]); 3] = [
    ("p(", &["exists X. p(X)", "forall X. p(X)"]),
    ("q(b)", &["exists X. q(X)", "forall X. q(X)"]),
    ("on(", &["exists X, Y. on(X, Y)", "forall X, Y. on(X, Y)"]),
];

/// How many problems there are to go through.
pub const PROBLEMS: u64 = 320;

/// The larger problem with this number, and the machine that labelled its traces.
pub fn larger_problem(seed: u64) -> (Problem, Machine) {
    let mut random = Random::new(seed + 1_000_000);
    let options = Options {
        first_order: !seed.is_multiple_of(4),
        max_disjuncts: if seed.is_multiple_of(3) { 2 } else { 1 },
        cyclic: seed % 5 == 1,
        forall_alone: seed % 7 > 1,
        ..Options::default()
    };
    // Disjuncts and cycles make for many more machines: with them the rest is kept smaller, so that clingo gets through.
    let many = options.max_disjuncts > 1 || options.cyclic;
    let atoms = *random.pick(&SIGNATURES[..if many { 4 } else { 7 }]);
    let signature = Signature::parse(atoms).unwrap();
    loop {
        let states = if many { 3 } else { 3 + random.below(2) };
        let rejecting = random.below(2) == 0;
        let machine = machine(&mut random, atoms, &options, states, rejecting);
        let count = if many { 15 } else { 25 } + random.below(15);
        // Half of them show one thing at a time, as the paper's room does.
        let several = seed % 2 == 1;
        let traces = traces(&mut random, &signature, &machine, count, several);
        let has = |kind| traces.iter().any(|trace| trace.kind() == kind);
        if has(Kind::Goal) && has(Kind::DeadEnd) == rejecting {
            let problem = Problem {
                signature,
                traces,
                options,
                max_states: states,
            };
            return (problem, machine);
        }
    }
}

/// The answer of the built-in solver.
pub fn learn(problem: &Problem, limits: &Limits) -> LearnOutcome {
    let mut learner = Learner::new(&problem.signature, &problem.options);
    for trace in &problem.traces {
        learner.add(trace);
    }
    learner.learn(limits).unwrap()
}

/// An edge: its target and its literals.
#[derive(Clone)]
struct Edge {
    to: String,
    positive: BTreeSet<String>,
    negative: BTreeSet<String>,
}

impl Edge {
    /// Whether nothing may stand beside its positive literal.
    fn alone(&self, options: &Options) -> bool {
        options.forall_alone && self.positive.iter().any(|atom| atom.starts_with("forall"))
    }

    /// Whether it is one that the problem allows.
    fn allowed(&self, options: &Options) -> bool {
        self.positive.is_disjoint(&self.negative)
            && (!self.alone(options) || self.positive.len() == 1 && self.negative.is_empty())
    }
}

/// A machine: a chain through all states to the accepting one, and some edges besides.
fn machine(
    random: &mut Random,
    atoms: &[&str],
    options: &Options,
    states: usize,
    rejecting: bool,
) -> Machine {
    let reject = if rejecting { "reject u_rej\n" } else { "" };
    let mut text = format!("initial u0\naccept u_acc\n{reject}");
    for state in 0..states {
        let name = |state: usize| match state == states {
            true => "u_acc".to_owned(),
            false => format!("u{state}"),
        };
        let mut targets = vec![name(state + 1)];
        if random.below(3) == 0 && state + 1 < states {
            targets.push(name(state + 2));
        }
        if options.cyclic && random.below(2) == 0 && state > 0 {
            targets.push(name(random.below(state)));
        }
        // The last state makes sure that there is a way to fail.
        if rejecting && (random.below(2) == 0 || state + 1 == states) {
            targets.push("u_rej".to_owned());
        }
        let edges = loop {
            let mut edges: Vec<Edge> = Vec::new();
            for to in &targets {
                for _ in 0..1 + random.below(options.max_disjuncts) {
                    edges.push(edge(random, atoms, options, to));
                }
            }
            keep_apart(random, &mut edges, options);
            if edges.iter().all(|edge| edge.allowed(options)) {
                break edges;
            }
        };
        for edge in edges {
            let negative = edge.negative.iter().map(|atom| format!("not {atom}"));
            let literals: Vec<String> = edge.positive.iter().cloned().chain(negative).collect();
            let _ = writeln!(text, "u{state} -> {} : {}", edge.to, literals.join(" and "));
        }
    }
    text.parse().unwrap()
}

/// An edge with a positive literal, and sometimes one more.
fn edge(random: &mut Random, atoms: &[&str], options: &Options, to: &str) -> Edge {
    let mut candidates: Vec<&str> = atoms.to_vec();
    for (ground, quantified) in QUANTIFIED {
        if options.first_order && atoms.iter().any(|atom| atom.starts_with(ground)) {
            // As often as the ground atoms.
            candidates.extend(quantified.iter().chain(quantified.iter()));
        }
    }
    let mut edge = Edge {
        to: to.to_owned(),
        positive: [(*random.pick(&candidates)).to_owned()].into(),
        negative: BTreeSet::new(),
    };
    if random.below(4) == 0 && !edge.alone(options) {
        let more = (*random.pick(&candidates)).to_owned();
        // With the bias, a `forall` is denied only where another edge has it.
        let awaited = options.forall_alone && more.starts_with("forall");
        if awaited {
            return edge;
        }
        if random.below(2) == 0 {
            edge.negative.insert(more);
        } else {
            edge.positive.insert(more);
        }
    }
    edge
}

/// Makes edges with different targets exclude each other: one denies what the other needs.
fn keep_apart(random: &mut Random, edges: &mut [Edge], options: &Options) {
    for i in 0..edges.len() {
        for j in i + 1..edges.len() {
            let (a, b) = (&edges[i], &edges[j]);
            let apart =
                !a.positive.is_disjoint(&b.negative) || !b.positive.is_disjoint(&a.negative);
            if a.to == b.to || apart {
                continue;
            }
            let (denying, needing) = match (a.alone(options), b.alone(options)) {
                (true, _) => (j, i),
                (_, true) => (i, j),
                _ if random.below(2) == 0 => (i, j),
                _ => (j, i),
            };
            let needed: Vec<String> = edges[needing].positive.iter().cloned().collect();
            let denied = random.pick(&needed).clone();
            edges[denying].negative.insert(denied);
        }
    }
}

/// Random observations, labelled by the machine.
fn traces(
    random: &mut Random,
    signature: &Signature,
    machine: &Machine,
    count: usize,
    several: bool,
) -> Vec<Trace> {
    let ids: Vec<_> = signature.ids().collect();
    let mut traces = Vec::new();
    while traces.len() < count {
        let length = 2 + random.below(9);
        let steps = (0..length).map(|_| {
            let atoms = 1 + usize::from(several) * (random.below(3) / 2 + random.below(6) / 5);
            (0..atoms).map(|_| *random.pick(&ids)).collect::<AtomSet>()
        });
        // Compressed before it is labelled: a repeated observation is no step for the machine.
        let steps = Trace::new(Kind::Incomplete, steps).steps().to_vec();
        traces.push(labelled(machine, signature, steps));
    }
    traces
}

#[test]
fn they_are_of_all_sorts() {
    let problems: Vec<Problem> = (0..PROBLEMS).map(|seed| larger_problem(seed).0).collect();
    let of = |sort: fn(&Problem) -> bool| problems.iter().filter(|p| sort(p)).count();
    let counts = [
        of(|p| p.traces.iter().any(|trace| trace.kind() == Kind::DeadEnd)),
        of(|p| !p.options.first_order),
        of(|p| p.options.max_disjuncts > 1),
        of(|p| p.options.cyclic),
        of(|p| !p.options.forall_alone),
        of(|p| p.max_states == 4),
        of(|p| p.signature.id_of_text("on(a, b)").is_some()),
    ];
    assert!(counts.iter().all(|count| *count >= 50), "{counts:?}");
    let observations: Vec<&AtomSet> = (problems.iter().flat_map(|p| &p.traces))
        .flat_map(Trace::steps)
        .collect();
    let several = observations.iter().filter(|o| o.len() > 1).count();
    assert!(
        several * 8 > observations.len(),
        "{several} of {}",
        observations.len()
    );
}

#[test]
fn the_answer_is_no_larger_than_the_machine_that_labelled_the_traces() {
    let mut as_many = 0;
    for seed in 0..PROBLEMS {
        let (problem, machine) = larger_problem(seed);
        let bound = machine.bind(&problem.signature).unwrap();
        assert!(
            problem
                .traces
                .iter()
                .all(|t| t.disagreement(&bound).is_none())
        );
        let LearnOutcome::Minimal(learnt) = learn(&problem, &Limits::default()) else {
            panic!("problem {seed} has an answer\n{}", problem.describe())
        };
        let literals = machine.edges().iter().map(|e| e.formula.literals().len());
        let size = machine.edges().len() + literals.sum::<usize>();
        let smaller = learnt.states < problem.max_states;
        as_many += usize::from(!smaller);
        assert!(
            learnt.states <= problem.max_states,
            "problem {seed}: {}",
            learnt.machine
        );
        assert!(
            smaller || learnt.cost.size <= size,
            "problem {seed}: {}",
            learnt.machine
        );
    }
    assert!(
        as_many >= 120,
        "{as_many} of {PROBLEMS} need all the states"
    );
}

#[test]
fn the_number_of_threads_does_not_matter() {
    for seed in 0..40 {
        let (problem, _) = larger_problem(seed);
        // Outside of a pool the search has threads of its own.
        let own = learn(&problem, &Limits::default());
        for threads in [1, 2, 3] {
            let limits = Limits::default();
            assert_eq!(
                with_threads(threads, || learn(&problem, &limits)),
                own,
                "problem {seed}"
            );
        }
    }
}

/// The same machine, bound and reason to stop.
#[test]
fn the_number_of_threads_does_not_matter_where_the_work_is_limited() {
    let mut stopped = 0;
    for seed in 0..20 {
        let (problem, _) = larger_problem(seed);
        for most in [5, 50, 500, 5000] {
            let limits = Limits {
                work: Some(most),
                ..Limits::default()
            };
            let own = learn(&problem, &limits);
            stopped += usize::from(matches!(own, LearnOutcome::Stopped { .. }));
            for threads in [1, 3] {
                let other = with_threads(threads, || learn(&problem, &limits));
                assert_eq!(other, own, "problem {seed}");
            }
        }
    }
    assert!(stopped > 20, "only {stopped} searches were stopped");
}

/// What is computed in a pool of this number of threads.
pub fn with_threads<T: Send>(threads: usize, learn: impl Fn() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    pool.build().unwrap().install(learn)
}

/// Traces in another order, one after the other, with searches in between that are stopped: in the end the same machine.
#[test]
fn stopped_and_resumed_as_at_once() {
    let mut first_dead_end_late = 0;
    for seed in 0..60 {
        let (problem, _) = larger_problem(seed);
        let LearnOutcome::Minimal(at_once) = learn(&problem, &Limits::default()) else {
            panic!("problem {seed} has an answer")
        };
        let mut random = Random::new(seed);
        let mut traces = problem.traces.clone();
        for i in (1..traces.len()).rev() {
            traces.swap(i, random.below(i + 1));
        }
        let dead_end = traces.iter().position(|t| t.kind() == Kind::DeadEnd);
        first_dead_end_late += usize::from(dead_end.is_some_and(|i| i > 0));
        let mut learner = Learner::new(&problem.signature, &problem.options);
        for trace in &traces {
            learner.add(trace);
            let limits = match random.below(4) {
                0 => Limits::default(),
                1 => Limits {
                    max_states: 1 + random.below(2),
                    ..Limits::default()
                },
                2 => Limits {
                    time: Some(Duration::from_micros(random.below(2000) as u64)),
                    ..Limits::default()
                },
                _ => continue,
            };
            match learner.learn(&limits).unwrap() {
                LearnOutcome::Minimal(learnt) => assert!(learnt.states <= limits.max_states),
                LearnOutcome::Stopped {
                    at_least_states, ..
                } => assert!(at_least_states <= at_once.states),
                LearnOutcome::Contradictory(pairs) => panic!("problem {seed}: {pairs:?}"),
            }
        }
        let last = learner.learn(&Limits::default()).unwrap();
        assert_eq!(last, LearnOutcome::Minimal(at_once), "problem {seed}");
    }
    assert!(first_dead_end_late >= 5, "{first_dead_end_late}");
}

/// Whenever a search is stopped, its lower bound is right, and the machine that it has found from above is consistent.
#[test]
fn a_stopped_search_knows_a_bound_and_often_a_machine() {
    let (mut with_machine, mut above) = (0, 0);
    for seed in 0..120 {
        let (problem, _) = larger_problem(seed);
        let LearnOutcome::Minimal(minimal) = learn(&problem, &Limits::default()) else {
            panic!("problem {seed} has an answer")
        };
        // Chains are found even without any time.
        for micros in [0, 200, 1000, 5000] {
            let limits = Limits {
                time: Some(Duration::from_micros(micros)),
                ..Limits::default()
            };
            let LearnOutcome::Stopped {
                at_least_states,
                at_least_cost,
                best,
                ..
            } = learn(&problem, &limits)
            else {
                continue;
            };
            assert!(at_least_states <= minimal.states, "problem {seed}");
            let as_many = at_least_states == minimal.states;
            assert!(
                !as_many || at_least_cost <= minimal.cost.size,
                "problem {seed}"
            );
            let Some(best) = best else { continue };
            assert!((best.states, best.cost) >= (minimal.states, minimal.cost));
            let bound = best.machine.bind(&problem.signature).unwrap();
            let consistent = |trace: &Trace| trace.disagreement(&bound).is_none();
            assert!(problem.traces.iter().all(consistent), "problem {seed}");
            // What is found before a later time limit depends on the clock.
            with_machine += usize::from(micros == 0);
            above += usize::from(micros == 0 && best.states > at_least_states);
        }
    }
    assert!(
        with_machine >= 20 && above >= 10,
        "{with_machine} searches without time had a machine, {above} of them from above"
    );
}
