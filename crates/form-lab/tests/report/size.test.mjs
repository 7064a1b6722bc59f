// A run of 1,000 iterations: its page stays small. How long it takes to open is printed, not asserted.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";
import { test } from "node:test";
import { dataOf, visit, withBrowser } from "./browser.mjs";
import { longRun, page, root } from "./pages.mjs";

withBrowser();

for (const name of ["long", "several"]) {
  test(`the page ${name} is below 5 MB, and is ready soon`, async (context) => {
    const bytes = fs.statSync(page(name)).size;
    assert.ok(bytes < 5e6, `${bytes} bytes`);
    if (name === "long") assert.equal(dataOf(page(name)).runs[0].curves.iteration.length, longRun.iterations);
    await visit(page(name), async (view) => {
      const [painted, done] = await view.evaluate(() => [
        performance.getEntriesByName("first-contentful-paint")[0]?.startTime,
        performance.getEntriesByType("navigation")[0].loadEventEnd,
      ]);
      context.diagnostic(
        `${name}: ${(bytes / 1e6).toFixed(2)} MB, painted after ${Math.round(painted)} ms, loaded after ${Math.round(done)} ms`,
      );
    });
  });
}

test("the charting library is the published one, byte for byte", () => {
  const published = path.dirname(createRequire(import.meta.url).resolve("uplot/dist/uPlot.iife.min.js"));
  const ours = path.join(root, "crates/form-lab/src/report/page/vendor");
  for (const name of ["uPlot.iife.min.js", "uPlot.min.css"]) {
    assert.ok(fs.readFileSync(path.join(ours, name)).equals(fs.readFileSync(path.join(published, name))), name);
  }
  assert.ok(
    fs.readFileSync(path.join(ours, "LICENSE")).equals(fs.readFileSync(path.join(published, "../LICENSE"))),
    "its licence",
  );
});
