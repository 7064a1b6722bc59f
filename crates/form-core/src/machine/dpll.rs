//! A small solver for propositional clauses: DPLL (Davis, Logemann and Loveland 1962) with two watched literals per clause, and a budget of
//! conflicts. False is tried first, so that witnesses stay small.

/// A variable or its negation: twice the variable's number, plus one if negated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Literal(u32);

impl std::ops::Not for Literal {
    type Output = Self;

    fn not(self) -> Self {
        Self(self.0 ^ 1)
    }
}

impl Literal {
    fn variable(self) -> usize {
        (self.0 / 2) as usize
    }

    fn index(self) -> usize {
        self.0 as usize
    }
}

/// A DPLL solver with two watched literals per clause.
#[derive(Default)]
pub(super) struct Solver {
    clauses: Vec<Vec<Literal>>,
    /// For each literal the clauses that watch it.
    watches: Vec<Vec<usize>>,
    values: Vec<Option<bool>>,
    trail: Vec<Literal>,
    propagated: usize,
    contradiction: bool,
}

/// A decision: the length of the trail before it, and whether the other value has been tried.
struct Decision {
    trail: usize,
    literal: Literal,
    flipped: bool,
}

impl Solver {
    pub(super) fn variable(&mut self) -> Literal {
        let literal = Literal(2 * self.values.len() as u32);
        self.values.push(None);
        self.watches.extend([Vec::new(), Vec::new()]);
        literal
    }

    /// Adds a clause; the first two literals are watched.
    pub(super) fn add(&mut self, literals: &[Literal]) {
        match literals {
            [] => self.contradiction = true,
            [unit] => self.contradiction |= !self.assign(*unit),
            [first, second, ..] => {
                let number = self.clauses.len();
                self.watches[first.index()].push(number);
                self.watches[second.index()].push(number);
                self.clauses.push(literals.to_vec());
            }
        }
    }

    pub(super) fn is_true(&self, literal: Literal) -> bool {
        self.value(literal) == Some(true)
    }

    fn value(&self, literal: Literal) -> Option<bool> {
        self.values[literal.variable()].map(|value| value == (literal.0 & 1 == 0))
    }

    /// Makes the literal true; `false` if it is already false.
    fn assign(&mut self, literal: Literal) -> bool {
        match self.value(literal) {
            Some(value) => value,
            None => {
                self.values[literal.variable()] = Some(literal.0 & 1 == 0);
                self.trail.push(literal);
                true
            }
        }
    }

    /// Whether the clauses can be satisfied; `None` after more than `budget` conflicts.
    pub(super) fn solve(&mut self, budget: usize) -> Option<bool> {
        if self.contradiction {
            return Some(false);
        }
        // Clauses may have been added after some of their literals were assigned.
        for number in 0..self.clauses.len() {
            let clause = self.clauses[number].clone();
            let open: Vec<Literal> = clause
                .iter()
                .copied()
                .filter(|l| self.value(*l) != Some(false))
                .collect();
            match open[..] {
                [] => return Some(false),
                [unit] if !self.assign(unit) => return Some(false),
                _ => {}
            }
        }
        let mut decisions: Vec<Decision> = Vec::new();
        let mut conflicts = 0;
        // All variables before `next` are assigned.
        let mut next = 0;
        loop {
            if self.propagate() {
                // False first: witnesses stay small.
                let assigned = self.values[next..].iter().take_while(|v| v.is_some());
                next += assigned.count();
                if next == self.values.len() {
                    return Some(true);
                }
                let literal = Literal(2 * next as u32 + 1);
                decisions.push(Decision {
                    trail: self.trail.len(),
                    literal,
                    flipped: false,
                });
                self.assign(literal);
                continue;
            }
            conflicts += 1;
            if conflicts > budget {
                return None;
            }
            loop {
                let Some(decision) = decisions.pop() else {
                    return Some(false);
                };
                for literal in self.trail.drain(decision.trail..) {
                    self.values[literal.variable()] = None;
                }
                self.propagated = self.trail.len();
                next = decision.literal.variable();
                if !decision.flipped {
                    let literal = !decision.literal;
                    decisions.push(Decision {
                        literal,
                        flipped: true,
                        ..decision
                    });
                    self.assign(literal);
                    break;
                }
            }
        }
    }

    /// Unit propagation; `false` on a conflict.
    fn propagate(&mut self) -> bool {
        while self.propagated < self.trail.len() {
            let falsified = !self.trail[self.propagated];
            self.propagated += 1;
            let mut watching = std::mem::take(&mut self.watches[falsified.index()]);
            let mut kept = 0;
            let mut conflict = false;
            for i in 0..watching.len() {
                let number = watching[i];
                if conflict || self.keeps_watch(number, falsified) {
                    watching[kept] = number;
                    kept += 1;
                    let first = self.clauses[number][0];
                    conflict |= !conflict && !self.assign(first);
                }
            }
            watching.truncate(kept);
            self.watches[falsified.index()] = watching;
            if conflict {
                return false;
            }
        }
        true
    }

    /// Moves the clause's watch from the falsified literal to another one that is not false. If there is none, the watch stays and
    /// the clause's first literal must hold.
    fn keeps_watch(&mut self, number: usize, falsified: Literal) -> bool {
        if self.clauses[number][0] == falsified {
            self.clauses[number].swap(0, 1);
        }
        let clause = &self.clauses[number];
        if self.value(clause[0]) == Some(true) {
            return true;
        }
        let other = (2..clause.len()).find(|i| self.value(clause[*i]) != Some(false));
        match other {
            None => true,
            Some(i) => {
                self.clauses[number].swap(1, i);
                let watched = self.clauses[number][1];
                self.watches[watched.index()].push(number);
                false
            }
        }
    }
}
