//! The layout of a picture: the Sugiyama method (layered drawing) of `dagre`, left to right.
//!
//! Every label is a box for `dagre`, so labels never cover each other or a state. Large machines, and those that `dagre` cannot
//! arrange, get plain columns by distance from the initial state.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use dagre::graph::{Graph, GraphOptions};
use dagre::{EdgeLabel, LayoutOptions, NodeLabel, RankDir, Ranker};

use super::columns::columns;

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
/// Space left of the initial state for the arrow that marks it.
const START: Size = Size {
    width: 2.0,
    height: 2.0,
};

/// Up to this number of links `dagre` computes optimal ranks (network simplex), beyond it good ones (longest path).
const SMALL: usize = 150;
/// Beyond this number of states or links the layout has plain columns: `dagre` recurses along paths and slows down.
const MANY_STATES: usize = 500;
const MANY_LINKS: usize = 200;

/// Arranges boxes and links. Equal arguments give equal results.
pub(super) fn arrange(states: &[Size], links: &[Link], initial: usize) -> Layout {
    let small = states.len() <= MANY_STATES && links.len() <= MANY_LINKS;
    let layered = || catch_unwind(AssertUnwindSafe(|| layered(states, links, initial)));
    let arranged = small.then(layered).and_then(|layout| layout.ok().flatten());
    let mut layout = arranged.unwrap_or_else(|| columns(states, links, initial));
    measure_columns(&mut layout, states, links);
    layout
}

/// Sets the half width of the column at every point of every route.
fn measure_columns(layout: &mut Layout, states: &[Size], links: &[Link]) {
    // All boxes of a column have the same middle; rounding makes it a key.
    let key = |point: &Point| (point.x * 4.0).round() as i64;
    let mut halves: BTreeMap<i64, f64> = BTreeMap::new();
    let mut widen = |at: &Point, size: Size| {
        let half = halves.entry(key(at)).or_insert(0.0);
        *half = half.max(size.width / 2.0);
    };
    for (middle, size) in layout.states.iter().zip(states) {
        widen(middle, *size);
    }
    for (route, link) in layout.routes.iter().zip(links) {
        widen(&route.points[route.label], link.label);
    }
    for route in &mut layout.routes {
        for (point, reach) in route.points.iter().zip(&mut route.reach) {
            *reach = halves.get(&key(point)).copied().unwrap_or(0.0);
        }
    }
}

/// The layout by `dagre`, unless something has no place in it.
fn layered(states: &[Size], links: &[Link], initial: usize) -> Option<Layout> {
    let mut graph: Graph<NodeLabel, EdgeLabel> = Graph::with_options(GraphOptions {
        directed: true,
        multigraph: true,
        compound: false,
    });
    let node = |size: Size| NodeLabel {
        width: size.width,
        height: size.height,
        ..NodeLabel::default()
    };
    let key = |state: usize| format!("s{state}");
    // Cycles are cut where a depth-first search from the first node closes them: the initial state is first, so edges back to it are
    // drawn backwards.
    graph.set_node("start", Some(node(START)));
    graph.set_node(key(initial), Some(node(states[initial])));
    for (i, size) in states.iter().enumerate().filter(|(i, _)| *i != initial) {
        graph.set_node(key(i), Some(node(*size)));
    }
    let edge = |label: Size, weight| EdgeLabel {
        width: label.width,
        height: label.height,
        labelpos: dagre::layout::types::LabelPos::Center,
        weight,
        ..EdgeLabel::default()
    };
    graph.set_edge("start", key(initial), Some(edge(Size::default(), 8)), None);
    for (i, link) in links.iter().enumerate() {
        let name = format!("e{i}");
        let label = Some(edge(link.label, 1));
        graph.set_edge(key(link.from), key(link.to), label, Some(&name));
    }
    let options = LayoutOptions {
        rankdir: RankDir::LR,
        nodesep: STATE_GAP,
        edgesep: EDGE_GAP,
        ranksep: COLUMN_GAP,
        ranker: if links.len() <= SMALL {
            Ranker::NetworkSimplex
        } else {
            Ranker::LongestPath
        },
        ..LayoutOptions::default()
    };
    dagre::layout(&mut graph, Some(options));

    let place = |x: Option<f64>, y: Option<f64>| {
        let (x, y) = (x?, y?);
        (x.is_finite() && y.is_finite()).then_some(Point { x, y })
    };
    let middles = (0..states.len())
        .map(|i| graph.node(&key(i)).and_then(|node| place(node.x, node.y)))
        .collect::<Option<Vec<Point>>>()?;
    let mut routes = Vec::with_capacity(links.len());
    for (i, link) in links.iter().enumerate() {
        let name = format!("e{i}");
        let routed = graph.edge(&key(link.from), &key(link.to), Some(&name))?;
        let label = place(routed.x, routed.y)?;
        routes.push(if link.from == link.to {
            alone(label)
        } else {
            // The first and last points lie on boxes around the states; the curves find better ones.
            let inner = routed
                .points
                .get(1..routed.points.len().saturating_sub(1))?;
            let points: Option<Vec<Point>> =
                inner.iter().map(|p| place(Some(p.x), Some(p.y))).collect();
            through(points?, label)
        });
    }
    Some(Layout {
        states: middles,
        routes,
    })
}

/// The route through its label alone.
pub(super) fn alone(label: Point) -> Route {
    Route {
        points: vec![label],
        reach: vec![0.0],
        label: 0,
    }
}

/// The route through these points, of which the nearest to `label` is moved there.
fn through(mut points: Vec<Point>, label: Point) -> Route {
    let distance = |p: &Point| (p.x - label.x).abs() + (p.y - label.y).abs();
    let nearest = (points.iter().enumerate())
        .min_by(|(_, a), (_, b)| distance(a).total_cmp(&distance(b)))
        .map(|(i, _)| i);
    match nearest {
        Some(i) => {
            points[i] = label;
            let reach = vec![0.0; points.len()];
            Route {
                points,
                reach,
                label: i,
            }
        }
        None => alone(label),
    }
}
