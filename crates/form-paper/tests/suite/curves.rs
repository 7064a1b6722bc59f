//! Learning curves as files: what stands in them, and that the PNG shows the same as the SVG.

use form_paper::{Axis, Curve, Figure, Panel, Scale};

const FORM: [u8; 3] = [214, 39, 40];

fn axis(label: &str, scale: Scale) -> Axis {
    Axis {
        label: label.to_owned(),
        scale,
    }
}

fn panel(title: &str, curves: Vec<Curve>) -> Panel {
    Panel {
        title: title.to_owned(),
        x: axis("environment steps", Scale::Number),
        y: axis("success rate", Scale::Percent),
        curves,
    }
}

fn curve(method: &str, runs: &[&[(f64, f64)]]) -> Curve {
    Curve {
        method: method.to_owned(),
        runs: runs.iter().map(|run| run.to_vec()).collect(),
    }
}

fn figure(curves: Vec<Curve>) -> Figure {
    Figure {
        panels: vec![panel("AllYellow", curves)],
    }
}

/// The texts of an SVG file in the order in which they are drawn.
fn texts(svg: &str) -> Vec<&str> {
    let parts = svg.split("<text").skip(1);
    let text = parts.map(|part| {
        let (_, rest) = part.split_once('>').unwrap();
        rest.split_once("</text>").unwrap().0.trim()
    });
    text.collect()
}

/// Width and pixels.
fn decoded(png: &[u8]) -> (usize, Vec<[u8; 3]>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(png))
        .read_info()
        .unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    let pixels = bytes.chunks_exact(3).map(|rgb| [rgb[0], rgb[1], rgb[2]]);
    (info.width as usize, pixels.collect())
}

#[test]
fn axes_legend_and_title_are_written() {
    let run: &[(f64, f64)] = &[(0.0, 0.0), (2e6, 1.0)];
    let svg = figure(vec![
        curve("recurrent-ppo", &[run]),
        curve("form", &[run, run]),
        curve("mine & yours", &[run, run, run]),
    ])
    .to_svg()
    .unwrap();
    assert_eq!(
        texts(&svg),
        [
            "AllYellow",
            "success rate",
            "environment steps",
            "0 %",
            "20 %",
            "40 %",
            "60 %",
            "80 %",
            "100 %",
            "0",
            "500 k",
            "1 M",
            "1.5 M",
            "2 M",
            "recurrent PPO",
            "FORM",
            "mine &amp; yours",
            "(mean of 1 to 3 runs and range)",
        ]
    );
    for colour in ["#9467BD", "#D62728"] {
        assert!(svg.contains(&format!("stroke=\"{colour}\"")), "{colour}");
    }
    assert!(svg.starts_with("<svg width=\"640\" height=\""));
}

/// A band from 20 % to 80 % around a line at 50 %: from above to below white, pale red, red, pale red, white.
#[test]
fn the_png_shows_line_and_band() {
    let low: &[(f64, f64)] = &[(0.0, 0.2), (100.0, 0.2)];
    let high: &[(f64, f64)] = &[(0.0, 0.8), (50.0, 0.8)];
    let figure = figure(vec![curve("form", &[low, high])]);
    let png = figure.to_png().unwrap();
    let (width, pixels) = decoded(&png);
    assert_eq!(width, 1280);
    // The second run has stopped there, and keeps its value.
    let column = pixels.iter().skip(1000).step_by(width);
    let mut seen: Vec<&str> = Vec::new();
    for pixel in column {
        let what = match *pixel {
            [255, 255, 255] => "white",
            FORM => "line",
            [248, 220, 221] => "band",
            _ => continue,
        };
        if seen.last() != Some(&what) {
            seen.push(what);
        }
    }
    // The letters and lines below the axis come after.
    assert_eq!(seen[..5], ["white", "band", "line", "band", "white"]);
    assert_eq!(png, figure.to_png().unwrap());
}

#[test]
fn panels_stand_side_by_side_with_one_legend() {
    let run: &[(f64, f64)] = &[(1.0, 0.5), (2.0, 1.0)];
    let mut figure = figure(vec![curve("ppo", &[run])]);
    figure
        .panels
        .push(panel("GreenButOne", vec![curve("ppo", &[run])]));
    let svg = figure.to_svg().unwrap();
    assert!(svg.starts_with("<svg width=\"880\" "));
    let count = |text: &str| texts(&svg).iter().filter(|found| **found == text).count();
    assert_eq!((count("PPO"), count("success rate")), (1, 2));
}

/// Unusual but sensible data.
#[test]
fn a_single_point_and_values_that_never_change_can_be_drawn() {
    for run in [&[(0.0, 0.0)][..], &[(5.0, -3.0)], &[(1.0, 7.0), (2.0, 7.0)]] {
        let mut figure = figure(vec![curve("form", &[run]), curve("ppo", &[&[]])]);
        figure.panels[0].y.scale = Scale::Number;
        assert!(figure.to_svg().is_ok_and(|svg| svg.contains("FORM")));
        assert!(figure.to_png().is_ok_and(|png| decoded(&png).0 == 1280));
    }
}

#[test]
fn what_cannot_be_drawn_is_an_error_that_names_it() {
    let check = |figure: &Figure, expected: &str| {
        for error in [figure.to_svg().unwrap_err(), figure.to_png().unwrap_err()] {
            assert_eq!(error.to_string(), expected);
        }
    };
    let nothing = "AllYellow: there is nothing to draw, no run has a point";
    check(&figure(vec![]), nothing);
    check(&figure(vec![curve("form", &[&[]])]), nothing);
    let mut empty = figure(vec![]);
    empty.panels.clear();
    check(&empty, "the figure has no panels");
    let unknown = curve("form", &[&[(0.0, 0.0)], &[(1.0, f64::NAN)]]);
    check(
        &figure(vec![unknown]),
        "AllYellow: form, run 2: a point at (1, NaN)",
    );
    let back = curve("form", &[&[(1.0, 0.0), (1.0, 1.0)]]);
    check(
        &figure(vec![back]),
        "AllYellow: form, run 1: points that do not go from left to right",
    );
}
