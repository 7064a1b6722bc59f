//! Atoms with a window as they are written: canonical texts, names that stay names, and every misuse with its place.

use form_core::{Atom, Formula, Machine, Notation, Quantifier, Signature};

fn formula(text: &str) -> Formula {
    text.parse()
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn both_notations_have_one_canonical_text() {
    for (texts, ascii, unicode) in [
        (["once p(o)", "◆ p(o)"], "once p(o)", "◆p(o)"),
        (["once goal", "(◆goal)"], "once goal", "◆goal"),
        (
            ["exists Y. once p(Y)", "atleast 1 X. p(X)"],
            "exists X. once p(X)",
            "∃X. ◆p(X)",
        ),
        (
            ["atleast 2 X. p(X)", "∃≥02 A. p(A)"],
            "atleast 2 X. p(X)",
            "∃≥2 X. p(X)",
        ),
        (
            ["exists X. (p(X))", "∃X.(¬not p(X))"],
            "exists X. p(X)",
            "∃X. p(X)",
        ),
        (
            [
                "exists B A. (once paid(A) and shipped(A, B) and not once late(B))",
                "∃X,Y.(◆paid(X) ∧ shipped(X,Y) & !◆late(Y))",
            ],
            "exists X, Y. (once paid(X) and shipped(X, Y) and not once late(Y))",
            "∃X, Y. (◆paid(X) ∧ shipped(X, Y) ∧ ¬◆late(Y))",
        ),
        (
            [
                "not exists X. (vote(X, X) and goal)",
                "!∃X. (vote(X,X) && goal)",
            ],
            "not exists X. (vote(X, X) and goal)",
            "¬∃X. (vote(X, X) ∧ goal)",
        ),
    ] {
        for text in texts {
            assert_eq!(formula(text).to_string(), ascii);
            assert_eq!(
                formula(text).display(Notation::Unicode).to_string(),
                unicode
            );
        }
    }
}

/// Neither `once` nor `atleast` is reserved: what had a meaning before they were added keeps it.
#[test]
fn new_words_are_names_where_names_make_sense() {
    for text in [
        "once",
        "atleast",
        "once(a)",
        "not once and atleast(b, c)",
        "exists X. once(X)",
        "forall X, Y. atleast(X, Y) or once",
        "p(once, atleast)",
    ] {
        let formula = formula(text);
        assert_eq!(formula.to_string(), text);
        let old = |atom: &Atom| match atom {
            Atom::Ground(_) => true,
            Atom::Quantified(atom) => {
                atom.literals()[0].once == (atom.quantifier() == Quantifier::Forall)
            }
        };
        assert!(formula.atoms().all(old), "{text}");
    }
    assert_eq!(formula("once once").to_string(), "once once");
    assert_eq!(
        formula("exists once. (once once(once) and p(once))").to_string(),
        "exists X. (once once(X) and p(X))"
    );
}

/// The part of the text that an error points at, and its message.
fn refused(text: &str) -> (String, String) {
    let error = text.parse::<Formula>().unwrap_err();
    let (_, column) = error.position().unwrap();
    (text.chars().skip(column - 1).collect(), error.to_string())
}

#[test]
fn every_misuse_is_pointed_at() {
    for (text, place, message) in [
        (
            "exists X. once p(X) and q(X)",
            "X)",
            "as in `exists X. (p(X) and q(X))`",
        ),
        (
            "exists X. (once p(X) and q(X)) and r(X)",
            "X)",
            "no quantifier binds it here",
        ),
        ("atleast 0 X. p(X)", "0 X. p(X)", "always holds"),
        ("∃≥0 X. p(X)", "0 X. p(X)", "always holds"),
        (
            "atleast 99999999999 X. p(X)",
            "99999999999 X. p(X)",
            "too large",
        ),
        (
            "atleast two X. p(X)",
            "two X. p(X)",
            "expected a number after `atleast`",
        ),
        ("atleast 2. p(X)", ". p(X)", "a variable after `atleast`"),
        (
            "atleast 2 X. (p(X) and q(X))",
            "(p(X) and q(X))",
            "only `exists` takes literals",
        ),
        ("forall X. (p(X))", "(p(X))", "only `exists` takes literals"),
        ("forall X. once p(X)", "once p(X)", "leave out the `once`"),
        ("atleast 2 X. ◆p(X)", "◆p(X)", "leave out the `once`"),
        (
            "exists X. (not p(X) and not once q(X))",
            "(not p(X) and not once q(X))",
            "without `not`",
        ),
        (
            "exists X. (p(X) or q(X))",
            "or q(X))",
            "`or` between two `exists`",
        ),
        ("exists X. (p(X) and (q(X)))", "(q(X)))", "a literal"),
        ("exists X. (p(X) and true)", "true)", "a literal"),
        ("exists X. (p(X)", "", "`and` or the `)`"),
        ("exists X. ()", ")", "a literal"),
        (
            "exists X, Y. (p(X) and q(X))",
            "Y. (p(X) and q(X))",
            "does not occur",
        ),
        ("once not p", "not p", "the atom that `once` is about"),
        ("once once once", "once", "`and`, `or` or the end"),
        ("◆(p)", "(p)", "the atom that `once` is about"),
        ("once true", "true", "the atom that `once` is about"),
        ("p ≥ q", "≥ q", "`and`, `or` or the end"),
    ] {
        let (found, problem) = refused(text);
        assert_eq!(found, place, "{text}: {problem}");
        assert!(problem.contains(message), "{text}: {problem}");
    }
}

#[test]
fn what_a_signature_cannot_satisfy_is_refused_at_binding() {
    let mut atoms: Vec<String> = ["a", "b", "c"].map(|o| format!("p({o})")).into();
    atoms.extend(["q(d)", "on(a, b)", "goal"].map(str::to_owned));
    atoms.extend((0..40).map(|i| format!("many(o{i})")));
    let signature = Signature::parse(&atoms).unwrap();
    let bound = |text: &str| {
        let builder = Machine::builder("m").initial("u0").accept("u1");
        let machine = builder.edge("u0", "u1", text).unwrap().build().unwrap();
        machine.bind(&signature).map(|_| ())
    };
    for text in [
        "atleast 3 X. p(X)",
        "exists X. (p(X) and not on(X, b))",
        "exists X, Y, Z. (many(X) and many(Y) and many(Z))",
        "exists X. (p(X) and not p(X))",
    ] {
        assert!(bound(text).is_ok(), "{text}");
    }
    for (text, message) in [
        (
            "atleast 4 X. p(X)",
            "`atleast 4 X. p(X)` cannot be observed: the signature has only 3 instances",
        ),
        ("atleast 2 X. q(X)", "only 1 instance of it"),
        ("once r(a)", "no predicate `r`"),
        ("exists X. (p(X) and not r(X))", "no predicate `r`"),
        (
            "exists X. (once p(X) and q(X))",
            "no objects of the signature fit all its literals",
        ),
        (
            "exists X, Y, Z, W. (many(X) and many(Y) and many(Z) and many(W))",
            "substitutions",
        ),
    ] {
        let error = bound(text).unwrap_err().to_string();
        assert!(error.contains(message), "{text}: {error}");
    }
}
