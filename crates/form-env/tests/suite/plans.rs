//! The planner: it agrees with its definition, its searches stay small, and the planes of the built-in tasks look right.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use form_core::{
    AtomId, AtomSet, BoundMachine, Machine, MachineStatus, Monitor, Signature, StateId,
};
use form_env::{
    Cell, Environment, EpisodeOutcome, Error, GridWorld, LabelMap, Maps, Planner, ReachAvoid, Room,
    Spec, Split, Starts, Stream, Task, WorldOptions, builtin_tasks, generator, solution,
};
use proptest::prelude::*;
use rand::{Rng, RngExt};

/// All that a run depends on, with its whole buffer.
type Key = (Cell, StateId, AtomSet, AtomSet);

/// The definition, over single cells and whole buffers.
struct Naive<'a> {
    machine: &'a BoundMachine,
    map: &'a LabelMap,
}

impl Naive<'_> {
    /// The situation, which an observation changes or not.
    fn situation(&self, monitor: &Monitor) -> (StateId, AtomSet, AtomSet) {
        let progress = self.machine.progress_atoms(monitor.state());
        let seen = monitor.seen().intersection(progress);
        let mut again = Monitor::resumed(
            self.machine,
            monitor.state(),
            monitor.seen(),
            &AtomSet::new(),
        );
        again.observe(self.machine, monitor.newest());
        let changes =
            again.state() != monitor.state() || again.seen().intersection(progress) != seen;
        let newest = if changes {
            monitor.newest().clone()
        } else {
            AtomSet::new()
        };
        (monitor.state(), seen, newest)
    }

    fn neighbours(&self, cell: Cell) -> impl Iterator<Item = Cell> {
        let Cell { x, y } = cell;
        [(x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)]
            .map(|(x, y)| Cell { x, y })
            .into_iter()
            .filter(|cell| !self.map.room().is_wall(*cell))
    }

    fn enter(&self, monitor: &Monitor, cell: Cell) -> (Monitor, bool) {
        let mut after = monitor.clone();
        after.observe(self.machine, self.map.label(cell));
        let changes = self.situation(monitor) != self.situation(&after);
        (after, changes)
    }

    /// Observations left: a search by levels, within which everything can be walked to that changes nothing.
    fn left(&self, monitor: &Monitor, cell: Cell) -> Option<usize> {
        let status = |monitor: &Monitor| self.machine.machine().status(monitor.state());
        match status(monitor) {
            MachineStatus::Accepted => return Some(0),
            MachineStatus::Rejected => return None,
            MachineStatus::Running => {}
        }
        let key = |cell: Cell, monitor: &Monitor| -> Key {
            (
                cell,
                monitor.state(),
                monitor.seen().clone(),
                monitor.newest().clone(),
            )
        };
        let mut known = HashSet::from([key(cell, monitor)]);
        let mut level = VecDeque::from([(cell, monitor.clone())]);
        for left in 1.. {
            let mut next = VecDeque::new();
            while let Some((cell, monitor)) = level.pop_front() {
                for to in self.neighbours(cell) {
                    let (after, changes) = self.enter(&monitor, to);
                    match status(&after) {
                        MachineStatus::Accepted => return Some(left),
                        MachineStatus::Rejected => continue,
                        MachineStatus::Running => {}
                    }
                    // A longer way here may be the first that is found: only levels count.
                    if !changes && known.insert(key(to, &after)) {
                        level.push_back((to, after));
                    } else if changes {
                        next.push_back((to, after));
                    }
                }
            }
            next.retain(|(cell, monitor)| known.insert(key(*cell, monitor)));
            if next.is_empty() {
                return None;
            }
            level = next;
        }
        None
    }

    /// The cells that can be stepped on next and change the situation.
    fn touched(&self, monitor: &Monitor, cell: Cell) -> HashSet<Cell> {
        let mut known = HashSet::from([cell]);
        let mut touched = HashSet::new();
        let mut open = vec![cell];
        while let Some(cell) = open.pop() {
            for to in self.neighbours(cell) {
                match self.enter(monitor, to).1 {
                    true => {
                        touched.insert(to);
                    }
                    false if known.insert(to) => open.push(to),
                    false => {}
                }
            }
        }
        touched
    }

    /// The sub-task.
    fn sub_task(&self, monitor: &Monitor, cell: Cell) -> ReachAvoid {
        let mut task = ReachAvoid::new(self.map.room());
        let left = self.left(monitor, cell);
        for to in self.touched(monitor, cell) {
            let after = self.enter(monitor, to).0;
            let rejects = self.machine.machine().status(after.state()) == MachineStatus::Rejected;
            match (left, self.left(&after, to)) {
                (Some(left), Some(after)) if after < left => task.ask_for(to),
                (Some(left), Some(after)) if after == left => {}
                (Some(_), _) => task.forbid(to),
                (None, _) if rejects => task.forbid(to),
                (None, _) => {}
            }
        }
        task
    }
}

