// A question and its answer on the page. It draws what it is told and decides nothing:
// events come from stream.js, verdicts and sources from the server.
import { offerContact } from "./contact.js";
import { post } from "./http.js";
import { morph, parsed } from "./morph.js";
import { copyText, enliven } from "./prose.js";
import { asMarkdown, drawActivity, drawSources, isShown, sourcesOf, titleLink } from "./sources.js";

const NOT_FROM_AN_ARTICLE = ["uncited", "rejected", "no_hits", "unsearched"];
const NEAREST = ["rejected", "no_hits"];

export class Turn {
  // `page` has what all turns share: { texts, urls, retry(turn) }.
  constructor(question, page) {
    this.question = question;
    this.page = page;
    this.id = null;
    this.text = "";
    this.blocks = [];
    this.sources = [];
    this.references = [];
    this.element = document.getElementById("chat-turn").content.firstElementChild.cloneNode(true);
    this.find(".question").textContent = question;
    this.prose = this.find(".prose");
    this.connectActions();
    this.contact = offerContact(this);
  }

  find(selector) {
    return this.element.querySelector(selector);
  }

  // What the stream brings

  take(event) {
    switch (event.type) {
      case "started":
        this.id = event.answer_id;
        break;
      case "tool":
        this.showActivity(event.label);
        break;
      case "references":
        this.references = event.references;
        break;
      case "html":
        this.write(event.blocks);
        break;
      case "source":
        this.addSource(event.source);
        break;
      case "done":
        this.finish(event);
        break;
      case "error":
        this.fail(event);
        break;
    }
  }

  showActivity(label, { waiting = false } = {}) {
    const activity = this.find(".activity");
    let line = activity.querySelector(".activity-line");
    if (!line) {
      line = document.createElement("div");
      line.className = "activity-line";
      line.append(document.createElement("span"));
      activity.replaceChildren(line);
    }
    line.classList.toggle("waiting", waiting);
    line.firstElementChild.textContent = label;
    if (!waiting) this.label = label;
    activity.hidden = false;
  }

  showConnection(connected) {
    if (connected === !this.waiting) return;
    this.waiting = !connected;
    const lost = navigator.onLine ? this.page.texts.reconnecting : this.page.texts.offline;
    this.showActivity(connected ? this.label : lost, { waiting: !connected });
    if (connected) this.endThinking();
  }

  // The first words take the place of "Thinking…"; what a tool did stays above them.
  endThinking() {
    if (this.blocks.length && this.label === this.page.texts.thinking) this.find(".activity").hidden = true;
  }

  write(blocks) {
    for (const { block, html } of blocks) this.blocks[block] = html;
    morph(this.prose, parsed(this.blocks.join("")));
    this.endThinking();
  }

  addSource(source) {
    const at = this.sources.findIndex((known) => known.id === source.id);
    if (at < 0) this.sources.push(source);
    else this.sources[at] = source;
    drawSources(this.find(".sources"), this.sources, undefined, this.page.texts);
  }

  finish(end) {
    this.showEnd(end);
    const { status, text, truncated } = end;
    const { texts } = this.page;
    const notes = { stopped: texts.stopped, truncated: texts.truncated[truncated] ?? texts.truncated.length };
    this.note(status === "truncated" || text ? notes[status] : texts.stoppedEarly);
  }

  // What is left of a turn that failed: all that was delivered, what happened, and Retry.
  fail(end) {
    this.showEnd(end);
    const { message, retryable } = end;
    const failure = this.find(".failure");
    failure.querySelector("p").textContent = message || this.page.texts.failed;
    failure.querySelector("button").hidden = !retryable;
    failure.hidden = false;
  }

