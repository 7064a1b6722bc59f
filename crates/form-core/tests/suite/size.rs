//! Inputs of any length and nesting: no stack overflow, no quadratic blow-up.
//!
//! Each of these would overflow the stack if anything recursed, or take hours if anything were quadratic.

use form_core::{
    AtomSet, BoundMachine, Formula, GroundOptions, Machine, Signature, check, ground, satisfies,
};

const DEEP: usize = 300_000;

fn survives(text: &str) {
    let formula: Formula = text.parse().unwrap();
    let printed = formula.to_string();
    assert_eq!(printed.parse::<Formula>().unwrap(), formula);
    let signature = Signature::parse(["a", "b"]).unwrap();
    let observation = signature.observation(["a"]).unwrap();
    let defined = satisfies(std::slice::from_ref(&observation), &formula, &signature);
    let machine = Machine::builder("m").initial("u0").accept("u1").edge_with(
        "u0",
        "u1",
        formula.clone(),
        None,
    );
    let machine = machine.build().unwrap().bind(&signature).unwrap();
    let compiled = machine
        .choose(machine.machine().initial(), &observation, &observation)
        .is_some();
    assert_eq!(defined, compiled);
    drop(check(&machine));
    let grounded = ground(&machine, &GroundOptions::default()).unwrap();
    assert_eq!(grounded.edges().is_empty(), formula_is_false(&machine));
    assert_eq!(formula.clone(), formula);
    formula.literals();
}

/// Whether the machine's edge holds on no observation of `a` and `b`.
fn formula_is_false(machine: &BoundMachine) -> bool {
    let holds = |atoms: &[&str]| {
        let observation = machine.signature().observation(atoms).unwrap();
        machine
            .choose(machine.machine().initial(), &observation, &observation)
            .is_some()
    };
    !holds(&["a"]) && !holds(&["b"]) && !holds(&["a", "b"])
}

#[test]
fn deep_parentheses() {
    survives(&format!("{}a{}", "(".repeat(DEEP), ")".repeat(DEEP)));
}

#[test]
fn deep_negations() {
    survives(&format!("{}a", "not ".repeat(DEEP + 1)));
    survives(&format!("{}a{}", "not (".repeat(DEEP), ")".repeat(DEEP)));
}

#[test]
fn deep_alternation_to_the_right() {
    survives(&format!(
        "{}a{}",
        "a and (b or ".repeat(DEEP / 2),
        ")".repeat(DEEP / 2)
    ));
    // A small conjunction on the left of each level, to be merged into its parent.
    survives(&format!(
        "{}a{}",
        "(a and b) and ((b and a) or ".repeat(DEEP / 8),
        ")".repeat(DEEP / 8)
    ));
}

#[test]
fn deep_alternation_to_the_left() {
    survives(&format!(
        "{}a{}",
        "((".repeat(DEEP / 2),
        " and b) or a)".repeat(DEEP / 2)
    ));
}

#[test]
fn long_joins() {
    survives(&vec!["a and b"; DEEP / 2].join(" or "));
    survives(&vec!["(a or b)"; DEEP / 2].join(" and "));
}

#[test]
fn unclosed_and_broken_ones_are_refused() {
    for text in [
        "(".repeat(DEEP),
        ")".repeat(DEEP),
        "not ".repeat(DEEP),
        "a and ".repeat(DEEP),
        format!("p({})", "x,".repeat(DEEP)),
    ] {
        let error = text.parse::<Formula>().unwrap_err().to_string();
        assert!(
            error.len() < 1000,
            "a message is for people: {} bytes",
            error.len()
        );
    }
}

#[test]
fn large_machines_and_signatures() {
    let atoms: Vec<String> = (0..5000).map(|i| format!("yellow(o{i})")).collect();
    let signature = Signature::parse(&atoms).unwrap();
    let mut text = "initial u0\naccept u_acc\n".to_owned();
    for i in 0..5000 {
        text += &format!(
            "u{i} -> u{} : forall X. yellow(X) and not yellow(o{i})\n",
            i + 1
        );
    }
    text += "u5000 -> u_acc : exists X. yellow(X)\n";
    let machine: Machine = text.parse().unwrap();
    assert_eq!(machine.to_string().parse::<Machine>().unwrap(), machine);
    let machine = machine.bind(&signature).unwrap();
    let all: AtomSet = signature.ids().collect();
    let mut run = form_core::Run::new(&machine);
    run.step(&machine, &all);
    assert_eq!(
        run.state(),
        machine.machine().initial(),
        "yellow(o0) is in the newest observation"
    );
    run.step(&machine, &signature.observation(["yellow(o1)"]).unwrap());
    assert_eq!(machine.machine().state_name(run.state()), "u1");
}
