// The chat page: which conversation is open, one turn at a time, and where the reader is in it.
import { Composer } from "./composer.js";
import { Conversations } from "./conversations.js";
import { post, request } from "./http.js";
import { openBeside } from "./panel.js";
import { Refusal, answerEvents } from "./stream.js";
import { citationTips } from "./tip.js";
import { Turn } from "./turn.js";

const byId = (id) => document.getElementById(`chat-${id}`);
const chat = document.getElementById("chat");
const { dataset } = chat;
const texts = JSON.parse(byId("texts").textContent);
const urls = {
  answers: `${dataset.api}answers/`,
  conversations: `${dataset.api}conversations/`,
  page: dataset.page,
  suggest: dataset.suggest,
};
const thread = byId("thread");
const status = byId("status");
const jump = byId("jump");
const page = { texts, urls, retry };

let conversation = null;
let article = dataset.article ?? null;
let running = null; // { turn, stop, abort } of the turn that is under way
let behind = false; // whether another tab has asked something that is not shown here yet
const turns = [];
// Tells the other tabs of this browser in which conversation something was asked.
const tabs = window.BroadcastChannel && new BroadcastChannel("chat");

const composer = new Composer(byId("composer"), Number(dataset.limit), texts, { send: ask, stop });
const conversations = new Conversations(byId("drawer"), byId("list-button"), urls, texts, {
  open: (id) => { location.href = `${urls.page}?conversation=${id}`; },
  deleted: (id) => { if (id === conversation) location.href = urls.page; },
});
openBeside(thread, byId("panel"));
citationTips(thread, citedSource);
for (const button of document.querySelectorAll(".suggested button")) {
  button.addEventListener("click", () => ask(button.textContent));
}
byId("about").querySelector("button").addEventListener("click", () => {
  article = null;
  byId("about").hidden = true;
  composer.box.focus();
});
followReader();
followOtherTabs();
await openFromAddress();

// Turns

function ask(question, { retryOf } = {}) {
  if (running) return;
  const body = { question };
  if (conversation) body.conversation_id = conversation;
  if (article) body.article = article;
  if (retryOf) body.retry_of = retryOf;
  const turn = add(new Turn(question, page));
  turn.showActivity(texts.thinking);
  showFromTop(turn);
  run(turn, { body, key: crypto.randomUUID?.() ?? randomKey() });
}

function retry(turn) {
  if (running) return;
  if (turn.text) turn.find(".failure").hidden = true;
  else remove(turn);
  composer.box.focus({ preventScroll: true });
  ask(turn.question, { retryOf: turn.id });
}

function remove(turn) {
  turns.splice(turns.indexOf(turn), 1);
  turn.element.remove();
}

async function run(turn, send) {
  const abort = new AbortController();
  running = { turn, stopping: false, abort };
  composer.setRunning(true);
  if (send.key) keep("chat-pending", JSON.stringify(send));
  try {
    for await (const event of answerEvents(urls.answers, send, {
      signal: abort.signal, onConnection: (connected) => turn.showConnection(connected),
    })) {
      take(turn, event);
      if (event.type === "started" && send.body) tabs?.postMessage(conversation);
    }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    refused(turn, send, error);
  } finally {
    running = null;
    keep("chat-pending", null);
    composer.setRunning(false);
    showJump();
    catchUp();
  }
}

function take(turn, event) {
  turn.take(event);
  if (event.type === "started") {
    keep("chat-pending", null);
    enter(event.conversation_id);
    if (running.stopping) stop();
  } else if (event.type === "tool") status.textContent = event.label;
  else if (event.type === "done") status.textContent = `${texts.answerReady} ${turn.prose.textContent}`;
  else if (event.type === "error") status.textContent = event.message;
  showJump();
}

// Nothing began: the question goes back to where it was typed.
function refused(turn, send, { code, status: httpStatus, message, retryAfter }) {
  if (!send.body) {
    turn.fail({ message: texts.interrupted, retryable: true });
    return;
  }
  remove(turn);
  turns.at(-1)?.element.classList.add("latest");
  byId("welcome").hidden = turns.length > 0;
  composer.restore(send.body.question);
  if (code === "not_found" && conversation) {
    leave();
    composer.say(texts.conversationGone);
  } else if (code === "rate_limited") {
    composer.block(retryAfter ?? 30, (seconds) => texts.limited.replace("{seconds}", seconds));
  } else if (httpStatus === 403) composer.say(texts.reload);
  else composer.say(message || texts.unavailable);
}

function stop() {
  if (!running) return;
  const { turn } = running;
  running.stopping = true;
  turn.showActivity(texts.stopping);
  if (!turn.id) return; // said to the server as soon as the turn has a name
  post(`${urls.answers}${turn.id}/stop/`, {}).catch(() => {}); // what comes of it, the stream says
}

function add(turn) {
  byId("welcome").hidden = true;
  turns.at(-1)?.element.classList.remove("latest");
  turn.element.classList.add("latest");
  turns.push(turn);
  thread.append(turn.element);
  return turn;
}

