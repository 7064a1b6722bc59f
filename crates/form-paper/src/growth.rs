//! Machines of growing size, and traces sampled from them: problems that show how learning time grows with the number of states.
//!
//! Random walks in a room rarely complete a long task, so observations are drawn directly: one atom of the paper's room at a time,
//! all alike, never the same twice in a row. The machine says how the episode ends.

use std::collections::HashSet;

use anyhow::{Result, bail};
use form_core::{AtomSet, Kind, Machine, MachineStatus, Run, Signature, Trace};
use form_env::{Stream, generator};
use rand::RngExt;

/// The sub-tasks before the goal of a chain, repeated as needed: `exists`, `forall` and a numbered checkpoint in turn. The first three are
/// those of Blue-AllYellow-7.
pub const SUB_TASKS: [&str; 6] = [
    "exists X. blue(X)",
    "forall X. yellow(X)",
    "purple(o7)",
    "exists X. red(X)",
    "forall X. green(X)",
    "grey(o9)",
];

/// The objects of the paper's room, two of each colour.
const COLOURS: [&str; 6] = ["yellow", "red", "blue", "purple", "grey", "green"];

/// An episode is cut off after this number of observations.
const LONGEST: usize = 400;
/// The most episodes that are sampled for one problem.
const EPISODES: usize = 1_000_000;

/// A family of machines, one for each number of states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MachineFamily {
    /// Sub-tasks in a row, of which the last is the goal.
    Chain,
    /// The same, and lava in the last state is a dead end.
    DeadEnd,
    /// Two rows of sub-tasks before the goal: the first object seen, blue or red, decides which.
    Branches,
    /// Sub-tasks in a row, and lava in the last state leads back to the first.
    Cycle,
}

impl MachineFamily {
    /// All families.
    pub const ALL: [Self; 4] = [Self::Chain, Self::DeadEnd, Self::Branches, Self::Cycle];

    /// The name in tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Chain => "chain",
            Self::DeadEnd => "chain with a dead end",
            Self::Branches => "two branches",
            Self::Cycle => "cycle",
        }
    }

    /// The machine with this number of states, at least four.
    pub fn machine(self, states: usize) -> Result<Machine> {
        if states < 4 {
            bail!("a machine of a family has at least four states, not {states}");
        }
        let mut edges = Vec::new();
        let row = |from: usize, to: usize, first: usize| {
            let sub_tasks = SUB_TASKS.iter().cycle().skip(first);
            (from..to).zip(sub_tasks).collect::<Vec<_>>()
        };
        let last = states - 1;
        let goal = match self {
            Self::Branches => {
                // The rows are as long as each other, or the first is longer by one.
                let second = states / 2 + 1;
                let red = "exists X. red(X) and not exists X. blue(X)";
                edges.push((0, 1, "exists X. blue(X)".to_owned()));
                edges.push((0, second, red.to_owned()));
                for (from, formula) in row(1, second, 1) {
                    let to = if from + 1 == second { last } else { from + 1 };
                    edges.push((from, to, (*formula).to_owned()));
                }
                for (from, formula) in row(second, last, 4) {
                    edges.push((from, from + 1, (*formula).to_owned()));
                }
                "goal"
            }
            _ => {
                for (from, formula) in row(0, last, 0) {
                    edges.push((from, from + 1, (*formula).to_owned()));
                }
                match self {
                    Self::Chain => "goal",
                    _ => "goal and not lava",
                }
            }
        };
        edges.push((last, states, goal.to_owned()));
        let mut machine = Machine::builder("sampled").initial("u0").accept("u_acc");
        match self {
            Self::DeadEnd => {
                machine = machine.reject("u_rej");
                machine = machine.edge(&format!("u{last}"), "u_rej", "lava")?;
            }
            Self::Cycle => machine = machine.edge(&format!("u{last}"), "u0", "lava")?,
            Self::Chain | Self::Branches => {}
        }
        for (from, to, formula) in edges {
            let to = match to == states {
                true => "u_acc".to_owned(),
                false => format!("u{to}"),
            };
            machine = machine.edge(&format!("u{from}"), &to, &formula)?;
        }
        Ok(machine.build()?)
    }

    /// What can be observed: the objects of the paper's room, the goal, and lava where the machine speaks of it.
    pub fn signature(self) -> Result<Signature> {
        let objects = COLOURS.iter().enumerate();
        let mut atoms: Vec<String> = objects
            .flat_map(|(i, colour)| [2 * i, 2 * i + 1].map(|object| format!("{colour}(o{object})")))
            .collect();
        atoms.push("goal".to_owned());
        if matches!(self, Self::DeadEnd | Self::Cycle) {
            atoms.push("lava".to_owned());
        }
        Ok(Signature::parse(atoms.iter().map(String::as_str))?)
    }

    /// This number of distinct traces of each kind that the machine can end in, the same for the same seed.
    pub fn sample(self, states: usize, each: usize, seed: u64) -> Result<Vec<Trace>> {
        let kinds = match self {
            Self::DeadEnd => &[Kind::Goal, Kind::DeadEnd, Kind::Incomplete][..],
            _ => &[Kind::Goal, Kind::Incomplete],
        };
        let stream = Stream::Other(states as u64);
        let (machine, signature) = (self.machine(states)?, self.signature()?);
        sample(
            &machine,
            &signature,
            kinds,
            each,
            &mut generator(seed, stream),
        )
    }
}

