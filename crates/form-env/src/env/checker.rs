//! A checker for environments: it plays random episodes and reports violations of the contract of [`Environment`].

use std::fmt;

use form_core::AtomSet;
use rand::{Rng, RngExt};

use super::environment::Environment;
use super::random::{Random, Stream, generator};
use super::spec::{EpisodeOutcome, Spec};

/// The extent of the check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckOptions {
    /// Episodes to play, each twice.
    pub episodes: u64,
    /// The maximum number of steps per episode.
    pub steps: usize,
    /// The seed of episodes and actions.
    pub seed: u64,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self {
            episodes: 20,
            steps: 2000,
            seed: 0,
        }
    }
}

/// A violation of the contract, and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The episode, from 0, and the number of steps taken in it; `None` for the description of the environment.
    pub place: Option<(u64, usize)>,
    /// What is wrong.
    pub problem: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Some((episode, step)) => write!(f, "episode {episode}, step {step}: {}", self.problem),
            None => f.write_str(&self.problem),
        }
    }
}

/// Plays random episodes and returns the violations: at most one of the description, or one per episode. An empty list means that
/// none was found.
pub fn check_environment(
    environment: &mut dyn Environment,
    options: &CheckOptions,
) -> Vec<Violation> {
    if let Err(problem) = check_description(environment) {
        let place = None;
        return vec![Violation { place, problem }];
    }
    let mut violations = Vec::new();
    for episode in 0..options.episodes {
        let mut steps = 0;
        if let Err(problem) = check_episode(environment, options, episode, &mut steps) {
            let place = Some((episode, steps));
            violations.push(Violation { place, problem });
        }
    }
    violations
}

/// Checks the description of the environment.
fn check_description(environment: &dyn Environment) -> Result<(), String> {
    let Spec { planes, vector } = environment.spec();
    if planes.is_none() && vector.is_empty() {
        return Err("observations have neither planes nor a vector".to_owned());
    }
    if let Some(planes) = planes
        && planes.len() == 0
    {
        return Err("the planes have no cells or no channels".to_owned());
    }
    for feature in vector {
        // NaN bounds contain nothing.
        if !(feature.low..=feature.high).contains(&feature.low) {
            let (name, low, high) = (&feature.name, feature.low, feature.high);
            return Err(format!("feature `{name}` goes from {low} to {high}"));
        }
    }
    let actions = environment.actions();
    if actions.is_empty() {
        return Err("there are no actions".to_owned());
    }
    if let Some(twice) = (1..actions.len()).find(|i| actions[..*i].contains(&actions[*i])) {
        return Err(format!("two actions are called `{}`", actions[twice]));
    }
    if environment.signature().is_empty() {
        return Err("the signature has no atom".to_owned());
    }
    Ok(())
}

/// The labels and observation of one step.
#[derive(PartialEq)]
struct Frame {
    outcome: EpisodeOutcome,
    labels: AtomSet,
    planes: Vec<u8>,
    vector: Vec<f32>,
}

/// One episode, played twice with the same generator and the same actions.
fn check_episode(
    environment: &mut dyn Environment,
    options: &CheckOptions,
    episode: u64,
    steps: &mut usize,
) -> Result<(), String> {
    let seeded = || generator(options.seed, Stream::Episode { world: 0, episode });
    let choices = || generator(options.seed, Stream::Other(episode));
    let mut first = Vec::new();
    play(environment, &mut seeded(), &mut choices(), |frame| {
        first.push(frame);
        *steps = first.len() - 1;
        first.len() <= options.steps
    })?;
    if let Some(last) = first.last().filter(|last| last.outcome.is_over()) {
        check_the_end(environment, last)?;
    }
    // From the middle of another episode, which must leave no trace.
    play(environment, &mut choices(), &mut seeded(), |_| false)?;
    let mut again = 0;
    play(environment, &mut seeded(), &mut choices(), |frame| {
        let same = first.get(again) == Some(&frame);
        *steps = again;
        again += usize::from(same);
        same && again < first.len()
    })?;
    if again < first.len() {
        return Err("the same generator and actions gave another episode".to_owned());
    }
    Ok(())
}

