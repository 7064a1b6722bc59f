//! Taking a machine and its policies to another task (section 4.2 and Appendix F of the paper).
//!
//! The machine is lifted: bound to the other task's signature it is the same machine. Policies are taken over weight by weight;
//! where a state has other indicators, those of the atoms that both tasks have are kept and the others are fresh. Then all
//! policies are trained further, or only those whose sub-task has changed, or none: zero-shot.

use anyhow::{Result, bail};
use form_core::{BoundMachine, StateId};
use form_rl::{Cast, Checkpoint, Fate, Inheritance, Roles};
use serde::{Deserialize, Serialize};

use crate::arena::Arena;
use crate::config::RunConfig;
use crate::staff::{columns, indicators, states};
use crate::train::Trainer;

/// Which policies are trained further.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Retrain {
    /// None of them: they are used as they are.
    None,
    /// Those of the states whose `forall`s range over other atoms now.
    Changed,
    /// Those of these states.
    Named(Vec<String>),
    /// All.
    Full,
}

/// What became of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyTransfer {
    /// The name of its state, or of its part.
    pub name: String,
    /// Whether the state waits for other atoms than it did.
    pub changed: bool,
    /// Whether it is trained further.
    pub retrained: bool,
    /// Tensor by tensor, what was taken over.
    pub tensors: Vec<Inheritance>,
}

impl PolicyTransfer {
    /// How many tensors were loaded, adapted and left fresh.
    pub fn counts(&self) -> [usize; 3] {
        let mut counts = [0; 3];
        for tensor in &self.tensors {
            match tensor.fate {
                Fate::Loaded => counts[0] += 1,
                Fate::Adapted { .. } => counts[1] += 1,
                Fate::Fresh { .. } => counts[2] += 1,
                Fate::Unused => {}
            }
        }
        counts
    }
}

/// The configuration of a run that starts from another one, in another task.
pub fn transferred(source: &RunConfig, checkpoint: &Checkpoint, task: &str) -> RunConfig {
    let mut config = source.clone();
    config.task = task.to_owned();
    config.machine = (checkpoint.roles != Roles::Unaided).then(|| checkpoint.machine.to_string());
    config
}

/// Gives the policies of a checkpoint to a run that has just begun.
pub fn inherit<A: Arena>(
    trainer: &mut Trainer<A>,
    checkpoint: &Checkpoint,
    retrain: &Retrain,
) -> Result<Vec<PolicyTransfer>> {
    let cast = trainer.game().cast().clone();
    if let Retrain::Named(names) = retrain {
        let parts = || cast.parts().iter().map(|part| part.name.as_str());
        if let Some(unknown) = names.iter().find(|name| !parts().any(|part| part == *name)) {
            let known: Vec<&str> = parts().collect();
            bail!(
                "there is no policy `{unknown}`; there are: {}",
                known.join(", ")
            );
        }
    }
    let before = checkpoint.machine.bind(&checkpoint.signature)?;
    let states_before: Vec<String> = (checkpoint.machine.states().iter())
        .map(ToString::to_string)
        .collect();
    let mut report = Vec::new();
    for (place, agent) in trainer.agents_mut().iter_mut().enumerate() {
        let name = agent.name().to_owned();
        let Some(policy) = checkpoint
            .policies
            .iter()
            .find(|policy| policy.name == name)
        else {
            continue;
        };
        let maps = [
            (
                "indicators",
                columns(&indicators(&cast, place), &policy.indicators),
            ),
            ("machine", columns(&states(&cast), &states_before)),
        ];
        let tensors = agent.inherit(&policy.network, &maps);
        let changed = is_changed(&cast, place, &before);
        let retrained = match retrain {
            Retrain::None => false,
            Retrain::Changed => changed,
            Retrain::Named(names) => names.contains(&name),
            Retrain::Full => true,
        };
        agent.freeze(!retrained);
        report.push(PolicyTransfer {
            name,
            changed,
            retrained,
            tensors,
        });
    }
    Ok(report)
}

/// Whether the states of a part wait for other atoms than they did.
fn is_changed(cast: &Cast, place: usize, before: &BoundMachine) -> bool {
    let waits = |machine: &BoundMachine, state: StateId| -> Vec<String> {
        let atoms = machine.progress_atoms(state).iter();
        atoms
            .map(|atom| machine.signature().atom(atom).to_string())
            .collect()
    };
    let now = cast.machine();
    let states = now.machine().state_ids();
    states
        .filter(|state| cast.agent(*state) == Some(place))
        .any(|state| waits(now, state) != waits(before, state))
}