/// Machines that ask for different objects, mind different objects on the way, go back, and for which the newest observation matters.
const MACHINES: [&str; 16] = [
    "u0 -> u1 : forall X. yellow(X)\nu1 -> acc : goal",
    "u0 -> acc : goal\nu0 -> rej : exists X. red(X)",
    "u0 -> u1 : yellow(o0)\nu1 -> u2 : exists X. red(X)\nu2 -> acc : yellow(o0)",
    "u0 -> acc : goal and not forall X. yellow(X)\nu0 -> rej : forall X. yellow(X)",
    // Twice the same object, with something else in between.
    "u0 -> u1 : yellow(o1)\nu1 -> acc : yellow(o1)\nu1 -> u0 : exists X. red(X)",
    "u0 -> u1 : goal\nu1 -> acc : goal",
    // Back to the start, and a loop that keeps the buffer.
    "u0 -> u1 : exists X. yellow(X)\nu1 -> u0 : red(o3)\nu1 -> u1 : yellow(o1)\nu1 -> acc : goal",
    "u0 -> u1 : exists X. yellow(X)\nu1 -> rej : exists X. yellow(X)\nu1 -> acc : goal",
    "u0 -> u1 : exists X. yellow(X)\nu1 -> rej : exists X. red(X)\nu1 -> u2 : forall X. yellow(X)\nu2 -> acc : goal",
    "u0 -> u1 : forall X. red(X)\nu0 -> u2 : forall X. yellow(X)\nu1 -> acc : goal\nu2 -> acc : exists X. red(X)",
    "u0 -> u1 : forall X. red(X) and not yellow(o2)\nu1 -> acc : yellow(o2) or goal",
    // Windows: some of all, in any order, what must not have been seen, and pairs.
    "u0 -> u1 : atleast 2 X. yellow(X)\nu1 -> acc : goal",
    "u0 -> u1 : exists X. once yellow(X) and exists X. once red(X)\nu1 -> acc : once goal and once yellow(o1)",
    "u0 -> acc : goal and once yellow(o0)\nu0 -> rej : once red(o3) and atleast 2 X. yellow(X)",
    "u0 -> u1 : exists X, Y. (once yellow(X) and red(Y) and not once yellow(o1))\nu1 -> acc : goal",
    // Cannot be completed at all.
    "u0 -> u1 : goal\nu1 -> rej : exists X. red(X)\nu1 -> acc : forall X. yellow(X) and not true",
];

fn small_task(machine: &str, lava: usize) -> Task {
    let machine = match lava {
        0 => machine.to_owned(),
        _ => ["u0", "u1", "u2"]
            .iter()
            .fold(machine.to_owned(), |machine, state| {
                match machine.contains(&format!("{state} ->")) {
                    true => format!("{state} -> rej : lava\n{machine}"),
                    false => machine,
                }
            }),
    };
    let reject = if machine.contains("rej") {
        "reject rej\n"
    } else {
        ""
    };
    Task::from_toml(&format!(
        "name = \"small\"\nlava = {lava}\nmachine = '''\ninitial u0\naccept acc\n{reject}{machine}\n'''\n\
         [room]\nsize = [6, 5]\n[checkpoints]\nyellow = 3\nred = 2\n"
    ))
    .unwrap()
}

