//! The checker passes every world of ours and catches every sort of broken environment.

use std::sync::Arc;

use form_core::{AtomId, AtomSet, Signature};
use form_env::{
    Actions, Cell, Channel, CheckOptions, Environment, EpisodeOutcome, Error, Feature, GridWorld,
    Maps, Planes, Result, Spec, Split, View, WorldOptions, builtin_tasks, check_environment,
};
use rand::{Rng, RngExt};

const FEW: CheckOptions = CheckOptions {
    episodes: 3,
    steps: 200,
    seed: 1,
};

#[test]
fn the_grid_worlds_keep_their_promises() {
    for task in builtin_tasks().into_iter().map(Arc::new) {
        for view in View::ALL {
            for actions in [Actions::All, Actions::Moves] {
                for maps in [
                    Maps::Set(task.maps(3, Split::Training, 2).unwrap()),
                    Maps::Fresh(Split::HeldOut),
                ] {
                    let options = WorldOptions {
                        view,
                        actions,
                        ..WorldOptions::default()
                    };
                    let mut world = GridWorld::new(task.clone(), maps, options).unwrap();
                    let violations = check_environment(&mut world, &FEW);
                    assert_eq!(violations, [], "{} {options:?}", task.name());
                }
            }
        }
    }
}

/// What a mistaken environment does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mistake {
    None,
    NoObservation,
    NoCells,
    BoundsUpsideDown,
    NoActions,
    ActionTwice,
    NoAtoms,
    LabelOutsideSignature,
    ChannelOutOfRange,
    FeatureOutOfRange,
    NotANumber,
    NotWritten,
    CellOutside,
    UnknownActionTaken,
    UnknownActionDoesSomething,
    ResetFails,
    StepFails,
    RemembersLastEpisode,
    LabelsAfterTheEnd,
    GoesOnAfterTheEnd,
}

/// A corridor of five cells, with the goal at its end.
struct Corridor {
    mistake: Mistake,
    signature: Signature,
    /// Larger than the signature, for labels outside it.
    atoms: Vec<AtomId>,
    spec: Spec,
    actions: Vec<String>,
    at: usize,
    steps: usize,
    resets: usize,
    labels: AtomSet,
}

impl Corridor {
    fn new(mistake: Mistake) -> Self {
        let is = |which| mistake == which;
        let feature = |low, high| Feature {
            name: "place".to_owned(),
            low,
            high,
        };
        let planes = Planes {
            width: if is(Mistake::NoCells) { 0 } else { 5 },
            height: 1,
            channels: vec![Channel {
                name: "agent".to_owned(),
                max: 1,
            }],
        };
        let spec = match mistake {
            Mistake::NoObservation => Spec::default(),
            _ => Spec {
                planes: Some(planes),
                vector: vec![if is(Mistake::BoundsUpsideDown) {
                    feature(4.0, 0.0)
                } else {
                    feature(0.0, 4.0)
                }],
            },
        };
        let names: &[&str] = match mistake {
            Mistake::NoActions => &[],
            Mistake::ActionTwice => &["back", "ahead", "back"],
            _ => &["back", "ahead"],
        };
        let large = Signature::parse(["goal", "zebra"]).unwrap();
        Self {
            mistake,
            signature: if is(Mistake::NoAtoms) {
                Signature::default()
            } else {
                Signature::parse(["goal"]).unwrap()
            },
            atoms: large.ids().collect(),
            spec,
            actions: names.iter().map(|name| (*name).to_owned()).collect(),
            at: 0,
            steps: 0,
            resets: 0,
            labels: AtomSet::new(),
        }
    }

    fn is(&self, mistake: Mistake) -> bool {
        self.mistake == mistake
    }
}

impl Environment for Corridor {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn actions(&self) -> &[String] {
        &self.actions
    }

    fn reset(&mut self, random: &mut dyn Rng) -> Result<()> {
        if self.is(Mistake::ResetFails) {
            return Err(Error::Environment("no power".into()));
        }
        self.resets += 1;
        self.at = random.random_range(0..2);
        if self.is(Mistake::RemembersLastEpisode) {
            self.at = self.resets % 3;
        }
        self.steps = 0;
        self.labels = AtomSet::new();
        Ok(())
    }

