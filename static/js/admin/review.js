// Keys for working through a review queue: each element says its own in `data-key`.
// Single keys are off until somebody switches them on, and never meant while typing.
const STORED = "review-keys";
const box = document.getElementById("review-keys");
const typing = "input:not([type=radio]):not([type=checkbox]):not([type=submit]), textarea, select, [contenteditable], .select2-container";

if (box) {
  box.parentElement.hidden = false;
  box.checked = read() === "on";
  box.addEventListener("change", () => write(box.checked ? "on" : "off"));
  document.addEventListener("keydown", press);
}

function press(event) {
  const target = event.target;
  if (!box.checked || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
  if (target.closest(typing)) {
    if (event.key === "Escape") target.blur();
    return;
  }
  if (event.key === "Enter" && target.closest("a, button, summary, input[type=submit]")) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const element = [...document.querySelectorAll("[data-key]")].find((one) => one.dataset.key === key);
  if (!element) return;
  event.preventDefault();
  if (element.matches("textarea")) element.focus();
  else element.click();
}

// Storage may be shut: then the choice lasts as long as the page.
function read() {
  try {
    return localStorage.getItem(STORED);
  } catch {
    return null;
  }
}

function write(value) {
  try {
    localStorage.setItem(STORED, value);
  } catch {
    // Nothing to do.
  }
}
