//! A machine from its text to a run.

use form_core::{Machine, MachineStatus, Monitor, Signature};

fn main() -> Result<(), form_core::Error> {
    let machine: Machine = "
        machine all_yellow
        initial u0
        accept  u_acc
        u0 -> u1    : forall X. yellow(X)
        u1 -> u_acc : goal
    "
    .parse()?;

    // In this world there are two yellow checkpoints; in another one there may be six.
    let signature = Signature::parse(["yellow(o0)", "yellow(o1)", "goal"])?;
    let bound = machine.bind(&signature)?;

    let mut monitor = Monitor::new(&bound);
    let mut total = 0.0;
    for seen in [["yellow(o1)"], ["goal"], ["yellow(o0)"], ["goal"]] {
        total += monitor
            .observe(&bound, &signature.observation(seen)?)
            .reward;
    }
    assert_eq!(machine.status(monitor.state()), MachineStatus::Accepted);
    assert_eq!(total, 1.0);
    Ok(())
}
