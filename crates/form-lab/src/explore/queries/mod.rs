//! Learning by queries: where the learner has no machine in time, walks ask for one move after the other.
//!
//! The learner looks for the smallest machine that agrees with all walks, which takes long for machines with many edges and ways back. But walks
//! can be chosen. Queries find the states one by one and ask in each what every object does (active automata learning; Angluin 1987). The
//! machine is not minimal: an object that has been seen is a state of its own.

mod automaton;
mod identification;
mod observation_tree;

use form_core::{Atom, AtomSet, Machine, Signature, Trace};
use serde::{Deserialize, Serialize};

use self::automaton::Automaton;
use self::identification::Identification;
use self::observation_tree::{ObservationTree, Word};

/// How often a walk is tried before its word is given up.
const MOST_ATTEMPTS: u32 = 20;

/// What a checkpoint keeps of the queries.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct QueryState {
    automaton: Automaton,
    /// The word that is asked now, and how often it has been tried.
    asked: Option<(Word, u32)>,
    given_up: Vec<Word>,
}

/// The queries of an exploration: their state, and all walks.
#[derive(Debug, Default)]
pub(crate) struct Queries {
    state: QueryState,
    tree: ObservationTree,
}

impl Queries {
    /// Begins, or goes on, after these walks.
    pub(crate) fn new(state: QueryState, traces: &[Trace]) -> Self {
        let mut queries = Self {
            state,
            tree: ObservationTree::default(),
        };
        for trace in traces {
            queries.tree.add(trace);
        }
        queries
    }

    pub(crate) fn state(&self) -> &QueryState {
        &self.state
    }

    pub(crate) fn add(&mut self, trace: &Trace) {
        self.tree.add(trace);
    }

    /// Takes all walks into account; whether a question is open.
    pub(crate) fn advance(&mut self) -> bool {
        loop {
            let mut identification = Identification {
                tree: &self.tree,
                automaton: &mut self.state.automaton,
                given_up: &self.state.given_up,
            };
            let asked = identification.advance().err();
            self.state.asked = match (asked, self.state.asked.take()) {
                (Some(word), Some((before, times))) if word == before => {
                    if times >= MOST_ATTEMPTS {
                        self.state.given_up.push(word);
                        continue;
                    }
                    Some((word, times))
                }
                (asked, _) => asked.map(|word| (word, 0)),
            };
            return self.state.asked.is_some();
        }
    }

    /// Whether a question is open.
    pub(crate) fn are_open(&self) -> bool {
        self.state.asked.is_some()
    }

    /// The walk that is asked for.
    pub(crate) fn walk(&mut self) -> Option<Vec<AtomSet>> {
        let (word, times) = self.state.asked.as_mut()?;
        *times += 1;
        let letters = self.tree.letters();
        Some(word.iter().map(|letter| letters[*letter].clone()).collect())
    }

    /// The machine so far.
    pub(crate) fn machine(
        &self,
        vocabulary: &[Atom],
        signature: &Signature,
    ) -> form_core::Result<Machine> {
        (self.state.automaton).machine(self.tree.letters(), vocabulary, signature)
    }
}

#[cfg(test)]
mod tests {
    use form_core::{
        BoundMachine, CompareOptions, Comparison, Kind, MachineStatus, Observations, Run, compare,
    };
    use form_learn::learnable_atoms;

    use super::*;

    /// What the world of a machine says of a walk.
    fn walked(truth: &BoundMachine, walk: &[AtomSet]) -> Trace {
        let mut run = Run::new(truth);
        for (i, observation) in walk.iter().enumerate() {
            run.step(truth, observation);
            let kind = match truth.machine().status(run.state()) {
                MachineStatus::Accepted => Kind::Goal,
                MachineStatus::Rejected => Kind::DeadEnd,
                MachineStatus::Running => continue,
            };
            return Trace::new(kind, walk[..=i].to_vec());
        }
        Trace::new(Kind::Incomplete, walk.to_vec())
    }

