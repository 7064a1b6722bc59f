//! Exploration from object to object: an unknown task is learnt from walks that are chosen for what they would tell.
//!
//! A walk visits objects one after the other, each reached by the reach-avoid policy, and ends as a trace. While no goal is known,
//! walks wander. `shrinking` finds out what it took to reach a goal or a dead end. With a machine, `hypotheses` holds what the traces leave
//! open and probes it. `explorer` chooses, `walk` carries the choice out in a world.

mod explorer;
mod hypotheses;
mod shrinking;
mod walk;

use std::sync::Arc;

use anyhow::{Result, bail};
use form_core::{Atom, BoundMachine, Kind, Trace};
use form_env::{Random, Worlds};
use form_learn::learnable_atoms;
use form_rl::{Navigator, ReachAvoidPolicy};

pub(crate) use self::explorer::ExplorationState;

use self::explorer::Explorer;
use self::walk::{Walked, Walker};
use crate::config::{ExplorationConfig, RunConfig};

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
}

impl<W: Worlds> Exploration<W> {
    /// Begins in this world, or resumes with the machine, the traces and the state of before.
    pub(crate) fn new(
        config: &ExplorationConfig,
        policy: Arc<ReachAvoidPolicy>,
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
        let vocabulary = learnable_atoms(worlds.signature(), true)?;
        Ok(Self {
            walker: Walker::new(Navigator::new(policy)),
            explorer: Explorer::new(config.choice, machine, &vocabulary, &traces),
            config: config.clone(),
            worlds,
            vocabulary,
            traces,
            state,
        })
    }

    /// Goes on with a new machine; the flag tells whether it can accept.
    pub(crate) fn follow(&mut self, machine: (&Arc<BoundMachine>, bool)) {
        let (choice, vocabulary) = (self.config.choice, &self.vocabulary);
        self.explorer = Explorer::new(choice, machine, vocabulary, &self.traces);
        self.state.attempts.clear();
    }

    /// What a checkpoint keeps.
    pub(crate) fn state(&self) -> &ExplorationState {
        &self.state
    }

    /// Whether a walk is known that could refute the machine.
    pub(crate) fn has_open_questions(&self) -> bool {
        self.explorer.has_open_questions(&self.state)
    }

    /// Walks until the machine is refuted, `go_on` says no, or the episodes of an iteration are over. `first` is the number of the
    /// first of them. A counterexample is that of the last walk, or what it was shrunk to.
    pub(crate) fn walks(
        &mut self,
        first: u64,
        random: &mut Random,
        go_on: impl Fn() -> bool,
    ) -> Result<Vec<Walked>> {
        let mut walks = Vec::new();
        for number in (first..).take(self.config.episodes) {
            if !go_on() {
                break;
            }
            self.worlds.start(0, number)?;
            let (state, traces) = (&mut self.state, &self.traces);
            let mut walked = self.walker.walk(
                &mut self.worlds,
                &mut self.explorer,
                random,
                |explorer, observations, random| explorer.plan(state, traces, observations, random),
            )?;
            let number = self.add(&walked.trace);
            let machine = self.explorer.machine();
            // Without a goal no machine is learnt: dead ends are remembered, and the walks go on.
            let learnable = self.traces.iter().any(|trace| trace.kind() == Kind::Goal);
            let refutes = learnable && walked.trace.disagreement(machine).is_some();
            let found = match self.state.shrinking.is_active() {
                true => (self.state.shrinking).add(&self.traces, number, refutes),
                false if refutes => {
                    self.state.shrinking.begin(&self.traces, number);
                    Some(number).filter(|_| !self.state.shrinking.is_active())
                }
                false => None,
            };
            walked.episode.counterexample = found.map(|number| self.traces[number].clone());
            walks.push(walked);
            if found.is_some() {
                break;
            }
        }
        Ok(walks)
    }

    /// The number of a trace, which is kept if it is new.
    fn add(&mut self, trace: &Trace) -> usize {
        if let Some(known) = self.traces.iter().position(|known| known == trace) {
            return known;
        }
        self.explorer.add(trace);
        self.traces.push(trace.clone());
        self.traces.len() - 1
    }
}

/// The policy of a configuration whose method has one: that of the program.
pub(crate) fn reach_avoid_policy(config: &RunConfig) -> Option<Arc<ReachAvoidPolicy>> {
    let shield = config.exploration.as_ref()?.shield;
    Some(Arc::new(ReachAvoidPolicy::shipped().with_shield(shield)))
}
