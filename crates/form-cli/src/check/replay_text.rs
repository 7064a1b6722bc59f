//! What `form check` says about the replay of traces: how many are consistent, and the first that is not, step by step.

use std::collections::BTreeMap;
use std::fmt::Write;

use form_core::{
    BoundMachine, Counterexample, Disagreement, ExplainedStep, Kind, MachineStatus, Replay, explain,
};

use crate::output::{self, count};

/// What traces are called, by file and line.
pub(super) type Ids = BTreeMap<(String, usize), String>;

/// A trace's own name behind its place, if it has one.
fn called(ids: &Ids, file: &str, line: usize) -> String {
    output::called(ids.get(&(file.to_owned(), line)).map(String::as_str))
}

/// How many traces it judges rightly, the first wrong one step by step, and all wrong ones.
pub(super) fn replay_text(bound: &BoundMachine, replay: &Replay, ids: &Ids) -> String {
    let mut text = format!(
        "{}, {}\n",
        output::count_kinds(replay.traces, "trace"),
        count(replay.steps as usize, "observation"),
    );
    match &replay.first {
        None if replay.total() == 0 => text.push_str("  warning: there are no traces to replay\n"),
        None => text.push_str("  consistent with all of them\n"),
        Some(first) => {
            let _ = writeln!(
                text,
                "  inconsistent with {} of them; the first:",
                replay.disagreements
            );
            text.push_str(&explanation(bound, first, ids));
            if replay.misjudged.len() > 1 {
                text.push_str("  all of them:\n");
            }
            for one in replay
                .misjudged
                .iter()
                .filter(|_| replay.misjudged.len() > 1)
            {
                let _ = writeln!(
                    text,
                    "    {}:{}{}: {} trace of {}; {}",
                    one.file,
                    one.line,
                    called(ids, &one.file, one.line),
                    article(one.kind),
                    count(one.observations, "observation"),
                    verdict(one.disagreement, one.observations),
                );
            }
        }
    }
    text
}

fn explanation(bound: &BoundMachine, first: &Counterexample, ids: &Ids) -> String {
    let Counterexample {
        file,
        line,
        trace,
        disagreement,
    } = first;
    let steps = explain(bound, trace);
    let state = steps
        .last()
        .map_or(bound.machine().initial(), |step| step.to);
    let mut text = format!(
        "{file}:{line}{}: {} trace of {}; {} (in {})\n",
        called(ids, file, *line),
        article(trace.kind()),
        count(trace.steps().len(), "observation"),
        verdict(*disagreement, trace.steps().len()),
        bound.machine().state_name(state),
    );
    let mut quiet = 0;
    for (i, step) in steps.iter().enumerate() {
        // Of long runs, steps in the middle without a move are not shown.
        if steps.len() > 40 && step.taken.is_none() && i + 10 < steps.len() && i >= 5 {
            quiet += 1;
            continue;
        }
        if quiet > 0 {
            let _ = writeln!(text, "         … {} without a move", count(quiet, "step"));
            quiet = 0;
        }
        text.push_str(&step_text(bound, i + 1, step));
    }
    text
}

fn step_text(bound: &BoundMachine, number: usize, step: &ExplainedStep) -> String {
    let machine = bound.machine();
    let show = |set| bound.signature().describe(set);
    let mut text = format!(
        "  step {number:<4} {} in {}",
        show(&step.observation),
        machine.state_name(step.from)
    );
    let awaited = bound.progress_atoms(step.from);
    if !awaited.is_empty() {
        let _ = write!(
            text,
            ", of {} seen {}",
            show(awaited),
            show(&step.seen.intersection(awaited))
        );
    }
    text.push('\n');
    for (edge, holds) in &step.edges {
        let mark = match (step.taken == Some(*edge), holds) {
            (true, _) => "taken  ",
            (false, true) => "holds, but an earlier edge wins",
            (false, false) => "no     ",
        };
        let _ = writeln!(
            text,
            "            {mark} -> {} : {}",
            machine.state_name(machine.edge(*edge).to),
            machine.edge(*edge).formula
        );
    }
    text
}

fn article(kind: Kind) -> &'static str {
    match kind {
        Kind::Goal => "a goal",
        Kind::DeadEnd => "a dead-end",
        Kind::Incomplete => "an incomplete",
    }
}

fn verdict(disagreement: Disagreement, length: usize) -> String {
    let Disagreement {
        after,
        expected,
        reached,
    } = disagreement;
    if after < length {
        format!(
            "the machine already {} after observation {after}",
            reached.verb()
        )
    } else {
        let should = match expected {
            MachineStatus::Accepted => "accept",
            MachineStatus::Rejected => "reject",
            MachineStatus::Running => "go on",
        };
        format!(
            "after the last one the machine should {should}, but it {}",
            reached.verb()
        )
    }
}
