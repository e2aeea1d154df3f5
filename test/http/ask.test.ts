// The typed client: one message and its answer, over a socket and over HTTP, and confirmations as typed calls.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createKeryx, type Keryx } from "../../src/app/index.ts";
import { type Client, createClient, httpTransport, socketTransport } from "../../src/http/index.ts";
import { createScriptedAgent } from "../../src/testing/index.ts";

const home = mkdtempSync(join(tmpdir(), "keryx-ask-"));
let keryx: Keryx;
let clients: Readonly<Record<"socket" | "HTTP", Client>>;
beforeAll(async () => {
	keryx = await createKeryx({
		home,
		config: { http: { port: 0 } },
		agent: createScriptedAgent({
			rules: [
				{ when: "slow", steps: [{ chunks: ["It ", "will ", "rain."], chunkDelayMs: 20 }] },
				{ when: "fail", steps: [{ fail: { kind: "provider_down", detail: "the cable is cut" } }] },
			],
			otherwise: [{ text: "you said {{input}}" }],
		}),
	});
	await keryx.start();
	clients = {
		socket: createClient(socketTransport(join(home, "keryx.sock"))),
		HTTP: createClient(httpTransport(`${keryx.url}/`, { bearer: await token("desk", "admin") })),
	};
});
afterAll(async () => {
	await keryx.close();
	rmSync(home, { recursive: true, force: true });
});
