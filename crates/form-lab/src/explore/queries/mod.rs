//! Learning by queries: where the learner has no machine in time, walks ask for one move after the other.
//!
//! The learner looks for the smallest machine that agrees with all walks, which takes long for machines with many edges and ways back. But walks
//! can be chosen. The automaton is what all walks so far say; `coverage` chooses walks that confirm much of it at once, `mending` finds the move
//! that is to blame where one goes wrong, and `identification` the state that it leads to (active automata learning; Angluin 1987). Its states
//! remember what was seen, as those of machines do. The machine is not minimal.

mod automaton;
mod coverage;
mod identification;
mod mending;
mod observation_tree;

use std::collections::BTreeMap;

use form_core::{Atom, AtomSet, Machine, Signature, Trace};
use form_env::Random;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

use self::automaton::{Alphabet, Automaton, kinds};
use self::coverage::Coverage;
use self::identification::Identification;
use self::observation_tree::{ObservationTree, Word};

/// How often a walk is tried before its word is given up.
const MOST_ATTEMPTS: u32 = 20;
/// How many walks in a row may bring nothing new for a state before the rest of it is taken as it is.
const MOST_TRIALS: u32 = 6;
/// How many varied walks in a row must go as foretold.
const ENOUGH: u32 = 40;

/// What a checkpoint keeps of the queries.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct QueryState {
    automaton: Automaton,
    /// The word that is asked now, and how often it has been tried.
    asked: Option<(Word, u32)>,
    given_up: Vec<Word>,
    /// For each state, the number of letters that were open and the trials since.
    trials: BTreeMap<usize, (usize, u32)>,
    /// Varied walks since the automaton changed.
    varied: u32,
}

/// A walk that is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// To observe this and nothing else.
    Exactly(Vec<AtomSet>),
    /// To observe this, and then to reach the goal if the machine knows how.
    Trial(Vec<AtomSet>),
    /// To reach the goal, with detours.
    Varied,
}

/// The queries of an exploration: their state, and all walks.
#[derive(Debug)]
pub(crate) struct Queries {
    state: QueryState,
    tree: ObservationTree,
    kinds: Vec<AtomSet>,
    /// The state whose letters are put to the test next, and these letters.
    trial: Option<(usize, Word)>,
}

impl Queries {
    /// Begins, or goes on, after these walks.
    pub(crate) fn new(
        state: QueryState,
        traces: &[Trace],
        (vocabulary, signature): (&[Atom], &Signature),
    ) -> Self {
        let mut queries = Self {
            state,
            tree: ObservationTree::default(),
            kinds: kinds(vocabulary, signature),
            trial: None,
        };
        for trace in traces {
            queries.tree.add(trace);
        }
        queries.choose_trial();
        queries
    }

    pub(crate) fn state(&self) -> &QueryState {
        &self.state
    }

    pub(crate) fn add(&mut self, trace: &Trace) {
        self.tree.add(trace);
    }

    fn alphabet(&self) -> Alphabet<'_> {
        Alphabet {
            letters: self.tree.letters(),
            kinds: &self.kinds,
        }
    }

    /// Takes all walks into account; whether the automaton has changed.
    pub(crate) fn advance(&mut self) -> bool {
        let before = self.state.automaton.clone();
        loop {
            let mut identification = Identification {
                tree: &self.tree,
                automaton: &mut self.state.automaton,
                alphabet: Alphabet {
                    letters: self.tree.letters(),
                    kinds: &self.kinds,
                },
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
            break;
        }
        let changed = before != self.state.automaton;
        if changed {
            self.state.varied = 0;
            self.state.trials.clear();
        }
        self.choose_trial();
        changed
    }

    /// Chooses the state that is put to the test next.
    fn choose_trial(&mut self) {
        self.trial = None;
        if self.state.asked.is_some() {
            return;
        }
        let coverage = Coverage::new(&self.tree, &self.state.automaton, self.alphabet());
        let mut chosen = None;
        let mut trials = self.state.trials.clone();
        for state in coverage.states() {
            let open = coverage.open(state);
            let (before, times) = trials.entry(state).or_insert((open.len(), 0));
            if open.len() < *before {
                (*before, *times) = (open.len(), 0);
            }
            if !open.is_empty() && *times < MOST_TRIALS {
                chosen = Some((state, open));
                break;
            }
        }
        self.state.trials = trials;
        self.trial = chosen;
    }

    /// Whether the automaton judges all walks right, and has been tried in all its states.
    pub(crate) fn are_settled(&self) -> bool {
        self.state.asked.is_none() && self.trial.is_none()
    }

    /// Whether a walk is known that could refute the automaton.
    pub(crate) fn are_open(&self) -> bool {
        !self.are_settled() || self.state.varied < ENOUGH
    }

    /// The walk that is wanted next.
    pub(crate) fn walk(&mut self, random: &mut Random) -> Wanted {
        if let Some((word, times)) = &mut self.state.asked {
            *times += 1;
            return Wanted::Exactly(observations(&self.tree, word));
        }
        let Some((state, mut letters)) = self.trial.clone() else {
            self.state.varied += 1;
            return Wanted::Varied;
        };
        if let Some((_, times)) = self.state.trials.get_mut(&state) {
            *times += 1;
        }
        letters.shuffle(random);
        // What leads here from elsewhere comes first: later it could undo what another letter has done.
        let automaton = &self.state.automaton;
        letters.sort_by_key(|letter| !automaton.leads_to(state, *letter));
        if automaton.access(state).last() == letters.first() && letters.len() > 1 {
            letters.swap(0, 1);
        }
        let coverage = Coverage::new(&self.tree, &self.state.automaton, self.alphabet());
        Wanted::Trial(observations(&self.tree, &coverage.walk(state, &letters)))
    }

    /// The machine so far.
    pub(crate) fn machine(
        &self,
        vocabulary: &[Atom],
        signature: &Signature,
    ) -> form_core::Result<Machine> {
        (self.state.automaton).machine(self.alphabet(), vocabulary, signature)
    }
}

