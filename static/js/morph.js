// Makes an element's content equal to another's and touches only what differs, so that what
// is already on the page keeps its place, its selection and the focus.

export function morph(target, source) {
  const wanted = [...source.childNodes];
  wanted.forEach((node, at) => {
    const present = target.childNodes[at];
    if (!present) target.append(node);
    else if (present.isEqualNode(node)) return;
    else if (present.nodeType === Node.TEXT_NODE && node.nodeType === Node.TEXT_NODE) retype(present, node.data);
    else if (present.nodeType === Node.ELEMENT_NODE && present.nodeName === node.nodeName) {
      copyAttributes(present, node);
      morph(present, node);
    } else present.replaceWith(node);
  });
  while (target.childNodes.length > wanted.length) target.lastChild.remove();
}

// The server's sanitised HTML, parsed but not yet on the page.
export function parsed(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
}

function retype(node, text) {
  if (text.startsWith(node.data)) node.appendData(text.slice(node.data.length));
  else node.data = text;
}

function copyAttributes(target, source) {
  for (const { name } of [...target.attributes]) if (!source.hasAttribute(name)) target.removeAttribute(name);
  for (const { name, value } of source.attributes) if (target.getAttribute(name) !== value) target.setAttribute(name, value);
}
