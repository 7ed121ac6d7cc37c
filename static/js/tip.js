// The title and heading behind a citation's number, on hover and on focus; Escape hides it.

// `describe(link)` gives { title, heading }, or nothing for what is no citation.
export function citationTips(area, describe) {
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.id = "chat-tip";
  tip.setAttribute("role", "tooltip");
  tip.hidden = true;
  document.body.append(tip);
  let described = null;

  function show(event) {
    const link = event.target.closest?.(".citation");
    const about = link && describe(link);
    if (!about) return;
    hide();
    described = link;
    link.removeAttribute("title"); // the browser's own hint would cover this one
    const title = document.createElement("strong");
    title.textContent = about.title;
    title.dir = "auto";
    const heading = document.createElement("span");
    heading.textContent = about.heading ?? "";
    heading.dir = "auto";
    tip.replaceChildren(title, heading);
    tip.hidden = false;
    link.setAttribute("aria-describedby", tip.id);
    place(tip, link.getBoundingClientRect());
  }

  function hide() {
    described?.removeAttribute("aria-describedby");
    described = null;
    tip.hidden = true;
  }

  for (const type of ["pointerover", "focusin"]) area.addEventListener(type, show);
  for (const type of ["pointerout", "focusout"]) area.addEventListener(type, hide);
  addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
}

function place(tip, { left, top, bottom }) {
  const x = Math.max(16, Math.min(left - 16, document.documentElement.clientWidth - tip.offsetWidth - 16));
  const above = top - tip.offsetHeight - 8;
  tip.style.left = `${x + scrollX}px`;
  tip.style.top = `${(above > 64 ? above : bottom + 8) + scrollY}px`;
}
