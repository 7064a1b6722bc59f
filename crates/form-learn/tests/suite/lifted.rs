//! Traces with objects of their own: the learnt machine judges each trace rightly over the objects of that trace.

use form_core::{Kind, Machine, Signature, Trace};
use form_learn::{
    LearnOutcome, Learner, Lifting, Limits, Options, OwnObjects, shared_constants, unlift,
};

use super::problems::{Random, labelled};

/// The learnt machine over the original predicates.
fn learn(signature: &Signature, traces: &[Trace]) -> (Machine, usize) {
    let mut lifting = Lifting::new(signature);
    for trace in traces {
        lifting.add(trace);
    }
    let lifted = lifting.finish().unwrap();
    let mut learner = Learner::lifted(&lifted.signature, &Options::default());
    for trace in &lifted.traces {
        learner.add(trace);
    }
    let LearnOutcome::Minimal(learnt) = learner.learn(&Limits::default()).unwrap() else {
        panic!("there is a machine")
    };
    (unlift(&learnt.machine).unwrap(), learner.traces())
}

/// Deliveries of one to three orders with names of their own, labelled by a machine over the objects of each.
fn deliveries(target: &Machine, number: usize, seed: u64) -> (Signature, Vec<(Signature, Trace)>) {
    let mut random = Random::new(seed);
    let stages = ["created", "paid", "shipped", "lost"];
    let mut own = Vec::new();
    for delivery in 0..number {
        let orders = 1 + random.below(3);
        let atoms = |stage: &str| -> Vec<String> {
            (0..orders)
                .map(|o| format!("{stage}(d{delivery}o{o})"))
                .collect()
        };
        let all: Vec<String> = stages
            .iter()
            .flat_map(|stage| atoms(stage))
            .chain(["end".to_owned()])
            .collect();
        let signature = Signature::parse(&all).unwrap();
        // Every order is created, so that the trace tells which there are.
        let mut steps: Vec<String> = atoms("created");
        for _ in 0..random.below(10) {
            steps.push(random.pick(&all).clone());
        }
        let steps = steps
            .iter()
            .map(|atom| signature.observation([atom]).unwrap());
        let steps = Trace::new(Kind::Incomplete, steps).steps().to_vec();
        own.push((signature.clone(), labelled(target, &signature, steps)));
    }
    let atoms: std::collections::BTreeSet<String> = (own.iter())
        .flat_map(|(signature, _)| signature.atoms().iter().map(ToString::to_string))
        .collect();
    (Signature::parse(&atoms).unwrap(), own)
}

const TARGETS: [&str; 4] = [
    "u0 -> u_acc : forall X. shipped(X)",
    "u0 -> u1 : forall X. paid(X)\nu1 -> u_acc : forall X. shipped(X)",
    "u0 -> u1 : exists X. paid(X)\nu1 -> u_acc : end",
    "u0 -> u_acc : forall X. shipped(X)\nu0 -> u_rej : exists X. lost(X) and not forall X. shipped(X)",
];

#[test]
fn forall_ranges_over_the_objects_of_each_trace() {
    for (i, target) in TARGETS.into_iter().enumerate() {
        let reject = if target.contains("u_rej") {
            "reject u_rej\n"
        } else {
            ""
        };
        let target: Machine = format!("initial u0\naccept u_acc\n{reject}{target}")
            .parse()
            .unwrap();
        let (signature, own) = deliveries(&target, 400, i as u64);
        let over_all = |(own, trace): &(Signature, Trace)| {
            let step = |step| signature.observation(own.texts(step)).unwrap();
            Trace::new(
                trace.kind(),
                trace.steps().iter().map(step).collect::<Vec<_>>(),
            )
        };
        let traces: Vec<Trace> = own.iter().map(over_all).collect();
        let (machine, distinct) = learn(&signature, &traces);
        assert!(distinct < traces.len(), "names do not matter");
        // The evaluator, over the signature of each trace.
        for (own, trace) in &own {
            let bound = machine.bind(own).unwrap();
            assert_eq!(trace.disagreement(&bound), None, "{machine}");
        }
        // And over one signature, where each trace is judged by the objects in it.
        let objects = OwnObjects::new(&signature);
        let bound = machine.bind(objects.signature()).unwrap();
        for (own, trace) in &own {
            let step = |step| objects.signature().observation(own.texts(step)).unwrap();
            let steps: Vec<_> = trace.steps().iter().map(step).collect();
            let own = objects.of(&steps);
            let trace = Trace::new(trace.kind(), steps).with_signature(own);
            assert_eq!(trace.disagreement(&bound), None, "{machine}");
        }
        // As small as the machine that made them.
        let edges = |machine: &Machine| -> Vec<String> {
            machine
                .edges()
                .iter()
                .map(|edge| edge.formula.to_string())
                .collect()
        };
        assert_eq!(edges(&machine).len(), edges(&target).len(), "{machine}");
    }
}

