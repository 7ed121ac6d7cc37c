// Search as you type: a combobox (ARIA 1.2) over options that the server renders.
// Without it the form searches by itself.
import { watchOpened } from "./opened.js";

const PAUSE = 150; // milliseconds of no typing before the server is asked

export function suggest(form) {
  const input = form.querySelector("input[type=search]");
  const list = document.createElement("div");
  const status = document.createElement("p");
  list.className = "suggestions";
  list.id = `${input.id}-suggestions`;
  list.hidden = true;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", form.querySelector("label").textContent);
  status.className = "visually-hidden";
  status.setAttribute("role", "status");
  form.append(list, status);
  for (const [name, value] of Object.entries({
    role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": list.id,
  })) input.setAttribute(name, value);

  let timer, request, token = "", active = -1, asked = input.value.trim();
  const options = () => [...list.querySelectorAll("[role=option]")];

  function close() {
    clearTimeout(timer);
    request?.abort();
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    activate(-1);
  }

  function activate(index) {
    active = index;
    options().forEach((option, at) => option.setAttribute("aria-selected", String(at === index)));
    const option = options()[index];
    if (option) {
      input.setAttribute("aria-activedescendant", option.id);
      option.scrollIntoView({ block: "nearest" });
    } else input.removeAttribute("aria-activedescendant");
  }

  function show(html) {
    list.innerHTML = html; // our own server's fragment, escaped there
    options().forEach((option, at) => { option.id = `${list.id}-${at}`; });
    activate(-1);
    const found = options().length;
    list.hidden = !found;
    input.setAttribute("aria-expanded", String(Boolean(found)));
    // Other options lead to searches.
    const articles = list.querySelectorAll("[data-article]").length;
    const meant = list.querySelector("[role=option]:not([data-article])")?.textContent ?? "";
    status.textContent = articles ? countText(articles) : `${form.dataset.none} ${meant}`;
  }

  function countText(count) {
    return (count === 1 ? form.dataset.one : form.dataset.many).replace("{count}", count);
  }

  async function ask() {
    request?.abort();
    const query = input.value.trim();
    asked = query;
    if (!query) return close();
    const own = request = new AbortController();
    try {
      const response = await fetch(`${form.dataset.suggest}?q=${encodeURIComponent(query)}`, { signal: own.signal });
      const html = response.ok ? await response.text() : "";
      if (own === request && !own.signal.aborted && document.activeElement === input) {
        token = response.headers.get("Search-Token") ?? "";
        show(html);
      }
    } catch (error) {
      if (error.name !== "AbortError") close(); // no connection: the form still searches
    }
  }

  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(ask, PAUSE);
  });
  input.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const count = options().length;
    if (event.key === "Escape" && !list.hidden) {
      event.preventDefault();
      close();
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && count) {
      event.preventDefault();
      if (list.hidden) {
        list.hidden = false;
        input.setAttribute("aria-expanded", "true");
      }
      const step = event.key === "ArrowDown" ? 1 : -1;
      activate(active + step >= count ? -1 : active + step < -1 ? count - 1 : active + step);
    } else if (event.key === "Enter" && !list.hidden && active >= 0) {
      event.preventDefault();
      options()[active].click();
    }
  });
  input.addEventListener("focus", () => {
    if (input.value.trim() && input.value.trim() === asked && options().length) {
      list.hidden = false;
      input.setAttribute("aria-expanded", "true");
    }
  });
  watchOpened(list, form.dataset.opened, () => token);
  list.addEventListener("mousedown", (event) => event.preventDefault()); // keep the focus in the box
  form.addEventListener("focusout", (event) => {
    if (!form.contains(event.relatedTarget)) close();
  });
  form.addEventListener("submit", close);
}
