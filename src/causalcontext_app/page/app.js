// The app: what it holds, what can be done, and when it is drawn anew.
import { ask, button, byId, card, complain, element, plural, tell } from "./elements.js";
import { knowledgePanel } from "./knowledge.js";
import { questionPanel } from "./question.js";
import { answerPanel, moveBar, pairBar, showReport } from "./runs.js";
import { findings, tablePanel } from "./table.js";

const TABS = ["table", "question", "knowledge", "answer"];
const PANELS = { table: tablePanel, question: questionPanel, knowledge: knowledgePanel, answer: answerPanel };
const POLL = 400, REST = 150;
const copied = (value) => JSON.parse(JSON.stringify(value));

const app = {
  state: null, columns: [], question: null, variables: [], findings: null, tab: "table", shown: null, pair: null, compared: null, just: "", open: {}, focus: null,

  // The question changes if the library takes it; else its sentence is shown, and the question stays.
  async change(edit) {
    const next = copied(app.question);
    edit(next);
    try {
      Object.assign(app, await ask("PUT", "/api/question", next));
      complain("");
      lookAgain();
    } catch (error) { complain(error.message); }
    app.show();
  },
  async know(say, words = "") {
    await app.change((question) => { say(question.knowledge); question.knowledge = withoutEmpty(question.knowledge); });
    if (words && byId("said").hidden) { app.just = words; app.show(); tell(words); }
  },
  async run() {
    await trying(async () => {
      const run = await ask("POST", "/api/runs", app.question);
      app.shown = run.number; app.pair = null; app.compared = null; app.tab = "answer";
      await refresh();
      tell(`run ${run.number} is searching`);
    });
  },
  cancel: (number) => trying(async () => { await ask("POST", `/api/runs/${number}/cancel`); await refresh(); }),
  remove: (number) => trying(async () => { await ask("DELETE", `/api/runs/${number}`); app.shown = null; app.compared = null; app.pair = null; await refresh(); }),
  stability: (number) => trying(async () => { await ask("POST", `/api/runs/${number}/stability`); await refresh(); }),
  async compare(run, other) {
    app.compared = null;
    if (other) await trying(async () => { app.compared = { run, other: Number(other), ...await ask("GET", `/api/compare/${other}/${run}`) }; });
    app.show();
  },
  reuse: (run) => app.change((question) => { Object.assign(question, copied(run.question)); }).then(() => tell(`the settings are those of run ${run.number}`)),
  async pick(run, places) {
    app.pair = null; app.just = "";
    if (places) await trying(async () => {
      const names = await ask("GET", `/api/runs/${run}/names`), lagged = app.state.runs.find((one) => one.number === run).question.options.lags !== undefined;
      app.pair = lagged ? atPresent(places.map((place) => names[place])) : places.map((place) => names[place]);
    });
    app.show();
  },
  show,
};

// Two variables at their times as knowledge names them: the later one now, the earlier one first.
function atPresent(pair) {
  const split = (name) => { const found = name.match(/^(.*)\(t-(\d+)\)$/s); return found ? [found[1], Number(found[2])] : [name, 0]; };
  const [early, late] = pair.map(split).sort((a, b) => b[1] - a[1]), lag = early[1] - late[1];
  return [lag ? `${early[0]}(t-${lag})` : early[0], late[0]];
}

function withoutEmpty(known) {
  const found = Object.fromEntries(Object.entries(known).filter(([, entries]) => entries.length));
  while (found.tiers && found.tiers.length && !found.tiers.at(-1).length) found.tiers.pop();
  if (found.tiers && !found.tiers.length) delete found.tiers;
  return found;
}

async function trying(act) {
  try { complain(""); await act(); } catch (error) { complain(error.message); show(); }
}

function show() {
  const table = app.state.table;
  byId("tabs").hidden = byId("run").hidden = byId("open-other").hidden = byId("project").hidden = !table;
  byId("panel-open").hidden = Boolean(table);
  if (!table) {
    for (const tab of TABS) byId(`panel-${tab}`).hidden = true;
    byId("table-name").textContent = "causalcontext"; byId("table-facts").textContent = "Causal graphs from data whose mechanisms change with a context.";
    byId("panel-open").replaceChildren(...openPanel());
    return;
  }
  byId("table-name").textContent = table.name;
  byId("table-facts").textContent = [`${plural(table.rows, "row")}, ${plural(app.columns.length, "column")}`, table.kept ? `kept in ${table.kept}` : "in no file: take the project file away to keep it", ...table.notices].join(" · ");
  document.title = `${table.name} · causalcontext`;
  const counts = { answer: app.state.runs.length };
  for (const tab of TABS) {
    const button = byId(`tab-${tab}`), on = tab === app.tab;
    button.setAttribute("aria-selected", String(on)); button.tabIndex = on ? 0 : -1;
    button.textContent = `${tab[0].toUpperCase()}${tab.slice(1)}${counts[tab] ? ` (${counts[tab]})` : ""}`;
    byId(`panel-${tab}`).hidden = !on;
  }
  drawPanel(byId(app.tab === "answer" ? "runs" : `panel-${app.tab}`), PANELS[app.tab](app));
  if (app.tab !== "answer") return;
  showReport(app, byId("report-place"));
  drawPanel(byId("pair-place"), pairBar(app));
}

