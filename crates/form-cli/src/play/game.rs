//! A game: a world, the machine that monitors it, and the trace so far.

use std::sync::Arc;

use anyhow::Result;
use form_core::{BoundMachine, Machine, Monitor, Recorder, Signature, Step};
use form_env::{Action, Environment, GridWorld};

/// A game in progress.
pub struct Game {
    world: GridWorld,
    map: u64,
    machine: Arc<BoundMachine>,
    monitor: Monitor,
    recorder: Recorder,
    reward: f64,
}

impl Game {
    /// A game at the start of an episode on map number `map`.
    pub fn new(world: GridWorld, machine: BoundMachine, map: u64) -> Self {
        let machine = Arc::new(machine);
        let monitor = Monitor::new(&machine);
        let mut game = Self {
            world: world.clone(),
            map,
            machine,
            monitor,
            recorder: Recorder::default(),
            reward: 0.0,
        };
        game.begin(world, map);
        game
    }

    /// Starts an episode.
    pub fn begin(&mut self, world: GridWorld, map: u64) {
        self.machine = world.task().bound_on(&self.machine, world.map());
        self.world = world;
        self.map = map;
        self.monitor.reset(&self.machine);
        self.recorder = Recorder::with_mode(self.machine.machine().step_mode());
        self.reward = 0.0;
        self.observe();
    }

    /// Takes an action.
    pub fn act(&mut self, action: Action) -> Result<()> {
        self.world.step(action as usize)?;
        self.observe();
        Ok(())
    }

    fn observe(&mut self) {
        let labels = self.world.labels();
        self.recorder.observe(labels);
        let Step { reward, .. } = self.monitor.observe(&self.machine, labels);
        self.reward += reward;
    }

    pub fn world(&self) -> &GridWorld {
        &self.world
    }

    pub fn map(&self) -> u64 {
        self.map
    }

    pub fn machine(&self) -> &Machine {
        self.machine.machine()
    }

    /// The atoms that it observes.
    pub fn signature(&self) -> &Signature {
        self.machine.signature()
    }

    pub fn monitor(&self) -> &Monitor {
        &self.monitor
    }

    /// The rewards of the machine so far.
    pub fn reward(&self) -> f64 {
        self.reward
    }

    /// The trace so far.
    pub fn trace(&self) -> &Recorder {
        &self.recorder
    }
}
