//! The boxes, links and routes of a picture, and the distances between them.

/// A place or a direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
}

/// The size of a box.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Size {
    pub(super) width: f64,
    pub(super) height: f64,
}

/// An edge to be routed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) label: Size,
}

/// A routed edge: its points between its states, and which of them is the middle of its label.
///
/// Around each point, within its column, the edge should stay horizontal: other boxes of the column are above and below.
#[derive(Clone, Debug)]
pub(super) struct Route {
    pub(super) points: Vec<Point>,
    pub(super) reach: Vec<f64>,
    pub(super) label: usize,
}

/// The middle of every state and the route of every link; a self-loop's route is only its label.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) states: Vec<Point>,
    pub(super) routes: Vec<Route>,
}

/// The distance between neighbours in a column.
pub(super) const STATE_GAP: f64 = 34.0;
/// The distance between edges that pass each other.
pub(super) const EDGE_GAP: f64 = 16.0;
/// The distance between two columns of states; a column of labels is in the middle.
pub(super) const COLUMN_GAP: f64 = 76.0;

impl Route {
    /// The route through its label alone.
    pub(super) fn alone(label: Point) -> Self {
        Self {
            points: vec![label],
            reach: vec![0.0],
            label: 0,
        }
    }
}