/// A world that any machine can be planned in: the task of the maps is to reach the goal.
fn any_map(lava: usize, seed: u64) -> (Task, LabelMap) {
    let task = small_task("u0 -> acc : goal", lava);
    let map = task.map(seed, Split::Training, 0).unwrap();
    let labels = task.label_map(&map);
    (task, labels)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    /// On random walks through small rooms full of objects, in every situation on the way.
    #[test]
    fn plans_are_what_the_definition_says(machine in 0..MACHINES.len(), lava in 0..3_usize, seed in 0..1_000_000_u64) {
        let (task, map) = any_map(lava, seed);
        let planned = small_task(MACHINES[machine], lava);
        let machine = Arc::new(planned.truth().machine().bind(task.signature()).unwrap());
        let naive = Naive { machine: &machine, map: &map };
        let mut planner = Planner::new(machine.clone(), map.clone()).unwrap();
        let mut random = generator(seed, Stream::Other(1));
        let free: Vec<Cell> = (1..5).flat_map(|x| (1..4).map(move |y| Cell { x, y }))
            .filter(|cell| map.label(*cell).is_empty()).collect();
        let mut cell = free[random.random_range(0..free.len())];
        let mut monitor = Monitor::new(&machine);
        for _ in 0..12 {
            let plan = planner.plan(&monitor, cell).clone();
            prop_assert_eq!(plan.observations_left, naive.left(&monitor, cell));
            if machine.machine().is_terminal(monitor.state()) {
                break;
            }
            prop_assert_eq!(&plan.sub_task, &naive.sub_task(&monitor, cell));
            let around: Vec<Cell> = naive.neighbours(cell).collect();
            cell = around[random.random_range(0..around.len())];
            monitor.observe(&machine, map.label(cell));
        }
    }

    /// An agent that walks to a cell to reach completes the task exactly on maps where that is possible.
    #[test]
    fn following_the_plan_completes_the_task(machine in 0..MACHINES.len() - 1, seed in 0..1_000_000_u64) {
        let (task, map) = any_map(0, seed);
        let machine = small_task(MACHINES[machine], 0).truth().machine().clone();
        let machine = Arc::new(machine.bind(task.signature()).unwrap());
        let mut planner = Planner::new(machine.clone(), map.clone()).unwrap();
        let naive = Naive { machine: &machine, map: &map };
        let mut cell = (1..5).flat_map(|x| (1..4).map(move |y| Cell { x, y }))
            .find(|cell| map.label(*cell).is_empty()).unwrap();
        let mut monitor = Monitor::new(&machine);
        let mut left = naive.left(&monitor, cell);
        while let Some(now @ 1..) = left {
            let plan = planner.plan(&monitor, cell);
            let touched = naive.touched(&monitor, cell);
            let mut wanted: Vec<Cell> = touched.into_iter()
                .filter(|cell| plan.sub_task.reach()[plan.sub_task.number(*cell)]).collect();
            wanted.sort();
            prop_assert!(!wanted.is_empty());
            cell = wanted[seed as usize % wanted.len()];
            monitor.observe(&machine, map.label(cell));
            left = naive.left(&monitor, cell);
            prop_assert_eq!(left, Some(now - 1));
        }
        if left == Some(0) {
            prop_assert_eq!(monitor.state(), machine.machine().accept());
        }
    }
}

/// A chain of five states over four atoms, with ways back and rejecting edges.
fn any_chain(random: &mut impl Rng) -> Machine {
    let mut atoms = ["a", "b", "c", "d"];
    let mut edges = String::new();
    for state in 0..5 {
        for i in 0..4 {
            atoms.swap(i, random.random_range(0..4));
        }
        for (i, atom) in atoms.iter().enumerate() {
            let to = match (i, random.random_range(0..4)) {
                (0, _) if state == 4 => "acc".to_owned(),
                (0, _) => format!("u{}", state + 1),
                (_, 0) => "rej".to_owned(),
                (_, 1) => continue,
                _ => format!("u{}", random.random_range(0..5)),
            };
            edges += &format!("u{state} -> {to} : {atom}\n");
        }
    }
    let text = format!("initial u0\naccept acc\nreject rej\n{edges}");
    text.parse().unwrap()
}

