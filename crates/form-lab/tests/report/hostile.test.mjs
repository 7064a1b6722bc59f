// Damage and malice: a run folder with markup for a name, half a table and missing files; data in which every text is markup and
// drawings carry scripts; no runs at all. The page says what is wrong, and text stays text.

import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { dataOf, texts, visit, withBrowser, withData } from "./browser.mjs";
import { folder, hostileName, page } from "./pages.mjs";
import { openTable } from "./values.mjs";

withBrowser();

/** No element came from text, and no script but the page's own. */
async function nothingRan(view) {
  assert.equal(await view.locator("script").count(), 2);
  assert.equal(await view.locator("img, iframe, b.planted, form").count(), 0);
  const handlers = await view.evaluate(
    () =>
      [...document.querySelectorAll("*")].filter((node) => [...node.attributes].some(({ name }) => /^on/.test(name)))
        .length,
  );
  assert.equal(handlers, 0);
}

test("a damaged folder is shown as far as it can be read, with notes that name the places", async () => {
  await visit(page("hostile"), async (view) => {
    const notes = await texts(view, "#notes li");
    const noted = (pattern) =>
      assert.ok(
        notes.some((note) => pattern.test(note)),
        `${pattern} in ${notes.join("\n")}`,
      );
    noted(/metrics\.csv:6/);
    noted(/missing in its folder: timings\.csv, checkpoints/);
    noted(/001\.form:4/);
    assert.equal(await view.locator("#notes h3").textContent(), `hostile/${hostileName}`);
    assert.ok(await view.locator("#notes").isVisible());
    assert.match(await view.locator("#subtitle").textContent(), /<\/script><script>alert\(1\)<\/script>/);
    assert.ok((await texts(view, "#policies tbody th")).includes("<img src=x onerror=alert(1)>"));
    await view.waitForSelector("#replays-empty:not([hidden])");
    // Without times there is no such axis; the rows before the damage are drawn.
    assert.deepEqual(await view.locator("#axis option").evaluateAll((nodes) => nodes.map((node) => node.value)), [
      "iteration",
      "steps",
    ]);
    await openTable(view);
    await view.selectOption("#quantity", "states");
    assert.equal(await view.locator("#curves-values tbody tr").count(), 4);
    await nothingRan(view);
  });
});

/** All texts of the data replaced by markup, but for words that the page's own vocabulary has; drawings get scripts. */
function poisoned(value, key, text) {
  const kept = ["status", "set", "outcome", "version", "kind"];
  if (key === "svg")
    return value.replace(
      "</svg>",
      '<script>alert(1)</script><g onload="alert(1)"/><a href="javascript:alert(1)"><text>x</text></a></svg>',
    );
  if (key === "href") return "javascript:alert(1)";
  if (typeof value === "string") return kept.includes(key) ? value : text;
  if (Array.isArray(value)) return value.map((one) => poisoned(one, key === "rooms" ? "svg" : key, text));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, poisoned(one, name, text)]));
}

for (const [kind, text] of Object.entries({
  markup: "<script>alert(1)</script><img src=x onerror=alert(1)><!--",
  attributes: "\"onload=alert(1) 'onclick=alert(1) javascript:alert(1)",
  writing: "\u202Etxet 😀 \u2028 نص <b class=planted>",
})) {
  test(`data full of ${kind} stays text, and every part of the page still works`, async () => {
    const data = poisoned(dataOf(page("one")), "", text);
    data.runs[0].notes = [text];
    await visit(withData(page("one"), data, path.join(folder, `poisoned-${kind}.html`)), async (view, problems) => {
      assert.ok((await view.locator("#title").textContent()).includes(text));
      await view.locator("#machine-slider").fill("2");
      assert.ok((await texts(view, "#machine-edges code")).every((formula) => formula === text));
      assert.equal(await view.locator("#machine-drawing :is(script, a, style)").count(), 0);
      for (const id of ["#replay-last", "#replay-back", "#zoom-in", "#theme"]) await view.click(id);
      await openTable(view);
      await view.hover("#chart .u-over");
      assert.equal(await view.locator("#files a").count(), 0, "a link that runs something is none");
      assert.equal(await view.locator("#files li").count(), data.runs[0].files.length);
      await nothingRan(view);
      const widths = await view.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
      assert.ok(widths[0] <= widths[1], String(widths));
      // Chromium notes a handler as soon as a drawing is read, before it is taken out: that it was blocked is what is wanted.
      problems.splice(
        0,
        problems.length,
        ...problems.filter((problem) => !/inline event handler violates.*has been blocked/s.test(problem)),
      );
    });
  });
}

test("drawings that are none, and a run with nothing in it, leave a page that says so", async () => {
  const data = dataOf(page("one"));
  const [run] = data.runs;
  run.rooms = run.rooms.map(() => "<svg");
  for (const machine of run.machines) machine.svg = "no drawing";
  const bare = {
    ...run,
    name: "bare",
    task: null,
    method: null,
    seed: null,
    status: "unfinished",
    facts: [],
    config: [],
    files: [],
    policies: [],
    machines: [],
    evaluations: [],
    rooms: [],
    replays: [],
    curves: Object.fromEntries(Object.keys(run.curves).map((name) => [name, name === "seconds" ? null : []])),
  };
  data.runs.push(bare);
  await visit(withData(page("one"), data, path.join(folder, "bare.html")), async (view) => {
    assert.match(await view.locator("#machine-drawing").textContent(), /cannot be drawn/);
    assert.match(await view.locator("#room").textContent(), /cannot be drawn/);
    await view.click("#replay-last");
    await view.selectOption("#run-select", "bare");
    for (const id of ["machine-empty", "replays-empty"]) assert.ok(await view.locator(`#${id}`).isVisible());
    assert.match(await view.locator("#run").textContent(), /Nothing is known.*No files.*not evaluated.*No policy/s);
  });
  await visit(withData(page("one"), { ...data, runs: [] }, path.join(folder, "empty.html")), async (view) => {
    assert.match(await view.locator("#chart-empty").textContent(), /There is no run/);
  });
});
