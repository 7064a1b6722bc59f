//! The paper's machines, and random ones with everything that is hard about them: cycles, loops, parallel edges, nested
//! formulae, predicates of several arities and names that other languages would misread.

use form_core::{
    Atom, Formula, GroundAtom, Literal, Machine, Name, QuantifiedAtom, Quantifier, Signature, Term,
};
use proptest::prelude::*;
use proptest::sample::select;

/// Reads a machine that is known to be right.
pub(crate) fn machine(text: &str) -> Machine {
    text.parse().unwrap()
}

pub(crate) const ALL_YELLOW: &str = "
    machine all_yellow
    initial u0
    accept  u_acc
    u0 -> u1    : forall X. yellow(X)
    u1 -> u_acc : goal
";

pub(crate) const GREEN_BUT_ONE: &str = "
    machine green_but_one
    initial u0
    accept  u_acc
    reject  u_rej
    u0 -> u1    : exists X. green(X) and not green(o12) and not lava
    u0 -> u_rej : lava
    u1 -> u_acc : goal and not lava
    u1 -> u_rej : lava
";

/// Everything at once: loops, edges both ways, rewards, nested formulae, odd names.
pub(crate) const MIXED: &str = "
    machine mixed
    states u0, Room_1, 2nd, lost, u_acc, u_rej
    initial u0
    accept  u_acc
    reject  u_rej
    u0 -> Room_1 : exists X. on(X, table) and (forall X. yellow(X) or not (a and b)) => 0.5
    u0 -> u0     : a => -1
    u0 -> u0     : b
    Room_1 -> u0 : lava or exists X. Blue(X)
    Room_1 -> 2nd : c
    2nd -> u_acc : forall X, Y. on(X, Y)
    2nd -> u_rej : not true or d
    2nd -> u0    : true
";

/// A machine whose formula is nested many levels deep.
pub(crate) fn deep() -> Machine {
    let levels = 50_000;
    let formula = format!("{}b{}", "not (a and ".repeat(levels), ")".repeat(levels));
    let builder = Machine::builder("deep").initial("u0").accept("u_acc");
    let builder = builder.edge("u0", "u_acc", &formula).unwrap();
    builder.build().unwrap()
}

const STATES: [&str; 8] = ["u0", "U0", "12", "état", "黄", "_", "obs", "__u"];
const FAMILIES: [(&str, usize); 7] = [
    ("goal", 0),
    ("Goal", 0),
    ("7", 0),
    ("yellow", 1),
    ("Été", 1),
    ("on", 2),
    ("_On", 2),
];
const CONSTANTS: [&str; 3] = ["a", "B", "0"];

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

/// All atoms that random machines are about.
pub(crate) fn signature() -> Signature {
    let atoms = FAMILIES.iter().flat_map(|(predicate, arity)| {
        (0..CONSTANTS.len().pow(*arity as u32)).map(move |i| {
            let constants = (0..*arity as u32).map(move |k| {
                let digit = i / CONSTANTS.len().pow(k) % CONSTANTS.len();
                name(CONSTANTS[digit])
            });
            GroundAtom::new(name(predicate), constants)
        })
    });
    Signature::new(atoms)
}

fn atom() -> impl Strategy<Value = Atom> {
    let term = prop_oneof![
        3 => (0..2_u32).prop_map(Term::Variable),
        1 => select(&CONSTANTS[..]).prop_map(|c| Term::Constant(name(c))),
    ];
    let quantifier = select(vec![Quantifier::Exists, Quantifier::Forall]);
    let quantified = (select(&FAMILIES[3..]), quantifier, [term.clone(), term]).prop_map(
        |((predicate, arity), quantifier, terms)| {
            let mut terms = terms[..arity].to_vec();
            if !terms.iter().any(|t| matches!(t, Term::Variable(_))) {
                terms[0] = Term::Variable(0);
            }
            let atom = QuantifiedAtom::new(quantifier, name(predicate), terms);
            Atom::Quantified(atom.expect("it has a variable"))
        },
    );
    let ground = select(signature().atoms().to_vec()).prop_map(Atom::Ground);
    prop_oneof![1 => ground, 2 => quantified]
}

