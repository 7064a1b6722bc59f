//! Traces with objects of their own: the learnt machine judges each trace rightly over the objects of that trace.

use form_core::{Kind, Machine, Signature, Trace};
use form_learn::{LearnOutcome, Learner, Lifting, Limits, Options, unlift};

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
