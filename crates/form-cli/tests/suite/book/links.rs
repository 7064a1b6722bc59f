//! Where the links of pages lead: every file and every heading that is named exists, no link leaves the book from inside it
//! (mdBook copies its own folder alone, so the link would be dead there), the table of contents names every page, and
//! every drawing says which command makes it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use super::page::{Page, Piece};

/// The folder of the book's pages.
pub const BOOK: &str = "book/src";

/// What is wrong with the links of pages; `exists` tells whether the repository has a file or folder.
pub fn problems(pages: &[Page], exists: &dyn Fn(&str) -> bool) -> Vec<String> {
    let known: BTreeMap<&str, &Page> = pages
        .iter()
        .map(|page| (page.name.as_str(), page))
        .collect();
    let mut problems = Vec::new();
    for page in pages {
        for (line, piece) in &page.pieces {
            let (target, image) = match piece {
                Piece::Link(target) => (target, false),
                Piece::Image(target) => (target, true),
                _ => continue,
            };
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            if let Err(problem) = leads_somewhere(page, target, image, &known, exists) {
                problems.push(page.complaint(*line, &problem));
            }
        }
    }
    problems.extend(contents(pages));
    problems.extend(drawings(pages));
    problems
}

/// Drawings that no command of `form` makes: an example of form-learn does.
const MADE_OTHERWISE: [&str; 1] = ["learning_growth.svg"];

/// Curves of kept results, which are links to them: `form reproduce --check` draws them again and compares.
const KEPT_RESULTS: &str = "images/results/";

/// Drawings of the book that no comment says how to make: they would grow old unnoticed.
fn drawings(pages: &[Page]) -> Vec<String> {
    let inside = || pages.iter().filter(|page| page.name.starts_with(BOOK));
    let mut made: BTreeSet<&str> = BTreeSet::from(MADE_OTHERWISE);
    for (_, piece) in inside().flat_map(|page| &page.pieces) {
        if let Piece::Comment(comment) = piece
            && let Some(command) = comment.strip_prefix("made by:")
        {
            made.extend(command.split_whitespace().last());
        }
    }
    let mut problems = Vec::new();
    for page in inside() {
        for (line, piece) in &page.pieces {
            if let Piece::Image(target) = piece
                && let Some((_, name)) = target.rsplit_once('/')
                && name.ends_with(".svg")
                && !target.contains(KEPT_RESULTS)
                && !made.contains(name)
            {
                let problem = format!("{name}: no comment `made by:` says which command draws it");
                problems.push(page.complaint(*line, &problem));
            }
        }
    }
    problems
}

fn leads_somewhere(
    page: &Page,
    target: &str,
    image: bool,
    known: &BTreeMap<&str, &Page>,
    exists: &dyn Fn(&str) -> bool,
) -> Result<(), String> {
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = if file.is_empty() {
        page.name.clone()
    } else {
        let folder = Path::new(&page.name).parent().unwrap_or(Path::new(""));
        plain(&folder.join(file)).ok_or_else(|| format!("{target}: outside the repository"))?
    };
    if !exists(&path) {
        return Err(format!("{target}: there is no {path}"));
    }
    let inside = |name: &str| name.starts_with(BOOK);
    if inside(&page.name) && !inside(&path) {
        return Err(format!(
            "{target}: leads out of the book, where it would be dead"
        ));
    }
    if image || anchor.is_empty() {
        return Ok(());
    }
    match known.get(path.as_str()) {
        Some(there) if there.anchors().any(|known| known == anchor) => Ok(()),
        Some(_) => Err(format!("{target}: {path} has no heading #{anchor}")),
        None => Err(format!("{target}: headings in {path} are not checked")),
    }
}

/// A path without `..`; none if it leaves the repository.
fn plain(path: &Path) -> Option<String> {
    let mut whole = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                if !whole.pop() {
                    return None;
                }
            }
            Component::CurDir => {}
            part => whole.push(part),
        }
    }
    Some(whole.to_str()?.to_owned())
}

/// Pages that the table of contents lacks or names twice.
fn contents(pages: &[Page]) -> Vec<String> {
    let summary = format!("{BOOK}/SUMMARY.md");
    let Some(table) = pages.iter().find(|page| page.name == summary) else {
        return vec![format!("{summary}: there is none")];
    };
    let mut problems = Vec::new();
    let mut named = BTreeSet::new();
    for (line, piece) in &table.pieces {
        if let Piece::Link(target) = piece
            && !named.insert(format!("{BOOK}/{target}"))
        {
            problems.push(table.complaint(*line, &format!("{target}: named twice")));
        }
    }
    for page in pages {
        let name = &page.name;
        if name.starts_with(BOOK) && *name != summary && !named.contains(name) {
            problems.push(page.complaint(1, "not in SUMMARY.md: the book would not have it"));
        }
    }
    problems
}
