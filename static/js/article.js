// The article page: contents that follow the scroll, code to copy, "was this helpful?".
import { post } from "./http.js";
import { enliven } from "./prose.js";

const prose = document.querySelector("[data-article] .prose");
enliven(prose, { copy: prose.dataset.copy, copied: prose.dataset.copied });

followScroll(document.querySelector(".contents"));
offerVote(document.querySelector("[data-feedback]"));
offerWayBack(document.querySelector("[data-back-to-chat]"));

function followScroll(contents) {
  if (!contents) return;
  const narrow = matchMedia("(max-width: 61.99rem)");
  const details = contents.querySelector("details");
  const fold = () => {
    details.open = !narrow.matches;
    details.dataset.foldable = "";
  };
  narrow.addEventListener("change", fold);
  fold();

  const links = [...contents.querySelectorAll("a")];
  const headings = links.map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))));
  function mark() {
    const line = innerHeight * 0.25;
    let current = headings.findLastIndex((heading) => heading && heading.getBoundingClientRect().top <= line);
    if (innerHeight + scrollY >= document.documentElement.scrollHeight - 2 && scrollY > 0) {
      current = headings.findLastIndex((heading) => heading && heading.getBoundingClientRect().top < innerHeight);
    }
    links.forEach((link, at) => {
      if (at === current) link.setAttribute("aria-current", "location");
      else link.removeAttribute("aria-current");
    });
  }
  let waiting = false;
  addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; mark(); });
  }, { passive: true });
  mark();
}

function offerVote(section) {
  const [choices, why] = section.querySelectorAll("form");
  const status = section.querySelector("[data-status]");
  async function send(vote) {
    let saved = false;
    try {
      saved = (await post(section.dataset.feedback, vote)).ok;
    } catch {
      // No connection: said below, and what was typed stays.
    }
    status.textContent = saved ? status.dataset.thanks : status.dataset.failed;
    return saved;
  }
  choices.addEventListener("submit", async (event) => {
    event.preventDefault();
    const rating = event.submitter.value;
    const pressed = event.submitter.getAttribute("aria-pressed") === "true";
    if (!pressed && !(await send({ rating }))) return;
    for (const button of choices.querySelectorAll("button[name=rating]")) {
      button.setAttribute("aria-pressed", String(button.value === rating));
    }
    why.hidden = rating !== "negative";
  });
  why.addEventListener("submit", async (event) => {
    event.preventDefault();
    const form = new FormData(why);
    const vote = { rating: "negative", reason: form.get("reason") ?? "", comment: form.get("comment") };
    if (!(await send(vote))) return;
    why.hidden = true;
    status.tabIndex = -1;
    status.focus();
  });
}

// Opened from an answer: one step back is the same place in the conversation.
function offerWayBack(button) {
  const chat = document.querySelector("[data-chat]")?.href;
  if (!chat || !document.referrer.startsWith(chat) || history.length < 2) return;
  button.hidden = false;
  button.addEventListener("click", () => history.back());
}
