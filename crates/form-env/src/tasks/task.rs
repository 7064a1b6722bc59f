//! A task: the description that people write, and what it comes to once it has been checked.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use form_core::{
    AtomSet, BoundMachine, Machine, MachineStatus, Monitor, Signature, StateId, StepMode,
};

use super::object_sets::{Counts, MOST_SETS, ObjectSet, atoms_of, number_of_sets, object_sets};
use crate::env::spec::EpisodeOutcome;
use crate::error::{Error, Result};
use crate::grid::colour::Colour;
use crate::grid::map::{Content, Legend, MAX_OBJECTS, Map, NOTHING, Object};
use crate::grid::room::{CellNumber, Room};
use crate::grid::rules::Rules;

/// A task as it is described.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskDescription {
    /// Its name.
    pub name: String,
    /// A description in one sentence.
    pub about: String,
    /// The room.
    pub room: Room,
    /// The number of checkpoints per colour, or the numbers of which each map has one.
    pub checkpoints: BTreeMap<Colour, Counts>,
    /// The colours of keys, one of each.
    pub keys: BTreeSet<Colour>,
    /// The colours of doors, one of each.
    pub doors: BTreeSet<Colour>,
    /// The number of lava cells.
    pub lava: usize,
    /// The maximum number of steps per episode.
    pub steps: u32,
    /// The ground truth: when the task is done and when it has become impossible.
    pub machine: Machine,
}

/// A task that has been checked and can be played.
///
/// Worlds use its machine to determine the outcome of an episode. A learner is given a world, not the task.
#[derive(Clone, Debug)]
pub struct Task {
    description: TaskDescription,
    signature: Signature,
    truth: Arc<BoundMachine>,
    /// The sets of objects of which each map has one; the first has the fewest objects.
    pub(crate) sets: Vec<ObjectSet>,
    pub(crate) legend: Legend,
    pub(crate) rules: Rules,
    /// What is observed, by content of the cell.
    pub(crate) labels: Arc<[AtomSet]>,
    /// The outcome in each state of the machine.
    pub(crate) outcomes: Vec<EpisodeOutcome>,
    /// Whether some maps are held out.
    pub(crate) holds_out: bool,
}

/// The field of a description that is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Name,
    Checkpoints,
    /// The number of checkpoints of a colour.
    Colour(Colour),
    Lava,
    Steps,
    Machine,
}

/// What is wrong with a description.
pub(crate) type Fault = (Field, String);

/// A task with fewer maps than this holds none out.
const FEW_MAPS: f64 = 1000.0;

impl Task {
    /// Checks the description.
    pub fn new(description: TaskDescription) -> Result<Self> {
        let task = description.name.clone();
        Self::check(description).map_err(|(_, problem)| Error::Task { task, problem })
    }

    pub(crate) fn check(description: TaskDescription) -> Result<Self, Fault> {
        let TaskDescription { room, steps, .. } = &description;
        let name_is_good = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if description.name.is_empty() || !description.name.chars().all(name_is_good) {
            let problem = "a name consists of letters, digits, `-` and `_`";
            return Err((Field::Name, problem.to_owned()));
        }
        if *steps == 0 {
            return Err((Field::Steps, "an episode has at least one step".to_owned()));
        }
        check_capacity(&description)?;
        let objects = objects(&description);
        let signature = Signature::parse(objects.iter().map(|object| object.atom()))
            .map_err(|error| (Field::Checkpoints, error.to_string()))?;
        let mut legend = objects;
        legend.sort_by_key(|object| signature.id_of_text(&object.atom()));
        let truth = (description.machine.bind(&signature))
            .map_err(|error| (Field::Machine, error.to_string()))?;
        let truth = Arc::new(truth);
        let sets = object_sets(&description.checkpoints, &legend, &signature, &truth);
        check_fewest(&truth, &description.checkpoints, &legend)?;
        check_episodes_begin(&truth)?;
        for set in &sets {
            check_lava_ends_it(&set.truth, &signature)?;
        }
        let labels = std::iter::once(AtomSet::new())
            .chain(signature.ids().map(|id| AtomSet::from_iter([id])))
            .collect();
        let outcomes = (truth.machine().state_ids())
            .map(|state| match truth.machine().status(state) {
                MachineStatus::Running => EpisodeOutcome::Running,
                MachineStatus::Accepted => EpisodeOutcome::Goal,
                MachineStatus::Rejected => EpisodeOutcome::DeadEnd,
            })
            .collect();
        let rules = Rules::new(room);
        let holds_out = has_many_maps(&description);
        Ok(Self {
            description,
            signature,
            truth,
            sets,
            legend: Legend::new(legend),
            rules,
            labels,
            outcomes,
            holds_out,
        })
    }

