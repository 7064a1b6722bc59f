//! The lines of a picture: smooth curves between states, loops, and arrow heads, as SVG path data.
//!
//! A curve leaves and enters its states radially, crosses its label on a level, and in between follows its route by
//! cubic pieces whose slopes never overshoot (Fritsch and Carlson's monotone interpolation).

use std::fmt::Write as _;

use super::geometry::{Point, Route, Size};

/// The distance between the tip of an arrow and the border of the state.
const AIR: f64 = 2.0;
/// The length of an arrow head.
const HEAD: f64 = 9.0;
/// Half the width of an arrow head.
const BARB: f64 = 4.2;
/// The maximum angle, in radians, at which edges touch a state, from the horizontal.
const STEEPEST: f64 = 1.05;
/// The angle, in radians, between edges that touch a state on one side, if possible.
const APART: f64 = 0.4;

/// An edge as drawn: the line, and the head of its arrow.
pub(super) struct Arrow {
    pub(super) line: String,
    pub(super) head: String,
}

/// A state's outline: a circle, drawn out sideways where its name needs it.
#[derive(Clone, Copy)]
pub(super) struct Outline {
    pub(super) middle: Point,
    pub(super) size: Size,
    /// Half the width of the label of its loops, below the state.
    pub(super) skirt: f64,
}

/// Where a curve touches a state: the side, and the angle from the horizontal, in radians.
#[derive(Clone, Copy, Debug)]
pub(super) struct Port {
    right: bool,
    angle: f64,
}

/// A point with the direction in which the curve passes it.
#[derive(Clone, Copy)]
struct Knot {
    at: Point,
    along: Point,
}

impl Outline {
    /// The port that looks towards `other`.
    pub(super) fn port(&self, other: Point) -> Port {
        let (dx, dy) = (other.x - self.middle.x, other.y - self.middle.y);
        // Not quite towards it: flatter exits make calmer curves.
        let angle = 0.75 * dy.atan2(dx.abs().max(1.0));
        let lowest = if self.has_wide_skirt() {
            STEEPEST / 2.0
        } else {
            STEEPEST
        };
        Port {
            right: dx >= 0.0,
            angle: angle.clamp(-STEEPEST, lowest),
        }
    }

    fn has_wide_skirt(&self) -> bool {
        self.skirt > self.size.width / 2.0
    }

    /// A point beside the skirt, if an edge through the port has to go round it.
    fn around_skirt(&self, port: Port) -> Option<Point> {
        let side = if port.right { 1.0 } else { -1.0 };
        let needed = self.has_wide_skirt() && port.angle > 0.0;
        needed.then(|| {
            // Along the direction of the port, but not down to the label.
            let at = self.at(port, AIR + HEAD).at;
            let x = self.middle.x + side * (self.skirt + AIR);
            let y = at.y + 0.6 * port.angle.tan() * (x - at.x).abs();
            let lowest = self.middle.y + self.size.height / 2.0 + HEAD;
            Point {
                x,
                y: y.min(lowest),
            }
        })
    }

    /// The place `gap` away from the port, and the outward direction there.
    fn at(&self, port: Port, gap: f64) -> Knot {
        let radius = self.size.height / 2.0;
        let side = if port.right { 1.0 } else { -1.0 };
        let along = Point {
            x: side * port.angle.cos(),
            y: port.angle.sin(),
        };
        let straight = self.size.width / 2.0 - radius;
        let at = Point {
            x: self.middle.x + side * straight + (radius + gap) * along.x,
            y: self.middle.y + (radius + gap) * along.y,
        };
        Knot { at, along }
    }
}

