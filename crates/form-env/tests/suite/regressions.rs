//! Replays every input that once broke the reader of task files, `tests/regressions/tasks/<file>`, and the seeds that the fuzzer
//! starts from.

use std::path::Path;

use super::fuzz_laws;

/// Every file of a folder goes through the law; how many there are.
fn replay(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).unwrap();
    let files = entries.map(|entry| entry.unwrap().path());
    files
        .map(|file| fuzz_laws::tasks(&std::fs::read(file).unwrap()))
        .count()
}

#[test]
fn kept_inputs_and_seeds_break_nothing() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    assert!(replay(&here.join("tests/regressions/tasks")) > 0);
    assert!(replay(&here.join("../../fuzz/seeds/tasks")) > 0);
}
