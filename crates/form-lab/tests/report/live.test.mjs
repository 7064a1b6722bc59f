// A live page: it follows a training without being touched, keeps what was chosen, and says so when the training is gone.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import readline from "node:readline";
import { after, test } from "node:test";
import { visit, withBrowser } from "./browser.mjs";
import { folder, form, quick } from "./pages.mjs";

withBrowser();

const out = path.join(folder, "live");
fs.rmSync(out, { recursive: true, force: true });
// More iterations than it will ever do: the test ends it.
const training = spawn(form, ["train", "green-but-one", "--out", out, "--iterations", "100000", "--live", "0", ...quick], { stdio: ["ignore", "pipe", "pipe"] });
after(() => training.kill("SIGKILL"));

/** The address that it prints. */
function address() {
  return new Promise((found, failed) => {
    const said = [];
    for (const stream of [training.stdout, training.stderr]) {
      readline.createInterface({ input: stream }).on("line", (line) => {
        said.push(line);
        const url = line.match(/http:\/\/127\.0\.0\.1:\d+\//);
        if (url) found(url[0]);
      });
    }
    training.on("exit", () => failed(new Error(`it ended: ${said.join("\n")}`)));
  });
}

test("it follows the training by itself and keeps what was chosen", { timeout: 60_000 }, async () => {
  const url = await address();
  await visit(url, async (view, problems) => {
    const iterations = () => view.evaluate(() => Number([...document.querySelectorAll("#facts dt")].find((node) => node.textContent === "iterations")?.nextElementSibling.textContent ?? 0));
    assert.match(await view.locator("#live").textContent(), /Live/);
    await view.waitForFunction(() => document.querySelectorAll("#machine-slider[max='2'], #machine-slider[max='1']").length === 1);
    await view.selectOption("#quantity", "states");
    await view.fill("#config-filter", "gamma");
    await view.locator("#machine-previous").click();
    const machine = await view.locator("#machine-said").textContent();
    await view.locator("#config-filter").focus();
    const before = await iterations();
    await view.waitForFunction((then) => Number([...document.querySelectorAll("#facts dt")].find((node) => node.textContent === "iterations").nextElementSibling.textContent) > then, before);
    assert.equal(await view.locator("#quantity").inputValue(), "states");
    assert.equal(await view.locator("#config-filter").inputValue(), "gamma");
    assert.equal(await view.locator("#config tbody tr").count(), 1);
    assert.equal(await view.evaluate(() => document.activeElement.id), "config-filter");
    assert.equal((await view.locator("#machine-said").textContent()).split(" (")[0], machine.split(" (")[0]);
    const ended = new Promise((done) => training.on("exit", done));
    training.removeAllListeners("exit");
    training.on("exit", () => {});
    training.kill("SIGKILL");
    await Promise.race([ended, view.locator("#live.over").waitFor()]);
    await view.locator("#live.over", { hasText: "does not answer any more" }).waitFor();
    assert.ok(await view.locator("#chart canvas").isVisible(), "the last data stays");
    // The browser itself notes the refused connection; it is the only one, since the page stops asking.
    const refused = problems.filter((problem) => /ERR_CONNECTION|Failed to load resource/.test(problem));
    assert.ok(refused.length <= 1, refused.join("\n"));
    problems.splice(0, problems.length, ...problems.filter((problem) => !refused.includes(problem)));
  }, { mayAsk: (asked) => asked === `${url}data.json` });
});
