//! The `.form` text of a machine: one directive or edge per line, `#` comments.
//!
//! ```text
//! machine all_yellow
//! initial u0
//! accept  u_acc
//! reject  u_rej
//! u0 -> u1    : forall X. yellow(X)
//! u1 -> u_acc : goal => 0.5
//! ```
//! A line `steps all` says that every environment step is an observation; without it, or with `steps changes`, every change is.
//! A line `states u0, u1, …` declares the states; without it they are those that are mentioned, the initial one first and the
//! terminal ones last.

use std::fmt;
use std::str::FromStr;

use super::builder::{Draft, DraftEdge, check_machine_name};
use super::machine::Machine;
use super::step_mode::StepMode;
use crate::error::{Error, Fault, Parsed, Result, Span, place};
use crate::logic::identifier::Name;
use crate::logic::parse;

impl FromStr for Machine {
    type Err = Error;

    /// Reads the `.form` text of a machine.
    fn from_str(text: &str) -> Result<Self> {
        read(text).map_err(|fault| fault.located(text))
    }
}

fn read(text: &str) -> Parsed<Machine> {
    let mut draft: Draft<Span> = Draft::default();
    let mut named = false;
    for line in text.split('\n') {
        let content = line.split('#').next().unwrap_or_default();
        let (word, rest) = first_word(content);
        let at = |part: &str| place(text, part);
        match word {
            "" => {}
            _ if content.contains("->") || content.contains('→') => {
                draft.edges.push(edge(content, text)?);
            }
            "machine" if named => return Err(Fault::new(at(word), "the machine is named twice")),
            "machine" => {
                named = true;
                let (name, at) = one_word(rest, at(rest), "the machine's name")?;
                check_machine_name(&name).map_err(|error| Fault::new(at, error.to_string()))?;
                draft.name = name;
            }
            "states" if draft.states.is_some() => {
                return Err(Fault::new(at(word), "the states are declared twice"));
            }
            "states" => {
                let names = rest
                    .split([',', ' ', '\t', '\r'])
                    .filter(|name| !name.is_empty());
                draft.states = Some(names.map(|name| (name.to_owned(), at(name))).collect());
            }
            "steps" if draft.step_mode.is_some() => {
                return Err(Fault::new(at(word), "`steps` is given twice"));
            }
            "steps" => {
                let (mode, at) = one_word(rest, at(rest), "`all` or `changes` after `steps`")?;
                draft.step_mode = Some(
                    mode.parse()
                        .map_err(|problem: String| Fault::new(at, problem))?,
                );
            }
            "initial" | "accept" | "reject" => {
                let slot = match word {
                    "initial" => &mut draft.initial,
                    "accept" => &mut draft.accept,
                    _ => &mut draft.reject,
                };
                if slot.is_some() {
                    return Err(Fault::new(at(word), format!("`{word}` is given twice")));
                }
                *slot = Some(one_word(
                    rest,
                    at(rest),
                    &format!("the state after `{word}`"),
                )?);
            }
            _ => {
                let problem = "expected `machine`, `states`, `steps`, `initial`, `accept`, `reject` or an edge `from -> to : formula`";
                return Err(Fault::new(at(word), problem));
            }
        }
    }
    let end = text.trim_end().len();
    for (slot, word) in [(&draft.initial, "initial"), (&draft.accept, "accept")] {
        if slot.is_none() {
            let problem = format!("no line `{word} STATE`: every machine needs one");
            return Err(Fault::new(end..end, problem));
        }
    }
    draft
        .validate(end..end)
        .map_err(|(at, problem)| Fault::new(at, problem))
}

fn first_word(line: &str) -> (&str, &str) {
    let line = line.trim();
    let end = line.find(char::is_whitespace).unwrap_or(line.len());
    (&line[..end], line[end..].trim())
}

fn one_word(rest: &str, at: Span, what: &str) -> Parsed<(String, Span)> {
    match first_word(rest) {
        ("", _) => Err(Fault::new(at, format!("expected {what}"))),
        (word, "") => Ok((word.to_owned(), at)),
        (word, extra) => {
            let start = at.end - extra.len();
            Err(Fault::new(
                start..at.end,
                format!("expected the line to end after `{word}`"),
            ))
        }
    }
}

