// Rendered Markdown comes alive: a copy button on each block of code.

// `labels` has the words for the button: { copy, copied }.
export function enliven(prose, labels) {
  for (const block of prose.querySelectorAll(".code-block[data-copy]:not(:has(.copy-code))")) {
    const button = document.createElement("button");
    button.className = "copy-code";
    button.type = "button";
    button.textContent = labels.copy;
    button.addEventListener("click", () => copyCode(block.querySelector("pre"), button, labels));
    block.append(button);
  }
}

async function copyCode(pre, button, labels) {
  await copyText(pre.textContent);
  button.textContent = labels.copied;
  button.dataset.copied = "";
  setTimeout(() => {
    button.textContent = labels.copy;
    delete button.dataset.copied;
  }, 2000);
}

// The clipboard is closed to pages without TLS; a selection is open to all.
export async function copyText(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  area.setAttribute("readonly", "");
  area.className = "visually-hidden";
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}
