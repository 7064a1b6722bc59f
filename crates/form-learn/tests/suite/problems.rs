//! Tiny learning problems, the same for the same seed: traces labelled by a random machine, or at random.

use form_core::{AtomSet, Kind, Machine, MachineStatus, Run, Signature, StepMode, Trace};
use form_learn::Options;

/// A problem small enough to try every machine.
#[derive(Clone, Debug)]
pub struct Problem {
    pub signature: Signature,
    pub traces: Vec<Trace>,
    pub options: Options,
    /// The most states to try, the accepting and the rejecting one not counted.
    pub max_states: usize,
}

impl Problem {
    /// As trace files write it.
    pub fn describe(&self) -> String {
        let lines = self
            .traces
            .iter()
            .map(|trace| trace.to_json(&self.signature));
        let lines: Vec<String> = lines.collect();
        format!(
            "{:?}, {} states\n{}",
            self.options,
            self.max_states,
            lines.join("\n")
        )
    }
}

/// A generator of random numbers (xorshift): the tests need no better one.
#[derive(Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        random.below(2);
        random
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % end
    }

    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// What can be observed: always a unary predicate with two objects; some with a binary one, or more propositions.
const SIGNATURES: [&[&str]; 5] = [
    &["p(a)", "p(b)", "q"],
    &["p(a)", "p(b)", "q", "r"],
    &["p(a)", "p(b)", "on(a,b)"],
    &["p(a)", "p(b)", "q", "on(a,b)"],
    &["p(a)", "p(b)", "on(a,b)", "on(a,c)"],
];

/// Machines to label traces with, over `{p(a), p(b), q}` and what may replace `r`.
const TARGETS: [&str; 12] = [
    "u0 -> u_acc : p(a)",
    "u0 -> u_acc : exists X. p(X)",
    "u0 -> u_acc : forall X. p(X)",
    "u0 -> u_acc : p(a) and not LAST",
    "u0 -> u_acc : p(a) and LAST",
    "u0 -> u_acc : forall X. p(X)\n u0 -> u_rej : LAST and not forall X. p(X)",
    "u0 -> u_acc : p(a) and not LAST\n u0 -> u_rej : LAST",
    "u0 -> u_acc : LAST and not exists X. p(X)\n u0 -> u_rej : exists X. p(X)",
    "u0 -> u1 : forall X. p(X)\n u1 -> u_acc : LAST",
    "u0 -> u1 : LAST\n u1 -> u_acc : forall X. p(X)",
    "u0 -> u1 : p(a)\n u1 -> u_acc : p(b)",
    "u0 -> u1 : LAST\n u1 -> u2 : exists X. p(X)\n u2 -> u_acc : LAST",
];

/// The problem with this number.
pub fn problem(seed: u64) -> Problem {
    let mut random = Random::new(seed);
    let atoms = *random.pick(&SIGNATURES);
    // All combinations of the options in turn; two disjuncts only now and then, as they are many more machines.
    let options = Options {
        first_order: !seed.is_multiple_of(4),
        max_disjuncts: if seed.is_multiple_of(5) { 2 } else { 1 },
        cyclic: seed / 4 % 2 == 1,
        forall_alone: (seed / 8).is_multiple_of(2),
        ..Options::default()
    };
    let target = *random.pick(&TARGETS);
    made(seed, random, atoms, options, target)
}

/// What can be observed where edges may have atoms over the window.
const WINDOW_SIGNATURES: [&[&str]; 3] = [
    &["p(a)", "p(b)", "q(a)", "q(b)"],
    &["p(a)", "p(b)", "p(c)", "q"],
    &["p(a)", "q", "r"],
];

