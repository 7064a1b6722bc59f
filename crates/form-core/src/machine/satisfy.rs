//! Satisfiability over buffers: is there a buffer on which some formulae hold and others do not? Exact, with a witness.
//!
//! A buffer is represented by its newest observation and the union of all, so the question is propositional: one variable "in the
//! newest" and one variable "seen" per relevant atom, the first implying the second, and one per connective (Tseitin's encoding).
//! The formulae of edges are small and mostly conjunctions, so [DPLL](super::dpll) solves them at once; a budget of conflicts bounds
//! adversarial ones.

use std::collections::HashMap;

use super::atomic_test::{Scope, Test};
use super::bound::{BoundFormula, BoundNode};
use super::dpll::{Literal, Solver};
use super::step_mode::StepMode;
use crate::logic::atom_set::{AtomId, AtomSet};
use crate::logic::signature::Signature;

/// A buffer, as far as it matters to formulae.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// The union of all observations.
    pub seen: AtomSet,
    /// The newest observation.
    pub newest: AtomSet,
}

impl Buffer {
    /// As a list of observations, oldest first: `[{yellow(o0)}, {goal}]`.
    pub fn describe(&self, signature: &Signature) -> String {
        let earlier = self.seen.difference(&self.newest);
        let newest = signature.describe(&self.newest);
        if earlier.is_empty() {
            format!("[{newest}]")
        } else {
            format!("[{}, {newest}]", signature.describe(&earlier))
        }
    }
}

/// Whether such a buffer exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Satisfiable {
    Yes(Buffer),
    No,
    /// The budget ran out.
    Unknown,
}

/// The maximum number of conflicts.
const BUDGET: usize = 50_000;

/// Looks for a buffer on which each formula has the truth value beside it. The newest observation is not empty, unless every step
/// counts.
pub(crate) fn find_buffer(
    wanted: &[(&BoundFormula, bool)],
    signature: &Signature,
    steps: StepMode,
) -> Satisfiable {
    find(wanted, signature, steps, false)
}

/// As [`find_buffer`], for buffers of a single observation.
pub(crate) fn find_first(
    wanted: &[(&BoundFormula, bool)],
    signature: &Signature,
    steps: StepMode,
) -> Satisfiable {
    find(wanted, signature, steps, true)
}

fn find(
    wanted: &[(&BoundFormula, bool)],
    signature: &Signature,
    steps: StepMode,
    first: bool,
) -> Satisfiable {
    let mut encoding = Encoding::default();
    for (formula, value) in wanted {
        let literal = encoding.formula(formula);
        encoding
            .solver
            .add(&[if *value { literal } else { !literal }]);
    }
    if first {
        let mut seen: Vec<AtomId> = encoding.seen.keys().copied().collect();
        seen.sort();
        for id in seen {
            let (seen, newest) = (encoding.seen(id), encoding.newest(id));
            encoding.solver.add(&[!seen, newest]);
        }
    }
    // An atom that no formula mentions makes the newest observation non-empty without any effect.
    let spare = signature
        .ids()
        .find(|id| !encoding.newest.contains_key(id) && !encoding.seen.contains_key(id));
    let may_be_empty = steps == StepMode::All;
    if spare.is_none() && !may_be_empty {
        let any: Vec<Literal> = signature.ids().map(|id| encoding.newest(id)).collect();
        encoding.solver.add(&any);
    }
    encoding.newest_is_seen();
    match encoding.solver.solve(BUDGET) {
        None => Satisfiable::Unknown,
        Some(false) => Satisfiable::No,
        Some(true) => {
            let members = |variables: &HashMap<AtomId, Literal>| -> AtomSet {
                let chosen = variables
                    .iter()
                    .filter(|(_, literal)| encoding.solver.is_true(**literal));
                chosen.map(|(id, _)| *id).collect()
            };
            let mut newest = members(&encoding.newest);
            if newest.is_empty() && !may_be_empty {
                newest.extend(spare);
            }
            let seen = members(&encoding.seen).union(&newest);
            Satisfiable::Yes(Buffer { seen, newest })
        }
    }
}

