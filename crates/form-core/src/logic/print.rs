//! Prints formulae: canonical ASCII that parses back to the same formula, and the paper's notation.

use std::collections::HashSet;
use std::fmt;

use super::atom::{Atom, Literal, QuantifiedAtom, Quantifier, Term, write_application};
use super::formula::{Formula, Node, subformula_starts};

/// How connectives and quantifiers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// `forall X. yellow(X) and not lava`: canonical, what files contain.
    Ascii,
    /// `∀X. yellow(X) ∧ ¬lava`: the paper's notation.
    Unicode,
}

impl Notation {
    fn not(self) -> &'static str {
        match self {
            Self::Ascii => "not ",
            Self::Unicode => "¬",
        }
    }

    fn and(self) -> &'static str {
        match self {
            Self::Ascii => " and ",
            Self::Unicode => " ∧ ",
        }
    }

    fn or(self) -> &'static str {
        match self {
            Self::Ascii => " or ",
            Self::Unicode => " ∨ ",
        }
    }

    /// The quantifier as it stands before its variables.
    pub fn quantifier(self, quantifier: Quantifier) -> String {
        match (self, quantifier) {
            (Self::Ascii, Quantifier::Exists) => "exists ".to_owned(),
            (Self::Ascii, Quantifier::Forall) => "forall ".to_owned(),
            (Self::Ascii, Quantifier::AtLeast(count)) => format!("atleast {count} "),
            (Self::Unicode, Quantifier::Exists) => "∃".to_owned(),
            (Self::Unicode, Quantifier::Forall) => "∀".to_owned(),
            (Self::Unicode, Quantifier::AtLeast(count)) => format!("∃≥{count} "),
        }
    }

    fn once(self) -> &'static str {
        match self {
            Self::Ascii => "once ",
            Self::Unicode => "◆",
        }
    }
}

impl Formula {
    /// The formula in the given notation.
    pub fn display(&self, notation: Notation) -> impl fmt::Display + '_ {
        Written {
            formula: self,
            notation,
        }
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.display(Notation::Ascii).fmt(f)
    }
}

impl fmt::Display for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let constants = self
            .constants()
            .into_iter()
            .map(super::identifier::Name::as_str)
            .collect();
        write_atom(f, self, Notation::Ascii, &constants)
    }
}

struct Written<'a> {
    formula: &'a Formula,
    notation: Notation,
}

/// The rest of the output, last first.
enum Work {
    Text(&'static str),
    /// The subformula with its root at this index.
    Subformula(usize),
}

impl fmt::Display for Written<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nodes = self.formula.nodes();
        let starts = subformula_starts(nodes);
        let constants: HashSet<&str> = (self.formula.atoms())
            .flat_map(Atom::constants)
            .map(super::identifier::Name::as_str)
            .collect();
        let mut work = vec![Work::Subformula(nodes.len() - 1)];
        while let Some(item) = work.pop() {
            let root = match item {
                Work::Text(text) => {
                    f.write_str(text)?;
                    continue;
                }
                Work::Subformula(root) => root,
            };
            let node = &nodes[root];
            match node {
                Node::True => f.write_str(if self.notation == Notation::Ascii {
                    "true"
                } else {
                    "⊤"
                })?,
                Node::Atom(atom) => write_atom(f, atom, self.notation, &constants)?,
                Node::Not | Node::And(_) | Node::Or(_) => {
                    let separator = match node {
                        Node::Not => {
                            f.write_str(self.notation.not())?;
                            ""
                        }
                        Node::And(_) => self.notation.and(),
                        _ => self.notation.or(),
                    };
                    // The children, last first: the stack reverses them.
                    let mut child = root - 1;
                    for i in 0..node.children() {
                        if i > 0 {
                            work.push(Work::Text(separator));
                            child = starts[child] - 1;
                        }
                        if strength(&nodes[child]) < strength(node) {
                            work.extend([
                                Work::Text(")"),
                                Work::Subformula(child),
                                Work::Text("("),
                            ]);
                        } else {
                            work.push(Work::Subformula(child));
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

/// How tightly a node binds: a weaker one below a stronger one needs parentheses.
fn strength(node: &Node) -> u8 {
    match node {
        Node::Or(_) => 0,
        Node::And(_) => 1,
        Node::Not => 2,
        Node::True | Node::Atom(_) => 3,
    }
}

fn write_atom(
    f: &mut fmt::Formatter<'_>,
    atom: &Atom,
    notation: Notation,
    taken: &HashSet<&str>,
) -> fmt::Result {
    match atom {
        Atom::Ground(ground) => write!(f, "{ground}"),
        Atom::Quantified(quantified) => write_quantified(f, quantified, notation, taken),
    }
}

impl QuantifiedAtom {
    /// One name per variable: the first of `names` that are not taken.
    pub fn name_variables(
        &self,
        names: impl Iterator<Item = String>,
        taken: &HashSet<&str>,
    ) -> Vec<String> {
        names
            .filter(|name| !taken.contains(name.as_str()))
            .take(self.variables() as usize)
            .collect()
    }
}

impl Literal {
    /// The arguments in text form, with these names of the variables.
    pub fn arguments<'a>(&'a self, variables: &'a [String]) -> Vec<&'a str> {
        (self.terms.iter())
            .map(|term| match term {
                Term::Variable(v) => variables[*v as usize].as_str(),
                Term::Constant(constant) => constant.as_str(),
            })
            .collect()
    }
}

/// Writes a quantified atom; the names of its variables differ from every constant of the formula.
fn write_quantified(
    f: &mut fmt::Formatter<'_>,
    atom: &QuantifiedAtom,
    notation: Notation,
    taken: &HashSet<&str>,
) -> fmt::Result {
    let short = ["X", "Y", "Z"].map(str::to_owned).into_iter();
    let names = short.chain((0..).map(|i| format!("X{i}")));
    let variables = atom.name_variables(names, taken);
    if !variables.is_empty() {
        let quantifier = notation.quantifier(atom.quantifier());
        write!(f, "{quantifier}{}. ", variables.join(", "))?;
    }
    let parenthesised = atom.literals().len() > 1;
    if parenthesised {
        f.write_str("(")?;
    }
    for (i, literal) in atom.literals().iter().enumerate() {
        if i > 0 {
            f.write_str(notation.and())?;
        }
        if literal.negated {
            f.write_str(notation.not())?;
        }
        // The window of `forall` and `atleast` goes without saying.
        if literal.once && atom.quantifier() == Quantifier::Exists {
            f.write_str(notation.once())?;
        }
        write_application(f, &literal.predicate, &literal.arguments(&variables))?;
    }
    if parenthesised {
        f.write_str(")")?;
    }
    Ok(())
}
