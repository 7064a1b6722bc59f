//! The invariants of ARCHITECTURE.md that can be read off the sources: which crate may use which, that modules use each other in one
//! direction only, where `anyhow`, the SAT solver and the vector registers may be, and how source files are named and opened.
//!
//! Each check is a function from text to a list of problems, tested on small examples before it is applied to the real crates.

mod modules;

use std::fs;
use std::path::{Path, PathBuf};

use modules::{Modules, Sources};
use toml::Table;

/// The crates in the order data flows through them: each uses only crates before it.
const ORDER: [&str; 10] = [
    "form-core",
    "form-formats",
    "form-learn",
    "form-env",
    "form-rl",
    "form-lab",
    "form-paper",
    "form-cli",
    "formrl",
    "form-book",
];

/// Neighbours in the order that never see each other all the same.
const STRANGERS: [(&str, &str); 1] = [("form-learn", "form-env")];

/// The crates whose errors are for people rather than for callers.
const MAY_USE_ANYHOW: [&str; 3] = ["form-lab", "form-paper", "form-cli"];

/// Libraries that one folder of one crate alone may know.
const KNOWN_BY_ONE: [(&str, &str, &str); 2] = [
    ("cadical", "form-learn", "encode"),
    ("pulp", "form-rl", "net"),
];

/// Names that say nothing about what is in the file.
const EMPTY_NAMES: [&str; 5] = ["utils", "common", "base", "helpers", "misc"];

/// A dependency as a manifest has it: the crate's own name, whatever it is called here.
fn dependencies(manifest: &Table) -> Vec<String> {
    let mut found = Vec::new();
    for (key, value) in manifest {
        let Some(table) = value.as_table() else {
            continue;
        };
        match key.as_str() {
            "dependencies" | "dev-dependencies" | "build-dependencies" => {
                for (name, wanted) in table {
                    let renamed = wanted.get("package").and_then(toml::Value::as_str);
                    found.push(renamed.unwrap_or(name).replace('_', "-"));
                }
            }
            // `[target.'cfg(unix)'.dependencies]`
            "target" => {
                for platform in table.values().filter_map(toml::Value::as_table) {
                    found.extend(dependencies(platform));
                }
            }
            _ => {}
        }
    }
    found
}

/// What a crate's manifest does that the architecture forbids.
fn manifest_problems(manifest: &str) -> Vec<String> {
    let manifest: Table = match manifest.parse() {
        Ok(manifest) => manifest,
        Err(error) => return vec![format!("not a manifest: {error}")],
    };
    let name = (manifest.get("package"))
        .and_then(|package| package.get("name"))
        .and_then(toml::Value::as_str)
        .unwrap_or("a crate without a name");
    let place = |name: &str| ORDER.iter().position(|known| *known == name);
    let Some(own_place) = place(name) else {
        return vec![format!("{name}: not among the crates of the architecture")];
    };
    let mut problems = Vec::new();
    for used in dependencies(&manifest) {
        if used == "anyhow" && !MAY_USE_ANYHOW.contains(&name) {
            problems.push(format!(
                "{name}: uses anyhow, a library keeps its own error type"
            ));
        }
        if !used.starts_with("form-") && place(&used).is_none() {
            continue;
        }
        match place(&used) {
            None => problems.push(format!(
                "{name}: uses {used}, which is not in the architecture"
            )),
            Some(other) if other >= own_place => {
                problems.push(format!("{name}: uses {used}, which is not above it"));
            }
            Some(_) => {}
        }
        if STRANGERS.contains(&(name, &used)) || STRANGERS.contains(&(&used, name)) {
            problems.push(format!("{name}: uses {used}, they never see each other"));
        }
    }
    problems
}

/// What a source file's name and first lines do that the house style forbids.
fn source_problems(path: &Path, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    if EMPTY_NAMES.contains(&stem.as_ref()) {
        problems.push(format!("{}: a name that says nothing", path.display()));
    }
    let sign = match path.extension() {
        Some(extension) if extension == "py" => "\"\"\"",
        _ => "//!",
    };
    let opens = |line: &str| {
        line.strip_prefix(sign)
            .is_some_and(|said| !said.trim().is_empty())
    };
    if !text.lines().take(3).any(opens) {
        let problem = format!("no `{sign}` paragraph in the first three lines");
        problems.push(format!("{}: {problem}", path.display()));
    }
    problems
}

