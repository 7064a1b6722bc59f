//! The panel beside the world: the machine with its current state, the observation, the buffer, and the progress of the episode.

use form_core::StateId;

use super::{RecordedStep, Recording};
use crate::letters::Letters;

/// A part of the panel, in points from its top left.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Item {
    /// A text whose baseline begins at a place.
    Text {
        x: f32,
        y: f32,
        size: f32,
        colour: [u8; 3],
        text: String,
    },
    /// A filled rectangle.
    Box {
        x: f32,
        y: f32,
        width: f32,
        height: f32,
        colour: [u8; 3],
    },
}

pub(super) const PAPER: [u8; 3] = [250, 250, 248];
const INK: [u8; 3] = [27, 36, 48];
const PALE: [u8; 3] = [92, 103, 116];
const LIT: [u8; 3] = [255, 212, 81];
const GOOD: [u8; 3] = [27, 115, 64];
const BAD: [u8; 3] = [176, 40, 31];
const TRACK: [u8; 3] = [226, 229, 234];
const BAR: [u8; 3] = [10, 94, 168];

/// The width of the panel, and the room around what is in it.
pub(super) const WIDTH: f32 = 330.0;
const MARGIN: f32 = 16.0;
const TITLE: f32 = 16.0;
const TEXT: f32 = 13.0;
const LINE: f32 = 19.0;
/// What is below the machine: three lines and the bar.
const BELOW: f32 = 5.0 * LINE + MARGIN;

/// The least height that the panel of a machine has use for.
pub(super) const LEAST_HEIGHT: f32 = 300.0;

/// Lays out the panel after a step.
pub(super) struct Panel<'a> {
    pub(super) recording: &'a Recording,
    pub(super) letters: &'a Letters,
    pub(super) height: f32,
}

impl Panel<'_> {
    pub(super) fn items(&self, step: usize) -> Vec<Item> {
        let moment = &self.recording.steps[step];
        let mut items = Vec::new();
        let title = self.recording.title();
        self.text(&mut items, MARGIN + 12.0, TITLE, INK, &title);
        let name = match self.recording.knows_machine {
            true => self.recording.machine.machine().name().to_owned(),
            false => "the task's own machine: the policy knows of none".to_owned(),
        };
        self.text(&mut items, MARGIN + 12.0 + LINE, TEXT, PALE, &name);
        self.machine(&mut items, moment);
        self.episode(&mut items, moment, step);
        items
    }

    /// The states with their edges; of a long machine, the part around the state it is in.
    fn machine(&self, items: &mut Vec<Item>, moment: &RecordedStep) {
        let machine = self.recording.machine.machine();
        let mut lines: Vec<(Option<StateId>, String)> = Vec::new();
        let mut current = 0;
        for state in machine.state_ids() {
            if state == moment.monitor.state() {
                current = lines.len();
            }
            let mark = match () {
                () if state == machine.accept() => " (accepts)",
                () if Some(state) == machine.reject() => " (rejects)",
                () => "",
            };
            lines.push((Some(state), format!("{}{mark}", machine.state_name(state))));
            for (_, edge) in machine.edges_from(state) {
                let to = machine.state_name(edge.to);
                lines.push((None, format!("→ {to}   {}", edge.formula)));
            }
        }
        let top = MARGIN + 12.0 + 2.5 * LINE;
        let fits = ((self.height - top - BELOW) / LINE).max(1.0) as usize;
        let first = match lines.len() > fits {
            true => current.saturating_sub(1).min(lines.len() - fits),
            false => 0,
        };
        for (place, (state, text)) in lines.iter().skip(first).take(fits).enumerate() {
            let y = top + LINE * place as f32;
            let lit = *state == Some(moment.monitor.state());
            if lit {
                items.push(Item::Box {
                    x: MARGIN - 6.0,
                    y: y - 14.0,
                    width: WIDTH - 2.0 * MARGIN + 12.0,
                    height: LINE,
                    colour: LIT,
                });
            }
            let (indent, colour) = match state {
                Some(_) => (0.0, INK),
                None => (14.0, PALE),
            };
            self.text_at(items, (MARGIN + indent, y), TEXT, colour, text);
        }
    }

    fn episode(&self, items: &mut Vec<Item>, moment: &RecordedStep, step: usize) {
        let signature = self.recording.machine.signature();
        let facts = [
            ("observed", moment.labels.clone()),
            ("buffer", signature.describe(moment.monitor.seen())),
        ];
        let mut y = self.height - BELOW + LINE;
        for (name, value) in facts {
            self.text_at(items, (MARGIN, y), TEXT, PALE, name);
            self.text_at(items, (MARGIN + 68.0, y), TEXT, INK, &value);
            y += LINE;
        }
        let steps = self.recording.steps();
        let is_last = step == steps;
        let (text, colour) = match is_last {
            false => (format!("step {step} of {steps}"), PALE),
            true if self.recording.outcome == form_env::EpisodeOutcome::Goal => {
                (self.recording.outcome(), GOOD)
            }
            true => (self.recording.outcome(), BAD),
        };
        self.text_at(items, (MARGIN, y), TEXT, colour, &text);
        let width = WIDTH - 2.0 * MARGIN;
        let bar = |width: f32, colour| Item::Box {
            x: MARGIN,
            y: self.height - MARGIN - 4.0,
            width,
            height: 4.0,
            colour,
        };
        items.push(bar(width, TRACK));
        items.push(bar(width * step as f32 / steps.max(1) as f32, BAR));
    }

    fn text(&self, items: &mut Vec<Item>, y: f32, size: f32, colour: [u8; 3], text: &str) {
        self.text_at(items, (MARGIN, y), size, colour, text);
    }

    /// A text that ends before the margin: what is too long is cut off.
    fn text_at(
        &self,
        items: &mut Vec<Item>,
        (x, y): (f32, f32),
        size: f32,
        colour: [u8; 3],
        text: &str,
    ) {
        let room = WIDTH - MARGIN - x;
        let fits = |text: &str| size * self.letters.width(text) <= room;
        let mut text = text.to_owned();
        if !fits(&text) {
            while !text.is_empty() && !fits(&format!("{text}…")) {
                text.pop();
            }
            text.push('…');
        }
        items.push(Item::Text {
            x,
            y,
            size,
            colour,
            text,
        });
    }
}
