//! An environment whose labels are scripted by the actions: every action makes one atom true, or none. A machine ends its
//! episodes. Observations are the numbers of the episode and the step, which identify them.

use form_core::{AtomSet, BoundMachine, Machine, Run, Signature};
use form_env::{Environment, EpisodeOutcome, Feature, Result, Spec};
use rand::{Rng, RngExt};

const ATOMS: [&str; 4] = ["a", "b", "p(x)", "p(y)"];

pub(super) fn signature() -> Signature {
    Signature::parse(ATOMS).unwrap()
}

#[derive(Clone, Debug)]
pub(super) struct ScriptedEnv {
    signature: Signature,
    spec: Spec,
    actions: Vec<String>,
    truth: BoundMachine,
    limit: usize,
    /// The episode's number.
    id: u32,
    steps: usize,
    run: Run,
    last: AtomSet,
    labels: AtomSet,
    outcome: EpisodeOutcome,
}

impl ScriptedEnv {
    pub(super) fn new(truth: &str, limit: usize) -> Self {
        let truth: Machine = truth.parse().unwrap();
        let truth = truth.bind(&signature()).unwrap();
        let feature = |name: &str| Feature {
            name: name.to_owned(),
            low: 0.0,
            high: 1e9,
        };
        Self {
            signature: signature(),
            spec: Spec {
                planes: None,
                vector: vec![feature("episode"), feature("step")],
            },
            actions: ["nothing"]
                .iter()
                .chain(&ATOMS)
                .map(|name| (*name).to_owned())
                .collect(),
            run: Run::new(&truth),
            truth,
            limit,
            id: 0,
            steps: 0,
            last: AtomSet::new(),
            labels: AtomSet::new(),
            outcome: EpisodeOutcome::Running,
        }
    }

    /// The labels of an action; the first has none.
    fn observation(&self, action: usize) -> AtomSet {
        let atoms = ATOMS.get(action.wrapping_sub(1));
        self.signature.observation(atoms).unwrap()
    }

    fn observe_labels(&mut self, labels: AtomSet) -> EpisodeOutcome {
        if labels != self.last && !labels.is_empty() {
            self.run.step(&self.truth, &labels);
            self.last.clone_from(&labels);
        }
        self.labels = labels;
        let (machine, state) = (self.truth.machine(), self.run.state());
        match () {
            () if state == machine.accept() => EpisodeOutcome::Goal,
            () if machine.is_terminal(state) => EpisodeOutcome::DeadEnd,
            () if self.steps == self.limit => EpisodeOutcome::OutOfTime,
            () => EpisodeOutcome::Running,
        }
    }
}

impl Environment for ScriptedEnv {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn actions(&self) -> &[String] {
        &self.actions
    }

    /// No episode is over before it begins.
    fn reset(&mut self, random: &mut dyn Rng) -> Result<()> {
        self.id = random.random_range(0..1 << 23);
        self.steps = 0;
        let first = random.random_range(0..self.actions.len());
        for action in [first, 0] {
            self.run.reset(&self.truth);
            self.last.clear();
            self.outcome = self.observe_labels(self.observation(action));
            if !self.outcome.is_over() {
                break;
            }
        }
        Ok(())
    }

    fn step(&mut self, action: usize) -> Result<EpisodeOutcome> {
        if self.outcome.is_over() {
            self.labels.clear();
        } else {
            self.steps += 1;
            self.outcome = self.observe_labels(self.observation(action));
        }
        Ok(self.outcome)
    }

    fn labels(&self) -> &AtomSet {
        &self.labels
    }

    fn observe(&self, _planes: &mut [u8], vector: &mut [f32]) {
        vector.copy_from_slice(&[self.id as f32, self.steps as f32]);
    }
}
