//! A machine as a self-contained SVG picture: no script, no fonts to load, for light and dark pages.

use std::fmt::Write as _;

use super::curve::{self, Arrow, Course, Outline, Port, number};
use super::geometry::{Layout, Link, Point, Size};
use super::label::{BETWEEN, Drawn, LINE, Label, box_height, drawn_edges, text_width};
use super::layout;
use super::{Role, role};
use crate::machine::machine::Machine;

/// The font size in states.
const STATE_FONT: f64 = 15.0;
/// The height of a state.
const STATE_HEIGHT: f64 = 46.0;
/// Between the two rings of a terminal state.
const RING: f64 = 4.0;
/// The arrow that marks the initial state.
const STUB: f64 = 34.0;
/// Around the picture.
const MARGIN: f64 = 18.0;

const STYLE: &str = include_str!("style.css");

/// The machine as an SVG picture, left to right: the initial state has an arrow from nowhere, the accepting state two
/// green rings, the rejecting state two red ones.
///
/// For scripts of a page, states have `data-state` with their names, labels `data-edge` with the number of their edge, and arrows
/// `data-link` with the numbers of their two states.
///
/// Long labels are broken at connectives and cut after some lines; the tooltip of an edge shows all of it.
pub fn to_svg(machine: &Machine) -> String {
    let drawn = drawn_edges(machine);
    let states: Vec<Size> = (machine.states().iter())
        .map(|name| state_size(name.as_str()))
        .collect();
    let links: Vec<Link> = drawn.iter().map(|edge| edge.link).collect();
    let layout = layout::arrange(&states, &links, machine.initial().index());
    let mut outlines: Vec<Outline> = (states.iter().zip(&layout.states))
        .map(|(size, middle)| Outline {
            middle: *middle,
            size: *size,
            skirt: 0.0,
        })
        .collect();
    for link in links.iter().filter(|link| link.from == link.to) {
        outlines[link.from].skirt = link.label.width / 2.0;
    }

    let mut lines = String::new();
    let mut labels = String::new();
    let ports = ports(&outlines, &links, &layout);
    for ((edge, route), (leave, enter)) in drawn.iter().zip(&layout.routes).zip(ports) {
        let Link { from, to, label } = edge.link;
        let at = route.points[route.label];
        let arrow = if from == to {
            curve::around(outlines[from], at, label)
        } else {
            curve::between(&Course {
                from: outlines[from],
                to: outlines[to],
                leave,
                enter,
                route,
            })
        };
        let link = format!(" data-link=\"{from}-{to}\"");
        draw_arrow(&mut lines, &arrow, &edge.title, &link);
        draw_label(&mut labels, edge, at);
    }
    let initial = outlines[machine.initial().index()];
    draw_arrow(&mut lines, &curve::stub(initial, STUB), "initial", "");
    let mut discs = String::new();
    for (state, outline) in machine.state_ids().zip(&outlines) {
        draw_state(
            &mut discs,
            machine.state_name(state),
            role(machine, state),
            *outline,
        );
    }

    let (low, high) = bounds(&layout, &outlines, &links, initial);
    let (x, y) = (low.x - MARGIN, low.y - MARGIN);
    let (width, height) = (high.x - low.x + 2.0 * MARGIN, high.y - low.y + 2.0 * MARGIN);
    let [x, y, width, height] = [x.floor(), y.floor(), width.ceil(), height.ceil()].map(number);
    let title = escaped(&format!("{}: {}", machine.name(), machine.describe_size()));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"form-machine\" role=\"img\" aria-label=\"{title}\" \
         width=\"{width}\" height=\"{height}\" viewBox=\"{x} {y} {width} {height}\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n\
         <rect class=\"paper\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>\n\
         {lines}{labels}{discs}</svg>\n"
    )
}

/// Where each link leaves and enters its states; links at one state are spread.
fn ports(outlines: &[Outline], links: &[Link], layout: &Layout) -> Vec<(Port, Port)> {
    let mut of_state: Vec<Vec<(usize, bool)>> = vec![Vec::new(); outlines.len()];
    let mut ports: Vec<(Port, Port)> = Vec::with_capacity(links.len());
    for (i, (link, route)) in links.iter().zip(&layout.routes).enumerate() {
        let (from, to) = (outlines[link.from], outlines[link.to]);
        let (first, last) = curve::ends(route, curve::sense(from, to));
        ports.push((from.port(first), to.port(last)));
        if link.from != link.to {
            of_state[link.from].push((i, false));
            of_state[link.to].push((i, true));
        }
    }
    for meeting in of_state {
        let mut here: Vec<Port> = (meeting.iter())
            .map(|(i, enters)| if *enters { ports[*i].1 } else { ports[*i].0 })
            .collect();
        curve::spread(&mut here);
        for ((i, enters), port) in meeting.into_iter().zip(here) {
            if enters {
                ports[i].1 = port;
            } else {
                ports[i].0 = port;
            }
        }
    }
    ports
}