/// Turns formulae into clauses (Tseitin's encoding).
#[derive(Default)]
struct Encoding {
    solver: Solver,
    newest: HashMap<AtomId, Literal>,
    seen: HashMap<AtomId, Literal>,
    tests: HashMap<Test, Literal>,
}

impl Encoding {
    fn formula(&mut self, formula: &BoundFormula) -> Literal {
        let mut values: Vec<Literal> = Vec::new();
        for node in &formula.0 {
            let value = match node {
                BoundNode::True => self.conjunction(&[]),
                BoundNode::Test(test) => self.test(test),
                BoundNode::Not => !values.pop().expect("postfix order"),
                BoundNode::And(n) => {
                    let parts = values.split_off(values.len() - *n as usize);
                    self.conjunction(&parts)
                }
                BoundNode::Or(n) => {
                    let parts = values.split_off(values.len() - *n as usize);
                    self.disjunction(&parts)
                }
            };
            values.push(value);
        }
        values.pop().expect("a formula has a root")
    }

    fn test(&mut self, test: &Test) -> Literal {
        if let Some(literal) = self.tests.get(test) {
            return *literal;
        }
        let literal = match &test.scope {
            Scope::AnyNewest => {
                let parts: Vec<Literal> = test.mask.iter().map(|id| self.newest(id)).collect();
                self.disjunction(&parts)
            }
            Scope::AllSeen => {
                let parts: Vec<Literal> = test.mask.iter().map(|id| self.seen(id)).collect();
                self.conjunction(&parts)
            }
            Scope::AnySeen => {
                let parts: Vec<Literal> = test.mask.iter().map(|id| self.seen(id)).collect();
                self.disjunction(&parts)
            }
            Scope::AtLeast(count) => {
                let parts: Vec<Literal> = test.mask.iter().map(|id| self.seen(id)).collect();
                self.at_least(*count as usize, &parts)
            }
            Scope::Join(join) => {
                let substitutions: Vec<Literal> = (join.substitutions())
                    .map(|conditions| {
                        let parts: Vec<Literal> = (conditions.iter())
                            .map(|condition| {
                                let literal = match condition.once {
                                    true => self.seen(condition.atom),
                                    false => self.newest(condition.atom),
                                };
                                if condition.negated { !literal } else { literal }
                            })
                            .collect();
                        self.conjunction(&parts)
                    })
                    .collect();
                self.disjunction(&substitutions)
            }
        };
        self.tests.insert(test.clone(), literal);
        literal
    }

    fn newest(&mut self, id: AtomId) -> Literal {
        *self
            .newest
            .entry(id)
            .or_insert_with(|| self.solver.variable())
    }

    fn seen(&mut self, id: AtomId) -> Literal {
        *self
            .seen
            .entry(id)
            .or_insert_with(|| self.solver.variable())
    }

    fn newest_is_seen(&mut self) {
        // Sorted: the same question always has the same witness.
        let mut both: Vec<AtomId> = self
            .newest
            .keys()
            .filter(|id| self.seen.contains_key(id))
            .copied()
            .collect();
        both.sort();
        for id in both {
            self.solver.add(&[!self.newest[&id], self.seen[&id]]);
        }
    }

    /// A literal that is true iff all parts are.
    fn conjunction(&mut self, parts: &[Literal]) -> Literal {
        if let [part] = parts {
            return *part;
        }
        let whole = self.solver.variable();
        let mut reason = vec![whole];
        for part in parts {
            self.solver.add(&[!whole, *part]);
            reason.push(!*part);
        }
        self.solver.add(&reason);
        whole
    }