// The panel anew; the focus stays where it was, by the labels of the elements.
function drawPanel(panel, parts) {
  const active = document.activeElement, inside = panel.contains(active) && active !== panel;
  const sign = inside ? signature(active) : null, place = inside ? alike(panel, sign).indexOf(active) : 0;
  panel.replaceChildren(...parts);
  if (!inside && !app.focus) return;
  const again = (app.focus && panel.querySelector(app.focus)) || (sign && (alike(panel, sign)[place] ?? alike(panel, sign)[0]));
  app.focus = null;
  if (again) again.focus({ preventScroll: true });
}
const signature = (one) => `${one.tagName} ${one.id} ${one.getAttribute("aria-label") ?? ""} ${one.dataset.variable ?? ""} ${one.type === "checkbox" ? one.parentElement.textContent : ""}`;
const alike = (panel, sign) => [...panel.querySelectorAll("button, input, select, summary, a")].filter((one) => signature(one) === sign);

// What the library says is asked for when changes rest, one time after the other; it alone is drawn anew.
let resting = null, asking = false;
function lookAgain() {
  app.findings = null;
  clearTimeout(resting);
  resting = setTimeout(look, REST);
}
async function look() {
  if (asking) return;
  asking = true;
  const asked = app.question;
  let found;
  try { found = await ask("POST", "/api/check", asked); } catch (error) { found = { error: error.message }; }
  asking = false;
  if (app.question !== asked) { lookAgain(); return; }
  app.findings = found;
  for (const old of document.querySelectorAll("[data-findings]")) old.replaceWith(findings(app));
}

let polling = null;
const busy = (runs) => runs.some((run) => run.progress);
const shape = (runs) => JSON.stringify(runs.map((run) => [run.number, run.state, run.stability, run.cancelled, run.error]));
async function refresh() {
  app.state.runs = await ask("GET", "/api/runs");
  show();
  if (busy(app.state.runs) && polling === null) polling = setTimeout(poll, POLL);
}
async function poll() {
  polling = null;
  const before = shape(app.state.runs), running = app.state.runs.filter((run) => run.state === "running").map((run) => run.number);
  try { app.state.runs = await ask("GET", "/api/runs"); } catch (error) { complain(error.message); return; }
  if (shape(app.state.runs) === before) moveBar(app);
  else {
    for (const run of app.state.runs) if (running.includes(run.number) && run.state !== "running") tell(`run ${run.number}: ${run.state === "failed" ? run.error : "the answer is there"}`);
    show();
  }
  if (busy(app.state.runs)) polling = setTimeout(poll, POLL);
}

async function load(state) {
  app.state = state ?? await ask("GET", "/api/state");
  Object.assign(app, { question: app.state.question, variables: app.state.variables, findings: null, shown: null, pair: null, compared: null, tiers: undefined });
  if (app.state.table) { app.columns = await ask("GET", "/api/columns"); lookAgain(); }
  show();
  if (busy(app.state.runs)) polling = setTimeout(poll, POLL);
}

function openPanel() {
  const choose = element("input", { type: "file", id: "file", accept: ".csv,.tsv,.gz,.parquet", onchange: () => upload(choose.files[0]) });
  const examples = app.state.examples.map((name) => button(name.replace("-", " "), () => trying(async () => { app.tab = "table"; await load(await ask("POST", "/api/example", name)); })));
  const back = app.columns.length ? button("Back", () => load()) : null;
  return [element("section", { class: "card drop", ondragover: (event) => event.preventDefault(), ondrop: (event) => { event.preventDefault(); upload(event.dataTransfer.files[0]); } },
    element("h2", { id: "open-heading" }, "Open a table"),
    element("p", {}, "One row per observation, one column per variable, names in the first row. It stays on this machine."),
    element("p", {}, element("label", { class: "field" }, "A .csv, .tsv (both also .gz) or .parquet file", choose)),
    element("p", { class: "actions" }, "Or an example:", ...examples, back))];
}
const upload = (file) => file && trying(async () => { tell("reading the table"); app.tab = "table"; await load(await ask("POST", `/api/upload?name=${encodeURIComponent(file.name)}`, file)); });

function build() {
  document.documentElement.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  for (const tab of TABS) byId(`tab-${tab}`).addEventListener("click", () => { app.tab = tab; show(); });
  byId("tabs").addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    app.tab = TABS[(TABS.indexOf(app.tab) + step + TABS.length) % TABS.length];
    show();
    byId(`tab-${app.tab}`).focus();
  });
  byId("run").addEventListener("click", () => app.run());
  byId("open-other").addEventListener("click", () => { app.state = { ...app.state, table: null, runs: [] }; complain(""); show(); });
}

build();
load().catch((error) => complain(error.message));
