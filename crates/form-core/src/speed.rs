//! Work for benchmarks of machines, here so that it is optimised as machines are: steps over random observations, and the same by the
//! definition of truth, evaluated literally.

use std::hint::black_box;

use crate::{AtomSet, BoundMachine, Error, Machine, MachineStatus, Run, Signature, satisfies};

/// A machine, and observations of one random atom each.
#[derive(Clone, Debug)]
pub struct Workload {
    machine: BoundMachine,
    observations: Vec<AtomSet>,
}

impl Workload {
    /// The work for the machine of a text.
    pub fn new(machine: &str, signature: &Signature) -> Result<Self, Error> {
        let mut numbers = Numbers(0x5eed);
        let ids: Vec<_> = signature.ids().collect();
        let observations = (0..4096)
            .map(|_| AtomSet::from_iter([ids[numbers.below(ids.len())]]))
            .collect();
        Ok(Self {
            machine: machine.parse::<Machine>()?.bind(signature)?,
            observations,
        })
    }

    /// Runs the machine; runs begin anew at terminal states.
    pub fn run(&self, steps: usize) {
        let machine = &self.machine;
        let mut run = Run::new(machine);
        for observation in self.observations.iter().cycle().take(steps) {
            black_box(run.step(machine, observation));
            if machine.machine().is_terminal(run.state()) {
                run.reset(machine);
            }
        }
        black_box(run);
    }

    /// Runs it by Algorithm 1 over an explicit buffer.
    pub fn run_by_definition(&self, steps: usize) {
        let lifted = self.machine.machine();
        let (mut state, mut buffer) = (lifted.initial(), Vec::new());
        for observation in self.observations.iter().cycle().take(steps) {
            buffer.push(observation.clone());
            let next = (lifted.edges_from(state))
                .find(|(_, edge)| satisfies(&buffer, &edge.formula, self.machine.signature()))
                .map(|(_, edge)| edge.to);
            if let Some(to) = next {
                buffer.clear();
                state = if lifted.status(to) == MachineStatus::Running {
                    to
                } else {
                    lifted.initial()
                };
            }
        }
        black_box(state);
    }
}

/// Pseudo-random numbers, the same in every run (Marsaglia's xorshift).
#[derive(Clone, Debug)]
pub struct Numbers(pub u64);

impl Numbers {
    /// The next number, smaller than `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}
