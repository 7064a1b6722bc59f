//! Formulae (Definition 3.1), stored flat.
//!
//! A formula is its nodes in postfix order, children before parents. Nothing here recurses: a formula nested a million
//! levels deep is cloned, compared, dropped, printed and evaluated on the heap.

use super::atom::Atom;

/// One node of a formula in postfix order.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Node {
    /// Always holds.
    True,
    /// An atomic formula.
    Atom(Atom),
    /// Negates the subformula before it.
    Not,
    /// The conjunction of the given number (at least 2) of subformulae before it.
    And(u32),
    /// The disjunction of the given number (at least 2) of subformulae before it.
    Or(u32),
}

impl Node {
    /// How many subformulae the node takes.
    pub fn children(&self) -> usize {
        match self {
            Self::True | Self::Atom(_) => 0,
            Self::Not => 1,
            Self::And(n) | Self::Or(n) => *n as usize,
        }
    }
}

/// A formula over the newest observation and the buffer.
///
/// Conjunctions and disjunctions are n-ary and flat: `a and (b and c)` is `a and b and c`.
///
/// ```
/// use form_core::Formula;
/// let formula: Formula = "∃X. green(X) ∧ ¬green(o12)".parse()?;
/// assert_eq!(formula.to_string(), "exists X. green(X) and not green(o12)");
/// # Ok::<(), form_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Formula {
    nodes: Vec<Node>,
}

impl Formula {
    /// The formula that always holds.
    pub fn truth() -> Self {
        Self {
            nodes: vec![Node::True],
        }
    }

    /// The formula that never holds: `not true`.
    pub fn falsehood() -> Self {
        Self::truth().negated()
    }

    /// The formula of one atom.
    pub fn atom(atom: impl Into<Atom>) -> Self {
        Self {
            nodes: vec![Node::Atom(atom.into())],
        }
    }

    /// Its negation. A double negation disappears.
    #[must_use]
    pub fn negated(mut self) -> Self {
        if self.nodes.last() == Some(&Node::Not) {
            self.nodes.pop();
        } else {
            self.nodes.push(Node::Not);
        }
        self
    }

    /// The conjunction; `true` if there are none.
    pub fn all(formulae: impl IntoIterator<Item = Self>) -> Self {
        Self::joined(formulae, Node::And).unwrap_or_else(Self::truth)
    }

    /// The disjunction; `not true` if there are none.
    pub fn any(formulae: impl IntoIterator<Item = Self>) -> Self {
        Self::joined(formulae, Node::Or).unwrap_or_else(Self::falsehood)
    }

    fn joined(formulae: impl IntoIterator<Item = Self>, join: fn(u32) -> Node) -> Option<Self> {
        let mut nodes = Vec::new();
        let mut parts = 0;
        for mut formula in formulae {
            let root = formula.nodes.last()?;
            if *root == join(root.children() as u32) {
                parts += root.children() as u32;
                formula.nodes.pop();
            } else {
                parts += 1;
            }
            nodes.append(&mut formula.nodes);
        }
        match parts {
            0 => return None,
            1 => {}
            n => nodes.push(join(n)),
        }
        Some(Self { nodes })
    }

    /// From nodes in postfix order that form one tree, nested joins allowed.
    pub(crate) fn from_postfix(nodes: Vec<Node>) -> Self {
        Self {
            nodes: flatten_joins(nodes),
        }
    }

    /// The formula with atoms replaced: `replace` returns what takes an atom's place, or `None` to keep it. Linear in the
    /// size of the result.
    #[must_use]
    pub fn substitute(&self, mut replace: impl FnMut(&Atom) -> Option<Self>) -> Self {
        let mut nodes = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let replaced = match node {
                Node::Atom(atom) => replace(atom),
                _ => None,
            };
            match replaced {
                Some(formula) => nodes.extend(formula.nodes),
                None => nodes.push(node.clone()),
            }
        }
        Self::from_postfix(nodes)
    }

    /// The nodes in postfix order.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The atoms in order, with repetitions.
    pub fn atoms(&self) -> impl Iterator<Item = &Atom> {
        self.nodes.iter().filter_map(|node| match node {
            Node::Atom(atom) => Some(atom),
            _ => None,
        })
    }

    /// The atoms with their polarity: `false` under an odd number of negations.
    pub fn literals(&self) -> Vec<(&Atom, bool)> {
        (self.nodes.iter().zip(self.polarities()))
            .filter_map(|(node, positive)| match node {
                Node::Atom(atom) => Some((atom, positive)),
                _ => None,
            })
            .collect()
    }

    /// Whether some atom occurs under an even number of negations, as on every learnt edge.
    pub fn has_positive_atom(&self) -> bool {
        self.literals().iter().any(|(_, positive)| *positive)
    }

    /// The literals of a formula that is a conjunction of literals (or one literal), else `None`.
    pub fn as_conjunction(&self) -> Option<Vec<(&Atom, bool)>> {
        let body = match self.nodes.split_last() {
            Some((Node::And(_), body)) => body,
            _ => &self.nodes[..],
        };
        let mut literals: Vec<(&Atom, bool)> = Vec::new();
        let mut negatable = false;
        for node in body {
            match node {
                Node::Atom(atom) => literals.push((atom, true)),
                Node::Not if negatable => literals.last_mut()?.1 = false,
                _ => return None,
            }
            negatable = matches!(node, Node::Atom(_));
        }
        Some(literals)
    }

    /// The disjuncts of a disjunction at the root, or the formula itself.
    pub fn disjuncts(&self) -> Vec<Self> {
        let Some((Node::Or(_), body)) = self.nodes.split_last() else {
            return vec![self.clone()];
        };
        let starts = subformula_starts(body);
        let mut parts = Vec::new();
        let mut end = body.len();
        while end > 0 {
            let start = starts[end - 1];
            let nodes = body[start..end].to_vec();
            parts.push(Self { nodes });
            end = start;
        }
        parts.reverse();
        parts
    }

    /// Computes a value bottom-up: `combine` takes each node with the values of its subformulae in order.
    pub fn fold<T>(&self, mut combine: impl FnMut(&Node, Vec<T>) -> T) -> T {
        let mut values: Vec<T> = Vec::new();
        for node in &self.nodes {
            let children = values.split_off(values.len() - node.children());
            values.push(combine(node, children));
        }
        values.pop().expect("a formula has a root")
    }

    /// For each node in postfix order, whether it stands under an even number of negations.
    pub fn polarities(&self) -> Vec<bool> {
        let mut open = vec![true];
        let mut polarities: Vec<bool> = (self.nodes.iter().rev())
            .map(|node| {
                let positive = open.pop().expect("every node has a parent");
                let below = positive != (*node == Node::Not);
                open.resize(open.len() + node.children(), below);
                positive
            })
            .collect();
        polarities.reverse();
        polarities
    }
}