/// Names stay as they are, also those that contain the prefix that lifting uses itself; names that begin with it are refused.
#[test]
fn names_survive_lifting() {
    let signature = Signature::parse(["recall__done(o1)", "end"]).unwrap();
    let step = |atom: &str| signature.observation([atom]).unwrap();
    let traces = [
        Trace::new(Kind::Goal, [step("recall__done(o1)")]),
        Trace::new(Kind::Incomplete, [step("end")]),
    ];
    let (machine, _) = learn(&signature, &traces);
    assert!(machine.to_string().contains("recall__done(X)"), "{machine}");
    let reserved = Signature::parse(["all__done(o1)"]).unwrap();
    let error = Lifting::new(&reserved).finish().err().unwrap().to_string();
    assert!(error.contains("`all__done(o1)`"), "{error}");
}

/// The learnt machine of traces with signatures of their own, over the original predicates.
fn learn_own(signature: &Signature, traces: &[(&[&str], Trace)], share: bool) -> Machine {
    let own: Vec<_> = (traces.iter())
        .map(|(atoms, _)| signature.observation(*atoms).unwrap())
        .collect();
    let shared = match share {
        true => shared_constants(signature, &own),
        false => Default::default(),
    };
    let mut lifting = Lifting::with_shared(signature, shared);
    for ((_, trace), own) in traces.iter().zip(&own) {
        lifting.add(&trace.clone().with_signature(own.clone()));
    }
    let lifted = lifting.finish().unwrap();
    let mut learner = Learner::lifted(&lifted.signature, &Options::default());
    for trace in &lifted.traces {
        learner.add(trace);
    }
    let LearnOutcome::Minimal(learnt) = learner.learn(&Limits::default()).unwrap() else {
        panic!("there is a machine")
    };
    unlift(&learnt.machine).unwrap()
}

/// `forall` ranges over the atoms that a trace brings, also over those that are never observed in it.
#[test]
fn a_trace_brings_its_own_signature() {
    let signature = Signature::parse(["shipped(a)", "shipped(b)", "shipped(c)", "end"]).unwrap();
    let trace = |kind, steps: &[&str]| {
        let steps = steps
            .iter()
            .map(|atom| signature.observation([atom]).unwrap());
        Trace::new(kind, steps.collect::<Vec<_>>())
    };
    let traces: Vec<(&[&str], Trace)> = vec![
        (&["shipped(a)", "end"], trace(Kind::Goal, &["shipped(a)"])),
        (
            &["shipped(a)", "shipped(b)", "end"],
            trace(Kind::Incomplete, &["shipped(a)", "end", "shipped(a)"]),
        ),
        (
            &["shipped(b)", "shipped(c)", "end"],
            trace(Kind::Goal, &["shipped(c)", "end", "shipped(b)"]),
        ),
        // Nothing to ship: over an empty range `forall` does not hold.
        (&["end"], trace(Kind::Incomplete, &["end"])),
    ];
    let machine = learn_own(&signature, &traces, true);
    assert_eq!(machine.edges().len(), 1, "{machine}");
    let formula = machine.edges()[0].formula.to_string();
    assert_eq!(formula, "forall X. shipped(X)");
}

