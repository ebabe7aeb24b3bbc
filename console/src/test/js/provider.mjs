// An identity provider for tests: `node provider.mjs PORT REDIRECT SECRET`. It says `ready` once it listens, and ends with
// its standard input. Who they are is what they call themselves; any password is right.
import Provider from "oidc-provider";

const [port, redirect, secret] = process.argv.slice(2);
const people = {
  anna: { email: "anna@example.com", email_verified: true, groups: ["all", "auditors"] },
  bert: { email: "bert@example.com", email_verified: true, groups: ["all"] },
  carl: { email: "anna@example.com", email_verified: false, groups: ["auditors"] },
};
const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [{ client_id: "blackbox", client_secret: secret, redirect_uris: [redirect], response_types: ["code"], grant_types: ["authorization_code"] }],
  claims: { openid: ["sub"], email: ["email", "email_verified"], groups: ["groups"] },
  scopes: ["openid", "email", "groups"],
  pkce: { required: () => true },
  findAccount: (_, id) => people[id] && { accountId: id, claims: () => ({ sub: id, ...people[id] }) },
});
provider.listen(Number(port), "127.0.0.1", () => console.log("ready"));
process.stdin.on("end", () => process.exit()).resume();
