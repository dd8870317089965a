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
  events.addEventListener("error", () => {
    // After an answer that is no stream, a browser does not try again.
    if (events.readyState === EventSource.CLOSED) reconnect();
    else warn("✗ kubectl spy serve does not answer; this page may be out of date");
  });
}

/** Follows again in a moment, unless the answer for this page says that it is of no use. */
async function reconnect() {
  const answer = await fetch(location.href, { method: "HEAD" }).catch(() => null);
  switch (answer?.status) {
    case 401:
      warn("✗ your token is no longer valid: load this page again");
      break;
    case 404:
      warn("✗ the object is gone");
      break;
    default:
      warn("✗ this page is not live and may be out of date; it tries again");
      setTimeout(follow, 5000);
  }
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
  const field = document.activeElement;
  if (field instanceof HTMLInputElement) {
    if (event.key === "Escape") field.blur();
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

/** Loads the page of a panel into it when it is opened, and again if that was an error. @param {HTMLDetailsElement} panel */
async function load(panel) {
  const address = panel.dataset.from;
  const content = panel.querySelector(":scope > div");
  if (!address || !content || !panel.open || panel.dataset.loaded) return;
  panel.dataset.loaded = "yes";
  const way = content.firstElementChild;
  /** @param {(Node | string)[]} shown */
  const fill = (...shown) => content.replaceChildren(...(way ? [way] : []), ...shown);
  try {
    const answer = await fetch(address);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const report = page.querySelector(".report") || page.querySelector("main");
    if (!report) throw new Error("the answer is no page");
    for (const link of report.querySelectorAll("a[href^='?']")) link.setAttribute("href", address + link.getAttribute("href"));
    fill(...report.childNodes);
    ready();
    if (!answer.ok) delete panel.dataset.loaded;
  } catch {
    delete panel.dataset.loaded;
    fill("✗ this could not be loaded; close it, and open it again");
  }
}

function panels() {
  for (const panel of document.querySelectorAll("details.panel")) {
    if (!(panel instanceof HTMLDetailsElement)) continue;
    panel.addEventListener("toggle", () => load(panel));
    load(panel);
  }
}

/** A slider shows the object as it was at a time. Moved by the keyboard, it waits for Enter. */
function asOf() {
  const form = document.querySelector("form.asof");
  if (!(form instanceof HTMLFormElement)) return;
  const slider = /** @type {HTMLInputElement} */ (byId("ago"));
  const written = /** @type {HTMLInputElement} */ (byId("at"));
  const show = () => { byId("age").textContent = slider.value === "0" ? "now" : `${age(Number(slider.value))} ago`; };
  const shown = Date.parse(form.dataset.at || "");
  if (!Number.isNaN(shown)) slider.value = String((Date.now() - shown) / 1000);
  const go = () => {
    const time = new Date(Date.now() - 1000 * Number(slider.value)).toISOString().replace(/\.\d+Z$/, "Z");
    location.assign(slider.value === "0" ? form.action : `${form.action}?at=${encodeURIComponent(time)}`);
  };
  show();
  slider.addEventListener("input", show);
  slider.addEventListener("pointerup", go);
  form.addEventListener("submit", (event) => {
    if (written.value) return;
    event.preventDefault();
    go();
  });
}

/** A timeline: to drag over its lanes chooses a shorter time. */
function brush() {
  const lanes = document.querySelector("table.lanes");
  if (!(lanes instanceof HTMLElement)) return;
  const from = Date.parse(lanes.dataset.from || "");
  const to = Date.parse(lanes.dataset.to || "");
  const mark = document.createElement("div");
  mark.className = "brush";
  /** @type {{box: DOMRect, x: number} | null} */
  let drag = null;
  /** @param {DOMRect} box @param {number} x */
  const within = (box, x) => Math.min(box.right, Math.max(box.left, x));
  lanes.addEventListener("pointerdown", (event) => {
    const lane = event.target instanceof Element && event.target.closest(".lane svg");
    if (!lane || event.button !== 0) return;
    event.preventDefault();
    drag = { box: lane.getBoundingClientRect(), x: event.clientX };
    lanes.setPointerCapture(event.pointerId);
  });
  lanes.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const [left, right] = [drag.x, within(drag.box, event.clientX)].sort((one, other) => one - other);
    mark.style.left = `${left - lanes.getBoundingClientRect().left}px`;
    mark.style.width = `${right - left}px`;
    lanes.append(mark);
  });
  lanes.addEventListener("pointerup", (event) => {
    if (!drag) return;
    const { box, x } = drag;
    drag = null;
    mark.remove();
    const [left, right] = [x, within(box, event.clientX)].sort((one, other) => one - other);
    if (right - left < 6) return;
    /** @param {number} at */
    const time = (at) => new Date(from + ((to - from) * (at - box.left)) / box.width).toISOString().replace(/\.\d+Z$/, "Z");
    const query = new URLSearchParams(location.search);
    query.delete("since");
    query.set("from", time(left));
    query.set("to", time(right));
    location.assign(`?${query}`);
  });
}

document.addEventListener("keydown", key);
document.addEventListener("click", copy);
setInterval(ages, 1000);
ready();
follow();
panels();
asOf();
brush();
