//! Many grid worlds of one task, as a struct of arrays, stepped on all threads.

use std::sync::Arc;

use form_core::{AtomId, AtomSet, Signature, StepMode};
use rayon::prelude::*;

use super::map_order::map_of;
use super::worlds::{AT_ONCE, Worlds, check_actions, shares};
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

/// Worlds can be taken apart into at most this many parts: groups are small enough for that, if there are enough worlds.
const MOST_PARTS: usize = 16;

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
    shared: Arc<Shared>,
    /// The number of the first world, in a group of worlds that were taken apart.
    first: usize,
    /// How many there are.
    count: usize,
    groups: Vec<Group>,
}

/// What the worlds have in common.
#[derive(Debug)]
struct Shared {
    task: Arc<Task>,
    options: WorldOptions,
    spec: Spec,
    actions: Vec<String>,
    seed: u64,
    source: Maps,
    /// The images of the maps of a set, without the agent, one after the other.
    backgrounds: Vec<u8>,
    /// The number of worlds, before any were taken apart.
    worlds: usize,
    /// The number of worlds of a group; the last may have fewer.
    group: usize,
}

/// Worlds that are stepped one after the other.
#[derive(Clone, Debug)]
struct Group {
    block: Block,
    /// The present map of every world, where each draws its own; and their images.
    own: Vec<Map>,
    backgrounds: Vec<u8>,
}

impl Shared {
    /// The maps that a group's worlds are on, by number.
    fn maps<'a>(&'a self, group: &'a Group) -> &'a [Map] {
        match &self.source {
            Maps::Set(maps) => maps,
            Maps::Fresh(_) => &group.own,
        }
    }

    /// The image of a map, without the agent.
    fn paint(&self, map: &Map, image: &mut [u8]) {
        let (room, legend) = (self.task.room(), &self.task.legend);
        self.options.view.paint_map(room, legend, map, image);
    }

    /// The random draws of an episode.
    fn draw(&self, world: usize, episode: u64) -> Result<Start> {
        let stream = Stream::Episode {
            world: world as u64,
            episode,
        };
        let mut random = generator(self.seed, stream);
        let (number, map, pose);
        match &self.source {
            Maps::Fresh(split) => {
                let drawn = self.task.draw_map(*split, &mut random)?;
                number = world % self.group;
                pose = self.options.starts.pose(&drawn, &mut random);
                map = Some(drawn);
            }
            Maps::Set(maps) => {
                number = map_of(world, episode, self.worlds, maps.len());
                pose = self.options.starts.pose(&maps[number], &mut random);
                map = None;
            }
        }
        Ok(Start {
            world,
            episode,
            map,
            number,
            pose,
        })
    }
}

