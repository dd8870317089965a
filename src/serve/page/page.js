// @ts-check
// The script of the page of `kubectl spy serve`. It replaces rows by the HTML that the server sends, turns times into ages,
// and moves with the keyboard. The server escapes all text of the cluster; nothing here makes HTML of its own.
"use strict";

/** @typedef {{title: string, summary: string, foot: string, link: string, order: string[], rows: Record<string, string>}} View */

/** @param {string} id */
const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** @returns {HTMLElement[]} */
const bodies = () => Array.from(document.querySelectorAll("#rows > tbody"));

/** What the keyboard moves over: the rows of tables, and the versions of an object. @returns {HTMLElement[]} */
const stops = () => Array.from(document.querySelectorAll("#rows > tbody, .rows > tbody, .rows > details"));

/** Turns the times of the page into ages, as kubectl writes them. */
function ages() {
  for (const time of document.querySelectorAll("time[datetime]")) {
    const then = Date.parse(time.getAttribute("datetime") || "");
    if (Number.isNaN(then)) continue;
    time.textContent = age(Math.max(0, Math.floor((Date.now() - then) / 1000)));
    time.setAttribute("title", time.getAttribute("datetime") || "");
  }
}

/** @param {number} seconds */
function age(seconds) {
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  if (seconds < 120) return `${seconds}s`;
  if (minutes < 10) return seconds % 60 ? `${minutes}m${seconds % 60}s` : `${minutes}m`;
  if (minutes < 180) return `${minutes}m`;
  if (hours < 8) return minutes % 60 ? `${hours}h${minutes % 60}m` : `${hours}h`;
  if (hours < 48) return `${hours}h`;
  if (days < 8) return hours % 24 ? `${days}d${hours % 24}h` : `${days}d`;
  if (days < 730) return `${days}d`;
  return `${Math.floor(days / 365)}y`;
}

/** @param {string} html @returns {HTMLElement | null} */
function bodyOf(html) {
  const table = document.createElement("table");
  table.innerHTML = html;
  return table.querySelector("tbody");
}

/** @param {string} id @param {string | undefined} html */
function replace(id, html) {
  const part = byId(id);
  if (html !== undefined && part.dataset.html !== html) {
    part.innerHTML = html;
    part.dataset.html = html;
  }
}

/** Whether the page has had a view since it was loaded. Only then is a row news. */
let follows = false;

/** @param {View} view */
function show(view) {
  document.title = view.title;
  replace("summary", view.summary);
  replace("foot", view.foot);
  replace("link", view.link);
  /** @type {Map<string, HTMLElement>} */
  const known = new Map(bodies().map((body) => [body.dataset.id || "", body]));
  const chosen = document.querySelector("#rows > .chosen");
  const chosenId = chosen instanceof HTMLElement ? chosen.dataset.id : undefined;
  const table = byId("rows");
  /** @type {Element | null} */
  let before = table.querySelector("thead");
  for (const id of view.order) {
    let body = known.get(id) || null;
    const html = view.rows[id];
    if (html !== undefined) {
      const next = bodyOf(html);
      if (next && body) {
        const focused = body.contains(document.activeElement);
        next.classList.toggle("new", follows);
        body.replaceWith(next);
        if (focused) next.querySelector("a")?.focus();
      }
      body = next;
    }
    known.delete(id);
    if (!body) continue;
    if (before?.nextElementSibling !== body) before?.after(body);
    body.classList.toggle("chosen", id === chosenId);
    before = body;
  }
  for (const gone of known.values()) gone.remove();
  follows = true;
  ready();
}

/** Shows the buttons that need this script. */
function ready() {
  for (const button of document.querySelectorAll("button[data-copy]")) button.removeAttribute("hidden");
  ages();
}

function follow() {
  const address = document.body.dataset.live;
  if (!address || !("EventSource" in window)) return;
  const events = new EventSource(address);
  events.addEventListener("view", (event) => show(JSON.parse(event.data)));
  events.addEventListener("gone", () => {
    events.close();
    warn("✗ the object is gone");
  });
  events.addEventListener("error", () => warn("✗ kubectl spy serve does not answer; this page may be out of date"));
}

/** @param {string} text */
function warn(text) {
  const span = document.createElement("span");
  span.className = "lost";
  span.textContent = text;
  const link = byId("link");
  link.replaceChildren(span);
  link.dataset.html = "";
}

/** @param {number} steps */
function move(steps) {
  const all = stops();
  if (all.length === 0) return;
  const at = all.findIndex((body) => body.classList.contains("chosen"));
  const next = at < 0 ? (steps > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + steps));
  for (const body of all) body.classList.remove("chosen");
  all[next].classList.add("chosen");
  all[next].scrollIntoView({ block: "nearest" });
  const link = all[next].querySelector("summary, a");
  if (link instanceof HTMLElement) link.focus({ preventScroll: true });
}

/** @param {KeyboardEvent} event */
function key(event) {
  const search = /** @type {HTMLInputElement} */ (byId("search"));
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (document.activeElement === search) {
    if (event.key === "Escape") search.blur();
    return;
  }
  switch (event.key) {
    case "/":
      event.preventDefault();
      search.focus();
      search.select();
      break;
    case "f": {
      const filter = document.querySelector(".chips a");
      if (filter instanceof HTMLElement) filter.focus();
      break;
    }
    case "j":
      move(1);
      break;
    case "k":
      move(-1);
      break;
    case "Enter": {
      const link = document.querySelector(".chosen td.name a");
      if (link instanceof HTMLAnchorElement && document.activeElement !== link) link.click();
      break;
    }
    case "Escape":
      if (location.pathname !== "/" || location.search) history.length > 1 ? history.back() : location.assign("/");
      break;
  }
}

/** @param {MouseEvent} event */
function copy(event) {
  const button = event.target;
  if (!(button instanceof HTMLButtonElement) || button.dataset.copy === undefined) return;
  navigator.clipboard.writeText(button.dataset.copy).then(
    () => { button.textContent = "Copied"; },
    () => { button.textContent = "Select the text to copy it"; },
  );
}

document.addEventListener("keydown", key);
document.addEventListener("click", copy);
setInterval(ages, 1000);
ready();
follow();
