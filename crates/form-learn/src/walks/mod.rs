//! Realistic traces to learn from: walks in the paper's room (Figure 1a), labelled by a machine that stands for the task.
//!
//! An episode begins in a room of 13×13 cells with walls as in the figure, the goal in its corner, and everything else
//! somewhere new; it ends when the machine says so or after so many steps, and what was observed is the trace. The steps
//! are random; [`guidance`](Walks::guidance) is for tasks that are too long to be completed by chance. Everything follows
//! from the [`seed`](Walks::seed): the same one gives the same traces everywhere.

mod guide;
mod room;
mod tasks;

use std::collections::BTreeMap;

use form_core::{
    BoundMachine, Kind, Machine, MachineStatus, Monitor, Recorder, Signature, StateId, Trace,
};

use crate::error::{Error, Result};
use guide::Guide;
use room::{Plan, Room};

/// Which walks to record.
///
/// ```
/// use form_core::Kind;
/// use form_learn::walks::Walks;
/// let mut walks = Walks::all_yellow(7).each(3);
/// walks.max_observations = Some(50);
/// let traces = walks.record()?;
/// assert_eq!(traces.len(), 6);
/// assert!(traces.iter().all(|trace| trace.steps().len() <= 50));
/// # Ok::<(), form_learn::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Walks {
    /// The task: it says when an episode is over, and how it ended.
    pub machine: Machine,
    /// The checkpoints: colours and how many there are of each, numbered through as `o0`, `o1`, …; a colour may come
    /// again, with other numbers.
    pub objects: Vec<(String, usize)>,
    /// How many cells have lava on them.
    pub lava: usize,
    /// What the random numbers start from.
    pub seed: u64,
    /// How many traces to record of each kind.
    pub wanted: BTreeMap<Kind, usize>,
    /// Steps after which an episode ends, incomplete.
    pub max_steps: usize,
    /// The most observations a trace may have; an episode that goes on after them ends there, incomplete.
    pub max_observations: Option<usize>,
    /// How much help the walks get, from 0 (none at all) to 100.
    ///
    /// Chance alone completes chains of eight sub-tasks within 3,000 steps often enough; with a dozen, or few
    /// observations a trace, it takes ever longer. With guidance, the toss of a coin decides for each episode whether it
    /// is helped: so many of its steps out of 100 then follow a shortest path to something that an edge of the current
    /// state asks for, past what would end the episode badly. The other episodes stay random. So completed tasks have
    /// shorter and less various traces than chance would give them, the more so the more help.
    pub guidance: usize,
    /// Episodes in a row without a trace of a kind that is still wanted after which to give up with an error.
    pub patience: usize,
}

impl Walks {
    /// Random walks for a task in the paper's room: two checkpoints of each of six colours; with lava, and a third green
    /// checkpoint, number 12, if the task can fail. None are wanted yet: see [`each`](Self::each).
    pub fn new(machine: Machine, seed: u64) -> Self {
        let fails = machine.reject().is_some();
        let colours = ["yellow", "red", "blue", "purple", "grey", "green"];
        let mut objects: Vec<(String, usize)> = colours.map(|c| (c.to_owned(), 2)).into();
        objects.extend(fails.then(|| ("green".to_owned(), 1)));
        Self {
            machine,
            objects,
            lava: if fails { 5 } else { 0 },
            seed,
            wanted: BTreeMap::new(),
            max_steps: 3000,
            max_observations: None,
            guidance: 0,
            patience: 10_000_000,
        }
    }

    /// So many traces of each kind that the machine can end in.
    #[must_use]
    pub fn each(mut self, count: usize) -> Self {
        let fails = self.machine.reject().is_some();
        let kinds = Kind::ALL.iter().filter(|k| fails || **k != Kind::DeadEnd);
        self.wanted = kinds.map(|kind| (*kind, count)).collect();
        self
    }

    /// What can be observed: the checkpoints, `goal` and, if there is any, `lava`.
    pub fn signature(&self) -> Result<Signature> {
        let lava = (self.lava > 0).then(|| "lava".to_owned());
        let atoms = self.checkpoints().into_iter().chain(["goal".to_owned()]);
        Ok(Signature::parse(atoms.chain(lava))?)
    }

