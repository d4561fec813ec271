// HTML of ours, parsed and never run: scripts in it stay text. The one policy of all scripts.
const policy = globalThis.trustedTypes?.createPolicy("toolcrib", { createHTML: (text) => text });

export const parsed = (text) =>
  new DOMParser().parseFromString(policy ? policy.createHTML(text) : text, "text/html");

export const imported = (node) => document.importNode(node, true);

export async function fetchPage(address) {
  const answer = await fetch(address, { redirect: "error" });
  if (!answer.ok) throw new Error(String(answer.status));
  return parsed(await answer.text());
}
