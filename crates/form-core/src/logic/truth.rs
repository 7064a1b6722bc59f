//! The definition of truth: a literal transcription of Definition 3.3.
//!
//! All faster evaluators are tested against it. It works on the whole buffer and on formulae that are not compiled, and shares no
//! code with the compiled form. A new quantifier or kind of atom is defined here first.

use super::atom::{Atom, Quantifier};
use super::atom_set::AtomSet;
use super::formula::{Formula, Node};
use super::signature::Signature;

/// Whether the buffer, oldest observation first, satisfies the formula.
///
/// `forall` ranges over the signature. Atoms that the signature lacks are false; binding a machine refuses them.
///
/// ```
/// use form_core::{satisfies, Formula, Signature};
/// let signature = Signature::parse(["yellow(o0)", "yellow(o1)", "goal"])?;
/// let buffer = [signature.observation(["yellow(o0)"])?, signature.observation(["yellow(o1)"])?];
/// let all_yellow: Formula = "forall X. yellow(X)".parse()?;
/// assert!(satisfies(&buffer, &all_yellow, &signature));
/// # Ok::<(), form_core::Error>(())
/// ```
pub fn satisfies(buffer: &[AtomSet], formula: &Formula, signature: &Signature) -> bool {
    formula.fold(|node, children: Vec<bool>| match node {
        Node::True => true,
        Node::Atom(atom) => atom_holds(buffer, atom, signature),
        Node::Not => !children[0],
        Node::And(_) => children.iter().all(|holds| *holds),
        Node::Or(_) => children.iter().any(|holds| *holds),
    })
}

fn atom_holds(buffer: &[AtomSet], atom: &Atom, signature: &Signature) -> bool {
    let newest = |id| {
        buffer
            .last()
            .is_some_and(|observation| observation.contains(id))
    };
    let seen = |id| buffer.iter().any(|observation| observation.contains(id));
    match atom {
        Atom::Ground(ground) => signature.id_of(ground).is_some_and(newest),
        Atom::Quantified(quantified) => {
            let mut instances = signature
                .ids()
                .filter(|id| quantified.matches(signature.atom(*id)))
                .peekable();
            match quantified.quantifier() {
                Quantifier::Exists => instances.any(newest),
                Quantifier::Forall => instances.peek().is_some() && instances.all(seen),
            }
        }
    }
}

/// The examples of the paper's Section 3.2, each with the figure's two yellow and two blue checkpoints.
#[cfg(test)]
mod tests {
    use super::*;

    fn holds(formula: &str, buffer: &[&[&str]]) -> bool {
        let signature =
            Signature::parse(["yellow(o0)", "yellow(o1)", "blue(o4)", "blue(o5)", "goal"]).unwrap();
        let buffer: Vec<AtomSet> = buffer
            .iter()
            .map(|o| signature.observation(*o).unwrap())
            .collect();
        satisfies(&buffer, &formula.parse().unwrap(), &signature)
    }

    #[test]
    fn proposition() {
        assert!(holds("goal", &[&["goal"]]));
        assert!(!holds("goal", &[&["goal"], &["yellow(o0)"]]));
    }

    #[test]
    fn existentially_quantified_atom() {
        assert!(holds(
            "exists X. blue(X)",
            &[&["yellow(o0)"], &["blue(o4)"]]
        ));
        assert!(!holds(
            "exists X. blue(X)",
            &[&["blue(o4)"], &["yellow(o0)"]]
        ));
    }

    #[test]
    fn universally_quantified_atom() {
        let b1: &[&[&str]] = &[&["goal"], &["yellow(o0)"], &["blue(o4)"], &["yellow(o1)"]];
        let b2: &[&[&str]] = &[&["goal"], &["yellow(o0)"], &["blue(o4)"]];
        assert!(holds("forall X. yellow(X)", b1));
        assert!(!holds("forall X. yellow(X)", b2));
    }

    #[test]
    fn conjunctions() {
        let psi = "forall X. yellow(X) and goal";
        let b1: &[&[&str]] = &[
            &["goal"],
            &["yellow(o0)"],
            &["blue(o4)"],
            &[],
            &["yellow(o1)"],
        ];
        let b2: &[&[&str]] = &[
            &["goal"],
            &["yellow(o0)"],
            &["blue(o4)"],
            &[],
            &["yellow(o1)"],
            &[],
            &["goal"],
        ];
        assert!(!holds(psi, b1));
        assert!(holds("forall X. yellow(X)", b1));
        assert!(holds(psi, b2));
    }
}