    /// The checkpoints in the order of their numbers.
    fn checkpoints(&self) -> Vec<String> {
        let colours = self.objects.iter();
        let colours = colours.flat_map(|(colour, count)| std::iter::repeat_n(colour, *count));
        (colours.enumerate())
            .map(|(i, colour)| format!("{colour}(o{i})"))
            .collect()
    }

    /// Records the traces: those of goals first, then dead-ends, then incomplete ones, each in the order they came.
    ///
    /// Fails if the machine does not fit what can be observed, if the room is too small for everything, or if a kind
    /// does not come about.
    pub fn record(&self) -> Result<Vec<Trace>> {
        let signature = self.signature()?;
        let machine = self.machine.bind(&signature)?;
        let plan = Plan::new(&signature, &self.checkpoints(), self.lava)?;
        let guide = Guide::new(&machine);
        let mut random = Random(self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut found: BTreeMap<Kind, Vec<Trace>> = BTreeMap::new();
        let mut in_vain = 0;
        while let Some((kind, missing)) = self.missing(&found) {
            if in_vain == self.patience {
                return Err(Error::Walks {
                    problem: format!(
                        "{missing} {kind} traces of `{}` are missing after {in_vain} episodes in vain: change the \
                         length of the walks, or their guidance",
                        self.machine.name()
                    ),
                });
            }
            let room = plan.draw(&mut random);
            let helped = self.guidance > 0 && random.below(2) == 0;
            let trace = self.walk(&machine, &room, helped.then_some(&guide), &mut random);
            let wanted = self.wanted.get(&trace.kind()).copied().unwrap_or(0);
            let traces = found.entry(trace.kind()).or_default();
            if traces.len() < wanted {
                traces.push(trace);
                in_vain = 0;
            } else {
                in_vain += 1;
            }
        }
        Ok(found.into_values().flatten().collect())
    }

    /// A kind of which there are too few traces, and how many are missing.
    fn missing(&self, found: &BTreeMap<Kind, Vec<Trace>>) -> Option<(Kind, usize)> {
        let missing = |(kind, wanted): (&Kind, &usize)| {
            let found = found.get(kind).map_or(0, Vec::len);
            (found < *wanted).then(|| (*kind, wanted - found))
        };
        self.wanted.iter().find_map(missing)
    }

    /// One episode.
    fn walk(
        &self,
        machine: &BoundMachine,
        room: &Room<'_>,
        guide: Option<&Guide>,
        random: &mut Random,
    ) -> Trace {
        let mut monitor = Monitor::new(machine);
        let mut recorder = Recorder::new();
        let distances = |monitor: &Monitor| guide.map(|guide| guide.distances(room, monitor));
        let mut path = distances(&monitor);
        let mut at = room.start();
        for _ in 0..self.max_steps {
            let observation = room.observation(at);
            if recorder.observe(observation) {
                monitor.observe(machine, observation);
                if let Some(kind) = ending(machine, monitor.state()) {
                    return recorder.finish(kind);
                }
                if self.max_observations == Some(recorder.steps().len()) {
                    break;
                }
                path = distances(&monitor);
            }
            let helped = path.as_ref().filter(|_| random.below(100) < self.guidance);
            at = helped
                .and_then(|path| room.closer(at, path))
                .unwrap_or_else(|| room.step(at, random.below(4)));
        }
        recorder.finish(Kind::Incomplete)
    }
}

/// How an episode ends in this state, if it does.
fn ending(machine: &BoundMachine, state: StateId) -> Option<Kind> {
    match machine.machine().status(state) {
        MachineStatus::Accepted => Some(Kind::Goal),
        MachineStatus::Rejected => Some(Kind::DeadEnd),
        MachineStatus::Running => None,
    }
}

/// Marsaglia's xorshift: the same seed gives the same traces everywhere.
#[derive(Debug)]
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % limit as u64) as usize
    }
}
