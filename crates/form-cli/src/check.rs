//! `form check`: is the machine deterministic and without dead parts, and is it consistent with the traces?

mod replay_text;

use std::path::PathBuf;

use anyhow::Result;
use form_core::{
    BoundMachine, EdgeId, Findings, Machine, NeverFires, Replay, Signature, Undecided, check,
    explain,
};
use form_learn::OwnObjects;
use serde_json::json;

use self::replay_text::{Ids, replay_text};
use crate::object_counts::ObjectCounts;
use crate::output::count;
use crate::{Answer, input, output};

/// Check a machine: determinism, reachability, and consistency with traces
///
/// Two edges of a state that can hold together are reported with a buffer on which they do; declaration order decides between them.
/// The first trace that the machine is inconsistent with is explained step by step, and all of them are listed; the exit code is then 1.
/// It is 1, too, for a machine that no run leads to acceptance.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  form check examples/all_yellow.form examples/all_yellow.jsonl\n  form check green-but-one --strict"
)]
pub struct Args {
    /// The machine: .form, .json, a .txt of the reference code or of Toro Icarte, a task (see `form tasks`), or a machine in one line
    machine: PathBuf,
    /// Trace files (JSON Lines, .gz too)
    traces: Vec<PathBuf>,
    /// The observable atoms: a trace file, a list of atoms (one per line), or a task [default: those of the traces, or of the task]
    #[arg(long, value_name = "FILE")]
    signature: Option<PathBuf>,
    /// Every trace has objects of its own: `forall` ranges over the objects of each trace, as for machines of `form learn --lifted`
    #[arg(long, requires = "traces")]
    lifted: bool,
    /// Exit with 1 on warnings too: overlaps, edges that never fire, unreachable states
    #[arg(long)]
    strict: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The source of the signature.
#[derive(Clone, Copy)]
enum Source {
    /// A signature file, or the first lines of the trace files.
    Declared,
    /// The atoms that occur in the traces.
    Traces,
    /// The atoms of the machine itself, with invented objects.
    Generic,
    /// As generic: the objects of traces are their own.
    OwnObjects,
}

pub fn run(args: &Args) -> Result<Answer> {
    let machine = input::machine(&args.machine)?;
    let given = input::signature(args.signature.as_deref(), &args.traces)?;
    let source = match &given {
        None => Source::Generic,
        Some(_) if args.signature.is_some() || input::declared(&args.traces)? => Source::Declared,
        Some(_) => Source::Traces,
    };
    let (signature, source) = match (given, input::signature_of_tasks(&[&args.machine])?) {
        (None, Some(signature)) => (Some(signature), Source::Declared),
        (given, _) => (given, source),
    };
    let signature = signature.unwrap_or_else(|| machine.generic_signature());
    let listed = args.signature.is_some();
    let own = args.lifted.then(|| OwnObjects::new(&signature));
    let over = own.as_ref().map_or(&signature, OwnObjects::signature);
    let bound = input::bind(&machine, &args.machine, over, listed)?;
    // What holds for the objects of any trace does not depend on those of the file.
    let (checked, source) = match args.lifted {
        true => (
            &machine.bind(&machine.generic_signature())?,
            Source::OwnObjects,
        ),
        false => (&bound, source),
    };
    let findings = check(checked);
    let replay = replay(args, &bound, own.as_ref())?;
    let places = replay.misjudged.iter().map(|one| (&*one.file, one.line));
    let ids = input::trace_ids(&args.traces, places);
    if args.json {
        output::print_json(&to_json(
            (checked, &findings),
            (&bound, &replay),
            &ids,
            signature.len(),
        ))?;
    } else {
        output::print(&to_text(checked, &findings, source))?;
        if !args.traces.is_empty() {
            output::print(&replay_text(&bound, &replay, &ids))?;
        }
    }
    if !args.lifted && replay.disagreements > 0 {
        // Standard input may be gone: then there is no hint.
        if let Ok(Some(hint)) = hint_at_lifted(args, &machine, &signature, replay.disagreements) {
            output::remark(&hint);
        }
    }
    let warned = !findings.is_clean() || !machine.edges_without_positive_atom().is_empty();
    Ok(
        if replay.disagreements > 0 || never_accepts(checked, &findings) || args.strict && warned {
            Answer::No
        } else {
            Answer::Yes
        },
    )
}

/// Replays the machine on all traces, each with the objects of its own if these are given.
fn replay(args: &Args, bound: &BoundMachine, own: Option<&OwnObjects>) -> Result<Replay> {
    let mut replay = Replay::default();
    for path in &args.traces {
        let file = input::trace_file(path)?;
        replay.add_within(bound, file, &|steps| own.map(|own| own.of(steps)))?;
    }
    Ok(replay)
}

/// Names `--lifted` where most objects occur in one trace only, and fewer traces are misjudged with it.
fn hint_at_lifted(
    args: &Args,
    machine: &Machine,
    signature: &Signature,
    disagreements: u64,
) -> Result<Option<String>> {
    let mut counts = ObjectCounts::new(signature);
    for path in &args.traces {
        let mut file = input::trace_file(path)?;
        loop {
            let piece = file.next_traces(signature)?;
            if piece.is_empty() {
                break;
            }
            piece.iter().for_each(|(_, trace)| counts.add(trace));
        }
    }
    let Some(objects) = counts.own_objects() else {
        return Ok(None);
    };
    let own = OwnObjects::new(signature);
    let left = replay(args, &machine.bind(own.signature())?, Some(&own))?.disagreements;
    let with = match left {
        0 => "the machine is consistent with all of them".to_owned(),
        _ => format!("the machine is inconsistent with {left} of them"),
    };
    Ok((left < disagreements).then(|| {
        format!(
            "hint: {objects}: with --lifted, where `forall` ranges over the objects of each trace, {with}"
        )
    }))
}

/// Whether no run leads to acceptance.
fn never_accepts(bound: &BoundMachine, findings: &Findings) -> bool {
    findings.cannot_accept.contains(&bound.machine().initial())
}

fn to_text(bound: &BoundMachine, findings: &Findings, source: Source) -> String {
    let machine = bound.machine();
    let mut text = String::new();
    let mut line = |content: String| {
        text.push_str(&content);
        text.push('\n');
    };
    let atoms = count(bound.signature().len(), "atom");
    let atoms = match source {
        Source::Declared => atoms,
        Source::Traces => format!("{atoms} that occur in the traces"),
        Source::Generic => {
            "no signature given: `_1`, `_2`, … stand for any objects, `other`, `other2` for any other atoms"
                .to_owned()
        }
        Source::OwnObjects => {
            "each trace has its own objects: `_1`, `_2`, … stand for them, `other`, `other2` for any other atoms".to_owned()
        }
    };
    line(format!(
        "{}: {}, {atoms}",
        machine.name(),
        machine.describe_size(),
    ));
    if findings.is_deterministic() {
        line(
            "  deterministic: no two edges of a state with different targets hold together"
                .to_owned(),
        );
    }
    for overlap in &findings.overlaps {
        line(format!(
            "  warning: {} and {} hold together, the first wins\n    {}\n    {}\n    on {}{}",
            machine.describe_edge(overlap.first),
            machine.describe_edge(overlap.second),
            machine.edge(overlap.first).formula,
            machine.edge(overlap.second).formula,
            overlap.witness.describe(bound.signature()),
            match overlap.in_a_run {
                Some(false) => ", though every run leaves the state before",
                _ => "",
            },
        ));
    }
    for edge in machine.edges_without_positive_atom() {
        line(format!(
            "  warning: {} has no positive atom: it may fire on any unrelated observation",
            machine.describe_edge(edge)
        ));
    }
    for (edge, reason) in &findings.never_fire {
        line(format!(
            "  warning: {} can never fire: {}",
            machine.describe_edge(*edge),
            why(*reason)
        ));
    }
    for state in &findings.unreachable {
        line(format!(
            "  warning: no run reaches {}",
            machine.state_name(*state)
        ));
    }
    for state in &findings.cannot_accept {
        let why = if bound.outgoing(*state).is_empty() {
            ": the state is not terminal and has no outgoing edge"
        } else {
            ""
        };
        let name = machine.state_name(*state);
        match *state == machine.initial() {
            true => line(format!(
                "  the machine never accepts: no run from {name} does{why}"
            )),
            false => line(format!("  warning: no run accepts from {name}{why}")),
        }
    }
    for question in &findings.undecided {
        line(format!(
            "  undecided: {} (too large to search)",
            question_text(machine, *question)
        ));
    }
    if findings.is_clean() {
        line(
            "  every state is reachable, every edge can fire, acceptance stays possible".to_owned(),
        );
    }
    text
}

fn question_text(machine: &Machine, question: Undecided) -> String {
    match question {
        Undecided::Overlap(first, second) => format!(
            "whether {} and {} can hold together",
            machine.describe_edge(first),
            machine.describe_edge(second)
        ),
        Undecided::Fires(edge) => format!("whether {} ever fires", machine.describe_edge(edge)),
    }
}

fn why(reason: NeverFires) -> &'static str {
    match reason {
        NeverFires::Contradiction => "its formula contradicts itself",
        NeverFires::Shadowed => "wherever it holds, an earlier edge holds too",
        NeverFires::LeftBefore => "every run that could make it hold leaves the state before",
    }
}

