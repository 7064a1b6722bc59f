//! The module graph of a crate, read off its sources: which module uses which, where modules use each other in a cycle, and which
//! external crates a module names. Tests inside the sources do not count.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{Attribute, Item, UseTree};

/// A module by its path below the crate's root, which is the empty path.
type Module = Vec<String>;

/// The sources of a crate by their paths below `src`.
pub type Sources = BTreeMap<PathBuf, String>;

/// The modules of a crate, and every path that they name.
#[derive(Default)]
pub struct Modules {
    named: BTreeMap<Module, Vec<Vec<String>>>,
    /// What a module makes visible of others: the name there, and the path.
    exported: BTreeMap<(Module, String), Vec<String>>,
}

impl Modules {
    /// Reads the modules that are reachable from `lib.rs`.
    pub fn of(sources: &Sources) -> Self {
        let mut modules = Self::default();
        let root = syn::parse_file(&sources[Path::new("lib.rs")]).expect("lib.rs is Rust");
        modules.read(Vec::new(), root.items, sources);
        modules
    }

    fn read(&mut self, module: Module, items: Vec<Item>, sources: &Sources) {
        let mut paths = Paths::default();
        for item in items {
            match item {
                Item::Mod(child) if !is_test(&child.attrs) => {
                    let mut name = module.clone();
                    name.push(child.ident.to_string());
                    let items = match child.content {
                        Some((_, items)) => items,
                        None => file_of(&name, sources).items,
                    };
                    self.read(name, items, sources);
                }
                Item::Mod(_) => {}
                Item::Use(item) => {
                    let is_private = matches!(item.vis, syn::Visibility::Inherited);
                    for (name, path) in leaves(&item.tree, &[]) {
                        if !is_private {
                            let export = (module.clone(), name);
                            self.exported.insert(export, path.clone());
                        }
                        paths.found.push(path);
                    }
                }
                item => paths.visit_item(&item),
            }
        }
        self.named.insert(module, paths.found);
    }

    /// The module that a path named in `from` leads to; `None` outside the crate.
    fn resolve(&self, from: &[String], path: &[String]) -> Option<Module> {
        let mut base: Module = from.to_vec();
        let mut rest = path.iter().peekable();
        match path.first()?.as_str() {
            "crate" => base.clear(),
            "self" | "super" => {}
            child => {
                let mut below = base.clone();
                below.push(child.to_owned());
                if !self.named.contains_key(&below) {
                    return None;
                }
            }
        }
        while let Some(part) = rest.next_if(|part| ["crate", "self", "super"].contains(&&***part)) {
            if part == "super" {
                base.pop();
            }
        }
        for part in rest {
            let mut below = base.clone();
            below.push(part.clone());
            if self.named.contains_key(&below) {
                base = below;
            } else if let Some(path) = self.exported.get(&(base.clone(), part.clone())) {
                return self.resolve(&base, path).or(Some(base));
            } else {
                break;
            }
        }
        Some(base)
    }

    /// The cycles among the children of every module: the module, and the children that use each other.
    pub fn cycles(&self) -> Vec<(Module, Vec<String>)> {
        let mut edges: BTreeMap<Module, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
        for (from, paths) in &self.named {
            for to in paths.iter().filter_map(|path| self.resolve(from, path)) {
                // The two are below different children of their closest common ancestor, or one is below the other.
                let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
                if let (Some(a), Some(b)) = (from.get(shared), to.get(shared)) {
                    let graph = edges.entry(from[..shared].to_vec()).or_default();
                    graph.entry(a.clone()).or_default().insert(b.clone());
                }
            }
        }
        let mut cycles = Vec::new();
        for (parent, graph) in edges {
            for component in components(&graph) {
                cycles.push((parent.clone(), component));
            }
        }
        cycles
    }

