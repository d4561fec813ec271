// An app in JavaScript, with nothing but Node (22 or newer; 20 and 21 with --experimental-websocket).
// It registers one tool, serves calls and comes back when Toolcrib restarts.
// The protocol: docs/protocol/apps.md.
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const file = process.env.TOOLCRIB_APPS_FILE ??
  join(process.env.XDG_STATE_HOME ?? join(homedir(), ".local", "state"), "toolcrib", "apps", "apps.json");

const tools = {
  count_words: {
    description: "Count the words of a text",
    inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    annotations: { readOnlyHint: true },
    async run({ text }, progress) {
      if (typeof text !== "string") throw Object.assign(new Error("text is a string"), { code: -32602 });
      progress(1, 1, "counted");
      return text.split(/\s+/).filter(Boolean).length;
    },
  },
};

function visit({ port, token }) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`);
  const send = (message) => socket.readyState === 1 && socket.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
  const cancelled = new Set();
  let ids = 0;
  const ask = (method, params) => send({ id: ++ids, method, params });

  async function call(id, { name, arguments: given }) {
    const progress = (done, total, message) => send({ method: "progress", params: { id, done, total, message } });
    try {
      if (!tools[name]) throw Object.assign(new Error(`no tool ${name}`), { code: -32601 });
      const content = await tools[name].run(given, progress);
      send(cancelled.has(id) ? { id, error: { code: -32800, message: "cancelled" } } : { id, result: { content } });
    } catch (error) {
      send({ id, error: { code: error.code ?? -32000, message: String(error.message ?? error) } });
    }
    cancelled.delete(id);
  }

  socket.onopen = () => {
    const launch = [process.execPath, ...process.execArgv, process.argv[1]];
    ask("hello", { token, name: "words", version: "1", launch });
    ask("register", { tools: Object.entries(tools).map(([name, { run, ...tool }]) => ({ name, ...tool })) });
  };
  socket.onmessage = ({ data }) => {
    const { id, method, params, error } = JSON.parse(data);
    if (method === "call") call(id, params);
    else if (method === "cancel") cancelled.add(params.id);
    else if (error) console.error(error.message);
  };
  socket.onerror = () => {}; // `close` follows
  socket.onclose = () => setTimeout(connect, 500);
}

function connect() {
  try {
    visit(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    setTimeout(connect, 500); // nobody lets apps join yet
  }
}

connect();