    /// The same world with another machine as its ground truth.
    pub fn with_machine(&self, machine: Machine) -> Result<Self> {
        Self::new(TaskDescription {
            machine,
            ..self.description.clone()
        })
    }

    /// Whether some of its maps are held out from training; a task with few different maps has none to spare.
    pub fn holds_out(&self) -> bool {
        self.holds_out
    }

    /// The description.
    pub fn description(&self) -> &TaskDescription {
        &self.description
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.description.name
    }

    /// The room.
    pub fn room(&self) -> &Room {
        &self.description.room
    }

    /// The atoms that can be observed, on some map.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// The atoms that can be observed on a map, if its maps have different objects.
    pub fn own_signature(&self, map: &Map) -> Option<&Arc<AtomSet>> {
        (self.sets.len() > 1).then(|| &self.sets[map.objects].own)
    }

    /// The atoms that can be observed on every map, if its maps have different objects.
    pub fn shared_signature(&self) -> Option<&Arc<AtomSet>> {
        (self.sets.len() > 1).then(|| &self.sets[0].own)
    }

    /// The ground truth, bound to the signature: that of a map with all objects.
    pub fn truth(&self) -> &BoundMachine {
        &self.truth
    }

    /// The ground truth on a map, where `forall` ranges over the objects of that map.
    pub fn truth_on(&self, map: &Map) -> &Arc<BoundMachine> {
        &self.sets[map.objects].truth
    }

    /// A machine on a map, where `forall` ranges over the objects of that map.
    pub fn bound_on(&self, machine: &Arc<BoundMachine>, map: &Map) -> Arc<BoundMachine> {
        machine.restricted(self.own_signature(map).map(AsRef::as_ref))
    }

    /// Which environment steps its machine observes.
    pub fn step_mode(&self) -> StepMode {
        self.truth.machine().step_mode()
    }

    /// The maximum number of steps per episode.
    pub fn steps(&self) -> u32 {
        self.description.steps
    }

    /// The objects of its worlds in the order of their atoms in the signature; lava once, however much there is.
    pub fn objects(&self) -> &[Object] {
        self.legend.objects()
    }

    /// The outcome of an episode in this state of the machine.
    pub(crate) fn outcome(&self, state: StateId) -> EpisodeOutcome {
        self.outcomes[state.index()]
    }

    /// The content of the goal's cell.
    pub(crate) fn goal(&self) -> Content {
        self.legend.content(Object::Goal).unwrap_or(NOTHING)
    }

    /// The content of cells with lava, if there are any.
    pub(crate) fn lava(&self) -> Option<Content> {
        self.legend.content(Object::Lava)
    }
}

/// The objects of a world, those in the area first; checkpoints are numbered colour by colour, in the paper's order.
fn objects(description: &TaskDescription) -> Vec<Object> {
    let colours = Colour::ALL.into_iter().flat_map(|colour| {
        let most = description.checkpoints.get(&colour).map_or(0, Counts::most);
        std::iter::repeat_n(colour, most)
    });
    let mut objects: Vec<Object> = (colours.enumerate())
        .map(|(number, colour)| Object::Checkpoint { colour, number })
        .collect();
    objects.extend(description.keys.iter().copied().map(Object::Key));
    objects.extend(description.doors.iter().copied().map(Object::Door));
    objects.push(Object::Goal);
    if description.lava > 0 {
        objects.push(Object::Lava);
    }
    objects
}

/// Whether the room has enough free cells for everything, and for the agent.
fn check_capacity(description: &TaskDescription) -> Result<(), Fault> {
    let TaskDescription { room, lava, .. } = description;
    // Saturating: counts come from files.
    let most = description.checkpoints.values().map(Counts::most);
    let checkpoints = most.fold(0_usize, usize::saturating_add);
    if number_of_sets(&description.checkpoints).is_none() {
        let problem = format!(
            "maps with more than {MOST_SETS} different sets of objects: name fewer numbers of checkpoints"
        );
        return Err((Field::Checkpoints, problem));
    }
    let furniture = description.keys.len() + description.doors.len();
    let most = MAX_OBJECTS - 2 - furniture;
    if checkpoints > most {
        let problem = format!("{checkpoints} checkpoints: at most {most} can be told apart");
        return Err((Field::Checkpoints, problem));
    }
    let (placed, things) = match furniture {
        0 => (checkpoints, format!("{checkpoints} checkpoints")),
        n => (
            checkpoints + n,
            format!("{checkpoints} checkpoints and {n} keys and doors"),
        ),
    };
    let free = room.free().count();
    let in_area = (room.free())
        .filter(|number| room.area().contains(room.cell(*number)))
        .count();
    if placed > in_area {
        let problem = format!("{things}, but only {in_area} cells are free for them");
        return Err((Field::Checkpoints, problem));
    }
    if lava.saturating_add(placed) >= free {
        let problem = format!(
            "{lava} cells of lava and {things}, but only {free} cells are free, and the agent needs one"
        );
        return Err((Field::Lava, problem));
    }
    Ok(())
}

