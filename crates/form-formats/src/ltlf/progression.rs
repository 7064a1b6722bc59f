//! Progression (Bacchus and Kabanza 2000) with decision diagrams: what must hold from the next step on, given the present one.
//!
//! What remains to be fulfilled is a Boolean function over *elementary* subformulae: atoms, temporal operators. Each of them is
//! expanded into the present and the next step, `a U b` into `b | a & X(a U b)`, as a function over what is observed now, whether
//! this is the last step, and elementary formulae at the next one. Putting these expansions in place of the elementary formulae is
//! one step of progression, and since diagrams are canonical, obligations that mean the same Boolean function are one state.
//!
//! Operators about the past have no future ones under them. Their truth at the step before is a bit of the state.

use std::collections::HashMap;

use form_core::{Atom, Quantifier, Result};

use super::bdd::{Bdd, FALSE, Manager, TRUE, limit};
use super::formula::{Formula, Node};

/// The maximum number of atoms and temporal operators that differ.
const MOST_VARIABLES: usize = 2_000;

/// The expansion of a formula: all that progression needs.
pub(super) struct Expansion {
    pub(super) manager: Manager,
    /// The atoms, by variable from 0.
    pub(super) atoms: Vec<Atom>,
    /// The variable "this is the last step".
    last: u32,
    /// The variables "it held at the step before", one per thing that past operators remember.
    remembered: Vec<u32>,
    /// For each of these, its truth at the present step.
    memory: Vec<Bdd>,
    /// The expansion of each elementary formula, by its variable.
    steps: HashMap<u32, Bdd>,
    /// What must be fulfilled at first.
    obligation: Bdd,
    /// The observations that can be: where `p(o)` is observed, so is `exists X. p(X)`.
    pub(super) possible: Bdd,
}

/// A state of progression: what remains to be fulfilled, and what past operators remember.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Obligation {
    pub(super) rest: Bdd,
    pub(super) memory: Vec<bool>,
}

/// What one step can lead to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Outcome {
    /// The formula holds of the episode so far.
    Holds,
    /// It does not, and this remains.
    Remains(Obligation),
}

impl Expansion {
    /// Expands every subformula, the operands before the operators.
    pub(super) fn new(formula: &Formula) -> Result<Self> {
        let mut atoms: Vec<Atom> = Vec::new();
        let mut numbers: HashMap<&Atom, u32> = HashMap::new();
        for (node, _) in &formula.nodes {
            if let Node::Atom(atom) = node {
                numbers.entry(atom).or_insert_with(|| {
                    atoms.push(atom.clone());
                    atoms.len() as u32 - 1
                });
            }
        }
        let mut builder = Builder {
            last: atoms.len() as u32,
            next_variable: atoms.len() as u32 + 1,
            manager: Manager::new(),
            elementary: HashMap::new(),
            steps: HashMap::new(),
            remembered: Vec::new(),
            memory: Vec::new(),
        };
        let mut operands: Vec<Expanded> = Vec::new();
        for (node, _) in &formula.nodes {
            let below = operands.split_off(operands.len() - node.operands());
            let atom = match node {
                Node::Atom(atom) => numbers.get(atom).copied(),
                _ => None,
            };
            operands.push(builder.expand(node, atom, &below)?);
        }
        let mut whole = operands.pop().unwrap_or(Expanded {
            now: TRUE,
            later: TRUE,
        });
        if formula.is_about_the_past() {
            // Read at the newest step: it holds at some step, and that is the last one.
            let last = builder.manager.variable(builder.last)?;
            let now = builder.manager.and(whole.now, last)?;
            whole = builder.until(
                Expanded {
                    now: TRUE,
                    later: TRUE,
                },
                now,
                (u32::MAX, whole.now, whole.later),
            )?;
        }
        let possible = possible(&atoms, &mut builder.manager)?;
        Ok(Self {
            manager: builder.manager,
            atoms,
            last: builder.last,
            remembered: builder.remembered,
            memory: builder.memory,
            steps: builder.steps,
            obligation: whole.later,
            possible,
        })
    }

    /// The state before the first step: nothing was before it.
    pub(super) fn start(&self) -> Obligation {
        Obligation {
            rest: self.obligation,
            memory: self.initial_memory(),
        }
    }

    fn initial_memory(&self) -> Vec<bool> {
        vec![false; self.remembered.len()]
    }

