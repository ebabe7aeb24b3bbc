// What the client of MCP's own project for TypeScript, which its inspector is built on, gets from a server: on two lines,
// the server's name with its tools, and the answer of `list_runs`.
//
//   node mcp.mjs URL TOKEN
//   node mcp.mjs COMMAND ARGUMENT...
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [target, ...words] = process.argv.slice(2);
const transport = target.startsWith("http")
  ? new StreamableHTTPClientTransport(new URL(target), { requestInit: { headers: { Authorization: `Bearer ${words[0]}` } } })
  : new StdioClientTransport({ command: target, args: words, stderr: "inherit" });
// It asks for the protocol's latest version first, and takes an older one if the server has none other.
const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "auto" } });
await client.connect(transport);
try {
  const { tools } = await client.listTools();
  console.log(JSON.stringify({ server: client.getServerVersion().name, tools: tools.map(({ name }) => name) }));
  console.log(JSON.stringify(await client.callTool({ name: "list_runs", arguments: { limit: 1 } })));
} finally {
  await client.close();
}
