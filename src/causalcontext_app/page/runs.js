// The answer: runs side by side, the report of one of them, what differs between two, and what can be taken away.
import { ask, button, byId, card, complain, element, list, menu, plural, tell } from "./elements.js";
import { STATEMENTS } from "./knowledge.js";

const STATES = { running: "running", complete: "", interrupted: "cut short", failed: "no result" };
const FILES = [["html", "Report (HTML)"], ["json", "Result (JSON)"], ["svg", "Picture (SVG)"], ["png", "Picture (PNG)"], ["python", "Python script"], ["command", "Shell script"], ["toml", "Knowledge (TOML)"]];

export function answerPanel(app) {
  const { runs } = app.state;
  if (!runs.length) return [card("No answer yet", element("p", {}, "Press Run: the search works in a process of its own, and its answer appears here."), button("Run", () => app.run(), { class: "primary" }))];
  const run = runs.find((one) => one.number === app.shown) ?? runs.at(-1);
  app.shown = run.number;
  return [runList(app, run), ...runView(app, run)];
}

function runList(app, shown) {
  const one = (run) => element("li", {}, button([element("strong", {}, `Run ${run.number}`), element("span", { class: "hint" }, [STATES[run.state], run.state === "complete" ? `${run.seconds} s` : ""].filter(Boolean).join(" ")), element("span", { class: "title", dir: "auto" }, run.title)],
    () => { app.shown = run.number; app.compared = null; app.pair = null; app.show(); }, { class: "run", "aria-pressed": String(run === shown), "data-run": run.number }));
  return element("nav", { class: "runs", "aria-label": "Runs" }, element("ol", {}, ...app.state.runs.map(one)));
}

function runView(app, run) {
  if (run.state === "running") return [progressCard(app, run)];
  if (run.state === "failed") return [card(`Run ${run.number} has no result`, element("p", { class: "problem", dir: "auto" }, run.error), element("p", { class: "actions" }, ...runButtons(app, run)))];
  return [toolbar(app, run), comparison(app, run)].filter(Boolean);
}

function progressCard(app, run) {
  return element("section", { class: "card" }, element("h2", {}, `Run ${run.number} is searching`),
    element("progress", { id: "bar", max: 1, value: run.progress ? run.progress.share : 0, "aria-label": "Share of the search that is done" }),
    element("p", { id: "bar-words" }, progressWords(run)),
    element("p", { class: "hint" }, "Cancel keeps what is known by then; a second time it ends at once."),
    button(run.cancelled ? "End at once" : "Cancel", () => app.cancel(run.number), { id: "cancel" }));
}
const progressWords = (run) => run.progress ? [run.cancelled ? "cancelled: writing what is known" : run.progress.words, run.progress.left, `${Math.round(run.seconds)} s so far`].filter(Boolean).join(" · ") : "starting";

// While a search runs, its bar moves and nothing else is drawn anew.
export function moveBar(app) {
  const run = app.state.runs.find((one) => one.number === app.shown), bar = byId("bar"), steady = byId("stability-words");
  if (run && bar && run.progress) { bar.value = run.progress.share; byId("bar-words").textContent = progressWords(run); byId("cancel").textContent = run.cancelled ? "End at once" : "Cancel"; }
  if (run && steady && run.progress) steady.textContent = stabilityWords(run);
}
const stabilityWords = (run) => `Stability: ${run.progress ? `${run.progress.words} ${run.progress.left}` : "starting"} …`;

function runButtons(app, run) {
  return [button("Use these settings", () => app.reuse(run), { title: "The question and the knowledge of this run become those of the page" }),
    button("Remove this run", () => app.remove(run.number))];
}

function toolbar(app, run) {
  const others = app.state.runs.filter((one) => one !== run && ["complete", "interrupted"].includes(one.state));
  const parts = [...runButtons(app, run), takeAway(app, run)];
  if (others.length) parts.unshift(menu("Compare with", [["", "no other run"], ...others.map((one) => [String(one.number), `run ${one.number}`])], app.compared ? String(app.compared.other) : "", (other) => app.compare(run.number, other), { id: "compare-with" }));
  if (run.state === "complete") parts.push(run.stability === "running" ? element("span", { class: "actions" }, element("span", { id: "stability-words", role: "status" }, stabilityWords(run)), button("Cancel", () => app.cancel(run.number)))
    : button(run.stability === "done" ? "Stability is in the report" : "Check stability", () => app.stability(run.number), { id: "stability", disabled: run.stability === "done", title: "The same search in 100 bootstrap samples, in the background" }));
  return element("section", { class: "card", "aria-label": `Run ${run.number}` }, element("div", { class: "actions" }, ...parts), element("p", { class: "hint" }, "Choose an edge, or two variables, in the picture to say what is known about them."),
    run.stability && !["running", "done"].includes(run.stability) ? element("p", { class: "problem", dir: "auto" }, run.stability) : null);
}

