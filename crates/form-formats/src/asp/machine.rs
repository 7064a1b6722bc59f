//! A machine and a trace as answer set programs, with the paper's predicates (Sections 2.3 and 3.3, Appendix E).
//!
//! The meaning is that of the runtime, which differs from the paper's listings where they contradict its definitions:
//! - a `forall` stays true until the state is left, where Listing 2 makes it true at the first such step only;
//! - the buffer starts when the state was last *entered*, where Listing 2 joins all visits to a state;
//! - edges out of a state are numbered in declaration order, and the first that holds is taken;
//! - of Listing 3's mapping of quantified to ground atoms only the sound part is kept: a negative `exists` excludes every
//!   instance. A positive `forall` does not put its instances into the newest observation, and a choice among the
//!   instances of a positive `exists` proves nothing.
//!
//! `p_holds`, `all_p_hold`, `e_pred` and `a_pred` take the quantified atom as an argument instead of having its predicate
//! in their names, so that no name can clash with the program's own.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use form_core::{
    Atom, AtomSet, Edge, Formula, Literal as AtomLiteral, Machine, Node, Notation, QuantifiedAtom,
    Quantifier, Signature, StepMode, Term,
};

use super::terms::{application, join_key, key, name, pattern, quantified};

/// Which steps count, for a machine that observes every change.
const CHANGES: &str = "\
% An edge holds when its negation does not. Of the edges that hold the first is taken; an empty observation takes none.
event(T) :- obs(_,T).
";

/// Which steps count, for a machine that observes every step.
const EVERY_STEP: &str = "\
% An edge holds when its negation does not. Of the edges that hold the first is taken; an empty observation counts too.
event(T) :- step(T).
";

/// The rules that are the same for every machine.
const SEMANTICS: &str = "\
phi(X,Y,E,T) :- ed(X,Y,E), not n_phi(X,Y,E,T), step(T).
earlier(X,E,T) :- phi(X,_,D,T), ed(X,_,E), D < E.
delta(X,Y,T) :- st(T,X), phi(X,Y,E,T), event(T), not earlier(X,E,T).
moved(T) :- delta(X,Y,T), X != Y.
st(T+1,Y) :- delta(X,Y,T).
st(T+1,X) :- st(T,X), step(T), not moved(T).

% The buffer: what was observed since the state was entered. A self-loop does not empty it.
entered(T+1) :- moved(T).
p_holds(O,T) :- obs(O,T), instance(_,O).
p_holds(O,T) :- p_holds(O,T-1), step(T), not entered(T).

% Listing 1: some instance is observed now.
e_pred(P,T) :- obs(O,T), instance(P,O).

% Listing 2: all instances are in the buffer. Unlike there it stays true until the state is left, not for one step only.
not_all_p_hold(P,T) :- instance(P,O), not p_holds(O,T), step(T).
all_p_hold(P,T) :- instance(P,_), not not_all_p_hold(P,T), step(T).
a_pred(P,T) :- all_p_hold(P,T).

% Not in the paper: some instance is in the buffer, and at least K of them are.
o_pred(P,T) :- p_holds(O,T), instance(P,O), step(T).
c_pred(P,K,T) :- counted(P,K), step(T), K <= #count { O : p_holds(O,T), instance(P,O) }.

% Appendix E: edges to different states that no literal keeps apart. A negative `exists` excludes its instances.
neg(X,Y,E,obs(O)) :- neg(X,Y,E,e_pred(P)), instance(P,O).
exclusive(X,D,E) :- pos(X,Y,D,L), neg(X,Z,E,L), Y != Z.
overlap(X,Y,Z) :- ed(X,Y,D), ed(X,Z,E), Y < Z, not exclusive(X,D,E), not exclusive(X,E,D).

#defined obs/2. #defined step/1. #defined last/1. #defined observable/1. #defined instance/2. #defined counted/2.
#defined ed/3. #defined n_phi/4. #defined pos/4. #defined neg/4.
#show st/2. #show overlap/3.
";