/// This number of distinct traces of each of these kinds: observations are drawn at random, and the machine says how the episode ends.
fn sample(
    machine: &Machine,
    signature: &Signature,
    kinds: &[Kind],
    each: usize,
    random: &mut impl RngExt,
) -> Result<Vec<Trace>> {
    let machine = machine.bind(signature)?;
    let atoms: Vec<_> = signature.ids().collect();
    let mut known = HashSet::new();
    let mut traces = Vec::new();
    let mut missing = vec![each; kinds.len()];
    for _ in 0..EPISODES {
        if missing.iter().all(|missing| *missing == 0) {
            return Ok(traces);
        }
        // Most goals take long: incomplete episodes are cut off anywhere.
        let length = random.random_range(1..=LONGEST);
        let mut run = Run::new(&machine);
        let mut steps: Vec<AtomSet> = Vec::new();
        let mut kind = Kind::Incomplete;
        while steps.len() < length && kind == Kind::Incomplete {
            let observation = AtomSet::from_iter([atoms[random.random_range(0..atoms.len())]]);
            if steps.last() == Some(&observation) {
                continue;
            }
            run.step(&machine, &observation);
            kind = match machine.machine().status(run.state()) {
                MachineStatus::Accepted => Kind::Goal,
                MachineStatus::Rejected => Kind::DeadEnd,
                MachineStatus::Running => Kind::Incomplete,
            };
            steps.push(observation);
        }
        let place = kinds.iter().position(|of| *of == kind);
        if let Some(place) = place.filter(|place| missing[*place] > 0)
            && known.insert((place, steps.clone()))
        {
            missing[place] -= 1;
            traces.push(Trace::new(kind, steps));
        }
    }
    bail!("{EPISODES} episodes have too few traces of a kind")
}

/// A problem of the shape of ZooKeeper's leader elections: messages of three arguments, 35 of them, 144 traces that end well or not, and
/// a machine of three states, 12 edges and literals. The traces are sampled, not those of ZooKeeper.
pub fn elections(seed: u64) -> Result<(Signature, Vec<Trace>)> {
    const NODES: [&str; 3] = ["n0", "n1", "n2"];
    let mut atoms = Vec::new();
    for (from, to) in NODES.iter().flat_map(|from| NODES.map(|to| (from, to))) {
        if *from == to {
            continue;
        }
        atoms.extend(NODES.map(|leader| format!("looking({from},{to},{leader})")));
        atoms.push(format!("leading({from},{to},{from})"));
        atoms.push(format!("following({from},{to},{to})"));
    }
    // Nodes that still hear of another leader.
    for (from, to) in [(0, 1), (1, 2), (2, 0), (1, 0), (2, 1)] {
        let leader = NODES[3 - from - to];
        atoms.push(format!("following({},{},{leader})", NODES[from], NODES[to]));
    }
    let signature = Signature::parse(atoms.iter().map(String::as_str))?;
    let machine: Machine = "initial u0
        accept u_acc
        reject u_rej
        u0 -> u1 : exists X. looking(X, n0, n2) and not exists X. leading(n1, X, n1)
        u0 -> u2 : exists X. leading(n1, X, n1)
        u1 -> u_acc : exists X. following(X, n2, n2)
        u2 -> u_acc : exists X. following(X, n1, n1) and not exists X. leading(n0, X, n0)
        u2 -> u_rej : exists X. leading(n0, X, n0)"
        .parse()?;
    let kinds = [Kind::Goal, Kind::DeadEnd];
    let mut random = generator(seed, Stream::Other(0));
    let traces = sample(&machine, &signature, &kinds, 72, &mut random)?;
    Ok((signature, traces))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elections_have_the_shape_of_zookeepers() {
        let (signature, traces) = elections(1).unwrap();
        assert_eq!((signature.len(), traces.len()), (35, 144));
        assert!(
            signature
                .atoms()
                .iter()
                .all(|atom| atom.constants().len() == 3)
        );
    }

    #[test]
    fn traces_are_what_the_machine_says() {
        for family in MachineFamily::ALL {
            for states in [4, 5, 6] {
                let traces = family.sample(states, 5, 1).unwrap();
                let kinds = if family == MachineFamily::DeadEnd {
                    3
                } else {
                    2
                };
                assert_eq!(traces.len(), 5 * kinds);
                assert_eq!(family.sample(states, 5, 1).unwrap(), traces);
                let signature = family.signature().unwrap();
                let machine = family.machine(states).unwrap();
                assert_eq!(machine.states().len(), states + kinds - 1);
                let bound = machine.bind(&signature).unwrap();
                assert!(form_core::check(&bound).overlaps.is_empty(), "{machine}");
                let wrong = |trace: &&Trace| trace.disagreement(&bound).is_some();
                assert_eq!(traces.iter().find(wrong), None);
            }
        }
    }
}
