//! `form draw`: pictures of worlds and of episodes, random, solved, or played by the policies of a run.

use std::ffi::OsStr;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use form_env::{Action, Frame, GridWorld, Stream, Walk, generator, solution};
use form_lab::{Recording, SavedRun};
use rand::RngExt;

use crate::output::count;
use crate::{Answer, input, output, world};

/// Draw a world, an episode in it, or an episode played by the policies of a run
///
/// The extension of the output file selects the format; without a file, text is printed. For a task: the world as text, SVG or PNG, an
/// episode as an animated SVG or GIF. For a run: an episode that its policies play now, with the machine and its buffer beside the
/// world, as an animated SVG or GIF, as a PNG of its end with the path, or as text.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  form draw all-yellow\n  form draw green-but-one --seed 7 --map 3 -o map.svg\n  form draw blue-all-yellow-7 --episode solved -o episode.gif\n  form draw examples/two_rooms.toml --episode random --steps 200 -o walk.svg\n  form draw runs/all-yellow-form-1 -o episode.gif\n  form draw runs/all-yellow-form-1 --held-out --map 3 --greedy -o episode.svg"
)]
pub struct Args {
    #[command(flatten)]
    world: world::WorldArgs,
    /// Draw an episode
    #[arg(long, value_enum, value_name = "WHICH")]
    episode: Option<Episode>,
    /// The maximum number of steps drawn [default: 100 with random actions, 500 for a run]
    #[arg(long, value_name = "N", value_parser = input::whole::<usize>)]
    steps: Option<usize>,
    /// Pixels per cell, for PNG and GIF
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = input::whole::<usize>)]
    scale: usize,
    /// Write to a file (.txt, .svg, .png, .gif)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Episode {
    /// A shortest solution
    Solved,
    /// Random actions
    Random,
}

/// The maximum number of search nodes: some seconds, some hundred megabytes.
const MOST_SITUATIONS: usize = 5_000_000;

/// The default number of steps drawn for a run: longer episodes fail.
const STEPS_OF_A_RUN: usize = 500;

pub fn run(args: &Args) -> Result<Answer> {
    if let Some(run) = args.world.run()? {
        return draw_run(args, &run);
    }
    let task = args.world.task()?;
    let world = args.world.start(&task, args.world.map.unwrap_or(0))?;
    let frame = Frame::of_world(&world);
    let path = args
        .output
        .as_deref()
        .filter(|path| *path != Path::new("-"));
    let extension = path
        .and_then(Path::extension)
        .map(OsStr::to_ascii_lowercase);
    let format = extension.as_deref().and_then(OsStr::to_str);
    let written = match (path, format, args.episode) {
        (None, _, None) => frame.to_text(std::io::stdout().is_terminal()).into_bytes(),
        (Some(_), Some("txt"), None) => frame.to_text(false).into_bytes(),
        (Some(_), Some("svg"), None) => frame.to_svg().into_bytes(),
        (Some(_), Some("png"), None) => frame.to_png(args.scale)?,
        (Some(_), Some("svg"), Some(episode)) => walk(args, &world, episode)?.to_svg().into_bytes(),
        (Some(_), Some("gif"), Some(episode)) => walk(args, &world, episode)?.to_gif(args.scale)?,
        (Some(path), Some("gif"), None) => {
            bail!(
                "{}: a GIF shows an episode: add --episode solved or --episode random",
                path.display()
            )
        }
        (_, _, Some(_)) => {
            bail!("an episode is drawn into an SVG or GIF file: -o FILE.svg or -o FILE.gif")
        }
        (Some(path), _, None) => bail!(
            "{}: unknown extension: use .txt, .svg, .png or .gif",
            path.display()
        ),
    };
    output::write_bytes(args.output.as_deref(), &written)?;
    Ok(Answer::Yes)
}

/// Draws an episode played by the policies of a run.
fn draw_run(args: &Args, run: &SavedRun) -> Result<Answer> {
    if args.episode.is_some() {
        bail!("--episode: the policies of a run play its episodes: remove this option");
    }
    let path = (args.output.as_deref()).filter(|path| *path != Path::new("-"));
    let extension = (path.and_then(Path::extension)).map(OsStr::to_ascii_lowercase);
    let recording = Recording::of(run, &args.world.episode())?;
    let most = args.steps.unwrap_or(STEPS_OF_A_RUN);
    let written = match (path, extension.as_deref().and_then(OsStr::to_str)) {
        (None, _) | (_, Some("txt")) => recording.to_text().into_bytes(),
        (_, Some("svg")) => recording.to_svg(most)?.into_bytes(),
        (_, Some("gif")) => recording.to_gif(args.scale, most)?,
        (_, Some("png")) => recording.to_png(args.scale, most)?,
        (Some(path), _) => bail!(
            "{}: unknown extension: use .txt, .svg, .png or .gif",
            path.display()
        ),
    };
    output::write_bytes(args.output.as_deref(), &written)?;
    if path.is_some() {
        output::remark(&format!("{}: {}", recording.title(), recording.outcome()));
        if recording.steps() > most && extension.is_some_and(|end| end != "txt") {
            output::remark(&format!(
                "the first {} are drawn: --steps N draws more",
                count(most, "step")
            ));
        }
    }
    Ok(Answer::Yes)
}

fn walk<'a>(args: &Args, world: &'a GridWorld, episode: Episode) -> Result<Walk<'a>> {
    let actions: Vec<usize> = match episode {
        Episode::Solved => {
            let way = solution(world, MOST_SITUATIONS).context(
                "no shortest solution was found within the search limit; try --episode random",
            )?;
            let limit = world.task().steps() as usize;
            if way.len() > limit {
                bail!(
                    "a shortest solution has {} steps, the limit is {limit}",
                    way.len()
                );
            }
            way.iter().map(|action| *action as usize).collect()
        }
        Episode::Random => {
            let map = args.world.map.unwrap_or(0);
            let mut random = generator(args.world.seed, Stream::Other(map));
            let moves = 0..Action::MOVES;
            (0..args.steps.unwrap_or(100))
                .map(|_| random.random_range(moves.clone()))
                .collect()
        }
    };
    Ok(Walk::new(world, actions)?)
}
