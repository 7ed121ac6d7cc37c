// One answer as a stream of events, over as many connections as it takes. See the protocol
// page of the manual: a send is repeated with its key and never starts a second turn, and an
// answer that has begun is resumed after the last event that came.
import { errorOf, request } from "./http.js";

const SILENCE = 45_000; // milliseconds; the server's heartbeat comes every 15 seconds
const PAUSES = [300, 1000, 2000, 4000, 8000];

// The server said no. `code` and `message` are its own, `retryAfter` is in seconds.
export class Refusal extends Error {
  constructor(status, { code, message }, retryAfter) {
    super(message);
    Object.assign(this, { status, code, retryAfter });
  }
}

// `ask` is { body, key } of a new send, or { answerId } of an answer to go on with.
// `onConnection(false)` is called while the connection is lost. Ends after `done` or `error`.
export async function* answerEvents(url, ask, { signal, onConnection }) {
  let { answerId } = ask;
  let last = 0;
  for (let failures = 0; ; failures += 1) {
    try {
      const response = answerId
        ? await resume(`${url}${answerId}/events/`, last, signal)
        : await send(url, ask, signal);
      for await (const event of serverSentEvents(response.body, signal)) {
        failures = 0;
        onConnection(true);
        if (event.seq <= last) continue;
        last = event.seq;
        if (event.type === "started") answerId = event.answer_id;
        yield event;
        if (event.type === "done" || event.type === "error") return;
      }
    } catch (error) {
      if (signal.aborted) return;
      const temporary = !(error instanceof Refusal) || (answerId && error.status >= 500);
      if (!temporary) throw error;
    }
    onConnection(false);
    await pause(PAUSES[Math.min(failures, PAUSES.length - 1)], signal);
    if (signal.aborted) return;
  }
}

async function send(url, { body, key }, signal) {
  return accepted(await request("POST", `${url}?render=html`, {
    body, signal, headers: { Accept: "text/event-stream", "Idempotency-Key": key },
  }));
}

async function resume(url, after, signal) {
  return accepted(await request("GET", `${url}?render=html&after=${after}`, {
    signal, headers: { Accept: "text/event-stream" },
  }));
}

async function accepted(response) {
  if (response.ok && response.body) return response;
  const seconds = Number.parseInt(response.headers.get("Retry-After"), 10);
  throw new Refusal(response.status, await errorOf(response), Number.isNaN(seconds) ? null : seconds);
}

// The events of an SSE body. Every event of ours is one JSON object in `data`.
async function* serverSentEvents(body, signal) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  try {
    for (;;) {
      const { done, value } = await withinSilence(reader.read());
      if (done || signal.aborted) return;
      buffer += value;
      const blocks = buffer.split(/\r?\n\r?\n/);
      buffer = blocks.pop();
      for (const block of blocks) {
        const data = block.split(/\r?\n/).filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trimStart());
        if (data.length) yield JSON.parse(data.join("\n"));
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

// Gives up on a connection that says nothing any more, or whose network is gone.
function withinSilence(reading) {
  let timer, lose;
  const lost = new Promise((_, reject) => {
    lose = () => reject(new Error("the connection is lost"));
    timer = setTimeout(lose, SILENCE);
    addEventListener("offline", lose);
  });
  return Promise.race([reading, lost]).finally(() => {
    clearTimeout(timer);
    removeEventListener("offline", lose);
  });
}

// Ends early when the browser is online again, or the visitor gave up.
function pause(milliseconds, signal) {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      removeEventListener("online", end);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    addEventListener("online", end);
    signal.addEventListener("abort", end);
  });
}
