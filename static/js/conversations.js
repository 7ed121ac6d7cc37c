// The visitor's own conversations, in a drawer: open one, or delete it after a second question.
import { request } from "./http.js";

export class Conversations {
  // `on` has { open(id), deleted(id) }; `urls` { conversations, page }.
  constructor(drawer, button, urls, texts, on) {
    Object.assign(this, { drawer, urls, texts, on });
    this.list = drawer.querySelector("ul");
    this.message = drawer.querySelector("[data-empty]");
    this.nothing = this.message.textContent;
    this.more = drawer.querySelector("[data-more]");
    this.more.addEventListener("click", () => this.show(this.next));
    button.addEventListener("click", () => this.open());
    drawer.addEventListener("click", (event) => {
      if (event.target === drawer || event.target.closest("[data-close]")) drawer.close();
    });
  }

  open() {
    this.list.replaceChildren();
    this.drawer.showModal();
    return this.show(0);
  }

  // The server lists fifty at a time, newest first.
  async show(offset) {
    let message = this.nothing;
    try {
      const response = await request("GET", `${this.urls.conversations}?offset=${offset}`);
      if (response.ok) {
        const { conversations, next } = await response.json();
        this.list.append(...conversations.map((conversation) => this.row(conversation)));
        this.next = next;
      } else message = this.texts.notLoaded;
    } catch {
      message = this.texts.notLoaded;
    }
    this.more.hidden = !this.next;
    this.message.textContent = message;
    this.message.hidden = this.list.children.length > 0;
  }

  row({ id, title, updated_at: updated }) {
    const row = document.getElementById("chat-conversation").content.firstElementChild.cloneNode(true);
    const link = row.querySelector("a");
    const time = row.querySelector("time");
    link.href = `${this.urls.page}?conversation=${id}`;
    link.querySelector("span").textContent = title;
    time.dateTime = updated;
    time.textContent = new Date(updated).toLocaleString(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
    row.toggleAttribute("data-current", id === this.current);
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.drawer.close();
      this.on.open(id);
    });
    row.querySelector("[data-delete]").addEventListener("click", () => this.confirm(row, id));
    return row;
  }

  confirm(row, id) {
    const kept = [...row.children];
    const question = document.getElementById("chat-confirm").content.firstElementChild.cloneNode(true);
    const keep = () => {
      row.replaceChildren(...kept);
      row.querySelector("[data-delete]").focus();
    };
    question.querySelector("[data-no]").addEventListener("click", keep);
    question.querySelector("[data-yes]").addEventListener("click", () => this.delete(row, id, keep));
    row.replaceChildren(question);
    question.querySelector("[data-no]").focus();
  }

  async delete(row, id, keep) {
    let response;
    try {
      response = await request("DELETE", `${this.urls.conversations}${id}/`);
    } catch {
      // No connection: said below.
    }
    if (!response?.ok && response?.status !== 404) {
      keep();
      this.message.textContent = this.texts.notDeleted;
      this.message.hidden = false;
      return;
    }
    const next = row.nextElementSibling ?? row.previousElementSibling;
    row.remove();
    this.message.textContent = this.nothing;
    this.message.hidden = this.list.children.length > 0;
    (next?.querySelector("a") ?? this.drawer.querySelector("[data-close]")).focus();
    this.on.deleted(id);
  }
}