    /// A literal that is true iff at least `count` of the parts are, by a sequential counter.
    fn at_least(&mut self, count: usize, parts: &[Literal]) -> Literal {
        // By k: whether at least k of the parts so far are true.
        let mut reached = vec![self.conjunction(&[])];
        for part in parts {
            let most = reached.len().min(count);
            for k in (1..=most).rev() {
                let one_more = self.conjunction(&[reached[k - 1], *part]);
                match reached.get(k).copied() {
                    Some(already) => reached[k] = self.disjunction(&[already, one_more]),
                    None => reached.push(one_more),
                }
            }
        }
        match reached.get(count) {
            Some(enough) => *enough,
            None => !self.conjunction(&[]),
        }
    }

    fn disjunction(&mut self, parts: &[Literal]) -> Literal {
        let negated: Vec<Literal> = parts.iter().map(|part| !*part).collect();
        !self.conjunction(&negated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logic::formula::Formula;
    use crate::logic::truth::satisfies;

    fn signature() -> Signature {
        Signature::parse(["green(o10)", "green(o11)", "green(o12)", "lava", "goal"]).unwrap()
    }

    fn together(a: &str, b: &str) -> Option<String> {
        let signature = signature();
        let formulae: [Formula; 2] = [a.parse().unwrap(), b.parse().unwrap()];
        let bound = formulae
            .each_ref()
            .map(|f| BoundFormula::new(f, &signature, None).unwrap());
        let both = [(&bound[0], true), (&bound[1], true)];
        match find_buffer(&both, &signature, StepMode::Changes) {
            Satisfiable::Yes(buffer) => {
                let list = [
                    buffer.seen.difference(&buffer.newest),
                    buffer.newest.clone(),
                ];
                for formula in &formulae {
                    assert!(
                        satisfies(&list, formula, &signature),
                        "{formula} on {list:?}"
                    );
                }
                Some(buffer.describe(&signature))
            }
            Satisfiable::No => None,
            Satisfiable::Unknown => panic!("gave up on {a} / {b}"),
        }
    }

    #[test]
    fn the_paper_s_unsound_pair_overlaps() {
        let witness = together("exists X. green(X)", "lava and not green(o12)").unwrap();
        assert_eq!(witness, "[{green(o11), lava}]");
    }

    #[test]
    fn exclusion_by_quantifiers() {
        assert_eq!(together("green(o10)", "not exists X. green(X)"), None);
        assert_eq!(
            together("forall X. green(X)", "not forall X. green(X) and goal"),
            None
        );
        assert!(together("forall X. green(X)", "not exists X. green(X) and goal").is_some());
        assert!(together("exists X. green(X)", "not forall X. green(X)").is_some());
        assert_eq!(
            together(
                "green(o10) and green(o11) and green(o12)",
                "not forall X. green(X)"
            ),
            None
        );
    }

    #[test]
    fn the_newest_observation_is_never_empty() {
        assert_eq!(
            together("not lava and not goal", "not exists X. green(X)"),
            None
        );
        assert!(together("not lava", "not exists X. green(X)").is_some());
    }

    #[test]
    fn a_hard_formula_reaches_the_budget_and_says_so() {
        // The pigeonhole principle: n+1 pigeons, n holes.
        let n = 12;
        let signature =
            Signature::parse((0..=n).flat_map(|p| (0..n).map(move |h| format!("in(p{p},h{h})"))))
                .unwrap();
        let mut text: Vec<String> = (0..=n).map(|p| format!("exists X. in(p{p}, X)")).collect();
        for h in 0..n {
            for p in 0..=n {
                text.extend((0..p).map(|q| format!("not (in(p{p}, h{h}) and in(p{q}, h{h}))")));
            }
        }
        let formula: Formula = text.join(" and ").parse().unwrap();
        let bound = BoundFormula::new(&formula, &signature, None).unwrap();
        assert_eq!(
            find_buffer(&[(&bound, true)], &signature, StepMode::Changes),
            Satisfiable::Unknown
        );
    }
}
