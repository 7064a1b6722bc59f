//! Equivalence of two machines, decided exactly over a stated set of observations; if they differ, with a shortest trace.
//!
//! Breadth-first search over the product of the two machines on all traces. A node has, for each machine, its state and
//! the observed atoms that matter there, and the last observation where repeating it would matter: a compressed trace never
//! repeats one. Where every step counts, traces are not compressed.

use std::collections::{HashMap, HashSet, VecDeque};

use super::bound::BoundMachine;
use super::machine::{MachineStatus, StateId};
use super::observations::Observations;
use super::run::{Run, Step};
use super::step_mode::StepMode;
use crate::error::{Error, Result};
use crate::logic::atom_set::AtomSet;

/// The result of [`compare`].
#[derive(Clone, Debug, PartialEq)]
pub enum Comparison {
    /// They behave alike on every trace over the observations.
    Equivalent {
        /// How many different observations were tried; 0 for machines that are the same but for the names of their states.
        observations: usize,
        /// How many pairs of runs were explored; 0 for such machines.
        pairs: usize,
    },
    /// A shortest trace on which they differ, at its last observation.
    Different(Difference),
}

/// Where two machines part.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The observations.
    pub trace: Vec<AtomSet>,
    /// State, status and reward of the first machine after the last of them.
    pub first: Reaction,
    /// The same of the second.
    pub second: Reaction,
}

/// The reaction of a machine to an observation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reaction {
    /// Its state after the observation.
    pub state: StateId,
    /// Whether it accepts, rejects or goes on.
    pub status: MachineStatus,
    /// The reward of the step.
    pub reward: f64,
}

/// Which observations and differences count.
#[derive(Clone, Debug)]
pub struct CompareOptions {
    /// The observations that can occur.
    pub observations: Observations,
    /// Whether rewards must agree as well.
    pub rewards: bool,
    /// The number of steps of pairs of runs after which to give up with an error.
    pub max_steps: usize,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self {
            observations: Observations::All,
            rewards: true,
            max_steps: 20_000_000,
        }
    }
}

/// The parts of a pair of runs that matter, and the last observation where repeating it would matter.
type Pair = ([(StateId, AtomSet); 2], Option<AtomSet>);

/// A pair of runs, and the numbers of its predecessor and of the observation that led to it.
type Reached = ([Run; 2], Option<(usize, usize)>);

/// Compares two machines bound to the same signature. Both must count every step, or every change.
pub fn compare(
    first: &BoundMachine,
    second: &BoundMachine,
    options: &CompareOptions,
) -> Result<Comparison> {
    let machines = [first, second];
    let mode = first.machine().step_mode();
    mode.must_be(
        second.machine().step_mode(),
        &format!("machine {}", first.machine().name()),
        &format!("machine {}", second.machine().name()),
    )?;
    if are_same(first, second, options.rewards) {
        return Ok(Comparison::Equivalent {
            observations: 0,
            pairs: 0,
        });
    }
    let relevant = first.relevant_atoms().union(&second.relevant_atoms());
    let observations = options
        .observations
        .enumerate(&relevant, first.signature(), mode)?;

    // Breadth-first search over the product of the two machines. Each pair remembers its predecessor and the observation.
    let mut pairs: Vec<Reached> = vec![(machines.map(Run::new), None)];
    let mut known: HashSet<Pair> = HashSet::new();
    let mut queue = VecDeque::from([(0, None)]);
    let mut steps_left = options.max_steps;
    while let Some((current, last)) = queue.pop_front() {
        steps_left = steps_left.checked_sub(observations.len()).ok_or_else(|| Error::Limit {
            what: "steps of the two machines side by side".to_owned(),
            limit: options.max_steps,
            hint: "compare over fewer observations: one atom at a time (`--observations single`), or those of a \
                   trace file"
                .to_owned(),
        })?;
        for (number, observation) in observations.iter().enumerate() {
            if last == Some(number) {
                continue;
            }
            let mut runs = pairs[current].0.clone();
            let steps = step_both(&mut runs, machines, observation);
            let reactions = [0, 1].map(|i| Reaction {
                state: runs[i].state(),
                status: machines[i].machine().status(runs[i].state()),
                reward: steps[i].reward,
            });
            let [a, b] = reactions;
            if a.status != b.status || (options.rewards && a.reward != b.reward) {
                let trace = trace_to(&pairs, current, number)
                    .into_iter()
                    .map(|i| observations[i].clone())
                    .collect();
                return Ok(Comparison::Different(Difference {
                    trace,
                    first: a,
                    second: b,
                }));
            }
            if a.status != MachineStatus::Running {
                continue;
            }
            // The last observation is part of the node only if repeating it would do something.
            let mut again = runs.clone();
            let repeated = step_both(&mut again, machines, observation);
            let matters = mode == StepMode::Changes
                && (key(&again, machines) != key(&runs, machines)
                    || repeated.iter().any(|s| s.reward != 0.0));
            let last = matters.then_some(number);
            let pair = (key(&runs, machines), last.map(|i| observations[i].clone()));
            if known.insert(pair) {
                pairs.push((runs, Some((current, number))));
                queue.push_back((pairs.len() - 1, last));
            }
        }
    }
    Ok(Comparison::Equivalent {
        observations: observations.len(),
        pairs: pairs.len(),
    })
}

