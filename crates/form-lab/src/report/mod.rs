//! The report page of runs: one HTML file that needs neither a server nor the network.
//!
//! `reading` reads a run's folder and notes what is missing; `history` describes its machines, `replays` plays episodes with its
//! policies, `links` makes links to its files. The result is `data`, which `page` puts into the page together with the scripts and
//! the style in the folder of that name. `live` serves the same page while a run trains.

mod data;
mod history;
mod links;
mod live;
mod page;
mod reading;
mod replays;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

pub use self::live::{LivePage, LivePort};
pub use self::replays::Showing;

use self::data::{Live, PageData, RunData};
use self::links::From;
use crate::atomic_files::{cannot, write_atomically};
use crate::play_callback::PlayCallback;
use crate::run::RunFolder;

/// The maximum depth of the search for runs.
const DEPTH: usize = 8;

/// Writes the page of some runs; nothing is written if it was interrupted. Problems with their files are noted on the page and
/// returned.
///
/// A folder that is not a run stands for all runs inside it.
pub fn write_report(
    paths: &[PathBuf],
    page: &Path,
    showing: Showing,
    callback: PlayCallback<'_>,
) -> Result<Option<Vec<String>>> {
    let folder = match page.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let runs: Option<Vec<RunData>> = (runs_of(paths)?.iter())
        .map(|run| reading::run(run, From::Folder(folder), showing, callback))
        .collect::<Result<_>>()?;
    let Some(runs) = runs else {
        return Ok(None);
    };
    let remarks = (runs.iter())
        .flat_map(|run| run.notes.iter().map(|note| format!("{}: {note}", run.name)))
        .collect();
    let html = page::html(&title(&runs), &page_data(runs, None))?;
    write_atomically(page, html.as_bytes())?;
    Ok(Some(remarks))
}

/// The runs of some paths, without duplicates.
fn runs_of(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut runs: Vec<PathBuf> = Vec::new();
    for path in paths {
        let inside = match path.is_dir() {
            true => runs_below(path)?,
            false => Vec::new(),
        };
        match inside.is_empty() {
            true => runs.push(path.clone()),
            false => runs.extend(inside),
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    runs.retain(|run| seen.insert(run.canonicalize().unwrap_or_else(|_| run.clone())));
    if runs.is_empty() {
        bail!("no run: name the folder of at least one");
    }
    Ok(runs)
}

/// The run folders at a path and below it, in the order of their names; runs inside runs do not count, and what `form pretrain` made is no
/// run. Damaged runs are included: the page shows what is wrong with them.
fn runs_below(path: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open: Vec<(PathBuf, usize)> = vec![(path.to_owned(), 0)];
    while let Some((folder, depth)) = open.pop() {
        if RunFolder::is_pretraining(&folder) {
            if depth == 0 {
                bail!(
                    "{} was made by `form pretrain`, which writes no page: it prints what its policy can do",
                    folder.display()
                );
            }
            continue;
        }
        if RunFolder::is_at(&folder) {
            found.push(folder);
            continue;
        }
        let failed = |error| cannot("list", &folder, error);
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if depth < DEPTH && entry.file_type().map_err(failed)?.is_dir() {
                open.push((entry.path(), depth + 1));
            }
        }
    }
    found.sort();
    Ok(found)
}

fn page_data(runs: Vec<RunData>, live: Option<Live>) -> PageData {
    PageData {
        version: env!("CARGO_PKG_VERSION"),
        live,
        runs,
    }
}

/// The title of the window.
fn title(runs: &[RunData]) -> String {
    match runs {
        [run] => match (&run.task, &run.method, run.seed) {
            (Some(task), Some(method), Some(seed)) => format!("{task} by {method}, seed {seed}"),
            _ => run.name.clone(),
        },
        runs => format!("{} runs", runs.len()),
    }
}
