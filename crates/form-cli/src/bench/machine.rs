//! The rows about running and checking machines.

use std::fmt::Write;
use std::hint::black_box;
use std::io::Cursor;

use anyhow::{Result, bail};
use form_core::{
    AtomSet, BoundMachine, Machine, MachineStatus, Replay, Run, Signature, TraceFile, check,
    satisfies,
};

use super::{Baseline, Benchmark, Row, median};

pub(super) const BENCHMARKS: [Benchmark; 6] = [
    Benchmark {
        name: "machine.step",
        measure: |name| step(name, &TASKS),
    },
    Benchmark {
        name: "machine.step.all-yellow",
        measure: |name| step(name, &TASKS[..1]),
    },
    Benchmark {
        name: "machine.step.green-but-one",
        measure: |name| step(name, &TASKS[1..2]),
    },
    Benchmark {
        name: "machine.step.blue-all-yellow-7",
        measure: |name| step(name, &TASKS[2..]),
    },
    Benchmark {
        name: "machine.check",
        measure: check_large_machine,
    },
    Benchmark {
        name: "traces.check",
        measure: check_traces,
    },
];

/// The machines of the paper's Figures 4a, 5a and 6.
const TASKS: [&str; 3] = [
    "initial u0\naccept u_acc\nu0 -> u1 : forall X. yellow(X)\nu1 -> u_acc : goal",
    "initial u0\naccept u_acc\nreject u_rej\n\
     u0 -> u1 : exists X. green(X) and not green(o12) and not lava\nu0 -> u_rej : lava\n\
     u1 -> u_acc : goal and not lava\nu1 -> u_rej : lava",
    "initial u0\naccept u_acc\nu0 -> u1 : exists X. blue(X)\nu1 -> u2 : forall X. yellow(X)\n\
     u2 -> u3 : purple(o7)\nu3 -> u_acc : goal",
];

/// The atoms of the paper's room with lava: 12 checkpoints, two a colour, goal and lava.
fn room_signature() -> Result<Signature> {
    let colours = ["yellow", "red", "blue", "purple", "grey", "green"];
    let checkpoint = |i: usize| match i {
        // One of the greens is number 12, the one that GreenButOne excludes.
        11 => "green(o12)".to_owned(),
        i => format!("{}(o{i})", colours[i / 2]),
    };
    let atoms = (0..12)
        .map(checkpoint)
        .chain(["goal".to_owned(), "lava".to_owned()]);
    Ok(Signature::parse(atoms)?)
}

/// Numbers that look random and are the same every time (Marsaglia's xorshift).
pub(super) struct Numbers(pub(super) u64);

impl Numbers {
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

/// Steps a second on one core, the slowest of the machines, beside the definition evaluated word for word.
fn step(name: &str, machines: &[&str]) -> Result<Row> {
    const STEPS: usize = 2_000_000;
    let signature = room_signature()?;
    let mut numbers = Numbers(0x5eed);
    let ids: Vec<_> = signature.ids().collect();
    let observations: Vec<AtomSet> = (0..4096)
        .map(|_| AtomSet::from_iter([ids[numbers.below(ids.len())]]))
        .collect();
    let mut slowest = f64::INFINITY;
    let mut slowest_baseline = f64::INFINITY;
    for text in machines {
        let machine = text.parse::<Machine>()?.bind(&signature)?;
        let compiled = median(7, || {
            let mut run = Run::new(&machine);
            for observation in observations.iter().cycle().take(STEPS) {
                black_box(run.step(&machine, observation));
                if machine.machine().is_terminal(run.state()) {
                    run.reset(&machine);
                }
            }
            black_box(run);
            Ok(())
        })?;
        let by_definition = median(3, || {
            black_box(naive_steps(&machine, &observations, STEPS / 100));
            Ok(())
        })?;
        slowest = slowest.min(STEPS as f64 / compiled);
        slowest_baseline = slowest_baseline.min((STEPS / 100) as f64 / by_definition);
    }
    let baseline = Some(Baseline {
        value: slowest_baseline,
        source: "the definition, evaluated over the whole buffer",
    });
    Ok(Row {
        baseline,
        ..Row::new(name, slowest, "steps/s")
    })
}

/// Algorithm 1 over an explicit buffer.
fn naive_steps(machine: &BoundMachine, observations: &[AtomSet], steps: usize) -> usize {
    let lifted = machine.machine();
    let (mut state, mut buffer, mut moves) = (lifted.initial(), Vec::new(), 0);
    for observation in observations.iter().cycle().take(steps) {
        buffer.push(observation.clone());
        let next = (lifted.edges_from(state))
            .find(|(_, edge)| satisfies(&buffer, &edge.formula, machine.signature()))
            .map(|(_, edge)| edge.to);
        if let Some(to) = next {
            moves += 1;
            buffer.clear();
            state = if lifted.status(to) == MachineStatus::Running {
                to
            } else {
                lifted.initial()
            };
        }
    }
    moves
}

/// Seconds to parse and check a machine of 200 states and 1,000 edges.
fn check_large_machine(name: &str) -> Result<Row> {
    let signature = room_signature()?;
    let atoms: Vec<String> = signature.atoms().iter().map(ToString::to_string).collect();
    let mut numbers = Numbers(7);
    let mut text = "machine large\ninitial u0\naccept u199\n".to_owned();
    for i in 0..1000 {
        let from = i % 199;
        let to = if i < 199 { i + 1 } else { numbers.below(200) };
        let quantified = [
            "exists X. red(X)",
            "forall X. yellow(X)",
            "not exists X. blue(X)",
        ];
        let (a, b) = (
            &atoms[numbers.below(atoms.len())],
            quantified[numbers.below(3)],
        );
        let _ = writeln!(text, "u{from} -> u{to} : {a} and {b}");
    }
    let seconds = median(5, || {
        let machine = text.parse::<Machine>()?.bind(&signature)?;
        black_box(check(&machine));
        Ok(())
    })?;
    Ok(Row::new(name, seconds, "s"))
}

/// Seconds to check a machine against 100,000 traces of 100 observations.
fn check_traces(name: &str) -> Result<Row> {
    let signature = room_signature()?;
    let atoms: Vec<String> = signature.atoms().iter().map(ToString::to_string).collect();
    let machine = "initial u0\naccept u_acc\nu0 -> u_acc : goal and lava"
        .parse::<Machine>()?
        .bind(&signature)?;
    let mut numbers = Numbers(99);
    let mut lines = String::new();
    for _ in 0..100_000 {
        lines.push_str(r#"{"kind":"incomplete","steps":["#);
        let mut last = 0;
        for step in 0..100 {
            // Never the same atom twice in a row: every step counts.
            last = (last + 1 + numbers.below(atoms.len() - 1)) % atoms.len();
            let comma = if step == 0 { "" } else { "," };
            let _ = write!(lines, "{comma}[\"{}\"]", atoms[last]);
        }
        lines.push_str("]}\n");
    }
    let lines: std::sync::Arc<[u8]> = lines.into_bytes().into();
    let seconds = median(5, || {
        let mut replay = Replay::default();
        replay.add(
            &machine,
            TraceFile::new("traces", Cursor::new(lines.clone()))?,
        )?;
        if replay.steps != 10_000_000 || replay.disagreements != 0 {
            bail!(
                "the replay went wrong: {} steps, {} disagreements",
                replay.steps,
                replay.disagreements
            );
        }
        Ok(())
    })?;
    Ok(Row::new(name, seconds, "s"))
}
