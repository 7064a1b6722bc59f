//! The training loop of `form train` and `form transfer`: train until the run is over, then print the result.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use form_lab::{
    Display, Finish, GridEnvFactory, Interval, LivePage, LivePort, PlayCallback, PlayDisplay,
    RunConfig, RunFolder, RunResult, Session, Showing, write_report,
};
use serde_json::{Value, json};

use crate::output::count;
use crate::{Answer, browser, input, output};

/// The maximum number of failing maps that are named.
const MOST_MAPS: usize = 3;

/// Settings of a run
#[derive(clap::Args)]
pub struct SettingArgs {
    /// The seed of all randomness: maps, worlds, policies [default: from the source run or --config, else 1]
    #[arg(long, value_name = "S", value_parser = input::whole::<u64>)]
    pub seed: Option<u64>,
    /// The maximum number of iterations [default: from the source run or --config, else from the preset]
    #[arg(long, value_name = "N", value_parser = input::at_least_one)]
    pub iterations: Option<u64>,
    /// How many maps are played in turn; 0 for a new map in every episode [default: from the source run or --config, else from the preset]
    #[arg(long, value_name = "K", value_parser = input::whole::<usize>)]
    pub layouts: Option<usize>,
    /// A setting of config.toml, such as ppo.gamma=0.99; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

impl SettingArgs {
    /// Applies the settings.
    pub fn apply(&self, config: &mut RunConfig) -> Result<()> {
        config.seed = self.seed.unwrap_or(config.seed);
        config.iterations = self.iterations.unwrap_or(config.iterations);
        config.layouts = self.layouts.unwrap_or(config.layouts);
        for text in &self.set {
            let (key, value) = setting(text)?;
            config
                .set(key, value)
                .with_context(|| format!("--set {text}"))?;
        }
        Ok(())
    }
}

/// How a run is carried out and shown
#[derive(clap::Args)]
pub struct TrainLoopArgs {
    /// The number of threads; the result does not depend on it
    #[arg(long, value_name = "N", value_parser = input::at_most::<256>)]
    pub threads: Option<usize>,
    /// Exit with 1 if the final success rate is below this
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub require_success: Option<f64>,
    /// Serve the run's page to this computer while it trains, and print the address [default port: 8765, or a free one]
    #[arg(long, value_name = "PORT", num_args = 0..=1, value_parser = port)]
    pub live: Option<Option<u16>>,
    /// Do not write the report page (report.html) at the end
    #[arg(long)]
    pub no_report: bool,
    /// Open the report page in the browser at the end
    #[arg(long, conflicts_with = "no_report")]
    pub open: bool,
    /// Show no progress
    #[arg(long)]
    pub quiet: bool,
    /// Print one JSON object at the end
    #[arg(long)]
    pub json: bool,
}

impl TrainLoopArgs {
    /// The port of --live, opened before the run begins: an occupied port must not leave an empty run behind.
    pub fn port(&self) -> Result<Option<LivePort>> {
        self.live.map(LivePort::open).transpose()
    }
}

/// Parses a port. Other text may be a task after `--live`.
fn port(text: &str) -> Result<u16, String> {
    let number = text.parse().ok().filter(|port| *port > 0);
    number.ok_or_else(|| {
        "expected a port from 1 to 65535; name the task before --live, as in `form train all-yellow --live`".to_owned()
    })
}

/// Parses a rate, such as `0.99`.
pub fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok();
    rate.filter(|rate| (0.0..=1.0).contains(rate))
        .ok_or_else(|| "expected a rate from 0 to 1, as in 0.99".to_owned())
}

/// The name and the value of one `--set`.
pub fn setting(text: &str) -> Result<(&str, &str)> {
    let (key, value) = text.split_once('=').with_context(|| {
        format!("--set {text}: expected a name and a value, as in ppo.gamma=0.99")
    })?;
    Ok((key.trim(), value.trim()))
}

/// The default folder of a run, with a number if it exists.
pub fn free_folder(name: &str) -> PathBuf {
    let path = Path::new("runs").join(name);
    let numbered = (2..).map(|number| Path::new("runs").join(format!("{name}-{number}")));
    let mut candidates = std::iter::once(path.clone()).chain(numbered);
    candidates.find(|path| !path.exists()).unwrap_or(path)
}

/// Trains until the run is over or interrupted, and serves its page on `port` meanwhile. `more` is added to the JSON output.
pub fn run(
    args: &TrainLoopArgs,
    port: Option<LivePort>,
    session: &mut Session<GridEnvFactory>,
    remarks: &[String],
    more: &Value,
) -> Result<Answer> {
    let folder = session.folder().clone();
    let mut display = match args.quiet {
        true => Display::quiet(),
        false => Display::stderr(Some(session.trainer().config().iterations)),
    };
    for remark in remarks {
        display.remark(remark);
    }
    display.remark(&format!("run folder: {}", folder.path().display()));
    let live = port.map(|port| LivePage::serve(folder.path(), port));
    let live = live.transpose()?;
    if let Some(live) = &live {
        let text = format!("the live page is at {}", live.address());
        // The address is printed even with --quiet.
        match args.quiet {
            true => output::remark(&text),
            false => display.remark(&text),
        }
    }
    let finish = session.run(&mut display)?;
    drop(display);
    match finish {
        Finish::Ended(result) => {
            if !args.no_report {
                make_page(args, &folder);
            }
            report(args, folder.path(), &result, more)
        }
        Finish::Interrupted { iteration } => interrupted(args, &folder, iteration),
    }
}

