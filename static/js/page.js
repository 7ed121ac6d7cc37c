// On every page: the colour switch, the suggestions under search boxes, and opened results.
import { watchOpened } from "./opened.js";
import { suggest } from "./suggest.js";

const THEMES = ["auto", "light", "dark"];

function remembered() {
  const theme = document.documentElement.dataset.theme;
  return THEMES.includes(theme) ? theme : "auto";
}

function remember(theme) {
  document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem("theme", theme);
  } catch {
    // Storage is closed to this site: the choice lasts until the page is left.
  }
}

function show(button, theme) {
  button.dataset.theme = theme;
  const label = button.getAttribute(`data-label-${theme}`);
  button.querySelector("span").textContent = label;
  button.title = label;
}

for (const button of document.querySelectorAll(".theme-switch")) {
  show(button, remembered());
  button.addEventListener("click", () => {
    remember(THEMES[(THEMES.indexOf(remembered()) + 1) % THEMES.length]);
    show(button, remembered());
  });
}

for (const form of document.querySelectorAll("form[data-suggest]")) suggest(form);
for (const list of document.querySelectorAll("[data-search]")) {
  watchOpened(list, list.dataset.opened, () => list.dataset.search);
}