/// Constants that all traces share may be named, others may not.
#[test]
fn shared_constants_keep_their_names() {
    let signature = Signature::parse(["at(gate)", "at(p)", "at(q)"]).unwrap();
    let trace = |kind, atom: &str| Trace::new(kind, [signature.observation([atom]).unwrap()]);
    let traces: Vec<(&[&str], Trace)> = vec![
        (&["at(gate)", "at(p)"], trace(Kind::Goal, "at(gate)")),
        (&["at(gate)", "at(p)"], trace(Kind::Incomplete, "at(p)")),
        (&["at(gate)", "at(q)"], trace(Kind::Goal, "at(gate)")),
        (&["at(gate)", "at(q)"], trace(Kind::Incomplete, "at(q)")),
    ];
    let machine = learn_own(&signature, &traces, true);
    assert_eq!(machine.edges()[0].formula.to_string(), "at(gate)");
}

/// Without own signatures, too: a trace without objects of the sort is no trace in which all of them are shipped.
#[test]
fn no_object_is_not_every_object() {
    let signature = Signature::parse(["created(a)", "shipped(a)", "end"]).unwrap();
    let trace = |kind, steps: &[&str]| {
        let steps = steps
            .iter()
            .map(|atom| signature.observation([atom]).unwrap());
        Trace::new(kind, steps.collect::<Vec<_>>())
    };
    let traces = [
        trace(Kind::Goal, &["created(a)", "shipped(a)"]),
        trace(Kind::Incomplete, &["end"]),
        trace(Kind::Incomplete, &["created(a)", "end"]),
    ];
    let mut lifting = Lifting::new(&signature);
    traces.iter().for_each(|trace| lifting.add(trace));
    let lifted = lifting.finish().unwrap();
    let all: Machine = "initial u0\naccept u1\nu0 -> u1 : forall X. all__shipped(X)"
        .parse()
        .unwrap();
    let bound = all.bind(&lifted.signature).unwrap();
    for trace in &lifted.traces {
        assert_eq!(trace.disagreement(&bound), None);
    }
}

/// Very many objects in one trace are no more than very many atoms to read.
#[test]
fn one_trace_may_have_very_many_objects() {
    let number = 9000;
    let atoms: Vec<String> = (0..number).map(|i| format!("done(o{i})")).collect();
    let signature = Signature::parse(&atoms).unwrap();
    let steps = |atoms: &[String]| -> Vec<_> {
        let steps = atoms.iter().map(|atom| signature.observation([atom]));
        steps.map(Result::unwrap).collect()
    };
    let (machine, _) = learn(&signature, &[Trace::new(Kind::Goal, steps(&atoms))]);
    assert_eq!(machine.edges().len(), 1, "{machine}");
}

/// A machine names no predicate that some trace has no atom of, also where that would be cheaper: on such a map it could not be bound.
#[test]
fn predicates_that_some_traces_lack_are_not_named() {
    let signature = Signature::parse(["p(a)", "r(a)", "end"]).unwrap();
    let shared = signature.observation(["p(a)", "end"]).unwrap();
    let mut learner =
        Learner::with_own_signatures(&signature, &shared, &Options::default()).unwrap();
    let own = signature.observation(["p(a)", "r(a)", "end"]).unwrap();
    for (kind, atoms) in [
        (Kind::Goal, ["p(a)", "r(a)"]),
        (Kind::Incomplete, ["p(a)", "end"]),
    ] {
        let steps = [signature.observation(atoms).unwrap()];
        learner.add(&Trace::new(kind, steps).with_signature(own.clone()));
    }
    let LearnOutcome::Minimal(learnt) = learner.learn(&Limits::default()).unwrap() else {
        panic!("there is a machine")
    };
    let bound = learnt.machine.bind(&signature.restricted(&shared));
    assert!(bound.is_ok(), "{}", learnt.machine);
}

