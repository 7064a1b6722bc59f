//! Replays every input the fuzzer once broke something with, `tests/regressions/<target>/<file>`, and the seeds it
//! starts from.
//!
//! A folder is named after its fuzz target, and each file goes through the same law as there. Nothing random here, and no
//! fuzzer needed.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use super::fuzz_laws;

type Law = fn(&[u8]);

/// Targets whose laws and kept inputs are in the tests of other crates.
const ELSEWHERE: [&str; 4] = ["foreign_reference", "foreign_toro_icarte", "ltlf", "tasks"];

/// The law of a fuzz target.
fn law_of(target: &str) -> Option<Law> {
    Some(match target {
        "formula" => fuzz_laws::formula,
        "machine_form" => fuzz_laws::machine_form,
        "machine_json" => fuzz_laws::machine_json,
        "machine_semantics" => fuzz_laws::machine_semantics,
        "traces" => fuzz_laws::traces,
        _ => return None,
    })
}

/// Replays the files of `folder`, and names those that break their law and the folders without one.
fn replay(folder: &Path, law_of: fn(&str) -> Option<Law>) -> (usize, Vec<String>) {
    let mut replayed = 0;
    let mut problems = Vec::new();
    for target in sorted_entries(folder).into_iter().filter(|p| p.is_dir()) {
        let name = target.file_name().map(|n| n.to_string_lossy().into_owned());
        if name
            .as_deref()
            .is_some_and(|name| ELSEWHERE.contains(&name))
        {
            continue;
        }
        let Some(law) = name.as_deref().and_then(law_of) else {
            problems.push(format!("{}: no fuzz target of that name", target.display()));
            continue;
        };
        for file in sorted_entries(&target) {
            let bytes = fs::read(&file).expect("a kept input can be read");
            replayed += 1;
            if catch_unwind(AssertUnwindSafe(|| law(&bytes))).is_err() {
                problems.push(format!("{}: breaks its law", file.display()));
            }
        }
    }
    (replayed, problems)
}

fn sorted_entries(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("a folder entry can be read").path())
        .collect();
    entries.sort();
    entries
}

#[test]
fn kept_inputs_break_nothing() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (replayed, problems) = replay(&crate_folder.join("tests/regressions"), law_of);
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(replayed > 0, "the kept inputs are gone");
}

#[test]
fn seeds_break_nothing() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (replayed, problems) = replay(&workspace.join("fuzz/seeds"), law_of);
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(replayed > 0, "the seeds are gone");
}

#[test]
fn replay_notices_what_has_no_law_and_what_breaks_its_law() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let target = folder.path().join("made_up");
    fs::create_dir(&target).expect("a folder inside it");
    fs::write(target.join("input"), "anything").expect("a file inside that");
    let (replayed, problems) = replay(folder.path(), law_of);
    assert_eq!((replayed, problems.len()), (0, 1));
    assert!(problems[0].ends_with("no fuzz target of that name"));
    let (replayed, problems) = replay(folder.path(), |_| {
        Some(|bytes| panic!("on purpose: {bytes:?}"))
    });
    assert_eq!((replayed, problems.len()), (1, 1));
    assert!(problems[0].ends_with("breaks its law"));
}
