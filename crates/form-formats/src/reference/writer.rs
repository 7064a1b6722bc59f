//! Writes machines as the reference code reads them; see the reader for the format.

use std::collections::HashSet;
use std::fmt::Write as _;

use form_core::{
    Atom, Error, Formula, Machine, Name, Notation, QuantifiedAtom, Quantifier, Result, StepMode,
};

/// Writes a machine as the reference code reads it, an edge with a disjunction as several lines.
///
/// Fails where the machine observes every step, where an edge has a reward of its own, another shape than a disjunction of conjunctions of literals, or is a
/// self-loop that keeps later edges from firing: the format cannot express these.
pub fn write_reference(machine: &Machine) -> Result<String> {
    if machine.step_mode() == StepMode::All {
        return Err(Error::Inexpressible {
            place: format!("machine {}", machine.name()),
            problem:
                "the reference code's format has no `steps all`: its machines observe every change"
                    .to_owned(),
        });
    }
    let mut text = format!(
        "'{}' # initial state\n",
        machine.state_name(machine.initial())
    );
    let mut line = |from: &str, to: &str, condition: &str| {
        writeln!(text, "('{from}', '{to}', '{condition}') #")
            .expect("writing to a string succeeds");
    };
    let mut last = vec![None; machine.states().len()];
    for (id, edge) in machine.edge_ids().zip(machine.edges()) {
        last[edge.from.index()] = Some(id);
    }
    for (id, edge) in machine.edge_ids().zip(machine.edges()) {
        let refuse = |problem: &str| Error::Inexpressible {
            place: machine.describe_edge(id),
            problem: format!("the reference code's format {problem}"),
        };
        let default = if edge.to == machine.accept() {
            1.0
        } else {
            0.0
        };
        if machine.reward(id) != default {
            return Err(refuse("has no rewards"));
        }
        if edge.from == edge.to {
            if last[edge.from.index()] == Some(id) {
                continue;
            }
            return Err(refuse(
                "has no self-loops: let the later edges exclude its formula instead",
            ));
        }
        let (from, to) = (machine.state_name(edge.from), machine.state_name(edge.to));
        for part in edge.formula.disjuncts() {
            if part == Formula::truth() {
                line(from, to, "");
                continue;
            }
            let literals = part.as_conjunction().ok_or_else(|| {
                refuse("knows only conjunctions of literals, and a disjunction of them as parallel edges")
            })?;
            let condition = written_condition(&literals).map_err(|problem| refuse(&problem))?;
            line(from, to, &condition);
        }
    }
    let accept = machine.state_name(machine.accept());
    line(accept, accept, "True");
    if let Some(reject) = machine.reject() {
        let reject = machine.state_name(reject);
        line(reject, reject, "False");
    }
    Ok(text)
}

/// The literals joined by `;`, or what the format lacks.
fn written_condition(literals: &[(&Atom, bool)]) -> Result<String, String> {
    let taken: HashSet<&str> = literals
        .iter()
        .flat_map(|(atom, _)| atom.constants())
        .map(Name::as_str)
        .collect();
    let mut parts = Vec::with_capacity(literals.len());
    for (atom, positive) in literals {
        let written = match atom {
            Atom::Ground(ground) => match ground.to_string().as_str() {
                word @ ("True" | "False") => {
                    return Err(format!(
                        "keeps the word `{word}` for itself: rename the proposition"
                    ));
                }
                text => text.replace(' ', ""),
            },
            Atom::Quantified(quantified) => {
                written_quantified(quantified, &taken).ok_or_else(|| {
                    format!(
                        "knows `exists` and `forall` of one atom alone: `form ground` turns `{atom}` into propositions"
                    )
                })?
            }
        };
        parts.push(format!("{}{written}", if *positive { "" } else { "~" }));
    }
    Ok(parts.join(";"))
}

/// `None` for atoms that the paper does not have.
fn written_quantified(atom: &QuantifiedAtom, taken: &HashSet<&str>) -> Option<String> {
    let literal = atom.single()?;
    let known = match atom.quantifier() {
        Quantifier::Exists => !literal.once,
        Quantifier::Forall => true,
        Quantifier::AtLeast(_) => false,
    };
    if !known {
        return None;
    }
    let variables = atom.name_variables((0..).map(|i| format!("X{i}")), taken);
    let quantifier = Notation::Unicode.quantifier(atom.quantifier());
    let terms = literal.arguments(&variables).join(",");
    let variables = variables.join(",");
    let predicate = &literal.predicate;
    Some(format!("{quantifier}{variables}, {predicate}({terms})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(edges: &str) -> Result<String> {
        let machine: Machine = format!("initial u0\naccept u_acc\nreject u_rej\n{edges}")
            .parse()
            .unwrap();
        write_reference(&machine)
    }

    #[test]
    fn disjunctions_become_lines() {
        let text = written(
            "u0 -> u1 : forall X, Y. on(X, Y) or not exists X. p(X, X0) and q(o1, o2) or true\nu1 -> u1 : b\nu0 -> u_acc : a => 1",
        );
        let expected = "'u0' # initial state
('u0', 'u1', '∀X0,X1, on(X0,X1)') #
('u0', 'u1', '~∃X1, p(X1,X0);q(o1,o2)') #
('u0', 'u1', '') #
('u0', 'u_acc', 'a') #
('u_acc', 'u_acc', 'True') #
('u_rej', 'u_rej', 'False') #
";
        assert_eq!(text.unwrap(), expected);
    }

    #[test]
    fn what_cannot_be_said_is_refused() {
        for (edges, problem) in [
            (
                "u0 -> u_rej : a => -1",
                "edge 1 (u0 -> u_rej): the reference code's format has no rewards",
            ),
            (
                "u0 -> u_acc : b\nu0 -> u_acc : not (a and b)",
                "edge 2 (u0 -> u_acc)",
            ),
            ("u0 -> u_acc : a and (b or c)", "conjunctions of literals"),
            ("u0 -> u0 : a\nu0 -> u_acc : b", "no self-loops"),
            ("u0 -> u_acc : a and not True", "keeps the word `True`"),
            ("u0 -> u_acc : once p(o)", "turns `once p(o)` into"),
            ("u0 -> u_acc : atleast 2 X. p(X)", "of one atom alone"),
            (
                "u0 -> u_acc : exists X. (p(X) and q(X))",
                "of one atom alone",
            ),
        ] {
            let error = written(edges).unwrap_err();
            assert!(matches!(error, Error::Inexpressible { .. }));
            assert!(error.to_string().contains(problem), "{error}");
        }
    }
}