fn observations(tree: &ObservationTree, word: &[usize]) -> Vec<AtomSet> {
    (word.iter())
        .map(|letter| tree.letters()[*letter].clone())
        .collect()
}

#[cfg(test)]
mod tests {
    use form_core::{
        BoundMachine, CompareOptions, Comparison, Kind, MachineStatus, Observations, Run, compare,
    };
    use form_env::{Stream, generator};
    use form_learn::learnable_atoms;
    use rand::RngExt;

    use super::automaton::{Position, Target};
    use super::*;

    /// A world of single atoms in which every walk is possible.
    struct World {
        truth: BoundMachine,
        vocabulary: Vec<Atom>,
        single: Vec<AtomSet>,
        walks: usize,
        letters: usize,
    }

    impl World {
        fn new(signature: &Signature, machine: &Machine) -> Self {
            Self {
                truth: machine.bind(signature).unwrap(),
                vocabulary: learnable_atoms(signature, true).unwrap(),
                single: signature.ids().map(|id| AtomSet::from_iter([id])).collect(),
                walks: 0,
                letters: 0,
            }
        }

        /// What the world says of a walk.
        fn walked(&mut self, walk: &[AtomSet]) -> Trace {
            let mut run = Run::new(&self.truth);
            self.walks += 1;
            for (i, observation) in walk.iter().enumerate() {
                self.letters += 1;
                run.step(&self.truth, observation);
                let kind = match self.truth.machine().status(run.state()) {
                    MachineStatus::Accepted => Kind::Goal,
                    MachineStatus::Rejected => Kind::DeadEnd,
                    MachineStatus::Running => continue,
                };
                return Trace::new(kind, walk[..=i].to_vec());
            }
            Trace::new(Kind::Incomplete, walk.to_vec())
        }

        /// A shortest walk to the goal.
        fn solution(&self) -> Vec<AtomSet> {
            let mut known = vec![Run::new(&self.truth)];
            let mut queue = vec![(known[0].clone(), Vec::new())];
            let mut at = 0;
            while let Some((run, walk)) = queue.get(at).cloned() {
                at += 1;
                for letter in &self.single {
                    if walk.last() == Some(letter) {
                        continue;
                    }
                    let mut next = run.clone();
                    next.step(&self.truth, letter);
                    let mut walk: Vec<AtomSet> = walk.clone();
                    walk.push(letter.clone());
                    match self.truth.machine().status(next.state()) {
                        MachineStatus::Accepted => return walk,
                        MachineStatus::Running if !known.contains(&next) => {
                            known.push(next.clone());
                            queue.push((next, walk));
                        }
                        _ => {}
                    }
                }
            }
            panic!("no way to the goal");
        }

        /// The walk that is wanted, to its end.
        fn carry_out(&mut self, queries: &Queries, wanted: Wanted, random: &mut Random) -> Trace {
            let (mut walk, wandering) = match wanted {
                Wanted::Exactly(walk) => return self.walked(&walk),
                Wanted::Trial(walk) => (walk, 0.0),
                Wanted::Varied => (Vec::new(), 0.4),
            };
            let alphabet = queries.alphabet();
            let automaton = &queries.state.automaton;
            let mut position = Position::entered(Target::State(0));
            let mut last = None;
            for one in &walk {
                let letter = (alphabet.letters.iter()).position(|known| known == one);
                last = letter;
                (position, _) = automaton.step(&position, letter.unwrap(), alphabet);
            }
            while walk.len() < 60 && position.target.status() == observation_tree::Status::Running {
                let way = automaton.accepted_word(position.clone(), last, alphabet);
                let wanders = wandering > 0.0 && random.random_bool(wandering);
                let letter = match way {
                    Some(way) if !wanders => way[0],
                    _ => {
                        let letter = random.random_range(alphabet.all());
                        let (next, _) = automaton.step(&position, letter, alphabet);
                        if Some(letter) == last || next.target == Target::Reject {
                            continue;
                        }
                        letter
                    }
                };
                walk.push(alphabet.letters[letter].clone());
                last = Some(letter);
                (position, _) = automaton.step(&position, letter, alphabet);
            }
            self.walked(&walk)
        }

