//! LTLf: machines mean what the naive semantics says, are minimal, and large formulae are done or refused at a stated limit.

use std::collections::{HashSet, VecDeque};

use form_core::{
    AtomSet, BoundMachine, Machine, MachineStatus, Run, Signature, StateId, StepMode, check,
};
use form_formats::read_ltlf;
use proptest::prelude::*;

/// A formula as a tree, and its meaning word by word.
#[derive(Clone, Debug)]
enum Ltl {
    Constant(bool),
    Atom(&'static str),
    Unary(&'static str, Box<Ltl>),
    Binary(&'static str, Box<Ltl>, Box<Ltl>),
}

impl Ltl {
    fn text(&self) -> String {
        match self {
            Self::Constant(value) => value.to_string(),
            Self::Atom(atom) => (*atom).to_owned(),
            Self::Unary(operator, a) => format!("{operator}({})", a.text()),
            Self::Binary(operator, a, b) => format!("({}) {operator} ({})", a.text(), b.text()),
        }
    }

    fn has(&self, operators: &[&str]) -> bool {
        match self {
            Self::Constant(_) | Self::Atom(_) => false,
            Self::Unary(operator, a) => operators.contains(operator) || a.has(operators),
            Self::Binary(operator, a, b) => {
                operators.contains(operator) || a.has(operators) || b.has(operators)
            }
        }
    }

    /// Whether it holds at a step of a finite trace.
    fn holds(&self, trace: &[u8], i: usize) -> bool {
        let last = trace.len() - 1;
        match self {
            Self::Constant(value) => *value,
            Self::Atom("a") => trace[i] & 1 != 0,
            Self::Atom(_) => trace[i] & 2 != 0,
            Self::Unary(operator, a) => match *operator {
                "!" => !a.holds(trace, i),
                "X" => i < last && a.holds(trace, i + 1),
                "WX" => i == last || a.holds(trace, i + 1),
                "F" => (i..=last).any(|j| a.holds(trace, j)),
                "G" => (i..=last).all(|j| a.holds(trace, j)),
                "Y" => i > 0 && a.holds(trace, i - 1),
                "O" => (0..=i).any(|j| a.holds(trace, j)),
                "H" => (0..=i).all(|j| a.holds(trace, j)),
                other => panic!("{other}"),
            },
            Self::Binary(operator, a, b) => {
                let until = |a: &dyn Fn(usize) -> bool, b: &dyn Fn(usize) -> bool| {
                    (i..=last).any(|j| b(j) && (i..j).all(a))
                };
                let (left, right) = (|j| a.holds(trace, j), |j| b.holds(trace, j));
                match *operator {
                    "&" => left(i) && right(i),
                    "|" => left(i) || right(i),
                    "->" => !left(i) || right(i),
                    "<->" => left(i) == right(i),
                    "U" => until(&left, &right),
                    "W" => until(&left, &right) || (i..=last).all(left),
                    "R" => !until(&|j| !left(j), &|j| !right(j)),
                    "S" => (0..=i).any(|j| right(j) && (j + 1..=i).all(left)),
                    other => panic!("{other}"),
                }
            }
        }
    }

    /// Whether it holds of an episode: at the first step, about the past alone at the newest.
    fn holds_of(&self, trace: &[u8]) -> bool {
        let past = self.has(&["Y", "S", "O", "H"]);
        let future = self.has(&["X", "WX", "F", "G", "U", "R", "W"]);
        let at = if past && !future { trace.len() - 1 } else { 0 };
        self.holds(trace, at)
    }
}

/// Formulae with these operators over others.
fn with(
    inner: impl Strategy<Value = Ltl> + Clone + 'static,
    unary: &'static [&'static str],
    binary: &'static [&'static str],
) -> impl Strategy<Value = Ltl> {
    prop_oneof![
        (prop::sample::select(unary), inner.clone()).prop_map(|(o, a)| Ltl::Unary(o, Box::new(a))),
        (prop::sample::select(binary), inner.clone(), inner).prop_map(|(o, a, b)| Ltl::Binary(
            o,
            Box::new(a),
            Box::new(b)
        )),
    ]
}

fn formula() -> impl Strategy<Value = Ltl> {
    let leaf = prop_oneof![
        8 => prop::sample::select(&["a", "b"][..]).prop_map(Ltl::Atom),
        1 => any::<bool>().prop_map(Ltl::Constant),
    ];
    let past = leaf.prop_recursive(2, 6, 2, |inner| {
        with(inner, &["!", "Y", "O", "H"], &["&", "|", "->", "<->", "S"])
    });
    past.prop_recursive(4, 10, 2, |inner| {
        with(
            inner,
            &["!", "X", "WX", "F", "G"],
            &["&", "|", "->", "<->", "U", "R", "W"],
        )
    })
}

/// All traces over two atoms up to a length.
fn traces(longest: usize) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..longest {
        let to = all.len();
        for i in from..to {
            for observation in 0..4 {
                let mut longer = all[i].clone();
                longer.push(observation);
                all.push(longer);
            }
        }
        from = to;
    }
    all
}

