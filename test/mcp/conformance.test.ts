// The official conformance program against /mcp. It shows no token of its own, so that a relay adds one. Those of its scenarios that
// call the tools of its own sample server say nothing of Keryx.
import { createServer, request, type Server } from "node:http";
import { afterAll, beforeAll, test } from "vitest";
import { type ServedOnPort, serveOnPort } from "../../src/http/index.ts";
import { mcpEndpoint } from "../../src/mcp/index.ts";
import { SECRET, type Served, serve } from "../http/support.ts";
import { expectConforming } from "./conformance.ts";

const SCENARIOS = ["server-initialize", "ping", "tools-list", "resources-list", "dns-rebinding-protection"];

let served: Served;
let port: ServedOnPort;
let relay: Server;

beforeAll(async () => {
	served = await serve(undefined, undefined, undefined, async () => ({ mcp: mcpEndpoint("0.0.0") }));
	port = await serveOnPort(served.api, { host: "127.0.0.1", port: 0 });
	relay = createServer((incoming, outgoing) => {
		// As the caller named it, but for the port, which is the relay's.
		const host = (incoming.headers.host ?? "").replace(/:\d+$/, `:${port.port}`);
		const origin = incoming.headers.origin?.replace(/:\d+$/, `:${port.port}`);
		const headers = {
			...incoming.headers,
			host,
			...(origin !== undefined && { origin }),
			authorization: `Bearer ${SECRET}`,
		};
		const { method, url: path } = incoming;
		incoming.pipe(
			request({ host: "127.0.0.1", port: port.port, method, path, headers }, (answer) => {
				outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
				answer.pipe(outgoing);
			}),
		);
	});
	await new Promise<void>((resolve) => relay.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
	relay.closeAllConnections();
	relay.close();
	await port.close();
	await served.close();
});

test.each(SCENARIOS)("%s", (scenario) => expectConforming(relay, scenario));
