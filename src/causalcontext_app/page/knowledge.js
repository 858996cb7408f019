// What is known: tiers by drag or keys, statements about pairs and single variables, and the list of all that was said.
import { button, card, element, plural, tell } from "./elements.js";

const LISTS = { required: "required", forbidden: "forbidden", tiers: "tiers", roots: "roots", sinks: "sinks" };
export const STATEMENTS = {
  require: (a, b) => ({ words: `${a} causes ${b}`, say: (known) => pairs(known, "required", [[a, b]]) }),
  forbid: (a, b) => ({ words: `no link between ${a} and ${b}`, say: (known) => pairs(known, "forbidden", [[a, b], [b, a]]) }),
  direction: (a, b) => ({ words: `${a} does not cause ${b}`, say: (known) => pairs(known, "forbidden", [[a, b]]) }),
};
const same = (a, b) => a[0] === b[0] && a[1] === b[1];
function pairs(known, list, added) {
  known[list] = [...(known[list] ?? []).filter((pair) => !added.some((other) => same(pair, other))), ...added];
}

export function knowledgePanel(app) {
  const names = app.variables;
  return [element("div", { class: "two" }, element("div", {}, tiersCard(app, names)), element("div", {}, statementCard(app, names), saidCard(app)))];
}

function statementCard(app, names) {
  const pick = (label, id) => { const select = element("select", { id }, ...names.map((name) => element("option", { value: name }, name))); return [select, element("label", { class: "field" }, label, select)]; };
  const [first, firstField] = pick("First", "known-first"), [second, secondField] = pick("Second", "known-second");
  second.selectedIndex = Math.min(1, names.length - 1);
  const relation = element("select", { id: "known-relation" }, ...[["require", "causes"], ["direction", "does not cause"], ["forbid", "has no link with"], ["roots", "has no causes"], ["sinks", "has no effects"]].map(([value, words]) => element("option", { value }, words)));
  relation.addEventListener("change", () => { secondField.hidden = relation.value === "roots" || relation.value === "sinks"; });
  const add = () => {
    const [a, b, what] = [first.value, second.value, relation.value];
    if (what in STATEMENTS) app.know(STATEMENTS[what](a, b).say);
    else app.know((known) => { known[what] = [...new Set([...(known[what] ?? []), a])]; });
  };
  return card("Say what is known",
    element("p", { class: "hint" }, "Or click an edge, or two variables, in the picture of an answer."),
    element("div", { class: "fields" }, firstField, element("label", { class: "field" }, "Statement", relation), secondField, button("Add", add, { class: "primary", id: "known-add" })));
}

// Every statement by itself, with the function that takes it back.
function statements(known) {
  const found = [], forbidden = known.forbidden ?? [], done = new Set();
  for (const [a, b] of known.required ?? []) found.push([`${a} causes ${b}`, (next) => { next.required = next.required.filter((pair) => !same(pair, [a, b])); }]);
  for (const [a, b] of forbidden) {
    if (done.has(JSON.stringify([a, b]))) continue;
    const both = forbidden.some((pair) => same(pair, [b, a]));
    done.add(JSON.stringify([b, a]));
    found.push([both ? `no link between ${a} and ${b}` : `${a} does not cause ${b}`, (next) => { next.forbidden = next.forbidden.filter((pair) => !same(pair, [a, b]) && !(both && same(pair, [b, a]))); }]);
  }
  for (const [list, words] of [["roots", "has no causes"], ["sinks", "has no effects"]]) for (const name of known[list] ?? []) found.push([`${name} ${words}`, (next) => { next[list] = next[list].filter((other) => other !== name); }]);
  (known.tiers ?? []).forEach((tier, place) => { for (const name of tier) found.push([`${name} is in tier ${place + 1}`, (next) => { next.tiers = next.tiers.map((names) => names.filter((other) => other !== name)); }]); });
  return found;
}

function saidCard(app) {
  const all = statements(app.question.knowledge);
  const rows = all.map(([words, undo]) => element("li", {}, element("span", { dir: "auto" }, words), button("Undo", () => app.know(undo), { "aria-label": `Undo: ${words}` })));
  const everything = button("Undo all", () => app.know((known) => { for (const list of Object.values(LISTS)) delete known[list]; }));
  return card("What was said", all.length ? element("ul", { class: "said" }, ...rows) : element("p", { class: "hint" }, "Nothing yet: every link and direction is left to the data."), all.length > 1 ? everything : null);
}

function tiersCard(app, names) {
  const tiers = (app.question.knowledge.tiers ?? []).length ? app.question.knowledge.tiers : [], shown = Math.max(tiers.length, app.tiers ?? 2);
  const placed = new Map(tiers.flatMap((tier, place) => tier.map((name) => [name, place])));
  const move = (name, to) => {
    app.focus = `[data-variable="${CSS.escape(name)}"]`;
    app.tiers = Math.max(shown, to + 1);
    app.know((known) => {
      const next = Array.from({ length: Math.max((known.tiers ?? []).length, to + 1) }, (_, place) => ((known.tiers ?? [])[place] ?? []).filter((other) => other !== name));
      if (to >= 0) next[to].push(name);
      known.tiers = next;
    }).then(() => tell(to < 0 ? `${name} is in no tier` : `${name} is in tier ${to + 1}`));
  };
  const chip = (name) => {
    const at = placed.has(name) ? placed.get(name) : -1;
    return element("li", {}, button(element("span", {}, name), null, { class: "chip", draggable: "true", dir: "auto", title: name, "data-variable": name, "aria-label": `${name}, ${at < 0 ? "in no tier" : `tier ${at + 1}`}; up and down arrow keys move it`,
      ondragstart: (event) => { event.dataTransfer.setData("text/plain", name); event.dataTransfer.effectAllowed = "move"; },
      onkeydown: (event) => {
        const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
        if (!step || at + step < -1 || at + step >= shown) return;
        event.preventDefault();
        move(name, at + step);
      } }));
  };
  const zone = (title, place) => element("div", { class: "tier", "data-tier": place, role: "group", "aria-label": title,
    ondragover: (event) => { event.preventDefault(); event.currentTarget.classList.add("over"); },
    ondragleave: (event) => event.currentTarget.classList.remove("over"),
    ondrop: (event) => { event.preventDefault(); const name = event.dataTransfer.getData("text/plain"); if (names.includes(name)) move(name, place); } },
  element("h3", {}, title), element("ul", { class: "chips" }, ...names.filter((name) => (placed.has(name) ? placed.get(name) : -1) === place).map(chip)));
  return card("Tiers",
    element("p", { class: "hint" }, "Nothing in a later tier causes anything in an earlier one. Drag a variable, or focus it and press the arrow keys."),
    zone("In no tier", -1), ...Array.from({ length: shown }, (_, place) => zone(`Tier ${place + 1}`, place)),
    element("p", { class: "actions" }, button("Add a tier", () => { app.tiers = shown + 1; app.show(); }), placed.size ? element("span", { class: "hint" }, plural(placed.size, "variable") + " in tiers") : null));
}
