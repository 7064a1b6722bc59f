//! `form diff`: are two machines equivalent? Else a shortest trace on which they differ.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use form_core::{
    Atom, BoundMachine, CompareOptions, Comparison, Difference, Literal, Machine, Observations,
    Reaction, Signature, compare,
};
use serde_json::json;

use crate::output::count;
use crate::{Answer, input, output};

/// Compare two machines: equivalent, or a shortest trace on which they differ
///
/// Exact over a stated set of observations. Two machines differ where one accepts or rejects and the other does not, or
/// where their rewards differ. The exit code is 0 if they are equivalent and 1 if they differ.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  form diff examples/all_yellow.form examples/all_yellow_ground.form --signature examples/all_yellow.jsonl\n  form diff all-yellow examples/all_yellow_ground.form"
)]
pub struct Args {
    /// The first machine: .form, .json, a .txt of the reference code or of Toro Icarte, or a task (see `form tasks`)
    first: PathBuf,
    /// The second machine, in the same ways
    second: PathBuf,
    /// The observable atoms: a trace file, a list of atoms (one per line), or a task
    ///
    /// Needed if a machine has quantifiers and neither is that of a task. The default is the atoms that the two machines name, and
    /// two others.
    #[arg(long, value_name = "FILE")]
    signature: Option<PathBuf>,
    /// The observations to compare over
    ///
    /// Possible values:
    /// - all:    Every set of atoms
    /// - single: One atom at a time
    /// - FILE:   The observations of a trace file
    #[arg(
        long,
        value_name = "all|single|FILE",
        default_value = "all",
        verbatim_doc_comment
    )]
    observations: String,
    /// Compare acceptance and rejection only
    #[arg(long)]
    ignore_rewards: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<Answer> {
    let machines = [input::machine(&args.first)?, input::machine(&args.second)?];
    let traces = match args.observations.as_str() {
        "all" | "single" => None,
        path => Some(PathBuf::from(path)),
    };
    let given = args.signature.as_deref().or(traces.as_deref());
    let signature = match input::signature(given, &[])? {
        Some(signature) => signature,
        None => match input::signature_of_tasks(&[&args.first, &args.second])? {
            Some(signature) => signature,
            None => named_atoms([(&machines[0], &args.first), (&machines[1], &args.second)])?,
        },
    };
    let observations = match (args.observations.as_str(), &traces) {
        (_, Some(path)) => {
            let observations = input::trace_file(path)?.observations(&signature)?;
            Observations::Given(observations.into_iter().collect())
        }
        ("single", None) => Observations::Single,
        _ => Observations::All,
    };
    let listed = args.signature.is_some();
    let first = input::bind(&machines[0], &args.first, &signature, listed)?;
    let second = input::bind(&machines[1], &args.second, &signature, listed)?;
    let described = observations.describe();
    let options = CompareOptions {
        observations,
        rewards: !args.ignore_rewards,
        ..CompareOptions::default()
    };
    let comparison = match compare(&first, &second, &options) {
        Ok(comparison) => comparison,
        Err(error) => return output::over_limit(error, args.json),
    };
    if args.json {
        output::print_json(&to_json(&first, &second, &comparison, &described))?;
    } else {
        output::print(&to_text(args, &first, &second, &comparison, &described))?;
    }
    Ok(match comparison {
        Comparison::Equivalent { .. } => Answer::Yes,
        Comparison::Different(_) => Answer::No,
    })
}

/// The ground atoms that two machines without quantifiers name, and two that stand for all others.
fn named_atoms(machines: [(&Machine, &PathBuf); 2]) -> Result<Signature> {
    let mut atoms = BTreeSet::from_iter(
        machines
            .iter()
            .flat_map(|(machine, _)| machine.unnamed_atoms()),
    );
    for (machine, path) in machines {
        for atom in machine.atoms() {
            let named = match atom {
                Atom::Ground(ground) => Some(ground.clone()),
                Atom::Quantified(quantified) => quantified.single().and_then(Literal::ground),
            };
            let Some(named) = named else {
                bail!(
                    "{}: the observable atoms are unknown, and `{atom}` is quantified: give --signature",
                    input::name(path)
                );
            };
            atoms.insert(named);
        }
    }
    Ok(Signature::new(atoms))
}

fn to_text(
    args: &Args,
    first: &BoundMachine,
    second: &BoundMachine,
    comparison: &Comparison,
    over: &str,
) -> String {
    match comparison {
        Comparison::Equivalent { pairs: 0, .. } => {
            "equivalent: the same edges from the initial states on".to_owned()
        }
        Comparison::Equivalent {
            observations,
            pairs,
        } => {
            let (observations, pairs) =
                (count(*observations, "observation"), count(*pairs, "pair"));
            format!("equivalent over {over} ({observations}, {pairs} of runs)")
        }
        Comparison::Different(Difference {
            trace,
            first: a,
            second: b,
        }) => {
            let mut text = format!("different over {over}; a shortest trace:\n");
            for (i, observation) in trace.iter().enumerate() {
                text += &format!(
                    "  step {:<3} {}\n",
                    i + 1,
                    first.signature().describe(observation)
                );
            }
            text += &format!(
                "then {}\n and {}\n",
                reaction(&args.first, first, *a),
                reaction(&args.second, second, *b)
            );
            text
        }
    }
}

fn reaction(path: &Path, machine: &BoundMachine, reaction: Reaction) -> String {
    let state = machine.machine().state_name(reaction.state);
    let (verb, reward) = (reaction.status.verb(), reaction.reward);
    format!(
        "{} {verb} in {state} with reward {reward}",
        input::name(path)
    )
}

fn to_json(
    first: &BoundMachine,
    second: &BoundMachine,
    comparison: &Comparison,
    over: &str,
) -> serde_json::Value {
    match comparison {
        Comparison::Equivalent {
            observations,
            pairs,
        } => {
            json!({ "equivalent": true, "over": over, "observations": observations, "pairs": pairs })
        }
        Comparison::Different(Difference {
            trace,
            first: a,
            second: b,
        }) => {
            let atoms = |set: &form_core::AtomSet| first.signature().texts(set);
            let side = |machine: &BoundMachine, reaction: &Reaction| {
                json!({
                    "machine": machine.machine().name(),
                    "state": machine.machine().state_name(reaction.state),
                    "progress": reaction.status.as_str(),
                    "reward": reaction.reward,
                })
            };
            json!({
                "equivalent": false,
                "over": over,
                "trace": trace.iter().map(atoms).collect::<Vec<_>>(),
                "first": side(first, a),
                "second": side(second, b),
            })
        }
    }
}
