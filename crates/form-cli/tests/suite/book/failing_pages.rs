//! The checks of the book can fail: pages with one mistake each, and the complaint about it.

use std::fs;

use super::page::{Page, Piece};
use super::{commands, kinds, links, printed};

const FENCE: &str = "```";

/// A page with one block.
fn block(info: &str, text: &str) -> Page {
    Page::new(
        "book/src/page.md",
        &format!("# Page\n\n{FENCE}{info}\n{text}\n{FENCE}\n"),
    )
}

/// The complaints about the kinds of a page.
fn kind(page: &Page) -> String {
    kinds::problems(page, "#[doc = include_str!(\"../book/src/rust.md\")]").join("\n")
}

/// The complaints about a page's commands, which are run where the one example is a machine.
fn ran(page: &Page) -> String {
    let folder = tempfile::tempdir().unwrap();
    let machine = "initial u0\naccept u1\nu0 -> u1 : goal\n";
    fs::write(folder.path().join("goal.form"), machine).unwrap();
    fs::write(folder.path().join("goal.svg"), "not a picture").unwrap();
    commands::problems(page, folder.path(), folder.path()).join("\n")
}

fn links_of(pages: &[(&str, &str)]) -> Vec<String> {
    let pages: Vec<Page> = pages
        .iter()
        .map(|(name, text)| Page::new(name, text))
        .collect();
    let exists = |name: &str| {
        pages.iter().any(|page| page.name == name)
            || ["README.md", "book/src/a.svg"].contains(&name)
    };
    links::problems(&pages, &exists)
}

#[test]
fn blocks_without_a_check_are_named() {
    assert_eq!(
        kind(&block("", "x")),
        "book/src/page.md:3: a block that does not say what it is"
    );
    assert_eq!(
        kind(&block("yaml", "x")),
        "book/src/page.md:3: no check for blocks of the kind `yaml`"
    );
    assert_eq!(
        kind(&block("rust,ignore", "x")),
        "book/src/page.md:3: no check for blocks of the kind `rust,ignore`"
    );
    let indented = Page::new("page.md", "Text.\n\n    an old block\n");
    assert_eq!(
        kind(&indented),
        "page.md:3: a block without a fence: nothing says what it is"
    );
    let inside = Page::new(
        "page.md",
        &format!("- A list.\n\n  {FENCE}python\n  1\n  {FENCE}\n"),
    );
    assert_eq!(
        kind(&inside),
        "page.md:3: a block that does not stand at the beginning of a line"
    );
}

#[test]
fn blocks_that_no_crate_reads_are_named() {
    let wrong = |info: &str, text: &str, said: &str| {
        let found = kind(&block(info, text));
        assert!(
            found.starts_with("book/src/page.md:3: ") && found.contains(said),
            "{info}: {found}"
        );
    };
    wrong(
        "form",
        "initial u0\naccept u1\nu0 -> u1 : goal and",
        "expected",
    );
    wrong("text,formula", "goal\nforall X. yellow(Y)", "Y");
    wrong("json", "{\"edges\": 3}", "edges");
    wrong("json", "{", "EOF");
    wrong(
        "jsonl",
        "{\"kind\":\"goal\",\"steps\":[[\"yellow(\"]]}",
        "not an atom",
    );
    wrong("jsonl", "{\"a\": 1}\n{", "EOF");
    wrong("toml,task", "name = \"x\"", "machine");
    wrong("toml,config", "[ppo]\ngama = 0.9", "gama");
    wrong("toml,config", "seed = \"many\"", "seed");
    wrong(
        "sh,install",
        "curl https://example.org | sh",
        "nothing is known to run",
    );
    wrong("rust", "let x = 1;", "book/lib.rs does not name");
    wrong("text,grammar", "a ::= b", "a grammar");
    wrong("text", "u0", "no commands before it");
}