/// The machine as an answer set program that, together with a trace (see [`trace_to_asp`]), derives `st(T,X)`, the state
/// before step `T`, and `accepted` or `rejected` after the last; `overlap(X,Y,Z)` warns of edges from `X` to `Y` and to `Z` that can
/// hold together.
///
/// With a signature the program contains its atoms; without one they must be added as `observable` facts.
///
/// ```
/// let machine: form_core::Machine = "
///     initial u0
///     accept  u_acc
///     u0 -> u_acc : goal and not exists X. lava(X)
/// ".parse()?;
/// let program = form_formats::to_asp(&machine, None);
/// assert!(program.contains("n_phi(u0,u_acc,0,T) :- not obs(goal,T), step(T)."));
/// assert!(program.contains("n_phi(u0,u_acc,0,T) :- e_pred(lava,T), step(T)."));
/// # Ok::<(), form_core::Error>(())
/// ```
pub fn to_asp(machine: &Machine, signature: Option<&Signature>) -> String {
    let mut program = format!("% The machine {}.\n", machine.name());
    // Writing to a string cannot fail, here and below.
    for state in machine.states() {
        let _ = writeln!(program, "state({}).", name(state.as_str()));
    }
    let state = |id| name(machine.state_name(id));
    let _ = writeln!(program, "st(0,{}).", state(machine.initial()));
    for (outcome, terminal) in [
        ("accepted", Some(machine.accept())),
        ("rejected", machine.reject()),
    ] {
        if let Some(terminal) = terminal {
            let terminal = state(terminal);
            let _ = writeln!(
                program,
                "{outcome} :- last(T), st(T+1,{terminal}). #show {outcome}/0."
            );
        }
    }
    program.push_str("\n% Its edges, numbered in the order in which those of one state are tried; each disjunct is an edge.\n");
    let mut numbers: Vec<usize> = vec![0; machine.states().len()];
    let mut parts = 0;
    for edge in machine.edges() {
        write_edge(&mut program, machine, edge, &mut numbers, &mut parts);
    }
    write_instances(&mut program, machine);
    program.push('\n');
    match signature {
        None => program.push_str(
            "% Add a fact `observable(p(c)).` for each ground atom that can be observed: `forall` ranges over them.\n",
        ),
        Some(signature) => {
            program.push_str("% What can be observed.\n");
            for atom in signature.atoms() {
                let term = application(atom.predicate(), atom.constants());
                let _ = writeln!(program, "observable({term}).");
            }
        }
    }
    program.push('\n');
    program.push_str(match machine.step_mode() {
        StepMode::Changes => CHANGES,
        StepMode::All => EVERY_STEP,
    });
    program.push_str(SEMANTICS);
    program
}

/// A trace as facts: `obs(o,T)` for each atom observed at step `T`, `step(T)` for every step from 0, and `last(T)`.
pub fn trace_to_asp(steps: &[AtomSet], signature: &Signature) -> String {
    let mut facts = String::new();
    for (t, observation) in steps.iter().enumerate() {
        for id in observation.iter() {
            let atom = signature.atom(id);
            let term = application(atom.predicate(), atom.constants());
            let _ = write!(facts, "obs({term},{t}). ");
        }
        let _ = writeln!(facts, "step({t}).");
    }
    if let Some(last) = steps.len().checked_sub(1) {
        let _ = writeln!(facts, "last({last}).");
    }
    facts
}

/// The term of an atomic formula in `pos` and `neg`: `obs(yellow(o1))`, `e_pred(blue)`, `a_pred(blue)`, `o_pred(blue)`, `c_pred(blue,2)`,
/// `j_pred(all(once(key(var(0))),now(door(var(0)))))`.
///
/// Different atoms have different terms, and clingo prints a term as it was written.
pub fn atom_to_asp(atom: &Atom) -> String {
    condition(atom) + ")"
}

/// The instances of each quantified atom of the machine, among the observable atoms; quantifiers of the same atom share them. Also
/// what is counted, and the rules of joins.
fn write_instances(program: &mut String, machine: &Machine) {
    let atoms = machine.atoms();
    let quantified = || {
        atoms.iter().filter_map(|atom| match atom {
            Atom::Quantified(atom) => Some(atom),
            Atom::Ground(_) => None,
        })
    };
    let instances: BTreeMap<String, String> = quantified()
        .flat_map(QuantifiedAtom::literals)
        .map(|literal| (key(literal), pattern(literal)))
        .collect();
    if !instances.is_empty() {
        program.push_str("\n% The instances of its quantified atoms.\n");
    }
    for (key, instance) in instances {
        let _ = writeln!(
            program,
            "instance({key},{instance}) :- observable({instance})."
        );
    }
    for atom in quantified() {
        if let (Some(literal), Quantifier::AtLeast(count)) = (atom.single(), atom.quantifier()) {
            let _ = writeln!(program, "counted({},{count}).", key(literal));
        }
    }
    for atom in quantified().filter(|atom| atom.single().is_none()) {
        write_join(program, atom);
    }
}

/// The rule of a join: one substitution makes all its literals true. Variables of negative literals alone range over the objects in their
/// places.
fn write_join(program: &mut String, atom: &QuantifiedAtom) {
    let key = join_key(atom);
    let places = |variable: u32| {
        (atom.literals().iter()).flat_map(move |literal| {
            (literal.terms.iter().enumerate())
                .filter(move |(_, term)| **term == Term::Variable(variable))
                .map(move |(place, _)| (literal, place))
        })
    };
    let mut body: Vec<String> = Vec::new();
    for variable in 0..atom.variables() {
        if places(variable).any(|(literal, _)| !literal.negated) {
            continue;
        }
        for (literal, place) in places(variable) {
            // Other arguments may be anything.
            let terms = (0..literal.terms.len() as u32).map(Term::Variable);
            let any = AtomLiteral::now(literal.predicate.clone(), terms);
            let _ = writeln!(
                program,
                "range({key},{variable},V{place}) :- observable({}).",
                pattern(&any)
            );
        }
        body.push(format!("range({key},{variable},V{variable})"));
    }
    for literal in atom.literals() {
        let not = if literal.negated { "not " } else { "" };
        let holds = if literal.once { "p_holds" } else { "obs" };
        body.push(format!("{not}{holds}({},T)", pattern(literal)));
    }
    let _ = writeln!(program, "j_pred({key},T) :- step(T), {}.", body.join(", "));
}

