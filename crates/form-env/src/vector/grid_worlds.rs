//! Many grid worlds of one task, as a struct of arrays, stepped on all threads.

use std::sync::Arc;

use form_core::{AtomId, AtomSet, Signature, StepMode};
use rayon::prelude::*;

use super::map_order::map_of;
use super::worlds::{AT_ONCE, Worlds, check_actions};
use crate::env::random::{Stream, generator};
use crate::env::spec::{Cell, EpisodeOutcome, Spec};
use crate::error::{Error, Result};
use crate::grid::map::Map;
use crate::grid::pose::{Direction, Pose};
use crate::plan::label_map::LabelMap;
use crate::tasks::block::Block;
use crate::tasks::maps::Maps;
use crate::tasks::solution::{Shortest, shortest_from};
use crate::tasks::task::Task;
use crate::tasks::world::{GridWorld, WorldOptions};

/// Many worlds in which one task is played.
///
/// On a set of maps, every world plays every map equally often, and so do all worlds together.
///
/// ```
/// use form_env::{GridWorlds, Maps, Split, Task, WorldOptions, Worlds};
/// let task = std::sync::Arc::new(Task::builtin("all-yellow")?);
/// let maps = Maps::Set(task.maps(7, Split::Training, 10)?);
/// let mut worlds = GridWorlds::new(task, maps, WorldOptions::default(), 128, 7)?;
/// let mut images = vec![0; 128 * worlds.spec().planes_len()];
/// for _ in 0..100 {
///     worlds.observe_all(&mut images, &mut [])?;
///     worlds.step(&[2; 128])?;
///     worlds.next_episodes()?;
/// }
/// # Ok::<(), form_env::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct GridWorlds {
    task: Arc<Task>,
    options: WorldOptions,
    spec: Spec,
    actions: Vec<String>,
    seed: u64,
    source: Maps,
    /// The present map of every world, where each draws its own.
    own: Vec<Map>,
    /// The images of the maps, without the agent, one after the other.
    backgrounds: Vec<u8>,
    worlds: usize,
    blocks: Vec<Block>,
}

/// The maps by number: those of the set, or the present one of every world.
fn all_maps<'a>(source: &'a Maps, own: &'a [Map]) -> &'a [Map] {
    match source {
        Maps::Set(maps) => maps,
        Maps::Fresh(_) => own,
    }
}

/// An episode that is about to start.
struct Start {
    world: usize,
    episode: u64,
    /// A map drawn for it.
    map: Option<Map>,
    /// Its number.
    number: usize,
    pose: Pose,
}

impl GridWorlds {
    /// This number of worlds, each at the start of its first episode.
    pub fn new(
        task: Arc<Task>,
        maps: Maps,
        options: WorldOptions,
        worlds: usize,
        seed: u64,
    ) -> Result<Self> {
        if worlds == 0 {
            return Err(Error::None { what: "worlds" });
        }
        let own = match &maps {
            Maps::Set(_) => Vec::new(),
            Maps::Fresh(split) => vec![task.map(seed, *split, 0)?; worlds],
        };
        let drawn = all_maps(&maps, &own);
        if drawn.is_empty() {
            return Err(Error::None { what: "maps" });
        }
        drawn.iter().try_for_each(|map| task.expect_own(map))?;
        let spec = task.spec(options.view);
        let mut backgrounds = vec![0; drawn.len() * spec.planes_len()];
        let images = backgrounds.par_chunks_exact_mut(spec.planes_len());
        images.zip(drawn).for_each(|(image, map)| {
            options
                .view
                .paint_map(task.room(), &task.legend, map, image);
        });
        let sizes = (0..worlds)
            .step_by(AT_ONCE)
            .map(|first| AT_ONCE.min(worlds - first));
        let mut worlds = Self {
            options,
            spec,
            actions: options.actions.names(),
            seed,
            source: maps,
            own,
            backgrounds,
            worlds,
            blocks: sizes.map(|size| Block::new(size, &task)).collect(),
            task,
        };
        worlds.start_all((0..worlds.len()).map(|world| (world, 0)).collect())?;
        Ok(worlds)
    }

    /// The task.
    pub fn task(&self) -> &Arc<Task> {
        &self.task
    }

    /// The map that a world is on.
    pub fn map(&self, world: usize) -> &Map {
        let (block, i) = self.place(world);
        &self.maps()[block.maps[i] as usize]
    }

    /// The number of that map in the set; none where every episode draws its own.
    pub fn map_number(&self, world: usize) -> Option<usize> {
        let (block, i) = self.place(world);
        match &self.source {
            Maps::Set(_) => Some(block.maps[i] as usize),
            Maps::Fresh(_) => None,
        }
    }

    fn maps(&self) -> &[Map] {
        all_maps(&self.source, &self.own)
    }

    /// A copy of the current state of one world, to draw it or to try other actions.
    pub fn copy_of(&self, world: usize) -> Result<GridWorld> {
        let mut copy = GridWorld::new(self.task.clone(), self.source.clone(), self.options)?;
        let (block, i) = self.place(world);
        copy.resume(self.map(world).clone(), block.only(i));
        Ok(copy)
    }

