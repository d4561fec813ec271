// Prints what each given JavaScript module exports by default (or, failing that, all its exports),
// one JSON line a module: translations are often shipped as modules, and only JavaScript reads those.
import { pathToFileURL } from "node:url";
import { readFileSync } from "node:fs";
import vm from "node:vm";

function inBrowser(path) {
  const message = {};
  const context = vm.createContext({ Blockly: { Msg: message }, globalThis: {}, self: {}, window: {} });
  vm.runInContext(readFileSync(path, "utf8"), context, { timeout: 2000 });
  return context.globalThis._VSCODE_NLS_MESSAGES ?? message;
}

async function exported(path) {
  try {
    const module = await import(pathToFileURL(path).href);
    const inner = module.default ?? module;
    const plain = inner?.default ?? inner;
    if (plain && typeof plain === "object" && Object.keys(plain).length) return plain;
  } catch {
    // not a module: perhaps a script for a browser
  }
  return inBrowser(path);
}

const lines = [];
for (const path of process.argv.slice(2)) {
  let value = null;
  try {
    value = await exported(path);
  } catch {
    value = null;
  }
  lines.push(`${JSON.stringify({ path, value })}\n`);
}
process.stdout.write(lines.join(""), () => process.exit(0));
