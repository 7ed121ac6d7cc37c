// The Markdown editor around a text area: toolbar, shortcuts, preview, pictures, links.
// The text area is the form's own; without this script it is simply written in.

import { csrfToken } from "../http.js";
import * as commands from "./markdown-commands.js";
import { linkPicker } from "./link-picker.js";

const TWICE = 2000; // milliseconds within which a form is not sent again
const PAUSE = 300; // milliseconds of no typing before the preview follows

function enhance(editor) {
  const area = editor.querySelector("textarea");
  const toolbar = editor.querySelector("[role=toolbar]");
  const pane = editor.querySelector(".editor-preview");
  const preview = editor.querySelector("[data-preview]");
  const status = editor.querySelector(".editor-status");
  const file = editor.querySelector("[data-file]");
  const words = editor.dataset;
  const toggle = toolbar.querySelector("[data-command=preview]");
  let timer, request, saysNoPreview = false;

  function say(text) {
    status.textContent = text;
    saysNoPreview = false;
  }

  function sayNoPreview(why) {
    say(why);
    saysNoPreview = true;
  }

  // Changes the text so that the browser's own undo takes it back.
  function apply(command) {
    const change = command(area.value, area.selectionStart, area.selectionEnd);
    if (!change) return false;
    area.focus();
    area.setSelectionRange(change.from, change.to);
    const name = change.insert ? "insertText" : "delete";
    if (change.from !== change.to || change.insert) {
      if (!document.execCommand(name, false, change.insert)) {
        area.setRangeText(change.insert, change.from, change.to);
        area.dispatchEvent(new Event("input", { bubbles: true }));
      }
    }
    area.setSelectionRange(...change.select);
    return true;
  }

  // Requests carry the form's own token; a redirect leads to the sign-in page.
  function post(url, body, signal) {
    const token = area.form.querySelector("[name=csrfmiddlewaretoken]").value;
    return fetch(url, { method: "POST", body, signal, headers: { "X-CSRFToken": token } });
  }

  async function render() {
    if (pane.hidden) return;
    request?.abort();
    const own = request = new AbortController();
    const body = new FormData();
    body.set("body", area.value);
    try {
      const response = await post(words.renderUrl, body, own.signal);
      if (response.redirected) return sayNoPreview(words.signedOut);
      if (!response.ok) return sayNoPreview(response.status === 413 ? await response.text() : words.noPreview);
      const html = await response.text();
      if (own.signal.aborted) return;
      preview.innerHTML = html; // the site's own renderer and sanitiser made it
      if (!html.trim()) preview.textContent = words.empty;
      preview.querySelectorAll(".anchor").forEach((anchor) => anchor.remove());
      follow();
      if (saysNoPreview) say(""); // what became of a picture stays to be read
    } catch (error) {
      if (error.name !== "AbortError") sayNoPreview(words.noPreview);
    }
  }

  // The preview stands where the text does, as far as lengths tell.
  function follow() {
    const room = area.scrollHeight - area.clientHeight;
    if (room > 0) pane.scrollTop = (area.scrollTop / room) * (pane.scrollHeight - pane.clientHeight);
  }

  function show(visible) {
    pane.hidden = !visible;
    toggle.setAttribute("aria-pressed", String(visible));
    editor.classList.toggle("editor-split", visible);
    try {
      localStorage.setItem("helpcenter.editor.preview", visible ? "1" : "0");
    } catch { /* storage is off: the choice lasts for this page */ }
    if (visible) render();
  }

  async function upload(picture) {
    const name = picture.name || words.picture;
    const placeholder = `![${words.uploading.replace("{name}", name.replace(/[[\]\\]/g, " "))}]()`;
    apply((text, start, end) => ({ from: start, to: end, insert: placeholder, select: [start + placeholder.length, start + placeholder.length] }));
    say(words.uploading.replace("{name}", name));
    const body = new FormData();
    body.set("file", picture);
    let stored, problem = words.noUpload;
    try {
      const response = await post(words.uploadUrl, body);
      if (response.redirected) problem = words.signedOut;
      else {
        const answer = await response.json();
        if (response.ok) stored = answer;
        else problem = answer.error ?? problem;
      }
    } catch { /* no connection, or no JSON: the general problem is said */ }
    const at = area.value.indexOf(placeholder);
    const description = name.replace(/\.\w+$/, "");
    if (at >= 0) {
      apply((text) => stored
        ? commands.picture(stored.url, description)(text, at, at + placeholder.length)
        : { from: at, to: at + placeholder.length, insert: "", select: [at, at] });
    }
    say(stored ? words.uploaded.replace("{name}", name) : problem);
  }

  async function uploadAll(files) {
    for (const picture of files) await upload(picture);
  }

  const pictures = (transfer) => [...(transfer?.files ?? [])].filter((item) => item.type.startsWith("image/"));
  let place = [0, 0]; // where the text was left for the dialog
  const pickLink = linkPicker(editor, (url, title) => {
    area.setSelectionRange(...place);
    apply(commands.link(url, title));
  });
  const actions = {
    bold: () => apply(commands.around("**", words.text)),
    italic: () => apply(commands.around("*", words.text)),
    code: () => apply(commands.around("`", words.text)),
    heading: () => apply(commands.lines(() => "## ", /^#{1,6} /)),
    bullets: () => apply(commands.lines(() => "- ", /^[-*+] /)),
    numbers: () => apply(commands.lines((at) => `${at + 1}. `, /^\d+[.)] /)),
    quote: () => apply(commands.lines(() => "> ", /^> ?/)),
    note: () => apply(commands.note(words.text)),
    link: () => {
      place = [area.selectionStart, area.selectionEnd];
      pickLink();
    },
    picture: () => file.click(),
    preview: () => show(pane.hidden),
  };

  // One stop of the Tab key for the whole toolbar; arrows go through it.
  const buttons = [...toolbar.querySelectorAll("button")];
  buttons.forEach((button, index) => {
    button.tabIndex = index ? -1 : 0;
    const shortcut = button.dataset.shortcut;
    if (shortcut) {
      button.setAttribute("aria-keyshortcuts", `Control+${shortcut}`);
      button.title = `${button.getAttribute("aria-label") ?? button.textContent} (Ctrl+${shortcut})`;
    }
    button.addEventListener("click", () => actions[button.dataset.command]());
  });
  toolbar.addEventListener("keydown", (event) => {
    const at = buttons.indexOf(document.activeElement);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const target = buttons[(next + buttons.length) % buttons.length];
    buttons.forEach((button) => { button.tabIndex = button === target ? 0 : -1; });
    target.focus();
  });

  area.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Enter" && !event.shiftKey && !event.ctrlKey && !event.metaKey && apply(commands.nextItem)) {
      event.preventDefault();
      return;
    }
    if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
    const pressed = (event.shiftKey ? "Shift+" : "") + event.key.toUpperCase();
    const button = buttons.find((candidate) => candidate.dataset.shortcut === pressed);
    if (!button) return;
    event.preventDefault();
    actions[button.dataset.command]();
  });
  area.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(render, PAUSE);
  });
  area.addEventListener("scroll", follow);
  area.addEventListener("paste", (event) => {
    const found = pictures(event.clipboardData);
    if (!found.length || event.clipboardData.getData("text/plain")) return;
    event.preventDefault();
    uploadAll(found);
  });
  area.addEventListener("dragover", (event) => {
    if (event.dataTransfer.types.includes("Files")) event.preventDefault();
  });
  area.addEventListener("drop", (event) => {
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    uploadAll(pictures(event.dataTransfer));
  });
  file.addEventListener("change", async () => {
    await uploadAll(file.files);
    file.value = "";
  });

  toolbar.hidden = false;
  let wanted = "1";
  try {
    wanted = localStorage.getItem("helpcenter.editor.preview") ?? "1";
  } catch { /* storage is off */ }
  show(wanted === "1");
}

// A closed tab must not take an unsaved text along. Ctrl+S saves and goes on editing.
function guard(form) {
  let changed = false;
  form.addEventListener("input", (event) => { changed ||= Boolean(event.target.name); });
  let sentAt = -Infinity;
  form.addEventListener("submit", (event) => {
    // A double click would make two articles of one.
    if (event.timeStamp - sentAt < TWICE) return event.preventDefault();
    sentAt = event.timeStamp;
    changed = false;
    // Signing in again in another tab changed it.
    const token = form.elements.csrfmiddlewaretoken;
    token.value = csrfToken() || token.value;
  });
  addEventListener("beforeunload", (event) => { if (changed) event.preventDefault(); });
  form.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "s" || event.shiftKey) return;
    event.preventDefault();
    form.querySelector("[name=_continue]")?.click();
  });
}

for (const editor of document.querySelectorAll("[data-editor]")) {
  enhance(editor);
  guard(editor.querySelector("textarea").form);
}
