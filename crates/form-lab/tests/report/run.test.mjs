// The table of a run against its files: settings, statistics of policies, links that lead somewhere, evaluations, facts.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { dataOf, readCsv, texts, visit, withBrowser } from "./browser.mjs";
import { folder, page, runOf } from "./pages.mjs";

withBrowser();

const cells = (view, selector) =>
  view
    .locator(`${selector} tbody tr`)
    .evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)));

test("settings are those of config.toml, and can be searched", async () => {
  const toml = fs.readFileSync(path.join(runOf(1), "config.toml"), "utf8");
  await visit(page("one"), async (view) => {
    const shown = await cells(view, "#config");
    for (const [name, value] of shown) {
      const key = name.split(".").at(-1);
      assert.match(toml, new RegExp(`^${key} = `, "m"), `${name} = ${value}`);
    }
    const of = (name) => shown.find((row) => row[0] === name)?.[1];
    assert.equal(of("ppo.train_batch"), "2048");
    assert.equal(of("seed"), "1");
    assert.match(of("task"), /green-but-one/);
    await view.fill("#config-filter", "GAMMA");
    assert.deepEqual(
      (await cells(view, "#config")).map(([name]) => name),
      ["ppo.gamma"],
    );
    assert.match(await view.locator("#config-count").textContent(), new RegExp(`^1 of ${shown.length} settings$`));
    await view.fill("#config-filter", "no such thing");
    assert.match(await view.locator("#config-count").textContent(), /^0 of/);
    await view.fill("#config-filter", "");
    assert.equal((await cells(view, "#config")).length, shown.length);
  });
});

test("statistics of policies are the sums and last values of policies.csv", async () => {
  const rows = readCsv(path.join(runOf(1), "policies.csv"));
  await visit(page("one"), async (view) => {
    const shown = await cells(view, "#policies");
    assert.deepEqual(
      shown.map(([state]) => state),
      [...new Set(rows.map((row) => row.state))].sort(),
    );
    for (const [state, updates, samples, , , entropy] of shown) {
      const own = rows.filter((row) => row.state === state);
      assert.equal(Number(updates), own.length);
      assert.equal(
        Number(samples.replaceAll(",", "")),
        own.reduce((sum, row) => sum + row.samples, 0),
      );
      assert.ok(Math.abs(Number(entropy) - own.at(-1).entropy) <= 1e-3);
    }
  });
});

test("files are there, of the size that is said, and links lead to them", async () => {
  await visit(page("one"), async (view) => {
    const links = await view
      .locator("#files a")
      .evaluateAll((nodes) => nodes.map((node) => [node.textContent, node.getAttribute("href")]));
    assert.ok(links.length >= 8);
    for (const [name, href] of links) {
      const file = path.join(folder, decodeURIComponent(href));
      assert.ok(fs.existsSync(file), href);
      assert.equal(fs.realpathSync(file), fs.realpathSync(path.join(runOf(1), name)));
    }
    for (const wanted of ["config.toml", "metrics.csv", "traces.jsonl", "machines/000.form"]) {
      assert.ok(
        links.some(([name]) => name === wanted),
        wanted,
      );
    }
  });
});

test("evaluations, facts and the figures at the top are those of the run", async () => {
  const [run] = dataOf(page("one")).runs;
  const last = readCsv(path.join(runOf(1), "metrics.csv")).at(-1);
  const result = JSON.parse(fs.readFileSync(path.join(runOf(1), "result.json"), "utf8"));
  await visit(page("one"), async (view) => {
    const shown = await cells(view, "#evaluations");
    assert.deepEqual(
      shown.map((row) => row[0]),
      run.evaluations.map((one) => (one.held_out ? "held-out" : "training")),
    );
    for (const [at, one] of run.evaluations.entries()) {
      assert.equal(Number(shown[at][3]), one.episodes);
      assert.equal(shown[at][4], `${((100 * one.successes) / one.episodes).toFixed(1)} %`);
      assert.ok(one.low <= one.success && one.success <= one.high);
    }
    const facts = Object.fromEntries((await texts(view, "#facts dt")).map((name, at) => [name, at]));
    const values = await texts(view, "#facts dd");
    assert.equal(values[facts.iterations], String(last.iteration));
    assert.equal(values[facts["environment steps"]], String(last.steps));
    assert.equal(values[facts["program version"]], result.version);
    assert.equal(await view.locator("#title").textContent(), "green-but-one · form · seed 1");
    const figures = await view.locator("#headline").textContent();
    assert.match(figures, /out of iterations/);
    assert.match(figures, new RegExp(`${last.states} states, ${last.edges} edges`));
    assert.match(await view.locator("#subtitle").textContent(), new RegExp(result.message.slice(0, 20)));
  });
});
