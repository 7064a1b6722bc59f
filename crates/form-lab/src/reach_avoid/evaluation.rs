//! Success of a machine that is carried out with a reach-avoid policy, beside random play and shortest solutions.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use anyhow::Result;
use form_core::{BoundMachine, Monitor, StateId};
use form_env::{
    Action, Actions, Cell, Environment, EpisodeOutcome, GridWorld, Map, Maps, Plan, Planner, Split,
    Starts, Stream, Task, WorldOptions, generator, shortest,
};
use form_rl::{Choice, Course, Episode, Navigator, PlayProgress, ReachAvoidPolicy, greedy, sample};
use rand::RngExt;
use rayon::prelude::*;

use crate::evaluate::{Evaluation, EvaluationPlan, Failures, Start, count};
use crate::play_callback::PlayCallback;
use crate::recording::Recording;
use crate::search_limit::{SEARCH_LIMIT, limit_after};

/// The episodes of a task: one on each of the first maps of a seed, from the start that belongs to the map.
#[derive(Clone, Debug)]
pub struct ReachAvoidPlan {
    /// The world, whose machine decides success.
    pub task: Arc<Task>,
    /// The machine that is followed.
    pub machine: Arc<BoundMachine>,
    /// Training maps or held-out maps.
    pub split: Split,
    /// The number of episodes.
    pub episodes: usize,
    /// How actions are chosen.
    pub choice: Choice,
    /// The seed of maps, starts and actions.
    pub seed: u64,
}

/// One map of a plan, with all that does not depend on the policy.
struct Prepared {
    world: GridWorld,
    course: Course,
    start: Start,
    random: bool,
}

/// The maps of a plan, with random play and shortest solutions: policies can be compared on them.
pub struct ReachAvoidRuns {
    plan: ReachAvoidPlan,
    prepared: Vec<Prepared>,
}

impl ReachAvoidPlan {
    /// An episode of the policy on the map of a number, to watch.
    pub fn record(&self, policy: &ReachAvoidPolicy, number: u64) -> Result<Recording> {
        let world = self.world(number)?;
        let mut course = self.course(world.map())?;
        let episode = self.play(&mut Navigator::new(policy), &mut course, &world, number)?;
        let machine = self.machine_on(world.map());
        Recording::of_episode(world, (*machine).clone(), (self.split, number), &episode)
    }

    /// What the planner asks for along an episode of the policy, as text: each time it changes, the cells to reach and to avoid.
    pub fn planes(&self, policy: &ReachAvoidPolicy, number: u64) -> Result<String> {
        let world = self.world(number)?;
        let mut course = self.course(world.map())?;
        let episode = self.play(&mut Navigator::new(policy), &mut course, &world, number)?;
        let bound = self.machine_on(world.map());
        let machine = bound.machine();
        let (mut world, mut monitor) = (world, Monitor::new(&bound));
        let mut text = String::new();
        let mut shown = None;
        for action in &episode.actions {
            let plan = course.plan(&monitor, world.agent());
            if shown.replace(plan.number) != Some(plan.number) {
                let state = machine.state_name(monitor.state());
                let left = match plan.observations_left {
                    Some(1) => "1 observation left".to_owned(),
                    Some(left) => format!("{left} observations left"),
                    None => "no way to acceptance".to_owned(),
                };
                text += &format!("{state}: {left}\n{}\n", picture(plan, &world));
            }
            world.step(usize::from(*action))?;
            monitor.observe(&bound, world.labels());
        }
        text += &format!(
            "{}: {}\n",
            machine.state_name(monitor.state()),
            episode.outcome
        );
        Ok(text)
    }

    /// Draws the maps, solves them, and plays at random; nothing if it was interrupted.
    pub fn prepare(self, callback: PlayCallback<'_>) -> Result<Option<ReachAvoidRuns>> {
        let first = match self.episodes {
            0 => None,
            _ => Some(shortest(&self.world(0)?, SEARCH_LIMIT)),
        };
        let limit = limit_after(first);
        let prepare = |number: u64| -> Result<Option<Prepared>> {
            if callback.is_interrupted() {
                return Ok(None);
            }
            let world = self.world(number)?;
            let known = first.filter(|_| number == 0);
            let start = Start {
                map: Some(usize::try_from(number)?),
                shortest: known.or_else(|| Some(shortest(&world, limit))),
            };
            Ok(Some(Prepared {
                course: self.course(world.map())?,
                random: self.random_play(&world, number)?,
                world,
                start,
            }))
        };
        let prepared: Option<Vec<Prepared>> = (0..self.episodes as u64)
            .into_par_iter()
            .map(prepare)
            .collect::<Result<_>>()?;
        Ok(prepared.map(|prepared| ReachAvoidRuns {
            prepared,
            plan: self,
        }))
    }