/// A condition on step `T` that may be negated.
#[derive(Clone)]
struct Literal {
    /// `obs(goal`, `e_pred(blue`, `part(3`: all but `,T)`; empty for `true`.
    condition: String,
    positive: bool,
}

impl Literal {
    fn body(&self, negated: bool) -> String {
        let not = if self.positive == negated { "not " } else { "" };
        match self.condition.as_str() {
            "" => format!("{not}#true"),
            condition => format!("{not}{condition},T)"),
        }
    }
}

/// A formula in negation normal form whose nested joins have become `part` literals.
enum Normal {
    Literal(Literal),
    And(Vec<Literal>),
    Or(Vec<Literal>),
}

/// Writes the facts and rules of an edge: one numbered edge per top-level disjunct.
fn write_edge(
    program: &mut String,
    machine: &Machine,
    edge: &Edge,
    numbers: &mut [usize],
    parts: &mut usize,
) {
    let from = name(machine.state_name(edge.from));
    let to = name(machine.state_name(edge.to));
    let formula = edge.formula.display(Notation::Unicode);
    let _ = writeln!(program, "% {from} → {to}: {formula}");
    for disjunct in edge.formula.disjuncts() {
        let cubes = match normal(&disjunct, program, parts) {
            Normal::Literal(literal) => vec![vec![literal]],
            Normal::And(literals) => vec![literals],
            Normal::Or(literals) => literals.into_iter().map(|literal| vec![literal]).collect(),
        };
        for cube in cubes {
            let number = &mut numbers[edge.from.index()];
            let id = format!("{from},{to},{number}");
            *number += 1;
            let _ = writeln!(program, "ed({id}).");
            if let Some(reward) = edge.reward {
                let _ = writeln!(program, "reward({id},\"{reward}\").");
            }
            for literal in &cube {
                let (
                    Literal {
                        condition,
                        positive,
                    },
                    failing,
                ) = (literal, literal.body(true));
                let sign = if *positive { "pos" } else { "neg" };
                let _ = match (condition.as_str(), positive) {
                    ("", true) => Ok(()),
                    ("", false) => writeln!(program, "n_phi({id},T) :- step(T)."),
                    (condition, _) => writeln!(
                        program,
                        "n_phi({id},T) :- {failing}, step(T).\n{sign}({id},{condition}))."
                    ),
                };
            }
        }
    }
}

/// The normal form of a formula; rules for its parts go to `program`.
fn normal(formula: &Formula, program: &mut String, parts: &mut usize) -> Normal {
    let mut polarities = formula.polarities().into_iter();
    formula.fold(|node, children: Vec<Normal>| {
        let positive = polarities.next().unwrap_or(true);
        let conjunction = matches!(node, Node::And(_)) == positive;
        match node {
            Node::True => Normal::Literal(Literal {
                condition: String::new(),
                positive,
            }),
            Node::Atom(atom) => Normal::Literal(Literal {
                condition: condition(atom),
                positive,
            }),
            // The polarity of the operand includes this negation.
            Node::Not => children.into_iter().next().expect("`not` has an operand"),
            Node::And(_) | Node::Or(_) => {
                let mut literals = Vec::with_capacity(children.len());
                for child in children {
                    match (child, conjunction) {
                        (Normal::Literal(literal), _) => literals.push(literal),
                        (Normal::And(more), true) | (Normal::Or(more), false) => {
                            literals.extend(more);
                        }
                        (Normal::And(nested), false) => {
                            let bodies = [join(&nested)];
                            literals.push(part(&bodies, program, parts));
                        }
                        (Normal::Or(nested), true) => {
                            let bodies: Vec<String> =
                                nested.iter().map(|literal| literal.body(false)).collect();
                            literals.push(part(&bodies, program, parts));
                        }
                    }
                }
                if conjunction {
                    Normal::And(literals)
                } else {
                    Normal::Or(literals)
                }
            }
        }
    })
}

fn join(literals: &[Literal]) -> String {
    let bodies: Vec<String> = literals.iter().map(|literal| literal.body(false)).collect();
    bodies.join(", ")
}

/// A new part of a formula that holds when one of the bodies does.
fn part(bodies: &[String], program: &mut String, parts: &mut usize) -> Literal {
    let condition = format!("part({parts}");
    *parts += 1;
    for body in bodies {
        let _ = writeln!(program, "{condition},T) :- {body}, step(T).");
    }
    Literal {
        condition,
        positive: true,
    }
}

fn condition(atom: &Atom) -> String {
    match atom {
        Atom::Ground(atom) => {
            let term = application(atom.predicate(), atom.constants());
            format!("obs({term}")
        }
        Atom::Quantified(atom) => quantified(atom),
    }
}
