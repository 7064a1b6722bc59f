//! The text files of the paper's reference code.
//!
//! ```text
//! 'u0' # initial state
//! ('u0', 'u1', '∃X0, green(X0);~green(o12)') #
//! ('u1', 'u_acc', 'goal') #
//! ('u_acc', 'u_acc', 'True') #
//! ('u_rej', 'u_rej', 'False') #
//! ```
//! `;` is conjunction, `~` negation, and a quantifier's variables end at the comma before the predicate (a dot is read
//! too). A self-loop labelled `True` marks the accepting state, one labelled `False` the rejecting one. There is no
//! disjunction except parallel edges, and there are no rewards.

mod condition;
mod writer;

pub use writer::write_reference;

use form_core::Result;
use form_core::syntax::{Draft, DraftEdge, Fault, Parsed, Span};

use crate::Converted;
use crate::literal::{Line, Token, significant_lines, without_bom};

/// Reads a machine of the reference code.
pub fn read_reference(text: &str) -> Result<Converted> {
    let text = without_bom(text);
    read(text).map_err(|fault| fault.located(text))
}

fn read(text: &str) -> Parsed<Converted> {
    let mut draft: Draft<Span> = Draft::default();
    let mut dropped = 0;
    let mut lines = significant_lines(text);
    let end = text.trim_end().len();
    let Some(first) = lines.next() else {
        return Err(Fault::new(
            end..end,
            "expected the initial state, as `'u0'`",
        ));
    };
    draft.initial = Some(initial(&mut Line::new(first)?)?);
    for line in lines {
        let (edge, label) = edge(&mut Line::new(line)?)?;
        if edge.from.0 != edge.to.0 {
            draft.edges.push(edge);
            continue;
        }
        let slot = match label.trim() {
            "True" => &mut draft.accept,
            "False" => &mut draft.reject,
            _ => {
                dropped += 1;
                continue;
            }
        };
        if let Some((known, _)) = slot.replace(edge.from.clone())
            && known != edge.from.0
        {
            let problem = format!(
                "`{known}` has a self-loop labelled `{}` already: only one state may have one",
                label.trim()
            );
            return Err(Fault::new(edge.from.1, problem));
        }
    }
    if draft.accept.is_none() {
        let problem = "no accepting state: a line `('u_acc', 'u_acc', 'True')` marks it";
        return Err(Fault::new(end..end, problem));
    }
    let mut notes = Vec::new();
    if let Some((reject, _)) = &draft.reject {
        notes.push(format!(
            "the file states no rewards: entering `{reject}` pays -1 in the reference code and 0 here, unless its edges get `=> -1`"
        ));
    }
    if dropped > 0 {
        notes.push(format!(
            "{dropped} self-loop(s) left out: a machine without a matching edge stays"
        ));
    }
    let machine = (draft.validate(end..end)).map_err(|(at, problem)| Fault::new(at, problem))?;
    Ok(Converted { machine, notes })
}

/// `'u0'`, or `u0` as the reference code itself writes it.
fn initial(line: &mut Line<'_>) -> Parsed<(String, Span)> {
    let state = match line.token {
        Token::Word(name) | Token::Text(name) => (name.to_owned(), line.span.clone()),
        _ => return line.expected("the initial state, as `'u0'`"),
    };
    line.advance()?;
    line.end("the initial state")?;
    Ok(state)
}

/// `('from', 'to', 'condition')`, with the condition as it is written.
fn edge<'a>(line: &mut Line<'a>) -> Parsed<(DraftEdge<Span>, &'a str)> {
    let owned = |(name, at): (&str, Span)| (name.to_owned(), at);
    line.sign('(', "of an edge `('from', 'to', 'condition')`")?;
    let from = line.text("the source state in quotes").map(owned)?;
    line.sign(',', "after the source state")?;
    let to = line.text("the target state in quotes").map(owned)?;
    line.sign(',', "after the target state")?;
    let (text, at) = line.text("the condition in quotes")?;
    line.sign(')', "after the condition")?;
    line.end("the edge")?;
    let formula = condition::condition(text).map_err(|fault| fault.shifted(at.start))?;
    let edge = DraftEdge {
        from,
        to,
        formula,
        reward: None,
    };
    Ok((edge, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GREEN_BUT_ONE: &str = "'u0' # initial state
('u0', 'u1', '∃X0, green_checkpoint(X0);~green_checkpoint(o12)') #
('u0', 'u_rej', 'lava') #
('u1', 'u_acc', 'goal') #
('u_acc', 'u_acc', 'True') # 
('u_rej', 'u_rej', 'False') # 
";

    #[test]
    fn the_authors_file() {
        let expected = "machine machine
initial u0
accept  u_acc
reject  u_rej
u0 -> u1    : exists X. green_checkpoint(X) and not green_checkpoint(o12)
u0 -> u_rej : lava
u1 -> u_acc : goal
";
        let dos = format!("\u{feff}{}", GREEN_BUT_ONE.replace('\n', "\r\n"));
        let bare = GREEN_BUT_ONE.replacen("'u0'", "u0", 1);
        for text in [GREEN_BUT_ONE, &dos, &bare] {
            let read = read_reference(text).unwrap();
            assert_eq!(read.machine.to_string(), expected);
            assert_eq!(read.notes.len(), 1);
            assert!(read.notes[0].contains("pays -1"));
        }
    }

    #[test]
    fn self_loops_and_marks() {
        let read =
            read_reference("\"u0\"\n# note\n\n('u0','u0','')\n('u0','u1','b')\n('u1','u1','True')");
        let read = read.unwrap();
        assert_eq!(read.machine.edges().len(), 1);
        assert_eq!(read.machine.state_name(read.machine.accept()), "u1");
        assert!(read.notes[0].contains("1 self-loop"));
    }

    #[test]
    fn mistakes_are_shown_at_their_place() {
        for (text, place, problem) in [
            ("", (1, 1), "initial state"),
            ("'u0'\n('u0', 'u1', 'a')", (2, 18), "no accepting state"),
            (
                "'u0'\n('u0', 'u1', 'a;∃X, p')",
                (2, 18),
                "`X` does not occur",
            ),
            ("'u0'\n('u0', 'u1, 'a')", (2, 14), "expected `,`"),
            ("'u0'\n('u0', 'u1', 'a)", (2, 14), "never closed"),
            ("'u0'\n('u0', 'u\\'1', 'a')", (2, 10), "escapes"),
            (
                "'u0'\n('a','a','True')\n('b','b','True')",
                (3, 3),
                "`a` has a self-loop",
            ),
            ("'u0'\n('u0','u0','True')", (2, 3), "initial state"),
            (
                "'u0'\n('u a','u1','x')\n('u1','u1','True')",
                (2, 3),
                "not a name",
            ),
            ("'u0'\n('a','a','True')\n('a','b','x')", (3, 3), "outgoing"),
            ("__import__('os').system('x')", (1, 11), "line to end"),
        ] {
            let error = read_reference(text).unwrap_err();
            assert_eq!(error.position(), Some(place), "{text}\n{error}");
            assert!(error.to_string().contains(problem), "{text}\n{error}");
        }
    }
}