fn state_size(name: &str) -> Size {
    let width = text_width(name, STATE_FONT) + 22.0;
    Size {
        width: width.max(STATE_HEIGHT).ceil(),
        height: STATE_HEIGHT,
    }
}

// Writing to a string cannot fail, here and below.

fn draw_arrow(svg: &mut String, arrow: &Arrow, title: &str, attributes: &str) {
    let (Arrow { line, head }, title) = (arrow, escaped(title));
    let _ = writeln!(
        svg,
        "<g{attributes}><title>{title}</title><path class=\"line\" d=\"{line}\"/><path class=\"head\" d=\"{head}\"/></g>"
    );
}

fn draw_label(svg: &mut String, edge: &Drawn, at: Point) {
    let Size { width, height } = edge.link.label;
    let mut top = at.y - height / 2.0;
    let _ = write!(svg, "<g><title>{}</title>", escaped(&edge.title));
    for Label {
        edge: number_of_edge,
        lines,
    } in &edge.labels
    {
        let height = box_height(lines);
        let _ = write!(
            svg,
            "<g data-edge=\"{number_of_edge}\"><rect class=\"box\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"6\"/>",
            number(at.x - width / 2.0),
            number(top),
            number(width),
            number(height)
        );
        for (i, line) in lines.iter().enumerate() {
            let baseline = top + 4.0 + i as f64 * LINE + 12.7;
            draw_text(svg, line.class, at.x, baseline, &line.text);
        }
        svg.push_str("</g>");
        top += height + BETWEEN;
    }
    svg.push_str("</g>\n");
}

fn draw_state(svg: &mut String, name: &str, role: Role, outline: Outline) {
    let class = match role {
        Role::Accept => "accept",
        Role::Reject => "reject",
        Role::Initial | Role::Plain => "state",
    };
    let name_of_state = escaped(name);
    let _ = write!(
        svg,
        "<g class=\"{class}\" data-state=\"{name_of_state}\"><title>{name_of_state}</title>"
    );
    let ring = |svg: &mut String, class: &str, inset: f64| {
        let Outline { middle, size, .. } = outline;
        let (width, height) = (size.width - 2.0 * inset, size.height - 2.0 * inset);
        let _ = write!(
            svg,
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\"/>",
            number(middle.x - width / 2.0),
            number(middle.y - height / 2.0),
            number(width),
            number(height),
            number(height / 2.0)
        );
    };
    ring(svg, "ring disc", 0.0);
    if matches!(role, Role::Accept | Role::Reject) {
        ring(svg, "ring", RING);
    }
    draw_text(
        svg,
        "name",
        outline.middle.x,
        outline.middle.y + STATE_FONT * 0.35,
        name,
    );
    svg.push_str("</g>\n");
}

fn draw_text(svg: &mut String, class: &str, x: f64, y: f64, text: &str) {
    let (x, y, text) = (number(x), number(y), escaped(text));
    let _ = write!(
        svg,
        "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{text}</text>"
    );
}

/// The corners of the picture.
fn bounds(layout: &Layout, states: &[Outline], links: &[Link], initial: Outline) -> (Point, Point) {
    let start = Point {
        x: initial.middle.x - STUB,
        y: initial.middle.y,
    };
    let mut boxes: Vec<(Point, Size)> = vec![(start, initial.size)];
    boxes.extend(states.iter().map(|state| (state.middle, state.size)));
    for (route, link) in layout.routes.iter().zip(links) {
        boxes.push((route.points[route.label], link.label));
        boxes.extend(route.points.iter().map(|point| (*point, Size::default())));
    }
    let everywhere = f64::INFINITY;
    let mut low = Point {
        x: everywhere,
        y: everywhere,
    };
    let mut high = Point {
        x: -everywhere,
        y: -everywhere,
    };
    for (middle, size) in boxes {
        low.x = low.x.min(middle.x - size.width / 2.0);
        low.y = low.y.min(middle.y - size.height / 2.0);
        high.x = high.x.max(middle.x + size.width / 2.0);
        high.y = high.y.max(middle.y + size.height / 2.0);
    }
    (low, high)
}

fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            c => safe.push(c),
        }
    }
    safe
}