/// For each node the index where its subformula starts.
pub(crate) fn subformula_starts(nodes: &[Node]) -> Vec<usize> {
    let mut starts: Vec<usize> = Vec::with_capacity(nodes.len());
    let mut open: Vec<usize> = Vec::new();
    for (i, node) in nodes.iter().enumerate() {
        let first = open.len() - node.children();
        let start = open.get(first).copied().unwrap_or(i);
        open.truncate(first);
        open.push(start);
        starts.push(start);
    }
    starts
}

/// Merges a conjunction directly below a conjunction, and a disjunction below a disjunction, in one pass.
fn flatten_joins(nodes: Vec<Node>) -> Vec<Node> {
    // Backwards, parents come first: `parents` has, for each subformula still to come, the join that it would merge into.
    let mut parents: Vec<Option<usize>> = vec![None];
    let mut flat: Vec<Node> = Vec::with_capacity(nodes.len());
    for node in nodes.into_iter().rev() {
        let parent = parents.pop().flatten();
        let merged = match (parent.map(|p| &mut flat[p]), &node) {
            (Some(Node::And(total)), Node::And(n)) | (Some(Node::Or(total)), Node::Or(n)) => {
                *total += n - 1;
                true
            }
            _ => false,
        };
        let join = match &node {
            Node::And(_) | Node::Or(_) if merged => parent,
            Node::And(_) | Node::Or(_) => Some(flat.len()),
            _ => None,
        };
        parents.resize(parents.len() + node.children(), join);
        if !merged {
            flat.push(node);
        }
    }
    flat.reverse();
    flat
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formula(text: &str) -> Formula {
        text.parse().unwrap()
    }

    #[test]
    fn joins_are_flat() {
        assert_eq!(
            formula("a and (b and (c and d)) and e"),
            formula("((a and b) and c) and (d and e)")
        );
        assert_eq!(formula("a or (b or c)"), formula("a or b or c"));
        assert_ne!(formula("a and (b or c)"), formula("(a and b) or c"));
        let (a, bc) = (formula("a"), formula("b and c"));
        assert_eq!(
            Formula::all([a.clone(), bc.clone(), a.clone()]),
            formula("a and b and c and a")
        );
        assert_eq!(Formula::any([bc, a.clone()]), formula("b and c or a"));
        assert_eq!(Formula::all([a.clone()]), a);
        assert_eq!(Formula::all([]), Formula::truth());
        assert_eq!(Formula::any([]), formula("not true"));
    }

    #[test]
    fn disjuncts_are_the_parts_at_the_root() {
        for (text, parts) in [
            ("true", &["true"][..]),
            ("a and (b or c)", &["a and (b or c)"]),
            ("not (a or b)", &["not (a or b)"]),
            (
                "a or not (b or c) or (d or e) and f or (g or true)",
                &["a", "not (b or c)", "(d or e) and f", "g", "true"],
            ),
        ] {
            let expected: Vec<Formula> = parts.iter().map(|part| formula(part)).collect();
            assert_eq!(formula(text).disjuncts(), expected, "{text}");
        }
    }

    #[test]
    fn polarity_counts_negations() {
        let text = |literals: Vec<(&Atom, bool)>| {
            literals
                .iter()
                .map(|(a, p)| format!("{}{a}", if *p { "+" } else { "-" }))
                .collect::<Vec<_>>()
        };
        let nested = formula("a and not (b or not c)");
        assert_eq!(text(nested.literals()), ["+a", "-b", "+c"]);
        assert_eq!(nested.as_conjunction(), None);
        assert_eq!(formula("not not a").as_conjunction(), None);
        assert_eq!(
            text(formula("a and not b").as_conjunction().unwrap()),
            ["+a", "-b"]
        );
        assert_eq!(text(formula("not b").as_conjunction().unwrap()), ["-b"]);
        assert_eq!(formula("true").as_conjunction(), None);
        assert!(!formula("not a and not exists X. p(X)").has_positive_atom());
        assert!(!formula("true").has_positive_atom());
    }
}
