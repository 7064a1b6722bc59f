// Where the page begins: reads its data, chooses theme and run, and draws its sections one after another, so that the first
// is seen before the last is ready.
(() => {
  "use strict";

  const { byId, setOptions } = report.dom;

  let data = null;
  let chosen = null;

  /** What a person chose before, where the browser lets a page remember. */
  function remembered() {
    try {
      return localStorage.getItem("form-report-theme");
    } catch {
      return null;
    }
  }

  function remember(theme) {
    try {
      localStorage.setItem("form-report-theme", theme);
    } catch {
      // A page opened from a file may not remember anything: it then begins with the system's theme.
    }
  }

  function setTheme(theme) {
    document.documentElement.dataset.theme = theme;
    byId("theme").setAttribute("aria-pressed", String(theme === "dark"));
    report.curves.redraw();
  }

  function startTheme() {
    const system = matchMedia("(prefers-color-scheme: dark)");
    const systems = () => (system.matches ? "dark" : "light");
    const before = remembered();
    let own = before === "dark" || before === "light";
    setTheme(own ? before : systems());
    system.addEventListener("change", () => {
      if (!own) setTheme(systems());
    });
    byId("theme").addEventListener("click", () => {
      own = true;
      setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
      remember(document.documentElement.dataset.theme);
    });
  }

  function runOf(name) {
    return data.runs.find((run) => run.name === name) ?? data.runs[0] ?? null;
  }

  /** The sections that are about one run. */
  function drawRun() {
    const run = runOf(chosen);
    report.overview.point(run?.name);
    report.machines.update(run);
    report.replays.update(run);
    report.table.update(run);
  }

  function choose(name) {
    chosen = name;
    byId("run-select").value = name;
    drawRun();
  }

  /** What a run is called where one is chosen: by its folder too, where others are called the same. */
  function choiceOf(run) {
    const title = report.overview.titleOf(run);
    const alone = data.runs.filter((other) => report.overview.titleOf(other) === title).length === 1;
    return alone ? title : `${title} · ${run.name}`;
  }

  function update(next) {
    data = next;
    chosen = runOf(chosen)?.name ?? null;
    report.overview.update(data, choose);
    setOptions(
      byId("run-select"),
      data.runs.map((run) => [run.name, choiceOf(run)]),
    );
    byId("run-select").value = chosen ?? "";
    byId("run-choice").hidden = data.runs.length < 2;
    report.curves.update(data);
  }

  function start() {
    startTheme();
    report.curves.start();
    report.machines.start();
    report.replays.start();
    report.table.start();
    byId("run-select").addEventListener("change", (event) => choose(event.target.value));
    update(JSON.parse(byId("data").textContent));
    // What is further down waits until the browser has had time to show the top.
    setTimeout(() => {
      drawRun();
      report.live.start(data, (next) => {
        update(next);
        drawRun();
      });
      document.documentElement.dataset.ready = "true";
    });
  }

  start();
})();