    /// The length of a shortest solution from the current state of a world: see [`shortest`](crate::shortest).
    pub fn shortest(&self, world: usize, limit: usize) -> Shortest {
        let (block, i) = self.place(world);
        let (pose, truth) = (block.pose(i), &block.monitors[i]);
        shortest_from(&self.task, self.map(world), pose, truth, limit)
    }

    fn place(&self, world: usize) -> (&Block, usize) {
        (&self.blocks[world / AT_ONCE], world % AT_ONCE)
    }

    /// Starts these episodes of these worlds, as [`start`](Worlds::start) does one, on all threads.
    pub fn start_all(&mut self, episodes: Vec<(usize, u64)>) -> Result<()> {
        let starts: Vec<Start> = (episodes.into_par_iter())
            .map(|(world, episode)| self.draw(world, episode))
            .collect::<Result<_>>()?;
        for start in starts {
            if let Some(map) = start.map {
                let bytes = self.spec.planes_len();
                let image = &mut self.backgrounds[start.number * bytes..][..bytes];
                let (room, legend) = (self.task.room(), &self.task.legend);
                self.options.view.paint_map(room, legend, &map, image);
                self.own[start.number] = map;
            }
            let block = &mut self.blocks[start.world / AT_ONCE];
            let i = start.world % AT_ONCE;
            block.start(
                i,
                start.episode,
                start.number as u32,
                start.pose,
                &self.task,
            );
        }
        Ok(())
    }

    /// The random draws of an episode.
    fn draw(&self, world: usize, episode: u64) -> Result<Start> {
        let stream = Stream::Episode {
            world: world as u64,
            episode,
        };
        let mut random = generator(self.seed, stream);
        let (number, map) = match &self.source {
            Maps::Fresh(split) => (world, Some(self.task.draw_map(*split, &mut random)?)),
            Maps::Set(_) => {
                let maps = self.maps().len();
                (map_of(world, episode, self.worlds, maps), None)
            }
        };
        let on = map.as_ref().unwrap_or(&self.maps()[number]);
        let pose = self.options.starts.pose(on, &mut random);
        Ok(Start {
            world,
            episode,
            map,
            number,
            pose,
        })
    }
}

impl Worlds for GridWorlds {
    fn len(&self) -> usize {
        self.worlds
    }

    fn signature(&self) -> &Signature {
        self.task.signature()
    }

    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn actions(&self) -> &[String] {
        &self.actions
    }

    fn step(&mut self, actions: &[u8]) -> Result<()> {
        check_actions(actions, self.worlds, self.actions.len())?;
        let (task, maps) = (&*self.task, all_maps(&self.source, &self.own));
        let blocks = self.blocks.par_iter_mut().zip(actions.par_chunks(AT_ONCE));
        blocks.for_each(|(block, actions)| block.step(task, maps, actions));
        Ok(())
    }

    fn outcome(&self, world: usize) -> EpisodeOutcome {
        let (block, i) = self.place(world);
        block.outcomes[i]
    }

    fn labels(&self, world: usize) -> &AtomSet {
        let (block, i) = self.place(world);
        &self.task.labels[usize::from(block.observed[i])]
    }

    fn step_mode(&self) -> StepMode {
        self.task.step_mode()
    }

    fn observe(&self, world: usize, planes: &mut [u8], _vector: &mut [f32]) {
        let (block, i) = self.place(world);
        let bytes = self.spec.planes_len();
        let map = &self.backgrounds[block.maps[i] as usize * bytes..][..bytes];
        let (room, legend) = (self.task.room(), &self.task.legend);
        (self.options.view).observe(room, legend, map, block.pose(i), planes);
    }

    fn cell_of(&self, world: usize, atom: AtomId) -> Option<Cell> {
        let (block, i) = self.place(world);
        let cell = self.task.cell_of(self.map(world), atom)?;
        Some((self.options.view).place(self.task.room(), block.pose(i), cell))
    }

    fn label_map(&self, world: usize) -> Option<LabelMap> {
        Some(self.task.label_map(self.map(world)))
    }

    fn pose(&self, world: usize) -> Option<(Cell, Direction)> {
        let (block, i) = self.place(world);
        let pose = block.pose(i);
        Some((self.task.room().cell(pose.cell), pose.direction()))
    }

    fn episode(&self, world: usize) -> u64 {
        let (block, i) = self.place(world);
        block.episodes[i]
    }

    fn start(&mut self, world: usize, episode: u64) -> Result<()> {
        self.start_all(vec![(world, episode)])
    }

    fn next_episodes(&mut self) -> Result<usize> {
        let over: Vec<(usize, u64)> = (self.blocks.iter().enumerate())
            .flat_map(|(b, block)| {
                (block.outcomes.iter().zip(&block.episodes).enumerate())
                    .filter(|(_, (outcome, _))| outcome.is_over())
                    .map(move |(i, (_, episode))| (b * AT_ONCE + i, episode + 1))
            })
            .collect();
        let count = over.len();
        if count > 0 {
            self.start_all(over)?;
        }
        Ok(count)
    }
}
