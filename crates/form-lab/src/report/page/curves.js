// The first section: learning curves. Runs of one task and method are a group, drawn as the mean of its runs with their
// spread, and each run as a thin line. What is chosen stays chosen while a live page gets new data.
(() => {
  "use strict";

  const { byId, make, setOptions, setDisabled, say, changed, table } = report.dom;
  const { count, duration } = report.numbers;
  const { QUANTITIES, AXES, SPREADS, SMOOTHINGS } = report.quantities;
  const { points, placesOf, averages, within, groupsOf, nameOf } = report.series;
  const { colour, dash, faded } = report.chart;

  const MOST_ROWS = 500;
  /** With more runs than this, the values at the pointer are those of the groups only. */
  const MOST_SINGLES = 8;

  let runs = [];
  let groups = [];
  let chart = null;
  /** Keys of groups and names of runs that are not shown. */
  const hidden = new Set();
  /** What is drawn, for the values at the pointer. */
  let drawn = { places: [], groups: [], singles: [] };

  function chosen() {
    const of = (id) => byId(id).value;
    return {
      quantity: { name: of("quantity"), ...QUANTITIES[of("quantity")] },
      axis: { name: of("axis"), ...AXES[of("axis")] },
      spread: of("spread"),
      window: Number(of("smoothing")),
      singles: byId("single-runs").checked,
    };
  }

  /** The groups that are shown with their runs' points; runs without points count as not there. */
  function shownGroups({ quantity, axis, window }) {
    const shown = groups
      .filter((group) => !hidden.has(group.key))
      .map((group) => {
        const members = group.runs
          .filter((run) => !hidden.has(run.name))
          .map((run) => ({ run, name: nameOf(run, group), ...points(run, quantity.name, axis.name, window) }));
        return { group, members: members.filter((member) => member.x.length > 0) };
      });
    return shown.filter(({ members }) => members.length > 0);
  }

  function lineOf(key, values, more) {
    return { key, values, width: 2, dash: [], ...more };
  }

  /** The lines of a group: its band's two edges, its runs, its mean on top. */
  function linesOf({ group, members, average }, { spread, singles }) {
    const paint = colour(group.number);
    const bare = { colour: "transparent", width: 0, hidden: true };
    const lines = [];
    if (spread !== "none" && members.length > 1) {
      lines.push(lineOf(`${group.key} high`, average.high, { ...bare, fillTo: true, fill: faded(paint, 0.13) }));
      lines.push(lineOf(`${group.key} low`, average.low, bare));
    }
    if (singles && members.length > 1) {
      for (const member of members) {
        lines.push(
          lineOf(member.run.name, within(member, drawn.places), { colour: faded(paint, 0.42), width: 1, hidden: true }),
        );
      }
    }
    lines.push(lineOf(group.key, average.mean, { colour: paint, dash: dash(group.number) }));
    return lines;
  }

  /** Where the machines of the run were learnt, if only one run is shown. */
  function marksOf(shown, axis) {
    if (shown.length !== 1 || shown[0].members.length !== 1) return [];
    const { run } = shown[0].members[0];
    const place = new Map(run.curves.iteration.map((iteration, i) => [iteration, run.curves[axis.name]?.[i]]));
    const mark = (machine) => ({
      x: place.get(machine.iteration),
      text: `machine ${machine.number} learnt in ${duration(machine.seconds)}`,
    });
    return run.machines
      .filter((machine) => machine.iteration !== null && machine.number > 0)
      .map(mark)
      .filter(({ x }) => Number.isFinite(x));
  }

  function draw() {
    const choice = chosen();
    const shown = shownGroups(choice);
    const places = placesOf(shown.flatMap(({ members }) => members));
    drawn = { places, choice, groups: shown };
    for (const one of shown) one.average = averages(one.members, places, choice.spread);
    const empty = places.length === 0;
    byId("chart").hidden = byId("chart-keys").hidden = empty;
    byId("chart-empty").hidden = !empty;
    if (empty) {
      chart.clear();
      say(
        byId("chart-empty"),
        runs.length === 0
          ? "There is no run."
          : `No run that is shown has a ${choice.quantity.label.toLowerCase()} over ${choice.axis.label}.`,
      );
    } else {
      const lines = shown.flatMap((one) => linesOf(one, choice));
      chart.show({ places, lines, marks: marksOf(shown, choice.axis), axis: choice.axis, quantity: choice.quantity });
      const named = shown.map(({ group }) => group.label).join(", ");
      const what = `${choice.quantity.label} over ${choice.axis.label}`;
      byId("chart").setAttribute("aria-label", `${what}: ${named}. The values follow as a table.`);
    }
    remark(shown, choice);
    report.legend.draw(groups, hidden, draw);
    drawTable();
  }

  /** What a reader has to know about the lines. */
  function remark(shown, { quantity }) {
    const said = [];
    if (shown.some(({ members }) => members.length > 1)) {
      said.push("Thick lines are means over the seeds; a run keeps its last value after its end.");
    }
    if (shown.length === 1 && shown[0].members.length === 1) said.push("Dashed marks: a machine was learnt there.");
    if (quantity.hint) said.push(quantity.hint);
    const random = shown.flatMap(({ members }) => members.map(({ run }) => run.random)).filter(Number.isFinite);
    if (quantity.name === "success" && random.length > 0) {
      said.push(`Random play: ${quantity.text(random.reduce((sum, rate) => sum + rate, 0) / random.length)}.`);
    }
    const thinned = runs.filter((run) => run.thinned);
    for (const run of thinned.slice(0, 3)) {
      said.push(`${run.name}: ${count(run.thinned.kept)} of ${count(run.thinned.of)} iterations are drawn.`);
    }
    say(byId("curves-remark"), said.join(" "));
  }

  /** The text of a group at a place: its mean, and its spread where it has several runs. */
  function textAt({ members, average }, at, { quantity, spread }) {
    const mean = quantity.text(average.mean[at]);
    if (members.length < 2 || spread === "none" || average.mean[at] === null) return mean;
    if (spread === "range") return `${mean} (${quantity.text(average.low[at])} to ${quantity.text(average.high[at])})`;
    return `${mean} ± ${quantity.text(average.high[at] - average.mean[at])}`;
  }

  /** Title and rows of values at a place of the axis. */
  function describe(place) {
    const { places, choice } = drawn;
    let low = 0;
    let high = places.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (places[middle] < place) low = middle + 1;
      else high = middle;
    }
    const members = drawn.groups.reduce((sum, one) => sum + one.members.length, 0);
    const rows = drawn.groups.flatMap((one) => {
      const paint = colour(one.group.number);
      const own = choice.singles && one.members.length > 1 && members <= MOST_SINGLES ? one.members : [];
      const single = (member) => ({
        name: member.name,
        colour: faded(paint, 0.42),
        text: choice.quantity.text(within(member, [place])[0]),
      });
      return [{ name: one.group.label, colour: paint, text: textAt(one, low, choice) }, ...own.map(single)];
    });
    const { axis } = choice;
    const title = axis.name === "seconds" ? axis.text(place) : `${axis.title} ${axis.text(place)}`;
    return { title, rows: rows.filter((row) => row.text !== "–") };
  }

  /** The table of values, made when it is opened. Very many rows are thinned out, and it says so. */
  function drawTable() {
    const details = byId("curves-values");
    if (!details.open) return;
    const { places, choice, groups: shown } = drawn;
    const every = Math.ceil(places.length / MOST_ROWS);
    const host = details.querySelector("div");
    const key = JSON.stringify([
      choice.quantity.name,
      choice.axis.name,
      choice.spread,
      choice.window,
      places.length,
      places[places.length - 1],
      shown.map(({ group, members }) => [group.key, members.map(({ name }) => name)]),
    ]);
    if (places.length === 0 || !changed(host, key)) return;
    const rows = [];
    for (let at = 0; at < places.length; at += every) {
      rows.push([choice.axis.text(places[at]), ...shown.map((one) => textAt(one, at, choice))]);
    }
    const titles = [choice.axis.title, ...shown.map(({ group }) => group.label)];
    const thinned =
      every > 1 ? make("p", { class: "hint" }, `Every ${every}th of ${count(places.length)} points.`) : null;
    host.replaceChildren(
      ...[
        thinned,
        table(
          `${choice.quantity.label} over ${choice.axis.label}`,
          titles,
          rows,
          shown.map((_, i) => i + 1),
        ),
      ].filter(Boolean),
    );
  }

  /** Over what the runs can be drawn, and what of them: times may be missing. */
  function setChoices() {
    const has = (name) => runs.some((run) => (run.curves[name] || []).some((value) => Number.isFinite(value)));
    const names = (all) =>
      Object.entries(all).filter(([name]) => has(name) || name === "iteration" || name === "success");
    setOptions(
      byId("quantity"),
      names(QUANTITIES).map(([name, { label }]) => [name, label]),
    );
    setOptions(
      byId("axis"),
      names(AXES).map(([name, { label }]) => [name, label]),
    );
  }

  function press(event) {
    const actions = {
      ArrowLeft: () => (event.shiftKey ? chart.zoom(1, -0.25) : chart.read(-1)),
      ArrowRight: () => (event.shiftKey ? chart.zoom(1, 0.25) : chart.read(1)),
      "+": () => chart.zoom(0.5),
      "=": () => chart.zoom(0.5),
      "-": () => chart.zoom(2),
      0: () => chart.reset(),
    };
    if (event.ctrlKey || event.metaKey || event.altKey || !actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }

  /** Prepares the section, once. */
  function start() {
    setOptions(byId("spread"), SPREADS);
    setOptions(byId("smoothing"), SMOOTHINGS);
    chart = report.chart.makeChart(byId("chart"), describe, (zoomed) => {
      setDisabled(byId("zoom-reset"), !zoomed);
    });
    for (const id of ["quantity", "axis", "spread", "smoothing", "single-runs"])
      byId(id).addEventListener("change", draw);
    const zooms = { "zoom-in": [0.5], "zoom-out": [2], "zoom-left": [1, -0.25], "zoom-right": [1, 0.25] };
    for (const [id, how] of Object.entries(zooms)) byId(id).addEventListener("click", () => chart.zoom(...how));
    byId("zoom-reset").addEventListener("click", () => chart.reset());
    byId("chart").addEventListener("keydown", press);
    byId("curves-values").addEventListener("toggle", drawTable);
  }

  /** Draws the runs. */
  function update(data) {
    const first = runs.length === 0;
    runs = data.runs;
    groups = groupsOf(runs);
    setChoices();
    if (first) byId("single-runs").checked = groups.length === 1;
    // With one run a group there is nothing to spread.
    const several = groups.some((group) => group.runs.length > 1);
    for (const id of ["spread", "single-runs"]) byId(id).closest("label").hidden = !several;
    draw();
  }

  report.curves = {
    start,
    update,
    redraw: () => {
      if (chart && runs.length > 0) draw();
    },
  };
})();
