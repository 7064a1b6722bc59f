//! The definition of truth: a literal transcription of Definition 3.3, and of what was added to it.
//!
//! A literal is about the newest observation or, with `once`, about the window: all observations since the state was entered. `exists`
//! asks for one substitution that makes all literals true; a variable ranges over the objects that the signature has in the argument
//! positions where it occurs.
//!
//! All faster evaluators are tested against it. It works on the whole buffer and on formulae that are not compiled, and shares no
//! code with the compiled form. A new quantifier or kind of atom is defined here first.

use super::atom::{Atom, Literal, QuantifiedAtom, Quantifier, Term};
use super::atom_set::AtomSet;
use super::formula::{Formula, Node};
use super::identifier::Name;
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
            let literal_holds = |literal: &Literal, substitution: &[&Name]| {
                let id = signature.id_of(&literal.instance(|v| substitution[v as usize]));
                id.is_some_and(|id| if literal.once { seen(id) } else { newest(id) })
                    != literal.negated
            };
            let mut instances = (signature.ids())
                .filter(|id| quantified.literals()[0].matches(signature.atom(*id)))
                .peekable();
            match quantified.quantifier() {
                Quantifier::Exists => substitutions(quantified, signature).any(|substitution| {
                    (quantified.literals().iter()).all(|part| literal_holds(part, &substitution))
                }),
                Quantifier::Forall => instances.peek().is_some() && instances.all(seen),
                Quantifier::AtLeast(count) => {
                    instances.filter(|id| seen(*id)).count() >= count as usize
                }
            }
        }
    }
}

/// All substitutions of an atom's variables: the value of each, by its number.
fn substitutions<'a>(
    atom: &QuantifiedAtom,
    signature: &'a Signature,
) -> impl Iterator<Item = Vec<&'a Name>> {
    let ranges: Vec<Vec<&Name>> = (0..atom.variables())
        .map(|variable| range(variable, atom, signature))
        .collect();
    // Counts up, the last variable fastest, until all combinations were there.
    let mut next = (ranges.iter().all(|range| !range.is_empty())).then(|| vec![0; ranges.len()]);
    std::iter::from_fn(move || {
        let current = next.take()?;
        let substitution = (ranges.iter().zip(&current)).map(|(range, i)| range[*i]);
        let substitution = substitution.collect();
        let mut following = current;
        for (range, i) in ranges.iter().zip(&mut following).rev() {
            *i += 1;
            if *i < range.len() {
                next = Some(following);
                break;
            }
            *i = 0;
        }
        Some(substitution)
    })
}

/// The objects that the signature has in the argument positions of a variable.
fn range<'a>(variable: u32, atom: &QuantifiedAtom, signature: &'a Signature) -> Vec<&'a Name> {
    let mut objects: Vec<&Name> = Vec::new();
    for literal in atom.literals() {
        for (place, _) in (literal.terms.iter().enumerate())
            .filter(|(_, term)| **term == Term::Variable(variable))
        {
            objects.extend(
                (signature.atoms().iter())
                    .filter(|known| *known.predicate() == literal.predicate)
                    .filter(|known| known.constants().len() == literal.terms.len())
                    .map(|known| &known.constants()[place]),
            );
        }
    }
    objects.sort();
    objects.dedup();
    objects
}

/// The examples of the paper's Section 3.2, each with the figure's two yellow and two blue checkpoints, and one per kind of atom that
/// the paper does not have.
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

    #[test]
    fn once_in_the_window() {
        let buffer: &[&[&str]] = &[&["yellow(o0)"], &["goal"]];
        assert!(holds("once yellow(o0) and goal", buffer));
        assert!(!holds("yellow(o0)", buffer));
        assert!(holds("exists X. once yellow(X)", buffer));
        assert!(!holds("once yellow(o1) or exists X. once blue(X)", buffer));
    }

    #[test]
    fn at_least_some_objects() {
        let twice: &[&[&str]] = &[&["yellow(o0)"], &["goal"], &["yellow(o0)"]];
        assert!(!holds("atleast 2 X. yellow(X)", twice));
        let two: &[&[&str]] = &[&["yellow(o0)"], &["yellow(o1)"], &["goal"]];
        assert!(holds("atleast 2 X. yellow(X)", two));
        assert!(holds("atleast 1 X. yellow(X)", twice));
        assert!(!holds("atleast 3 X. yellow(X)", two));
    }

    #[test]
    fn joins_bind_one_object_to_all_literals() {
        let signature = Signature::parse(["key(red)", "key(blue)", "door(red)", "door(blue)"]);
        let signature = signature.unwrap();
        let opens: Formula = "exists X. (once key(X) and door(X))".parse().unwrap();
        let holds = |buffer: &[&str]| {
            let buffer: Vec<AtomSet> = (buffer.iter())
                .map(|atom| signature.observation([atom]).unwrap())
                .collect();
            satisfies(&buffer, &opens, &signature)
        };
        assert!(holds(&["key(red)", "door(red)"]));
        assert!(!holds(&["key(red)", "door(blue)"]));
        assert!(!holds(&["door(red)", "key(red)"]));
    }
}