fn to_json(
    (checked, findings): (&BoundMachine, &Findings),
    (bound, replay): (&BoundMachine, &Replay),
    ids: &Ids,
    atoms_of_traces: usize,
) -> serde_json::Value {
    let machine = bound.machine();
    let name = |state: &form_core::StateId| machine.state_name(*state).to_owned();
    let edge = |id: EdgeId| {
        let edge = machine.edge(id);
        json!({ "edge": id.index() + 1, "from": name(&edge.from), "to": name(&edge.to), "formula": edge.formula.to_string() })
    };
    let atoms = |set: &form_core::AtomSet| bound.signature().texts(set);
    let witness = |set: &form_core::AtomSet| checked.signature().texts(set);
    let first = replay.first.as_ref().map(|first| {
        let steps: Vec<Vec<String>> = first.trace.steps().iter().map(atoms).collect();
        let run: Vec<serde_json::Value> = (explain(bound, &first.trace).iter())
            .map(|step| {
                json!({
                    "observation": atoms(&step.observation),
                    "from": name(&step.from),
                    "seen": atoms(&step.seen),
                    "taken": step.taken.map(|id| id.index() + 1),
                    "to": name(&step.to),
                })
            })
            .collect();
        json!({
            "file": first.file,
            "line": first.line,
            "kind": first.trace.kind().as_str(),
            "steps": steps,
            "after": first.disagreement.after,
            "expected": first.disagreement.expected.as_str(),
            "reached": first.disagreement.reached.as_str(),
            "run": run,
        })
    });
    json!({
        "machine": machine.name(),
        "states": machine.states().len(),
        "edges": machine.edges().len(),
        "atoms": atoms_of_traces,
        "deterministic": findings.is_deterministic(),
        "overlaps": findings.overlaps.iter().map(|overlap| json!({
            "first": edge(overlap.first),
            "second": edge(overlap.second),
            "seen": witness(&overlap.witness.seen),
            "newest": witness(&overlap.witness.newest),
            "in_a_run": overlap.in_a_run,
        })).collect::<Vec<_>>(),
        "without_positive_atom": machine.edges_without_positive_atom().into_iter().map(edge).collect::<Vec<_>>(),
        "never_fire": findings.never_fire.iter().map(|(id, reason)| json!({
            "edge": edge(*id),
            "why": why(*reason),
        })).collect::<Vec<_>>(),
        "unreachable": findings.unreachable.iter().map(name).collect::<Vec<_>>(),
        "cannot_accept": findings.cannot_accept.iter().map(name).collect::<Vec<_>>(),
        "never_accepts": never_accepts(checked, findings),
        "undecided": findings.undecided.iter().map(|q| question_text(machine, *q)).collect::<Vec<_>>(),
        "traces": {
            "total": replay.total(),
            "goal": replay.traces[0],
            "dead_end": replay.traces[1],
            "incomplete": replay.traces[2],
            "observations": replay.steps,
            "inconsistent": replay.disagreements,
        },
        "consistent": replay.disagreements == 0,
        "first_disagreement": first,
        "disagreements": replay.misjudged.iter().map(|one| json!({
            "file": &*one.file,
            "line": one.line,
            "id": ids.get(&(one.file.to_string(), one.line)),
            "kind": one.kind.as_str(),
            "after": one.disagreement.after,
            "expected": one.disagreement.expected.as_str(),
            "reached": one.disagreement.reached.as_str(),
        })).collect::<Vec<_>>(),
    })
}