    /// The modules that name an external crate.
    pub fn that_name(&self, library: &str) -> Vec<Module> {
        let names = |paths: &&Vec<Vec<String>>| {
            (paths.iter()).any(|path| path.first().is_some_and(|first| first == library))
        };
        let found = self.named.iter().filter(|(_, paths)| names(paths));
        found.map(|(module, _)| module.clone()).collect()
    }
}

/// The parsed file of a module.
fn file_of(module: &[String], sources: &Sources) -> syn::File {
    let stem: PathBuf = module.iter().collect();
    let candidates = [stem.with_extension("rs"), stem.join("mod.rs")];
    let text = (candidates.iter().find_map(|path| sources.get(path)))
        .unwrap_or_else(|| panic!("no file of the module {}", module.join("::")));
    syn::parse_file(text).unwrap_or_else(|error| panic!("{}: {error}", module.join("::")))
}

/// Whether an item is only there for tests.
fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let condition = match &attribute.meta {
            syn::Meta::List(list) if list.path.is_ident("cfg") => list.tokens.to_string(),
            _ => return false,
        };
        let mut words = condition.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.any(|word| word == "test") && !condition.contains("not")
    })
}

/// The names that a `use` declares, with their paths.
fn leaves(tree: &UseTree, prefix: &[String]) -> Vec<(String, Vec<String>)> {
    let below = |part: &syn::Ident| [prefix, &[part.to_string()]].concat();
    match tree {
        UseTree::Path(path) => leaves(&path.tree, &below(&path.ident)),
        UseTree::Name(name) => vec![(name.ident.to_string(), below(&name.ident))],
        UseTree::Rename(name) => vec![(name.rename.to_string(), below(&name.ident))],
        UseTree::Glob(_) => vec![("*".to_owned(), prefix.to_vec())],
        UseTree::Group(group) => (group.items.iter())
            .flat_map(|tree| leaves(tree, prefix))
            .collect(),
    }
}

/// Collects the paths of items, those inside macros included.
#[derive(Default)]
struct Paths {
    found: Vec<Vec<String>>,
}

impl<'a> Visit<'a> for Paths {
    fn visit_item(&mut self, item: &'a Item) {
        let attributes: &[Attribute] = match item {
            Item::Fn(item) => &item.attrs,
            Item::Impl(item) => &item.attrs,
            Item::Mod(item) => &item.attrs,
            _ => &[],
        };
        if !is_test(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        let parts = path.segments.iter().map(|part| part.ident.to_string());
        self.found.push(parts.collect());
        visit::visit_path(self, path);
    }

    fn visit_item_use(&mut self, item: &'a syn::ItemUse) {
        // Inside a function.
        self.found
            .extend(leaves(&item.tree, &[]).into_iter().map(|(_, path)| path));
    }

    fn visit_macro(&mut self, call: &'a syn::Macro) {
        // `crate :: output :: remark (…)`, as tokens are printed.
        let tokens = call.tokens.to_string().replace(" :: ", "::");
        for word in tokens.split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':') {
            if word.starts_with("crate::") || word.starts_with("super::") {
                let parts = word.split("::").filter(|part| !part.is_empty());
                self.found.push(parts.map(str::to_owned).collect());
            }
        }
        visit::visit_macro(self, call);
    }
}

/// The strongly connected components of more than one node.
fn components(graph: &BTreeMap<String, BTreeSet<String>>) -> Vec<Vec<String>> {
    let reached = |start: &String| {
        let mut known: BTreeSet<&String> = BTreeSet::new();
        let mut open: Vec<&String> = graph.get(start).into_iter().flatten().collect();
        while let Some(node) = open.pop() {
            if known.insert(node) {
                open.extend(graph.get(node).into_iter().flatten());
            }
        }
        known
    };
    let reach: BTreeMap<&String, BTreeSet<&String>> =
        graph.keys().map(|node| (node, reached(node))).collect();
    let mut components: BTreeSet<Vec<String>> = BTreeSet::new();
    for (node, reached) in &reach {
        let component: Vec<String> = (reached.iter())
            .filter(|other| reach.get(*other).is_some_and(|back| back.contains(node)))
            .map(|other| (*other).clone())
            .collect();
        if component.len() > 1 {
            components.insert(component);
        }
    }
    components.into_iter().collect()
}

