//! Random formulae, signatures, buffers and machines for the property tests.
//!
//! Everything is over a small vocabulary with a proposition, unary and binary predicates, so that quantified atoms with
//! constants and repeated variables come up often.

use form_core::{
    AtomId, AtomSet, Formula, GroundAtom, Machine, Name, QuantifiedAtom, Quantifier, Signature,
    Term,
};
use proptest::prelude::*;

/// All atoms of the vocabulary, 11 of them.
pub fn vocabulary() -> Vec<String> {
    let constants = ["a", "b", "c"];
    let mut atoms = vec!["goal".to_owned(), "lava".to_owned()];
    atoms.extend(constants.map(|c| format!("p({c})")));
    atoms.extend(["a", "b"].map(|c| format!("q({c})")));
    atoms.extend(["a, a", "a, b", "b, a", "c, b"].map(|c| format!("on({c})")));
    atoms
}

/// The whole vocabulary as a signature.
pub fn full_signature() -> Signature {
    Signature::parse(vocabulary()).unwrap()
}

/// Atomic formulae that the whole vocabulary has instances of.
pub fn atom() -> impl Strategy<Value = Formula> {
    let ground = prop::sample::select(vocabulary())
        .prop_map(|text| Formula::atom(text.parse::<GroundAtom>().unwrap()));
    let terms = prop_oneof![
        Just(("p", vec![variable(0)])),
        Just(("q", vec![variable(0)])),
        Just(("on", vec![variable(0), variable(1)])),
        Just(("on", vec![variable(0), variable(0)])),
        Just(("on", vec![variable(0), constant("b")])),
        Just(("on", vec![constant("a"), variable(0)])),
    ];
    let quantifier = prop_oneof![Just(Quantifier::Exists), Just(Quantifier::Forall)];
    let quantified = (quantifier, terms).prop_map(|(quantifier, (predicate, terms))| {
        let atom = QuantifiedAtom::new(quantifier, Name::new(predicate).unwrap(), terms);
        Formula::atom(atom.unwrap())
    });
    prop_oneof![ground, quantified]
}

fn variable(v: u32) -> Term {
    Term::Variable(v)
}

fn constant(name: &str) -> Term {
    Term::Constant(Name::new(name).unwrap())
}

/// Formulae of any shape.
pub fn formula() -> impl Strategy<Value = Formula> {
    let leaf = prop_oneof![9 => atom(), 1 => Just(Formula::truth())];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(Formula::negated),
            prop::collection::vec(inner.clone(), 1..4).prop_map(Formula::all),
            prop::collection::vec(inner, 1..4).prop_map(Formula::any),
        ]
    })
}

/// Conjunctions of literals, as learnt edges are, and some other formulae.
pub fn edge_formula() -> impl Strategy<Value = Formula> {
    let literal = (atom(), any::<bool>())
        .prop_map(|(atom, positive)| if positive { atom } else { atom.negated() });
    let conjunction = prop::collection::vec(literal, 1..4).prop_map(Formula::all);
    prop_oneof![3 => conjunction, 1 => formula()]
}

/// Observations over the whole vocabulary, mostly of few atoms.
pub fn observation() -> impl Strategy<Value = AtomSet> {
    let ids: Vec<AtomId> = full_signature().ids().collect();
    let (few, many) = (ids.clone(), ids);
    prop_oneof![
        4 => prop::sample::subsequence(few, 0..3),
        1 => prop::sample::subsequence(many, 0..=11),
    ]
    .prop_map(|ids| ids.into_iter().collect())
}

/// Sequences of observations.
pub fn observations(
    length: impl Into<prop::collection::SizeRange>,
) -> impl Strategy<Value = Vec<AtomSet>> {
    prop::collection::vec(observation(), length)
}

/// Machines with up to `states` states besides the two terminal ones: cycles, self-loops, parallel edges and rewards.
pub fn machine(states: usize, edges: usize) -> impl Strategy<Value = Machine> {
    let reward =
        prop_oneof![4 => Just(None), 1 => (-2..3_i8).prop_map(|r| Some(f64::from(r) / 2.0))];
    let edge = (0..states, 0..states + 2, edge_formula(), reward);
    prop::collection::vec(edge, 0..=edges).prop_map(move |edges| {
        let name = |i: usize| match i {
            i if i == states => "u_acc".to_owned(),
            i if i == states + 1 => "u_rej".to_owned(),
            i => format!("u{i}"),
        };
        let mut builder = Machine::builder("random")
            .initial("u0")
            .accept("u_acc")
            .reject("u_rej")
            .states((0..states + 2).map(name));
        for (from, to, formula, reward) in edges {
            builder = builder.edge_with(&name(from), &name(to), formula, reward);
        }
        builder.build().unwrap()
    })
}
