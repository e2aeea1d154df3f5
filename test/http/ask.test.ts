// The typed client: one message and its answer, over a socket and over HTTP, and confirmations as typed calls.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
	apiTransport,
	type Client,
	createClient,
	httpTransport,
	type Served as Listening,
	type ServedOnPort,
	serveOnPort,
	serveOnSocket,
	socketTransport,
} from "../../src/http/index.ts";
import { SECRET, type Served, serve } from "./support.ts";

const folder = mkdtempSync(join(tmpdir(), "keryx-ask-"));
const SOCKET = join(folder, "keryx.sock");
let served: Served;
let operator: Client;
let port: ServedOnPort;
let socket: Listening;
const clients = new Map<string, Client>();

beforeAll(async () => {
	served = await serve({
		rules: [
			{ when: "rain", steps: [{ chunks: ["It ", "will ", "rain."] }] },
			{ when: "fail", steps: [{ fail: { kind: "provider_down", detail: "the cable is cut" } }] },
		],
		otherwise: [{ text: "you said {{input}}" }],
	});
	socket = await serveOnSocket(served.api, SOCKET);
	port = await serveOnPort(served.api, { host: "127.0.0.1", port: 0 });
	operator = createClient(apiTransport(served.api, { bearer: SECRET }));
	const tokenOf = async (name: string) => (await operator.createToken({ name, role: "operator" })).token;
	const address = `http://127.0.0.1:${port.port}/`;
	clients.set("the socket", createClient(socketTransport(SOCKET, { bearer: await tokenOf("desk") })));
	clients.set("HTTP", createClient(httpTransport(address, { bearer: await tokenOf("phone") })));
});
afterAll(async () => {
	await Promise.all([port.close(), socket.close()]);
	await served.close();
	rmSync(folder, { recursive: true, force: true });
});

describe.each(["the socket", "HTTP"])("over %s", (way) => {
	const client = (): Client => clients.get(way) as Client;

	test("a message is sent once and answered", async () => {
		const input = { text: "hello", chat: way, id: `once over ${way}` };
		const [first, again] = [await client().ask(input), await client().ask(input)];
		expect(again.id).toBe(first.id);
		expect(await first.answer()).toMatchObject({ text: "you said hello", notices: [] });
		expect(await again.answer()).toMatchObject({ text: "you said hello" });
	});

	test("an answer can be read while it is written, and is the same as the whole", async () => {
		const asking = await client().ask({ text: "rain?", chat: way });
		const pieces: string[] = [];
		for await (const piece of asking) pieces.push(piece);
		expect(pieces.join("")).toBe("It will rain.");
		expect((await asking.answer()).text).toBe("It will rain.");
	});

	test("one that is read after its end comes as a whole, and so does a command's", async () => {
		for (const text of ["rain?", "/whoami"]) {
			const asking = await client().ask({ text, chat: way });
			const { text: whole } = await asking.answer();
			const pieces: string[] = [];
			for await (const piece of asking) pieces.push(piece);
			expect(pieces.join("")).toBe(whole);
			expect(whole).not.toBe("");
		}
	});

	test("one that fails says why", async () => {
		const asking = await client().ask({ text: "fail", chat: way });
		await expect(asking.answer()).rejects.toMatchObject({ code: "message.unanswered" });
	});

	test("a program asks, waits for the decision and uses it once", async () => {
		const { confirmations } = client();
		const { id, digest, status } = await confirmations.request({
			action: "drop_table",
			description: "drop the old table",
			details: { table: "orders_2019" },
		});
		expect(status).toBe("pending");
		const decided = confirmations.decided(id);
		await operator.confirmations.approve(id, { reason: "after the backup" });
		expect(await decided).toMatchObject({ status: "approved", reason: "after the backup" });
		expect(await confirmations.consume(id, digest)).toMatchObject({ status: "consumed" });
		await expect(confirmations.consume(id, digest)).rejects.toMatchObject({ code: "confirmation.settled" });
		expect((await confirmations.list({ status: "consumed" })).confirmations[0]?.id).toBe(id);
	});
});

test("another token than one that Keryx gave is refused", async () => {
	const stranger = createClient(httpTransport(`http://127.0.0.1:${port.port}`, { bearer: "kx_unknown" }));
	await expect(stranger.ask({ text: "hello" })).rejects.toMatchObject({ code: "http.unauthenticated" });
});
