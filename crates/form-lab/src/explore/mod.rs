//! Exploration from object to object: an unknown task is learnt from walks that are chosen for what they would tell.
//!
//! A walk visits objects one after the other, each reached by the reach-avoid policy, and ends as a trace. While no goal is known,
//! walks wander. `shrinking` finds out what it took to reach a goal or a dead end. With a machine, `hypotheses` holds what the traces leave
//! open and probes it. `queries` takes over where the learner has no machine in time. `explorer` chooses, `walk` carries the choice out in a
//! world. Where labels may be wrong, a walk is repeated until there is `agreement`.

mod agreement;
mod explorer;
mod hypotheses;
mod queries;
mod shrinking;
mod walk;

use std::sync::Arc;

use anyhow::{Result, bail};
use form_core::{Atom, BoundMachine, Kind, Machine, Trace};
use form_env::{Random, Worlds};
use form_learn::learnable_atoms;
use form_rl::{LabelNoise, Navigator, ReachAvoidPolicy};

pub(crate) use self::explorer::ExplorationState;

use self::agreement::{Agreement, MOST_REPETITIONS};
use self::explorer::{EpisodePlan, Explorer};
use self::queries::{Queries, QueryState, Wanted};
use self::walk::{Walked, Walker};
use crate::config::{ExplorationChoice, ExplorationConfig, RunConfig};

/// After how many different dead ends without a goal queries begin.
const MANY_DEAD_ENDS: usize = 100;

/// The most objects that a walk visits where labels may be wrong: it is repeated.
const MOST_OBJECTS: usize = 24;

/// The exploration of a run, in a world of its own.
#[derive(Debug)]
pub(crate) struct Exploration<W> {
    config: ExplorationConfig,
    worlds: W,
    walker: Walker,
    vocabulary: Vec<Atom>,
    explorer: Explorer,
    /// All different traces so far, in order.
    traces: Vec<Trace>,
    state: ExplorationState,
    /// Queries, once the learner has had no machine in time.
    queries: Option<Queries>,
    /// The machine that the run goes on with.
    published: Machine,
    /// Whether labels may be wrong.
    repeats: bool,
}

/// The labels of an exploration.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Labels {
    /// Wrong ones that are made, for experiments.
    pub(crate) noise: Option<LabelNoise>,
    /// Whether they may be wrong, so that walks are repeated.
    pub(crate) repeats: bool,
}

impl<W: Worlds> Exploration<W> {
    /// Begins in this world, or resumes with the machine, the traces and the state of before.
    pub(crate) fn new(
        (config, labels): (&ExplorationConfig, Labels),
        policy: &Arc<ReachAvoidPolicy>,
        worlds: W,
        machine: (&Arc<BoundMachine>, bool),
        traces: Vec<Trace>,
        state: ExplorationState,
    ) -> Result<Self> {
        if worlds.label_map(0).is_none() || worlds.pose(0).is_none() {
            bail!(
                "the method reach-avoid needs a room that can say where its atoms are, and this world cannot: choose another method"
            );
        }
        let shared = worlds.shared_signature();
        if shared.is_some() && labels.repeats {
            bail!(
                "learning.tolerate with the method reach-avoid repeats walks from object to object, and the maps of this task have different objects: choose another method, or tolerate nothing"
            );
        }
        // Objects that some maps lack are not named.
        let named = shared.map(|shared| worlds.signature().restricted(shared));
        let vocabulary = learnable_atoms(named.as_ref().unwrap_or(worlds.signature()), true)?;
        let language = (vocabulary.as_slice(), worlds.signature());
        let queries = (state.queries.clone()).map(|state| Queries::new(state, &traces, language));
        let choice = choice(config, queries.as_ref());
        let mut exploration = Self {
            walker: Walker::new(Navigator::new(policy), labels.noise, labels.repeats),
            explorer: Explorer::new(choice, machine, &vocabulary, &traces, shared.is_some()),
            config: config.clone(),
            worlds,
            vocabulary,
            traces,
            state,
            queries,
            published: machine.0.machine().clone(),
            repeats: labels.repeats,
        };
        exploration.follow_queries()?;
        Ok(exploration)
    }

