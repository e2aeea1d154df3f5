// `keryx mcp` alone: Keryx as an MCP server on stdin and stdout. Its starter can read the operator's secret, so is the operator; a
// process that Keryx itself started is not, and decides nothing.
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { homeAt } from "../../../app/home.ts";
import { version } from "../../../app/version.ts";
import { keryxHome } from "../../../config/index.ts";
import { KeryxError } from "../../../errors.ts";
import { socketTransport } from "../../../http/client/index.ts";
import { serverFor } from "../../../mcp/index.ts";
import { asOperator, running } from "../../connect.ts";
import type { CliContext } from "../../context.ts";

/** Until the other side closes stdin. */
export async function serveMcp(context: CliContext): Promise<void> {
	if (!(await running(context)))
		throw new KeryxError("gateway.stopped", "no Keryx runs in this home, so there is nothing to serve", {
			hint: "start one with `keryx`, or `npm start` in a clone, then try again",
		});
	// Without patience: a tool may wait for minutes.
	const transport = socketTransport(homeAt(keryxHome(context.env)).socketPath, asOperator(context));
	const stdio = new StdioServerTransport();
	const ended = new Promise<void>((resolve) => process.stdin.once("close", resolve).once("end", resolve));
	const handle = serveStdio(() => serverFor({ transport }, version()), {
		transport: stdio,
		onerror: ({ message }) => context.stderr.write(`keryx: ${message}\n`),
	});
	await ended;
	await handle.close();
}
