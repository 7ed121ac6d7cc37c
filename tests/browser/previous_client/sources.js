// Frozen: the Sources row as clients drew it before entries had the flag `consulted`.

// Where a source leads: the article at the first heading that was read.
export function addressOf(source) {
  if (!source.url) return null;
  const anchor = source.passages?.find((passage) => passage.anchor)?.anchor;
  return anchor && !source.url.includes("#") ? `${source.url}#${encodeURIComponent(anchor)}` : source.url;
}

// Numbered ones by number, then those that were read and not numbered, each in the order they came.
export function inOrder(sources) {
  const shown = [...sources];
  const numbered = shown.filter((source) => source.number).sort((one, other) => one.number - other.number);
  return [...numbered, ...shown.filter((source) => !source.number)];
}

// Draws the row anew where it changed. `grounding` is unknown (undefined) until the end.
export function drawSources(row, sources, grounding, texts) {
  const shown = inOrder(sources);
  const searched = grounding === "uncited" && shown.length > 0 && shown.every((source) => !source.number);
  row.hidden = !shown.length;
  row.querySelector(".sources-label").textContent = searched ? texts.searched : texts.sources;
  const list = row.querySelector(".chips");
  list.setAttribute("aria-label", searched ? texts.searched : texts.sources);
  const chips = shown.map((source) => {
    const item = document.createElement("li");
    item.append(chip(source, marksOf(source, searched, texts)));
    return item;
  });
  chips.forEach((item, at) => {
    const present = list.children[at];
    if (!present) list.append(item);
    else if (!present.isEqualNode(item)) present.replaceWith(item);
  });
}

function marksOf(source, searched, texts) {
  const marks = [];
  if (!source.number && !searched) marks.push(texts.read);
  if (source.available === false) marks.push(texts.gone);
  else if (source.changed) marks.push(texts.changed);
  return marks;
}

function chip(source, marks) {
  const address = addressOf(source);
  const element = document.createElement(address ? "a" : "span");
  element.className = "chip";
  if (address) element.href = address;
  const heading = source.passages?.[0]?.heading;
  if (heading) element.title = `${source.title} – ${heading}`;
  if (source.number) element.append(part("chip-number", String(source.number)));
  const title = part("chip-title", source.title);
  title.dir = "auto";
  element.append(title);
  element.append(...marks.map((mark) => part("chip-mark", mark)));
  return element;
}

function part(name, text) {
  const element = document.createElement("span");
  element.className = name;
  element.textContent = text;
  return element;
}

// The collapsed activity line: "Looked at 6 articles, read 1", opening to the list.
export function drawActivity(element, references, texts) {
  if (!references.length) {
    element.replaceChildren();
    element.hidden = true;
    return;
  }
  const details = document.createElement("details");
  const summary = document.createElement("summary");
  const looked = plural(texts.lookedAt, references.length);
  summary.textContent = looked;
  const list = document.createElement("ul");
  list.append(...references.map((reference) => {
    const item = document.createElement("li");
    item.append(titleLink(reference));
    return item;
  }));
  details.append(summary, list);
  element.replaceChildren(details);
  element.hidden = false;
}

export function titleLink(reference) {
  const element = document.createElement(reference.url ? "a" : "span");
  if (reference.url) element.href = addressOf(reference);
  element.textContent = reference.title;
  element.dir = "auto";
  return element;
}

export function plural({ one, other }, count) {
  return (count === 1 ? one : other).replace("{count}", count);
}

// The answer as Markdown to paste elsewhere: whole addresses, and the sources as links.
export function asMarkdown(text, sources, label) {
  const whole = text.replaceAll("](/", `](${location.origin}/`);
  const lines = inOrder(sources).map((source) => {
    const address = addressOf(source);
    const title = source.title.replaceAll(/[[\]\\]/g, "\\$&");
    return `${source.number ? `${source.number}.` : "-"} ${address ? `[${title}](${new URL(address, location.href)})` : title}`;
  });
  return lines.length ? `${whole}\n\n${label}:\n\n${lines.join("\n")}\n` : `${whole}\n`;
}
