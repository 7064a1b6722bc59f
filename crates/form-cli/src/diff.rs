//! `form diff`: are two machines equivalent?

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use form_core::{
    Atom, BoundMachine, CompareOptions, Comparison, Difference, Machine, Observations, Progress,
    Reaction, Signature, compare,
};
use serde_json::json;

use crate::{Answer, input, output};

/// Compare two machines: equivalent, or a shortest trace on which they differ
///
/// Exact over a stated set of observations. Two machines differ where one accepts or rejects and the other does not, or
/// where their rewards differ. The exit code is 0 if they are equivalent and 1 if they differ.
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  form diff examples/all_yellow.form examples/all_yellow_ground.form --signature examples/all_yellow.jsonl"
)]
pub struct Args {
    /// The first machine
    first: PathBuf,
    /// The second machine
    second: PathBuf,
    /// The observable atoms: a trace file, or a list of atoms, one a line
    ///
    /// Needed where a machine has quantifiers; else the atoms that the two machines name.
    #[arg(long, value_name = "FILE")]
    signature: Option<PathBuf>,
    /// The observations to compare over: `all` sets of atoms, a `single` atom at a time, or those of a trace file
    #[arg(long, value_name = "all|single|FILE", default_value = "all")]
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
        None => named_atoms([(&machines[0], &args.first), (&machines[1], &args.second)])?,
    };
    let observations = match (args.observations.as_str(), &traces) {
        (_, Some(path)) => Observations::Given(observations_of(path, &signature)?),
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
    let comparison = compare(&first, &second, &options)?;
    if args.json {
        output::print_json(&to_json(&first, &second, &comparison, &described))?;
    } else {
        output::print(&to_text(&first, &second, &comparison, &described))?;
    }
    Ok(match comparison {
        Comparison::Equivalent { .. } => Answer::Yes,
        Comparison::Different(_) => Answer::No,
    })
}

/// The ground atoms two machines without quantifiers name.
fn named_atoms(machines: [(&Machine, &PathBuf); 2]) -> Result<Signature> {
    let mut atoms = BTreeSet::new();
    for (machine, path) in machines {
        for atom in machine.atoms() {
            match atom {
                Atom::Ground(ground) => atoms.insert(ground.clone()),
                Atom::Quantified(_) => bail!(
                    "{}: it has the quantified atom `{atom}`: say what can be observed with --signature",
                    input::name(path)
                ),
            };
        }
    }
    Ok(Signature::new(atoms))
}

fn observations_of(path: &Path, signature: &Signature) -> Result<Vec<form_core::AtomSet>> {
    let traces = input::trace_file(path)?.traces(signature)?;
    let all: BTreeSet<form_core::AtomSet> = traces
        .into_iter()
        .flat_map(|(_, trace)| trace.steps().to_vec())
        .collect();
    Ok(all.into_iter().collect())
}

fn to_text(
    first: &BoundMachine,
    second: &BoundMachine,
    comparison: &Comparison,
    over: &str,
) -> String {
    match comparison {
        Comparison::Equivalent {
            observations,
            pairs,
        } => {
            format!(
                "equivalent over {over} ({observations} observations, {pairs} pairs of configurations)"
            )
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
                reaction(first, *a),
                reaction(second, *b)
            );
            text
        }
    }
}

fn reaction(machine: &BoundMachine, reaction: Reaction) -> String {
    let Reaction {
        state,
        progress,
        reward,
    } = reaction;
    let state = machine.machine().state_name(state);
    let verb = match progress {
        Progress::Accepted => "accepts",
        Progress::Rejected => "rejects",
        Progress::Running => "goes on",
    };
    format!(
        "{} {verb} in {state} with reward {reward}",
        machine.machine().name()
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
            let atoms = |set: &form_core::AtomSet| -> Vec<String> {
                set.iter()
                    .map(|id| first.signature().atom(id).to_string())
                    .collect()
            };
            let side = |machine: &BoundMachine, reaction: &Reaction| {
                let progress = match reaction.progress {
                    Progress::Accepted => "accepted",
                    Progress::Rejected => "rejected",
                    Progress::Running => "running",
                };
                json!({
                    "machine": machine.machine().name(),
                    "state": machine.machine().state_name(reaction.state),
                    "progress": progress,
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