/// Whether two machines are the same but for the names of their states: from the initial ones on, the same edges in the same order lead
/// to states of the same status. That takes no search, however many atoms there are.
fn are_same(first: &BoundMachine, second: &BoundMachine, rewards: bool) -> bool {
    let (one, other) = (first.machine(), second.machine());
    let mut partners: HashMap<StateId, StateId> = HashMap::new();
    let mut open = vec![(one.initial(), other.initial())];
    while let Some((a, b)) = open.pop() {
        match partners.insert(a, b) {
            Some(known) if known == b => continue,
            Some(_) => return false,
            None => {}
        }
        let (edges, others) = (first.outgoing(a), second.outgoing(b));
        if one.status(a) != other.status(b) || edges.len() != others.len() {
            return false;
        }
        for (edge, like) in edges.iter().zip(others) {
            let (to, of) = (one.edge(*edge), other.edge(*like));
            let pay = !rewards || one.reward(*edge) == other.reward(*like);
            if to.formula != of.formula || !pay {
                return false;
            }
            open.push((to.to, of.to));
        }
    }
    first.own_signature() == second.own_signature()
}

fn step_both(
    runs: &mut [Run; 2],
    machines: [&BoundMachine; 2],
    observation: &AtomSet,
) -> [Step; 2] {
    [0, 1].map(|i| runs[i].step(machines[i], observation))
}

/// State and relevant part of the buffer of each run.
fn key(runs: &[Run; 2], machines: [&BoundMachine; 2]) -> [(StateId, AtomSet); 2] {
    [0, 1].map(|i| {
        let state = runs[i].state();
        (
            state,
            runs[i]
                .seen()
                .intersection(machines[i].progress_atoms(state)),
        )
    })
}

