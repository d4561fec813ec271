// An OpenID Connect provider on loopback, for tests: `node provider.mjs MODULE PORT FOLDER`.
// FOLDER has `jwks.json`, its private keys, and `groups.json`, the groups of each account and
// client; that one is read for each token. It says "ready" when it listens.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [module, port, folder] = process.argv.slice(2);
const { default: Provider } = await import(pathToFileURL(module).href);
const read = (name) => JSON.parse(readFileSync(join(folder, name), "utf8"));
const issuer = `http://127.0.0.1:${port}`;

const provider = new Provider(issuer, {
  jwks: read("jwks.json"),
  cookies: { keys: ["only for tests"] },
  clients: ["robot", "stranger"].map((id) => ({
    client_id: id,
    client_secret: "a secret of tests",
    grant_types: ["client_credentials"],
    redirect_uris: [],
    response_types: [],
  })),
  scopes: ["openid", "offline_access", "tools"],
  findAccount: (_, id) => ({ accountId: id, claims: async () => ({ sub: id }) }),
  extraTokenClaims: (_, token) => ({ groups: read("groups.json")[token.accountId ?? token.clientId] ?? [] }),
  ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, ClientCredentials: 600 },
  features: {
    devInteractions: { enabled: true },
    registration: { enabled: true },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => undefined,
      useGrantedResource: () => true,
      getResourceServerInfo: (_, resource) => ({
        scope: "tools",
        audience: resource,
        accessTokenFormat: "jwt",
        jwt: { sign: { alg: "RS256" } },
      }),
    },
  },
});
provider.listen(Number(port), "127.0.0.1", () => console.log("ready"));
