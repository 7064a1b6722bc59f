//! Water world (Toro Icarte et al., ICML 2018 and JAIR 2022, after Karpathy's REINFORCEjs): a box with two balls of each of six
//! colours, which bounce off its walls and pass through each other. The agent is a ball that accelerates in four directions.
//! An atom is true on the step on which the agent comes to touch a ball of that colour.

use form_core::{AtomId, AtomSet, Signature};
use rand::{Rng, RngExt};

use super::letter_world::Naming;
use super::tasks::COLOURS;
use crate::env::environment::Environment;
use crate::env::random::{Stream, generator};
use crate::env::spec::{EpisodeOutcome, Feature, Spec};
use crate::error::{Error, Result};

const SIDE: f64 = 400.0;
const RADIUS: f64 = 15.0;
const BALLS_PER_COLOUR: usize = 2;
/// The speed of the balls, and what one action adds to the agent's.
const SPEED: f64 = 30.0;
/// The largest speed of the agent along an axis.
const MAX_SPEED: f64 = 3.0 * SPEED;
/// The time that a step takes.
const STEP: f64 = 0.1;
const LIMIT: u32 = 600;
const ACTIONS: [(&str, [f64; 2]); 5] = [
    ("up", [0.0, 1.0]),
    ("right", [1.0, 0.0]),
    ("down", [0.0, -1.0]),
    ("left", [-1.0, 0.0]),
    ("none", [0.0, 0.0]),
];

#[derive(Clone, Copy, Debug, PartialEq)]
struct Ball {
    position: [f64; 2],
    velocity: [f64; 2],
}

impl Ball {
    /// Moves for the time of one step. A ball that would leave the box is put against its wall and turned back.
    fn advance(&mut self) {
        for (position, velocity) in self.position.iter_mut().zip(&mut self.velocity) {
            *position += STEP * *velocity;
            let inside = position.clamp(RADIUS, SIDE - RADIUS);
            if *position != inside {
                *position = inside;
                *velocity = -*velocity;
            }
        }
    }

    fn distance(&self, other: [f64; 2]) -> f64 {
        let [x, y] = self.position;
        (x - other[0]).hypot(y - other[1])
    }

    fn touches(&self, other: &Self) -> bool {
        self.distance(other.position) <= 2.0 * RADIUS
    }
}

/// Water world. All episodes of a world start with the same balls, those of its seed, as in the published experiments.
#[derive(Clone, Debug)]
pub struct WaterWorld {
    signature: Signature,
    spec: Spec,
    actions: Vec<String>,
    colours: Vec<AtomId>,
    /// The agent, then the balls, as episodes start.
    first: Vec<Ball>,
    balls: Vec<Ball>,
    touched: Vec<bool>,
    steps: u32,
    labels: AtomSet,
    outcome: EpisodeOutcome,
}

impl WaterWorld {
    /// The world whose balls are drawn from this seed.
    pub fn new(seed: u64, naming: Naming) -> Self {
        let names = COLOURS.map(|(letter, word)| match naming {
            Naming::Words => word.to_owned(),
            Naming::Letters => letter.to_string(),
        });
        let signature = Signature::parse(&names).expect("names of propositions");
        let id = |name: &String| signature.id_of_text(name).expect("it was just added");
        let colours = (names.iter().map(id))
            .flat_map(|id| [id; BALLS_PER_COLOUR])
            .collect::<Vec<_>>();
        let mut world = Self {
            spec: spec(&names),
            signature,
            actions: ACTIONS.map(|(name, _)| name.to_owned()).to_vec(),
            first: drawn(&mut generator(seed, Stream::Map(0)), colours.len()),
            balls: Vec::new(),
            touched: vec![false; colours.len()],
            colours,
            steps: 0,
            labels: AtomSet::new(),
            outcome: EpisodeOutcome::Running,
        };
        world.begin();
        world
    }

    fn begin(&mut self) {
        self.balls.clone_from(&self.first);
        self.touched.fill(false);
        self.steps = 0;
        self.outcome = EpisodeOutcome::Running;
        self.touch();
    }

    /// The labels: colours of the balls that are touched now and were not before.
    fn touch(&mut self) {
        self.labels.clear();
        for (i, colour) in self.colours.iter().enumerate() {
            let now = self.balls[0].touches(&self.balls[i + 1]);
            if now && !self.touched[i] {
                self.labels.insert(*colour);
            }
            self.touched[i] = now;
        }
    }
}

/// The agent at rest, and balls of one speed in random directions; none touches another, none is near the agent.
fn drawn(random: &mut impl Rng, balls: usize) -> Vec<Ball> {
    let mut place = || [(); 2].map(|()| random.random_range(2.0 * RADIUS..SIDE - 2.0 * RADIUS));
    let mut all = vec![Ball {
        position: place(),
        velocity: [0.0; 2],
    }];
    while all.len() <= balls {
        let position = place();
        let far = |(i, ball): (usize, &Ball)| {
            let least = if i == 0 { 4.0 } else { 2.0 };
            ball.distance(position) > least * RADIUS
        };
        if all.iter().enumerate().all(far) {
            all.push(Ball {
                position,
                velocity: [0.0; 2],
            });
        }
    }
    for ball in &mut all[1..] {
        let angle = random.random_range(0.0..std::f64::consts::TAU);
        ball.velocity = [SPEED * angle.cos(), SPEED * angle.sin()];
    }
    all
}

