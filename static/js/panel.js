// On wide screens an article that an answer names opens beside the chat, at its anchor.
// Everywhere else, and when anything is in the way, the link is followed as usual.

const WIDE = matchMedia("(min-width: 68rem)");
// No heading's anchor has this sign, so none is the name of something in the chat.
const IN_PANEL = "~panel-";
const PLAIN = (event) => event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);

export function openBeside(thread, panel) {
  const body = panel.querySelector(".panel-body");
  let opener = null;

  async function open(event) {
    const link = event.target.closest("a[href]");
    if (!link || !WIDE.matches || !PLAIN(event) || !isArticle(link)) return;
    event.preventDefault();
    const article = await fetched(link.href);
    if (!article) {
      location.href = link.href;
      return;
    }
    if (thread.contains(link)) opener = link;
    keepingPlace(opener, () => { panel.hidden = false; });
    panel.querySelector("[data-open]").href = link.href;
    body.replaceChildren(document.adoptNode(article));
    arrive(body, link.hash);
    body.focus({ preventScroll: true });
  }

  function close() {
    keepingPlace(opener, () => { panel.hidden = true; });
    body.replaceChildren();
    opener?.focus({ preventScroll: true });
  }

  thread.addEventListener("click", open);
  body.addEventListener("click", open);
  panel.querySelector("[data-close]").addEventListener("click", close);
  panel.addEventListener("keydown", (event) => { if (event.key === "Escape") close(); });
}

// The column gets another width and its lines break anew; what was clicked stays where it is.
function keepingPlace(element, change) {
  const before = element?.getBoundingClientRect().top;
  change();
  if (element) scrollBy(0, element.getBoundingClientRect().top - before);
}

function isArticle(link) {
  return link.origin === location.origin && link.pathname.startsWith("/articles/");
}

async function fetched(address) {
  try {
    const response = await fetch(address, { headers: { Accept: "text/html" } });
    if (!response.ok) return null;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const article = page.querySelector("[data-article]");
    article?.querySelector(".contents")?.remove();
    for (const element of article?.querySelectorAll("[id]") ?? []) element.id = `${IN_PANEL}${element.id}`;
    for (const link of article?.querySelectorAll("a[href^='#']") ?? []) {
      link.setAttribute("href", `#${IN_PANEL}${link.hash.slice(1)}`);
    }
    return article;
  } catch {
    return null;
  }
}

function arrive(body, hash) {
  body.scrollTop = 0;
  const target = hash && body.querySelector(`[id="${CSS.escape(IN_PANEL + decodeURIComponent(hash.slice(1)))}"]`);
  if (!target) return;
  target.scrollIntoView({ block: "start" });
  target.classList.add("arrived");
  setTimeout(() => target.classList.remove("arrived"), 2000);
}
