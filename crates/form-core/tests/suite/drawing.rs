//! The drawings: what they look like, that they can be read by those they are for, and that no machine breaks them.

use form_core::{Machine, to_dot, to_mermaid, to_svg, to_text};
use proptest::prelude::*;

use crate::machines::{
    ALL_YELLOW, GREEN_BUT_ONE, MIXED, deep, machine, machines, windowed_machines,
};

#[test]
fn the_listing() {
    insta::assert_snapshot!(to_text(&machine(GREEN_BUT_ONE)), @"
    green_but_one: 2 states + accept + reject, 4 edges

    → u0         initial
        → u1     ∃X. green(X) ∧ ¬green(o12) ∧ ¬lava
        → u_rej  lava
      u1
        → u_acc  goal ∧ ¬lava
        → u_rej  lava
    ✓ u_acc      accepting
    ✗ u_rej      rejecting
    ");
    insta::assert_snapshot!("listing_of_everything", to_text(&machine(MIXED)));
}

#[test]
fn graphviz() {
    insta::assert_snapshot!(to_dot(&machine(MIXED)));
}

#[test]
fn mermaid() {
    insta::assert_snapshot!(to_mermaid(&machine(MIXED)));
}

#[test]
fn pictures() {
    insta::assert_snapshot!("picture_of_all_yellow", to_svg(&machine(ALL_YELLOW)));
    insta::assert_snapshot!("picture_of_everything", to_svg(&machine(MIXED)));
}

/// Checks that tags nest, that attributes are quoted and that all coordinates are numbers; gives the texts.
fn check_svg(svg: &str) -> Vec<String> {
    let mut open: Vec<&str> = Vec::new();
    let mut texts = Vec::new();
    let mut rest = svg.trim();
    while let Some(tag_and_more) = rest.strip_prefix('<') {
        let (tag, more) = tag_and_more.split_once('>').unwrap();
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        assert!(!tag.contains("NaN") && !tag.contains("inf"), "{tag}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(tag.split(' ').next().unwrap());
        }
        let end = more.find('<').unwrap_or(more.len());
        if open.last() == Some(&"text") {
            texts.push(more[..end].to_owned());
        }
        rest = &more[end..];
    }
    assert!(open.is_empty() && rest.is_empty(), "{open:?} {rest}");
    texts
}

/// A machine of many states and edges, in a fixed disorder.
fn large(states: usize, edges: usize) -> Machine {
    let mut builder = Machine::builder("large").initial("u0").accept("acc");
    for i in 0..edges {
        let (from, to) = (i * 7919 % states, (i * i + 31 * i) % states);
        builder = builder
            .edge(&format!("u{from}"), &format!("u{to}"), "exists X. p(X)")
            .unwrap();
    }
    builder.build().unwrap()
}

#[test]
fn large_machines_are_drawn_too() {
    let wide = large(200, 1000);
    let texts = check_svg(&to_svg(&wide));
    assert_eq!(
        texts.len(),
        wide.states().len() + wide.edges().len(),
        "every state and every edge is written"
    );
    check_svg(&to_svg(&large(3000, 3000)));
    check_svg(&to_svg(&large(60, 120)));
}

#[test]
fn a_chain_of_many_states_does_not_exhaust_the_stack() {
    let mut builder = Machine::builder("chain").initial("u0").accept("acc");
    for i in 0..400 {
        builder = builder
            .edge(&format!("u{i}"), &format!("u{}", i + 1), "p")
            .unwrap();
    }
    check_svg(&to_svg(&builder.build().unwrap()));
}

#[test]
fn a_very_long_formula_is_cut() {
    let literals: Vec<String> = (0..500).map(|i| format!("not p{i}")).collect();
    let builder = Machine::builder("long").initial("u0").accept("acc");
    let machine = builder.edge("u0", "acc", &literals.join(" and ")).unwrap();
    let texts = check_svg(&to_svg(&machine.build().unwrap()));
    assert!(texts.contains(&"…".to_owned()) && texts.len() < 20);
}

#[test]
fn deep_formulae_do_not_exhaust_the_stack() {
    let machine = deep();
    check_svg(&to_svg(&machine));
    assert_eq!(to_text(&machine).matches('∧').count(), 50_000);
    to_dot(&machine);
    to_mermaid(&machine);
}

#[test]
fn states_without_edges_are_drawn() {
    let island = machine("states u0, lost, u_acc\ninitial u0\naccept u_acc");
    assert_eq!(check_svg(&to_svg(&island)).len(), 3);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Every machine has a picture, the same each time.
    #[test]
    fn pictures_are_well_formed_and_reproducible(machine in windowed_machines()) {
        let svg = to_svg(&machine);
        let texts = check_svg(&svg);
        for state in machine.states() {
            prop_assert!(texts.iter().any(|text| text == state.as_str()));
        }
        prop_assert_eq!(svg, to_svg(&machine));
    }

    /// One line per state and one per edge, for any names.
    #[test]
    fn texts_have_a_line_for_everything(machine in machines()) {
        let (states, edges) = (machine.states().len(), machine.edges().len());
        prop_assert_eq!(to_text(&machine).lines().count(), 2 + states + edges);
        prop_assert_eq!(to_dot(&machine).matches("[label=").count(), states + edges);
        prop_assert_eq!(to_mermaid(&machine).matches(" : ").count(), edges);
    }
}
