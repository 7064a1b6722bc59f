// The legend of the curves: a button a group, and one a run where a group has several, that show and hide lines.
(() => {
  "use strict";

  const { byId, make, makeSvg } = report.dom;
  const { colour, dash } = report.chart;

  /** A stroke as the chart has it. */
  function sample(number) {
    return makeSvg(
      "svg",
      { class: "sample", viewBox: "0 0 28 8", width: 28, height: 8, "aria-hidden": "true" },
      makeSvg("line", {
        x1: 0,
        y1: 4,
        x2: 28,
        y2: 4,
        stroke: colour(number),
        "stroke-width": 3,
        "stroke-dasharray": dash(number).join(" ") || null,
      }),
    );
  }

  function toggle(key, hidden, redraw, label, kind) {
    const press = () => {
      if (!hidden.delete(key)) hidden.add(key);
      redraw();
    };
    return make(
      "button",
      {
        type: "button",
        class: `toggle ${kind}`,
        "data-key": key,
        "aria-pressed": String(!hidden.has(key)),
        on: { click: press },
      },
      ...label,
    );
  }

  /** Draws the buttons anew if the groups or the theme changed, else only sets which are pressed. */
  function draw(groups, hidden, redraw) {
    const host = byId("legend");
    const key = JSON.stringify([
      document.documentElement.dataset.theme,
      groups.map((group) => [group.key, group.runs.map((run) => run.name)]),
    ]);
    if (report.dom.changed(host, key)) {
      const focused = host.contains(document.activeElement) ? document.activeElement.dataset.key : null;
      host.replaceChildren(
        ...groups.map((group) => {
          const runs = group.runs.length > 1 ? group.runs : [];
          return make(
            "div",
            { class: "legend-group" },
            toggle(group.key, hidden, redraw, [sample(group.number), group.label], "group"),
            ...runs.map((run) => toggle(run.name, hidden, redraw, [report.series.nameOf(run, group)], "single")),
          );
        }),
      );
      if (focused) [...host.querySelectorAll("button")].find((button) => button.dataset.key === focused)?.focus();
    }
    for (const button of host.querySelectorAll("button")) {
      button.setAttribute("aria-pressed", String(!hidden.has(button.dataset.key)));
    }
  }

  report.legend = { draw };
})();