/// An episode that is about to start.
struct Start {
    world: usize,
    episode: u64,
    /// A map drawn for it.
    map: Option<Map>,
    /// Its number in the set or in the group.
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
        let set = match &maps {
            Maps::Set(maps) if maps.is_empty() => return Err(Error::None { what: "maps" }),
            Maps::Set(maps) => &maps[..],
            Maps::Fresh(_) => &[],
        };
        set.iter().try_for_each(|map| task.expect_own(map))?;
        let first = match &maps {
            Maps::Set(_) => None,
            Maps::Fresh(split) => Some(task.map(seed, *split, 0)?),
        };
        let spec = task.spec(options.view);
        let (bytes, group) = (spec.planes_len(), worlds.div_ceil(MOST_PARTS).min(AT_ONCE));
        let mut shared = Shared {
            backgrounds: vec![0; set.len() * bytes],
            options,
            spec,
            actions: options.actions.names(),
            seed,
            source: maps,
            worlds,
            group,
            task,
        };
        let mut backgrounds = std::mem::take(&mut shared.backgrounds);
        if let Maps::Set(maps) = &shared.source {
            let images = backgrounds.par_chunks_exact_mut(bytes).zip(&maps[..]);
            images.for_each(|(image, map)| shared.paint(map, image));
        }
        shared.backgrounds = backgrounds;
        let groups = (0..worlds).step_by(group).map(|from| {
            let size = group.min(worlds - from);
            let drawn = if first.is_some() { size } else { 0 };
            Group {
                block: Block::new(size, &shared.task),
                own: first.iter().cycle().take(drawn).cloned().collect(),
                backgrounds: vec![0; drawn * bytes],
            }
        });
        let mut worlds = Self {
            first: 0,
            count: worlds,
            groups: groups.collect(),
            shared: Arc::new(shared),
        };
        worlds.start_all((0..worlds.len()).map(|world| (world, 0)).collect())?;
        Ok(worlds)
    }

    /// The task.
    pub fn task(&self) -> &Arc<Task> {
        &self.shared.task
    }

    /// The map that a world is on.
    pub fn map(&self, world: usize) -> &Map {
        let (group, i) = self.place(world);
        &self.shared.maps(group)[group.block.maps[i] as usize]
    }

    /// The number of that map in the set; none where every episode draws its own.
    pub fn map_number(&self, world: usize) -> Option<usize> {
        let (group, i) = self.place(world);
        match &self.shared.source {
            Maps::Set(_) => Some(group.block.maps[i] as usize),
            Maps::Fresh(_) => None,
        }
    }

    /// A copy of the current state of one world, to draw it or to try other actions.
    pub fn copy_of(&self, world: usize) -> Result<GridWorld> {
        let shared = &self.shared;
        let (task, maps) = (shared.task.clone(), shared.source.clone());
        let mut copy = GridWorld::new(task, maps, shared.options)?;
        let (group, i) = self.place(world);
        copy.resume(self.map(world).clone(), group.block.only(i));
        Ok(copy)
    }

    /// The length of a shortest solution from the current state of a world: see [`shortest`](crate::shortest).
    pub fn shortest(&self, world: usize, limit: usize) -> Shortest {
        let (group, i) = self.place(world);
        let (pose, truth) = (group.block.pose(i), &group.block.monitors[i]);
        shortest_from(&self.shared.task, self.map(world), pose, truth, limit)
    }

    /// The group of a world, and its place there.
    fn place(&self, world: usize) -> (&Group, usize) {
        let size = self.shared.group;
        (&self.groups[world / size], world % size)
    }
}

impl Worlds for GridWorlds {
    fn len(&self) -> usize {
        self.count
    }

    fn signature(&self) -> &Signature {
        self.shared.task.signature()
    }

    fn own_signature(&self, world: usize) -> Option<&Arc<AtomSet>> {
        self.shared.task.own_signature(self.map(world))
    }

    fn shared_signature(&self) -> Option<&Arc<AtomSet>> {
        self.shared.task.shared_signature()
    }

    fn spec(&self) -> &Spec {
        &self.shared.spec
    }

    fn actions(&self) -> &[String] {
        &self.shared.actions
    }

    fn step(&mut self, actions: &[u8]) -> Result<()> {
        check_actions(actions, self.count, self.shared.actions.len())?;
        let shared = &*self.shared;
        let groups = self
            .groups
            .par_iter_mut()
            .zip(actions.par_chunks(shared.group));
        let groups = groups.with_min_len(AT_ONCE / shared.group);
        groups.for_each(|(group, actions)| {
            let maps = match &shared.source {
                Maps::Set(maps) => &maps[..],
                Maps::Fresh(_) => &group.own,
            };
            group.block.step(&shared.task, maps, actions);
        });
        Ok(())
    }

    fn outcome(&self, world: usize) -> EpisodeOutcome {
        let (group, i) = self.place(world);
        group.block.outcomes[i]
    }

    fn labels(&self, world: usize) -> &AtomSet {
        let (group, i) = self.place(world);
        &self.shared.task.labels[usize::from(group.block.observed[i])]
    }

    fn step_mode(&self) -> StepMode {
        self.shared.task.step_mode()
    }

