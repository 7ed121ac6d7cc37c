// Requests to this site's API. An unsafe one carries the CSRF token, read afresh from its
// cookie each time: signing in in another tab changes it.

export function csrfToken() {
  return document.cookie.match(/(?:^|;\s*)csrftoken=([^;]+)/)?.[1] ?? "";
}

export function request(method, url, { body, headers = {}, ...options } = {}) {
  const token = csrfToken();
  return fetch(url, {
    method,
    headers: {
      Accept: "application/json",
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...(token ? { "X-CSRFToken": token } : {}),
      ...headers,
    },
    body: body === undefined ? undefined : JSON.stringify(body),
    ...options,
  });
}

export const post = (url, body, options) => request("POST", url, { body, ...options });

// The `error` object of a refused request; one made up where a proxy answered instead of us.
export async function errorOf(response) {
  try {
    const { error } = await response.json();
    if (error?.code) return error;
  } catch {
    // Not our JSON.
  }
  return { code: "unavailable", message: "" };
}
