// What the editor's buttons do to the text: pure functions of (text, start, end), where start
// and end are the selection. Each returns {from, to, insert, select: [start, end]}: the piece
// from..to becomes `insert`, and then `select` is selected. Nothing here touches the page.

export function around(mark, placeholder) {
  return (text, start, end) => {
    const chosen = text.slice(start, end) || placeholder;
    const is = text.slice(start - mark.length, start) === mark && text.slice(end, end + mark.length) === mark;
    if (is && start !== end) {
      const from = start - mark.length;
      return { from, to: end + mark.length, insert: chosen, select: [from, from + chosen.length] };
    }
    const at = start + mark.length;
    return { from: start, to: end, insert: mark + chosen + mark, select: [at, at + chosen.length] };
  };
}

// Prefixes every line of the selection, or takes the prefix away where all of them have it.
export function lines(prefix, pattern) {
  return (text, start, end) => {
    const from = text.lastIndexOf("\n", start - 1) + 1;
    const stop = text.indexOf("\n", Math.max(end - 1, start));
    const to = stop < 0 ? text.length : stop;
    const all = text.slice(from, to).split("\n");
    const marked = all.every((line) => pattern.test(line));
    const insert = all.map((line, at) => marked ? line.replace(pattern, "") : prefix(at) + line).join("\n");
    const place = start === end ? from + insert.length : from;
    return { from, to, insert, select: [place, from + insert.length] };
  };
}

export function note(placeholder) {
  return (text, start, end) => {
    const chosen = text.slice(start, end) || placeholder;
    const before = start && text[start - 1] !== "\n" ? "\n\n" : "";
    const insert = `${before}:::note\n${chosen}\n:::\n`;
    const at = start + before.length + ":::note\n".length;
    return { from: start, to: end, insert, select: [at, at + chosen.length] };
  };
}

export function link(url, title) {
  return (text, start, end) => {
    const label = text.slice(start, end) || title.replace(/[\\[\]]/g, "\\$&");
    const insert = `[${label}](${url})`;
    return { from: start, to: end, insert, select: [start + insert.length, start + insert.length] };
  };
}

export function picture(url, description) {
  return (text, start, end) => {
    const alt = description.replace(/[\\[\]]/g, " ").trim();
    return { from: start, to: end, insert: `![${alt}](${url})`, select: [start + 2, start + 2 + alt.length] };
  };
}

// Enter within a list: the next item begins, or the list ends where the item is empty.
export function nextItem(text, start, end) {
  const from = text.lastIndexOf("\n", start - 1) + 1;
  const item = text.slice(from, start).match(/^(\s*)([-*+]|(\d{1,9})([.)]))(\s+)(.*)$/);
  if (start !== end || !item) return null;
  const [, indent, mark, number, dot, space, content] = item;
  if (!content) return { from, to: start, insert: "", select: [from, from] };
  const insert = `\n${indent}${number ? Number(number) + 1 + dot : mark}${space}`;
  return { from: start, to: start, insert, select: [start + insert.length, start + insert.length] };
}