    /// All different traces so far, in order.
    pub(crate) fn traces(&self) -> &[Trace] {
        &self.traces
    }

    /// What is left of the learner's work.
    pub(crate) fn work_left(&self) -> u64 {
        self.config.work_limit.saturating_sub(self.state.work)
    }

    /// Counts work of the learner.
    pub(crate) fn count_work(&mut self, work: u64) {
        self.state.work += work;
    }

    /// Goes on without the learner, which has no machine in time: walks ask for one move after the other. Whether this is possible: walks are
    /// chosen for what they tell, and all maps have the same objects.
    pub(crate) fn begin_queries(&mut self) -> Result<bool> {
        // One word is one question only where all maps have the same objects.
        let varied = self.worlds.shared_signature().is_some();
        if self.config.choice != ExplorationChoice::Disagreement || varied {
            return Ok(false);
        }
        for number in 0..self.traces.len() {
            self.expect_no_conflict(number)?;
        }
        let language = (self.vocabulary.as_slice(), self.worlds.signature());
        let mut queries = Queries::new(QueryState::default(), &self.traces, language);
        queries.advance();
        self.queries = Some(queries);
        self.follow_queries()?;
        Ok(true)
    }

    /// Explores with what queries have found out so far.
    fn follow_queries(&mut self) -> Result<()> {
        let Some(queries) = &self.queries else {
            return Ok(());
        };
        let signature = self.worlds.signature();
        let machine = queries.machine(&self.vocabulary, signature)?;
        if machine != *self.explorer.machine().machine() {
            let accepts = (machine.edges().iter()).any(|edge| edge.to == machine.accept());
            let machine = Arc::new(machine.bind(signature)?);
            self.explore_beside((&machine, accepts));
        }
        Ok(())
    }

    fn knows_goal(&self) -> bool {
        self.traces.iter().any(|trace| trace.kind() == Kind::Goal)
    }

    /// The machine that queries have found, if it is another one than before.
    pub(crate) fn found_machine(&self) -> Result<Option<Machine>> {
        let settled = (self.queries.as_ref())
            .filter(|queries| queries.are_settled() && !self.state.shrinking.is_active());
        let Some(queries) = settled.filter(|_| self.knows_goal()) else {
            return Ok(None);
        };
        let machine = queries.machine(&self.vocabulary, self.worlds.signature())?;
        Ok(Some(machine).filter(|machine| *machine != self.published))
    }

    /// Goes on with a new machine; the flag tells whether it can accept.
    pub(crate) fn follow(&mut self, machine: (&Arc<BoundMachine>, bool)) {
        self.published = machine.0.machine().clone();
        self.explore_beside(machine);
    }

    fn explore_beside(&mut self, machine: (&Arc<BoundMachine>, bool)) {
        let choice = choice(&self.config, self.queries.as_ref());
        let varied = self.worlds.shared_signature().is_some();
        self.explorer = Explorer::new(choice, machine, &self.vocabulary, &self.traces, varied);
        self.state.attempts.clear();
    }

    /// What a checkpoint keeps.
    pub(crate) fn state(&self) -> ExplorationState {
        let mut state = self.state.clone();
        state.queries = self.queries.as_ref().map(|queries| queries.state().clone());
        state
    }

    /// Whether a walk is known that could refute the machine.
    pub(crate) fn has_open_questions(&self) -> bool {
        match &self.queries {
            Some(queries) => queries.are_open(),
            None => self.explorer.has_open_questions(&self.state),
        }
    }