/// Moves the ports of one state apart, in the order of their angles.
pub(super) fn spread(ports: &mut [Port]) {
    for side in [false, true] {
        let mut here: Vec<usize> = (0..ports.len())
            .filter(|i| ports[*i].right == side)
            .collect();
        here.sort_by(|a, b| ports[*a].angle.total_cmp(&ports[*b].angle).then(a.cmp(b)));
        let gaps = here.len().saturating_sub(1).max(1) as f64;
        let apart = APART.min(2.0 * STEEPEST / gaps);
        let wanted: Vec<f64> = here.iter().map(|i| ports[*i].angle).collect();
        let mut angles = wanted.clone();
        for i in 1..angles.len() {
            angles[i] = angles[i].max(angles[i - 1] + apart);
        }
        let pushed: f64 = angles.iter().zip(&wanted).map(|(a, w)| a - w).sum();
        let shift = pushed / angles.len().max(1) as f64;
        // Back into reach from the far end; the steps fit because `apart` was chosen so.
        let mut limit = STEEPEST;
        for angle in angles.iter_mut().rev() {
            *angle = (*angle - shift).min(limit);
            limit = *angle - apart;
        }
        let mut limit = -STEEPEST;
        for (i, angle) in here.iter().zip(angles) {
            ports[*i].angle = angle.max(limit);
            limit = ports[*i].angle + apart;
        }
    }
}

/// An edge between two states, to be drawn.
#[derive(Clone, Copy)]
pub(super) struct Course<'a> {
    pub(super) from: Outline,
    pub(super) to: Outline,
    pub(super) leave: Port,
    pub(super) enter: Port,
    pub(super) route: &'a Route,
}

/// The points next to the two ends of a route, towards which its ports look.
pub(super) fn ends(route: &Route, onward: f64) -> (Point, Point) {
    let last = route.points.len() - 1;
    let first = shifted(route.points[0], -onward * route.reach[0], 0.0);
    (
        first,
        shifted(route.points[last], onward * route.reach[last], 0.0),
    )
}

/// 1 for an edge that goes right, -1 for one that goes back.
pub(super) fn sense(from: Outline, to: Outline) -> f64 {
    if to.middle.x < from.middle.x {
        -1.0
    } else {
        1.0
    }
}

/// The arrow along a course.
pub(super) fn between(course: &Course<'_>) -> Arrow {
    let onward = sense(course.from, course.to);
    // Columns are crossed on a level, from side to side.
    let mut points: Vec<Point> = Vec::with_capacity(2 * course.route.points.len() + 2);
    points.extend(course.from.around_skirt(course.leave));
    for (point, reach) in course.route.points.iter().zip(&course.route.reach) {
        points.push(shifted(*point, -onward * reach, 0.0));
        if *reach > 0.0 {
            points.push(shifted(*point, onward * reach, 0.0));
        }
    }
    points.extend(course.to.around_skirt(course.enter));
    let leave = course.from.at(course.leave, AIR / 2.0);
    let enter = course.to.at(course.enter, AIR + HEAD);
    let mut knots = vec![leave];
    for (i, at) in points.iter().enumerate() {
        let before = if i == 0 { leave.at } else { points[i - 1] };
        let after = points.get(i + 1).copied().unwrap_or(enter.at);
        knots.push(Knot {
            at: *at,
            along: direction(before, *at, after, onward),
        });
    }
    let inward = Point {
        x: -enter.along.x,
        y: -enter.along.y,
    };
    knots.push(Knot {
        at: enter.at,
        along: inward,
    });
    Arrow {
        line: path(&knots),
        head: head(enter.at, inward),
    }
}

