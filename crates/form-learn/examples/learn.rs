//! x
use form_core::*;
use form_learn::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let sig = TraceFile::new(&a[1], std::fs::File::open(&a[1]).unwrap())
        .unwrap()
        .signature()
        .unwrap();
    let t: Vec<Trace> = TraceFile::new(&a[1], std::fs::File::open(&a[1]).unwrap())
        .unwrap()
        .traces(&sig)
        .unwrap()
        .into_iter()
        .map(|x| x.1)
        .collect();
    let first_order = a[2] == "fo";
    let k: usize = a[3].parse().unwrap();
    for _ in 0..a.get(4).map_or(1, |x| x.parse().unwrap()) {
        let s = std::time::Instant::now();
        let mut l = Learner::new(
            &sig,
            &Options {
                first_order,
                max_disjuncts: k,
                ..Options::default()
            },
        );
        for t in &t {
            l.add(t);
        }
        let o = l.learn(&Limits::default());
        println!("{:?}", s.elapsed());
        for r in l.rounds() {
            eprintln!("{r:?}");
        }
        match o {
            Outcome::Minimal(m) => eprintln!("{} {} {}", m.states, m.cost, m.machine),
            o => eprintln!("{o:?}"),
        }
    }
}
