//! Reduced ordered binary decision diagrams (Bryant 1986): Boolean functions in a canonical form, so that equal ones have equal
//! numbers. Nodes are shared, and never removed: limits bound their number and the work.

use std::collections::HashMap;

use form_core::{Error, Result};

/// The number of a Boolean function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Bdd(u32);

/// A conjunction of literals: variables and their values.
pub(super) type Cube = Vec<(u32, bool)>;

/// The constant functions.
pub(super) const FALSE: Bdd = Bdd(0);
pub(super) const TRUE: Bdd = Bdd(1);

/// The variable of the constants: after all others.
const CONSTANT: u32 = u32::MAX;

/// The maximum number of nodes.
const MOST_NODES: usize = 1_000_000;

/// The maximum number of steps of all operations together.
const MOST_STEPS: usize = 30_000_000;

/// All functions over variables that are numbered from 0.
pub(super) struct Manager {
    /// Variable, function where it is false, function where it is true.
    nodes: Vec<(u32, Bdd, Bdd)>,
    unique: HashMap<(u32, Bdd, Bdd), Bdd>,
    ites: HashMap<(Bdd, Bdd, Bdd), Bdd>,
    steps: usize,
}

impl Manager {
    pub(super) fn new() -> Self {
        Self {
            nodes: vec![(CONSTANT, FALSE, FALSE), (CONSTANT, TRUE, TRUE)],
            unique: HashMap::new(),
            ites: HashMap::new(),
            steps: 0,
        }
    }

    /// The function that is the value of a variable.
    pub(super) fn variable(&mut self, variable: u32) -> Result<Bdd> {
        self.node(variable, FALSE, TRUE)
    }

    /// The function that decides by a variable which must come before those of the other two.
    pub(super) fn node(&mut self, variable: u32, low: Bdd, high: Bdd) -> Result<Bdd> {
        if low == high {
            return Ok(low);
        }
        if let Some(known) = self.unique.get(&(variable, low, high)) {
            return Ok(*known);
        }
        if self.nodes.len() == MOST_NODES {
            return Err(limit("nodes of decision diagrams", MOST_NODES));
        }
        let new = Bdd(self.nodes.len() as u32);
        self.nodes.push((variable, low, high));
        self.unique.insert((variable, low, high), new);
        Ok(new)
    }

    /// The first variable of a function; after all others for a constant.
    pub(super) fn top(&self, function: Bdd) -> u32 {
        self.nodes[function.0 as usize].0
    }

    /// The function where a variable, not after its first one, is false and where it is true.
    pub(super) fn branches(&self, function: Bdd, variable: u32) -> (Bdd, Bdd) {
        let (top, low, high) = self.nodes[function.0 as usize];
        if top == variable {
            (low, high)
        } else {
            (function, function)
        }
    }

    /// If, then, else. Recursion is as deep as there are variables.
    pub(super) fn ite(&mut self, condition: Bdd, then: Bdd, otherwise: Bdd) -> Result<Bdd> {
        match (condition, then, otherwise) {
            (TRUE, ..) => return Ok(then),
            (FALSE, ..) => return Ok(otherwise),
            (_, TRUE, FALSE) => return Ok(condition),
            _ if then == otherwise => return Ok(then),
            _ => {}
        }
        let key = (condition, then, otherwise);
        if let Some(known) = self.ites.get(&key) {
            return Ok(*known);
        }
        self.count_step()?;
        let variable = (self.top(condition))
            .min(self.top(then))
            .min(self.top(otherwise));
        let (if_low, if_high) = self.branches(condition, variable);
        let (then_low, then_high) = self.branches(then, variable);
        let (else_low, else_high) = self.branches(otherwise, variable);
        let low = self.ite(if_low, then_low, else_low)?;
        let high = self.ite(if_high, then_high, else_high)?;
        let result = self.node(variable, low, high)?;
        self.ites.insert(key, result);
        Ok(result)
    }

