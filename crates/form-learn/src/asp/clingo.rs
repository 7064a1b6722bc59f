//! Having clingo solve the problem: one run for each number of states, from one upwards.

use std::collections::BTreeMap;
use std::path::Path;

use form_core::{Signature, Trace};
use form_formats::atom_to_asp;
use serde_json::Value;

use super::answer::Choice;
use super::direct::to_asp;
use super::process::{Deadline, run};
use crate::error::{Error, Result};
use crate::outcome::{Cost, Learnt, Outcome};
use crate::problem::{Limits, Options};
use crate::vocabulary::{Candidate, vocabulary};

const HINT: &str = "install clingo (Debian and Ubuntu: package `gringo`; conda and pip: package `clingo`) \
    or use the built-in solver";

/// Learns a smallest machine with the answer set solver `program`, usually `clingo`.
///
/// Of the limits the states, the time and the interrupt count. The machine has been replayed on all traces and found
/// deterministic independently of the encoding.
pub fn learn_with_clingo(
    signature: &Signature,
    traces: &[Trace],
    options: &Options,
    limits: &Limits,
    program: &Path,
) -> Result<Outcome> {
    let deadline = Deadline::new(limits);
    let candidates = vocabulary(signature, options.first_order)?;
    for states in 1..=limits.max_states {
        let task = to_asp(signature, traces, options, states)?;
        let arguments = ["--outf=2", "--opt-mode=opt", "--warn=none", "-"];
        let ended = run(program, &arguments, task, &deadline, HINT)?;
        let output = match ended.output() {
            Ok(output) => output,
            Err(reason) => return Ok(Outcome::stopped(reason, states)),
        };
        let bad = |problem: String| Error::BadAnswer {
            program: program.to_owned(),
            problem,
        };
        // Without a complete answer the exit status and the messages say what happened.
        let Ok(answer) = serde_json::from_str(&output.stdout) else {
            return Err(output.failure(program));
        };
        match read(&answer, &candidates).map_err(bad)? {
            Answer::Unsatisfiable => {}
            Answer::Unknown => return Err(output.failure(program)),
            Answer::Optimal(choice, cost) => {
                let learnt = choice.into_learnt(&candidates, signature, traces, states)?;
                agree(&learnt, cost).map_err(bad)?;
                return Ok(Outcome::Minimal(learnt));
            }
        }
    }
    Ok(Outcome::none_within(limits))
}

/// What clingo said.
#[derive(Debug, PartialEq)]
enum Answer {
    Unsatisfiable,
    /// A smallest machine, and its cost by clingo's count.
    Optimal(Choice, Option<Cost>),
    /// It stopped before it knew.
    Unknown,
}

fn agree(learnt: &Learnt, cost: Option<Cost>) -> Result<(), String> {
    match cost {
        Some(cost) if cost != learnt.cost => Err(format!(
            "its cost is {cost:?}, that of the machine is {:?}",
            learnt.cost
        )),
        _ => Ok(()),
    }
}

/// Reads the JSON of `--outf=2`.
fn read(answer: &Value, candidates: &[Candidate]) -> Result<Answer, String> {
    let interrupted = answer.get("INTERRUPTED").is_some();
    match answer["Result"].as_str() {
        Some("UNSATISFIABLE") => return Ok(Answer::Unsatisfiable),
        // Without anything to minimise a model is as good as any other.
        Some("OPTIMUM FOUND" | "SATISFIABLE") if !interrupted => {}
        Some(_) => return Ok(Answer::Unknown),
        None => return Err("it has no `Result`".to_owned()),
    }
    // The last call and its last model: each is better than those before it.
    let last = |value: &'_ Value| value.as_array().and_then(|all| all.last().cloned());
    let model = last(&answer["Call"]).and_then(|call| last(&call["Witnesses"]));
    let model = model.ok_or("it has no model")?;
    let atoms = model["Value"].as_array().ok_or("its model has no atoms")?;
    let texts = atoms.iter().filter_map(Value::as_str);
    let numbers: Vec<usize> = (model["Costs"].as_array().into_iter().flatten())
        .filter_map(|cost| cost.as_u64().and_then(|cost| cost.try_into().ok()))
        .collect();
    let cost = match numbers[..] {
        [size, ground, negative] => Some(Cost {
            size,
            ground,
            negative,
        }),
        _ => None,
    };
    Ok(Answer::Optimal(choice(texts, candidates)?, cost))
}

