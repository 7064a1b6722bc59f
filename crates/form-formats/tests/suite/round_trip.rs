//! Property tests of the foreign formats: what is written reads back as a machine that behaves alike, and no text makes a
//! reader panic.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use form_core::{AtomSet, Cube, Error, Formula, Machine, Run, Signature, StateId, dnf};
use form_formats::{
    MachineFormat, ToroIcarteOptions, Unmatched, read_reference, read_toro_icarte, write_reference,
    write_toro_icarte,
};

const ATOMS: [&str; 6] = ["a", "b", "p(o1)", "p(o2)", "on(o1, o2)", "other"];

/// Feeds both machines the observations; `name` gives the name that a state of `left` has in `right`.
fn behave_alike(
    left: &Machine,
    right: &Machine,
    name: impl Fn(&Machine, StateId) -> String,
    trace: &[u8],
) {
    let signature = Signature::parse(ATOMS).unwrap();
    let (left, right) = (
        left.bind(&signature).unwrap(),
        right.bind(&signature).unwrap(),
    );
    let (mut run_left, mut run_right) = (Run::new(&left), Run::new(&right));
    for bits in trace {
        let observation: AtomSet = signature
            .ids()
            .filter(|id| bits >> id.index() & 1 == 1)
            .collect();
        let rewards = [
            run_left.step(&left, &observation).reward,
            run_right.step(&right, &observation).reward,
        ];
        let shown = signature.describe(&observation);
        assert_eq!(
            rewards[0],
            rewards[1],
            "{shown}\n{}{}",
            left.machine(),
            right.machine()
        );
        assert_eq!(
            name(left.machine(), run_left.state()),
            right.machine().state_name(run_right.state()),
            "{shown}\n{}{}",
            left.machine(),
            right.machine()
        );
    }
}

/// A disjunctive normal form as Toro Icarte et al. write it.
fn written(cubes: &[Cube], signature: &Signature) -> String {
    let name = |id| signature.atom(id).to_string().replace(' ', "");
    let cube = |cube: &Cube| {
        let positive = cube.positive.iter().map(name);
        let negative = cube.negative.iter().map(|id| format!("!{}", name(id)));
        let literals: Vec<String> = positive.chain(negative).collect();
        match literals.is_empty() {
            true => "True".to_owned(),
            false => literals.join("&"),
        }
    };
    cubes.iter().map(cube).collect::<Vec<_>>().join("|")
}

/// The original evaluation of a formula, line by line.
fn evaluate_dnf(formula: &str, true_props: &[String]) -> bool {
    if formula.contains('|') {
        return formula
            .split('|')
            .any(|part| evaluate_dnf(part, true_props));
    }
    if formula.contains('&') {
        return formula
            .split('&')
            .all(|part| evaluate_dnf(part, true_props));
    }
    match formula.strip_prefix('!') {
        Some(rest) => !evaluate_dnf(rest, true_props),
        None => formula == "True" || formula != "False" && true_props.iter().any(|p| p == formula),
    }
}

/// Runs the text as the original runtime does; `name` gives `u` and the number that a state of the machine has there.
fn behaves_as_in_their_runtime(
    machine: &Machine,
    text: &str,
    name: impl Fn(&Machine, StateId) -> String,
    trace: &[u8],
) {
    let mut lines = text.lines();
    let number = |line: &str| line.split(' ').next().unwrap().to_owned();
    let mut state = number(lines.next().unwrap());
    let terminal = number(lines.next().unwrap());
    let terminal: Vec<&str> = terminal.trim_matches(['[', ']']).split(',').collect();
    let edges: Vec<(&str, &str, &str, f64)> = lines
        .map(|line| {
            let mut quoted = line.split('\'');
            let (states, formula, reward) = (
                quoted.next().unwrap(),
                quoted.next().unwrap(),
                quoted.next().unwrap(),
            );
            let (from, to) = states.trim_matches(['(', ',']).split_once(',').unwrap();
            let reward = reward.replace(",ConstantRewardFunction(", "");
            (
                from,
                to,
                formula,
                reward.trim_matches([',', ')']).parse().unwrap(),
            )
        })
        .collect();

    let signature = Signature::parse(ATOMS).unwrap();
    let bound = machine.bind(&signature).unwrap();
    let mut run = Run::new(&bound);
    for bits in trace {
        if terminal.contains(&state.as_str()) {
            break;
        }
        let observation: AtomSet = signature
            .ids()
            .filter(|id| bits >> id.index() & 1 == 1)
            .collect();
        let props: Vec<String> = observation
            .iter()
            .map(|id| signature.atom(id).to_string().replace(' ', ""))
            .collect();
        let first = (edges.iter())
            .find(|(from, _, formula, _)| *from == state && evaluate_dnf(formula, &props));
        let step = run.step(&bound, &observation);
        let Some((_, to, _, reward)) = first else {
            assert_eq!(
                (Some(run.state()), step.reward),
                (machine.reject(), 0.0),
                "{text}{machine}"
            );
            break;
        };
        state = (*to).to_owned();
        let reached = name(machine, run.state());
        assert_eq!(reached, format!("u{state}"), "{text}{machine}");
        assert_eq!(step.reward, *reward, "{text}{machine}");
    }
}

