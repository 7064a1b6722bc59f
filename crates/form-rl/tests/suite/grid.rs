//! Games on the paper's grid, with networks small enough for tests.

use std::sync::Arc;

use form_env::{Actions, GridWorlds, Maps, Split, Starts, Task, View, WorldOptions, Worlds};
use form_rl::{
    AgentAssignment, Architecture, AssignmentMode, Credit, EndPotential, Game, GameConfig,
    PpoConfig, ProgressEncoding,
};

pub fn worlds(view: View, count: usize) -> GridWorlds {
    let task = Arc::new(Task::builtin("all-yellow").unwrap());
    let maps = Maps::Set(task.maps(7, Split::Training, 2).unwrap());
    let options = WorldOptions {
        view,
        actions: Actions::Moves,
        starts: Starts::Anywhere,
    };
    GridWorlds::new(task, maps, options, count, 7).unwrap()
}

/// Who plays, and how.
#[derive(Clone)]
pub struct Players {
    pub roles: AssignmentMode,
    pub credit: Credit,
    pub progress: ProgressEncoding,
    /// Units of memory.
    pub memory: usize,
}

pub fn training() -> PpoConfig {
    PpoConfig {
        minibatch: 128,
        epochs: 2,
        ..PpoConfig::default()
    }
}

impl Players {
    pub fn game(&self, worlds: GridWorlds) -> Game<GridWorlds> {
        let machine = worlds.task().truth().clone();
        let assignment = AgentAssignment::new(machine, self.roles, self.progress, worlds.spec());
        let config = GameConfig {
            credit: self.credit,
            shaping: true,
            gamma: 0.99,
            end: EndPotential::Zero,
        };
        Game::new(worlds, assignment, config, 2 * self.memory).unwrap()
    }

    pub fn architecture(&self) -> Architecture {
        Architecture {
            filters: vec![3, 3],
            vector_units: 4,
            hidden: vec![8],
            memory: self.memory,
            sequence: 4,
            normalise: true,
            ..Architecture::default()
        }
    }
}
