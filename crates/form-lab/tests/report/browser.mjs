// A page in Debian's Chromium, watched: whatever it writes to the console, throws or asks for is a problem that fails the test.

import assert from "node:assert/strict";
import fs from "node:fs";
import { after, before } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

let browser = null;

/** Starts the browser for the tests of a file, and ends it after them. */
export function withBrowser() {
  before(async () => {
    browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: FLAGS });
  });
  after(async () => browser?.close());
}

/** Opens a page, lets `look` at it, and then expects that nothing went wrong on it. */
export async function visit(
  where,
  look,
  { theme = "light", width = 1200, motion = "no-preference", mayAsk = () => false } = {},
) {
  const url = where.startsWith("http") ? where : pathToFileURL(where).href;
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme: theme,
    reducedMotion: motion,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const problems = [];
  page.on("console", (message) => problems.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => problems.push(`thrown: ${error.stack}`));
  page.on("dialog", (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    const asked = request.url();
    if (asked !== url && !asked.startsWith("data:") && !mayAsk(asked)) problems.push(`asked for ${asked}`);
  });
  try {
    await page.goto(url);
    await page.waitForSelector("html[data-ready]");
    await look(page, problems);
    assert.deepEqual(problems, []);
  } finally {
    await context.close();
  }
}

/** The data inside a page. */
export function dataOf(file) {
  const html = fs.readFileSync(file, "utf8");
  return JSON.parse(html.match(/<script type="application\/json" id="data">([\s\S]*?)<\/script>/)[1]);
}

/** The page with other data inside, written elsewhere. */
export function withData(file, data, to) {
  const json = JSON.stringify(data).replace(
    /[<>&\u2028\u2029]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  const html = fs.readFileSync(file, "utf8");
  const [start, end] = ['id="data">', "</script>"];
  const from = html.indexOf(start) + start.length;
  fs.writeFileSync(to, html.slice(0, from) + json + html.slice(html.indexOf(end, from)));
  return to;
}

/** The texts of all elements that a selector finds. */
export function texts(page, selector) {
  return page.locator(selector).allTextContents();
}

/** The rows of a CSV file as objects; an empty field is null, whatever is a number becomes one. */
export function readCsv(file) {
  const [head, ...rows] = fs
    .readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => line.split(","));
  const value = (text) => (text === "" ? null : Number.isNaN(Number(text)) ? text : Number(text));
  return rows.map((row) => Object.fromEntries(head.map((name, i) => [name, value(row[i])])));
}
