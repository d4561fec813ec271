// Live: new rows come on top, some at a time, and old ones go below. A row opens its story.
import { fetchPage, imported, parsed } from "./parsing.js";

const MOST_ROWS = 300;
const place = document.getElementById("stream");
const rows = document.getElementById("rows");
const state = document.getElementById("stream-state");
const pause = document.getElementById("pause");
const drawer = document.getElementById("drawer");
let held = [];
let skipped = 0;

const isPaused = () => pause.getAttribute("aria-pressed") === "true";

function show(fresh) {
  const keepsPlace = scrollY > rows.getBoundingClientRect().top + scrollY;
  const before = document.documentElement.scrollHeight;
  rows.prepend(...fresh.map(imported));
  while (rows.rows.length > MOST_ROWS) rows.rows[rows.rows.length - 1].remove();
  if (keepsPlace) scrollBy(0, document.documentElement.scrollHeight - before);
  place.querySelector(".empty")?.remove();
}

function take(told) {
  const fresh = [...parsed(`<table><tbody>${told.rows}</tbody></table>`).querySelectorAll("tr")];
  skipped += told.skipped;
  if (isPaused()) held = [...fresh, ...held].slice(0, MOST_ROWS);
  else show(fresh);
  say();
}

function say() {
  const waiting = isPaused() && held.length ? `, ${held.length} new` : "";
  const lost = skipped ? `; ${skipped.toLocaleString("en")} came too fast to be shown` : "";
  state.textContent = (isPaused() ? "Paused" : "Live") + waiting + lost;
}

function toggle() {
  const now = !isPaused();
  pause.setAttribute("aria-pressed", String(now));
  pause.textContent = now ? "Go on" : "Pause";
  if (!now) {
    show(held);
    held = [];
    skipped = 0;
  }
  say();
}

function listen() {
  const source = new EventSource(place.dataset.stream);
  source.addEventListener("message", (event) => take(JSON.parse(event.data)));
  source.addEventListener("open", say);
  source.addEventListener("error", () => {
    state.textContent = "Not connected; trying again";
  });
  addEventListener("pagehide", () => source.close());
}

async function open(link) {
  const page = await fetchPage(link.href);
  const story = page.getElementById("story") ?? page.getElementById("main");
  document.getElementById("drawer-content").replaceChildren(imported(story));
  if (!drawer.open) drawer.showModal();
  drawer.scrollTop = 0;
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-drawer]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  open(link).catch(() => location.assign(link.href));
});
drawer.addEventListener("click", (event) => {
  if (event.target === drawer) drawer.close();
});

if (place.dataset.stream) {
  pause.closest("[hidden]").hidden = false;
  pause.addEventListener("click", toggle);
  listen();
}
