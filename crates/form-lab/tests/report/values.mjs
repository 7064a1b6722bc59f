// The values of the curves as the page's table has them, and how they are compared.

import assert from "node:assert/strict";

const ROWS = "#curves-values tbody tr";
/** Expects two numbers to be the same but for so much. */
export const close = (a, b, room) => assert.ok(Math.abs(a - b) <= room, `${a} is not ${b}`);

/** The number that a text such as `1,234` or `5.6 %` stands for. */
export const numberOf = (text) => Number(text.replace(/[,%\s]/g, "").replace("−", "-"));

/** Opens the table. */
export async function openTable(view) {
  await view.locator("#curves-values summary").click();
  await view.waitForSelector(ROWS);
}

/** The rows of the table: the texts of their cells. */
export async function tableRows(view) {
  return view.locator(ROWS).evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)));
}

/** Waits until it has this title. */
export async function waitForTitle(view, text) {
  await view.locator("#curves-values caption", { hasText: text }).waitFor({ state: "attached" });
}

export const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
