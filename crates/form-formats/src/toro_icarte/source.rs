//! The syntax of a Toro Icarte file: its parts, not yet interpreted.

use form_core::syntax::{self, Fault, Parsed, Span, shortened};
use form_core::{Atom, Formula};

use crate::literal::{Line, Token, significant_lines};

/// A file.
pub(super) struct Source {
    pub(super) initial: (i64, Span),
    pub(super) terminal: Option<Vec<(i64, Span)>>,
    pub(super) edges: Vec<SourceEdge>,
    pub(super) end: usize,
}

/// An edge of the file.
pub(super) struct SourceEdge {
    pub(super) from: (i64, Span),
    pub(super) to: (i64, Span),
    pub(super) formula: Formula,
    pub(super) reward: (f64, Span),
}

impl SourceEdge {
    pub(super) fn is_self_loop(&self) -> bool {
        self.from.0 == self.to.0
    }
}

pub(super) fn read(text: &str) -> Parsed<Source> {
    let end = text.trim_end().len();
    let mut lines = significant_lines(text).peekable();
    let Some(first) = lines.next() else {
        let problem = "expected the number of the initial state";
        return Err(Fault::new(end..end, problem));
    };
    let mut line = Line::new(first)?;
    let initial = line.integer("the number of the initial state")?;
    line.end("the initial state")?;
    let terminal = lines
        .next_if(|(_, line)| line.trim_start().starts_with('['))
        .map(|line| terminal_states(&mut Line::new(line)?))
        .transpose()?;
    let edges = lines
        .map(|line| edge(&mut Line::new(line)?))
        .collect::<Parsed<_>>()?;
    Ok(Source {
        initial,
        terminal,
        edges,
        end,
    })
}

/// `[2, 3]`.
fn terminal_states(line: &mut Line<'_>) -> Parsed<Vec<(i64, Span)>> {
    let mut states = Vec::new();
    line.sign('[', "of the terminal states")?;
    while line.token != Token::Sign(']') {
        states.push(line.integer("the number of a terminal state")?);
        if line.token != Token::Sign(']') {
            line.sign(',', "or `]` after a terminal state")?;
        }
    }
    line.advance()?;
    line.end("the terminal states")?;
    Ok(states)
}

/// `(0,1,'a&!b',ConstantRewardFunction(0))`.
fn edge(line: &mut Line<'_>) -> Parsed<SourceEdge> {
    line.sign(
        '(',
        "of an edge `(from,to,'formula',ConstantRewardFunction(reward))`",
    )?;
    let from = line.integer("the number of the source state")?;
    line.sign(',', "after the source state")?;
    let to = line.integer("the number of the target state")?;
    line.sign(',', "after the target state")?;
    let (text, at) = line.text("the formula in quotes")?;
    let formula = formula(text).map_err(|fault| fault.shifted(at.start))?;
    line.sign(',', "after the formula")?;
    let reward = reward(line)?;
    line.sign(')', "after the reward")?;
    line.end("the edge")?;
    Ok(SourceEdge {
        from,
        to,
        formula,
        reward,
    })
}

fn reward(line: &mut Line<'_>) -> Parsed<(f64, Span)> {
    const CONSTANT: &str = "ConstantRewardFunction";
    match line.token {
        Token::Word(CONSTANT) => {
            line.advance()?;
            line.sign('(', "after the reward function")?;
            let reward = line.number("the reward, a number,")?;
            line.sign(')', "after the reward")?;
            Ok(reward)
        }
        Token::Word(other) => {
            let problem = format!(
                "the reward function `{}` is not supported, only `{CONSTANT}` or a number",
                shortened(other)
            );
            Err(Fault::new(line.span.clone(), problem))
        }
        _ => line.number("a reward, `ConstantRewardFunction(x)` or a number,"),
    }
}

/// The formulae are those of this project over ground atoms, except for the words `True` and `False`.
fn formula(text: &str) -> Parsed<Formula> {
    let formula = syntax::formula(text)?;
    if (formula.atoms()).any(|atom| matches!(atom, Atom::Quantified(_))) {
        let problem = "this format is propositional: it has no quantifiers and no windows";
        return Err(Fault::new(0..text.len(), problem));
    }
    Ok(formula.substitute(|atom| match atom.to_string().as_str() {
        "True" => Some(Formula::truth()),
        "False" => Some(Formula::falsehood()),
        _ => None,
    }))
}

#[cfg(test)]
mod tests {
    use crate::{ToroIcarteOptions, read_toro_icarte};

    #[test]
    fn mistakes_are_shown_at_their_place() {
        for (text, place, problem) in [
            ("", (1, 1), "initial state"),
            ("0\n[0]", (2, 2), "cannot be terminal"),
            ("0\n[1", (2, 3), "`,` or `]`"),
            (
                "0\n(0,1,'a',RewardControl())",
                (2, 10),
                "`RewardControl` is not supported",
            ),
            (
                "0\n(0,1,'a',__import__('os').system('x'))",
                (2, 10),
                "`__import__`",
            ),
            ("__import__('os').system('x')", (1, 1), "`__import__`"),
            (
                "0\n(0,1,'a',ConstantRewardFunction(1+1))",
                (2, 34),
                "`)` after the reward",
            ),
            (
                "0\n(0,1,'a',ConstantRewardFunction(1e999))",
                (2, 33),
                "out of range",
            ),
            ("0\n(0,99999999999999999999,'a',1)", (2, 4), "out of range"),
            ("0\n(0,1,'a&',1)", (2, 9), "expected an atom"),
            ("0\n(0,1,'((a)',1)", (2, 7), "never closed"),
            ("0\n(0,1,'a,1)", (2, 6), "never closed"),
            ("0\n(0,1,'exists X. p(X)',1)", (2, 7), "no quantifiers"),
            ("0\n((((0,1,'a',1)", (2, 2), "source state"),
            ("0\n(0,1,'a\0',1)", (2, 8), "U+0000"),
            ("0\n(0,1,'a',1) (", (2, 13), "line to end"),
            ("0.5\n(0,1,'a',1)", (1, 1), "initial state"),
        ] {
            let error = read_toro_icarte(text, &ToroIcarteOptions::default()).unwrap_err();
            assert_eq!(error.position(), Some(place), "{text}\n{error}");
            assert!(error.to_string().contains(problem), "{text}\n{error}");
        }
    }
}
