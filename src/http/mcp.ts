// /mcp: authenticates, and passes on the rest. Tools call the API with the same token: no rights originate here.
import type { Context } from "hono";
import type { ApiHost } from "./call.ts";
import type { Rates } from "./entry/guards.ts";
import { type App, type AppEnvironment, originOf } from "./environment.ts";
import { needsToken } from "./errors.ts";

const PATH = "/mcp";
const METADATA = "/.well-known/oauth-protected-resource/mcp";

export function addMcp(
	app: App,
	host: ApiHost,
	rates: Rates,
	ask: (request: Request) => Promise<Response>,
): void {
	const { mcp } = host;
	if (!mcp) return;
	app.get(METADATA, (c) => {
		if (!c.get("visitor")) rates.assertStranger(c);
		return c.json({
			resource: new URL(PATH, originOf(c)).href,
			resource_name: "Keryx",
			bearer_methods_supported: ["header"],
		});
	});
	app.all(PATH, (c) => {
		const visitor = c.get("visitor");
		if (!visitor) rates.assertStranger(c);
		// A browser sends its cookie automatically: a token is needed here.
		if (!visitor || visitor.via === "page") throw needsToken(c.env.entrance.kind);
		const [, bearer] = /^Bearer +(\S+)$/i.exec(c.req.header("authorization") ?? "") ?? [];
		return mcp.fetch(c.req.raw, { ask, bearer });
	});
}

/** What an MCP client gets with a 401: where to find out how to log in. */
export function challenge(c: Context<AppEnvironment>): string {
	return c.req.path === PATH ? `Bearer resource_metadata="${new URL(METADATA, originOf(c)).href}"` : "Bearer";
}