/// Plays until the episode is over or `go_on` says no.
fn play(
    environment: &mut dyn Environment,
    random: &mut Random,
    choices: &mut dyn Rng,
    mut go_on: impl FnMut(Frame) -> bool,
) -> Result<(), String> {
    let reset = environment.reset(random);
    reset.map_err(|error| format!("reset failed: {error}"))?;
    refuses_unknown_actions(environment)?;
    let mut outcome = EpisodeOutcome::Running;
    while go_on(look(environment, outcome)?) && !outcome.is_over() {
        let action = choices.random_range(0..environment.actions().len());
        let stepped = environment.step(action);
        outcome = stepped.map_err(|error| format!("action {action} failed: {error}"))?;
    }
    Ok(())
}

/// Labels and observation, checked against signature and spec.
fn look(environment: &dyn Environment, outcome: EpisodeOutcome) -> Result<Frame, String> {
    let labels = environment.labels().clone();
    let signature = environment.signature();
    if let Some(stray) = labels.iter().find(|atom| atom.index() >= signature.len()) {
        let (n, size) = (stray.index(), signature.len());
        return Err(format!("label {n} is not in the signature of {size} atoms"));
    }
    if let Some(own) = environment.own_signature()
        && let Some(stray) = labels.iter().find(|atom| !own.contains(*atom))
    {
        let atom = signature.atom(stray);
        return Err(format!("`{atom}` is not in the episode's own signature"));
    }
    let spec = environment.spec();
    // Entries that are not written differ between two buffers with different initial values.
    let (mut planes, mut other_planes) =
        (vec![0xaa; spec.planes_len()], vec![0x55; spec.planes_len()]);
    let (mut vector, mut other_vector) = (
        vec![f32::MAX; spec.vector_len()],
        vec![f32::MIN; spec.vector_len()],
    );
    environment.observe(&mut planes, &mut vector);
    environment.observe(&mut other_planes, &mut other_vector);
    if planes != other_planes || vector != other_vector {
        return Err(
            "two observations of the same state differ, or are not written in full".to_owned(),
        );
    }
    if let Some(wanted) = &spec.planes {
        for (i, value) in planes.iter().enumerate() {
            let channel = &wanted.channels[i % wanted.channels.len()];
            if *value > channel.max {
                let (name, max) = (&channel.name, channel.max);
                return Err(format!(
                    "channel `{name}` has a {value}, its largest value is {max}"
                ));
            }
        }
    }
    for (value, feature) in vector.iter().zip(&spec.vector) {
        if !(feature.low..=feature.high).contains(value) {
            let (name, low, high) = (&feature.name, feature.low, feature.high);
            return Err(format!(
                "feature `{name}` is {value}, not between {low} and {high}"
            ));
        }
    }
    for atom in signature.ids() {
        let Some(cell) = environment.cell_of(atom) else {
            continue;
        };
        let inside = |planes: &super::spec::Planes| cell.x < planes.width && cell.y < planes.height;
        if !spec.planes.as_ref().is_some_and(inside) {
            let name = signature.atom(atom);
            return Err(format!(
                "`{name}` is at ({}, {}), outside the grid",
                cell.x, cell.y
            ));
        }
    }
    Ok(Frame {
        outcome,
        labels,
        planes,
        vector,
    })
}

fn refuses_unknown_actions(environment: &mut dyn Environment) -> Result<(), String> {
    let before = look(environment, EpisodeOutcome::Running)?;
    let beyond = environment.actions().len();
    if environment.step(beyond).is_ok() {
        return Err(format!("action {beyond} does not exist but was taken"));
    }
    if look(environment, EpisodeOutcome::Running)? != before {
        return Err(format!("action {beyond} does not exist but did something"));
    }
    Ok(())
}

/// After the end of an episode nothing may change.
fn check_the_end(environment: &mut dyn Environment, last: &Frame) -> Result<(), String> {
    for action in 0..environment.actions().len() {
        let stepped = environment.step(action);
        let outcome = stepped.map_err(|error| format!("action {action} failed: {error}"))?;
        let frame = look(environment, outcome)?;
        if !frame.labels.is_empty() {
            return Err(format!("action {action} after the end gave labels"));
        }
        let same = frame.outcome == last.outcome
            && frame.planes == last.planes
            && frame.vector == last.vector;
        if !same {
            return Err(format!("action {action} after the end did something"));
        }
    }
    Ok(())
}
