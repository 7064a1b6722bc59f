//! What agents see: the world as it is, and progress towards a `forall` exactly as the buffer has it.

use std::sync::Arc;

use form_core::{AtomSet, Machine, Monitor, Signature, StateId};
use form_env::{
    Copies, Environment, EpisodeOutcome, GridWorld, GridWorlds, Maps, Spec, Split, Task, View,
    WorldOptions, Worlds, solution,
};
use form_rl::{
    AgentAssignment, AssignmentMode, Credit, EndPotential, Game, GameConfig, MachineState,
    ObservationEncoder, ProgressEncoding,
};
use rand::{Rng, RngExt};

use crate::grid::worlds;
use crate::samples::rng;

/// Two `forall`s in one state, one of them negated, another in the next state, and none in the last.
const MACHINE: &str = "initial u0\naccept u_acc\n\
    u0 -> u1 : (forall X. yellow(X)) and not (forall X. red(X))\n\
    u1 -> u2 : forall X. blue(X)\n\
    u2 -> u_acc : goal";

/// All kinds of windows.
const WINDOWS: &str = "initial u0\naccept u_acc\n\
    u0 -> u1 : exists X. once yellow(X) and exists X. once red(X)\n\
    u1 -> u2 : exists X, Y. (once blue(X) and yellow(Y))\n\
    u2 -> u_acc : goal and atleast 2 X. blue(X)";

/// What a world shows by itself.
fn own_image(worlds: &GridWorlds, world: usize) -> Vec<u8> {
    let mut image = vec![0; worlds.spec().planes_len()];
    worlds.observe(world, &mut image, &mut []);
    image
}

/// What a encoder shows.
fn seen(
    encoder: &ObservationEncoder,
    worlds: &GridWorlds,
    world: usize,
    assignment: &AgentAssignment,
    machine_state: MachineState<'_>,
) -> (Vec<u8>, Vec<f32>) {
    // Rubbish that has to be overwritten.
    let mut image = vec![7; encoder.image_len()];
    let mut vector = vec![7.0; encoder.vector_len()];
    encoder.encode(
        worlds,
        world,
        assignment.bound_machine(),
        machine_state,
        &mut image,
        &mut vector,
    );
    (image, vector)
}

fn flags(atoms: &AtomSet, seen: &AtomSet) -> Vec<f32> {
    let flag = |atom| f32::from(u8::from(seen.contains(atom)));
    atoms.iter().map(flag).collect()
}