/// Adding traces one by one, with all atoms known beforehand, gives a machine as small as lifting all of them at once; it
/// judges each trace rightly over that trace's own atoms, and names nothing that some trace lacks.
#[test]
fn traces_with_signatures_of_their_own_are_learnt_one_by_one() {
    let atoms = ["p(a)", "p(b)", "p(c)", "q(a)", "q(b)", "end"];
    let signature = Signature::parse(atoms).unwrap();
    let targets = [
        "u0 -> u_acc : forall X. p(X)",
        "u0 -> u1 : forall X. p(X)\nu1 -> u_acc : exists X. q(X)",
        "u0 -> u1 : p(a)\nu1 -> u_acc : forall X. q(X)",
        "u0 -> u_acc : end and not forall X. p(X)",
    ];
    for (seed, target) in (0..40).zip(targets.iter().cycle()) {
        let target: Machine = format!("initial u0\naccept u_acc\n{target}")
            .parse()
            .unwrap();
        let mut random = Random::new(seed);
        let mut traces = Vec::new();
        for _ in 0..30 {
            // Every trace has p(a), q(a) and end, and some of the others.
            let has = |atom: &&str, random: &mut Random| {
                ["p(a)", "q(a)", "end"].contains(atom) || random.below(2) == 0
            };
            let own: Vec<&str> = (atoms.into_iter())
                .filter(|atom| has(atom, &mut random))
                .collect();
            let signature_of_trace = Signature::parse(&own).unwrap();
            let steps: Vec<_> = (0..1 + random.below(7))
                .map(|_| signature_of_trace.observation([random.pick(&own)]).unwrap())
                .collect();
            let steps = Trace::new(Kind::Incomplete, steps).steps().to_vec();
            let judged = labelled(&target, &signature_of_trace, steps);
            let over_all = |step| {
                signature
                    .observation(signature_of_trace.texts(step))
                    .unwrap()
            };
            let steps: Vec<_> = judged.steps().iter().map(over_all).collect();
            let own = signature.observation(&own).unwrap();
            traces.push(Trace::new(judged.kind(), steps).with_signature(own));
        }
        let shared = signature.observation(["p(a)", "q(a)", "end"]).unwrap();
        let options = Options::default();
        let mut learner = Learner::with_own_signatures(&signature, &shared, &options).unwrap();
        for (number, trace) in traces.iter().enumerate() {
            learner.add(trace);
            // What was learnt before is kept.
            if number % 10 == 9 {
                learner.learn(&Limits::default()).unwrap();
            }
        }
        let LearnOutcome::Minimal(learnt) = learner.learn(&Limits::default()).unwrap() else {
            panic!("there is a machine")
        };
        for trace in &traces {
            let own = signature.restricted(trace.own_signature().unwrap());
            let steps = trace
                .steps()
                .iter()
                .map(|step| own.observation(signature.texts(step)));
            let alone = Trace::new(trace.kind(), steps.map(Result::unwrap).collect::<Vec<_>>());
            // A range may be empty in the trace: the union knows all predicates.
            let bound = learnt.machine.bind(&signature).unwrap();
            assert_eq!(trace.disagreement(&bound), None, "{}", learnt.machine);
            if let Ok(bound) = learnt.machine.bind(&own) {
                assert_eq!(alone.disagreement(&bound), None, "{}", learnt.machine);
            }
        }
        let text = learnt.machine.to_string();
        assert!(
            !["(b)", "(c)"].iter().any(|name| text.contains(name)),
            "{text}"
        );
        let at_once = form_learn::lift(&signature, &traces, true).unwrap();
        let mut lifted = Learner::lifted(&at_once.signature, &options);
        at_once.traces.iter().for_each(|trace| {
            lifted.add(trace);
        });
        let LearnOutcome::Minimal(expected) = lifted.learn(&Limits::default()).unwrap() else {
            panic!("there is a machine")
        };
        let size = |learnt: &form_learn::Learnt| (learnt.states, learnt.cost.size);
        assert_eq!(
            size(&learnt),
            size(&expected),
            "{text}\n{}",
            expected.machine
        );
    }
}
