//! Learning with ILASP: running it on the paper's task, and reading the rules that it prints.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;

use form_core::{Signature, Trace};

use super::hypothesis::{Hypothesis, numbers_by_term};
use super::ilasp_task::to_ilasp;
use super::process::{budget, run};
use crate::error::{Error, Result};
use crate::options::{Limits, Options};
use crate::outcome::LearnOutcome;
use crate::vocabulary::{LearnableAtom, vocabulary};

const HINT: &str = "ILASP is closed source and free for research; its authors publish binaries, see \
    https://www.ilasp.com; or use the built-in solver";

/// Learns a smallest machine with the inductive learner `program`, usually `ILASP`, by the task of the paper.
///
/// The memory limit has no effect. The machine is replayed on all traces and checked for determinism independently of the
/// encoding.
pub fn learn_with_ilasp(
    signature: &Signature,
    traces: &[Trace],
    options: &Options,
    limits: &Limits,
    program: &Path,
) -> Result<LearnOutcome> {
    let budget = budget(limits);
    let vocabulary = vocabulary(signature, options)?;
    let io = |source| Error::Io {
        program: program.to_owned(),
        source,
    };
    for states in 1..=limits.max_states {
        let mut file = (tempfile::Builder::new().suffix(".las").tempfile()).map_err(io)?;
        let task = to_ilasp(signature, traces, options, states)?;
        file.write_all(task.as_bytes()).map_err(io)?;
        let path = file.path().to_string_lossy();
        let arguments = ["--version=4", &path];
        let output = match run(program, &arguments, String::new(), &budget, HINT)? {
            Ok(output) => output,
            Err(reason) => return Ok(LearnOutcome::stopped(reason, states)),
        };
        if !output.status.success() {
            return Err(output.failure(program));
        }
        let bad = |problem| Error::BadAnswer {
            program: program.to_owned(),
            problem,
        };
        if let Some(hypothesis) = read(&output.stdout, &vocabulary).map_err(bad)? {
            let learnt = hypothesis.into_learnt(&vocabulary, signature, traces, states)?;
            return Ok(LearnOutcome::Minimal(learnt));
        }
    }
    Ok(LearnOutcome::none_within(limits.max_states))
}

/// The machine that the printed rules describe, or `None` if the task is unsatisfiable. Comments and statistics are skipped.
fn read(output: &str, vocabulary: &[LearnableAtom]) -> Result<Option<Hypothesis>, String> {
    let numbers = numbers_by_term(vocabulary);
    let mut hypothesis = Hypothesis::default();
    for line in output.lines().map(str::trim) {
        if line.contains("UNSATISFIABLE") {
            return Ok(None);
        }
        if !line.starts_with("ed(") && !line.starts_with("n_phi(") {
            continue;
        }
        let odd = || format!("`{line}` is not a rule of the hypothesis space");
        let rule = line.strip_suffix('.').ok_or_else(odd)?;
        let (head, body) = rule.split_once(":-").unwrap_or((rule, ""));
        let (predicate, arguments) = application(head).ok_or_else(odd)?;
        let [from, to, number, step @ ..] = &arguments[..] else {
            return Err(odd());
        };
        let number = number.parse().map_err(|_| odd())?;
        let edge = (hypothesis.edges.entry((from.clone(), to.clone(), number))).or_default();
        match (predicate, step) {
            ("ed", []) if body.is_empty() => {}
            ("n_phi", [step]) => {
                edge.insert(literal(body, step, &numbers).ok_or_else(odd)?);
            }
            _ => return Err(odd()),
        }
    }
    Ok(Some(hypothesis))
}

