// "Still need help?": hands the conversation to support, with the asker's consent. The server sends
// it once, and says under which number, which no line break may tear apart.
import { post } from "./http.js";

// What a turn may do with it: `offer()` at its end, `done(reference)` where it was sent before.
// Nothing where the site has no address for support.
export function offerContact(turn) {
  const part = turn.find(".still-need");
  if (!part) return null;
  const { texts, urls } = turn.page;
  const button = part.querySelector("button");
  const form = part.querySelector("form");
  const problem = form.querySelector(".turn-note");
  const open = (wanted) => {
    form.hidden = !wanted;
    button.setAttribute("aria-expanded", String(wanted));
  };
  const done = (reference) => {
    open(false);
    button.hidden = true;
    part.querySelector(".escalated").textContent = texts.escalated.replace("{reference}", reference.replace("-", "\u2011"));
  };
  button.addEventListener("click", () => {
    open(form.hidden);
    if (form.hidden) return;
    form.scrollIntoView({ block: "nearest" });
    form.elements.email.focus();
  });
  form.querySelector("[data-cancel]").addEventListener("click", () => { open(false); button.focus(); });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const { email, message, consent } = form.elements;
    const body = { email: email.value, message: message.value, consent: consent.checked };
    const reference = await sent(`${urls.answers}${turn.id}/escalate/`, body);
    problem.hidden = Boolean(reference);
    problem.textContent = reference ? "" : texts.notSent;
    if (reference) done(reference);
  });
  return { offer: () => { part.hidden = false; }, done };
}

async function sent(url, body) {
  try {
    const response = await post(url, body);
    return response.ok ? (await response.json()).reference : null;
  } catch {
    return null; // no connection: what was typed stays
  }
}
