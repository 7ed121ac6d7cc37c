// Draws the overview's charts from the same numbers that its table shows. Colours are those
// of the admin's theme, and are read again when the theme changes.
const data = JSON.parse(document.getElementById("overview-charts").textContent);
const drawn = [];

const COLOURS = {
  grounded: "#2b8a57", listing: "#5aa9a3", uncited: "#d9a21b", no_hits: "#cf5b3b", rejected: "#a8433f",
  unsearched: "#b06ab3", smalltalk: "#8c96a3", out_of_scope: "#6f7f95", unclear: "#a9b4c0", unavailable: "#4a4f57",
  positive: "#2b8a57", negative: "#cf5b3b",
};

draw();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
new MutationObserver(draw).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });

function draw() {
  while (drawn.length) drawn.pop().destroy();
  const style = getComputedStyle(document.documentElement);
  const theme = { text: style.getPropertyValue("--body-quiet-color").trim(), line: style.getPropertyValue("--hairline-color").trim(), accent: style.getPropertyValue("--link-fg").trim() };
  add("groundings", "bar", data.groundings.map((one) => bars(one)), theme, { stacked: true });
  add("ratings", "bar", data.ratings.map((one) => bars(one)), theme, { stacked: true });
  add("share", "line", [line(data.share, theme.accent)], theme, { max: 100 });
  if (document.querySelector('[data-chart="costs"]')) add("costs", "bar", [{ label: data.costs.label, data: data.costs.values, backgroundColor: theme.accent, maxBarThickness: 28 }], theme, { precision: null });
  if (document.querySelector('[data-chart="topics"]')) addTopics(data.topics, theme);
  add("waits", "line", [line(data.waits[0], theme.accent), line(data.waits[1], COLOURS.no_hits, [5, 4])], theme, {});
}

function bars({ key, label, values }) {
  return { label, data: values, backgroundColor: COLOURS[key], maxBarThickness: 28 };
}

function line({ label, values }, colour, dash = []) {
  return { label, data: values, borderColor: colour, backgroundColor: colour, borderDash: dash, borderWidth: 2, pointRadius: values.length > 45 ? 0 : 2, tension: 0, spanGaps: true, clip: 6 };
}

// Lying bars, a pair for each topic: its names are long.
function addTopics({ labels, now, before }, theme) {
  const pair = [[now, theme.accent], [before, COLOURS.unclear]];
  const datasets = pair.map(([one, colour]) => ({ label: one.label, data: one.values, backgroundColor: colour, maxBarThickness: 14 }));
  add("topics", "bar", datasets, theme, { labels, indexAxis: "y" });
}

function add(name, type, datasets, theme, { stacked = false, max, precision = type === "bar" ? 0 : undefined, labels = data.labels, indexAxis = "x" }) {
  const canvas = document.querySelector(`[data-chart="${name}"]`);
  const axis = { stacked, border: { color: theme.line }, ticks: { color: theme.text, maxRotation: 0 }, grid: { color: theme.line } };
  drawn.push(new window.Chart(canvas, {
    type,
    data: { labels, datasets },
    options: {
      animation: false,
      maintainAspectRatio: false,
      interaction: { mode: "index", intersect: false },
      plugins: { legend: { display: datasets.length > 1, position: "bottom", labels: { color: theme.text, boxWidth: type === "bar" ? 12 : 24, boxHeight: 12, usePointStyle: type !== "bar", pointStyle: "line" } } },
      indexAxis,
      scales: indexAxis === "x" ? { x: named(axis), y: counted(axis, max, precision) } : { x: counted(axis, max, precision), y: named(axis, labels.length) },
    },
  }));
}

function named(axis, most = 10) {
  return { ...axis, grid: { display: false }, ticks: { ...axis.ticks, autoSkip: true, maxTicksLimit: most } };
}

function counted(axis, max, precision) {
  return { ...axis, beginAtZero: true, max, ticks: { ...axis.ticks, precision } };
}
