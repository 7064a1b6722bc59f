//! Random formulae, signatures, buffers and machines for the property tests.
//!
//! Formulae and machines are over a given signature and always bind to it. The whole vocabulary has propositions, unary
//! and binary predicates, so that quantified atoms with constants and repeated variables come up often.

use form_core::{AtomId, AtomSet, Formula, GroundOptions, Machine, Signature, StepMode, ground};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

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

/// Atomic formulae that the paper does not have.
const WINDOWED: [&str; 16] = [
    "once goal",
    "once p(a)",
    "once on(a, b)",
    "exists X. once p(X)",
    "exists X, Y. once on(X, Y)",
    "atleast 2 X. p(X)",
    "atleast 2 X, Y. on(X, Y)",
    "atleast 3 X, Y. on(X, Y)",
    "exists X. (once p(X) and q(X))",
    "exists X. (p(X) and not once q(X))",
    "exists X. (once p(X) and once q(X))",
    "exists X. (once p(X) and not q(X) and not goal)",
    "exists X. (once on(X, X) and p(X))",
    "exists X, Y. (p(X) and not on(X, Y))",
    "exists X, Y. (once on(X, Y) and p(X) and not once q(Y))",
    "exists X, Y. (not on(X, Y) and once p(X) and once q(Y))",
];

/// The atomic formulae that the signature has instances of: its atoms, and quantified ones.
fn atoms(signature: &Signature) -> (Vec<Formula>, Vec<Formula>) {
    let ground = (signature.ids())
        .map(|id| Formula::atom(signature.atom(id).clone()))
        .collect();
    let quantified = ["exists", "forall"]
        .into_iter()
        .flat_map(|quantifier| {
            [
                "X. p(X)",
                "X. q(X)",
                "X, Y. on(X, Y)",
                "X. on(X, X)",
                "X. on(X, b)",
                "X. on(a, X)",
            ]
            .map(|rest| format!("{quantifier} {rest}"))
        })
        .chain(WINDOWED.map(str::to_owned))
        .map(|text| text.parse().unwrap())
        .filter(|atom: &Formula| one_edge(atom).bind(signature).is_ok())
        .collect();
    (ground, quantified)
}

/// A machine whose only edge has the formula.
pub fn one_edge(formula: &Formula) -> Machine {
    let builder = Machine::builder("m").initial("u0").accept("u1");
    builder
        .edge_with("u0", "u1", formula.clone(), None)
        .build()
        .unwrap()
}

/// Atomic formulae.
fn atom(signature: &Signature) -> impl Strategy<Value = Formula> + use<> {
    let (ground, quantified) = atoms(signature);
    prop_oneof![
        prop::sample::select(ground),
        prop::sample::select(quantified)
    ]
}

/// Formulae of any shape.
pub fn formula(signature: &Signature) -> impl Strategy<Value = Formula> + use<> {
    let leaf = prop_oneof![9 => atom(signature), 1 => Just(Formula::truth())];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(Formula::negated),
            prop::collection::vec(inner.clone(), 1..4).prop_map(Formula::all),
            prop::collection::vec(inner, 1..4).prop_map(Formula::any),
        ]
    })
}