/// What earlier searches found out does not change later plans; those that gave up leave bounds on single nodes behind.
#[test]
fn plans_do_not_depend_on_earlier_plans() {
    let signature = Signature::parse(["a", "b", "c", "d"]).unwrap();
    let room = Room::empty(8, 8).unwrap();
    let cells = || (1..7).flat_map(|x| (1..7).map(move |y| Cell { x, y }));
    let mut random = generator(1, Stream::Other(1));
    for number in 0..300 {
        let machine = any_chain(&mut random).bind(&signature).unwrap();
        let machine = Arc::new(machine);
        // So many labels that some stand in the way of others.
        let mut label = || signature.ids().nth(random.random_range(0..5));
        let labels: HashMap<Cell, AtomSet> = cells()
            .map(|cell| (cell, AtomSet::from_iter(label())))
            .collect();
        let map = LabelMap::from_labels(room.clone(), |cell| labels[&cell].clone());
        let naive = Naive {
            machine: &machine,
            map: &map,
        };
        let mut cell = cells().find(|cell| map.label(*cell).is_empty()).unwrap();
        let mut monitor = Monitor::new(&machine);
        let new = Planner::new(machine.clone(), map.clone()).unwrap();
        let mut used = new.clone();
        for _ in 0..40 {
            let mut new = new.clone();
            let (plan, expected) = (used.plan(&monitor, cell), new.plan(&monitor, cell));
            assert_eq!(
                (plan.observations_left, &plan.sub_task),
                (expected.observations_left, &expected.sub_task),
                "map {number}, {cell:?}, {}",
                machine.machine()
            );
            let running = |cell: &Cell| {
                let after = naive.enter(&monitor, *cell).0;
                !machine.machine().is_terminal(after.state())
            };
            let around: Vec<Cell> = naive.neighbours(cell).filter(running).collect();
            if around.is_empty() {
                break;
            }
            cell = around[random.random_range(0..around.len())];
            monitor.observe(&machine, map.label(cell));
        }
    }
}

/// Twenty yellow checkpoints have a million windows; the search looks at a few hundred situations.
#[test]
fn objects_that_nothing_tells_apart_count_as_one() {
    let task = Task::from_toml(
        "name = \"many\"\nmachine = '''\ninitial u0\naccept acc\nu0 -> u1 : forall X. yellow(X)\nu1 -> u2 : forall X. red(X)\nu2 -> acc : goal\n'''\n\
         room = \"paper\"\n[checkpoints]\nyellow = 20\nred = 10\n",
    )
    .unwrap();
    for number in 0..10 {
        let map = task.map(7, Split::Training, number).unwrap();
        let mut planner =
            Planner::new(Arc::new(task.truth().clone()), task.label_map(&map)).unwrap();
        let agent = start(&task, number);
        let plan = planner.plan(&Monitor::new(task.truth()), agent);
        assert_eq!(plan.observations_left, Some(31));
        let expanded = planner.expanded();
        assert!(expanded < 1_000, "map {number}: {expanded} nodes");
    }
}

fn world(task: &Task, number: u64) -> GridWorld {
    let maps = Maps::Set(vec![task.map(7, Split::Training, number).unwrap()].into());
    let options = WorldOptions {
        starts: Starts::OfTheMap,
        ..WorldOptions::default()
    };
    GridWorld::new(Arc::new(task.clone()), maps, options).unwrap()
}

fn start(task: &Task, number: u64) -> Cell {
    world(task, number).agent()
}

/// A sub-task as text: `R` cells to reach, `A` cells to avoid, `o` other objects, `@` the agent.
fn picture(sub_task: &ReachAvoid, map: &LabelMap, agent: Cell) -> String {
    let symbol = |cell: Cell| {
        let number = sub_task.number(cell);
        match () {
            () if cell == agent => '@',
            () if sub_task.walls()[number] => '#',
            () if sub_task.reach()[number] => 'R',
            () if sub_task.avoid()[number] => 'A',
            () if !map.label(cell).is_empty() => 'o',
            () => '.',
        }
    };
    let row = |y| (0..sub_task.width()).map(move |x| symbol(Cell { x, y }));
    (0..sub_task.height())
        .map(|y| row(y).chain(['\n']).collect::<String>())
        .collect()
}

