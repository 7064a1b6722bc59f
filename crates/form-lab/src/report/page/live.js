// A live page: while a run trains, its data is asked for again and again, and what changed is drawn. When the server is gone
// the page says so and stops asking; it stays as it was last.
(() => {
  "use strict";

  const { byId, say } = report.dom;

  function tell(text, kind) {
    const host = byId("live");
    host.hidden = false;
    host.className = `live ${kind}`;
    say(host, text);
  }

  /** The number of failed polls before the page gives up: a computer that slept must not end it. */
  const PATIENCE = 3;

  /** Polls for as long as the server answers. */
  function start(data, update) {
    if (!data.live) return;
    let before = null;
    let unanswered = 0;
    const ask = async () => {
      try {
        const answer = await fetch("data.json", { cache: "no-store" });
        if (!answer.ok) throw new Error(String(answer.status));
        const text = await answer.text();
        unanswered = 0;
        if (text !== before) {
          const next = JSON.parse(text);
          before = text;
          update(next);
          if (!next.live) {
            tell("The training is over", "over");
            return;
          }
        }
      } catch {
        unanswered += 1;
        if (unanswered === PATIENCE) {
          tell("The training does not answer any more: this is the last it said", "over");
          return;
        }
      }
      setTimeout(ask, 1000 * data.live.seconds);
    };
    tell("Live: follows the training", "on");
    setTimeout(ask, 1000 * data.live.seconds);
  }

  report.live = { start };
})();
