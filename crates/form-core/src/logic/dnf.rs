//! Disjunctive normal form (DNF) of formulae over ground atoms: a list of cubes, a cube being a conjunction of literals.
//!
//! Used where a formula has to become parallel edges: grounding, and foreign formats. Contradictory cubes and cubes that
//! another one covers (absorption) are dropped.

use super::atom::Atom;
use super::atom_set::AtomSet;
use super::formula::{Formula, Node};
use super::signature::Signature;

/// A conjunction of ground literals over the newest observation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cube {
    /// Atoms that the newest observation must have.
    pub positive: AtomSet,
    /// Atoms that it must not have.
    pub negative: AtomSet,
}

impl Cube {
    /// The conjunction of both cubes, unless they contradict each other.
    fn and(&self, other: &Self) -> Option<Self> {
        let positive = self.positive.union(&other.positive);
        let negative = self.negative.union(&other.negative);
        (!positive.intersects(&negative)).then_some(Self { positive, negative })
    }

    /// Whether it holds wherever `other` holds.
    fn covers(&self, other: &Self) -> bool {
        self.positive.is_subset(&other.positive) && self.negative.is_subset(&other.negative)
    }

    /// The conjunction as a formula, positive atoms first.
    pub fn to_formula(&self, signature: &Signature) -> Formula {
        let atom = |id| Formula::atom(signature.atom(id).clone());
        Formula::all(
            (self.positive.iter().map(atom))
                .chain(self.negative.iter().map(|id| atom(id).negated())),
        )
    }
}

/// The disjunctive normal form of a formula over ground atoms of the signature. `None` if the formula has a quantified or
/// unknown atom, or if an intermediate result has more than `limit` cubes.
pub fn dnf(formula: &Formula, signature: &Signature, limit: usize) -> Option<Vec<Cube>> {
    let mut polarity = formula.polarities().into_iter();
    formula.fold(|node, children: Vec<Option<Vec<Cube>>>| {
        let positive = polarity.next()?;
        let children: Vec<Vec<Cube>> = children.into_iter().collect::<Option<_>>()?;
        let everything = Cube {
            positive: AtomSet::new(),
            negative: AtomSet::new(),
        };
        match (node, positive) {
            (Node::True, true) => Some(vec![everything]),
            (Node::True, false) => Some(vec![]),
            (Node::Atom(Atom::Quantified(_)), _) => None,
            (Node::Atom(Atom::Ground(atom)), positive) => {
                let mut cube = everything;
                let side = if positive {
                    &mut cube.positive
                } else {
                    &mut cube.negative
                };
                side.insert(signature.id_of(atom)?);
                Some(vec![cube])
            }
            (Node::Not, _) => children.into_iter().next(),
            (Node::And(_), true) | (Node::Or(_), false) => (children.iter())
                .try_fold(vec![everything], |sofar, next| product(&sofar, next, limit)),
            (Node::Or(_), true) | (Node::And(_), false) => {
                absorb(children.into_iter().flatten(), limit)
            }
        }
    })
}

fn product(left: &[Cube], right: &[Cube], limit: usize) -> Option<Vec<Cube>> {
    if left.len() * right.len() > limit * limit {
        return None;
    }
    let all = (left.iter()).flat_map(|a| right.iter().filter_map(|b| a.and(b)));
    absorb(all, limit)
}

/// Absorption: drops every cube that an earlier or more general one covers and keeps the order of the rest. `None` as soon
/// as more than `limit` are left, since each is compared with all others.
pub fn absorb(cubes: impl IntoIterator<Item = Cube>, limit: usize) -> Option<Vec<Cube>> {
    let mut kept: Vec<Cube> = Vec::new();
    for cube in cubes {
        if !kept.iter().any(|other| other.covers(&cube)) {
            kept.retain(|other| !cube.covers(other));
            kept.push(cube);
        }
        if kept.len() > limit {
            return None;
        }
    }
    Some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logic::truth::satisfies;

    fn check(formula: &str, expected: &[&str]) {
        let signature = Signature::parse(["a", "b", "c", "d"]).unwrap();
        let formula: Formula = formula.parse().unwrap();
        let cubes = dnf(&formula, &signature, 64).unwrap();
        let texts: Vec<String> = cubes
            .iter()
            .map(|c| c.to_formula(&signature).to_string())
            .collect();
        assert_eq!(texts, expected);
        for bits in 0..16_u32 {
            let observation: AtomSet = signature
                .ids()
                .filter(|id| bits >> id.index() & 1 == 1)
                .collect();
            let holds = |f: &Formula| satisfies(std::slice::from_ref(&observation), f, &signature);
            assert_eq!(
                holds(&formula),
                cubes.iter().any(|c| holds(&c.to_formula(&signature)))
            );
        }
    }

    #[test]
    fn normal_forms() {
        check("(a or b or c) and not c", &["a and not c", "b and not c"]);
        check(
            "not (not a and not d or a and not b and not d or a and b and not d)",
            &["d"],
        );
        check("not (a or not (b or a))", &["b and not a"]);
        check("true or a", &["true"]);
        check("a and not a", &[]);
        check("a and b or a", &["a"]);
    }

    #[test]
    fn gives_up_on_large_ones() {
        let signature = Signature::parse((0..40).map(|i| format!("p{i}"))).unwrap();
        let text: Vec<String> = (0..20)
            .map(|i| format!("(p{} or p{})", 2 * i, 2 * i + 1))
            .collect();
        let formula: Formula = text.join(" and ").parse().unwrap();
        assert_eq!(dnf(&formula, &signature, 64), None);
    }
}