    /// All that a step can lead to from an obligation, each with the observations that lead there. The guards exclude each other and
    /// together are all possible observations.
    pub(super) fn step(&mut self, from: &Obligation) -> Result<Vec<(Outcome, Bdd)>> {
        let mut known: HashMap<u32, Bdd> = HashMap::new();
        for (variable, value) in self.remembered.iter().zip(&from.memory) {
            known.insert(*variable, if *value { TRUE } else { FALSE });
        }
        let expanded = (self.manager).compose(from.rest, &self.steps, &mut HashMap::new())?;
        let mut memo = HashMap::new();
        let mut functions = vec![self.manager.compose(expanded, &known, &mut memo)?];
        for index in 0..self.memory.len() {
            functions.push(
                self.manager
                    .compose(self.memory[index], &known, &mut memo)?,
            );
        }
        functions.push(self.possible);
        let mut split = Split {
            outcomes: Vec::new(),
            numbers: HashMap::new(),
            known: HashMap::new(),
        };
        let guards = self.split(functions, &mut split)?;
        let mut found: Vec<(Outcome, Bdd)> = Vec::with_capacity(guards.len());
        for (outcome, guard) in guards {
            found.push((split.outcomes[outcome].clone(), guard));
        }
        Ok(found)
    }

    /// Splits on what is observed, until only the last step and the next one are left. Recursion is as deep as there are atoms.
    fn split(&mut self, functions: Vec<Bdd>, split: &mut Split) -> Result<Vec<(usize, Bdd)>> {
        if functions.last() == Some(&FALSE) {
            return Ok(Vec::new());
        }
        if let Some(known) = split.known.get(&functions) {
            return Ok(known.clone());
        }
        self.manager.count_step()?;
        let top = functions.iter().map(|f| self.manager.top(*f)).min();
        let variable = top.filter(|top| *top < self.last);
        let guards = match variable {
            None => vec![(self.outcome(&functions, split), TRUE)],
            Some(variable) => {
                let branches = functions
                    .iter()
                    .map(|f| self.manager.branches(*f, variable));
                let (low, high): (Vec<Bdd>, Vec<Bdd>) = branches.unzip();
                let mut guards: Vec<(usize, Bdd)> = Vec::new();
                for (part, value) in [(high, true), (low, false)] {
                    for (outcome, guard) in self.split(part, split)? {
                        let (low, high) = if value {
                            (FALSE, guard)
                        } else {
                            (guard, FALSE)
                        };
                        let guard = self.manager.node(variable, low, high)?;
                        match guards.iter_mut().find(|(known, _)| *known == outcome) {
                            Some((_, known)) => *known = self.manager.or(*known, guard)?,
                            None => guards.push((outcome, guard)),
                        }
                    }
                }
                guards
            }
        };
        split.known.insert(functions, guards.clone());
        Ok(guards)
    }

    /// The number of what is left where nothing observed is open any more.
    fn outcome(&self, functions: &[Bdd], split: &mut Split) -> usize {
        let (rest, at_the_end) = self.manager.branches(functions[0], self.last);
        let outcome = if at_the_end == TRUE {
            Outcome::Holds
        } else {
            let memory = functions[1..functions.len() - 1].iter();
            Outcome::Remains(Obligation {
                rest,
                memory: memory.map(|bit| *bit == TRUE).collect(),
            })
        };
        let next = split.outcomes.len();
        let number = *split.numbers.entry(outcome.clone()).or_insert(next);
        if number == next {
            split.outcomes.push(outcome);
        }
        number
    }
}

/// The work of one step.
struct Split {
    outcomes: Vec<Outcome>,
    numbers: HashMap<Outcome, usize>,
    known: HashMap<Vec<Bdd>, Vec<(usize, Bdd)>>,
}

/// A subformula: its truth as a function of the present step and the next one, and as one of elementary formulae.
#[derive(Clone, Copy)]
struct Expanded {
    now: Bdd,
    later: Bdd,
}

struct Builder {
    manager: Manager,
    last: u32,
    next_variable: u32,
    /// The variable of an elementary formula, by its operator and operands.
    elementary: HashMap<(u32, Bdd, Bdd), u32>,
    steps: HashMap<u32, Bdd>,
    remembered: Vec<u32>,
    memory: Vec<Bdd>,
}

impl Builder {
    fn expand(&mut self, node: &Node, atom: Option<u32>, below: &[Expanded]) -> Result<Expanded> {
        let constant = |value| Expanded {
            now: value,
            later: value,
        };
        let first = below.first().copied().unwrap_or(constant(FALSE));
        let second = below.get(1).copied().unwrap_or(constant(FALSE));
        Ok(match node {
            Node::True => constant(TRUE),
            Node::False => constant(FALSE),
            Node::Atom(_) => {
                let now = self.manager.variable(atom.unwrap_or_default())?;
                self.elementary(now, (0, now, now))?
            }
            Node::Not => self.map(first, constant(FALSE), constant(TRUE))?,
            Node::And => self.map(first, second, constant(FALSE))?,
            Node::Or => self.map(first, constant(TRUE), second)?,
            Node::Implies => self.map(first, second, constant(TRUE))?,
            Node::Iff => {
                let not = self.map(second, constant(FALSE), constant(TRUE))?;
                self.map(first, second, not)?
            }
            Node::Next => {
                let now = self.at_next(first.later)?;
                self.elementary(now, (1, first.later, FALSE))?
            }
            Node::WeakNext => {
                let last = self.manager.variable(self.last)?;
                let now = self.manager.or(last, first.later)?;
                self.elementary(now, (2, first.later, FALSE))?
            }
            Node::Until => self.until(first, second.now, (3, first.later, second.later))?,
            Node::Finally => self.until(constant(TRUE), first.now, (3, TRUE, first.later))?,
            Node::Release | Node::Globally => {
                // a R b is !(!a U !b).
                let (left, right) = match node {
                    Node::Release => (first, second),
                    _ => (constant(FALSE), first),
                };
                let left = self.map(left, constant(FALSE), constant(TRUE))?;
                let right = self.map(right, constant(FALSE), constant(TRUE))?;
                let until = self.until(left, right.now, (3, left.later, right.later))?;
                self.map(until, constant(FALSE), constant(TRUE))?
            }
            Node::Yesterday => {
                let before = self.remember((4, first.later, FALSE), Some(first.now))?;
                self.elementary(before, (4, first.later, FALSE))?
            }
            Node::Since => self.since(first, second)?,
            Node::Once => self.since(constant(TRUE), first)?,
            Node::Historically => {
                let not = self.map(first, constant(FALSE), constant(TRUE))?;
                let once = self.since(constant(TRUE), not)?;
                self.map(once, constant(FALSE), constant(TRUE))?
            }
        })
    }