/// `from -> to : formula [=> reward]`, on a line of `text`.
pub(super) fn edge(line: &str, text: &str) -> Parsed<DraftEdge<Span>> {
    let at = |part: &str| place(text, part);
    let arrow = line
        .find("->")
        .map(|i| (i, 2))
        .or_else(|| line.find('→').map(|i| (i, '→'.len_utf8())));
    let (arrow, width) = arrow.ok_or_else(|| Fault::new(at(line), "expected `->`"))?;
    let colon = (line[arrow..].find(':').map(|i| arrow + i)).ok_or_else(|| {
        Fault::new(
            at(&line[line.trim_end().len()..]),
            "expected `:` and a formula after the target state",
        )
    })?;
    let state = |range: Span, what: &str| {
        let part = line[range].trim();
        let at = at(part);
        if part.contains(char::is_whitespace) {
            return Err(Fault::new(at, format!("expected one {what}")));
        }
        if part.is_empty() {
            return Err(Fault::new(at, format!("expected the {what}")));
        }
        Ok((part.to_owned(), at))
    };
    let from = state(0..arrow, "state before `->`")?;
    let to = state(arrow + width..colon, "state between `->` and `:`")?;
    let (formula_end, reward) = match line[colon..].rfind("=>") {
        None => (line.len(), None),
        Some(i) => {
            let number = line[colon + i + 2..].trim();
            let reward: f64 = (number.parse()).map_err(|_| {
                Fault::new(
                    at(number),
                    "expected a number after `=>`, the edge's reward",
                )
            })?;
            (colon + i, Some((reward, at(number))))
        }
    };
    let formula = &line[colon + 1..formula_end];
    let formula = parse::formula(formula).map_err(|fault| {
        let mut fault = fault.shifted(at(formula).start);
        if fault.problem.starts_with("expected `and`, `or`") {
            fault.problem += " (an edge's reward is written `=> 0.5`)";
        }
        fault
    })?;
    Ok(DraftEdge {
        from,
        to,
        formula,
        reward,
    })
}

/// The `.form` text, which reads back as the same machine.
impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "machine {}", self.name())?;
        if !self.states_are_implied() {
            let names: Vec<&str> = self.states().iter().map(Name::as_str).collect();
            writeln!(f, "states  {}", names.join(", "))?;
        }
        writeln!(f, "initial {}", self.state_name(self.initial()))?;
        writeln!(f, "accept  {}", self.state_name(self.accept()))?;
        if let Some(reject) = self.reject() {
            writeln!(f, "reject  {}", self.state_name(reject))?;
        }
        if self.step_mode() == StepMode::All {
            writeln!(f, "steps   {}", self.step_mode())?;
        }
        let width = |end: fn(&super::machine::Edge) -> super::machine::StateId| {
            let widths = self
                .edges()
                .iter()
                .map(|e| self.state_name(end(e)).chars().count());
            widths.max().unwrap_or(0).min(24)
        };
        let (from_width, to_width) = (width(|e| e.from), width(|e| e.to));
        for edge in self.edges() {
            let (from, to) = (self.state_name(edge.from), self.state_name(edge.to));
            write!(f, "{from:from_width$} -> {to:to_width$} : {}", edge.formula)?;
            if let Some(reward) = edge.reward {
                write!(f, " => {}", written_reward(reward))?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

/// A reward in text form: the shorter of plain and scientific notation, which read back as the same number.
pub fn written_reward(reward: f64) -> String {
    let (plain, scientific) = (format!("{reward}"), format!("{reward:e}"));
    if plain.len() <= scientific.len() + 4 {
        plain
    } else {
        scientific
    }
}

impl Machine {
    /// Whether the order of the states is that of their first mention.
    fn states_are_implied(&self) -> bool {
        let mut implied = vec![self.initial()];
        let mut seen = vec![false; self.states().len()];
        seen[self.initial().index()] = true;
        let mentions = self.edges().iter().flat_map(|edge| [edge.from, edge.to]);
        let terminal = [Some(self.accept()), self.reject()];
        for state in mentions
            .filter(|s| !self.is_terminal(*s))
            .chain(terminal.into_iter().flatten())
        {
            if !std::mem::replace(&mut seen[state.index()], true) {
                implied.push(state);
            }
        }
        implied.into_iter().eq(self.state_ids())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Places on edges were once relative to the line.
    #[test]
    fn mistakes_are_shown_at_their_place() {
        let start = "initial u0\naccept u_acc\n";
        for (edge, place, problem) in [
            ("u0 -> u-1 : a", (3, 7), "not a name"),
            ("  u_acc -> u0 : a", (3, 3), "outgoing"),
            ("u0 -> u_acc : a => nan", (3, 20), "finite"),
            ("u0 -> u_acc : a => b", (3, 20), "number"),
            ("u0 -> u_acc : ∃X. p(X) ∧", (3, 25), "expected an atom"),
            ("u0 -> : a", (3, 6), "expected the state"),
            ("u0 -> u_acc", (3, 12), "expected `:`"),
            ("machine a/b", (3, 9), "not a name"),
        ] {
            let error = format!("{start}{edge}\n").parse::<Machine>().unwrap_err();
            assert_eq!(error.position(), Some(place), "{edge}\n{error}");
            assert!(error.to_string().contains(problem), "{edge}\n{error}");
        }
        let error = "# nothing\n".parse::<Machine>().unwrap_err();
        assert!(error.to_string().contains("`initial STATE`"), "{error}");
    }
}
