//! Grounding the paper's machines gives the machines of its figures, state by state and edge by edge.

use std::collections::{HashMap, HashSet};

use form_core::{
    CompareOptions, Comparison, GroundObservations, GroundOptions, Machine, Signature, StateId,
    compare, ground,
};

fn grounded(edges: &str, signature: &[&str], observations: GroundObservations) -> Machine {
    let signature = Signature::parse(signature).unwrap();
    let text = format!("machine m\ninitial u0\naccept u_acc\n{edges}");
    let machine = text.parse::<Machine>().unwrap().bind(&signature).unwrap();
    let options = GroundOptions {
        observations,
        ..GroundOptions::default()
    };
    let result = ground(&machine, &options).unwrap();
    let observations = observations.into();
    let options = CompareOptions {
        observations,
        ..CompareOptions::default()
    };
    let comparison = compare(&machine, &result.bind(&signature).unwrap(), &options).unwrap();
    assert!(
        matches!(comparison, Comparison::Equivalent { .. }),
        "{result}\n{comparison:?}"
    );
    result
}

const ALL_YELLOW: &str = "u0 -> u1 : forall X. yellow(X)\nu1 -> u_acc : goal";

/// Whether the machine is a figure's, state by state and edge by edge, whatever the states are called.
fn is_figure(machine: &Machine, figure: &[(usize, usize, &str)]) {
    let mut number: HashMap<StateId, usize> = HashMap::from([(machine.initial(), 0)]);
    assert_eq!(machine.edges().len(), figure.len(), "{machine}");
    // The figure's numbering follows from walking along the edges' labels.
    let mut todo = vec![machine.initial()];
    while let Some(state) = todo.pop() {
        let here = number[&state];
        let edges: Vec<_> = machine.edges_from(state).collect();
        assert_eq!(
            edges.len(),
            figure.iter().filter(|(from, ..)| *from == here).count(),
            "{machine}"
        );
        for (_, edge) in edges {
            let label = edge.formula.to_string();
            let matching = figure
                .iter()
                .find(|(from, _, text)| *from == here && *text == label);
            let (_, to, _) = matching.unwrap_or_else(|| panic!("no edge {label} in {machine}"));
            match number.insert(edge.to, *to) {
                Some(before) => assert_eq!(before, *to),
                None => todo.push(edge.to),
            }
        }
    }
    let targets: HashSet<usize> = number.values().copied().collect();
    assert_eq!(targets.len(), machine.states().len());
}

#[test]
fn all_yellow_gives_the_diamond_of_figure_4b() {
    let signature = ["yellow(o1)", "yellow(o2)", "goal"];
    let machine = grounded(ALL_YELLOW, &signature, GroundObservations::Single);
    is_figure(
        &machine,
        &[
            (0, 1, "yellow(o1)"),
            (0, 2, "yellow(o2)"),
            (1, 3, "yellow(o2)"),
            (2, 3, "yellow(o1)"),
            (3, 4, "goal"),
        ],
    );
    // Where both may come at once there is one more edge, straight across.
    let machine = grounded(ALL_YELLOW, &signature, GroundObservations::All);
    is_figure(
        &machine,
        &[
            (0, 3, "yellow(o1) and yellow(o2)"),
            (0, 1, "yellow(o1) and not yellow(o2)"),
            (0, 2, "yellow(o2) and not yellow(o1)"),
            (1, 3, "yellow(o2)"),
            (2, 3, "yellow(o1)"),
            (3, 4, "goal"),
        ],
    );
}

#[test]
fn three_objects_give_the_eight_states_of_figure_8() {
    let signature = ["yellow(o1)", "yellow(o2)", "yellow(o3)"];
    let machine = grounded(
        "u0 -> u_acc : forall X. yellow(X)",
        &signature,
        GroundObservations::Single,
    );
    assert_eq!(machine.states().len(), 8);
    is_figure(
        &machine,
        &[
            (0, 1, "yellow(o1)"),
            (0, 2, "yellow(o2)"),
            (0, 3, "yellow(o3)"),
            (1, 4, "yellow(o2)"),
            (1, 5, "yellow(o3)"),
            (3, 5, "yellow(o1)"),
            (5, 7, "yellow(o2)"),
            (2, 6, "yellow(o3)"),
            (3, 6, "yellow(o2)"),
            (6, 7, "yellow(o1)"),
            (4, 7, "yellow(o3)"),
            (2, 4, "yellow(o1)"),
        ],
    );
    let machine = grounded(
        "u0 -> u_acc : forall X. yellow(X)",
        &signature,
        GroundObservations::All,
    );
    assert_eq!((machine.states().len(), machine.edges().len()), (8, 19));
}

#[test]
fn blue_all_yellow_7_gives_the_machine_of_figure_9() {
    let edges = "u0 -> u1 : exists X. blue(X)\nu1 -> u2 : forall X. yellow(X)\nu2 -> u3 : purple(o7)\nu3 -> u_acc : goal";
    let signature = [
        "yellow(o0)",
        "yellow(o1)",
        "blue(o4)",
        "blue(o5)",
        "purple(o6)",
        "purple(o7)",
        "goal",
    ];
    let machine = grounded(edges, &signature, GroundObservations::Single);
    is_figure(
        &machine,
        &[
            (0, 1, "blue(o4)"),
            (0, 1, "blue(o5)"),
            (1, 2, "yellow(o1)"),
            (2, 4, "yellow(o0)"),
            (1, 3, "yellow(o0)"),
            (3, 4, "yellow(o1)"),
            (4, 5, "purple(o7)"),
            (5, 6, "goal"),
        ],
    );
    grounded(edges, &signature, GroundObservations::All);
}

#[test]
fn green_but_one_gives_the_machine_of_figure_5b() {
    let edges = "reject u_rej\nu0 -> u1 : exists X. green(X) and not green(o12)\nu0 -> u_rej : lava\nu1 -> u_rej : lava\nu1 -> u_acc : goal";
    let signature = ["green(o10)", "green(o11)", "green(o12)", "lava", "goal"];
    let machine = grounded(edges, &signature, GroundObservations::Single);
    is_figure(
        &machine,
        &[
            (0, 1, "green(o10)"),
            (0, 1, "green(o11)"),
            (0, 2, "lava"),
            (1, 2, "lava"),
            (1, 3, "goal"),
        ],
    );
    grounded(edges, &signature, GroundObservations::All);
}

#[test]
fn self_loops_keep_the_buffer() {
    let edges = "u0 -> u0 : p(a) => 0.25\nu0 -> u_acc : forall X. p(X)";
    let signature = ["p(a)", "p(b)", "q"];
    grounded(edges, &signature, GroundObservations::All);
    grounded(edges, &signature, GroundObservations::Single);
}

#[test]
fn growth_has_a_limit() {
    let signature: Vec<String> = (0..20).map(|i| format!("yellow(o{i})")).collect();
    let signature = Signature::parse(signature).unwrap();
    let machine: Machine = "initial u0\naccept u1\nu0 -> u1 : forall X. yellow(X)"
        .parse()
        .unwrap();
    let error = ground(
        &machine.bind(&signature).unwrap(),
        &GroundOptions::default(),
    )
    .unwrap_err();
    assert!(error.to_string().contains("one atom at a time"), "{error}");
}
