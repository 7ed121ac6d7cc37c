// Tells the site which result of a search was opened: no person, and no cookie.
import { csrfToken } from "./http.js";

export function watchOpened(list, url, token) {
  function tell(event) {
    const link = event.target.closest("a[data-article]");
    if (!link || !token() || (event.type === "auxclick" && event.button !== 1)) return;
    const { article, position } = link.dataset;
    const csrf = csrfToken();
    // It goes on after the page is left; whether it arrives is nothing the reader waits for.
    fetch(url, {
      method: "POST", keepalive: true, headers: csrf ? { "X-CSRFToken": csrf } : {},
      body: new URLSearchParams({ search: token(), article, position }),
    }).catch(() => {});
  }
  list.addEventListener("click", tell);
  list.addEventListener("auxclick", tell);
}
