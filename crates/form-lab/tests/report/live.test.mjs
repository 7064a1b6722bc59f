// A live page: it follows a training without being touched, keeps what was chosen, and says so when the training is gone.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import readline from "node:readline";
import { test } from "node:test";
import { visit, withBrowser } from "./browser.mjs";
import { folder, form, quick } from "./pages.mjs";

withBrowser();

/** A training of more iterations than it will ever do, once it has said where its page is. Whoever starts it ends it. */
function startTraining() {
  const out = path.join(folder, "live");
  fs.rmSync(out, { recursive: true, force: true });
  const training = spawn(form, ["train", "green-but-one", "--out", out, "--iterations", "100000", ...quick, "--live"], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise((done) => training.once("exit", done));
  const end = () => {
    training.kill("SIGKILL");
    return ended;
  };
  const said = [];
  return new Promise((started, failed) => {
    for (const stream of [training.stdout, training.stderr]) {
      readline.createInterface({ input: stream }).on("line", (line) => {
        said.push(line);
        const url = line.match(/http:\/\/127\.0\.0\.1:\d+\//);
        if (url) started({ url: url[0], end });
      });
    }
    ended.then(() => failed(new Error(`it ended: ${said.join("\n")}`)));
  });
}

/** Waits until the table of the run tells of more iterations than so many; how many those are. */
async function waitForMore(view, than) {
  const read = (least) => {
    const name = [...document.querySelectorAll("#facts dt")].find((node) => node.textContent === "iterations");
    const now = Number(name?.nextElementSibling.textContent ?? 0);
    return now > least ? now : null;
  };
  return (await view.waitForFunction(read, than)).jsonValue();
}

test("it follows the training by itself, keeps what was chosen, and tells when it is gone", async () => {
  const { url, end } = await startTraining();
  try {
    await visit(
      url,
      async (view, problems) => {
        assert.match(await view.locator("#live").textContent(), /^Live/);
        // Enough to zoom into, a machine that was learnt, and episodes to look at.
        const before = await waitForMore(view, 4);
        await view.waitForFunction(() => Number(document.getElementById("machine-slider").max) >= 1);
        await view.waitForSelector("#episode-list button");
        await view.selectOption("#quantity", "states");
        await view.click("#zoom-in");
        await view.locator("#machine-slider").fill("0");
        await view.click("#replay-forward");
        const position = await view.locator("#replay-position").textContent();
        const room = await view.locator("#room").innerHTML();
        await view.fill("#config-filter", "gamma");
        await waitForMore(view, await waitForMore(view, before));
        assert.equal(await view.locator("#quantity").inputValue(), "states");
        assert.equal(await view.locator("#zoom-reset").getAttribute("aria-disabled"), "false", "the zoom stays");
        assert.match(await view.locator("#machine-said").textContent(), /^Machine 0 /);
        assert.equal(await view.locator("#replay-position").textContent(), position);
        assert.equal(await view.locator("#room").innerHTML(), room, "whoever looks at an episode keeps it");
        assert.equal(await view.locator("#config-filter").inputValue(), "gamma");
        assert.equal(await view.locator("#config tbody tr").count(), 1);
        assert.equal(await view.evaluate(() => document.activeElement.id), "config-filter");
        await end();
        await view.locator("#live.over", { hasText: "does not answer any more" }).waitFor();
        assert.ok(await view.locator("#chart canvas").isVisible(), "the last data stays");
        // The browser itself notes a refused connection: one, since the page asks no more.
        const refused = problems.filter((problem) =>
          /ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET/.test(problem),
        );
        assert.equal(refused.length, 1, refused.join("\n"));
        problems.splice(0, problems.length, ...problems.filter((problem) => !refused.includes(problem)));
      },
      { mayAsk: (asked) => asked === `${url}data.json` },
    );
  } finally {
    await end();
  }
});