fn bound(machine: &Machine) -> (BoundMachine, [AtomSet; 4]) {
    let signature = Signature::parse(["a", "b"]).unwrap();
    let observation = |bits: u8| {
        let atoms = [(1, "a"), (2, "b")];
        let atoms = atoms.iter().filter(|(bit, _)| bits & bit != 0);
        signature.observation(atoms.map(|(_, atom)| atom)).unwrap()
    };
    let observations = [0, 1, 2, 3].map(observation);
    (machine.bind(&signature).unwrap(), observations)
}

fn status(machine: &BoundMachine, observations: &[AtomSet; 4], trace: &[u8]) -> MachineStatus {
    let mut run = Run::new(machine);
    for observation in trace {
        run.step(machine, &observations[usize::from(*observation)]);
    }
    machine.machine().status(run.state())
}

/// A state after an observation; the window is the newest observation alone.
fn next(machine: &BoundMachine, state: StateId, observation: &AtomSet) -> StateId {
    let edge = machine.choose(state, observation, observation);
    edge.map_or(state, |edge| machine.outcome(edge).0)
}

/// Whether some trace tells two states apart.
fn differ(
    machine: &BoundMachine,
    observations: &[AtomSet; 4],
    one: StateId,
    other: StateId,
) -> bool {
    let mut known = HashSet::from([(one, other)]);
    let mut open = VecDeque::from([(one, other)]);
    while let Some((a, b)) = open.pop_front() {
        if machine.machine().status(a) != machine.machine().status(b) {
            return true;
        }
        for observation in observations {
            let pair = (next(machine, a, observation), next(machine, b, observation));
            if known.insert(pair) {
                open.push_back(pair);
            }
        }
    }
    false
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    /// On all traces up to length 5.
    #[test]
    fn machines_mean_what_the_naive_semantics_says(formula in formula()) {
        let text = formula.text();
        let machine = read_ltlf(&text).unwrap().machine;
        prop_assert_eq!(machine.step_mode(), StepMode::All);
        let (machine, observations) = bound(&machine);
        let findings = check(&machine);
        prop_assert!(findings.is_deterministic(), "{}", text);
        prop_assert!(findings.never_fire.is_empty(), "{}\n{}", text, machine.machine());
        let all = traces(5);
        for trace in all.iter().filter(|trace| !trace.is_empty()) {
            let accepted = (1..=trace.len()).any(|n| formula.holds_of(&trace[..n]));
            let reached = status(&machine, &observations, trace);
            prop_assert_eq!(reached == MachineStatus::Accepted, accepted, "{} on {:?}\n{}", text, trace, machine.machine());
            // What is rejected never holds later.
            if trace.len() <= 3 && reached == MachineStatus::Rejected {
                let later = all.iter().filter(|longer| longer.starts_with(trace));
                prop_assert!(!later.into_iter().any(|longer| formula.holds_of(longer)), "{} on {:?}", text, trace);
            }
        }
        // Minimal: all states are reached, all differ, and from all but the rejecting one some run accepts.
        prop_assert!(findings.unreachable.iter().all(|s| *s == machine.machine().accept()), "{}", text);
        let states: Vec<StateId> = machine.machine().state_ids().filter(|s| !findings.unreachable.contains(s)).collect();
        for (i, one) in states.iter().enumerate() {
            for other in &states[i + 1..] {
                prop_assert!(differ(&machine, &observations, *one, *other), "{}\n{}", text, machine.machine());
            }
        }
        let unsatisfiable = !all.iter().any(|trace| !trace.is_empty() && formula.holds_of(trace));
        prop_assert!(unsatisfiable || findings.cannot_accept.is_empty(), "{}\n{}", text, machine.machine());
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "[XWFGYOHURSab()!&|<>= .,#-]{0,24}|\\PC{0,24}") {
        if let Err(error) = read_ltlf(&text) {
            prop_assert!(error.position().is_some() || error.to_string().contains("limit"), "{error}");
        }
    }
}

fn size(text: &str) -> String {
    read_ltlf(text).unwrap().machine.describe_size()
}