fn machine(edges: &[String]) -> Machine {
    let text = format!("initial u0\naccept done\nreject lost\n{}", edges.join("\n"));
    text.parse().unwrap()
}

fn propositional() -> impl Strategy<Value = String> {
    let leaf =
        select(vec!["a", "b", "p(o1)", "p(o2)", "on(o1, o2)", "true"]).prop_map(str::to_owned);
    leaf.prop_recursive(3, 10, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|f| format!("not ({f})")),
            vec(inner.clone(), 2..4).prop_map(|fs| format!("({})", fs.join(" and "))),
            vec(inner, 2..4).prop_map(|fs| format!("({})", fs.join(" or "))),
        ]
    })
}

/// Machines whose rewards depend on the pair of states alone, with now and then a rewarded self-loop.
fn propositional_machine() -> impl Strategy<Value = Machine> {
    let states = ["u0", "u1", "u2", "done", "lost"];
    let edge = (0..3_usize, 0..5_usize, propositional());
    (vec(edge, 0..9), vec(0..3_u8, 25), 0..4_u8).prop_map(move |(edges, rewards, paid_loops)| {
        let text = edges.iter().map(|(from, to, formula)| {
            let reward = match (*to, rewards[from * 5 + to]) {
                (_, 0) => "",
                (to, _) if to == *from && paid_loops > 0 => "",
                (3, _) => " => 2.5",
                (4, _) => " => -1",
                (_, 1) => " => 0.25",
                _ => " => -1e-9",
            };
            format!("{} -> {} : {formula}{reward}", states[*from], states[*to])
        });
        machine(&text.collect::<Vec<_>>())
    })
}

fn first_order_machine() -> impl Strategy<Value = Machine> {
    let atoms = vec![
        "a",
        "b",
        "p(o1)",
        "on(o1, o2)",
        "exists X. p(X)",
        "forall X. p(X)",
        "exists X. on(X, o2)",
        "forall X, Y. on(X, Y)",
    ];
    let literal = (select(atoms), any::<bool>())
        .prop_map(|(atom, positive)| format!("{}{atom}", if positive { "" } else { "not " }));
    let conjunction = vec(literal, 1..4).prop_map(|literals| literals.join(" and "));
    let formula = prop_oneof![
        9 => vec(conjunction, 1..3).prop_map(|parts| parts.join(" or ")),
        1 => Just("true".to_owned()),
    ];
    let states = ["u0", "u1", "u2", "done", "lost"];
    vec((0..3_usize, 0..4_usize, formula), 0..8).prop_map(move |edges| {
        let text = edges.iter().map(|(from, skip, formula)| {
            let to = (from + 1 + skip) % states.len();
            format!("{} -> {} : {formula}", states[*from], states[to])
        });
        machine(&text.collect::<Vec<_>>())
    })
}

/// Pieces of both formats, well and badly put together.
fn scraps() -> impl Strategy<Value = String> {
    let pieces = select(vec![
        "0",
        "-1",
        "[2]",
        "[",
        "(",
        ")",
        "'",
        "\"",
        "'u0'",
        "u0",
        "\n",
        "\r\n",
        ",",
        "#",
        "'a&!b'",
        "'∃X0, p(X0)'",
        ";",
        "~",
        "True",
        "(0,1,'a',1)\n",
        "('u0', 'u1', 'a')\n",
        "('u1', 'u1', 'True')\n",
        "ConstantRewardFunction(",
        "1e5",
        "\0",
        "\u{feff}",
        "é",
        "\\",
        "9999999999999999999999",
        " ",
        "((((",
        "∀",
        "0x",
    ]);
    prop_oneof![
        vec(pieces, 0..24).prop_map(|pieces| pieces.concat()),
        any::<String>()
    ]
}