/// A loop from the bottom of a state down to its label and back.
pub(super) fn around(state: Outline, label: Point, size: Size) -> Arrow {
    let Point { x, y } = state.middle;
    let radius = state.size.height / 2.0;
    let angle: f64 = 0.95;
    let straight = state.size.width / 2.0 - radius;
    let foot = |side: f64, gap: f64| Point {
        x: x + side * (straight + (radius + gap) * angle.cos()),
        y: y + (radius + gap) * angle.sin(),
    };
    let (leave, enter) = (foot(1.0, AIR / 2.0), foot(-1.0, AIR + HEAD));
    let floor = label.y - size.height / 2.0;
    let reach = (floor - leave.y).max(HEAD) * 0.95;
    let spread = (straight + radius + 4.0).min(40.0);
    let mut line = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        line,
        "M{} C{} {} {} C{} {} {}",
        pair(leave),
        pair(shifted(leave, reach * 0.7, reach * 0.8)),
        pair(Point {
            x: label.x + spread * 0.7,
            y: floor
        }),
        pair(Point {
            x: label.x,
            y: floor
        }),
        pair(Point {
            x: label.x - spread * 0.7,
            y: floor
        }),
        pair(shifted(enter, -reach * 0.45, reach * 0.6)),
        pair(enter),
    );
    let inward = Point {
        x: angle.cos(),
        y: -angle.sin(),
    };
    Arrow {
        line,
        head: head(enter, inward),
    }
}

/// The straight arrow from the left that marks the initial state.
pub(super) fn stub(state: Outline, length: f64) -> Arrow {
    let tip = state.middle.x - state.size.width / 2.0 - AIR;
    let base = Point {
        x: tip - HEAD,
        y: state.middle.y,
    };
    let start = shifted(base, HEAD - length, 0.0);
    Arrow {
        line: format!("M{} L{}", pair(start), pair(base)),
        head: head(base, Point { x: 1.0, y: 0.0 }),
    }
}

fn head(base: Point, along: Point) -> String {
    let tip = shifted(base, along.x * HEAD, along.y * HEAD);
    let left = shifted(base, -along.y * BARB, along.x * BARB);
    let right = shifted(base, along.y * BARB, -along.x * BARB);
    format!("M{} L{} L{}Z", pair(left), pair(tip), pair(right))
}

fn shifted(point: Point, dx: f64, dy: f64) -> Point {
    Point {
        x: point.x + dx,
        y: point.y + dy,
    }
}

/// The direction in which a curve passes `at`: level at its highest and lowest points, elsewhere the mean of the slopes
/// on both sides, but never so steep that the curve overshoots.
fn direction(before: Point, at: Point, after: Point, onward: f64) -> Point {
    let (left, right) = (at.x - before.x, after.x - at.x);
    let level = Point { x: onward, y: 0.0 };
    if left * onward <= 0.0 || right * onward <= 0.0 {
        return level;
    }
    let (s, t) = ((at.y - before.y) / left, (after.y - at.y) / right);
    if s * t <= 0.0 {
        return level;
    }
    let mean = (s * right + t * left) / (left + right);
    let slope = mean.signum() * mean.abs().min(2.0 * s.abs()).min(2.0 * t.abs());
    Point {
        x: onward,
        y: slope * onward,
    }
}

fn path(knots: &[Knot]) -> String {
    let mut path = format!("M{}", pair(knots[0].at));
    for pair_of_knots in knots.windows(2) {
        let (a, b) = (pair_of_knots[0], pair_of_knots[1]);
        let (c, d) = (control(a, b.at, 1.0), control(b, a.at, -1.0));
        let _ = write!(path, " C{} {} {}", pair(c), pair(d), pair(b.at));
    }
    path
}

/// The control point of `knot` for the piece that leads to (or, backwards, comes from) `other`.
fn control(knot: Knot, other: Point, sense: f64) -> Point {
    let dx = (other.x - knot.at.x) * knot.along.x * sense;
    let chord = (other.x - knot.at.x).hypot(other.y - knot.at.y);
    // Measured on the level, unless the curve has to turn round.
    let length = if dx > 0.0 {
        0.4 * dx / (knot.along.x * knot.along.x)
    } else {
        0.3 * chord
    };
    shifted(
        knot.at,
        sense * length * knot.along.x,
        sense * length * knot.along.y,
    )
}

/// `x,y` to a tenth of a unit.
fn pair(point: Point) -> String {
    format!("{},{}", number(point.x), number(point.y))
}

/// A coordinate to a tenth, without a useless `.0` or `-0`.
pub(super) fn number(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    format!("{}", rounded + 0.0)
}