function takeAway(app, run) {
  const text = element("pre", { tabindex: 0, hidden: true, id: "script", "aria-label": "Script" });
  const show = (what) => async () => { try { text.textContent = (await ask("GET", `/api/runs/${run.number}/scripts`))[what]; text.hidden = false; } catch (error) { complain(error.message); } };
  const copy = button("Copy", async () => { await navigator.clipboard.writeText(text.textContent); tell("copied"); });
  const links = FILES.map(([what, words]) => element("li", {}, element("a", { href: `/runs/${run.number}/download/${what}`, download: true }, words)));
  const menuBox = element("details", { class: "take-away", open: app.open.away, ontoggle: () => { app.open.away = menuBox.open; } }, element("summary", {}, "Take away"),
    element("div", {}, element("ul", { class: "files" }, ...links), element("p", { class: "actions" }, button("Show as Python", show("python"), { id: "as-python" }), button("Show as command", show("command"), { id: "as-command" }), copy), text));
  return menuBox;
}

function comparison(app, run) {
  const found = app.compared;
  if (!found || found.run !== run.number) return null;
  const lines = (heading, entries) => entries.length ? [element("h4", {}, `${heading} (${entries.length})`), list(entries)] : [];
  const panel = (one) => {
    const parts = [...lines("Appeared", one.appeared), ...lines("Vanished", one.vanished), ...lines("Has another mark", one.turned.map(([before, after]) => `${before}, then ${after}`))];
    return element("div", { class: "difference" }, element("h3", { dir: "auto" }, one.title), ...(parts.length ? parts : [element("p", {}, "Nothing differs.")]), element("p", { class: "hint" }, `${plural(one.same, "edge")} the same`));
  };
  return element("section", { class: "card", id: "comparison" }, element("h2", {}, `From run ${found.other} to run ${run.number}`), ...found.notes.map((note) => element("p", { class: "hint", dir: "auto" }, note)), element("div", { class: "differences" }, ...found.panels.map(panel)));
}

// What can be said about the pair that was chosen in the report.
export function pairBar(app) {
  const run = app.state.runs.find((one) => one.number === app.shown);
  if (!app.pair || !run) return [];
  const [a, b] = app.pair, say = (what, x, y) => button(STATEMENTS[what](x, y).words, () => app.know(STATEMENTS[what](x, y).say, `Said: ${STATEMENTS[what](x, y).words}. Run searches again with it.`), { dir: "auto" });
  // An effect is no earlier than its cause.
  const earlier = run.question.options.lags !== undefined && /\(t-\d+\)$/.test(a);
  const choices = earlier ? [say("direction", a, b), say("require", a, b)] : [say("forbid", a, b), say("require", a, b), say("require", b, a), say("direction", a, b), say("direction", b, a)];
  return [element("section", { class: "card pair", id: "pair", "aria-label": `What is known about ${a} and ${b}` }, element("p", {}, "What is known about ", element("strong", { dir: "auto" }, a), " and ", element("strong", { dir: "auto" }, b), "?"),
    element("p", { class: "actions" }, ...choices),
    app.just ? element("p", { class: "actions good" }, app.just, button("Run", () => app.run(), { class: "primary", "aria-label": "Run again" })) : null)];
}

// The report itself, in a frame as high as its page; it tells which pair is chosen in it. A frame that is moved in the
// document loads again, so it stays where it is until another report is shown.
export function showReport(app, place) {
  const run = app.state.runs.find((one) => one.number === app.shown), shown = run && ["complete", "interrupted"].includes(run.state);
  const version = shown ? `${run.number} ${run.stability === "done"}` : "";
  if (place.dataset.version === version) return;
  place.dataset.version = version;
  if (!shown) { place.replaceChildren(); return; }
  const frame = element("iframe", { src: `/runs/${run.number}/report`, title: `Report of run ${run.number}`, class: "report" });
  frame.addEventListener("load", () => {
    const inner = frame.contentDocument;
    if (!inner || !inner.getElementById("stage")) return;
    inner.getElementById("theme").hidden = true;
    new ResizeObserver(() => { frame.height = Math.ceil(inner.body.getBoundingClientRect().height) + 4; }).observe(inner.body);
    inner.addEventListener("pair", (event) => app.pick(run.number, event.detail));
  });
  place.replaceChildren(frame);
}
