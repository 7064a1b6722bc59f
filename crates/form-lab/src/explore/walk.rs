//! One exploring episode in a world: from object to object, each reached by the reach-avoid policy.

use anyhow::{Result, bail};
use form_core::{AtomSet, Kind, MachineStatus, Monitor, Recorder, Trace};
use form_env::{Cell, Direction, EpisodeOutcome, LabelMap, Planner, Random, ReachAvoid, Worlds};
use form_rl::{Course, Distances, Episode, LabelNoise, Navigator, observable, sample};
use rand::RngExt;

use super::explorer::{EpisodePlan, Explorer};

/// How many steps per free cell of the room the policy has to reach an object, before another one is chosen.
const PATIENCE: usize = 2;

/// Walks in worlds.
#[derive(Debug)]
pub(crate) struct Walker {
    navigator: Navigator,
    /// Wrong labels that are made, for experiments.
    noise: Option<LabelNoise>,
    /// Whether labels may be wrong: a visit is over where the object stands, whatever is observed on the way.
    repeats: bool,
}

/// An episode and its trace.
#[derive(Debug)]
pub(crate) struct Walked {
    pub(crate) episode: Episode,
    pub(crate) trace: Trace,
    /// What was observed on the way to each object of the plan.
    pub(crate) legs: Vec<Leg>,
    /// The objects that it came to, in order.
    pub(crate) visited: Vec<AtomSet>,
    /// Whether one of the objects of the plan could not be reached.
    pub(crate) gave_up: bool,
}

/// What was observed on the way to an object, repeated observations once.
pub(crate) type Leg = Vec<AtomSet>;

/// What an agent is after.
enum Target {
    /// This observation next.
    Observation(AtomSet),
    /// What the machine asks for.
    Acceptance,
}

/// The episode so far.
struct Progress {
    monitor: Monitor,
    recorder: Recorder,
    actions: Vec<u8>,
    /// Observations towards acceptance.
    advanced: usize,
    plan: EpisodePlan,
    /// The last observation that was asked for by the plan.
    asked: Option<AtomSet>,
    legs: Vec<Leg>,
    visited: Vec<AtomSet>,
    gave_up: bool,
}

impl Walker {
    pub(crate) fn new(navigator: Navigator, noise: Option<LabelNoise>, repeats: bool) -> Self {
        Self {
            navigator,
            noise,
            repeats,
        }
    }

    /// The labels of the last step, as they are observed.
    fn labels<W: Worlds>(&self, worlds: &W, step: usize) -> AtomSet {
        let labels = worlds.labels(0);
        match &self.noise {
            None => labels.clone(),
            Some(noise) => {
                let place = (0, worlds.episode(0), step);
                noise.observed(labels, &observable(worlds, 0), place)
            }
        }
    }

