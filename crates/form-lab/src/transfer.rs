//! Transfer of a machine and its policies to another task (section 4.2 and Appendix F of the paper).
//!
//! The machine is first-order, so it can be bound to the signature of the other task. The weights of policies are transferred; where a
//! state has other indicators, the weights of atoms that both tasks have are kept, and the others are fresh. Then all policies are
//! trained further, or only those whose sub-task has changed, or none (zero-shot).

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, bail};
use form_core::{BoundMachine, StateId};
use form_rl::{AgentAssignment, AssignmentMode, Checkpoint, Inheritance, WeightOrigin};

use crate::atomic_files::{read_bytes, write_atomically};
use crate::config::{Method, Retrain, RunConfig, TransferConfig};
use crate::env_factory::EnvFactory;
use crate::run::{RunFolder, SavedRun, Session, read_checkpoint};
use crate::train::{Trainer, column_maps};

/// The copy of the source checkpoint in the folder of the new run.
const ORIGIN: &str = "origin.safetensors";

/// The transfer of one policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyTransfer {
    /// The name of its state.
    pub name: String,
    /// Whether the state waits for other atoms than before, or there is no machine that tells.
    pub changed: bool,
    /// Whether it is trained further.
    pub retrained: bool,
    /// Why, or why not.
    pub reason: String,
    /// The origin of the weights, per tensor.
    pub tensors: Vec<Inheritance>,
}

impl PolicyTransfer {
    /// How many tensors were loaded, adapted and left fresh.
    pub fn counts(&self) -> [usize; 3] {
        let mut counts = [0; 3];
        for tensor in &self.tensors {
            match tensor.origin {
                WeightOrigin::Loaded => counts[0] += 1,
                WeightOrigin::Adapted { .. } => counts[1] += 1,
                WeightOrigin::Fresh { .. } => counts[2] += 1,
                WeightOrigin::Unused => {}
            }
        }
        counts
    }

    /// The first tensor with fresh weights.
    fn untrained(&self) -> Option<&str> {
        let fresh = |tensor: &&Inheritance| match tensor.origin {
            WeightOrigin::Fresh { .. } => true,
            WeightOrigin::Adapted { fresh, .. } => fresh > 0,
            WeightOrigin::Loaded | WeightOrigin::Unused => false,
        };
        let tensor = self.tensors.iter().find(fresh);
        tensor.map(|tensor| tensor.tensor.as_str())
    }
}

/// The configuration of a run in another task, with the machine of a checkpoint.
fn transferred(source: &RunConfig, checkpoint: &Checkpoint, task: &str) -> RunConfig {
    RunConfig {
        task: task.to_owned(),
        machine: (checkpoint.mode != AssignmentMode::Unaided)
            .then(|| checkpoint.machine.to_string()),
        transfer: None,
        ..source.clone()
    }
}

/// The configuration of a run in another task, with the machine and the policies of a saved run: see [`begin_transfer`].
pub fn transfer_config(source: &SavedRun, task: &str, retrain: Retrain) -> Result<RunConfig> {
    if source.config.method == Method::ReachAvoid && retrain != Retrain::None {
        bail!(
            "a run of the method reach-avoid has no policies to train further: use --retrain none, or learn the machine of {task} with `form train {task} --method reach-avoid`"
        );
    }
    let file = source.file();
    Ok(RunConfig {
        transfer: Some(TransferConfig {
            from: source.task_name()?,
            checkpoint: (file.to_str().map(str::to_owned))
                .with_context(|| format!("{}: not a path of letters", file.display()))?,
            retrain,
        }),
        ..transferred(&source.config, &source.checkpoint, task)
    })
}

/// Begins a run in a new folder with the policies that its configuration names: see [`transfer_config`]. The folder keeps a copy of
/// their checkpoint, so that its configuration determines the run.
pub fn begin_transfer<A: EnvFactory>(
    mut config: RunConfig,
    source: Option<&SavedRun>,
    envs: A,
    path: &Path,
    interrupt: Arc<AtomicBool>,
) -> Result<(Session<A>, Vec<PolicyTransfer>)> {
    let transfer = config.transfer.as_mut();
    let transfer = transfer.context("the configuration names no policies to start from")?;
    let retrain = transfer.retrain.clone();
    let file = std::mem::replace(&mut transfer.checkpoint, ORIGIN.to_owned());
    let read;
    let (checkpoint, bytes) = match source {
        // The source may be training and replace its file.
        Some(source) => (&source.checkpoint, source.bytes()),
        None => {
            read = read_checkpoint(Path::new(&file))?;
            (&read.0, read.1.as_slice())
        }
    };
    let mut report = Vec::new();
    let prepare = |trainer: &mut Trainer<A>| {
        report = inherit(trainer, checkpoint, &retrain)?;
        if retrain != Retrain::None && report.iter().all(|policy| !policy.retrained) {
            bail!(
                "no policy would be trained further: no state waits for other atoms than before; name states with --policies, or use --retrain full or --retrain none"
            );
        }
        Ok(())
    };
    let keep = |folder: &RunFolder| {
        let origin = folder.path().join(ORIGIN);
        if origin.exists() && !read_bytes(&origin).is_ok_and(|found| found == bytes) {
            bail!(
                "{} is the checkpoint of another run: name another folder with --out",
                origin.display()
            );
        }
        write_atomically(&origin, bytes)
    };
    let session = Session::begin_with(config, envs, path, interrupt, prepare, keep)?;
    Ok((session, report))
}

