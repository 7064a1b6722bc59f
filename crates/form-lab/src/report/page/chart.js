// The chart, drawn by uPlot: lines and bands over a common axis, marks where something happened, a box with the values at
// the pointer, and zooming by pointer, buttons and keys. It knows nothing of runs: `curves` says what it shows.
(() => {
  "use strict";

  const { byId, make, say } = report.dom;

  /** Colours that colour-blind people can tell apart (after Okabe and Ito), for light and for dark; dashes go with them. */
  const LIGHT = ["#0072b2", "#c04f00", "#00805d", "#a8467f", "#9a6a00", "#2b7fb8", "#5a5a5a", "#7a4fc9"];
  const DARK = ["#56a9e0", "#f08a4b", "#3fc79a", "#e59cc4", "#f0c04f", "#8fd0f5", "#c4c4c4", "#b79bf0"];
  const DASHES = [[], [9, 4], [3, 3], [12, 4, 3, 4], [6, 2], [2, 5], [14, 6], [8, 3, 2, 3, 2, 3]];
  const MARK_REACH = 8;

  function colour(number) {
    const palette = document.documentElement.dataset.theme === "dark" ? DARK : LIGHT;
    return palette[number % palette.length];
  }

  /** The dashes of a group. Groups of the same colour have other dashes. */
  function dash(number) {
    return DASHES[(number + Math.floor(number / LIGHT.length)) % DASHES.length];
  }

  function faded(hex, share) {
    return (
      hex +
      Math.round(255 * share)
        .toString(16)
        .padStart(2, "0")
    );
  }

  function variable(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  /** A chart in an element. `describe(place)` gives title and rows for a place on the axis. */
  function makeChart(host, describe, zoomed) {
    const box = make("div", { class: "tooltip", hidden: true, "aria-hidden": "true" });
    let plot = null;
    let view = null;
    let signature = null;

    /** What `view` has: places, lines, marks, axis and quantity. Zoom stays unless the axis is another one. */
    function show(next) {
      const kept = plot && view.axis.name === next.axis.name && isZoomed() ? range() : null;
      const shape = JSON.stringify([
        next.axis.name,
        next.quantity.name,
        next.lines.map((line) => [line.key, line.colour, line.width]),
      ]);
      view = next;
      const data = [next.places, ...next.lines.map((line) => line.values)];
      if (plot && shape === signature) {
        plot.setData(data, kept === null);
        if (kept) plot.setScale("x", kept);
        return;
      }
      if (plot) plot.destroy();
      signature = shape;
      plot = new uPlot(options(next), data, host);
      plot.over.append(box);
      if (kept) plot.setScale("x", kept);
      zoomed(isZoomed());
    }

    function clear() {
      if (plot) plot.destroy();
      plot = null;
      signature = null;
      zoomed(false);
    }

    function size() {
      const width = Math.max(200, host.clientWidth);
      return { width, height: Math.round(Math.min(430, Math.max(250, 0.42 * width))) };
    }

    function options(next) {
      const ink = variable("--muted");
      const grid = { stroke: variable("--grid"), width: 1 };
      const font = "12px system-ui, sans-serif";
      const axis = (label, values, more) => ({
        label,
        values,
        font,
        labelFont: font,
        stroke: ink,
        grid,
        ticks: { ...grid, size: 5 },
        ...more,
      });
      const line = (one) => ({
        label: one.key,
        stroke: one.colour,
        width: one.width,
        dash: one.dash,
        points: one.hidden ? { show: false } : { size: 5 },
      });
      return {
        ...size(),
        legend: { show: false },
        padding: [14, 14, 0, 0],
        cursor: { drag: { x: true, y: false, setScale: true, dist: 4 }, points: { show: false }, focus: { prox: -1 } },
        scales: { x: { time: false }, y: { range: next.quantity.range ?? padded } },
        axes: [
          axis(next.axis.label, (_, splits) => splits.map(next.axis.tick), { size: 34, labelSize: 20, space: 70 }),
          axis(null, (_, splits) => splits.map(next.quantity.tick), { size: 56 }),
        ],
        series: [{}, ...next.lines.map(line)],
        bands: next.lines.flatMap((one, at) => (one.fillTo ? [{ series: [at + 1, at + 2], fill: one.fill }] : [])),
        hooks: { draw: [drawMarks], setCursor: [moved], setScale: [() => zoomed(isZoomed())] },
      };
    }

    function padded(_, low, high) {
      if (low === null || high === null || !Number.isFinite(low)) return [0, 1];
      const room = high > low ? 0.06 * (high - low) : 0.5;
      return [low - room, high + room];
    }

    function drawMarks(drawn) {
      const { ctx, bbox } = drawn;
      ctx.save();
      ctx.beginPath();
      ctx.rect(bbox.left, bbox.top - 20, bbox.width, bbox.height + 20);
      ctx.clip();
      ctx.strokeStyle = ctx.fillStyle = variable("--mark");
      ctx.lineWidth = window.devicePixelRatio || 1;
      for (const mark of view.marks) {
        const x = Math.round(drawn.valToPos(mark.x, "x", true));
        ctx.setLineDash([4, 4]);
        ctx.beginPath();
        ctx.moveTo(x, bbox.top);
        ctx.lineTo(x, bbox.top + bbox.height);
        ctx.stroke();
        ctx.beginPath();
        ctx.arc(x, bbox.top, 3.5 * ctx.lineWidth, 0, 7);
        ctx.fill();
      }
      ctx.restore();
    }

    function moved(drawn) {
      const { left, idx } = drawn.cursor;
      box.hidden = idx === null || idx === undefined || left < 0;
      if (box.hidden) return;
      const place = drawn.data[0][idx];
      const near = view.marks.filter((mark) => Math.abs(drawn.valToPos(mark.x, "x") - left) <= MARK_REACH);
      const { title, rows } = describe(place);
      const swatch = (row) => make("span", { class: "swatch", style: `background:${row.colour}` });
      box.replaceChildren(
        make("strong", {}, title),
        ...rows.map((row) => make("div", {}, swatch(row), make("bdi", {}, row.name), " ", make("b", {}, row.text))),
        ...near.map((mark) => make("div", { class: "mark" }, mark.text)),
      );
      const space = drawn.over.clientWidth;
      box.style.left = left > space / 2 ? "auto" : `${left + 14}px`;
      box.style.right = left > space / 2 ? `${space - left + 14}px` : "auto";
    }

    function range() {
      return { min: plot.scales.x.min, max: plot.scales.x.max };
    }

    function ends() {
      return [view.places[0], view.places[view.places.length - 1]];
    }

    function isZoomed() {
      if (!plot || view.places.length < 2) return false;
      const [first, last] = ends();
      return plot.scales.x.min > first || plot.scales.x.max < last;
    }

    /** Goes nearer (less than 1) or away, or moves by a share of what is seen; never past the ends. */
    function zoom(factor, shift = 0) {
      if (!plot || view.places.length < 2) return;
      const [first, last] = ends();
      const { min, max } = range();
      const width = Math.min((max - min) * factor, last - first);
      const middle = (min + max) / 2 + shift * (max - min);
      const low = Math.min(Math.max(middle - width / 2, first), last - width);
      plot.setScale("x", { min: low, max: low + width });
    }

    function reset() {
      if (!plot) return;
      const [first, last] = ends();
      plot.setScale("x", { min: first, max: last });
    }

    /** Moves the reading one point along, inside what is seen, and says it. */
    function read(step) {
      if (!plot) return;
      const { min, max } = range();
      const { places } = view;
      let at = plot.cursor.idx ?? (step > 0 ? -1 : places.length);
      do at += step;
      while (at >= 0 && at < places.length && (places[at] < min || places[at] > max));
      if (at < 0 || at >= places.length) return;
      plot.setCursor({ left: plot.valToPos(places[at], "x"), top: 20 });
      const { title, rows } = describe(places[at]);
      say(byId("chart-reading"), `${title}: ${rows.map((row) => `${row.name} ${row.text}`).join(", ")}`);
    }

    new ResizeObserver(() => {
      if (plot && host.clientWidth > 0 && size().width !== plot.width) plot.setSize(size());
    }).observe(host);

    return { show, clear, zoom, reset, read };
  }

  report.chart = { makeChart, colour, dash, faded };
})();