    fn world(&self, number: u64) -> Result<GridWorld> {
        let map = self.task.map(self.seed, self.split, number)?;
        let options = WorldOptions {
            actions: Actions::Moves,
            starts: Starts::OfTheMap,
            ..WorldOptions::default()
        };
        Ok(GridWorld::new(
            self.task.clone(),
            Maps::Set([map].into()),
            options,
        )?)
    }

    /// The machine on a map.
    fn machine_on(&self, map: &Map) -> Arc<BoundMachine> {
        self.task.bound_on(&self.machine, map)
    }

    fn course(&self, map: &Map) -> Result<Course> {
        let planner = Planner::new(self.machine_on(map), self.task.label_map(map));
        Ok(Course::new(planner?))
    }

    fn random_play(&self, world: &GridWorld, number: u64) -> Result<bool> {
        let mut random = generator(self.seed, Stream::Other(number));
        let mut world = world.clone();
        while !world.outcome().is_over() {
            world.step(random.random_range(0..Action::MOVES))?;
        }
        Ok(world.outcome() == EpisodeOutcome::Goal)
    }

    /// Plays an episode.
    fn play(
        &self,
        navigator: &mut Navigator,
        course: &mut Course,
        start: &GridWorld,
        number: u64,
    ) -> Result<Episode> {
        let stream = Stream::Episode {
            world: number,
            episode: 0,
        };
        let mut random = generator(self.seed, stream);
        let mut world = start.clone();
        let machine = self.machine_on(world.map());
        let mut monitor = Monitor::new(&machine);
        course.observed();
        let mut actions = Vec::new();
        let mut state: StateId = monitor.state();
        while !world.outcome().is_over() {
            state = monitor.state();
            let pose = (world.agent(), world.direction());
            let action = match self.choice {
                Choice::Uniform => random.random_range(0..Action::MOVES),
                Choice::Greedy => greedy(&course.logits(navigator, &monitor, pose)),
                Choice::Sample => sample(&course.logits(navigator, &monitor, pose), &mut random),
            };
            world.step(action)?;
            if !world.labels().is_empty() {
                monitor.observe(&machine, world.labels());
                course.observed();
            }
            actions.push(action as u8);
        }
        Ok(Episode {
            world: usize::try_from(number)?,
            number: 0,
            total_reward: f64::from(u8::from(world.outcome() == EpisodeOutcome::Goal)),
            outcome: world.outcome(),
            actions,
            state,
            trace: None,
            counterexample: None,
        })
    }
}

impl ReachAvoidRuns {
    /// The plan.
    pub fn plan(&self) -> &ReachAvoidPlan {
        &self.plan
    }

    /// The success of a policy; nothing if it was interrupted.
    pub fn evaluate(
        &self,
        policy: &ReachAvoidPolicy,
        callback: PlayCallback<'_>,
    ) -> Result<Option<Evaluation>> {
        let found = self.evaluate_with_shields(policy, &[policy.has_shield()], callback)?;
        Ok(found.and_then(|mut found| found.pop()))
    }

    /// The success of a policy without and with shield, for little more than one of them; nothing if it was interrupted.
    pub fn evaluate_both(
        &self,
        policy: &ReachAvoidPolicy,
        callback: PlayCallback<'_>,
    ) -> Result<Option<Vec<Evaluation>>> {
        self.evaluate_with_shields(policy, &[false, true], callback)
    }