    /// Several edges between two states, ways back, the same object twice: after one walk to the goal, queries find a machine that carries out
    /// the task, and where nothing is off the way, the task's own.
    #[test]
    fn queries_find_a_machine_that_reaches_the_goal() {
        let names = ["red(o0)", "red(o1)", "blue(o2)", "blue(o3)", "goal"];
        let signature = Signature::parse(names).unwrap();
        let vocabulary = learnable_atoms(&signature, true).unwrap();
        let observations = names.map(|name| signature.observation([name]).unwrap());
        let [red, other_red, blue, other_blue, goal] = &observations;
        let tasks: [(&str, Vec<&AtomSet>, bool); 4] = [
            (
                "u0 -> u1 : exists X. red(X)\nu1 -> u0 : goal\nu1 -> u_rej : blue(o2)\nu1 -> u_acc : blue(o3)",
                vec![red, other_blue],
                true,
            ),
            (
                "u0 -> u_rej : goal\nu0 -> u1 : forall X. red(X)\nu1 -> u_rej : exists X. red(X)\nu1 -> u_acc : goal",
                vec![blue, red, other_red, goal],
                false,
            ),
            (
                "u0 -> u1 : goal\nu1 -> u2 : goal\nu1 -> u_rej : blue(o3)\nu1 -> u_rej : red(o1)\nu2 -> u_acc : goal",
                vec![goal, blue, goal, red, goal],
                true,
            ),
            (
                "u0 -> u1 : blue(o2)\nu1 -> u0 : forall X. red(X)\nu1 -> u_acc : blue(o3)",
                vec![blue, other_blue],
                false,
            ),
        ];
        for (edges, first_goal, exact) in tasks {
            let reject = if edges.contains("u_rej") {
                "reject u_rej\n"
            } else {
                ""
            };
            let text = format!("initial u0\naccept u_acc\n{reject}{edges}");
            let truth = text.parse::<Machine>().unwrap().bind(&signature).unwrap();
            let walk = |one: &[AtomSet]| walked(&truth, one);
            let first_goal: Vec<AtomSet> = first_goal.into_iter().cloned().collect();
            let first: Vec<Trace> = (observations.iter())
                .map(|one| walk(std::slice::from_ref(one)))
                .chain([walk(&first_goal)])
                .collect();
            assert_eq!(first[5].kind(), Kind::Goal, "{edges}");
            let mut queries = Queries::new(QueryState::default(), &first);
            let mut traces = first;
            let mut walks = 0;
            queries.advance();
            while let Some(word) = queries.walk() {
                traces.push(walk(&word));
                queries.add(&traces[traces.len() - 1]);
                queries.advance();
                walks += 1;
                assert!(walks < 1000, "{edges}");
            }
            let machine = queries.machine(&vocabulary, &signature).unwrap();
            let machine = machine.bind(&signature).unwrap();
            for trace in &traces {
                assert_eq!(trace.disagreement(&machine), None, "{edges}");
            }
            if exact {
                let options = CompareOptions {
                    observations: Observations::Single,
                    rewards: false,
                    max_steps: 100_000,
                };
                let compared = compare(&machine, &truth, &options);
                assert!(
                    matches!(compared, Ok(Comparison::Equivalent { .. })),
                    "{edges}: {}",
                    machine.machine()
                );
            }
        }
    }

    /// A word that no walk makes is given up, and the rest goes on.
    #[test]
    fn what_cannot_be_walked_is_given_up() {
        let signature = Signature::parse(["a", "b", "goal"]).unwrap();
        let single: Vec<AtomSet> = signature.ids().map(|id| AtomSet::from_iter([id])).collect();
        let traces = [
            Trace::new(Kind::Goal, [single[0].clone(), single[2].clone()]),
            Trace::new(Kind::Incomplete, [single[1].clone()]),
        ];
        let mut queries = Queries::new(QueryState::default(), &traces);
        let mut walks = 0;
        queries.advance();
        while queries.walk().is_some() {
            queries.advance();
            walks += 1;
            assert!(walks < 10_000);
        }
        assert!(!queries.are_open());
        assert!(!queries.state().given_up.is_empty());
    }
}