        /// All queries after these walks, until none is open; the machine then.
        fn learn(&mut self, first: &[Vec<AtomSet>]) -> Machine {
            let mut random = generator(1, Stream::Other(0));
            let mut traces: Vec<Trace> = first.iter().map(|walk| self.walked(walk)).collect();
            let signature = self.truth.signature().clone();
            let vocabulary = self.vocabulary.clone();
            let language = (vocabulary.as_slice(), &signature);
            let mut queries = Queries::new(QueryState::default(), &traces, language);
            queries.advance();
            while queries.are_open() && self.walks < 5000 {
                let wanted = queries.walk(&mut random);
                let trace = self.carry_out(&queries, wanted, &mut random);
                queries.add(&trace);
                traces.push(trace);
                queries.advance();
            }
            let machine = queries.machine(&vocabulary, &signature).unwrap();
            let bound = machine.bind(&signature).unwrap();
            let wrong = traces
                .iter()
                .filter(|trace| trace.disagreement(&bound).is_some());
            assert_eq!(wrong.count(), 0, "{machine}");
            machine
        }

        fn is_learnt(&self, machine: &Machine) -> bool {
            let options = CompareOptions {
                observations: Observations::Single,
                rewards: false,
                max_steps: 1_000_000,
            };
            let machine = machine.bind(self.truth.signature()).unwrap();
            let compared = compare(&machine, &self.truth, &options);
            matches!(compared, Ok(Comparison::Equivalent { .. }))
        }
    }

    /// Several edges between two states, ways back, the same object twice, all of a kind as a way and as a dead end: after one walk to the goal,
    /// queries find the task's machine.
    #[test]
    fn queries_find_the_machine() {
        let names = ["red(o0)", "red(o1)", "blue(o2)", "blue(o3)", "goal"];
        let signature = Signature::parse(names).unwrap();
        let tasks = [
            "u0 -> u1 : exists X. red(X)\nu1 -> u0 : goal\nu1 -> u_rej : blue(o2)\nu1 -> u_acc : blue(o3)",
            "u0 -> u_rej : goal\nu0 -> u1 : forall X. red(X)\nu1 -> u_rej : exists X. red(X)\nu1 -> u_acc : goal",
            "u0 -> u1 : goal\nu1 -> u2 : goal\nu1 -> u_rej : blue(o3)\nu1 -> u_rej : red(o1)\nu2 -> u_acc : goal",
            "u0 -> u1 : blue(o2)\nu1 -> u0 : forall X. red(X)\nu1 -> u_acc : blue(o3)",
            "u0 -> u1 : forall X. blue(X)\nu1 -> u_rej : forall X. red(X)\nu1 -> u2 : goal\nu2 -> u_acc : forall X. blue(X)",
        ];
        for edges in tasks {
            let reject = if edges.contains("u_rej") {
                "reject u_rej\n"
            } else {
                ""
            };
            let text = format!("initial u0\naccept u_acc\n{reject}{edges}");
            let mut world = World::new(&signature, &text.parse().unwrap());
            let mut first: Vec<Vec<AtomSet>> =
                world.single.iter().map(|one| vec![one.clone()]).collect();
            first.push(world.solution());
            let machine = world.learn(&first);
            assert!(world.is_learnt(&machine), "{edges}\n{machine}");
            assert!(world.walks < 200, "{edges}");
        }
    }

    /// Nothing but dead ends is known: what they say is found out, so that they can be avoided.
    #[test]
    fn dead_ends_are_told_apart_without_a_goal() {
        let names = ["red(o0)", "blue(o1)", "grey(o2)", "goal"];
        let signature = Signature::parse(names).unwrap();
        let text = "initial u0\naccept u_acc\nreject u_rej\nu0 -> u_rej : exists X. red(X)\nu0 -> u1 : goal\nu1 -> u_rej : grey(o2)";
        let mut world = World::new(&signature, &text.parse().unwrap());
        let [red, blue, grey, goal] = names.map(|name| signature.observation([name]).unwrap());
        let first = [vec![red.clone()], vec![blue], vec![goal, red, grey]];
        let machine = world.learn(&first);
        assert!(world.is_learnt(&machine), "{machine}");
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
        let vocabulary = learnable_atoms(&signature, true).unwrap();
        let mut random = generator(1, Stream::Other(0));
        let mut queries = Queries::new(QueryState::default(), &traces, (&vocabulary, &signature));
        let mut walks = 0;
        queries.advance();
        while queries.are_open() {
            queries.walk(&mut random);
            queries.advance();
            walks += 1;
            assert!(walks < 10_000);
        }
        assert!(!queries.state().given_up.is_empty());
    }
}