  showEnd({ text = "", html, grounding, ...end }) {
    const sources = sourcesOf(end);
    this.text = text;
    this.sources = sources;
    this.grounding = grounding;
    if (html !== undefined) morph(this.prose, parsed(html));
    enliven(this.prose, this.page.texts);
    drawActivity(this.find(".activity"), this.references, this.page.texts);
    drawSources(this.find(".sources"), sources, grounding, this.page.texts);
    this.find(".ungrounded").hidden = !NOT_FROM_AN_ARTICLE.includes(grounding);
    if (NEAREST.includes(grounding)) this.showNearest();
    this.find(".turn-actions").hidden = !text;
    if (this.id) this.contact?.offer();
  }

  note(text) {
    const note = this.find(".turn-note");
    note.textContent = text ?? "";
    note.hidden = !text;
  }

  // A turn of the conversation's history

  restore(turn) {
    this.id = turn.id;
    this.references = turn.retrieved ?? [];
    if (turn.status === "failed" || turn.status === "interrupted") {
      this.fail({ ...turn, message: turn.error?.message, retryable: turn.error?.retryable ?? true });
    } else this.finish(turn);
    this.press(turn.feedback?.rating);
    if (turn.escalated) this.contact?.done(turn.reference);
  }

  // Two or three nearest articles: plain links, and no sources.
  async showNearest() {
    const shown = new Set(this.sources.filter(isShown).map((source) => source.id));
    let links = this.references.filter((reference) => reference.url && !shown.has(reference.id)).map(titleLink);
    if (!links.length) links = await searchLinks(`${this.page.urls.suggest}?q=${encodeURIComponent(this.question.slice(0, 400))}`);
    const items = links.slice(0, 3).map((link) => {
      const item = document.createElement("li");
      item.append(link);
      return item;
    });
    this.find(".might-help ul").replaceChildren(...items);
    this.find(".might-help").hidden = !items.length;
  }

  // Copy, thumbs and Retry

  connectActions() {
    const form = this.find(".feedback-form");
    const act = {
      copy: () => this.copy(),
      positive: () => { form.hidden = true; this.rate({ rating: "positive" }); },
      negative: () => {
        form.hidden = false;
        form.scrollIntoView({ block: "nearest" });
        this.rate({ rating: "negative" });
      },
    };
    for (const button of this.element.querySelectorAll("[data-action]")) {
      button.addEventListener("click", act[button.dataset.action]);
    }
    form.querySelector("[data-cancel]").addEventListener("click", () => { form.hidden = true; });
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const data = new FormData(form);
      const vote = { rating: "negative", comment: data.get("comment") };
      if (data.has("reason")) vote.reason = data.get("reason");
      if (await this.rate(vote)) form.hidden = true;
    });
    this.find(".failure button").addEventListener("click", () => this.page.retry(this));
  }

  async copy() {
    await copyText(asMarkdown(this.text, this.sources, this.find(".sources-label").textContent));
    this.say(this.page.texts.copied);
  }

  async rate(vote) {
    let saved = false;
    try {
      saved = (await post(`${this.page.urls.answers}${this.id}/feedback/`, vote)).ok;
    } catch {
      // No connection: said below, and the form keeps what was typed.
    }
    if (saved) this.press(vote.rating);
    this.say(saved ? this.page.texts.thanks : this.page.texts.notSaved);
    return saved;
  }

  press(rating) {
    for (const button of this.element.querySelectorAll("[aria-pressed]")) {
      button.setAttribute("aria-pressed", String(button.dataset.action === rating));
    }
  }

  say(text) {
    const done = this.find(".turn-actions .done");
    done.textContent = text;
    clearTimeout(this.silence);
    this.silence = setTimeout(() => { done.textContent = ""; }, 4000);
  }
}

async function searchLinks(address) {
  try {
    const response = await fetch(address);
    if (!response.ok) return [];
    const found = parsed(await response.text()).querySelectorAll("a:not(.suggestion-all)");
    return [...found].map((option) => titleLink({ url: option.getAttribute("href"), title: option.querySelector(".suggestion-title").textContent }));
  } catch {
    return []; // no connection, no suggestions
  }
}
