// The page's one name, `report`, and how it makes elements. All text of a run is untrusted: it gets into the page as text
// nodes and attribute values, never as markup. The only markup in the data is drawings, which `drawing` reads as XML and
// strips of whatever could run or load something.
// This is the first of the page's scripts; the order of the others stands in `page.rs`.
const report = {};

(() => {
  "use strict";

  const SVG = "http://www.w3.org/2000/svg";
  const FORBIDDEN = "script, style, foreignObject, iframe, image, use, a, animate, set";

  /** The element of the page with this id. */
  function byId(id) {
    return document.getElementById(id);
  }

  function fill(node, options, children) {
    for (const [name, value] of Object.entries(options)) {
      if (value === null || value === undefined || value === false) continue;
      if (name === "on") {
        for (const [event, action] of Object.entries(value)) node.addEventListener(event, action);
      } else {
        node.setAttribute(name, value === true ? "" : String(value));
      }
    }
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  }

  /** An element with attributes (`on` has its listeners) and children; strings become text. */
  function make(tag, options = {}, ...children) {
    return fill(document.createElement(tag), options, children);
  }

  /** The same for the elements of drawings. */
  function makeSvg(tag, options = {}, ...children) {
    return fill(document.createElementNS(SVG, tag), options, children);
  }

  /** A drawing from its text, or null if it is none. Its own style sheet is dropped: the page's knows the chosen theme. */
  function drawing(text) {
    const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
    const root = parsed.documentElement;
    if (!root || root.localName !== "svg" || parsed.querySelector("parsererror")) return null;
    for (const node of root.querySelectorAll(FORBIDDEN)) node.remove();
    for (const node of [root, ...root.querySelectorAll("*")]) {
      for (const { name } of [...node.attributes]) {
        if (/^on/i.test(name) || /href$/i.test(name)) node.removeAttribute(name);
      }
    }
    // Only now does it become a part of this page, where anything could run.
    return document.importNode(root, true);
  }

  /** The options of a choice, from pairs of value and text; what was chosen stays so if it is still there. */
  function setOptions(select, pairs) {
    const signature = JSON.stringify(pairs);
    if (select.dataset.options === signature) return;
    const before = select.value;
    select.replaceChildren(...pairs.map(([value, text]) => make("option", { value }, text)));
    if (pairs.some(([value]) => value === before)) select.value = before;
    select.dataset.options = signature;
  }

  /** Puts text somewhere, if it is not there yet: a live region speaks only of what changed. */
  function say(node, text) {
    if (node.textContent !== text) node.textContent = text;
  }

  /** Says that a button does nothing now. It keeps the focus, which the attribute `disabled` would take from it. */
  function setDisabled(button, disabled) {
    button.setAttribute("aria-disabled", String(disabled));
  }

  /** Whether what `key` names has changed since the last time it was asked for this element. */
  function changed(node, key) {
    if (node.reportKey === key) return false;
    node.reportKey = key;
    return true;
  }

  /** A table: a caption for those who cannot see it, titles of columns, and rows of texts or elements. */
  function table(caption, titles, rows, numeric = []) {
    const cell = (content, column) => make("td", { class: numeric.includes(column) ? "number" : null }, content);
    const row = ([first, ...rest]) =>
      make("tr", {}, make("th", { scope: "row" }, first), ...rest.map((content, at) => cell(content, at + 1)));
    const title = (text, column) =>
      make("th", { scope: "col", class: numeric.includes(column) ? "number" : null }, text);
    return make(
      "table",
      {},
      make("caption", { class: "hidden" }, caption),
      make("thead", {}, make("tr", {}, ...titles.map(title))),
      make("tbody", {}, ...rows.map(row)),
    );
  }

  report.dom = { byId, make, makeSvg, drawing, setOptions, setDisabled, say, changed, table };
})();