proptest! {
    #[test]
    fn reference_round_trip(left in first_order_machine(), trace in vec(1..64_u8, 0..40)) {
        let right = read_reference(&write_reference(&left).unwrap()).unwrap().machine;
        behave_alike(&left, &right, |machine, state| machine.state_name(state).to_owned(), &trace);
    }

    #[test]
    fn toro_icarte_round_trip(left in propositional_machine(), trace in vec(1..64_u8, 0..40)) {
        let text = match write_toro_icarte(&left) {
            Ok(text) => text,
            Err(Error::Inexpressible { .. } | Error::Limit { .. }) => return Ok(()),
            Err(other) => panic!("{other}"),
        };
        prop_assert_eq!(MachineFormat::detect(&text), MachineFormat::ToroIcarte);
        let name = |machine: &Machine, state: StateId| match state {
            state if state == machine.accept() => "u_acc".to_owned(),
            state if Some(state) == machine.reject() => "u_rej".to_owned(),
            state => format!("u{}", state.index()),
        };
        for unmatched in [Unmatched::Reject, Unmatched::Stay] {
            let read = read_toro_icarte(&text, &ToroIcarteOptions { unmatched }).unwrap();
            behave_alike(&left, &read.machine, name, &trace);
        }
        let number = |_: &Machine, state: StateId| format!("u{}", state.index());
        behaves_as_in_their_runtime(&left, &text, number, &trace);
    }

    #[test]
    fn toro_icarte_machines_mean_what_they_did(
        edges in vec((0..3_i64, 0..4_i64, propositional(), select(vec![-1.0, 0.0, 0.5, 1.0])), 0..9),
        trace in vec(1..64_u8, 0..40),
    ) {
        let signature = Signature::parse(ATOMS).unwrap();
        let mut text = "0\n[3]\n".to_owned();
        let mut pairs = std::collections::BTreeSet::new();
        for (from, to, formula, reward) in &edges {
            let formula: Formula = formula.parse().unwrap();
            let Some(cubes) = dnf(&formula, &signature, 64) else { continue };
            if !cubes.is_empty() && pairs.insert((*from, *to)) {
                text += &format!("({from},{to},'{}',{reward})\n", written(&cubes, &signature));
            }
        }
        // A state without an explicit self-loop stays here, and breaks there: give it one.
        for state in 0..3 {
            if pairs.insert((state, state)) {
                text += &format!("({state},{state},'True',0)\n");
            }
        }
        let read = read_toro_icarte(&text, &ToroIcarteOptions::default()).unwrap();
        let name = |machine: &Machine, state| match machine.state_name(state) {
            "u_acc" | "u_rej" => "u3".to_owned(),
            name => name.to_owned(),
        };
        behaves_as_in_their_runtime(&read.machine, &text, name, &trace);
    }

    #[test]
    fn no_text_makes_a_reader_panic(text in scraps()) {
        MachineFormat::detect(&text);
        for result in [read_reference(&text), read_toro_icarte(&text, &ToroIcarteOptions::default())] {
            if let Err(error) = result {
                prop_assert!(error.position().is_some(), "{error}");
            }
        }
    }
}

#[test]
fn long_and_deep_texts_are_read_in_linear_time() {
    let deep = format!(
        "0\n[1]\n(0,1,'{}a{}',1)",
        "(".repeat(200_000),
        ")".repeat(200_000)
    );
    assert!(read_toro_icarte(&deep, &ToroIcarteOptions::default()).is_ok());
    let open = format!("0\n[1]\n{}", "(".repeat(1_000_000));
    assert!(read_toro_icarte(&open, &ToroIcarteOptions::default()).is_err());
    let wide: Vec<String> = (0..100_000).map(|i| format!("!q{i}")).collect();
    let wide = format!("0\n[1]\n(0,0,'{}',0)\n(0,1,'q1',1)\n", wide.join("&"));
    let read = read_toro_icarte(&wide, &ToroIcarteOptions::default()).unwrap();
    assert_eq!(read.machine.edges().len(), 3);
    let mut many = "0\n[1]\n".to_owned();
    for i in 0..20_000 {
        many += &format!("(0,0,'s{i}',0)\n(0,{},'q{i}',0)\n", i + 2);
    }
    assert!(read_toro_icarte(&many, &ToroIcarteOptions::default()).is_ok());
    let tall: String = (0..50_000)
        .map(|i| format!("('u{i}','u{}','a;~b')\n", i + 1))
        .collect();
    let tall = format!("'u0'\n{tall}('acc','acc','True')");
    let read = read_reference(&tall).unwrap();
    assert_eq!(read.machine.edges().len(), 50_000);
    let literals = format!(
        "'u0'\n('u0','u1','{}')\n('u1','u1','True')",
        vec!["∃X, p(X)"; 100_000].join(";")
    );
    assert!(read_reference(&literals).is_ok());
}

#[test]
fn what_would_take_quadratic_time_is_refused() {
    let lines = |line: fn(usize) -> String| (0..20_000).map(line).collect::<Vec<_>>();
    for edges in [
        lines(|i| format!("u0 -> u1 : a\nu0 -> u2 : b{i}")),
        lines(|i| format!("u0 -> u1 : p{} and q{}", i / 150, i % 150)),
        lines(|i| format!("u0 -> v{i} : p{i}")),
    ] {
        let error = write_toro_icarte(&machine(&edges)).unwrap_err();
        assert!(matches!(error, Error::Limit { .. }), "{error}");
    }
    // A rewarded self-loop before many edges is overtaken by none, an unrewarded one by all.
    for reward in ["", " => 1"] {
        let edges = (0..2_000).map(|i| format!("u0 -> v{i} : p{i}"));
        let edges: Vec<String> = [format!("u0 -> u0 : a{reward}")]
            .into_iter()
            .chain(edges)
            .collect();
        let written = write_toro_icarte(&machine(&edges));
        assert_eq!(written.is_ok(), reward.is_empty(), "{written:?}");
    }
}
