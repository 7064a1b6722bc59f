//! `form draw`: pictures of worlds and of episodes in them.

use std::ffi::OsStr;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use form_env::{Action, Frame, GridWorld, Stream, Walk, generator, solution};
use rand::RngExt;

use crate::{Answer, input, output, world};

/// Draw a world as text, SVG or PNG, or an episode in it as an animated SVG or GIF
///
/// The format is told from the name of the output file; without one the world is printed as text.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  form draw all-yellow\n  form draw green-but-one --seed 7 --map 3 -o map.svg\n  form draw blue-all-yellow-7 --episode solved -o episode.gif\n  form draw examples/two_rooms.toml --episode random --steps 200 -o walk.svg"
)]
pub struct Args {
    #[command(flatten)]
    world: world::WorldArgs,
    /// Draw an episode: the shortest way to complete the task, or random actions
    #[arg(long, value_enum, value_name = "WHICH")]
    episode: Option<Episode>,
    /// The most steps of an episode with random actions
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = input::whole::<usize>)]
    steps: usize,
    /// Pixels a cell, for PNG and GIF
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = input::whole::<usize>)]
    scale: usize,
    /// Write to a file (.txt, .svg, .png, .gif)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Episode {
    /// The shortest way to complete the task
    Solved,
    /// Random actions
    Random,
}

/// Of the search for a shortest way: some seconds, some hundred megabytes.
const MOST_SITUATIONS: usize = 5_000_000;

pub fn run(args: &Args) -> Result<Answer> {
    let task = args.world.task()?;
    let world = args.world.start(&task, args.world.map)?;
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
            "{}: the name does not say the format: end it in .txt, .svg, .png or .gif",
            path.display()
        ),
    };
    output::write_bytes(args.output.as_deref(), &written)?;
    Ok(Answer::Yes)
}

fn walk<'a>(args: &Args, world: &'a GridWorld, episode: Episode) -> Result<Walk<'a>> {
    let actions: Vec<usize> = match episode {
        Episode::Solved => {
            let way = solution(world, MOST_SITUATIONS).context(
                "the shortest way was not found: there is too much to visit; try --episode random",
            )?;
            let limit = world.task().steps() as usize;
            if way.len() > limit {
                bail!(
                    "the shortest way has {} steps, an episode {limit}",
                    way.len()
                );
            }
            way.iter().map(|action| *action as usize).collect()
        }
        Episode::Random => {
            let mut random = generator(args.world.seed, Stream::Other(args.world.map));
            let moves = 0..Action::MOVES;
            (0..args.steps)
                .map(|_| random.random_range(moves.clone()))
                .collect()
        }
    };
    Ok(Walk::new(world, actions)?)
}