#[test]
fn examples() {
    insta::assert_snapshot!(read_ltlf("F(a & F b) & G !lava").unwrap().machine, @r"
    machine ltlf
    initial u0
    accept  u_acc
    reject  u_rej
    steps   all
    u0 -> u_acc : a and b and not lava
    u0 -> u_rej : lava
    u0 -> u1    : a and not b and not lava
    u1 -> u_acc : b and not lava
    u1 -> u_rej : lava
    ");
    insta::assert_snapshot!(read_ltlf("O(a & Y O b)").unwrap().machine, @r"
    machine ltlf
    initial u0
    accept  u_acc
    steps   all
    u0 -> u1    : b
    u1 -> u_acc : a
    ");
    insta::assert_snapshot!(read_ltlf("(exists X. p(X)) U p(o)").unwrap().machine, @r"
    machine ltlf
    initial u0
    accept  u_acc
    reject  u_rej
    steps   all
    u0 -> u_acc : p(o)
    u0 -> u_rej : not exists X. p(X)
    ");
    let none = read_ltlf("a & !a").unwrap();
    assert_eq!(none.notes.len(), 1, "{}", none.machine);
}

/// The finite tasks of LTL2Action (Vaezipoor et al. 2021): partially ordered and "until" tasks; and those of DeepLTL (Jackermeier and
/// Abate 2025).
#[test]
fn tasks_of_the_literature() {
    let tasks = [
        "F(r & F(j & F p))",
        "F(a & F b) & F(c & F d)",
        "!a U (b & (!c U d))",
        "(!a U (b & (!c U d))) & (!e U (f & (!g U h)))",
        "F(blue & (!green U yellow)) & F magenta",
        "(F red) & (!red U (green & F yellow))",
        "F(green | yellow) & G !blue",
        "!(magenta | yellow) U (blue & F green)",
    ];
    let sizes: Vec<String> = (tasks.iter())
        .map(|text| format!("{text}: {}", size(text)))
        .collect();
    insta::assert_snapshot!(sizes.join("\n"), @r"
    F(r & F(j & F p)): 3 states + accept, 6 edges
    F(a & F b) & F(c & F d): 8 states + accept, 27 edges
    !a U (b & (!c U d)): 3 states + accept + reject, 10 edges
    (!a U (b & (!c U d))) & (!e U (f & (!g U h))): 15 states + accept + reject, 120 edges
    F(blue & (!green U yellow)) & F magenta: 5 states + accept, 15 edges
    (F red) & (!red U (green & F yellow)): 4 states + accept + reject, 10 edges
    F(green | yellow) & G !blue: 1 state + accept + reject, 2 edges
    !(magenta | yellow) U (blue & F green): 2 states + accept + reject, 4 edges
    ");
}

/// LTLf2DFA's issue 39: with MONA it ran out of 128 GB.
#[test]
fn ten_pick_ups_and_deliveries() {
    let steps = [
        ("at_p2", "collect"),
        ("at_m2", "deliver"),
        ("at_p1", "collect"),
        ("at_m2", "deliver"),
        ("at_p1", "collect"),
        ("at_m1", "deliver"),
        ("at_p3", "collect"),
        ("at_m3", "deliver"),
        ("at_p1", "collect"),
        ("at_m2", "deliver"),
    ];
    let parts: Vec<String> = steps
        .iter()
        .map(|(at, act)| format!("F({at} & X({act}"))
        .collect();
    let text = parts.join(" & X") + &")".repeat(2 * steps.len());
    assert_eq!(size(&text), "20 states + accept, 30 edges");
}

#[test]
fn chains_and_unordered_tasks_of_ten() {
    let chain: String = (1..=10).map(|i| format!("F(p{i} & ")).collect();
    let chain = format!("{chain}true{} & G !bad", ")".repeat(10));
    let unordered: Vec<String> = (1..=10).map(|i| format!("F p{i}")).collect();
    let sizes = [size(&chain), size(&unordered.join(" & "))];
    insta::assert_snapshot!(sizes.join("\n"), @r"
    10 states + accept + reject, 65 edges
    1023 states + accept, 58025 edges
    ");
}

#[test]
fn what_is_too_large_is_refused_at_a_stated_limit() {
    let unordered: Vec<String> = (1..=20).map(|i| format!("F p{i}")).collect();
    let message = read_ltlf(&unordered.join(" & ")).unwrap_err().to_string();
    assert!(message.contains("more than the limit of"), "{message}");
    let deep = format!("{}a{}", "X(".repeat(1_900), ")".repeat(1_900));
    assert!(read_ltlf(&deep).is_ok());
    let deeper = format!("{}a{}", "X(".repeat(5_000), ")".repeat(5_000));
    let message = read_ltlf(&deeper).unwrap_err().to_string();
    assert!(message.contains("more than the limit of 2000"), "{message}");
    let endless = "!".repeat(20_000) + "a";
    let message = read_ltlf(&endless).unwrap_err().to_string();
    assert!(message.contains("more than 10000 operators"), "{message}");
}

#[test]
fn mistakes_are_shown_at_their_place() {
    for (text, column, problem) in [
        ("F(a & ", 6, "expected an atom"),
        ("F(a", 2, "is not closed"),
        ("F a) & b", 4, "closes nothing"),
        ("a b", 3, "expected `&`"),
        ("F(a & p(", 9, "expected"),
        ("O(X a)", 1, "no future operator under it"),
        ("F forall X. p(X)", 3, "several steps"),
        ("", 1, "expected an atom"),
        ("a U", 4, "expected an atom"),
        ("a & U b", 5, "found the operator `U`"),
    ] {
        let error = read_ltlf(text).unwrap_err();
        assert_eq!(error.position(), Some((1, column)), "{text}\n{error}");
        assert!(error.to_string().contains(problem), "{text}\n{error}");
    }
}
