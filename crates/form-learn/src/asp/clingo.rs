//! Learning with clingo: one run per number of states, from one upwards.

use std::path::Path;

use form_core::{Signature, Trace};
use serde_json::Value;

use super::clingo_program::to_asp;
use super::hypothesis::{Hypothesis, numbers_by_term};
use super::process::{budget, run};
use crate::error::{Error, Result};
use crate::options::{Limits, Options};
use crate::outcome::{Cost, LearnOutcome, Learnt};
use crate::vocabulary::{LearnableAtom, vocabulary};

const HINT: &str = "install clingo (Debian and Ubuntu: package `gringo`; conda and pip: package `clingo`) \
    or use the built-in solver";

/// Learns a smallest machine with the answer set solver `program`, usually `clingo`.
///
/// The memory limit has no effect. The machine is replayed on all traces and checked for determinism independently of the
/// encoding.
pub fn learn_with_clingo(
    signature: &Signature,
    traces: &[Trace],
    options: &Options,
    limits: &Limits,
    program: &Path,
) -> Result<LearnOutcome> {
    let budget = budget(limits);
    let vocabulary = vocabulary(signature, options)?;
    for states in 1..=limits.max_states {
        let task = to_asp(signature, traces, options, states)?;
        let arguments = ["--outf=2", "--opt-mode=opt", "--warn=none", "-"];
        let output = match run(program, &arguments, task, &budget, HINT)? {
            Ok(output) => output,
            Err(reason) => return Ok(LearnOutcome::stopped(reason, states)),
        };
        let bad = |problem: String| Error::BadAnswer {
            program: program.to_owned(),
            problem,
        };
        // Without complete output the exit status and the messages say what happened.
        let Ok(answer) = serde_json::from_str(&output.stdout) else {
            return Err(output.failure(program));
        };
        match read(&answer, &vocabulary).map_err(bad)? {
            ClingoResult::Unsatisfiable => {}
            ClingoResult::Unknown => return Err(output.failure(program)),
            ClingoResult::Optimal(hypothesis, cost) => {
                let learnt = hypothesis.into_learnt(&vocabulary, signature, traces, states)?;
                agree(&learnt, cost).map_err(bad)?;
                return Ok(LearnOutcome::Minimal(learnt));
            }
        }
    }
    Ok(LearnOutcome::none_within(limits.max_states))
}

/// The result of a run of clingo.
#[derive(Debug, PartialEq)]
enum ClingoResult {
    Unsatisfiable,
    /// A smallest machine, and its cost as clingo reports it.
    Optimal(Hypothesis, Option<Cost>),
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
fn read(answer: &Value, vocabulary: &[LearnableAtom]) -> Result<ClingoResult, String> {
    let interrupted = answer.get("INTERRUPTED").is_some();
    match answer["Result"].as_str() {
        Some("UNSATISFIABLE") => return Ok(ClingoResult::Unsatisfiable),
        // Without anything to minimise any model is optimal.
        Some("OPTIMUM FOUND" | "SATISFIABLE") if !interrupted => {}
        Some(_) => return Ok(ClingoResult::Unknown),
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
    let hypothesis = hypothesis(texts, vocabulary)?;
    Ok(ClingoResult::Optimal(hypothesis, cost))
}

/// The machine that the atoms `ed(0,1,0)`, `pos(0,1,0,obs(goal))` and `neg(…)` describe.
fn hypothesis<'a>(
    atoms: impl Iterator<Item = &'a str>,
    vocabulary: &[LearnableAtom],
) -> Result<Hypothesis, String> {
    let numbers = numbers_by_term(vocabulary);
    let mut hypothesis = Hypothesis::default();
    for atom in atoms {
        let odd = || format!("`{atom}` is not an atom of the program");
        let (predicate, rest) = atom.split_once('(').ok_or_else(odd)?;
        let arguments = rest.strip_suffix(')').ok_or_else(odd)?;
        // States and numbers have no commas, so the rest is the literal.
        let mut arguments = arguments.splitn(4, ',');
        let mut next = || arguments.next().ok_or_else(odd);
        let (from, to, number) = (state(next()?), state(next()?), next()?);
        let number = number.parse().map_err(|_| odd())?;
        let edge = hypothesis.edges.entry((from, to, number)).or_default();
        match predicate {
            "ed" => {}
            "pos" | "neg" => {
                let literal = *numbers.get(next()?).ok_or_else(odd)?;
                edge.insert((literal, predicate == "pos"));
            }
            _ => return Err(odd()),
        }
    }
    Ok(hypothesis)
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

    fn tiny_vocabulary() -> Vec<LearnableAtom> {
        let signature = Signature::parse(["yellow(o0)", "yellow(o1)", "Goal"]).unwrap();
        vocabulary(&signature, &Options::default()).unwrap()
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
        let vocabulary = tiny_vocabulary();
        let ClingoResult::Optimal(found, cost) = read(&model, &vocabulary).unwrap() else {
            panic!("it has a model")
        };
        assert_eq!(cost, Some(found.cost(&vocabulary)));
        let signature = Signature::parse(["yellow(o0)", "yellow(o1)", "Goal"]).unwrap();
        let learnt = found.into_learnt(&vocabulary, &signature, &[], 2).unwrap();
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
        let read = |value: Value| read(&value, &tiny_vocabulary());
        assert_eq!(
            read(json!({"Result": "UNSATISFIABLE"})),
            Ok(ClingoResult::Unsatisfiable)
        );
        assert_eq!(
            read(json!({"Result": "UNKNOWN", "INTERRUPTED": 1})),
            Ok(ClingoResult::Unknown)
        );
        assert_eq!(
            read(json!({"Result": "SATISFIABLE", "INTERRUPTED": 1})),
            Ok(ClingoResult::Unknown)
        );
        assert!(read(json!({})).is_err());
        let odd = json!({"Result": "OPTIMUM FOUND", "Call": [{"Witnesses": [{"Value": ["pos(0,1,0,obs(red))"]}]}]});
        assert_eq!(
            read(odd),
            Err("`pos(0,1,0,obs(red))` is not an atom of the program".to_owned())
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