/// Completes a run that was killed at its very end: removes temporary files and writes its page.
pub fn finish(args: &TrainLoopArgs, path: &Path) {
    // If another process holds the lock, or the folder is read-only, nothing is done.
    if let Ok((folder, _lock)) = RunFolder::resume(path)
        && !args.no_report
        && !folder.report().exists()
    {
        make_page(args, &folder);
    }
}

/// Writes the page of a finished run. The run is complete without it, so Ctrl-C and errors only skip the page.
fn make_page(args: &TrainLoopArgs, folder: &RunFolder) {
    let display = match args.quiet {
        true => PlayDisplay::quiet(),
        false => PlayDisplay::stderr("replays for the page"),
    };
    let (interrupt, report) = (input::interrupted(), |progress| display.update(progress));
    let callback = PlayCallback::none()
        .interrupted_by(&interrupt)
        .reporting_to(&report);
    let made = write_report(
        &[folder.path().to_owned()],
        &folder.report(),
        Showing::BRIEF,
        callback,
    );
    drop(display);
    match made {
        Ok(Some(_)) => {}
        Ok(None) => output::remark(&format!(
            "the report page was not written: interrupted; write it with `form report {}`",
            output::quoted(folder.path())
        )),
        Err(error) => {
            let error = output::message(&error);
            output::remark(&format!("the report page was not written: {error}"));
        }
    }
}

/// Prints the result of a run.
pub fn report(
    args: &TrainLoopArgs,
    path: &Path,
    result: &RunResult,
    more: &Value,
) -> Result<Answer> {
    let reached = |least: f64| result.success.is_some_and(|success| success >= least);
    let missed = args.require_success.filter(|least| !reached(*least));
    let page = RunFolder::open(path)?.report();
    if args.json {
        let mut value = serde_json::to_value(result)?;
        value["run"] = json!(path.display().to_string());
        for (key, more) in more.as_object().into_iter().flatten() {
            value[key] = more.clone();
        }
        output::print_json(&value)?;
    } else {
        let mut text = result.machine.clone().unwrap_or_default();
        text += &format!("# {}\n", result.message);
        if let Some(difference) = &result.difference {
            text += &format!("# {difference}\n");
        }
        for line in success(result) {
            text += &format!("# {line}\n");
        }
        text += &format!(
            "# {}, {} steps in {:.1} s; {} learnt in {:.2} s from {}\n",
            count(usize::try_from(result.iterations)?, "iteration"),
            result.steps,
            result.seconds,
            count(usize::try_from(result.relearnings)?, "machine"),
            result.learning_seconds,
            count(usize::try_from(result.traces)?, "trace"),
        );
        if page.exists() {
            text += &format!("# report page: {}\n", page.display());
        }
        let quoted = output::quoted(path);
        if result.ending == "out-of-iterations" {
            text +=
                &format!("# for more iterations: form train --resume {quoted} --iterations N\n");
        }
        text += &format!(
            "# run folder: {}; next: form eval {quoted}\n",
            path.display()
        );
        output::print(&text)?;
    }
    if args.open && page.exists() {
        browser::open(&page);
    }
    if let Some(least) = missed {
        output::remark(&format!(
            "the success rate is below the {least} of --require-success"
        ));
    }
    Ok(match missed.is_some() || result.ending == "no-machine" {
        true => Answer::No,
        false => Answer::Yes,
    })
}

/// The final success rate, and the maps that fail.
fn success(result: &RunResult) -> Vec<String> {
    let Some(evaluation) = &result.evaluation else {
        let success = result.success;
        return (success.map(|success| format!("success {:.1} %", 100.0 * success)))
            .into_iter()
            .collect();
    };
    let percent = |rate: f64| format!("{:.1}", 100.0 * rate);
    let Interval { low, high } = evaluation.success_interval;
    let mut line = format!(
        "success {} % of {} (95 %: {} to {})",
        percent(evaluation.success),
        count(evaluation.episodes as usize, "episode"),
        percent(low),
        percent(high)
    );
    if let Some(random) = evaluation.random {
        line += &format!("; random {} %", percent(random));
    }
    if let (Some(ratio), Some(_)) = (evaluation.ratio, evaluation.shortest) {
        let most = if evaluation.shortest_exact {
            ""
        } else {
            "at most "
        };
        line += &format!("; successes take {most}{ratio:.2} times the shortest steps");
    }
    let mut lines = vec![line];
    lines.extend(evaluation.failures.worst_maps(MOST_MAPS));
    lines
}

fn interrupted(args: &TrainLoopArgs, folder: &RunFolder, iteration: u64) -> Result<Answer> {
    let path = folder.path().display();
    if args.json {
        output::print_json(&json!({
            "ending": "interrupted",
            "iterations": iteration,
            "run": path.to_string(),
        }))?;
    }
    output::remark(&format!(
        "interrupted after iteration {iteration}; resume with: form train --resume {}",
        output::quoted(folder.path())
    ));
    Ok(Answer::No)
}