/// The observations, by number, that lead to a pair and then on by `last`.
fn trace_to(pairs: &[Reached], mut current: usize, last: usize) -> Vec<usize> {
    let mut trace = vec![last];
    while let Some((before, observation)) = pairs[current].1 {
        trace.push(observation);
        current = before;
    }
    trace.reverse();
    trace
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logic::signature::Signature;
    use crate::machine::machine::Machine;

    fn different(
        a: &str,
        b: &str,
        signature: &[&str],
        observations: Observations,
    ) -> Option<Vec<String>> {
        let signature = Signature::parse(signature).unwrap();
        let bind = |edges: &str| {
            let text = format!("initial u0\naccept acc\nreject rej\n{edges}");
            text.parse::<Machine>().unwrap().bind(&signature).unwrap()
        };
        let options = CompareOptions {
            observations,
            ..CompareOptions::default()
        };
        match compare(&bind(a), &bind(b), &options).unwrap() {
            Comparison::Equivalent { .. } => None,
            Comparison::Different(d) => {
                Some(d.trace.iter().map(|o| signature.describe(o)).collect())
            }
        }
    }

    #[test]
    fn lifted_and_grounded_quantifiers() {
        let signature = ["p(a)", "p(b)", "goal"];
        let exists = "u0 -> acc : exists X. p(X)";
        assert_eq!(
            different(
                exists,
                "u0 -> acc : p(a) or p(b)",
                &signature,
                Observations::All
            ),
            None
        );
        let forall = "u0 -> acc : forall X. p(X)";
        let at_once = "u0 -> acc : p(a) and p(b)";
        let trace = different(forall, at_once, &signature, Observations::All).unwrap();
        assert_eq!(trace, ["{p(a)}", "{p(b)}"]);
        let diamond = "u0 -> u1 : p(a)\nu0 -> u2 : p(b)\nu1 -> acc : p(b)\nu2 -> acc : p(a)";
        assert_eq!(
            different(forall, diamond, &signature, Observations::Single),
            None
        );
        let trace = different(forall, diamond, &signature, Observations::All).unwrap();
        assert_eq!(trace, ["{p(a), p(b)}"]);
    }

    #[test]
    fn compressed_traces_never_repeat_an_observation() {
        let twice = "u0 -> u1 : goal\nu1 -> acc : goal";
        let never = "u0 -> u1 : goal\nu1 -> acc : goal and not goal";
        // With nothing else to observe, `goal` cannot come twice.
        assert_eq!(different(twice, never, &["goal"], Observations::All), None);
        let trace = different(twice, never, &["goal", "red"], Observations::Single).unwrap();
        assert_eq!(trace, ["{goal}", "{red}", "{goal}"]);
        let trace = different(twice, never, &["goal", "red"], Observations::All).unwrap();
        assert_eq!(trace, ["{goal}", "{goal, red}"]);
    }

    /// Two observations of which neither machine sees anything may follow each other.
    #[test]
    fn what_does_not_matter_may_come_twice() {
        let edges = "u0 -> u1 : not p(a)\nu1 -> u0 : not p(a)";
        let paid = format!("{edges} => 0.5");
        for observations in [Observations::All, Observations::Single] {
            let trace = different(edges, &paid, &["p(a)", "q", "r"], observations).unwrap();
            assert_eq!(trace, ["{q}", "{r}"]);
        }
    }

    /// Machines that are the same but for the names of their states are equivalent over any number of atoms; others are compared.
    #[test]
    fn the_same_machine_needs_no_search() {
        let atoms: Vec<String> = (0..40).map(|i| format!("p(o{i})")).collect();
        let signature = Signature::parse(&atoms).unwrap();
        let bind = |edges: &str| {
            let text = format!("initial s\naccept acc\nreject rej\n{edges}");
            text.parse::<Machine>().unwrap().bind(&signature).unwrap()
        };
        let compared = |a: &str, b: &str, rewards| {
            let options = CompareOptions {
                rewards,
                ..CompareOptions::default()
            };
            compare(&bind(a), &bind(b), &options).ok()
        };
        let machine = "s -> u : forall X. p(X)\nu -> s : p(o1)\nu -> acc : p(o2)";
        let renamed = "v -> s : p(o1)\ns -> v : forall X. p(X)\nv -> acc : p(o2)";
        let same = Some(Comparison::Equivalent {
            observations: 0,
            pairs: 0,
        });
        assert_eq!(compared(machine, renamed, true), same);
        // Another order of the edges of a state, another target or reward is not the same.
        for other in [
            "s -> u : forall X. p(X)\nu -> acc : p(o2)\nu -> s : p(o1)",
            "s -> u : forall X. p(X)\nu -> s : p(o1)\nu -> rej : p(o2)",
            "s -> u : forall X. p(X)\nu -> v : p(o1)\nu -> acc : p(o2)",
            "s -> u : forall X. p(X) => 0.5\nu -> s : p(o1)\nu -> acc : p(o2)",
        ] {
            assert_ne!(compared(machine, other, true), same, "{other}");
        }
        let paid = machine.replace("p(X)", "p(X) => 0.5");
        assert_eq!(compared(machine, &paid, false), same);
    }

    #[test]
    fn rewards_count() {
        let trace = different(
            "u0 -> u1 : a => 0.5\nu1 -> acc : b",
            "u0 -> u1 : a\nu1 -> acc : b",
            &["a", "b"],
            Observations::All,
        );
        assert_eq!(trace.unwrap(), ["{a}"]);
    }
}
