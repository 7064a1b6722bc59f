//! `form report`: one page that shows runs, for looking rather than reading.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use form_lab::{PlayCallback, PlayDisplay, RunFolder, Showing, write_report};
use serde_json::json;

use crate::{Answer, input, output};

/// Make a page of runs: learning curves, the machines as they were learnt, replays
///
/// The page is one HTML file that opens anywhere, without a server and without the network. Replays are episodes that the policies of
/// a run's checkpoint play now, on the maps of its training and on held-out ones, the failures first. What is damaged or missing in
/// a run's folder is noted on the page and does not stop it. Ctrl-C ends it at once; a page that was there before stays.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  form report runs/all-yellow-form-1\n  form report runs --out all.html --replays 2\n  form report results/runs/all-yellow --out curves.html --replays 0"
)]
pub struct Args {
    /// Folders of runs, see `form train --out`; one that is no run stands for all runs in it
    #[arg(required = true)]
    runs: Vec<PathBuf>,
    /// The page, `-` for standard output [default: report.html in the run's folder, or here if there are several]
    #[arg(short, long, value_name = "FILE", visible_alias = "output")]
    out: Option<PathBuf>,
    /// Episodes that are played on either set of maps, and counted [default: 128, or fewer where they would take long]
    #[arg(long, value_name = "N", value_parser = input::at_most::<100_000>)]
    episodes: Option<usize>,
    /// How many of them can be looked at, failures first; 0 plays none
    #[arg(long, value_name = "N", default_value_t = Showing::default().replays, value_parser = input::whole::<usize>)]
    replays: usize,
    /// What episodes and actions are drawn from
    #[arg(long, value_name = "S", default_value_t = 0, value_parser = input::whole::<u64>)]
    seed: u64,
    /// How many threads to use; the result does not depend on it
    #[arg(long, value_name = "N", value_parser = input::at_most::<256>)]
    threads: Option<usize>,
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
    // The page is made as if it lay here: that is where its links lead to.
    let made = match to_stdout {
        true => Some(
            tempfile::Builder::new()
                .suffix(".html")
                .tempfile_in(".")
                .context("cannot make the page here")?,
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
            "{} is there already and is no page: name a file that ends in .html with --out",
            page.display()
        );
    }
    let usual = Showing::default();
    let showing = Showing {
        episodes: args.episodes.unwrap_or(usual.episodes),
        replays: args.replays,
        seed: args.seed,
        // Whoever names a number wants that many.
        work: usual.work.filter(|_| args.episodes.is_none()),
    };
    let interrupt = input::interrupt()?;
    let display = PlayDisplay::stderr("making the page");
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
    Ok(Answer::Yes)
}