/// Walks at random, or to the goal, and looks at every step through the sights of all casts.
fn look_around(view: View, machine: &str) {
    let mut worlds = worlds(view, 2);
    let machine: Machine = machine.parse().unwrap();
    let machine = machine.bind(worlds.signature()).unwrap();
    let assignment =
        |roles, progress| AgentAssignment::new(machine.clone(), roles, progress, worlds.spec());
    let [bits, planes] = [ProgressEncoding::Bits, ProgressEncoding::Plane]
        .map(|progress| assignment(AssignmentMode::PerState, progress));
    let [single_bits, single_planes] = [ProgressEncoding::Bits, ProgressEncoding::Plane]
        .map(|progress| assignment(AssignmentMode::Single, progress));
    let unaided = assignment(AssignmentMode::Unaided, ProgressEncoding::Plane);
    let mut all = AtomSet::new();
    let states: Vec<StateId> = machine.machine().state_ids().collect();
    states
        .iter()
        .for_each(|state| all.union_with(machine.progress_atoms(*state)));
    let mut random = rng(1);
    let mut monitors = vec![Monitor::new(&machine); 2];
    let (mut way, mut waited_for, mut seen_at_last, mut moved) = (Vec::new(), 0, 0, 0);
    for turn in 0..2000 {
        for (world, monitor) in monitors.iter_mut().enumerate() {
            monitor.observe(&machine, worlds.labels(world));
            if machine.machine().is_terminal(monitor.state()) {
                monitor.reset(&machine);
            }
            let machine_state = MachineState {
                state: monitor.state(),
                seen: monitor.seen(),
            };
            let atoms = machine.progress_atoms(machine_state.state);
            let own = own_image(&worlds, world);
            let look = |assignment: &AgentAssignment| {
                let agent = assignment.agent(machine_state.state).unwrap();
                seen(
                    &assignment.roles()[agent].encoder,
                    &worlds,
                    world,
                    assignment,
                    machine_state,
                )
            };
            assert_eq!(look(&unaided), (own.clone(), vec![]));
            assert_eq!(look(&bits), (own.clone(), flags(atoms, machine_state.seen)));
            let mut extended = flags(&all, machine_state.seen);
            extended.extend(
                states
                    .iter()
                    .map(|state| f32::from(u8::from(*state == machine_state.state))),
            );
            assert_eq!(look(&single_bits), (own.clone(), extended.clone()));
            // Cell by cell: the world's own channels, and one for what is waited for and has not been seen.
            let shape = worlds.spec().planes.clone().unwrap();
            let open: Vec<_> = (machine.awaited_atoms(machine_state.state, machine_state.seen))
                .iter()
                .map(|atom| worlds.cell_of(world, atom).unwrap())
                .collect();
            let mut with_plane = Vec::new();
            for (cell, channels) in own.chunks_exact(shape.channels.len()).enumerate() {
                with_plane.extend_from_slice(channels);
                let place = (cell / shape.height, cell % shape.height);
                with_plane.push(u8::from(open.iter().any(|cell| (cell.x, cell.y) == place)));
            }
            let expected = match atoms.is_empty() {
                true => own,
                false => with_plane.clone(),
            };
            assert_eq!(look(&planes), (expected, vec![]));
            let one_hot = extended.split_off(all.len());
            assert_eq!(look(&single_planes), (with_plane, one_hot));
            waited_for += open.len();
            seen_at_last += atoms.intersection(machine_state.seen).len();
            moved += usize::from(machine_state.state != machine.machine().initial());
        }
        if turn % 500 == 0 {
            way = solution(&worlds.copy_of(0).unwrap(), 1_000_000).unwrap();
            way.reverse();
        }
        let first = way
            .pop()
            .map_or_else(|| random.random_range(0..3), |action| action as u8);
        worlds.step(&[first, random.random_range(0..3)]).unwrap();
        for (world, monitor) in monitors.iter_mut().enumerate() {
            if worlds.outcome(world).is_over() {
                worlds.start(world, worlds.episode(world) + 1).unwrap();
                monitor.reset(&machine);
            }
        }
    }
    assert!(
        waited_for > 0 && seen_at_last > 0 && moved > 0,
        "nothing happened"
    );
}

#[test]
fn progress_is_shown_as_the_buffer_has_it() {
    let truth = worlds(View::Planes, 1).task().truth().machine().to_string();
    for view in View::ALL {
        look_around(view, &truth);
        look_around(view, MACHINE);
        look_around(view, WINDOWS);
    }
}

/// The grid, in which nobody can say where anything is.
struct Unplaced(GridWorld);

impl Environment for Unplaced {
    fn signature(&self) -> &Signature {
        self.0.signature()
    }

    fn spec(&self) -> &Spec {
        self.0.spec()
    }

    fn actions(&self) -> &[String] {
        self.0.actions()
    }

    fn reset(&mut self, random: &mut dyn Rng) -> form_env::Result<()> {
        self.0.reset(random)
    }

    fn step(&mut self, action: usize) -> form_env::Result<EpisodeOutcome> {
        self.0.step(action)
    }

    fn labels(&self) -> &AtomSet {
        self.0.labels()
    }

    fn observe(&self, planes: &mut [u8], vector: &mut [f32]) {
        self.0.observe(planes, vector);
    }
}