/// Atomic formulae that the paper does not have: `once`, `atleast` and joins, of which some have no substitution over the signature.
fn windowed_atom() -> impl Strategy<Value = Atom> {
    let term = prop_oneof![
        3 => (0..3_u32).prop_map(Term::Variable),
        1 => select(&CONSTANTS[..]).prop_map(|c| Term::Constant(name(c))),
    ];
    let literal = (
        select(&FAMILIES[..]),
        [term.clone(), term],
        any::<[bool; 2]>(),
    )
        .prop_map(|((predicate, arity), terms, [once, negated])| Literal {
            once,
            negated,
            ..Literal::now(name(predicate), terms[..arity].to_vec())
        });
    let once = literal
        .clone()
        .prop_map(|literal| Some(QuantifiedAtom::once(literal.predicate, literal.terms)));
    let counted = (literal.clone(), 2..4_u32).prop_map(|(literal, count)| {
        QuantifiedAtom::new(Quantifier::AtLeast(count), literal.predicate, literal.terms)
    });
    let join = prop::collection::vec(literal, 2..4).prop_map(QuantifiedAtom::join);
    prop_oneof![1 => once, 1 => counted, 2 => join].prop_filter_map(
        "no such atom, or too few objects for it",
        |atom| {
            let atom = Atom::Quantified(atom?);
            let builder = Machine::builder("one").initial("u").accept("v");
            let machine = builder.edge_with("u", "v", Formula::atom(atom.clone()), None);
            machine
                .build()
                .unwrap()
                .bind(&signature())
                .is_ok()
                .then_some(atom)
        },
    )
}

/// Formulae with all connectives, some levels deep; with the atoms of the paper alone, or with all.
fn formula(windowed: bool) -> impl Strategy<Value = Formula> {
    let atom = match windowed {
        true => prop_oneof![atom(), windowed_atom()].boxed(),
        false => atom().boxed(),
    };
    let leaf = prop_oneof![
        12 => atom.prop_map(Formula::atom),
        1 => Just(Formula::truth()),
    ];
    leaf.prop_recursive(3, 10, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(Formula::negated),
            prop::collection::vec(inner.clone(), 1..4).prop_map(Formula::all),
            prop::collection::vec(inner, 1..4).prop_map(Formula::any),
        ]
    })
}

/// Machines of some states, a rejecting one or not, with edges anywhere and the atoms of the paper.
pub(crate) fn machines() -> impl Strategy<Value = Machine> {
    random_machines(false)
}

/// As [`machines`], with all atoms.
pub(crate) fn windowed_machines() -> impl Strategy<Value = Machine> {
    random_machines(true)
}

fn random_machines(windowed: bool) -> impl Strategy<Value = Machine> {
    let edge = (
        any::<u8>(),
        any::<u8>(),
        formula(windowed),
        prop::option::weighted(0.1, -2..3_i8),
    );
    (
        3..=STATES.len(),
        any::<bool>(),
        prop::collection::vec(edge, 1..9),
    )
        .prop_map(|(states, rejects, edges)| {
            let states = &STATES[..states];
            let terminal = 1 + usize::from(rejects);
            let mut builder = Machine::builder("random")
                .states(states)
                .initial(states[terminal])
                .accept(states[0]);
            if rejects {
                builder = builder.reject(states[1]);
            }
            for (from, to, formula, reward) in edges {
                let from = states[terminal + usize::from(from) % (states.len() - terminal)];
                let to = states[usize::from(to) % states.len()];
                builder = builder.edge_with(from, to, formula, reward.map(f64::from));
            }
            builder.build().unwrap()
        })
}
