// Keeps a page true while it is open. What comes is added below what is there, and what is gone
// stays in its place, greyed out: no button ever moves under the pointer.
import { fetchPage, imported } from "./parsing.js";

const PAUSE_MS = 2000;
const news = document.getElementById("news");
let mark = document.body.dataset.mark;

if (location.search.includes("notice=")) {
  const address = new URL(location);
  address.searchParams.delete("notice");
  history.replaceState(null, "", address);
}

function say(words) {
  const line = document.createElement("p");
  line.className = "notice bad";
  line.textContent = words;
  news.replaceChildren(line);
}

const keyed = (root) =>
  new Map([...root.querySelectorAll("[data-key]")].map((item) => [item.dataset.key, item]));

function grey(item) {
  item.classList.add("gone");
  item.querySelectorAll("button, a").forEach((each) => each.remove());
  const left = item.querySelector(".left");
  if (left) left.textContent = "no longer waits";
}

function take(fresh) {
  for (const each of ["nav", ".level", "title"]) {
    const [ours, theirs] = [document.querySelector(each), fresh.querySelector(each)];
    if (ours && theirs && !ours.matches(":focus-within")) ours.replaceWith(imported(theirs));
  }
  if (document.querySelector("main[data-still]")) return;
  const [ours, theirs] = [document.getElementById("live"), fresh.getElementById("live")];
  if (!ours || !theirs) {
    location.reload();
    return;
  }
  const [before, after] = [keyed(ours), keyed(theirs)];
  if (!before.size) {
    ours.replaceChildren(...[...theirs.childNodes].map(imported));
    return;
  }
  for (const [key, item] of before) {
    if (after.has(key)) replace(item, after.get(key));
    else grey(item);
  }
  for (const [key, item] of after) if (!before.has(key)) add(ours, item);
  for (const title of theirs.querySelectorAll("section > h2"))
    document.getElementById(title.id)?.replaceWith(imported(title));
}

// One that somebody is at, with the pointer or the keyboard, stays as it is for now.
function replace(item, fresh) {
  if (!item.matches(":hover, :focus-within")) item.replaceWith(imported(fresh));
}

function add(ours, item) {
  const section = item.closest("section");
  const place = section && document.getElementById(section.id);
  if (section && !place) ours.append(imported(section));
  else if (!keyed(ours).has(item.dataset.key))
    (place ?? ours).querySelector(".items").append(imported(item));
}

async function look() {
  const answer = await fetch("/pulse", { redirect: "error" });
  if (answer.status === 401) throw new Error("401");
  if (!answer.ok) return;
  const pulse = await answer.json();
  if (pulse.mark !== mark) {
    take(await fetchPage(location.pathname + location.search));
    mark = pulse.mark;
  }
}

async function watch() {
  let silent = false;
  for (;;) {
    await new Promise((done) => setTimeout(done, PAUSE_MS));
    if (document.visibilityState !== "visible") continue;
    try {
      await look();
      if (silent) news.replaceChildren();
      silent = false;
    } catch (error) {
      if (error.message === "401") {
        say("You are not logged in any more. Run toolcrib dashboard again.");
        return;
      }
      say("The dashboard does not answer. Is it still running?");
      silent = true;
    }
  }
}

// Seconds until what an element counts down to, from when it was first seen.
function secondsLeft(element, from) {
  element.dataset.end ??= String(Date.now() + Number(from) * 1000);
  return Math.floor((Number(element.dataset.end) - Date.now()) / 1000);
}

function countDown() {
  for (const item of document.querySelectorAll("[data-left]:not(.gone)")) {
    const left = secondsLeft(item, item.dataset.left);
    if (left < 0) grey(item);
    else
      item.querySelector(".left").textContent =
        `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")} left`;
  }
  const level = document.querySelector("[data-acting]");
  if (level) {
    const left = secondsLeft(level, level.dataset.acting);
    level.textContent = left > 0 ? `You can act for ${Math.max(1, Math.round(left / 60))} min` : "View only";
  }
}

if (document.getElementById("stream")) import("./stream.js");
setInterval(countDown, 1000);
watch();
