//! Replays every input that once broke a reader of a foreign format, `tests/regressions/<target>/<file>`, and the seeds of the
//! fuzzer, each by the law of its fuzz target.

use std::path::Path;

use super::fuzz_laws;

type Law = fn(&[u8]);

/// The laws of this crate by fuzz target.
const LAWS: [(&str, Law); 4] = [
    ("foreign_reference", fuzz_laws::foreign_reference),
    ("foreign_toro_icarte", fuzz_laws::foreign_toro_icarte),
    ("ltlf", fuzz_laws::ltlf),
    ("machine_semantics", fuzz_laws::machine_semantics),
];

/// Applies a law to every file of a folder; the number of files.
fn replay(folder: &Path, law: Law) -> usize {
    let entries = std::fs::read_dir(folder).unwrap();
    let files = entries.map(|entry| entry.unwrap().path());
    files.map(|file| law(&std::fs::read(file).unwrap())).count()
}

#[test]
fn kept_inputs_and_seeds_break_nothing() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (target, law) in LAWS {
        assert!(replay(&here.join("../../fuzz/seeds").join(target), law) > 0);
        let kept = here.join("tests/regressions").join(target);
        if kept.exists() {
            assert!(replay(&kept, law) > 0, "{target}");
        }
    }
    // A folder that no law looks into would be forgotten.
    for entry in std::fs::read_dir(here.join("tests/regressions")).unwrap() {
        let name = entry.unwrap().file_name();
        assert!(LAWS.iter().any(|(target, _)| *target == name), "{name:?}");
    }
}
