// While the questions of a topic are asked again: looks now and then whether that is done, and then
// puts the new standing in place of the old. What is typed into the form stays.
const FIRST = 3_000;
const LONGEST = 20_000;
const MOST_FAILURES = 6;

const waiting = document.querySelector("[data-check]");
let pause = FIRST;
let failures = 0;

if (waiting) later();

function later() {
  setTimeout(look, pause);
  pause = Math.min(pause * 1.25, LONGEST);
}

async function look() {
  if (document.hidden) {
    document.addEventListener("visibilitychange", look, { once: true });
    return;
  }
  try {
    const { pending } = await read(waiting.dataset.check, "json");
    if (!pending) await show();
    else later();
    failures = 0;
  } catch {
    failures += 1;
    if (failures < MOST_FAILURES) later();
    else waiting.textContent = waiting.dataset.failed;
  }
}

async function read(address, kind) {
  const response = await fetch(address, { headers: { Accept: "*/*" }, redirect: "error", cache: "no-store" });
  if (!response.ok) throw new Error(response.status);
  return response[kind]();
}

async function show() {
  const page = new DOMParser().parseFromString(await read(location.pathname, "text"), "text/html");
  const said = page.querySelector("#gap-check + p");
  for (const part of ["gap-standing", "gap-steps-section"]) {
    const [old, fresh] = [document, page].map((one) => one.getElementById(part));
    const hadFocus = old.contains(document.activeElement);
    old.replaceWith(document.adoptNode(fresh));
    if (hadFocus) document.getElementById("gap-check")?.focus();
  }
  document.getElementById("gap-check-said").textContent = said?.textContent.trim() ?? "";
}
