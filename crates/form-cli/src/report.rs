//! `form report`: write the report page of runs.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use form_lab::{PlayCallback, PlayDisplay, RunFolder, Showing, write_report};
use serde_json::json;

use crate::{Answer, browser, input, output};

/// Write a page of runs: learning curves, the machines in the order they were learnt, replays
///
/// The page is one HTML file that needs neither a server nor the network. Replays are episodes that the policies of the checkpoint play
/// now, on training maps and on held-out maps, failures first. Damaged or missing files of a run are noted on the page. Ctrl-C stops at
/// once and keeps an existing page.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  form report runs/all-yellow-form-1\n  form report runs --out all.html --replays 2\n  form report results/runs/all-yellow --out curves.html --replays 0"
)]
pub struct Args {
    /// Run folders, or folders that contain run folders
    #[arg(required = true)]
    runs: Vec<PathBuf>,
    /// The page, or `-` for standard output [default: report.html, in the run folder if there is one run]
    #[arg(short, long, value_name = "FILE", visible_alias = "output")]
    out: Option<PathBuf>,
    /// Episodes per set of maps [default: 128, or fewer for large networks]
    #[arg(long, value_name = "N", value_parser = input::at_most::<100_000>)]
    episodes: Option<usize>,
    /// How many replays the page shows, failures first; 0 plays no episodes
    #[arg(long, value_name = "N", default_value_t = Showing::default().replays, value_parser = input::whole::<usize>)]
    replays: usize,
    /// The seed of starts and actions
    #[arg(long, value_name = "S", default_value_t = 0, value_parser = input::whole::<u64>)]
    seed: u64,
    /// The number of threads; the result does not depend on it
    #[arg(long, value_name = "N", value_parser = input::at_most::<256>)]
    threads: Option<usize>,
    /// Open the page in the browser
    #[arg(long)]
    open: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<Answer> {
    input::use_threads(args.threads)?;
    let to_stdout = args.out.as_deref() == Some(Path::new("-"));
    if to_stdout && args.json {
        bail!("--json and an output of `-` both want standard output");
    }
    // Links are relative to the current folder.
    let made = match to_stdout {
        true => Some(
            tempfile::Builder::new()
                .suffix(".html")
                .tempfile_in(".")
                .context("cannot write the page here")?,
        ),
        false => None,
    };
    let page = match (&args.out, args.runs.as_slice()) {
        (Some(page), _) => (made.as_ref()).map_or(page.clone(), |made| made.path().to_owned()),
        (None, [run]) if RunFolder::is_at(run) => run.join("report.html"),
        (None, _) => PathBuf::from("report.html"),
    };
    if page.is_dir() {
        bail!(
            "{} is a folder: name a file with --out, such as {}",
            page.display(),
            page.join("report.html").display()
        );
    }
    let is_page = |end: &std::ffi::OsStr| end == "html" || end == "htm";
    if page.exists() && !page.extension().is_some_and(is_page) {
        bail!(
            "{} exists and is not a page: name a file that ends in .html with --out",
            page.display()
        );
    }
    let usual = Showing::default();
    let showing = Showing {
        episodes: args.episodes.unwrap_or(usual.episodes),
        replays: args.replays,
        seed: args.seed,
        // --episodes overrides the limit.
        work: usual.work.filter(|_| args.episodes.is_none()),
    };
    let interrupt = input::interrupt()?;
    let display = PlayDisplay::stderr("replays for the page");
    let report = |progress| display.update(progress);
    let callback = PlayCallback::none()
        .interrupted_by(&interrupt)
        .reporting_to(&report);
    let notes = write_report(&args.runs, &page, showing, callback)?;
    drop(display);
    let Some(notes) = notes else {
        output::remark("interrupted: no page was made");
        return Ok(Answer::No);
    };
    let path = page.display().to_string();
    if args.json {
        let bytes = page.metadata().map_or(0, |data| data.len());
        output::print_json(&json!({ "page": path, "bytes": bytes, "notes": notes }))?;
    } else {
        for note in &notes {
            output::remark(note);
        }
        match to_stdout {
            true => output::write_bytes(None, &std::fs::read(&page)?)?,
            false => output::print(&path)?,
        }
    }
    if args.open && !to_stdout {
        browser::open(&page);
    }
    Ok(Answer::Yes)
}
