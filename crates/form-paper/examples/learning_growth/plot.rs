//! The figures as a picture: one panel per study, the time on a logarithmic scale.

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use plotters::coord::Shift;
use plotters::prelude::*;

use super::Study;
use super::table::grouped;

const FONT: &str = "sans-serif";
/// A task has the same colour in all panels (a palette for colour-blind readers).
const COLOURS: [(&str, RGBColor); 7] = [
    ("AllYellow", RGBColor(0, 114, 178)),
    ("GreenButOne-NoLava", RGBColor(213, 94, 0)),
    ("Blue-AllYellow-7", RGBColor(0, 158, 115)),
    ("AllYellow, propositional", RGBColor(204, 121, 167)),
    ("chain with a dead end", RGBColor(230, 159, 0)),
    ("two branches", RGBColor(86, 180, 233)),
    ("cycle", RGBColor(128, 128, 128)),
];
/// The lower end of the scale, in seconds.
const SHORTEST: f64 = 1e-4;

/// Draws the studies side by side into an SVG file.
pub fn draw(studies: &[Study], limit: Duration, path: &Path) -> Result<(), Box<dyn Error>> {
    let root = SVGBackend::new(path, (1200, 400)).into_drawing_area();
    root.fill(&WHITE)?;
    for (area, study) in root.split_evenly((1, studies.len())).iter().zip(studies) {
        panel(area, study, limit.as_secs_f64())?;
    }
    root.present()?;
    Ok(())
}

fn panel(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    study: &Study,
    limit: f64,
) -> Result<(), Box<dyn Error>> {
    let last = study.sizes.len() as i32 - 1;
    let mut chart = ChartBuilder::on(area)
        .caption(study.title, (FONT, 17))
        .margin(12)
        .x_label_area_size(42)
        .y_label_area_size(54)
        // Room for the legend above the limit.
        .build_cartesian_2d(0..last, (SHORTEST..limit * 50.0).log_scale())?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .x_labels(study.sizes.len())
        .x_label_formatter(&|i| {
            let size = study.sizes.get(*i as usize);
            size.map_or_else(String::new, |size| grouped(*size))
        })
        .y_label_formatter(&|seconds| format!("{seconds}"))
        .x_desc(study.varied)
        .y_desc("seconds")
        .label_style((FONT, 13))
        .draw()?;
    for series in &study.series {
        let colour = COLOURS.iter().find(|(task, _)| *task == series.task);
        let colour = colour.map_or(BLACK, |(_, colour)| *colour);
        let points: Vec<(i32, f64, bool)> = (0..)
            .zip(&series.points)
            .map(|(i, point)| match point.time {
                Some(time) => (i, time.as_secs_f64().max(SHORTEST), true),
                None => (i, limit, false),
            })
            .collect();
        let line = points.iter().map(|(i, seconds, _)| (*i, *seconds));
        chart
            .draw_series(LineSeries::new(line, colour.stroke_width(2)))?
            .label(series.task)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour.stroke_width(2)));
        // What was not settled within the limit is a hollow circle there.
        chart.draw_series(points.iter().map(|(i, seconds, settled)| {
            let style = if *settled {
                colour.filled()
            } else {
                colour.stroke_width(2)
            };
            Circle::new((*i, *seconds), 4, style)
        }))?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.8))
        .label_font((FONT, 13))
        .draw()?;
    Ok(())
}