    /// Walks until the machine is refuted, `go_on` says no, or the episodes of an iteration are over. `first` is the number of the
    /// first of them. A counterexample is that of the last walk, or what it was shrunk to.
    pub(crate) fn walks(
        &mut self,
        first: u64,
        random: &mut Random,
        go_on: impl Fn() -> bool,
    ) -> Result<Vec<Walked>> {
        let mut walks: Vec<Walked> = Vec::new();
        while walks.len() < self.config.episodes && go_on() {
            if self.queries.is_none() && self.is_lost() {
                self.begin_queries()?;
            }
            self.worlds.start(0, first + walks.len() as u64)?;
            let (state, traces, queries) = (&mut self.state, &self.traces, &mut self.queries);
            let repeats = self.repeats;
            let walked = self.walker.walk(
                &mut self.worlds,
                &mut self.explorer,
                random,
                |explorer, observations, random| {
                    let queries = queries.as_mut().filter(|_| !state.shrinking.is_active());
                    let wanted = queries.map(|queries| queries.walk(random));
                    let plan = match (wanted, explorer.can_accept()) {
                        (Some(Wanted::Exactly(word)), _) => EpisodePlan::query(word),
                        (Some(Wanted::Trial(word)), accepts) => EpisodePlan::trial(word, accepts),
                        (Some(Wanted::Varied), true) => EpisodePlan::varied(),
                        _ => explorer.plan(state, traces, observations, random),
                    };
                    match repeats {
                        true => plan.at_most(MOST_OBJECTS),
                        false => plan,
                    }
                },
            )?;
            walks.push(walked);
            let trace = match self.repeats {
                false => walks.last().map(|walked| walked.trace.clone()),
                true => self.agreed(&mut walks, first, random, &go_on)?,
            };
            let found = match trace {
                None => self.state.shrinking.in_vain(&self.traces),
                Some(trace) => {
                    let number = self.add(&trace);
                    if self.queries.is_some() {
                        self.expect_no_conflict(number)?;
                        match self.ask_further(&trace, number)? {
                            true => break,
                            false => continue,
                        }
                    }
                    self.counterexample(&trace, number)
                }
            };
            if let Some(found) = found.filter(|_| self.queries.is_none()) {
                if let Some(walked) = walks.last_mut() {
                    walked.episode.counterexample = Some(self.traces[found].clone());
                }
                break;
            }
        }
        Ok(walks)
    }

    /// The trace of the last walk that repetitions of it agree on, if they do. Without a goal, walks that nothing ended tell nothing.
    fn agreed(
        &mut self,
        walks: &mut Vec<Walked>,
        first: u64,
        random: &mut Random,
        go_on: impl Fn() -> bool,
    ) -> Result<Option<Trace>> {
        let Some(last) = walks.last() else {
            return Ok(None);
        };
        let tells = self.knows_goal() || last.trace.kind() != Kind::Incomplete;
        let objects = last.visited.clone();
        if !tells || objects.is_empty() {
            return Ok(None);
        }
        if let Some(known) = self.traces.iter().find(|known| known.steps() == objects) {
            return Ok(Some(known.clone()));
        }
        let mut agreement = Agreement::default();
        for _ in 0..MOST_REPETITIONS {
            if !go_on() {
                break;
            }
            self.worlds.start(0, first + walks.len() as u64)?;
            let plan = EpisodePlan::query(objects.clone());
            let (worlds, explorer) = (&mut self.worlds, &mut self.explorer);
            let walked = (self.walker).walk(worlds, explorer, random, |_, _, _| plan)?;
            agreement.add(&objects, &walked);
            walks.push(walked);
            let trace = agreement.trace();
            if trace.is_some() {
                return Ok(trace);
            }
        }
        Ok(None)
    }

    /// Takes a walk into account while queries are asked; whether there is a new machine.
    fn ask_further(&mut self, trace: &Trace, number: usize) -> Result<bool> {
        let first_goal = trace.kind() == Kind::Goal && !self.explorer.can_accept();
        if first_goal || self.state.shrinking.is_active() {
            self.counterexample(trace, number);
        }
        if let Some(queries) = &mut self.queries
            && !self.state.shrinking.is_active()
        {
            if queries.advance() {
                self.follow_queries()?;
            }
            return Ok(self.found_machine()?.is_some());
        }
        Ok(false)
    }