/// A plane on which something is missing would hide what is left to do.
#[test]
fn a_plane_needs_to_know_where_things_are() {
    let machine = worlds(View::Planes, 1).task().truth().clone();
    let game = |progress| {
        let world = Unplaced(worlds(View::Planes, 1).copy_of(0).unwrap());
        let worlds = Copies::new(vec![world], 7).unwrap();
        let assignment = AgentAssignment::new(
            machine.clone(),
            AssignmentMode::PerState,
            progress,
            worlds.spec(),
        );
        let rules = GameConfig {
            credit: Credit::Shared,
            shaping: true,
            gamma: 0.9,
            end: EndPotential::Zero,
        };
        Game::new(worlds, assignment, rules, 0).map(|_| ())
    };
    game(ProgressEncoding::Bits).unwrap();
    let error = game(ProgressEncoding::Plane).unwrap_err().to_string();
    assert!(error.starts_with("progress = plane: "), "{error}");
}

/// Without cells there is nothing to draw a plane over: then there are indicators.
#[test]
fn without_an_image_there_are_indicators() {
    let worlds = worlds(View::Planes, 1);
    let machine = worlds.task().truth().clone();
    let spec = Spec::default();
    let assignment = AgentAssignment::new(
        machine,
        AssignmentMode::PerState,
        ProgressEncoding::Plane,
        &spec,
    );
    let encoder = &assignment.roles()[0].encoder;
    assert_eq!(encoder.vectors(), [("indicators", 2)]);
    assert_eq!(encoder.image(), None);
}

/// Where maps have different objects, a plane shows those of the map that are missing, and an indicator of an object that is not there is 1.
#[test]
fn objects_that_a_map_lacks_are_not_awaited() {
    let text = Task::builtin("all-yellow").unwrap().to_toml();
    let text = text.replace("yellow = 2", "yellow = [2, 3, 4]");
    let task = Arc::new(Task::from_toml(&text).unwrap());
    let maps = Maps::Set(task.maps(7, Split::Training, 9).unwrap());
    let options = WorldOptions {
        view: View::Planes,
        ..WorldOptions::default()
    };
    let worlds = GridWorlds::new(task.clone(), maps, options, 9, 7).unwrap();
    let machine = Arc::new(task.truth().clone());
    let initial = machine.machine().initial();
    let mut met = std::collections::BTreeSet::new();
    for world in 0..9 {
        let own = worlds.own_signature(world).unwrap();
        let bound = machine.restricted(Some(own));
        // All objects but the goal and ten of other colours.
        let yellow = own.len() - 11;
        met.insert(yellow);
        let encoded = |progress| {
            let states = [initial];
            let encoder = ObservationEncoder::of(worlds.spec(), &machine, &states, progress);
            let mut image = vec![0; encoder.image_len()];
            let mut vector = vec![0.0; encoder.vector_len()];
            let seen = task.signature().observation(["yellow(o0)"]).unwrap();
            let state = MachineState {
                state: initial,
                seen: &seen,
            };
            encoder.encode(&worlds, world, &bound, state, &mut image, &mut vector);
            (image, vector)
        };
        let (_, bits) = encoded(ProgressEncoding::Bits);
        assert_eq!(bits.len(), 4);
        let missing = |number: usize| number > 0 && number < yellow;
        for (number, bit) in bits.iter().enumerate() {
            assert_eq!(*bit, f32::from(u8::from(!missing(number))), "{bits:?}");
        }
        let (image, bits) = encoded(ProgressEncoding::Plane);
        assert!(bits.is_empty());
        let channels = image.len() / (13 * 13);
        let plane = image
            .chunks(channels)
            .map(|cell| usize::from(cell[channels - 1]));
        assert_eq!(plane.sum::<usize>(), yellow - 1);
    }
    assert_eq!(met.into_iter().collect::<Vec<_>>(), [2, 3, 4]);
}
