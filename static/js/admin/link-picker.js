// The dialog that finds what to link to: a combobox over articles and their headings.

const PAUSE = 200; // milliseconds of no typing before the server is asked

export function linkPicker(editor, choose) {
  const dialog = editor.querySelector("dialog");
  const query = dialog.querySelector("[data-query]");
  const list = dialog.querySelector("[role=listbox]");
  const status = dialog.querySelector("[data-found-text]");
  let timer, request, active = -1, chosen = null; // the address that arrows went to
  const options = () => [...list.children];

  function activate(index) {
    active = index;
    options().forEach((option, at) => option.setAttribute("aria-selected", String(at === index)));
    const option = options()[index];
    if (!option) return query.removeAttribute("aria-activedescendant");
    query.setAttribute("aria-activedescendant", option.id);
    option.scrollIntoView({ block: "nearest" });
  }

  function add(label, detail, url, title, nested) {
    const option = document.createElement("li");
    option.id = `${list.id}-${list.children.length}`;
    option.dataset.url = url;
    option.setAttribute("role", "option");
    option.className = nested ? "editor-target editor-target-heading" : "editor-target";
    option.textContent = label;
    if (detail) {
      const small = document.createElement("span");
      small.className = "quiet";
      small.textContent = detail;
      option.append(" ", small);
    }
    option.addEventListener("click", () => take(url, title));
    list.append(option);
  }

  function take(url, title) {
    dialog.close();
    choose(url, title);
  }

  function show(targets) {
    list.textContent = "";
    const typed = query.value.trim();
    if (/^(https?:\/\/|mailto:|tel:|\/|#)\S+$/i.test(typed)) {
      add(editor.dataset.external.replace("{address}", typed), "", typed, typed, false);
    }
    for (const target of targets) {
      add(target.heading || target.title, target.heading ? "" : target.status, target.url,
        target.heading || target.title, Boolean(target.heading));
    }
    const count = options().length;
    status.textContent = count ? editor.dataset.found.replace("{count}", count) : editor.dataset.nothingFound;
    // Results that arrive late do not take away what was chosen meanwhile.
    const kept = options().findIndex((option) => option.dataset.url === chosen);
    activate(kept >= 0 ? kept : count ? 0 : -1);
  }

  async function ask() {
    request?.abort();
    const own = request = new AbortController();
    try {
      const address = `${editor.dataset.linksUrl}?q=${encodeURIComponent(query.value.trim())}`;
      const response = await fetch(address, { signal: own.signal });
      if (response.redirected) status.textContent = editor.dataset.signedOut;
      else show(response.ok ? (await response.json()).targets : []);
    } catch (error) {
      if (error.name !== "AbortError") show([]);
    }
  }

  query.addEventListener("input", () => {
    chosen = null;
    clearTimeout(timer);
    timer = setTimeout(ask, PAUSE);
  });
  query.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const count = options().length;
    if ((event.key === "ArrowDown" || event.key === "ArrowUp") && count) {
      event.preventDefault();
      activate((active + (event.key === "ArrowDown" ? 1 : -1) + count) % count);
      chosen = options()[active].dataset.url;
    } else if (event.key === "Enter") {
      event.preventDefault(); // not the article's form
      options()[active]?.click();
    }
  });
  dialog.querySelector("[data-close]").addEventListener("click", () => dialog.close());

  return () => {
    query.value = "";
    chosen = null;
    dialog.showModal();
    query.focus(); // the dialog would give it to its first button
    ask();
  };
}