    /// If, then, else, in both readings.
    fn map(
        &mut self,
        condition: Expanded,
        then: Expanded,
        otherwise: Expanded,
    ) -> Result<Expanded> {
        Ok(Expanded {
            now: (self.manager).ite(condition.now, then.now, otherwise.now)?,
            later: (self.manager).ite(condition.later, then.later, otherwise.later)?,
        })
    }

    /// There is a next step, and this holds there.
    fn at_next(&mut self, later: Bdd) -> Result<Bdd> {
        let last = self.manager.variable(self.last)?;
        let not_last = self.manager.not(last)?;
        self.manager.and(not_last, later)
    }

    /// `b | a & X(a U b)`.
    fn until(&mut self, a: Expanded, b: Bdd, key: (u32, Bdd, Bdd)) -> Result<Expanded> {
        let variable = self.variable(key)?;
        let again = self.manager.variable(variable)?;
        let again = self.at_next(again)?;
        let again = self.manager.and(a.now, again)?;
        let now = self.manager.or(b, again)?;
        self.elementary(now, key)
    }

    /// `b | a & Y(a S b)`.
    fn since(&mut self, a: Expanded, b: Expanded) -> Result<Expanded> {
        let key = (5, a.later, b.later);
        let before = self.remember(key, None)?;
        let before = self.manager.and(a.now, before)?;
        let now = self.manager.or(b.now, before)?;
        self.remember(key, Some(now))?;
        self.elementary(now, key)
    }

    /// The variable "it held at the step before", for something whose truth now is known once `now` is given.
    fn remember(&mut self, key: (u32, Bdd, Bdd), now: Option<Bdd>) -> Result<Bdd> {
        // Elementary formulae have operators up to 5: those of the memory follow.
        let variable = self.variable((key.0 + 6, key.1, key.2))?;
        let index = (self.remembered.iter()).position(|known| *known == variable);
        let index = index.unwrap_or_else(|| {
            self.remembered.push(variable);
            self.memory.push(FALSE);
            self.memory.len() - 1
        });
        if let Some(now) = now {
            self.memory[index] = now;
        }
        self.manager.variable(variable)
    }

    /// An elementary formula that is expanded so.
    fn elementary(&mut self, now: Bdd, key: (u32, Bdd, Bdd)) -> Result<Expanded> {
        let variable = self.variable(key)?;
        self.steps.insert(variable, now);
        let later = self.manager.variable(variable)?;
        Ok(Expanded { now, later })
    }

    fn variable(&mut self, key: (u32, Bdd, Bdd)) -> Result<u32> {
        let next = self.next_variable;
        let variable = *self.elementary.entry(key).or_insert(next);
        if variable == next {
            self.next_variable += 1;
            if next as usize >= MOST_VARIABLES {
                return Err(limit(
                    "different atoms and temporal operators",
                    MOST_VARIABLES,
                ));
            }
        }
        Ok(variable)
    }
}

/// Where `p(o)` is observed, so is `exists X. p(X)`, and every other `exists` that it is an instance of.
fn possible(atoms: &[Atom], manager: &mut Manager) -> Result<Bdd> {
    let mut possible = TRUE;
    for (general, atom) in (0..).zip(atoms) {
        let Atom::Quantified(quantified) = atom else {
            continue;
        };
        assert_eq!(quantified.quantifier(), Quantifier::Exists);
        for (instance, other) in (0..).zip(atoms) {
            if matches!(other, Atom::Ground(ground) if quantified.literals()[0].matches(ground)) {
                let (general, instance) = (manager.variable(general)?, manager.variable(instance)?);
                let implied = manager.ite(instance, general, TRUE)?;
                possible = manager.and(possible, implied)?;
            }
        }
    }
    Ok(possible)
}