/// Machines over them, those of the same number.
const WINDOW_TARGETS: [&[&str]; 3] = [
    &[
        "u0 -> u_acc : exists X. (once p(X) and q(X))",
        "u0 -> u_acc : exists X. once p(X) and exists X. once q(X)",
        "u0 -> u_acc : once p(a) and q(b)\n u0 -> u_rej : q(a) and not once p(a)",
        "u0 -> u1 : forall X. p(X)\n u1 -> u_acc : exists X. once q(X)",
    ],
    &[
        "u0 -> u_acc : atleast 2 X. p(X)",
        "u0 -> u_acc : q and atleast 2 X. p(X)",
        "u0 -> u1 : atleast 2 X. p(X)\n u1 -> u_acc : q",
        "u0 -> u_acc : atleast 2 X. p(X)\n u0 -> u_rej : q and not atleast 2 X. p(X)",
    ],
    &[
        "u0 -> u_acc : once p(a) and once q",
        "u0 -> u_acc : r and not once q",
        "u0 -> u1 : once p(a) and r\n u1 -> u_acc : q",
        "u0 -> u_acc : q and not r\n u0 -> u_rej : r and once q",
    ],
];

/// The problem with this number in which edges may have atoms over the window: all of them, or some.
pub fn windowed_problem(seed: u64) -> Problem {
    let mut random = Random::new(seed);
    let which = random.below(WINDOW_SIGNATURES.len());
    let options = Options {
        first_order: !seed.is_multiple_of(8),
        cyclic: seed % 4 == 1,
        forall_alone: !seed.is_multiple_of(3),
        once: !seed.is_multiple_of(5),
        counts: if seed.is_multiple_of(7) { 1 } else { 2 },
        joins: !seed.is_multiple_of(6),
        ..Options::default()
    };
    let target = *random.pick(WINDOW_TARGETS[which]);
    made(seed, random, WINDOW_SIGNATURES[which], options, target)
}

/// Traces for a problem, from a machine or at random.
fn made(seed: u64, mut random: Random, atoms: &[&str], options: Options, target: &str) -> Problem {
    let signature = Signature::parse(atoms).unwrap();
    let by_machine = random.below(4) > 0;
    let target = target.replace("LAST", atoms[atoms.len() - 1]);
    let header = if target.contains("u_rej") {
        "reject u_rej\n"
    } else {
        ""
    };
    // Every seventh problem has traces with every step, empty and repeated observations among them.
    let mode = match seed % 7 {
        3 => StepMode::All,
        _ => StepMode::Changes,
    };
    let machine: Machine = format!("initial u0\naccept u_acc\n{header}{target}")
        .parse()
        .unwrap();
    let machine = machine.with_step_mode(mode);
    let mut traces: Vec<Trace> = Vec::new();
    let wanted = if by_machine {
        4 + random.below(6)
    } else {
        2 + random.below(2)
    };
    while traces.len() < wanted {
        let length = 1 + random.below(4);
        let mut steps: Vec<AtomSet> = (0..length)
            .map(|_| observation(&mut random, &signature))
            .collect();
        if mode == StepMode::All {
            let place = random.below(steps.len());
            let extra = match random.below(2) {
                0 => AtomSet::new(),
                _ => steps[place].clone(),
            };
            steps.insert(place, extra);
        }
        let trace = if by_machine {
            labelled(&machine, &signature, steps)
        } else {
            Trace::with_mode(mode, *random.pick(&Kind::ALL), steps)
        };
        traces.push(trace);
    }
    let max_states = if by_machine {
        1 + random.below(3).min(2)
    } else {
        2
    };
    Problem {
        signature,
        traces,
        options,
        max_states,
    }
}

/// One or two atoms.
fn observation(random: &mut Random, signature: &Signature) -> AtomSet {
    let ids: Vec<_> = signature.ids().collect();
    let count = 1 + usize::from(random.below(3) == 0);
    (0..count).map(|_| *random.pick(&ids)).collect()
}

/// The trace up to where the machine ends it.
pub fn labelled(machine: &Machine, signature: &Signature, steps: Vec<AtomSet>) -> Trace {
    let bound = machine.bind(signature).unwrap();
    let mut run = Run::new(&bound);
    for (i, step) in steps.iter().enumerate() {
        run.step(&bound, step);
        let kind = match machine.status(run.state()) {
            MachineStatus::Running => continue,
            MachineStatus::Accepted => Kind::Goal,
            MachineStatus::Rejected => Kind::DeadEnd,
        };
        return Trace::with_mode(machine.step_mode(), kind, steps.into_iter().take(i + 1));
    }
    Trace::with_mode(machine.step_mode(), Kind::Incomplete, steps)
}