    fn step(&mut self, action: usize) -> Result<EpisodeOutcome> {
        if action >= self.actions.len() {
            if self.is(Mistake::UnknownActionTaken) {
                return Ok(EpisodeOutcome::Running);
            }
            if self.is(Mistake::UnknownActionDoesSomething) {
                self.at = 3;
            }
            let actions = self.actions.len();
            return Err(Error::NoSuchAction { action, actions });
        }
        if self.is(Mistake::StepFails) {
            return Err(Error::Environment("no power".into()));
        }
        let over = self.at == 4;
        if over && !self.is(Mistake::GoesOnAfterTheEnd) {
            self.labels = AtomSet::new();
            if self.is(Mistake::LabelsAfterTheEnd) {
                self.labels.insert(self.atoms[0]);
            }
            return Ok(EpisodeOutcome::Goal);
        }
        self.at = if action == 1 {
            (self.at + 1).min(4)
        } else {
            self.at.saturating_sub(1)
        };
        self.labels = AtomSet::new();
        if self.at == 4 && !over {
            self.labels.insert(self.atoms[0]);
        }
        if self.is(Mistake::LabelOutsideSignature) {
            self.labels.insert(self.atoms[1]);
        }
        Ok(if self.at == 4 {
            EpisodeOutcome::Goal
        } else {
            EpisodeOutcome::Running
        })
    }

    fn labels(&self) -> &AtomSet {
        &self.labels
    }

    fn observe(&self, planes: &mut [u8], vector: &mut [f32]) {
        let unwritten = usize::from(self.is(Mistake::NotWritten));
        planes[unwritten..].fill(0);
        planes[self.at] = if self.is(Mistake::ChannelOutOfRange) {
            2
        } else {
            1
        };
        vector[0] = match self.mistake {
            Mistake::FeatureOutOfRange => 5.0,
            Mistake::NotANumber => f32::NAN,
            _ => self.at as f32,
        };
    }

    fn cell_of(&self, _: AtomId) -> Option<Cell> {
        Some(Cell {
            x: if self.is(Mistake::CellOutside) { 5 } else { 4 },
            y: 0,
        })
    }
}

/// What the checker says first, without the place.
fn complaint(mistake: Mistake) -> Option<String> {
    let violations = check_environment(&mut Corridor::new(mistake), &FEW);
    violations
        .first()
        .map(|violation| violation.problem.clone())
}

#[test]
fn every_mistake_is_noticed() {
    assert_eq!(complaint(Mistake::None), None);
    let cases = [
        (Mistake::NoObservation, "neither planes nor a vector"),
        (Mistake::NoCells, "no cells or no channels"),
        (
            Mistake::BoundsUpsideDown,
            "feature `place` goes from 4 to 0",
        ),
        (Mistake::NoActions, "no actions"),
        (Mistake::ActionTwice, "two actions are called `back`"),
        (Mistake::NoAtoms, "the signature has no atom"),
        (
            Mistake::LabelOutsideSignature,
            "label 1 is not in the signature of 1 atoms",
        ),
        (
            Mistake::ChannelOutOfRange,
            "channel `agent` has a 2, its largest value is 1",
        ),
        (
            Mistake::FeatureOutOfRange,
            "feature `place` is 5, not between 0 and 4",
        ),
        (
            Mistake::NotANumber,
            "two observations of the same state differ",
        ),
        (
            Mistake::NotWritten,
            "two observations of the same state differ",
        ),
        (
            Mistake::CellOutside,
            "`goal` is at (5, 0), outside the grid",
        ),
        (
            Mistake::UnknownActionTaken,
            "action 2 does not exist but was taken",
        ),
        (
            Mistake::UnknownActionDoesSomething,
            "action 2 does not exist but did something",
        ),
        (
            Mistake::ResetFails,
            "reset failed: the environment failed: no power",
        ),
        (
            Mistake::StepFails,
            "failed: the environment failed: no power",
        ),
        (
            Mistake::RemembersLastEpisode,
            "the same generator and actions gave another episode",
        ),
        (
            Mistake::LabelsAfterTheEnd,
            "action 0 after the end gave labels",
        ),
        (
            Mistake::GoesOnAfterTheEnd,
            "action 0 after the end did something",
        ),
    ];
    for (mistake, expected) in cases {
        let said = complaint(mistake).unwrap_or_else(|| panic!("{mistake:?} was not noticed"));
        assert!(said.contains(expected), "{mistake:?}: {said}");
    }
}

#[test]
fn a_violation_says_where_it_was() {
    let violations = check_environment(&mut Corridor::new(Mistake::LabelOutsideSignature), &FEW);
    assert_eq!(violations.len(), 3);
    assert_eq!(
        violations[1].to_string(),
        "episode 1, step 0: label 1 is not in the signature of 1 atoms"
    );
}
