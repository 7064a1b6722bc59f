// The page for everybody: axe finds nothing serious in light and dark, the keyboard alone reaches and works everything, a phone's
// width needs no sideways scrolling, and without scripts there is a word of explanation.

import assert from "node:assert/strict";
import fs from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { texts, visit, withBrowser } from "./browser.mjs";
import { page } from "./pages.mjs";
import { openTable } from "./values.mjs";

withBrowser();

const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

for (const theme of ["light", "dark"]) {
  for (const name of ["one", "several", "hostile"]) {
    test(`axe finds nothing on the page ${name} in ${theme}`, async () => {
      await visit(
        page(name),
        async (view) => {
          await openTable(view);
          if (await view.locator("#player").isVisible()) await view.click("#replay-last");
          // Through the debugger: the page's own policy lets no other script in.
          const found = await view.evaluate(`${axe}; axe.run(document, { resultTypes: ["violations"] })`);
          const bad = found.violations.map(
            ({ id, impact, nodes }) =>
              `${impact} ${id}: ${nodes
                .map((node) => node.html)
                .slice(0, 3)
                .join(" | ")}`,
          );
          assert.deepEqual(bad, []);
        },
        { theme },
      );
    });
  }
}

test("the theme follows the system until it is chosen, and stays chosen", async () => {
  await visit(
    page("one"),
    async (view) => {
      const theme = () => view.evaluate(() => document.documentElement.dataset.theme);
      assert.equal(await theme(), "dark");
      await view.emulateMedia({ colorScheme: "light" });
      await view.waitForSelector("html[data-theme=light]");
      await view.click("#theme");
      assert.equal(await theme(), "dark");
      assert.equal(await view.locator("#theme").getAttribute("aria-pressed"), "true");
      // A busy browser may read what it remembers before it has written it.
      for (let tries = 0; tries < 10; tries++) {
        await view.reload();
        await view.waitForSelector("html[data-ready]");
        if ((await theme()) === "dark") break;
        await view.waitForTimeout(200);
      }
      assert.equal(await theme(), "dark");
    },
    { theme: "dark" },
  );
});

test("the keyboard alone: everything is reached in order, seen to be reached, and works", async () => {
  await visit(page("several"), async (view) => {
    const reached = [];
    const unseen = [];
    for (let i = 0; i < 400; i++) {
      await view.keyboard.press("Tab");
      const at = await view.evaluate(() => {
        const node = document.activeElement;
        if (node === document.body) return null;
        const style = getComputedStyle(node);
        return {
          key: node.id || node.dataset.key || node.dataset.run || node.dataset.episode || node.textContent.slice(0, 30),
          outlined: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0,
        };
      });
      if (at === null) break;
      reached.push(at.key);
      if (!at.outlined) unseen.push(at.key);
    }
    assert.deepEqual(unseen, [], "all show the focus");
    const order = [
      "Skip to the curves",
      "theme",
      "run-select",
      "quantity",
      "axis",
      "spread",
      "smoothing",
      "single-runs",
      "zoom-in",
      "zoom-reset",
      "chart",
      "machine-slider",
      "machine-next",
      "episode-set",
      "failures-only",
      "replay-first",
      "replay-play",
      "replay-last",
      "replay-speed",
      "replay-slider",
      "config-filter",
    ];
    assert.deepEqual(
      order.filter((key) => !reached.includes(key)),
      [],
    );
    assert.deepEqual(
      order.map((key) => reached.indexOf(key)),
      order.map((key) => reached.indexOf(key)).sort((a, b) => a - b),
    );
    // A link to a section, a choice, a switch, a slider, playing: with keys only.
    await view.locator(".skip").nth(2).focus();
    await view.keyboard.press("Enter");
    assert.equal(await view.evaluate(() => document.activeElement.id), "replays");
    await view.locator("#legend button").first().focus();
    await view.keyboard.press("Enter");
    assert.equal(await view.locator("#legend button").first().getAttribute("aria-pressed"), "false");
    assert.equal(await view.evaluate(() => document.activeElement.className), "toggle group", "the focus stays");
    await view.locator("#machine-slider").focus();
    await view.keyboard.press("Home");
    assert.match(await view.locator("#machine-said").textContent(), /^Machine 0 /);
    await view.keyboard.press("ArrowRight");
    assert.match(await view.locator("#machine-said").textContent(), /^Machine 1 /);
    await view.locator("#replay-forward").focus();
    await view.keyboard.press("Enter");
    assert.match(await view.locator("#replay-position").textContent(), /^Step 1 of/);
    assert.match(await view.locator("#replay-said").textContent(), /^Step 1 of/, "it is said aloud");
    await view.keyboard.press("End");
    assert.equal(
      await view.evaluate(() => document.activeElement.id),
      "replay-forward",
      "a button that has nothing to do keeps the focus",
    );
  });
});

test("landmarks, headings and alternatives in text", async () => {
  await visit(page("one"), async (view) => {
    for (const landmark of ["banner", "navigation", "main", "contentinfo"])
      assert.equal(await view.getByRole(landmark).count(), 1, landmark);
    assert.deepEqual(await texts(view, "main h2"), [
      "Learning curves",
      "The machine through time",
      "Replays",
      "The run",
    ]);
    assert.match(await view.locator("#chart").getAttribute("aria-label"), /Success rate over iterations: form/);
    assert.match(await view.locator("#replay-slider").getAttribute("aria-valuetext"), /Step 0 of \d+ .* facing/);
    for (const id of ["machine-said", "chart-reading", "replay-said"])
      assert.equal(await view.locator(`#${id}`).getAttribute("aria-live"), "polite");
    assert.equal(await view.locator("#machine-drawing svg[role=img][aria-label]").count(), 1);
  });
});

for (const name of ["one", "several", "hostile"]) {
  test(`a phone's width needs no sideways scrolling: ${name}`, async () => {
    await visit(
      page(name),
      async (view) => {
        const widths = async () => view.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
        assert.deepEqual(await widths(), [360, 360]);
        await openTable(view);
        assert.deepEqual(await widths(), [360, 360]);
        const chart = await view.locator("#chart canvas").boundingBox();
        assert.ok(chart.width <= 340 && chart.width > 200, String(chart.width));
      },
      { width: 360 },
    );
  });
}

test("nothing moves by itself for whoever wants it so", async () => {
  await visit(
    page("one"),
    async (view) => {
      const moving = await view.evaluate(
        () =>
          [...document.querySelectorAll("*")].filter((node) => {
            const style = getComputedStyle(node);
            return style.animationName !== "none" || parseFloat(style.transitionDuration) > 0;
          }).length,
      );
      assert.equal(moving, 0);
    },
    { motion: "reduce" },
  );
});

test("without scripts there is a word of explanation", () => {
  assert.match(fs.readFileSync(page("one"), "utf8"), /<noscript><p[^>]*>This page draws itself with JavaScript/);
});
