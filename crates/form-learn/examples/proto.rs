//! x
use form_core::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let sig = TraceFile::new(&a[1], std::fs::File::open(&a[1]).unwrap()).unwrap().signature().unwrap();
    let t: Vec<Trace> = TraceFile::new(&a[1], std::fs::File::open(&a[1]).unwrap()).unwrap().traces(&sig).unwrap().into_iter().map(|x| x.1).collect();
    let fo = a[2] == "fo"; let k: usize = a[3].parse().unwrap();
    let s = std::time::Instant::now();
    let m = form_learn::proto::learn(&sig, &t, fo, k, 10, true);
    println!("{:?}", s.elapsed());
    if let Some(m) = m { println!("{m}"); }
}
