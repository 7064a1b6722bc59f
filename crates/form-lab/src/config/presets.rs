//! The values of the presets `paper` and `fast`.

use form_rl::{
    Activation, Architecture, AssignmentMode, Credit, EndPotential, Initial, PpoConfig,
    ProgressEncoding,
};

use super::{
    ActionsName, EvaluationConfig, ExplorationConfig, LearningConfig, Method, Preset, RunConfig,
    StartsName, StopConfig, ViewName,
};

impl RunConfig {
    /// The configuration of a preset for a task and a method.
    pub fn new(task: &str, method: Method, preset: Preset) -> Self {
        let config = match preset {
            Preset::Paper => Self::paper(task, method),
            Preset::Fast => Self::fast(task, method),
        };
        match method {
            Method::ReachAvoid => config.for_exploration(),
            _ => config,
        }
    }

    /// One episode after the other, each from object to object. Walks are short, so evaluations may take more steps than they do.
    fn for_exploration(self) -> Self {
        Self {
            worlds: 1,
            actions: ActionsName::Moves,
            evaluation: EvaluationConfig {
                share: 20.0,
                ..self.evaluation
            },
            stop: StopConfig {
                success: 0.99,
                episodes: 500,
                patience: 1,
                crossing: 1.0,
                fall: 0.0,
            },
            iterations: 2000,
            ..self
        }
    }

    fn paper(task: &str, method: Method) -> Self {
        let per_state = method.assignment_mode() == AssignmentMode::PerState;
        let aided = method.assignment_mode() != AssignmentMode::Unaided;
        Self {
            task: task.to_owned(),
            method,
            preset: Preset::Paper,
            seed: 1,
            iterations: 300,
            layouts: 10,
            worlds: 64,
            // The paper says neither; with MiniGrid's numbers and seven actions hardly anything is learnt, see book/src/experiments.md.
            view: ViewName::Planes,
            actions: ActionsName::Moves,
            starts: StartsName::Anywhere,
            progress: ProgressEncoding::Bits,
            credit: Credit::Shared,
            shaping: aided,
            // Shares of the reward reach agents that no longer act, undiscounted: a cost of every step would add up there.
            shaping_discount: aided.then_some(1.0),
            // Where a dead end costs the potential of the state before, agents learn to stand still on tasks with lava.
            shaping_end: match aided {
                true => EndPotential::Distance,
                false => EndPotential::Zero,
            },
            least_samples: 1024,
            label_noise: 0.0,
            machine: None,
            evaluation: EvaluationConfig::default(),
            stop: StopConfig {
                success: 2.0,
                episodes: 100,
                patience: 1,
                crossing: 0.7,
                // The paper's 0.1 takes dips on the way for the end.
                fall: 0.0,
            },
            learning: LearningConfig {
                time_limit: 3600,
                ..LearningConfig::of(method)
            },
            exploration: (method == Method::ReachAvoid).then(ExplorationConfig::default),
            ppo: match per_state {
                true => PpoConfig::default(),
                false => PpoConfig::single_policy(),
            },
            network: Architecture {
                normalise: true,
                memory: memory(method),
                ..Architecture::default()
            },
            transfer: None,
        }
    }

    fn fast(task: &str, method: Method) -> Self {
        let unaided = method.assignment_mode() == AssignmentMode::Unaided;
        let recurrent = method == Method::RecurrentPpo;
        let ppo = PpoConfig {
            gamma: 0.98,
            learning_rate: 1e-3,
            train_batch: 4096,
            minibatch: 256,
            epochs: 3,
            clip: 0.2,
            value_clip: 10.0,
            gradient_clip: 0.5,
            kl_coefficient: 0.0,
            ..PpoConfig::default()
        };
        let network = match unaided {
            true => Architecture::default(),
            false => Architecture {
                filters: vec![32, 32],
                hidden: vec![128],
                ..Architecture::default()
            },
        };
        Self {
            preset: Preset::Fast,
            iterations: 2000,
            // Methods without a machine have settings of their own, see book/src/experiments.md.
            view: if unaided {
                ViewName::Planes
            } else {
                ViewName::Egocentric
            },
            actions: ActionsName::Moves,
            progress: ProgressEncoding::Plane,
            credit: Credit::HandOver,
            shaping_discount: None,
            shaping_end: EndPotential::Zero,
            least_samples: 512,
            stop: StopConfig {
                success: 0.99,
                episodes: 500,
                patience: 3,
                crossing: 1.0,
                fall: 0.0,
            },
            learning: LearningConfig::of(method),
            // Without a machine the only reward comes at the end of an episode, hundreds of steps away: long rollouts, no bootstrapping.
            ppo: match unaided {
                true => PpoConfig {
                    gamma: 0.998,
                    lambda: 1.0,
                    train_batch: 65_536,
                    minibatch: 256,
                    epochs: 4,
                    ..ppo
                },
                false => ppo,
            },
            network: Architecture {
                activation: Activation::Relu,
                initial: Initial::Orthogonal,
                memory: if recurrent { 64 } else { 0 },
                sequence: if recurrent { 64 } else { 32 },
                ..network
            },
            ..Self::paper(task, method)
        }
    }
}

fn memory(method: Method) -> usize {
    match method {
        Method::RecurrentPpo => 256,
        _ => 0,
    }
}

impl LearningConfig {
    /// Without quantifiers, a choice among objects takes several edges: as in the paper, propositional machines may have two
    /// between two states.
    fn of(method: Method) -> Self {
        Self {
            max_disjuncts: match method {
                Method::Propositional => 2,
                _ => 1,
            },
            ..Self::default()
        }
    }
}