    /// Queries need one answer to one question, and would look for it for ever.
    fn expect_no_conflict(&self, number: usize) -> Result<()> {
        let trace = &self.traces[number];
        if self.traces.iter().any(|known| conflict(known, trace)) {
            bail!(
                "the labels of this world do not determine when the task is done: two walks have the same observations and end differently; with `learning.tolerate` walks are repeated"
            );
        }
        Ok(())
    }

    /// Whether many walks have come to dead ends and none to a goal.
    fn is_lost(&self) -> bool {
        let dead_ends = self.traces.iter().filter(|one| one.kind() == Kind::DeadEnd);
        !self.knows_goal() && dead_ends.count() >= MANY_DEAD_ENDS
    }

    /// The counterexample that a walk has brought, when nothing can be left out of it any more.
    fn counterexample(&mut self, trace: &Trace, number: usize) -> Option<usize> {
        // Without a goal no machine is learnt: dead ends are remembered, and the walks go on.
        let refutes = self.knows_goal() && trace.disagreement(self.explorer.machine()).is_some();
        let shrinking = &mut self.state.shrinking;
        match shrinking.is_active() {
            true => shrinking.add(&self.traces, number, refutes),
            false if refutes => {
                shrinking.begin(&self.traces, number);
                Some(number).filter(|_| !shrinking.is_active())
            }
            false => None,
        }
    }

    /// The number of a trace, which is kept if it is new.
    fn add(&mut self, trace: &Trace) -> usize {
        if let Some(known) = self.traces.iter().position(|known| known == trace) {
            return known;
        }
        self.explorer.add(trace);
        if let Some(queries) = &mut self.queries {
            queries.add(trace);
        }
        self.traces.push(trace.clone());
        self.traces.len() - 1
    }
}

/// Whether two walks observed the same and ended differently, or one goes on where the other was over.
fn conflict(one: &Trace, other: &Trace) -> bool {
    let (short, long) = match one.steps().len() <= other.steps().len() {
        true => (one, other),
        false => (other, one),
    };
    let ends = match short.steps().len() == long.steps().len() {
        true => short.kind() != long.kind(),
        false => short.kind() != Kind::Incomplete,
    };
    ends && long.steps().starts_with(short.steps())
}

/// How the next object is chosen: with queries, nothing else is probed.
fn choice(config: &ExplorationConfig, queries: Option<&Queries>) -> ExplorationChoice {
    match queries {
        Some(_) => ExplorationChoice::Counts,
        None => config.choice,
    }
}

/// The policy of a configuration whose method has one: that of the program.
pub(crate) fn reach_avoid_policy(config: &RunConfig) -> Option<Arc<ReachAvoidPolicy>> {
    let shield = config.exploration.as_ref()?.shield;
    Some(Arc::new(ReachAvoidPolicy::shipped().with_shield(shield)))
}

#[cfg(test)]
mod tests {
    use form_core::{AtomSet, Signature};

    use super::*;

    #[test]
    fn walks_that_end_differently_are_in_conflict() {
        let signature = Signature::parse(["a", "b"]).unwrap();
        let trace = |kind, names: &str| {
            let seen = |name: char| signature.observation([name.to_string()]).unwrap();
            Trace::new(kind, names.chars().map(seen).collect::<Vec<AtomSet>>())
        };
        let goal = trace(Kind::Goal, "ab");
        for (kind, names, expected) in [
            (Kind::Goal, "ab", false),
            (Kind::Incomplete, "ab", true),
            (Kind::DeadEnd, "ab", true),
            (Kind::Incomplete, "a", false),
            (Kind::DeadEnd, "a", true),
            (Kind::Incomplete, "aba", true),
            (Kind::Incomplete, "bab", false),
        ] {
            let other = trace(kind, names);
            assert_eq!(conflict(&goal, &other), expected, "{other:?}");
            assert_eq!(conflict(&other, &goal), expected, "{other:?}");
        }
    }
}
