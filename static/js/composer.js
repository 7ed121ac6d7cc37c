// The box for the question: grows to six lines, Enter sends, Shift+Enter is a new line, and an
// input method's own Enter only ends its composition. What is typed survives a reload.

const DRAFT = "chat-draft";

export class Composer {
  // `on` has { send(question), stop() }.
  constructor(form, limit, texts, on) {
    this.form = form;
    this.texts = texts;
    this.limit = limit;
    this.on = on;
    this.box = form.querySelector("textarea");
    this.button = form.querySelector(".send");
    this.alert = form.querySelector("[role=alert]");
    this.footnote = form.querySelector("[data-note]");
    this.usual = this.footnote.textContent;
    this.running = false;
    this.box.addEventListener("input", () => this.refresh());
    this.box.addEventListener("keydown", (event) => this.onKey(event));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    // The button sends, and then it stops: a double click is meant to send.
    this.button.addEventListener("click", (event) => {
      if (event.detail > 1) event.preventDefault();
    });
    const given = new URLSearchParams(location.search).get("question");
    this.write(this.box.value || given || read(DRAFT) || ""); // what was typed while this loaded wins
  }

  onKey(event) {
    const composing = event.isComposing || event.keyCode === 229;
    if (event.key !== "Enter" || event.shiftKey || composing) return;
    event.preventDefault();
    if (!this.running) this.submit();
  }

  submit() {
    if (this.running) this.on.stop();
    else if (this.isSendable()) {
      const question = this.box.value;
      this.write("");
      this.say("");
      this.on.send(question);
    }
  }

  write(text) {
    this.box.value = text;
    this.refresh();
  }

  // Gives back what could not be sent, above whatever was typed since.
  restore(question) {
    this.write([question, this.box.value].filter((text) => text.trim()).join("\n"));
    this.box.focus();
  }

  setRunning(running) {
    this.running = running;
    this.form.classList.toggle("running", running);
    this.refresh();
  }

  isSendable() {
    return this.box.value.trim() !== "" && this.length() <= this.limit && !this.blocked;
  }

  length() {
    return [...this.box.value].length;
  }

  refresh() {
    this.box.style.height = "auto";
    this.box.style.height = `${this.box.scrollHeight}px`;
    const { send, stop } = this.button.dataset;
    this.button.setAttribute("aria-label", this.running ? stop : send);
    this.button.setAttribute("aria-disabled", String(!this.running && !this.isSendable()));
    const length = this.length();
    const near = length > this.limit * 0.9;
    this.footnote.textContent = near ? this.texts.length.replace("{count}", length).replace("{limit}", this.limit) : this.usual;
    store(DRAFT, this.box.value);
  }

  say(message) {
    this.alert.textContent = message;
    this.alert.hidden = !message;
  }

  // Nothing can be sent for so many seconds; `message(seconds)` says why.
  block(seconds, message) {
    clearInterval(this.blocked);
    const until = Date.now() + seconds * 1000;
    const tick = () => {
      const left = Math.ceil((until - Date.now()) / 1000);
      if (left > 0) return this.say(message(left));
      clearInterval(this.blocked);
      this.blocked = 0;
      this.say("");
      this.refresh();
    };
    this.blocked = setInterval(tick, 1000);
    tick();
    this.refresh();
  }
}

function read(key) {
  try {
    return sessionStorage.getItem(key);
  } catch {
    return null;
  }
}

function store(key, value) {
  try {
    sessionStorage.setItem(key, value);
  } catch {
    // Storage is closed to this site: the draft lasts as long as the page.
  }
}