    pub(super) fn not(&mut self, a: Bdd) -> Result<Bdd> {
        self.ite(a, FALSE, TRUE)
    }

    pub(super) fn and(&mut self, a: Bdd, b: Bdd) -> Result<Bdd> {
        self.ite(a, b, FALSE)
    }

    pub(super) fn or(&mut self, a: Bdd, b: Bdd) -> Result<Bdd> {
        self.ite(a, TRUE, b)
    }

    /// The function with a function in place of each variable that has one.
    pub(super) fn compose(
        &mut self,
        function: Bdd,
        replacement: &HashMap<u32, Bdd>,
        known: &mut HashMap<Bdd, Bdd>,
    ) -> Result<Bdd> {
        if function == TRUE || function == FALSE {
            return Ok(function);
        }
        if let Some(known) = known.get(&function) {
            return Ok(*known);
        }
        self.count_step()?;
        let (variable, low, high) = self.nodes[function.0 as usize];
        let low = self.compose(low, replacement, known)?;
        let high = self.compose(high, replacement, known)?;
        let condition = match replacement.get(&variable) {
            Some(replacement) => *replacement,
            None => self.variable(variable)?,
        };
        let result = self.ite(condition, high, low)?;
        known.insert(function, result);
        Ok(result)
    }

    /// Counts a step of the work, which has a limit.
    pub(super) fn count_step(&mut self) -> Result<()> {
        self.steps += 1;
        if self.steps > MOST_STEPS {
            return Err(limit("steps of the translation", MOST_STEPS));
        }
        Ok(())
    }

    /// An irredundant sum of products between two functions (Minato 1992, Morreale 1970): cubes, each a list of variables and values,
    /// whose disjunction holds where `at_least` holds and nowhere where `at_most` does not.
    pub(super) fn cubes(&mut self, at_least: Bdd, at_most: Bdd) -> Result<Vec<Cube>> {
        Ok(self.isop(at_least, at_most)?.0)
    }

    fn isop(&mut self, at_least: Bdd, at_most: Bdd) -> Result<(Vec<Cube>, Bdd)> {
        if at_least == FALSE {
            return Ok((Vec::new(), FALSE));
        }
        if at_most == TRUE {
            return Ok((vec![Vec::new()], TRUE));
        }
        self.count_step()?;
        let variable = self.top(at_least).min(self.top(at_most));
        let (least_low, least_high) = self.branches(at_least, variable);
        let (most_low, most_high) = self.branches(at_most, variable);
        // Cubes that need the variable to be false, those that need it to be true, and those that do not need it.
        let beyond_high = self.not(most_high)?;
        let only_low = self.and(least_low, beyond_high)?;
        let (low_cubes, low) = self.isop(only_low, most_low)?;
        let beyond_low = self.not(most_low)?;
        let only_high = self.and(least_high, beyond_low)?;
        let (high_cubes, high) = self.isop(only_high, most_high)?;
        let not_low = self.not(low)?;
        let rest_low = self.and(least_low, not_low)?;
        let not_high = self.not(high)?;
        let rest_high = self.and(least_high, not_high)?;
        let rest = self.or(rest_low, rest_high)?;
        let both = self.and(most_low, most_high)?;
        let (free_cubes, free) = self.isop(rest, both)?;
        let (low, high) = (self.or(low, free)?, self.or(high, free)?);
        let function = self.node(variable, low, high)?;
        let with = |value: bool| {
            move |mut cube: Cube| {
                cube.push((variable, value));
                cube
            }
        };
        let cubes = (high_cubes.into_iter().map(with(true)))
            .chain(low_cubes.into_iter().map(with(false)))
            .chain(free_cubes);
        Ok((cubes.collect(), function))
    }
}

/// The error of a limit.
pub(super) fn limit(what: &str, limit: usize) -> Error {
    Error::Limit {
        what: format!("LTLf: {what}"),
        limit,
        hint: "split the formula into tasks, or leave parts of it out".to_owned(),
    }
}
