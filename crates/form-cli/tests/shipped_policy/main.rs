//! The policy of the program is the one that its recorded command makes, to the byte. Training it again takes half a minute in the
//! development profile: `.ci/run policy` runs this.

use std::fs;
use std::path::Path;
use std::process::Command;

use form_rl::ReachAvoidPolicy;

#[test]
fn the_recorded_command_makes_the_shipped_policy() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let shipped = fs::read(root.join("crates/form-rl/policies/reach_avoid.safetensors")).unwrap();
    let policy = ReachAvoidPolicy::shipped();
    let folder = tempfile::tempdir().unwrap();
    let mut recorded = policy.origin().command.split(' ');
    assert_eq!(recorded.next(), Some("form"));
    // How it is measured, and where it is written, makes no other policy.
    let further = ["--sub-tasks", "1", "--out", "made"];
    let arguments: Vec<&str> = recorded.chain(further).collect();
    let mut command = Command::new(env!("CARGO_BIN_EXE_form"));
    let outcome = command.current_dir(folder.path()).args(&arguments).output();
    let outcome = outcome.unwrap();
    let problems = String::from_utf8_lossy(&outcome.stderr);
    assert_eq!(outcome.status.code(), Some(0), "{problems}");
    assert!(!problems.contains("panicked"), "{problems}");
    let made = fs::read(folder.path().join("made/policy.safetensors")).unwrap();
    assert!(made == shipped, "{arguments:?} makes another policy");
}