    /// One episode in the first of these worlds, from the start of an episode that has just begun there. `plan` makes its plan from
    /// what can be observed on its map.
    pub(crate) fn walk<W: Worlds>(
        &mut self,
        worlds: &mut W,
        explorer: &mut Explorer,
        random: &mut Random,
        plan: impl FnOnce(&mut Explorer, &[AtomSet], &mut Random) -> EpisodePlan,
    ) -> Result<Walked> {
        let Some(map) = worlds.label_map(0) else {
            bail!("the world cannot say where its atoms are any more");
        };
        let machine = explorer.begin(worlds.own_signature(0));
        let mut course = Course::new(Planner::new(machine.clone(), map)?);
        let observations = observations(course.map());
        let mut so_far = Progress {
            monitor: Monitor::new(&machine),
            recorder: Recorder::new().within(worlds.own_signature(0).cloned()),
            actions: Vec::new(),
            advanced: 0,
            plan: plan(explorer, &observations, random),
            asked: None,
            legs: Vec::new(),
            visited: Vec::new(),
            gave_up: false,
        };
        let labels = self.labels(worlds, 0);
        so_far.recorder.observe(&labels);
        so_far.monitor.observe(&machine, &labels);
        let mut first: Leg = Some(labels)
            .into_iter()
            .filter(|seen| !seen.is_empty())
            .collect();
        let mut state = so_far.monitor.state();
        let running =
            |monitor: &Monitor| machine.machine().status(monitor.state()) == MachineStatus::Running;
        while !worlds.outcome(0).is_over() && (so_far.plan.only_probe || running(&so_far.monitor)) {
            state = so_far.monitor.state();
            let over = (so_far.plan.most).is_some_and(|most| so_far.legs.len() >= most);
            if over || (self.repeats && so_far.plan.exactly && so_far.gave_up) {
                break;
            }
            let Some(target) = so_far.next(explorer, &observations, self.repeats, random) else {
                break;
            };
            let Some((cell, direction)) = worlds.pose(0) else {
                break;
            };
            let sub_task = match &target {
                Target::Acceptance => {
                    let plan = course.plan(&so_far.monitor, cell);
                    match plan.observations_left {
                        Some(_) => plan.sub_task.clone(),
                        // Nothing the machine knows leads to acceptance: any object will do.
                        None => match explorer.choose(&so_far.monitor, &observations, random) {
                            Some(other) => {
                                let place = (cell, direction);
                                visit(course.map(), explorer, &so_far.monitor, other, place)
                            }
                            None => break,
                        },
                    }
                }
                Target::Observation(observation) => {
                    let place = (cell, direction);
                    let alone = alone(course.map(), observation, place);
                    if alone.is_none() && so_far.plan.exactly {
                        so_far.gave_up = true;
                        break;
                    }
                    alone.unwrap_or_else(|| {
                        visit(course.map(), explorer, &so_far.monitor, observation, place)
                    })
                }
            };
            course.head_for(&mut self.navigator, &sub_task);
            so_far.legs.push(std::mem::take(&mut first));
            so_far.gave_up |= !self.go(
                worlds,
                &mut course,
                &sub_task,
                &machine,
                &mut so_far,
                random,
            )?;
        }
        let outcome = worlds.outcome(0);
        let kind = match outcome {
            EpisodeOutcome::Goal => Kind::Goal,
            EpisodeOutcome::DeadEnd => Kind::DeadEnd,
            EpisodeOutcome::Running | EpisodeOutcome::OutOfTime => Kind::Incomplete,
        };
        let trace = so_far.recorder.finish(kind);
        Ok(Walked {
            episode: Episode {
                world: 0,
                number: worlds.episode(0),
                actions: so_far.actions,
                outcome,
                state,
                total_reward: f64::from(u8::from(outcome == EpisodeOutcome::Goal)),
                trace: None,
                counterexample: None,
            },
            trace,
            legs: so_far.legs,
            visited: so_far.visited,
            gave_up: so_far.gave_up,
        })
    }

