//! Names and atoms as terms of answer set programs.
//!
//! A name that is a constant in ASP (a small letter, then letters, digits and `_`) stays as it is; every other one becomes a
//! string, and an atom with such a predicate becomes a tuple: `yellow(o1)`, `"Goal"`, `("Yellow",o1)`. Names consist of letters,
//! digits and `_`, so a string needs no escapes. The mapping is injective: constants, strings, functions and tuples are different
//! terms.

use form_core::{Literal, Name, QuantifiedAtom, Quantifier, Term};

/// A name as a constant or a string.
pub(super) fn name(name: &str) -> String {
    let mut chars = name.chars();
    let constant = chars.next().is_some_and(|c| c.is_ascii_lowercase())
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_');
    // `not` is a reserved word here, too; it would be the only keyword among the constants.
    if constant && name != "not" {
        name.to_owned()
    } else {
        format!("\"{name}\"")
    }
}

/// A ground atom.
pub(super) fn application(predicate: &Name, constants: &[Name]) -> String {
    applied(
        predicate,
        constants.iter().map(|constant| name(constant.as_str())),
    )
}

/// The atom of a literal with ASP variables, which matches its instances.
pub(super) fn pattern(literal: &Literal) -> String {
    applied(
        &literal.predicate,
        literal.terms.iter().map(|term| match term {
            Term::Variable(v) => format!("V{v}"),
            Term::Constant(constant) => name(constant.as_str()),
        }),
    )
}

/// The key of a literal's instances: its predicate, as in the paper, if its atom is `p(X)`; `ground(p(o))` if it has no variables; else
/// the atom with `var(0)`, `var(1)`, … for its variables.
pub(super) fn key(literal: &Literal) -> String {
    match &*literal.terms {
        [Term::Variable(_)] => name(literal.predicate.as_str()),
        terms if terms.iter().all(|term| matches!(term, Term::Constant(_))) => {
            format!("ground({})", written(literal))
        }
        _ => written(literal),
    }
}

/// The atom of a literal with `var(0)`, `var(1)`, … for its variables.
fn written(literal: &Literal) -> String {
    applied(
        &literal.predicate,
        literal.terms.iter().map(|term| match term {
            Term::Variable(v) => format!("var({v})"),
            Term::Constant(constant) => name(constant.as_str()),
        }),
    )
}

/// The key of a join: its literals as `now`, `once`, `not_now` and `not_once`.
pub(super) fn join_key(atom: &QuantifiedAtom) -> String {
    let literals: Vec<String> = (atom.literals().iter())
        .map(|literal| {
            let not = if literal.negated { "not_" } else { "" };
            let when = if literal.once { "once" } else { "now" };
            format!("{not}{when}({})", written(literal))
        })
        .collect();
    format!("all({})", literals.join(","))
}

/// The term of a quantified atom, all but its closing parenthesis.
pub(super) fn quantified(atom: &QuantifiedAtom) -> String {
    match (atom.single(), atom.quantifier()) {
        (None, _) => format!("j_pred({}", join_key(atom)),
        (Some(literal), Quantifier::Exists) if literal.once => format!("o_pred({}", key(literal)),
        (Some(literal), Quantifier::Exists) => format!("e_pred({}", key(literal)),
        (Some(literal), Quantifier::Forall) => format!("a_pred({}", key(literal)),
        (Some(literal), Quantifier::AtLeast(count)) => format!("c_pred({},{count}", key(literal)),
    }
}

fn applied(predicate: &Name, arguments: impl Iterator<Item = String>) -> String {
    let arguments: Vec<String> = arguments.collect();
    let predicate = name(predicate.as_str());
    if arguments.is_empty() {
        predicate
    } else if predicate.starts_with('"') {
        format!("({predicate},{})", arguments.join(","))
    } else {
        format!("{predicate}({})", arguments.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use form_core::GroundAtom;

    #[test]
    fn odd_names_become_strings_and_tuples() {
        let check = |text: &str, term: &str| {
            let atom: GroundAtom = text.parse().unwrap();
            assert_eq!(application(atom.predicate(), atom.constants()), term);
        };
        check("yellow(o1)", "yellow(o1)");
        check("goal", "goal");
        check("Goal", "\"Goal\"");
        check("12", "\"12\"");
        check("_", "\"_\"");
        check("on(A, _b, über)", "on(\"A\",\"_b\",\"über\")");
        check("Yellow(o1)", "(\"Yellow\",o1)");
    }

    #[test]
    fn quantified_atoms_are_known_by_their_shape() {
        let word = |text: &str| Name::new(text).unwrap();
        let on = |terms: Vec<Term>| Literal::now(word("on"), terms);
        let table = Term::Constant(word("table"));
        let x = Term::Variable(0);
        assert_eq!(key(&on(vec![x.clone()])), "on");
        assert_eq!(key(&on(vec![x.clone(), table.clone()])), "on(var(0),table)");
        assert_eq!(key(&on(vec![table.clone()])), "ground(on(table))");
        assert_eq!(pattern(&on(vec![x.clone(), table])), "on(V0,table)");
        assert_eq!(pattern(&on(vec![x.clone(), x])), "on(V0,V0)");
    }
}