/// Conjunctions of literals, as learnt edges are, and some other formulae.
fn edge_formula(signature: &Signature) -> impl Strategy<Value = Formula> + use<> {
    let literal = (atom(signature), any::<bool>())
        .prop_map(|(atom, positive)| if positive { atom } else { atom.negated() });
    let conjunction = prop::collection::vec(literal, 1..4).prop_map(Formula::all);
    prop_oneof![3 => conjunction, 1 => formula(signature)]
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

/// An edge by the numbers of its states, the accepting and the rejecting one last.
#[derive(Clone, Debug)]
struct Draft {
    from: usize,
    to: usize,
    formula: Formula,
    reward: Option<f64>,
}

fn reward() -> impl Strategy<Value = Option<f64>> {
    (-2..3_i8).prop_map(|r| Some(f64::from(r) / 2.0))
}

fn draft(signature: &Signature, states: usize) -> impl Strategy<Value = Draft> + use<> {
    let reward = prop_oneof![4 => Just(None), 1 => reward()];
    let edge = (0..states, 0..states + 2, edge_formula(signature), reward);
    edge.prop_map(|(from, to, formula, reward)| Draft {
        from,
        to,
        formula,
        reward,
    })
}

fn step_mode() -> impl Strategy<Value = StepMode> {
    prop_oneof![2 => Just(StepMode::Changes), 1 => Just(StepMode::All)]
}

fn built(states: usize, edges: &[Draft], mode: StepMode) -> Machine {
    let name = |i: usize| match i {
        i if i == states => "u_acc".to_owned(),
        i if i == states + 1 => "u_rej".to_owned(),
        i => format!("u{i}"),
    };
    let mut builder = Machine::builder("random")
        .initial("u0")
        .accept("u_acc")
        .reject("u_rej")
        .step_mode(mode)
        .states((0..states + 2).map(name));
    for edge in edges {
        builder = builder.edge_with(
            &name(edge.from),
            &name(edge.to),
            edge.formula.clone(),
            edge.reward,
        );
    }
    builder.build().unwrap()
}

/// Machines with `states` states besides the two terminal ones: cycles, self-loops, parallel edges and rewards.
pub fn machine(
    signature: &Signature,
    states: usize,
    edges: usize,
) -> impl Strategy<Value = Machine> + use<> {
    let edges = prop::collection::vec(draft(signature, states), 0..=edges);
    (edges, step_mode()).prop_map(move |(edges, mode)| built(states, &edges, mode))
}

/// Machines as [`machine`] makes them; of some, all or some edges require that no earlier edge of their state holds.
pub fn guarded_machine(
    signature: &Signature,
    states: usize,
    edges: usize,
) -> impl Strategy<Value = Machine> + use<> {
    let guarded = prop_oneof![
        1 => Just(vec![false; edges]),
        2 => Just(vec![true; edges]),
        1 => prop::collection::vec(any::<bool>(), edges),
    ];
    let edges = prop::collection::vec(draft(signature, states), 2..=edges);
    (edges, guarded, step_mode()).prop_map(move |(mut edges, guarded, mode)| {
        for i in (0..edges.len()).rev().filter(|i| guarded[*i]) {
            let (earlier, edge) = edges.split_at_mut(i);
            let edge = &mut edge[0];
            let others = (earlier.iter())
                .filter(|other| other.from == edge.from)
                .map(|other| other.formula.clone().negated());
            edge.formula = Formula::all(std::iter::once(edge.formula.clone()).chain(others));
        }
        built(states, &edges, mode)
    })
}

/// How the second machine of a pair comes from the first.
#[derive(Clone, Debug)]
enum Variation {
    /// Another machine altogether.
    Unrelated(Vec<Draft>),
    /// One edge is another.
    Changed(prop::sample::Index, Draft),
    /// One edge has another formula.
    Reformulated(prop::sample::Index, Formula),
    /// One edge has another reward.
    Rewarded(prop::sample::Index, Option<f64>),
    /// Two edges change places.
    Swapped(prop::sample::Index, prop::sample::Index),
    /// Every formula `f` is written as `f or f and g`.
    Rewritten(Formula),
    /// Without quantifiers.
    Grounded,
}

fn variation(
    signature: &Signature,
    states: usize,
    edges: usize,
) -> impl Strategy<Value = Variation> + use<> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        2 => prop::collection::vec(draft(signature, states), 1..=edges).prop_map(Variation::Unrelated),
        2 => (index(), draft(signature, states)).prop_map(|(i, edge)| Variation::Changed(i, edge)),
        2 => (index(), edge_formula(signature)).prop_map(|(i, formula)| Variation::Reformulated(i, formula)),
        1 => (index(), reward()).prop_map(|(i, reward)| Variation::Rewarded(i, reward)),
        2 => (index(), index()).prop_map(|(i, j)| Variation::Swapped(i, j)),
        2 => edge_formula(signature).prop_map(Variation::Rewritten),
        2 => Just(Variation::Grounded),
    ]
}

/// Pairs of machines as [`machine`] makes them, mostly similar and often equivalent.
pub fn machines(
    signature: &Signature,
    states: usize,
    edges: usize,
) -> impl Strategy<Value = (Machine, Machine)> + use<> {
    let first = prop::collection::vec(draft(signature, states), 1..=edges);
    let second = variation(signature, states, edges);
    let signature = signature.clone();
    (first, second, step_mode()).prop_map(move |(mut edges, variation, mode)| {
        let first = built(states, &edges, mode);
        match variation {
            Variation::Unrelated(others) => edges = others,
            Variation::Changed(i, edge) => *i.get_mut(&mut edges) = edge,
            Variation::Reformulated(i, formula) => i.get_mut(&mut edges).formula = formula,
            Variation::Rewarded(i, reward) => i.get_mut(&mut edges).reward = reward,
            Variation::Swapped(i, j) => {
                let (i, j) = (i.index(edges.len()), j.index(edges.len()));
                edges.swap(i, j);
            }
            Variation::Rewritten(other) => {
                for edge in &mut edges {
                    let both = Formula::all([edge.formula.clone(), other.clone()]);
                    edge.formula = Formula::any([edge.formula.clone(), both]);
                }
            }
            Variation::Grounded => {
                let bound = first.bind(&signature).unwrap();
                let grounded = ground(&bound, &GroundOptions::default()).unwrap();
                return (first, grounded);
            }
        }
        (first, built(states, &edges, mode))
    })
}

/// As many values as asked for, the same in every run.
pub fn sample<S: Strategy>(strategy: &S, values: usize) -> Vec<S::Value> {
    let mut runner = TestRunner::deterministic();
    (0..values)
        .map(|_| strategy.new_tree(&mut runner).unwrap().current())
        .collect()
}