    /// Steps until something new is observed, or where walks are repeated until the object is reached; whether that or the end of the episode came
    /// before the patience was over.
    fn go<W: Worlds>(
        &mut self,
        worlds: &mut W,
        course: &mut Course,
        sub_task: &ReachAvoid,
        machine: &form_core::BoundMachine,
        so_far: &mut Progress,
        random: &mut Random,
    ) -> Result<bool> {
        let free = sub_task.walls().iter().filter(|wall| !**wall).count();
        for _ in 0..PATIENCE * free {
            let Some(pose) = worlds.pose(0) else {
                return Ok(true);
            };
            let logits = course.logits(&mut self.navigator, &so_far.monitor, pose);
            let action = sample(&logits, random) as u8;
            // The other worlds stand still: there is one.
            worlds.step(&[action])?;
            so_far.actions.push(action);
            let labels = self.labels(worlds, so_far.actions.len());
            let observed = so_far.recorder.observe(&labels);
            if observed {
                so_far.monitor.observe(machine, &labels);
                so_far
                    .legs
                    .last_mut()
                    .into_iter()
                    .for_each(|leg| leg.push(labels.clone()));
            }
            let here = worlds.pose(0).map(|(cell, _)| cell);
            if let Some(cell) = here {
                so_far.visit(course.map().label(cell));
            }
            let there = match self.repeats {
                true => here.is_some_and(|cell| sub_task.reach()[sub_task.number(cell)]),
                false => observed,
            };
            if there || worlds.outcome(0).is_over() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Progress {
    /// Remembers the object of a cell, if there is one.
    fn visit(&mut self, object: &AtomSet) {
        if !object.is_empty() && self.visited.last() != Some(object) {
            self.visited.push(object.clone());
        }
    }

    /// What comes next in the plan; nothing if there is nothing to visit.
    fn next(
        &mut self,
        explorer: &Explorer,
        observations: &[AtomSet],
        repeats: bool,
        random: &mut Random,
    ) -> Option<Target> {
        if self.plan.exactly
            && !repeats
            && self
                .asked
                .as_ref()
                .is_some_and(|last| last != self.monitor.newest())
        {
            return None;
        }
        if let Some(first) = self.plan.probe.pop_front() {
            self.asked = Some(first.clone());
            return Some(Target::Observation(first));
        }
        if self.plan.only_probe {
            return None;
        }
        let choose = |random: &mut Random| {
            let chosen = explorer.choose(&self.monitor, observations, random)?;
            Some(Target::Observation(chosen.clone()))
        };
        match &mut self.plan.detours {
            None => return choose(random),
            Some(0) => {}
            Some(left) => {
                *left -= 1;
                return choose(random).or(Some(Target::Acceptance));
            }
        }
        self.advanced += 1;
        let wanders = self.plan.wandering > 0.0 && random.random_bool(self.plan.wandering);
        if wanders || self.plan.variation == Some(self.advanced - 1) {
            return choose(random).or(Some(Target::Acceptance));
        }
        Some(Target::Acceptance)
    }
}

/// The different labels of a map.
fn observations(map: &LabelMap) -> Vec<AtomSet> {
    let mut found: Vec<AtomSet> = Vec::new();
    for cell in cells(map) {
        let label = map.label(cell);
        if !label.is_empty() && !found.contains(label) {
            found.push(label.clone());
        }
    }
    found
}

fn cells(map: &LabelMap) -> impl Iterator<Item = Cell> + '_ {
    let (width, height) = (map.room().width(), map.room().height());
    let all = (0..width).flat_map(move |x| (0..height).map(move |y| Cell { x, y }));
    all.filter(|cell| !map.room().is_wall(*cell))
}

/// Observe this next and nothing else on the way, if that can be.
fn alone(
    map: &LabelMap,
    observation: &AtomSet,
    (cell, direction): (Cell, Direction),
) -> Option<ReachAvoid> {
    let sub_task = asking(map, observation, |_| true);
    let steps = Distances::new(&sub_task).steps(cell, direction);
    steps.map(|_| sub_task)
}

/// Observe this next; on the way nothing else, or nothing dangerous, or nothing that the machine calls a dead end, whichever can be.
fn visit(
    map: &LabelMap,
    explorer: &Explorer,
    monitor: &Monitor,
    observation: &AtomSet,
    place: (Cell, Direction),
) -> ReachAvoid {
    if let Some(alone) = alone(map, observation, place) {
        return alone;
    }
    let careful = asking(map, observation, |label| {
        explorer.is_dangerous(monitor, label)
    });
    match Distances::new(&careful).steps(place.0, place.1) {
        Some(_) => careful,
        None => asking(map, observation, |label| explorer.is_fatal(monitor, label)),
    }
}

/// The sub-task to observe this, and none of the other labels that are forbidden.
fn asking(
    map: &LabelMap,
    observation: &AtomSet,
    forbidden: impl Fn(&AtomSet) -> bool,
) -> ReachAvoid {
    let mut sub_task = ReachAvoid::new(map.room());
    for cell in cells(map) {
        let label = map.label(cell);
        if label == observation {
            sub_task.ask_for(cell);
        } else if !label.is_empty() && forbidden(label) {
            sub_task.forbid(cell);
        }
    }
    sub_task
}
