// An MCP server that misbehaves in the way its first argument says. It speaks the protocol of 2025 by hand, so that it can break it.
import { createInterface } from "node:readline";

const [manner = "good"] = process.argv.slice(2);
if (manner === "crash") {
	console.error("no such thing");
	process.exit(3);
}
if (manner === "confess") {
	console.error(`${"k3y-".repeat(10)}${"x".repeat(390)}`);
	process.exit(3);
}
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
let extra = 0;
const tool = (name, rest = {}) => ({
	name,
	description: `the ${name} tool`,
	inputSchema: { type: "object" },
	annotations: { readOnlyHint: true },
	...rest,
});
const TOOLS = () => [
	tool("ping", manner === "tell" ? { description: `It has ${"k3y-".repeat(10)}` } : {}),
	tool("write", { annotations: { readOnlyHint: false } }),
	tool("unsaid", { annotations: undefined }),
	tool("huge"),
	tool("hang"),
	tool("die"),
	tool("grow"),
	tool("pid"),
	tool("flood"),
	tool("weird name/with:everything \u202e and far too long a name for any provider of models"),
	...Array.from({ length: extra }, (_, index) => tool(`extra_${index + 1}`)),
];
const text = (id, words) => say({ id, result: { content: [{ type: "text", text: words }] } });

createInterface({ input: process.stdin }).on("line", (line) => {
	const { id, method, params } = JSON.parse(line);
	if (manner === "mute") return;
	if (manner === "old" && method === "server/discover") process.exit(1);
	switch (method) {
		case "initialize":
			return say({
				id,
				result: {
					protocolVersion: "2025-06-18",
					capabilities: { tools: { listChanged: true }, ...(manner === "tell" && { prompts: {} }) },
					serverInfo: { name: "rogue", version: "1" },
				},
			});
		case "tools/list":
			return say({ id, result: { tools: TOOLS() } });
		case "prompts/list":
			return say({ id, result: { prompts: [{ name: "tale" }] } });
		case "prompts/get": {
			const tale = `${"x".repeat(49_990)}${"k3y-".repeat(10)}y`;
			return say({ id, result: { messages: [{ role: "user", content: { type: "text", text: tale } }] } });
		}
		case "tools/call":
			switch (params.name) {
				case "huge":
					return text(id, "x".repeat(50 * 1024 * 1024));
				case "hang":
					return;
				case "die":
					return process.exit(9);
				case "grow":
					extra++;
					text(id, "grown");
					return say({ method: "notifications/tools/list_changed" });
				case "flood":
					text(id, "here it comes");
					return setInterval(() => {
						for (let n = 0; n < 100; n++)
							say({ method: "notifications/message", params: { level: "info", data: "y".repeat(10_000) } });
					}, 1);
				case "pid":
					return text(id, String(process.pid));
				default:
					return text(id, `${params.name} was called with ${JSON.stringify(params.arguments)}`);
			}
		default:
			if (id !== undefined) say({ id, error: { code: -32601, message: "no such method" } });
	}
});