    fn evaluate_with_shields(
        &self,
        policy: &ReachAvoidPolicy,
        shields: &[bool],
        callback: PlayCallback<'_>,
    ) -> Result<Option<Vec<Evaluation>>> {
        let (done, steps) = (AtomicUsize::new(0), AtomicU64::new(0));
        let play = |(number, prepared): (usize, &Prepared)| -> Result<Option<Vec<Episode>>> {
            if callback.is_interrupted() {
                return Ok(None);
            }
            let mut course = prepared.course.clone();
            let mut navigator = Navigator::new(policy);
            let mut episodes = Vec::new();
            for shield in shields {
                navigator = navigator.with_shield(*shield);
                let (world, number) = (&prepared.world, number as u64);
                let episode = (self.plan).play(&mut navigator, &mut course, world, number)?;
                steps.fetch_add(episode.steps() as u64, Ordering::Relaxed);
                episodes.push(episode);
            }
            callback.report(PlayProgress {
                episodes: done.fetch_add(1, Ordering::Relaxed) + 1,
                of: self.prepared.len(),
                steps: steps.load(Ordering::Relaxed),
            });
            Ok(Some(episodes))
        };
        let played: Option<Vec<Vec<Episode>>> = (self.prepared.par_iter().enumerate())
            .map(play)
            .collect::<Result<_>>()?;
        let Some(played) = played else {
            return Ok(None);
        };
        let of_shield = |i: usize| -> Vec<Episode> {
            (played.iter().map(|episodes| episodes[i].clone())).collect()
        };
        Ok(Some(
            (0..shields.len())
                .map(|i| self.count(&of_shield(i)))
                .collect(),
        ))
    }

    fn count(&self, played: &[Episode]) -> Evaluation {
        let plan = EvaluationPlan {
            split: self.plan.split,
            episodes: self.plan.episodes,
            choice: self.plan.choice,
            seed: self.plan.seed,
        };
        let starts: Vec<Start> = self.prepared.iter().map(|one| one.start).collect();
        let mut evaluation = count(&plan, played);
        let random = self.prepared.iter().filter(|one| one.random).count();
        evaluation.random = Some(random as f64 / self.prepared.len().max(1) as f64);
        let limit = u64::from(self.plan.task.steps());
        evaluation.compare(played, &starts, Some(limit));
        let machine = self.plan.machine.machine();
        evaluation.failures = Failures::of(played, &starts, Some(machine)).failing();
        evaluation
    }
}

/// A sub-task as text: `R` cells to reach, `A` cells to avoid, `o` other objects, `@` the agent, `#` walls.
fn picture(plan: &Plan, world: &GridWorld) -> String {
    let (task, sub_task) = (world.task(), &plan.sub_task);
    let symbol = |cell: Cell| {
        let number = sub_task.number(cell);
        match () {
            () if cell == world.agent() => '@',
            () if sub_task.walls()[number] => '#',
            () if sub_task.reach()[number] => 'R',
            () if sub_task.avoid()[number] => 'A',
            () if task.object(world.map(), cell).is_some() => 'o',
            () => '.',
        }
    };
    let row = |y| (0..sub_task.width()).map(move |x| symbol(Cell { x, y }));
    (0..sub_task.height())
        .map(|y| row(y).chain(['\n']).collect::<String>())
        .collect()
}

#[cfg(test)]
mod tests {
    use form_env::Shortest;

    use super::*;

    const MANY: &str = "name = \"many\"\nroom = \"paper\"\nmachine = '''\ninitial u0\naccept acc\n\
                        u0 -> acc : forall X. yellow(X)\n'''\n[checkpoints]\nyellow = 16\n";

    /// Sixteen checkpoints are too many for an exact search: it is tried once, and not for every episode.
    #[test]
    fn after_a_search_that_is_too_long_the_others_are_short() {
        let task = Arc::new(Task::from_toml(MANY).unwrap());
        let plan = ReachAvoidPlan {
            machine: Arc::new(task.truth().clone()),
            task,
            split: Split::HeldOut,
            episodes: 2,
            choice: Choice::Greedy,
            seed: 1,
        };
        let runs = plan.clone().prepare(PlayCallback::none()).unwrap().unwrap();
        let found = |i: usize| runs.prepared[i].start.shortest.unwrap();
        let bound = |number: u64, limit: usize| shortest(&plan.world(number).unwrap(), limit);
        assert_eq!(found(0), bound(0, SEARCH_LIMIT));
        assert_eq!(found(1), bound(1, limit_after(Some(found(0)))));
        let (Shortest::AtLeast(short), Shortest::AtLeast(long)) =
            (found(1), bound(1, SEARCH_LIMIT))
        else {
            panic!("a search came to an end")
        };
        assert!(short < long, "{short} {long}");
        // Where the first search ends, the others get all their time.
        assert_eq!(limit_after(Some(Shortest::Exactly(3))), SEARCH_LIMIT);
        assert_eq!(limit_after(None), SEARCH_LIMIT);
    }
}