/// The literal whose failure the body of a rule describes: `not obs(goal,T), step(T)` is the positive `obs(goal)`.
fn literal(body: &str, step: &str, numbers: &BTreeMap<String, usize>) -> Option<(usize, bool)> {
    let mut found = None;
    for condition in split(body) {
        if condition == format!("step({step})") {
            continue;
        }
        let negated = condition.strip_prefix("not ");
        let (predicate, arguments) = application(negated.unwrap_or(&condition))?;
        let (at, arguments) = arguments.split_last()?;
        let number = numbers.get(&format!("{predicate}({})", arguments.join(",")))?;
        // A rule has one literal and one step.
        if at != step || found.replace((*number, negated.is_some())).is_some() {
            return None;
        }
    }
    found
}

/// The predicate and the arguments of an atom.
fn application(atom: &str) -> Option<(&str, Vec<String>)> {
    let (predicate, rest) = atom.trim().split_once('(')?;
    Some((predicate.trim(), split(rest.strip_suffix(')')?)))
}

/// The parts between top-level commas and semicolons, without spaces inside terms.
fn split(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let (mut depth, mut quoted) = (0_i32, false);
    for c in text.trim().chars() {
        match c {
            '"' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth -= 1,
            ',' | ';' if !quoted && depth == 0 => {
                parts.push(String::new());
                continue;
            }
            // Only the space after `not` is significant.
            ' ' if !quoted && parts.last().is_none_or(|part| part != "not") => continue,
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(c);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signature() -> Signature {
        Signature::parse(["yellow(o0)", "yellow(o1)", "on(a,B)", "Goal"]).unwrap()
    }

    /// A hypothesis as ILASP 4 prints it.
    const PRINTED: &str = "\
ed(u0,u1,0).
ed(u1, u_acc, 0).
n_phi(u0,u1,0,V1) :- not a_pred(yellow,V1); step(V1).
n_phi(u1, u_acc, 0, V1) :- not obs(\"Goal\",V1), step(V1).
n_phi(u1,u_acc,0,V1) :- step(V1), obs(on(a, \"B\"), V1).

%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%
%% Pre-processing                          : 0.004s
%% Total                                   : 0.021s
";

    #[test]
    fn printed_rules_become_a_machine() {
        let vocabulary = vocabulary(&signature(), &Options::default()).unwrap();
        let found = read(PRINTED, &vocabulary).unwrap().unwrap();
        let learnt = found
            .into_learnt(&vocabulary, &signature(), &[], 2)
            .unwrap();
        insta::assert_snapshot!(learnt.machine, @r"
        machine learnt
        initial u0
        accept  u_acc
        u0 -> u1    : forall X. yellow(X)
        u1 -> u_acc : Goal and not on(a, B)
        ");
        assert_eq!(
            (learnt.cost.size, learnt.cost.ground, learnt.cost.negative),
            (5, 1, 1)
        );
    }

    #[test]
    fn unsatisfiable_is_no_machine_and_odd_rules_are_errors() {
        let vocabulary = vocabulary(&signature(), &Options::default()).unwrap();
        let read = |text: &str| read(text, &vocabulary);
        assert_eq!(read("UNSATISFIABLE\n%% Total : 0.1s\n"), Ok(None));
        assert_eq!(read("\n"), Ok(Some(Hypothesis::default())));
        for odd in [
            "ed(u0,u1).",
            "ed(u0,u1,0)",
            "ed(u0,u1,0) :- step(V1).",
            "n_phi(u0,u1,0,V1) :- obs(red,V1), step(V1).",
            "n_phi(u0,u1,0,V1) :- obs(\"Goal\",V2), step(V1).",
            "n_phi(u0,u1,0,V1) :- obs(\"Goal\",V1), e_pred(yellow,V1).",
            "n_phi(u0,u1,0,V1) :- step(V1).",
        ] {
            assert_eq!(
                read(odd),
                Err(format!("`{odd}` is not a rule of the hypothesis space"))
            );
        }
    }

    #[test]
    fn a_missing_program_says_where_it_is_published() {
        let missing = Path::new("no-such-ilasp");
        let error = learn_with_ilasp(
            &signature(),
            &[],
            &Options::default(),
            &Limits::default(),
            missing,
        );
        assert!(error.unwrap_err().to_string().contains("closed source"));
    }
}