#[test]
fn good_blocks_pass() {
    for (info, text) in [
        ("form", "initial u0\naccept u1\nu0 -> u1 : goal"),
        ("text,formula", "goal\nforall X. yellow(X)"),
        ("json", "{\"a\": [1]}"),
        (
            "jsonl",
            "{\"signature\":[\"goal\"]}\n{\"kind\":\"goal\",\"steps\":[[\"goal\"]]}",
        ),
        ("toml,config", "seed = 3\n[ppo]\ngamma = 0.9"),
        ("sh,install", "cargo test --workspace"),
        ("python", "import formrl"),
    ] {
        assert_eq!(kind(&block(info, text)), "", "{info}");
    }
    let rust = Page::new(
        "book/src/rust.md",
        &format!("{FENCE}rust\nlet x = 1;\n{FENCE}\n"),
    );
    assert_eq!(kind(&rust), "");
}

#[test]
fn commands_that_fail_are_named() {
    let found = ran(&block(
        "sh",
        "form show examples/goal.form\nform show missing.form",
    ));
    assert!(
        found
            .starts_with("book/src/page.md:3: `form show missing.form` exits with Some(2), not 0:"),
        "{found}"
    );
    let found = ran(&block("sh,exit=1", "form show examples/goal.form"));
    assert!(found.contains("exits with Some(0), not 1"), "{found}");
    let found = ran(&block("sh", "form bench --fast"));
    assert!(found.contains("--fast"), "{found}");
    assert_eq!(
        ran(&block(
            "sh",
            "form bench machine.step\nform play all-yellow # walk"
        )),
        ""
    );
    assert_eq!(
        ran(&block("sh,exit=2", "form show \\\n    missing.form")),
        ""
    );
}

#[test]
fn what_is_printed_is_compared() {
    let page = |shown: &str| {
        let text = format!(
            "{FENCE}sh\nform show examples/goal.form\n{FENCE}\n\n{FENCE}text\n{shown}\n{FENCE}\n"
        );
        Page::new("page.md", &text)
    };
    assert_eq!(
        ran(&page(
            "machine: 1 state + accept, …\n\n…\n    → u1  goal\n…"
        )),
        ""
    );
    let found = ran(&page("…\n✗ u1      rejecting"));
    assert!(
        found.starts_with("page.md:5: shown:\n✗ u1      rejecting\nprinted:\n✓ u1      accepting"),
        "{found}"
    );
    let tree = format!(
        "{FENCE}sh\nform show examples/goal.form -o a.svg\n{FENCE}\n\n{FENCE}text,tree\na.svg\nb.svg\n{FENCE}\n"
    );
    assert_eq!(
        ran(&Page::new("page.md", &tree)),
        "page.md:5: the commands left no b.svg"
    );
}

#[test]
fn blocks_with_a_name_are_saved() {
    let machine = "initial u0\naccept u1\nu0 -> u1 : goal\n";
    let text = format!(
        "{FENCE}form,file=own.form\n{machine}{FENCE}\n\n{FENCE}sh\nform show own.form\n{FENCE}\n"
    );
    let page = Page::new("page.md", &text);
    assert_eq!((kind(&page), ran(&page)), (String::new(), String::new()));
    assert!(ran(&Page::new("page.md", &text.replace(",file=own.form", ""))).contains("own.form"));
    assert!(
        kind(&Page::new("page.md", &text.replace(" : goal", " goal"))).starts_with("page.md:1: ")
    );
}

#[test]
fn gaps_stand_for_anything_and_nothing_else_does() {
    for (shown, printed, small, same) in [
        ("a\nb", "a\nb\n", false, true),
        ("a", "a\nb", false, false),
        ("a\n…", "a\nb\nc", false, true),
        ("…\nc", "a\nb\nc", false, true),
        ("…\nb", "a\nb\nc", false, false),
        ("a\n…\nc\n…", "a\nc", false, true),
        ("a\n…\nb\n…\nb", "a\nb", false, false),
        ("in … s, done", "in 0.3 s, done", false, true),
        ("in … s, done", "in 0.3 s", false, false),
        ("3 of 4", "5 of 6", false, false),
        ("3.5 of  4", "55 of 6", true, true),
        ("3 of 4", "5 in 6", true, false),
    ] {
        assert_eq!(
            printed::compare(shown, printed, small).is_ok(),
            same,
            "{shown:?}, {printed:?}"
        );
    }
}