/// The machine that the atoms `ed(0,1,0)`, `pos(0,1,0,obs(goal))` and `neg(…)` describe.
fn choice<'a>(
    atoms: impl Iterator<Item = &'a str>,
    candidates: &[Candidate],
) -> Result<Choice, String> {
    let terms: BTreeMap<String, usize> = (candidates.iter())
        .map(|candidate| atom_to_asp(&candidate.atom))
        .zip(0..)
        .collect();
    let mut choice = Choice::default();
    for atom in atoms {
        let odd = || format!("`{atom}` is none of its atoms");
        let (predicate, rest) = atom.split_once('(').ok_or_else(odd)?;
        let arguments = rest.strip_suffix(')').ok_or_else(odd)?;
        // States and numbers have no commas, so the rest is the literal.
        let mut arguments = arguments.splitn(4, ',');
        let mut next = || arguments.next().ok_or_else(odd);
        let (from, to, number) = (state(next()?), state(next()?), next()?);
        let number = number.parse().map_err(|_| odd())?;
        let edge = choice.edges.entry((from, to, number)).or_default();
        match predicate {
            "ed" => {}
            "pos" | "neg" => {
                let literal = *terms.get(next()?).ok_or_else(odd)?;
                edge.insert((literal, predicate == "pos"));
            }
            _ => return Err(odd()),
        }
    }
    Ok(choice)
}

fn state(term: &str) -> String {
    match term {
        "u_acc" | "u_rej" => term.to_owned(),
        number => format!("u{number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn candidates() -> Vec<Candidate> {
        let signature = Signature::parse(["yellow(o0)", "yellow(o1)", "Goal"]).unwrap();
        vocabulary(&signature, true).unwrap()
    }

    #[test]
    fn the_best_model_becomes_a_machine() {
        let model = json!({
            "Call": [{"Witnesses": [
                {"Value": ["ed(0,u_acc,0)"], "Costs": [9, 0, 0]},
                {"Value": [
                    "ed(0,1,0)", "pos(0,1,0,a_pred(yellow))", "ed(1,u_acc,0)", "pos(1,u_acc,0,obs(\"Goal\"))",
                    "neg(1,u_acc,0,obs(yellow(o1)))",
                ], "Costs": [5, 1, 1]},
            ]}],
            "Result": "OPTIMUM FOUND",
        });
        let candidates = candidates();
        let Answer::Optimal(choice, cost) = read(&model, &candidates).unwrap() else {
            panic!("it has a model")
        };
        assert_eq!(cost, Some(choice.cost(&candidates)));
        let signature = Signature::parse(["yellow(o0)", "yellow(o1)", "Goal"]).unwrap();
        let learnt = choice.into_learnt(&candidates, &signature, &[], 2).unwrap();
        insta::assert_snapshot!(learnt.machine, @r"
        machine learnt
        initial u0
        accept  u_acc
        u0 -> u1    : forall X. yellow(X)
        u1 -> u_acc : Goal and not yellow(o1)
        ");
    }

    #[test]
    fn other_answers_are_told_apart() {
        let read = |value: Value| read(&value, &candidates());
        assert_eq!(
            read(json!({"Result": "UNSATISFIABLE"})),
            Ok(Answer::Unsatisfiable)
        );
        assert_eq!(
            read(json!({"Result": "UNKNOWN", "INTERRUPTED": 1})),
            Ok(Answer::Unknown)
        );
        assert_eq!(
            read(json!({"Result": "SATISFIABLE", "INTERRUPTED": 1})),
            Ok(Answer::Unknown)
        );
        assert!(read(json!({})).is_err());
        let odd = json!({"Result": "OPTIMUM FOUND", "Call": [{"Witnesses": [{"Value": ["pos(0,1,0,obs(red))"]}]}]});
        assert_eq!(
            read(odd),
            Err("`pos(0,1,0,obs(red))` is none of its atoms".to_owned())
        );
    }

    #[test]
    fn a_missing_program_says_how_to_get_it() {
        let signature = Signature::parse(["goal"]).unwrap();
        let missing = Path::new("no-such-clingo");
        let error = learn_with_clingo(
            &signature,
            &[],
            &Options::default(),
            &Limits::default(),
            missing,
        );
        assert!(error.unwrap_err().to_string().contains("package `gringo`"));
    }
}
