// A visit by the TypeScript client: it lists the tools, makes each call, and prints what came back.
//
//   node visit.mjs MODULES VISIT
//
// MODULES is the node_modules folder with @modelcontextprotocol/client in it; VISIT is JSON:
// {"era": "2025-11-25" | "2026-07-28", "command": [...], "url": "...", "headers": {...},
//  "env": {...}, "calls": [{"name": "...", "arguments": {...}}]}

import { pathToFileURL } from "node:url";

const [modules, visit] = [process.argv[2], JSON.parse(process.argv[3])];
const load = (file) => import(pathToFileURL(`${modules}/@modelcontextprotocol/client/dist/${file}`));
const { Client, StreamableHTTPClientTransport } = await load("index.mjs");
const { StdioClientTransport } = await load("stdio.mjs");

const [program, ...args] = visit.command;
const transport = visit.url
  ? new StreamableHTTPClientTransport(new URL(visit.url), { requestInit: { headers: visit.headers } })
  : new StdioClientTransport({ command: program, args, env: visit.env, stderr: "ignore" });
const mode = visit.era < "2026" ? "legacy" : { pin: visit.era };
const client = new Client({ name: "toolcrib-test", version: "1" }, { versionNegotiation: { mode } });

await client.connect(transport);
const { tools } = await client.listTools();
const results = [];
for (const call of visit.calls) results.push(await client.callTool(call));
const version = client.getNegotiatedProtocolVersion();
await client.close();
console.log(JSON.stringify({ version, tools: tools.map((tool) => tool.name), results }));