/// The name of the crate in a folder.
fn crate_name(folder: &Path) -> String {
    let manifest: Table = read(&folder.join("Cargo.toml")).parse().unwrap();
    manifest["package"]["name"].as_str().unwrap().to_owned()
}

/// The modules of the crate in a folder; `None` if it has no library of its own.
fn modules_of(folder: &Path) -> Option<Modules> {
    let src = folder.join("src");
    if !src.join("lib.rs").is_file() {
        return None;
    }
    let sources: Sources = (files(&src, "rs").iter())
        .map(|path| (path.strip_prefix(&src).unwrap().to_owned(), read(path)))
        .collect();
    Some(Modules::of(&sources))
}

/// The folder of the Python package.
fn python_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python")
}

/// The crates of this workspace.
fn crate_folders() -> Vec<PathBuf> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the crate stands in `crates`");
    let mut folders = entries(crates);
    folders.push(python_folder());
    folders.push(python_folder().join("../book"));
    folders.retain(|path| path.join("Cargo.toml").is_file());
    folders
}

/// The files below a folder whose name ends so.
fn files(folder: &Path, wanted: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for path in entries(&folder) {
            if path.is_dir() {
                open.push(path);
            } else if path
                .extension()
                .is_some_and(|extension| extension == wanted)
            {
                found.push(path);
            }
        }
    }
    found
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("a folder entry can be read").path())
        .collect();
    paths.sort();
    paths
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn crates_use_only_crates_above_them() {
    let folders = crate_folders();
    assert!(folders.len() >= 2, "found only {folders:?}");
    let problems: Vec<String> = folders
        .iter()
        .flat_map(|folder| manifest_problems(&read(&folder.join("Cargo.toml"))))
        .collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn source_files_say_what_they_are() {
    let mut found: Vec<PathBuf> = crate_folders()
        .iter()
        .flat_map(|folder| files(&folder.join("src"), "rs"))
        .collect();
    assert!(found.len() >= 2, "found only {found:?}");
    let python = files(&python_folder(), "py");
    assert!(python.len() >= 2, "found only {python:?}");
    found.extend(python);
    let problems: Vec<String> = found
        .iter()
        .flat_map(|file| source_problems(file, &read(file)))
        .collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn modules_use_each_other_in_one_direction() {
    let mut problems = Vec::new();
    for folder in crate_folders() {
        let name = crate_name(&folder);
        let cycles = modules_of(&folder).map(|modules| modules.cycles());
        for (parent, names) in cycles.into_iter().flatten() {
            let (parent, names) = (parent.join("::"), names.join(" "));
            problems.push(format!("{name}, {parent:?}: a cycle of modules: {names}"));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn one_folder_alone_knows_the_sat_solver_and_the_matrix_library() {
    for folder in crate_folders() {
        let name = crate_name(&folder);
        let manifest: Table = read(&folder.join("Cargo.toml")).parse().unwrap();
        let dependencies = dependencies(&manifest);
        let modules = modules_of(&folder);
        for (library, known_in, by) in KNOWN_BY_ONE {
            let depends = dependencies.iter().any(|used| used == library);
            assert_eq!(depends, name == known_in, "{name} and {library}");
            let naming = modules.as_ref().map(|modules| modules.that_name(library));
            let naming = naming.unwrap_or_default();
            assert_eq!(!naming.is_empty(), name == known_in, "{name} and {library}");
            for module in naming {
                assert_eq!(
                    module.first().map(String::as_str),
                    Some(by),
                    "{library}: {module:?}"
                );
            }
        }
    }
}

/// Each check finds what it is for, in small examples.
mod checks_can_fail {
    use super::*;

    fn check_manifest(name: &str, rest: &str, expected: &[&str]) {
        let manifest = format!("[package]\nname = \"{name}\"\n{rest}");
        assert_eq!(manifest_problems(&manifest), expected, "{manifest}");
    }

    #[test]
    fn the_allowed_directions_pass() {
        check_manifest("form-core", "[dependencies]\nserde = \"1\"", &[]);
        check_manifest(
            "form-env",
            "[dependencies]\nform-core.workspace = true",
            &[],
        );
        check_manifest(
            "form-cli",
            "[dependencies]\nanyhow = \"1\"\nform-learn = { path = \"../form-learn\" }\nform-lab.workspace = true",
            &[],
        );
    }

    #[test]
    fn a_dependency_downwards_is_noticed() {
        let problem = "form-core: uses form-rl, which is not above it";
        check_manifest(
            "form-core",
            "[dependencies]\nform-rl.workspace = true",
            &[problem],
        );
        check_manifest(
            "form-core",
            "[dev-dependencies]\nform-rl = \"0.1\"",
            &[problem],
        );
        check_manifest(
            "form-core",
            "[build-dependencies.form-rl]\npath = \"x\"",
            &[problem],
        );
        check_manifest(
            "form-core",
            "[target.'cfg(unix)'.dependencies]\nform-rl = \"0.1\"",
            &[problem],
        );
        check_manifest(
            "form-core",
            "[dependencies]\npolicies = { package = \"form-rl\", path = \"x\" }",
            &[problem],
        );
        check_manifest(
            "form-lab",
            "[dependencies]\nformrl.workspace = true",
            &["form-lab: uses formrl, which is not above it"],
        );
        check_manifest(
            "formrl",
            "[dev-dependencies]\nform-book.workspace = true",
            &["formrl: uses form-book, which is not above it"],
        );
        check_manifest(
            "form-core",
            "[dependencies]\nform-core.workspace = true",
            &["form-core: uses form-core, which is not above it"],
        );
    }

    #[test]
    fn learning_and_worlds_are_strangers() {
        check_manifest(
            "form-env",
            "[dependencies]\nform-learn.workspace = true",
            &["form-env: uses form-learn, they never see each other"],
        );
        check_manifest(
            "form-learn",
            "[dev-dependencies]\nform-env.workspace = true",
            &[
                "form-learn: uses form-env, which is not above it",
                "form-learn: uses form-env, they never see each other",
            ],
        );
    }

    #[test]
    fn unlisted_crates_are_noticed() {
        check_manifest(
            "form-extra",
            "",
            &["form-extra: not among the crates of the architecture"],
        );
        check_manifest(
            "form-cli",
            "[dependencies]\nform-extra.workspace = true",
            &["form-cli: uses form-extra, which is not in the architecture"],
        );
        assert_eq!(
            manifest_problems("[workspace]"),
            ["a crate without a name: not among the crates of the architecture"]
        );
        assert!(manifest_problems("[package")[0].starts_with("not a manifest"));
    }

    #[test]
    fn anyhow_in_a_library_is_noticed() {
        let problem = "form-rl: uses anyhow, a library keeps its own error type";
        check_manifest(
            "form-rl",
            "[dependencies]\nanyhow.workspace = true",
            &[problem],
        );
        check_manifest("form-lab", "[dependencies]\nanyhow.workspace = true", &[]);
    }

    #[test]
    fn empty_names_are_noticed() {
        let file = |name: &str| source_problems(Path::new(name), "//! Says what it is.\n").len();
        for name in EMPTY_NAMES {
            assert_eq!(file(&format!("src/logic/{name}.rs")), 1);
        }
        assert_eq!(file("src/logic/atom.rs"), 0);
    }

    #[test]
    fn missing_introductions_are_noticed() {
        let problems = |text: &str| source_problems(Path::new("src/atom.rs"), text).len();
        assert_eq!(problems("//! Atoms.\n\nuse std::fmt;\n"), 0);
        assert_eq!(problems("#![no_main]\n\n//! Atoms.\n"), 0);
        assert_eq!(problems("#![no_main]\n\n\n//! Too late.\n"), 1);
        let python = |text: &str| source_problems(Path::new("formrl/atom.py"), text).len();
        assert_eq!(python("\"\"\"Atoms.\"\"\"\n"), 0);
        assert_eq!(python("import os\n"), 1);
        assert_eq!(problems("//!\nuse std::fmt;\n"), 1);
        assert_eq!(problems("// Not a paragraph about the file.\n"), 1);
        assert_eq!(problems(""), 1);
    }
}
