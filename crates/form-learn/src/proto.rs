//! prototype search

use std::time::Instant;

use form_core::{AtomSet, Formula, Kind, Machine, Run, Signature, Trace, Progress};

use super::encode::{Encoding, Shape};
use super::tree::Tree;
use super::vocabulary::{vocabulary, Candidate};

pub struct Stats { pub calls: usize, pub active: usize, pub nodes: usize }

pub fn decode(e: &Encoding, candidates: &[Candidate]) -> Machine {
    let name = |i: usize| if i == e.shape.accept() { "u_acc".to_owned() } else if i == e.shape.reject() { "u_rej".to_owned() } else { format!("u{i}") };
    let mut b = Machine::builder("learnt").initial("u0").accept("u_acc");
    if e.shape.rejecting { b = b.reject("u_rej"); }
    for s in &e.slots {
        if e.is_true(s.present) {
            let mut parts = Vec::new();
            for (i, c) in candidates.iter().enumerate() { if e.is_true(s.positive[i]) { parts.push(Formula::atom(c.atom.clone())); } }
            for (i, c) in candidates.iter().enumerate() { if e.is_true(s.negative[i]) { parts.push(Formula::atom(c.atom.clone()).negated()); } }
            b = b.edge_with(&name(s.from), &name(s.to), Formula::all(parts), None);
        }
    }
    b.build().unwrap()
}

pub fn violations(m: &Machine, signature: &Signature, traces: &[Trace]) -> Vec<(Kind, Vec<AtomSet>)> {
    let bound = m.bind(signature).unwrap();
    let mut best: [Option<(usize, usize, usize)>; 4] = [None; 4]; // (len, trace idx)
    for (i, t) in traces.iter().enumerate() {
        let mut run = Run::new(&bound);
        let mut bad = None;
        for (k, o) in t.steps().iter().enumerate() {
            if run.step(&bound, o).edge.is_some() {
                let p = m.progress(run.state());
                if p != Progress::Running && k + 1 < t.steps().len() { bad = Some((2 + (p == Progress::Rejected) as usize, k + 1)); break; }
            }
        }
        if bad.is_none() {
            let p = m.progress(run.state());
            if p != t.kind().expected() {
                bad = Some(match t.kind() { Kind::Goal => (0, t.steps().len()), Kind::DeadEnd => (1, t.steps().len()), Kind::Incomplete => (2 + (p == Progress::Rejected) as usize, t.steps().len()) });
            }
        }
        if let Some((class, len)) = bad {
            let key = (len, i, 0);
            if best[class].is_none_or(|b| key < b) { best[class] = Some(key); }
        }
    }
    let mut out = Vec::new();
    let mode = std::env::var("CEX").unwrap_or_default();
    if mode == "prefix" && (best[2].is_some() || best[3].is_some()) { best[0] = None; best[1] = None; }
    if mode == "short" { let m = best.iter().flatten().map(|b| b.0).min().unwrap_or(0); for b in best.iter_mut() { if b.is_some_and(|b| b.0 > m) { *b = None; } } }
    for (class, b) in best.iter().enumerate() {
        if let Some((len, i, _)) = b {
            let t = &traces[*i];
            out.push((if class < 2 { t.kind() } else { Kind::Incomplete }, t.steps()[..*len].to_vec()));
        }
    }
    out
}

pub fn learn(signature: &Signature, traces: &[Trace], first_order: bool, disjuncts: usize, max: usize, verbose: bool) -> Option<Machine> {
    let start = Instant::now();
    let candidates = vocabulary(signature, first_order);
    let foralls = candidates.iter().filter(|c| c.forall).map(|c| c.mask.clone()).collect();
    let mut tree = Tree::new(foralls);
    let rejecting = traces.iter().any(|t| t.kind() == Kind::DeadEnd);
    let first = traces.iter().filter(|t| t.kind() == Kind::Goal).min_by_key(|t| t.steps().len())?;
    tree.add(first.kind(), first.steps());
    let all_obs: Vec<AtomSet> = { let mut s: std::collections::BTreeSet<AtomSet> = Default::default(); for t in traces { for o in t.steps() { s.insert(o.clone()); } } s.into_iter().collect() };
    let mut active = 1;
    for n in 1..=max {
        let shape = Shape { states: n, rejecting, disjuncts, cyclic: false, forall_alone: true };
        let mut e = Encoding::new(shape, &candidates);
        e.exclude_pairs(&all_obs); if std::env::var("IDLE").is_ok() { e.exclude_idle_negatives(&all_obs); }
        let nodes: Vec<usize> = (1..tree.nodes.len()).collect();
        e.extend(&tree, &nodes);
        let t0 = Instant::now();
        let mut lb = 2 * n;
        let limit = 2 * n + 14;
        e.count_up_to(limit);
        let mut conflicts: i32 = 500;
        let mut infeasible = false;
        let mut answer = None;
        'search: loop {
            // bounded
            let a = e.at_most(lb);
            let bounded = e.solve(&a);
            if bounded == Some(true) {
                let m = decode(&e, &candidates);
                let v = violations(&m, signature, traces);
                if v.is_empty() { answer = Some(m); break 'search; }
                for (k, s) in v { active += 1; let new = tree.add(k, &s); e.extend(&tree, &new); }
                continue;
            }
            lb += 1;
            // unbounded, limited
            e.solver.set_limit("conflicts", conflicts).unwrap();
            conflicts *= 2;
            let relaxed: Vec<i32> = if std::env::var("RELAX").is_ok() { vec![-e.act] } else { vec![e.act] };
            match e.solve(&relaxed) {
                Some(false) => { infeasible = true; break 'search; }
                Some(true) => {
                    let m = decode(&e, &candidates);
                    let v = violations(&m, signature, traces);
                    for (k, s) in v { active += 1; let new = tree.add(k, &s); e.extend(&tree, &new); }
                }
                None => {}
            }
            if lb > limit { eprintln!("limit"); return None; }
        }
        if verbose { eprintln!("n={n} infeasible={infeasible} lb={lb} calls={} active={active} nodes={} clauses={} t={:?} total={:?}", e.calls, tree.nodes.len(), e.clauses, t0.elapsed(), start.elapsed()); }
        if infeasible { continue; }
        return answer;
    }
    None
}
