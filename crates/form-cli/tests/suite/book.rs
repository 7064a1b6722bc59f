//! The pages for users tell the truth: all blocks of the book, of README.md and of the Python package's are run or checked, and all
//! links lead somewhere.
//!
//! Rust blocks are tested by the package in `book`, Python blocks by `python/tests/test_book.py`; here it is only made sure that
//! none of them escapes. `page` parses pages, `kinds` classifies blocks and checks those that are not run, `commands` runs the others,
//! `printed` compares their output, `links` follows the links, and `failing_pages` tests all of it on pages with mistakes.

pub mod commands;
mod failing_pages;
mod kinds;
mod links;
mod page;
mod printed;

use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use page::Page;

/// The root of the repository.
fn root() -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    let root = crates.and_then(Path::parent);
    root.expect("the crate stands in `crates`").to_owned()
}

/// Pages outside the book whose blocks are for users, too.
const USERS: [&str; 2] = ["README.md", "python/README.md"];

/// Pages outside the book whose links are followed.
const LINKED: [&str; 5] = [
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "fuzz/README.md",
    "results/results.md",
];

fn page(root: &Path, name: &str) -> Page {
    let text = fs::read_to_string(root.join(name));
    Page::new(
        name,
        &text.unwrap_or_else(|error| panic!("{name}: {error}")),
    )
}

/// The pages of the book, then README.md and that of the Python package.
fn pages(root: &Path) -> Vec<Page> {
    let mut names = Vec::new();
    let mut open = vec![root.join(links::BOOK)];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                let name = path.strip_prefix(root).unwrap();
                names.push(name.to_str().unwrap().to_owned());
            }
        }
    }
    names.sort();
    names.extend(USERS.map(str::to_owned));
    names.iter().map(|name| page(root, name)).collect()
}

fn assert_none(problems: &[String]) {
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}

#[test]
fn every_block_is_of_a_kind_that_is_checked() {
    let root = root();
    let pages = pages(&root);
    assert!(pages.len() > 10, "found only {} pages", pages.len());
    let rust = fs::read_to_string(root.join("book/lib.rs")).unwrap();
    let problems: Vec<String> = (pages.iter())
        .flat_map(|page| kinds::problems(page, &rust))
        .collect();
    assert_none(&problems);
}

#[test]
fn lines_that_install_or_measure_are_on_a_page_and_their_step_exists() {
    let root = root();
    let steps = fs::read_to_string(root.join(".ci/run")).unwrap();
    let pages = pages(&root);
    for (known, step) in kinds::INSTALL {
        assert!(
            steps.contains(&format!("\n{step}() {{")),
            "{known}: there is no step {step}"
        );
        let used = (pages.iter().flat_map(Page::blocks)).any(|(_, info, text)| {
            info == "sh,install" && text.lines().any(|line| line.starts_with(known))
        });
        assert!(used, "{known}: no page has it");
    }
}

#[test]
fn every_command_does_what_the_page_says() {
    let root = root();
    let (examples, images) = (root.join("examples"), root.join("book/src/images"));
    let pages = pages(&root);
    let problems: Vec<String> = (pages.par_iter())
        .flat_map(|page| commands::problems(page, &examples, &images))
        .collect();
    assert_none(&problems);
}

#[test]
fn every_link_leads_somewhere() {
    let root = root();
    let mut pages = pages(&root);
    pages.extend(LINKED.map(|name| page(&root, name)));
    let exists = |name: &str| root.join(name).exists();
    assert_none(&links::problems(&pages, &exists));
}