/// The planes of the built-in tasks, each time they change along a shortest solution.
#[test]
fn planes_of_the_built_in_tasks() {
    let mut text = String::new();
    for task in builtin_tasks() {
        let mut world = world(&task, 0);
        let map = LabelMap::of(&world, task.room()).unwrap();
        text += &format!("{}\n\n", task.name());
        for (object, y) in task.objects().iter().zip(0..) {
            let atom = task.signature().id_of_text(&object.atom()).unwrap();
            let cells = world.cells_of(atom).unwrap();
            let cells: Vec<String> = cells
                .iter()
                .map(|c| format!("({}, {})", c.x, c.y))
                .collect();
            let end = if y % 4 == 3 { "\n" } else { "  " };
            text += &format!("{} at {}{end}", object.atom(), cells.join(" "));
        }
        let mut planner = Planner::new(Arc::new(task.truth().clone()), map.clone()).unwrap();
        let mut shown = None;
        for action in solution(&world, 5_000_000).unwrap() {
            let (state, agent) = (world.truth().state(), world.agent());
            let plan = planner.plan(world.truth(), agent);
            if shown != Some(plan.number) {
                shown = Some(plan.number);
                let name = task.truth().machine().state_name(state);
                text += &format!("\n{name}, {} left\n", plan.observations_left.unwrap());
                text += &picture(&plan.sub_task, &map, agent);
            }
            world.step(action as usize).unwrap();
        }
        assert_eq!(world.outcome(), EpisodeOutcome::Goal);
        text.push('\n');
    }
    insta::assert_snapshot!("planes", text);
}

/// Lava lies in several cells, and every world of a task places all of its atoms.
#[test]
fn atoms_are_placed_where_they_are_observed() {
    for task in builtin_tasks() {
        let world = world(&task, 3);
        let map = LabelMap::of(&world, task.room()).unwrap();
        let mut placed = 0;
        for atom in task.signature().ids() {
            let cells = world.cells_of(atom).unwrap();
            placed += cells.len();
            for cell in &cells {
                assert_eq!(*map.label(*cell), AtomSet::from_iter([atom]));
            }
            let is_lava = task.signature().atom(atom).to_string() == "lava";
            let only = (!is_lava).then(|| cells[0]);
            assert_eq!(world.cell_of(atom), only);
        }
        let lava = task.description().lava;
        assert_eq!(
            placed,
            task.signature().len() + lava - usize::from(lava > 0)
        );
    }
}

/// An environment that does not know where its one atom is.
struct Bare {
    signature: Signature,
    spec: Spec,
}

impl Environment for Bare {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn actions(&self) -> &[String] {
        &[]
    }

    fn reset(&mut self, _: &mut dyn Rng) -> form_env::Result<()> {
        Ok(())
    }

    fn step(&mut self, _: usize) -> form_env::Result<EpisodeOutcome> {
        Ok(EpisodeOutcome::Running)
    }

    fn labels(&self) -> &AtomSet {
        unimplemented!("not asked for")
    }

    fn observe(&self, _: &mut [u8], _: &mut [f32]) {}

    fn cells_of(&self, _: AtomId) -> Option<Vec<Cell>> {
        None
    }
}

#[test]
fn environments_that_cannot_place_their_atoms_are_refused() {
    let bare = Bare {
        signature: Signature::parse(["door(d1)"]).unwrap(),
        spec: Spec::default(),
    };
    let error = LabelMap::of(&bare, &Room::paper()).unwrap_err();
    assert!(matches!(error, Error::Unplaceable { .. }));
    assert!(error.to_string().contains("`door(d1)`"), "{error}");
}

/// A machine that names what is impossible, and one that only walls make impossible.
#[test]
fn machines_that_cannot_accept_are_known() {
    let possible = |machine: &str| small_task(machine, 0).can_be_completed();
    assert!(possible("u0 -> acc : goal"));
    assert!(!possible("u0 -> acc : goal and not true"));
    assert!(!possible(
        "u0 -> u1 : goal and exists X. red(X)\nu1 -> acc : goal"
    ));
    assert!(!possible(
        "u0 -> rej : goal\nu0 -> acc : forall X. yellow(X) and goal"
    ));
}
