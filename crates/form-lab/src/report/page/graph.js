// A drawn machine in the page, and what of it is marked: what is new, the state it is in, the edge just taken.
(() => {
  "use strict";

  const { drawing, make } = report.dom;

  /** Labels of a wide machine must stay legible: it shrinks this far, then scrolls. */
  const SMALLEST = 0.8;

  /** Puts a machine's drawing into an element; what is returned marks parts of it. */
  function place(host, machine) {
    const svg = machine ? drawing(machine.svg) : null;
    if (!svg) {
      const why = machine ? "This machine cannot be drawn; its edges are listed." : "This method has no machine.";
      host.replaceChildren(make("p", { class: "empty" }, why));
      return { mark() {} };
    }
    const width = Number(svg.getAttribute("width"));
    if (width > 0) {
      svg.style.maxWidth = `${Math.round(1.25 * width)}px`;
      svg.style.minWidth = `min(${Math.round(SMALLEST * width)}px, ${Math.round(width)}px)`;
    }
    svg.removeAttribute("width");
    svg.removeAttribute("height");
    host.replaceChildren(svg);
    const grouped = (name) => {
      const found = new Map();
      for (const node of svg.querySelectorAll(`[data-${name}]`)) {
        const key = node.getAttribute(`data-${name}`);
        found.set(key, [...(found.get(key) ?? []), node]);
      }
      return found;
    };
    const nodes = { state: grouped("state"), edge: grouped("edge"), link: grouped("link") };

    /** Gives a class to exactly these: names of states, numbers of edges, whose arrows get it too. */
    function mark(name, states, edges) {
      for (const node of svg.querySelectorAll(`.${name}`)) node.classList.remove(name);
      const links = edges
        .map((edge) => machine.edges[edge])
        .filter(Boolean)
        .map(({ from, to }) => `${from}-${to}`);
      const chosen = [
        ...states.flatMap((state) => nodes.state.get(state) ?? []),
        ...edges.flatMap((edge) => nodes.edge.get(String(edge)) ?? []),
        ...links.flatMap((link) => nodes.link.get(link) ?? []),
      ];
      for (const node of chosen) node.classList.add(name);
    }
    return { mark };
  }

  report.graph = { place };
})();