    fn observe(&self, world: usize, planes: &mut [u8], _vector: &mut [f32]) {
        let (group, i) = self.place(world);
        let (shared, bytes) = (&*self.shared, self.shared.spec.planes_len());
        let backgrounds = match &shared.source {
            Maps::Set(_) => &shared.backgrounds,
            Maps::Fresh(_) => &group.backgrounds,
        };
        let map = &backgrounds[group.block.maps[i] as usize * bytes..][..bytes];
        let (room, legend) = (shared.task.room(), &shared.task.legend);
        (shared.options.view).observe(room, legend, map, group.block.pose(i), planes);
    }

    fn cell_of(&self, world: usize, atom: AtomId) -> Option<Cell> {
        let (group, i) = self.place(world);
        let (shared, pose) = (&*self.shared, group.block.pose(i));
        let cell = shared.task.cell_of(self.map(world), atom)?;
        Some((shared.options.view).place(shared.task.room(), pose, cell))
    }

    fn label_map(&self, world: usize) -> Option<LabelMap> {
        Some(self.shared.task.label_map(self.map(world)))
    }

    fn pose(&self, world: usize) -> Option<(Cell, Direction)> {
        let (group, i) = self.place(world);
        let pose = group.block.pose(i);
        Some((self.shared.task.room().cell(pose.cell), pose.direction()))
    }

    fn episode(&self, world: usize) -> u64 {
        let (group, i) = self.place(world);
        group.block.episodes[i]
    }

    fn start(&mut self, world: usize, episode: u64) -> Result<()> {
        self.start_all(vec![(world, episode)])
    }

    /// On all threads.
    fn start_all(&mut self, episodes: Vec<(usize, u64)>) -> Result<()> {
        let (shared, first) = (&*self.shared, self.first);
        // Drawing a map takes much longer than drawing a start.
        let at_once = match &shared.source {
            Maps::Fresh(_) => 1,
            Maps::Set(_) => AT_ONCE,
        };
        let starts: Vec<Start> = (episodes.into_par_iter().with_min_len(at_once))
            .map(|(world, episode)| shared.draw(first + world, episode))
            .collect::<Result<_>>()?;
        for start in starts {
            let world = start.world - first;
            let (group, i) = (&mut self.groups[world / shared.group], world % shared.group);
            if let Some(map) = start.map {
                let bytes = shared.spec.planes_len();
                let image = &mut group.backgrounds[start.number * bytes..][..bytes];
                shared.paint(&map, image);
                group.own[start.number] = map;
            }
            let map = match &shared.source {
                Maps::Set(maps) => &maps[start.number],
                Maps::Fresh(_) => &group.own[start.number],
            };
            let map = (start.number as u32, map);
            (group.block).start(i, start.episode, map, start.pose, &shared.task);
        }
        Ok(())
    }

    fn next_episodes(&mut self) -> Result<usize> {
        let size = self.shared.group;
        let over: Vec<(usize, u64)> = (self.groups.iter().enumerate())
            .flat_map(|(number, Group { block, .. })| {
                (block.outcomes.iter().zip(&block.episodes).enumerate())
                    .filter(|(_, (outcome, _))| outcome.is_over())
                    .map(move |(i, (_, episode))| (number * size + i, episode + 1))
            })
            .collect();
        let count = over.len();
        if count > 0 {
            self.start_all(over)?;
        }
        Ok(count)
    }

    fn split(&mut self, most: usize) -> Vec<Self> {
        let (mut first, mut left) = (self.first, std::mem::take(&mut self.groups));
        let sizes = shares(left.len(), most);
        let part = |size: usize| {
            let after = left.split_off(size);
            let groups = std::mem::replace(&mut left, after);
            let count = groups.iter().map(|group| group.block.cells.len()).sum();
            let part = Self {
                shared: self.shared.clone(),
                first,
                count,
                groups,
            };
            first += count;
            part
        };
        let parts = sizes.map(part).collect();
        self.count = 0;
        parts
    }

    fn join(&mut self, groups: Vec<Self>) {
        for part in groups {
            self.count += part.count;
            self.groups.extend(part.groups);
        }
    }
}
