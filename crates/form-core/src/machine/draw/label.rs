//! The labels of a picture: their lines, and their size.
//!
//! The width of text is estimated from its letters, since the reader's fonts are unknown.

use super::geometry::{Link, Size};
use super::{formula_text, is_wide, reward_text, wrapped};
use crate::machine::machine::{Edge, Machine};

/// The height of a line.
pub(super) const LINE: f64 = 17.0;
/// The font size on labels.
const LABEL_FONT: f64 = 13.0;
/// The maximum width of a label in columns, and its maximum number of lines.
const LABEL_WIDTH: usize = 28;
const LABEL_LINES: usize = 9;
/// The distance between the labels of two loops.
pub(super) const BETWEEN: f64 = 3.0;

/// One line of a label.
pub(super) struct Line {
    pub(super) class: &'static str,
    pub(super) text: String,
}

/// The label of an edge.
pub(super) struct Label {
    /// The number of the edge.
    pub(super) edge: usize,
    pub(super) lines: Vec<Line>,
}

/// An edge of the picture: all loops of a state share one.
pub(super) struct Drawn {
    pub(super) link: Link,
    /// The labels: one, or one per loop.
    pub(super) labels: Vec<Label>,
    pub(super) title: String,
}

/// The edges with their labels; the loops of one state become one.
pub(super) fn drawn_edges(machine: &Machine) -> Vec<Drawn> {
    let mut drawn: Vec<Drawn> = Vec::new();
    let mut loop_of: Vec<Option<usize>> = vec![None; machine.states().len()];
    for (number, edge) in machine.edges().iter().enumerate() {
        let (from, to) = (edge.from.index(), edge.to.index());
        let label = Label {
            edge: number,
            lines: label_lines(edge),
        };
        let title = title_of(machine, edge);
        let earlier = if from == to { loop_of[from] } else { None };
        match earlier {
            Some(i) => {
                drawn[i].labels.push(label);
                drawn[i].title = format!("{}\n{title}", drawn[i].title);
            }
            None => {
                if from == to {
                    loop_of[from] = Some(drawn.len());
                }
                let link = Link {
                    from,
                    to,
                    label: Size::default(),
                };
                drawn.push(Drawn {
                    link,
                    labels: vec![label],
                    title,
                });
            }
        }
    }
    for edge in &mut drawn {
        let widest = (edge.labels.iter().flat_map(|label| &label.lines))
            .map(|line| text_width(&line.text, LABEL_FONT))
            .fold(0.0, f64::max);
        edge.link.label = Size {
            width: (widest + 14.0).ceil(),
            height: edge
                .labels
                .iter()
                .map(|label| box_height(&label.lines) + BETWEEN)
                .sum::<f64>()
                - BETWEEN,
        };
    }
    drawn
}

fn label_lines(edge: &Edge) -> Vec<Line> {
    let mut texts = wrapped(&formula_text(edge), LABEL_WIDTH);
    if texts.len() > LABEL_LINES {
        texts.truncate(LABEL_LINES - 1);
        texts.push("…".to_owned());
    }
    let plain = |text| Line {
        class: "label",
        text,
    };
    let mut lines: Vec<Line> = texts.into_iter().map(plain).collect();
    lines.extend(reward_text(edge).map(|text| Line {
        class: "label reward",
        text,
    }));
    lines
}

/// The tooltip of an edge.
fn title_of(machine: &Machine, edge: &Edge) -> String {
    let (from, to) = (machine.state_name(edge.from), machine.state_name(edge.to));
    let reward = reward_text(edge).map_or_else(String::new, |reward| format!(", {reward}"));
    format!("{from} → {to}: {}{reward}", formula_text(edge))
}

/// The estimated width of a text, rather too large than too small.
pub(super) fn text_width(text: &str, font: f64) -> f64 {
    let ems = |c: char| match c {
        c if is_wide(c) => 1.05,
        'i' | 'j' | 'l' | 'I' | '.' | ',' | '(' | ')' | ' ' => 0.36,
        'f' | 'r' | 't' => 0.43,
        'm' | 'w' | 'M' | 'W' | '∧' | '∨' | '¬' => 0.88,
        c if c.is_uppercase() => 0.72,
        '∀' | '∃' => 0.70,
        _ => 0.62,
    };
    text.chars().map(ems).sum::<f64>() * font
}

/// The height of the box around these lines.
pub(super) fn box_height(lines: &[Line]) -> f64 {
    lines.len() as f64 * LINE + 8.0
}