/// The graph of small crates.
mod small_examples {
    use super::*;

    fn modules(files: &[(&str, &str)]) -> Modules {
        let sources = files
            .iter()
            .map(|(path, text)| (path.into(), (*text).to_owned()));
        Modules::of(&sources.collect())
    }

    fn cycles(files: &[(&str, &str)]) -> Vec<String> {
        let found = modules(files).cycles().into_iter();
        found
            .map(|(parent, names)| format!("{}: {}", parent.join("::"), names.join(" ")))
            .collect()
    }

    #[test]
    fn one_way_is_no_cycle() {
        let lib = ("lib.rs", "mod a;\nmod b;\npub use b::B;");
        assert!(cycles(&[lib, ("a.rs", "use crate::B;"), ("b.rs", "pub struct B;")]).is_empty());
        // A module and its children may use each other.
        let child = [
            ("lib.rs", "mod a;"),
            ("a/mod.rs", "mod b;\nuse b::B;\npub struct A;"),
            ("a/b.rs", "use super::A;\npub struct B;"),
        ];
        assert!(cycles(&child).is_empty());
    }

    #[test]
    fn every_kind_of_path_counts() {
        let lib = ("lib.rs", "mod a;\nmod b;\npub use b::B as Renamed;");
        let b = ("b.rs", "use crate::a::A;\npub struct B;");
        for a in [
            "use crate::b::{C, B};",
            "use super::b;",
            "use crate::Renamed;",
            "fn f() -> crate::b::B { todo!() }",
            "fn f() { use crate::b::B; }",
            "fn f() { println!(\"{}\", crate::b::C); }",
            "impl A { fn f(&self) { self::super::b::f(); } }",
            "mod inner { fn f() { super::super::b::f(); } }",
        ] {
            assert_eq!(cycles(&[lib, ("a.rs", a), b]), [": a b"], "{a}");
        }
    }

    #[test]
    fn tests_and_comments_do_not_count() {
        let lib = ("lib.rs", "mod a;\nmod b;");
        let b = ("b.rs", "use crate::a::A;");
        for a in [
            "// use crate::b::B;",
            "/// See [`crate::b::B`].\npub struct A;",
            "#[cfg(test)]\nmod tests { use crate::b::B; }",
            "#[cfg(all(test, unix))]\nmod tests { use crate::b::B; }",
            "#[cfg(test)]\nmod tests;",
            "const A: &str = \"crate::b::B\";",
        ] {
            assert!(cycles(&[lib, ("a.rs", a), b]).is_empty(), "{a}");
        }
    }

    #[test]
    fn cycles_inside_a_folder_are_found() {
        let files = [
            ("lib.rs", "mod room;"),
            ("room.rs", "mod a;\nmod b;\nmod c;\nmod d;"),
            ("room/a.rs", "use super::b::B;"),
            ("room/b.rs", "use crate::room::c::C;"),
            ("room/c.rs", "mod deep;\nuse super::d::D;"),
            ("room/c/deep.rs", "use super::super::a::A;"),
            ("room/d.rs", ""),
        ];
        assert_eq!(cycles(&files), ["room: a b c"]);
    }

    #[test]
    fn external_crates_are_found_where_they_are_named() {
        let modules = modules(&[
            ("lib.rs", "mod a;\nmod b;"),
            ("a.rs", "use solver::Solver;"),
            (
                "b.rs",
                "fn f() { solver::solve(); }\n#[cfg(test)]\nmod tests { use other::X; }",
            ),
        ]);
        let name = |name: &str| vec![name.to_owned()];
        assert_eq!(modules.that_name("solver"), [name("a"), name("b")]);
        assert!(modules.that_name("other").is_empty());
    }
}
