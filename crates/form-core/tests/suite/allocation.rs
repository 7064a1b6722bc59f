//! A bound machine never allocates while it steps, whatever the size of its signature.

use allocation_counter::measure;
use form_core::{AtomSet, Machine, Monitor, Signature};

/// Steps a machine through everything that can be observed, again and again, and counts allocations.
fn allocations(atoms: usize, machine: &str) -> u64 {
    let names = (0..atoms).flat_map(|i| [format!("yellow(o{i})"), format!("door(o{i})")]);
    let names: Vec<String> = names.collect();
    let signature =
        Signature::parse(names.iter().map(String::as_str).chain(["goal", "lava"])).unwrap();
    let machine: Machine = machine.parse().unwrap();
    let machine = machine.bind(&signature).unwrap();
    let observations: Vec<AtomSet> = (signature.ids())
        .map(|id| {
            let mut observation = AtomSet::with_room_for(signature.len());
            observation.insert(id);
            observation
        })
        .collect();
    let mut monitor = Monitor::new(&machine);
    let counted = measure(|| {
        for observation in observations.iter().cycle().take(10 * observations.len()) {
            monitor.observe(&machine, observation);
            if machine.machine().is_terminal(monitor.state()) {
                monitor.reset(&machine);
            }
        }
    });
    counted.count_total
}

const FORALL: &str = "initial u0\naccept u_acc\nreject u_rej\n\
    u0 -> u1 : forall X. yellow(X) and not lava\nu0 -> u_rej : lava and (goal or exists X. yellow(X))\n\
    u1 -> u0 : exists X. yellow(X) => 0.5\nu1 -> u_acc : goal and lava";

const WINDOWS: &str = "initial u0\naccept u_acc\n\
    u0 -> u1 : atleast 2 X. yellow(X) and not once lava\n\
    u1 -> u0 : exists X. (once yellow(X) and door(X) and not once lava)\n\
    u1 -> u_acc : exists X. once door(X) and goal";

#[test]
fn stepping_never_allocates() {
    for atoms in [2, 6, 63, 64, 500] {
        for machine in [FORALL, WINDOWS] {
            assert_eq!(allocations(atoms, machine), 0, "{atoms} objects");
        }
    }
    // The counter counts.
    assert!(measure(|| drop(vec![1_u8])).count_total > 0);
}