/// Loads the policies of a checkpoint into a new run.
pub fn inherit<A: EnvFactory>(
    trainer: &mut Trainer<A>,
    checkpoint: &Checkpoint,
    retrain: &Retrain,
) -> Result<Vec<PolicyTransfer>> {
    let assignment = trainer.game().assignment().clone();
    if assignment.mode() != checkpoint.mode {
        bail!(
            "the method {} assigns policies to states differently from the run that they come from: use the method of that run",
            trainer.config().method
        );
    }
    if let Retrain::Named(names) = retrain {
        let roles = || assignment.roles().iter().map(|role| role.name.as_str());
        if let Some(unknown) = names.iter().find(|name| !roles().any(|role| role == *name)) {
            let known: Vec<&str> = roles().collect();
            bail!(
                "unknown policy `{unknown}`; known policies: {}",
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
        let mut policy = PolicyTransfer {
            name: agent.name().to_owned(),
            changed: false,
            retrained: false,
            reason: String::new(),
            tensors: Vec::new(),
        };
        let mut old = checkpoint.policies.iter();
        if let Some(old) = old.find(|old| old.name == policy.name) {
            let maps = column_maps(&assignment, place, &old.indicators, &states_before);
            policy.tensors = agent.inherit(&old.network, &maps);
        }
        let difference = difference(&assignment, place, &before);
        policy.changed = difference.is_some();
        (policy.retrained, policy.reason) = decide(&policy, difference, retrain);
        agent.freeze(!policy.retrained);
        report.push(policy);
    }
    Ok(report)
}

/// Whether a policy is trained further, and why.
fn decide(
    policy: &PolicyTransfer,
    difference: Option<String>,
    retrain: &Retrain,
) -> (bool, String) {
    let missing = policy.tensors.is_empty();
    let (retrained, reason) = match retrain {
        Retrain::None => (false, "zero-shot".to_owned()),
        // Only if the run has another machine than the checkpoint.
        _ if missing => (true, "the source run has no such policy".to_owned()),
        Retrain::Full => (true, "all policies are".to_owned()),
        Retrain::Named(names) => match names.contains(&policy.name) {
            true => (true, "named".to_owned()),
            false => (false, "not named".to_owned()),
        },
        Retrain::Changed => match (difference, policy.untrained()) {
            (Some(difference), _) => (true, difference),
            (None, Some(tensor)) => (true, format!("some weights are fresh: {tensor}")),
            (None, None) => (false, "it waits for the same atoms as before".to_owned()),
        },
    };
    (retrained, reason)
}

/// How the atoms that the states of a role wait for differ from before, if they do.
fn difference(assignment: &AgentAssignment, place: usize, before: &BoundMachine) -> Option<String> {
    if assignment.mode() == AssignmentMode::Unaided {
        return Some("without a machine, nothing tells what has changed".to_owned());
    }
    let waits = |machine: &BoundMachine, state: StateId| -> Vec<String> {
        let atoms = machine.progress_atoms(state).iter();
        atoms
            .map(|atom| machine.signature().atom(atom).to_string())
            .collect()
    };
    let now = assignment.bound_machine();
    let (mut new, mut gone) = (Vec::new(), Vec::new());
    let states = now.machine().state_ids();
    for state in states.filter(|state| assignment.agent(*state) == Some(place)) {
        let name = now.machine().state_name(state);
        let mut states_before = before.machine().state_ids();
        let old = states_before.find(|old| before.machine().state_name(*old) == name);
        let old = old.map_or_else(Vec::new, |old| waits(before, old));
        let now = waits(now, state);
        new.extend(now.iter().filter(|atom| !old.contains(atom)).cloned());
        gone.extend(old.iter().filter(|atom| !now.contains(atom)).cloned());
    }
    let said: Vec<String> = [("new", new), ("gone", gone)]
        .into_iter()
        .filter(|(_, atoms)| !atoms.is_empty())
        .map(|(what, atoms)| format!("{what}: {}", atoms.join(", ")))
        .collect();
    (!said.is_empty()).then(|| format!("it waits for other atoms ({})", said.join("; ")))
}