/// Position and velocity of the agent; then of each ball, relative to the agent.
fn spec(colours: &[String]) -> Spec {
    let feature = |name: String, low: f32| Feature {
        name,
        low,
        high: 1.0,
    };
    let mut vector = Vec::new();
    for axis in ["x", "y"] {
        vector.push(feature(format!("agent {axis}"), 0.0));
    }
    for axis in ["x", "y"] {
        vector.push(feature(format!("agent velocity {axis}"), -1.0));
    }
    for colour in colours {
        for ball in 0..BALLS_PER_COLOUR {
            for what in ["x", "y", "velocity x", "velocity y"] {
                vector.push(feature(format!("{colour} {ball} {what}"), -1.0));
            }
        }
    }
    Spec {
        planes: None,
        vector,
    }
}

impl Environment for WaterWorld {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn actions(&self) -> &[String] {
        &self.actions
    }

    fn reset(&mut self, _: &mut dyn Rng) -> Result<()> {
        self.begin();
        Ok(())
    }

    fn step(&mut self, action: usize) -> Result<EpisodeOutcome> {
        let Some((_, push)) = ACTIONS.get(action) else {
            let actions = ACTIONS.len();
            return Err(Error::NoSuchAction { action, actions });
        };
        if self.outcome.is_over() {
            self.labels.clear();
            return Ok(self.outcome);
        }
        for (velocity, push) in self.balls[0].velocity.iter_mut().zip(push) {
            *velocity = (*velocity + SPEED * push).clamp(-MAX_SPEED, MAX_SPEED);
        }
        self.balls.iter_mut().for_each(Ball::advance);
        self.touch();
        self.steps += 1;
        if self.steps >= LIMIT {
            self.outcome = EpisodeOutcome::OutOfTime;
        }
        Ok(self.outcome)
    }

    fn labels(&self) -> &AtomSet {
        &self.labels
    }

    fn observe(&self, _: &mut [u8], vector: &mut [f32]) {
        let agent = self.balls[0];
        for axis in 0..2 {
            vector[axis] = (agent.position[axis] / SIDE) as f32;
            vector[2 + axis] = (agent.velocity[axis] / MAX_SPEED) as f32;
            for (i, ball) in self.balls[1..].iter().enumerate() {
                let at = 4 * (i + 1) + axis;
                vector[at] = ((ball.position[axis] - agent.position[axis]) / SIDE) as f32;
                let relative = ball.velocity[axis] - agent.velocity[axis];
                vector[at + 2] = (relative / (SPEED + MAX_SPEED)) as f32;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Balls keep their speed and stay inside, the agent never exceeds its own.
    #[test]
    fn balls_bounce_off_the_walls() {
        let mut world = WaterWorld::new(3, Naming::Words);
        world.reset(&mut generator(0, Stream::Other(0))).unwrap();
        for step in 0..LIMIT as usize {
            world.step(step / 40 % 5).unwrap();
            for ball in &world.balls {
                for axis in 0..2 {
                    assert!((RADIUS..=SIDE - RADIUS).contains(&ball.position[axis]));
                }
            }
            for ball in &world.balls[1..] {
                let speed = ball.velocity[0].hypot(ball.velocity[1]);
                assert!((speed - SPEED).abs() < 1e-9);
            }
            assert!(world.balls[0].velocity.iter().all(|v| v.abs() <= MAX_SPEED));
        }
        assert_eq!(world.outcome, EpisodeOutcome::OutOfTime);
    }

    #[test]
    fn a_touch_is_reported_once() {
        let mut world = WaterWorld::new(0, Naming::Letters);
        let blue = world
            .colours
            .iter()
            .position(|id| world.signature.atom(*id).to_string() == "c");
        let ball = blue.unwrap() + 1;
        for (i, other) in world.balls.iter_mut().enumerate().skip(1) {
            other.velocity = [0.0; 2];
            // All but one far away from the agent's way.
            other.position = [RADIUS + i as f64, SIDE - RADIUS];
        }
        world.balls[0] = Ball {
            position: [100.0, 100.0],
            velocity: [MAX_SPEED, 0.0],
        };
        world.balls[ball].position = [140.0, 100.0];
        let mut seen = Vec::new();
        for _ in 0..12 {
            world.step(4).unwrap();
            seen.push(world.signature.describe(&world.labels));
        }
        let touches = seen.iter().filter(|labels| labels.contains('c')).count();
        assert_eq!(touches, 1, "{seen:?}");
        // 40 apart, 9 per step: they touch at 30, after two steps.
        assert!(seen[1].contains('c'), "{seen:?}");
    }
}