#[test]
fn runs_are_made_small() {
    let one = |text: &str| {
        let mut lines = commands::lines(text);
        assert_eq!(lines.len(), 1, "{text}");
        lines.remove(0)
    };
    let train = one("form train all-yellow --iterations 3000 --set worlds=64 > said.txt");
    assert!(train.small && train.text.starts_with("form train --set worlds=8 "));
    assert!(
        train
            .text
            .contains(" all-yellow --set worlds=64 --iterations 2 ")
            && !train.text.contains("--iterations 3000")
    );
    assert!(
        train.text.ends_with(" --no-report > said.txt"),
        "{}",
        train.text
    );
    assert_eq!(
        one("form train --resume runs/x").text,
        "form train --resume runs/x --no-report"
    );
    assert_eq!(
        one("form eval r --episodes 9").text,
        "form eval r --episodes 2"
    );
    assert_eq!(
        one("form eval a & form eval b > x && echo done").text,
        "form eval a --episodes 2 & form eval b --episodes 2 > x && echo done"
    );
    assert_eq!(
        one("form bench learn --json > x # slow").text,
        "form bench learn --json --help"
    );
    assert_eq!(one("form learn a.jsonl").text, "form learn a.jsonl");
    assert_eq!(
        one("form learn \\\n  a.jsonl").text,
        "form learn    a.jsonl"
    );
}

#[test]
fn pictures_are_made_again() {
    let page = Page::new(
        "page.md",
        "<!-- made by: form show examples/goal.form -o goal.svg -->\n",
    );
    assert_eq!(
        ran(&page),
        "page.md:1: `form show examples/goal.form -o goal.svg` makes another picture than images/goal.svg"
    );
    let page = Page::new("page.md", "<!-- before: form show none.form -->\n");
    assert!(ran(&page).starts_with("page.md:1: `form show none.form` exits with"));
}

#[test]
fn dead_links_are_named() {
    let text =
        "# A\n\n## Some `code`, here\n\n[b](b.md#no) [c](c.md) [r](../../README.md) ![p](p.svg)\n";
    let summary = "[a](a.md) [a](a.md)";
    assert_eq!(
        links_of(&[
            ("book/src/SUMMARY.md", summary),
            ("book/src/a.md", text),
            ("book/src/b.md", "# B\n")
        ]),
        [
            "book/src/a.md:5: b.md#no: book/src/b.md has no heading #no",
            "book/src/a.md:5: c.md: there is no book/src/c.md",
            "book/src/a.md:5: ../../README.md: leads out of the book, where it would be dead",
            "book/src/a.md:5: p.svg: there is no book/src/p.svg",
            "book/src/SUMMARY.md:1: a.md: named twice",
            "book/src/b.md:1: not in SUMMARY.md: the book would not have it",
        ]
    );
    let good = "# A\n\n## Some `code`, here\n\n[a](a.md#some-code-here) [h](#a) [w](https://x.org) ![p](a.svg)\n";
    assert_eq!(
        links_of(&[
            ("book/src/SUMMARY.md", "[a](a.md)"),
            ("book/src/a.md", good)
        ]),
        [""; 0]
    );
    let out = [("book/src/SUMMARY.md", ""), ("README.md", "[x](../x.md)")];
    assert_eq!(
        links_of(&out),
        ["README.md:1: ../x.md: outside the repository"]
    );
}

#[test]
fn drawings_of_unknown_origin_are_named() {
    let page = "![p](images/p.svg)\n";
    let book = |text: &str| {
        let pages = [
            Page::new("book/src/SUMMARY.md", "[a](a.md)"),
            Page::new("book/src/a.md", text),
        ];
        links::problems(&pages, &|_| true)
    };
    let problem = "p.svg: no comment `made by:` says which command draws it";
    assert_eq!(book(page), [format!("book/src/a.md:1: {problem}")]);
    let made = format!("<!-- made by: form show p.form -o p.svg -->\n{page}");
    assert_eq!(book(&made), [""; 0]);
    assert_eq!(book("![p](images/results/p.svg)\n"), [""; 0]);
}

#[test]
fn headings_of_one_name_are_numbered() {
    let page = Page::new("page.md", "# In use\n## In use\n");
    assert_eq!(page.anchors().collect::<Vec<_>>(), ["in-use", "in-use-1"]);
    assert_eq!(page.pieces.len(), 2);
    assert_eq!(page.pieces[0], (1, Piece::Heading("in-use".to_owned())));
}
