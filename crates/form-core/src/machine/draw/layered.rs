//! The layered layout (Sugiyama's method) of `dagre`, left to right. Every label is a box for `dagre`, so labels never cover each
//! other or a state.

use dagre::graph::{Graph, GraphOptions};
use dagre::{EdgeLabel, LayoutOptions, NodeLabel, RankDir, Ranker};

use super::geometry::{COLUMN_GAP, EDGE_GAP, Layout, Link, Point, Route, STATE_GAP, Size};

/// Space left of the initial state for the arrow that marks it.
const START: Size = Size {
    width: 2.0,
    height: 2.0,
};

/// Up to this number of links `dagre` computes optimal ranks (network simplex), beyond it good ones (longest path).
const SMALL: usize = 150;
/// The layout by `dagre`, unless something has no place in it.
pub(super) fn layered(states: &[Size], links: &[Link], initial: usize) -> Option<Layout> {
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
            Route::alone(label)
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
        None => Route::alone(label),
    }
}
