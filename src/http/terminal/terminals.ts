// Opens a terminal in a browser: who may, on which process, and how many. The rest is in terminal.ts.
import { upgradeWebSocket } from "@hono/node-server";
import { createRoute, z } from "@hono/zod-openapi";
import type { WebSocket } from "ws";
import { isAtLeast } from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import { isWidened, processesOf } from "../agent/processes.ts";
import type { ApiHost } from "../call.ts";
import type { Visitor } from "../entry/auth.ts";
import { isPerson } from "../entry/people.ts";
import { scopeOf } from "../entry/scope.ts";
import type { App } from "../environment.ts";
import { error } from "../schemas.ts";
import { Audiences } from "./audience.ts";
import { serveTerminal } from "./terminal.ts";

/** Open at once. Each has a connection to the process host, and a window of output. */
const MOST = 64;
const PATH = /^\/api\/processes\/[^/?]+\/terminal(?:\?|$)/;

/** Of a request as it came: nothing else is ever upgraded. */
export function isTerminal(url: string | undefined): boolean {
	return PATH.test(url ?? "");
}

export function addTerminals(app: App, host: ApiHost, closing: AbortSignal): void {
	const audiences = new Audiences();
	let open = 0;
	const query = z.object({
		from: z.coerce.number().int().min(0).optional().openapi({
			description:
				"a position in the output to continue from; left out: what the screen shows, or the end of the output, then new output",
		}),
	});
	const route = createRoute({
		operationId: "terminal",
		method: "get",
		path: "/api/processes/{id}/terminal",
		summary: "a WebSocket: binary frames of output, JSON frames for everything else (docs/reference/api.md)",
		request: { params: z.object({ id: z.string().min(1).max(64) }), query },
		responses: {
			101: { description: "the terminal is open" },
			default: { description: "what is wrong", content: { "application/json": { schema: error } } },
		},
	});
	app.openapi(route, async (c) => {
		if (c.req.header("upgrade")?.toLowerCase() !== "websocket")
			throw new KeryxError("http.upgrade", "a terminal is a WebSocket");
		const processes = processesOf(host);
		const visitor = c.get("visitor") as Visitor;
		const process = await processes.find(scopeOf(visitor), c.req.valid("param").id);
		if (open >= MOST) throw new KeryxError("http.rate", `${MOST} terminals are already open`);
		const { from = null } = c.req.valid("query");
		// What it prints is shown as it is, and may hold secrets of the role it was started with.
		const mayWatch =
			visitor.role === "operator" || (isPerson(visitor) && isAtLeast(visitor.role, process.role ?? "owner"));
		const upgrade = upgradeWebSocket(() => ({
			onOpen: (_event, { raw }) => {
				open++;
				const terminal = serveTerminal({
					socket: raw as WebSocket,
					processes,
					process,
					from,
					audiences,
					mayWatch,
					// Each time: walls may have become narrower.
					mayType: async () => !(await isWidened(process, { host, visitor })),
					refused: (what) =>
						host.confirmations.refused(
							visitor,
							`${what} ${process.id} in a terminal`,
							`its role is ${visitor.role}`,
						),
					revoked: visitor.stay,
					closing,
				});
				void terminal.finally(() => open--);
			},
		}));
		return (await upgrade(c as never, async () => {})) as never;
	});
}
