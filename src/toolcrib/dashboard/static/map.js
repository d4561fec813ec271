// Draws the map of tools on a canvas. Names and facts are text, never markup. Without a pointer the
// list of tools has the same.
const canvas = document.getElementById("map");
const state = document.getElementById("map-state");
const panel = document.getElementById("map-tool");
const legend = document.getElementById("map-sources");
const context = canvas.getContext("2d");
const EDGE = 14;
const REACH = 12;
const MOST_NAMED = 24;
const AGAIN_MS = 1000;
let map = null;
let chosen = -1;
let pointed = -1;
let only = -1;

const dark = matchMedia("(prefers-color-scheme: dark)");
const turns = (source) => (source * 137.5) % 360;
const colour = (source) => `hsl(${turns(source)} ${dark.matches ? "60% 65%" : "65% 40%"})`;

// Shows the map as soon as it is there, and again when lint has looked at all tools.
async function follow() {
  for (;;) {
    const answer = await fetch("/map-data", { redirect: "error" });
    if (!answer.ok) throw new Error(String(answer.status));
    const data = await answer.json();
    state.textContent = data.state;
    if (data.ready) show(data);
    if (data.whole) return;
    await new Promise((done) => setTimeout(done, AGAIN_MS));
  }
}

function show(data) {
  const first = map === null;
  map = data;
  if (!map.dots.length) return;
  if (first) listen();
  nameSources();
  draw();
}

const across = (dot) => EDGE + (dot[0] / map.units) * (canvas.clientWidth - 2 * EDGE);
const down = (dot) => EDGE + (dot[1] / map.units) * (canvas.clientHeight - 2 * EDGE);

function draw() {
  const scale = devicePixelRatio || 1;
  canvas.width = canvas.clientWidth * scale;
  canvas.height = canvas.clientHeight * scale;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
  const size = map.dots.length > 4000 ? 2 : 3.5;
  map.dots.forEach((dot, at) => drawDot(dot, size, only >= 0 && dot[2] !== only && at !== chosen));
  for (const at of [chosen, pointed]) if (at >= 0) drawName(at, size);
}

function drawDot(dot, size, faint) {
  context.globalAlpha = faint ? 0.12 : 0.85;
  context.fillStyle = colour(dot[2]);
  circle(dot, size);
  context.fill();
  if (dot[3]) {
    context.strokeStyle = ink();
    context.lineWidth = 1;
    circle(dot, size + 1.5);
    context.stroke();
  }
  context.globalAlpha = 1;
}

function circle(dot, radius) {
  context.beginPath();
  context.arc(across(dot), down(dot), radius, 0, 7);
}

const ink = () => getComputedStyle(canvas).color;

function drawName(at, size) {
  const dot = map.dots[at];
  context.strokeStyle = ink();
  context.lineWidth = 2;
  circle(dot, size + 4);
  context.stroke();
  context.font = "13px system-ui, sans-serif";
  const width = context.measureText(map.names[at]).width;
  const left = Math.max(4, Math.min(across(dot) + 10, canvas.clientWidth - width - 8));
  const above = down(dot) < 30 ? 24 : -12;
  context.fillStyle = getComputedStyle(canvas).backgroundColor;
  context.fillRect(left - 4, down(dot) + above - 13, width + 8, 18);
  context.fillStyle = ink();
  context.fillText(map.names[at], left, down(dot) + above);
}

function nearest(event) {
  const box = canvas.getBoundingClientRect();
  const [x, y] = [event.clientX - box.left, event.clientY - box.top];
  let best = -1;
  let distance = REACH ** 2;
  map.dots.forEach((dot, at) => {
    const near = (across(dot) - x) ** 2 + (down(dot) - y) ** 2;
    if (near <= distance) [best, distance] = [at, near];
  });
  return best;
}

function made(tag, words, name) {
  const element = document.createElement(tag);
  if (words !== undefined) element.textContent = words;
  if (name) element.className = name;
  return element;
}

// Only our own pages are linked to.
function link(tool) {
  const element = made("a", tool.name);
  if (tool.address.startsWith("/tool?")) element.href = tool.address;
  return element;
}

function listed(title, tools) {
  if (!tools.length) return [];
  const list = made("ol", undefined, "near-plain");
  for (const each of tools) {
    const item = made("li");
    item.append(link(each), made("small", ` ${each.source}, ${each.cosine}`));
    list.append(item);
  }
  return [made("h3", title), list];
}

async function choose(at) {
  chosen = at;
  draw();
  const answer = await fetch(`/map-tool?at=${at}`, { redirect: "error" });
  if (!answer.ok || chosen !== at) return;
  const tool = await answer.json();
  if (!tool.name) return;
  const title = made("h2");
  title.append(link(tool));
  panel.replaceChildren(
    title,
    made("p", tool.facts.join(" · "), "facts"),
    ...tool.findings.map((words) => made("p", words, "flags")),
    ...listed("May be confused with", tool.confused),
    ...listed("Nearest in meaning", tool.nearest),
  );
}

// The largest sources by name: a button shows one of them alone.
function nameSources() {
  const counts = map.sources.map(() => 0);
  for (const dot of map.dots) counts[dot[2]] += 1;
  const largest = [...counts.keys()].sort((a, b) => counts[b] - counts[a]).slice(0, MOST_NAMED);
  legend.replaceChildren(...largest.map((source) => sourceButton(source, counts[source])));
}

function sourceButton(source, count) {
  const item = made("li");
  const button = made("button", `${map.sources[source]} ${count}`, "linked");
  const mark = made("canvas", undefined, "swatch");
  mark.width = mark.height = 10;
  mark.setAttribute("aria-hidden", "true");
  const paint = mark.getContext("2d");
  paint.fillStyle = colour(source);
  paint.fillRect(0, 0, 10, 10);
  button.type = "button";
  button.setAttribute("aria-pressed", String(source === only));
  button.addEventListener("click", () => {
    only = only === source ? -1 : source;
    for (const each of legend.querySelectorAll("button")) each.setAttribute("aria-pressed", "false");
    button.setAttribute("aria-pressed", String(only === source));
    draw();
  });
  item.append(mark, button);
  return item;
}

function listen() {
  new ResizeObserver(draw).observe(canvas);
  dark.addEventListener("change", () => show(map));
  canvas.addEventListener("pointermove", (event) => {
    const at = nearest(event);
    if (at === pointed) return;
    pointed = at;
    canvas.classList.toggle("over", at >= 0);
    draw();
  });
  canvas.addEventListener("click", (event) => {
    const at = nearest(event);
    if (at >= 0) choose(at);
  });
}

follow().catch(() => {
  state.textContent = "The map could not be loaded. Is the dashboard still running?";
});