/// Whether a task has enough maps to hold some out. The description must have passed [`check_capacity`].
fn has_many_maps(description: &TaskDescription) -> bool {
    let room = &description.room;
    let ways = |count: usize, free: usize| -> f64 {
        (0..count)
            .map(|i| (free - i) as f64 / (i + 1) as f64)
            .product()
    };
    let in_area = |number: &CellNumber| room.area().contains(room.cell(*number));
    let cells = room.free().filter(in_area).count();
    let single = description.keys.len() + description.doors.len();
    let maps = |number: fn(&Counts) -> usize| {
        let mut free = cells;
        let mut maps = 1.0;
        let counts: Vec<usize> = (description.checkpoints.values().map(number))
            .chain(std::iter::repeat_n(1, single))
            .collect();
        for count in &counts {
            maps *= ways(*count, free);
            free -= count;
        }
        let placed: usize = counts.iter().sum();
        maps * ways(description.lava, room.free().count() - placed)
    };
    // There are most maps with the most objects, unless these take nearly all cells.
    maps(Counts::most).max(maps(Counts::fewest)) >= FEW_MAPS
}

/// The machine must fit the maps with the fewest objects of a colour, too.
fn check_fewest(
    truth: &BoundMachine,
    checkpoints: &BTreeMap<Colour, Counts>,
    objects: &[Object],
) -> Result<(), Fault> {
    let signature = truth.signature();
    for (colour, counts) in checkpoints {
        let of_colour = atoms_of(*colour, objects, signature);
        let lacking: AtomSet = of_colour[counts.fewest()..].iter().copied().collect();
        let fewest: AtomSet = (signature.ids())
            .filter(|id| !lacking.contains(*id))
            .collect();
        if let Err(error) = truth.machine().bind(&signature.restricted(&fewest)) {
            let few = counts.fewest();
            let maps = match few {
                0 => format!("without {colour} checkpoints"),
                1 => format!("with 1 {colour} checkpoint"),
                _ => format!("with {few} {colour} checkpoints"),
            };
            let problem = format!(
                "on maps {maps} the machine cannot be evaluated: {error}; leave {few} out, or change the machine"
            );
            return Err((Field::Colour(*colour), problem));
        }
    }
    Ok(())
}

/// Where every step counts, the empty observation at the start must not end the episode.
fn check_episodes_begin(truth: &BoundMachine) -> Result<(), Fault> {
    let mut monitor = Monitor::new(truth);
    monitor.observe(truth, &AtomSet::new());
    match truth.machine().is_terminal(monitor.state()) {
        false => Ok(()),
        true => {
            let problem =
                "the machine ends an episode before its first step, when nothing is observed yet";
            Err((Field::Machine, problem.to_owned()))
        }
    }
}

/// Lava ends an episode, so the machine must be terminal after it: from every state, with every window with which it can rest there.
fn check_lava_ends_it(truth: &BoundMachine, signature: &Signature) -> Result<(), Fault> {
    let Some(lava) = signature.id_of_text("lava") else {
        return Ok(());
    };
    let lava = AtomSet::from_iter([lava]);
    let machine = truth.machine();
    for state in (machine.state_ids()).filter(|state| !machine.is_terminal(*state)) {
        let name = machine.state_name(state);
        let Some(windows) = truth.resting_windows(state) else {
            let problem = format!(
                "what state `{name}` looks for in its window can be seen in too many ways for a task with lava"
            );
            return Err((Field::Machine, problem));
        };
        for window in windows {
            let edge = truth.choose(state, &lava, &window.union(&lava));
            let next = edge.map_or(state, |edge| truth.outcome(edge).0);
            if !machine.is_terminal(next) {
                let problem = format!(
                    "lava ends an episode, but in state `{name}` the machine goes on: give it an edge `{name} -> u_rej : lava` to a rejecting state"
                );
                return Err((Field::Machine, problem));
            }
        }
    }
    Ok(())
}