function citedSource(link) {
  const turn = turns.find(({ element }) => element.contains(link));
  const source = turn?.sources.find(({ number }) => String(number) === link.textContent.trim());
  return source && { title: source.title, heading: source.passages?.[0]?.heading };
}

// Conversations

async function openFromAddress() {
  const id = new URLSearchParams(location.search).get("conversation");
  if (id) await load(id);
  const pending = kept("chat-pending");
  if (pending) resend(JSON.parse(pending));
  else composer.box.focus({ preventScroll: true });
}

async function load(id) {
  let stored;
  try {
    const response = await request("GET", `${urls.conversations}${id}/`);
    if (!response.ok) {
      leave();
      composer.say(response.status === 404 ? texts.conversationGone : texts.notLoaded);
      return;
    }
    stored = await response.json();
  } catch {
    composer.say(texts.notLoaded);
    return;
  }
  enter(stored.id);
  show(stored);
  returnToPlace(id);
}

// Those turns that are not shown yet.
function show(stored) {
  const shown = new Set(turns.map((turn) => turn.id));
  for (const past of stored.turns.filter(isWorthShowing)) {
    if (shown.has(past.id)) continue;
    const turn = add(new Turn(past.question, page));
    turn.id = past.id;
    if (past.status !== "running") turn.restore(past);
    else {
      turn.showActivity(texts.thinking);
      run(turn, { answerId: past.id });
    }
  }
}

// What was asked in another tab is shown as soon as somebody looks at this one.
function followOtherTabs() {
  tabs?.addEventListener("message", ({ data }) => {
    if (data !== conversation) return;
    behind = true;
    catchUp();
  });
  document.addEventListener("visibilitychange", catchUp);
  // A page that comes back from the browser's own store has heard nothing meanwhile.
  addEventListener("pageshow", ({ persisted }) => {
    behind ||= persisted;
    catchUp();
  });
}

async function catchUp() {
  if (!behind || running || document.hidden || !conversation) return;
  behind = false;
  const asked = conversation;
  try {
    const response = await request("GET", `${urls.conversations}${asked}/`);
    const stored = response.ok && await response.json();
    if (running) behind = true;
    else if (stored && conversation === asked) show(stored);
    showJump();
  } catch {
    behind = true; // no connection: when somebody looks again
  }
}

// A turn that failed without a word and was then asked again says nothing.
function isWorthShowing({ status: state, text, question }, at, all) {
  const failed = state === "failed" || state === "interrupted";
  return !(failed && !text && all[at + 1]?.question === question);
}

// The page was reloaded before the server had answered: the same send goes on under its key.
function resend(send) {
  if (running || (send.body.conversation_id ?? null) !== conversation) return;
  const turn = add(new Turn(send.body.question, page));
  turn.showActivity(texts.thinking);
  showFromTop(turn);
  run(turn, send);
}

function enter(id) {
  conversation = conversations.current = id;
  article = null;
  byId("about").hidden = true;
  history.replaceState(null, "", `${urls.page}?conversation=${id}`);
}

function leave() {
  conversation = conversations.current = null;
  history.replaceState(null, "", urls.page);
}

// Scrolling: a new turn comes to the top once; after that the reader alone moves the page.

function showFromTop(turn) {
  const header = document.querySelector(".site-header").offsetHeight;
  // The first turn stands at the top already.
  const room = turns.length > 1 ? innerHeight - header - composer.form.offsetHeight - 48 : 0;
  thread.style.setProperty("--turn-room", `${Math.max(0, room)}px`);
  if (turns.length > 1) turn.element.scrollIntoView({ block: "start" });
}

function followReader() {
  history.scrollRestoration = "manual";
  addEventListener("scroll", showJump, { passive: true });
  addEventListener("pagehide", () => { if (conversation) keep(`chat-place-${conversation}`, String(scrollY)); });
  jump.addEventListener("click", () => {
    scrollTo({ top: endOfThread() - composer.form.getBoundingClientRect().top + 16 });
    composer.box.focus({ preventScroll: true });
  });
}

function returnToPlace(id) {
  const place = kept(`chat-place-${id}`);
  if (place !== null) scrollTo({ top: Number(place) });
  else turns.at(-1)?.element.scrollIntoView({ block: "start" });
  showJump();
}

// Where the last line of the last answer is, in the page: the room kept below it is no content.
function endOfThread() {
  const last = turns.at(-1)?.find(".answer");
  return last ? last.getBoundingClientRect().bottom + scrollY : 0;
}

function showJump() {
  const visible = composer.form.getBoundingClientRect().top + scrollY;
  jump.hidden = endOfThread() <= visible + 8;
}

// Storage of this tab; closed to this site, it forgets.

function keep(key, value) {
  try {
    if (value === null) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, value);
  } catch {
    // Nothing is kept.
  }
}

function kept(key) {
  try {
    return sessionStorage.getItem(key);
  } catch {
    return null;
  }
}

function randomKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
