// The end of a server: whoever asks again and again on the connection they have, or begins a request and never ends it, does not hold
// it up.
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Served as Listening, serveOnSocket } from "../../src/http/index.ts";
import { SECRET, type Served, serve } from "./support.ts";

let folder: string;
let path: string;
let served: Served;
let socket: Listening;

beforeEach(async () => {
	folder = mkdtempSync(join(tmpdir(), "keryx-closing-"));
	path = join(folder, "keryx.sock");
	served = await serve();
	socket = await serveOnSocket(served.api, path, { graceMs: 500 });
});
afterEach(async () => {
	await served.close();
	rmSync(folder, { recursive: true, force: true });
});

const BEGUN = [
	"POST /api/inbound HTTP/1.1",
	"Host: keryx",
	`Authorization: Bearer ${SECRET}`,
	"Content-Type: application/json",
	"Content-Length: 3",
	"Expect: 100-continue",
	"",
	"{",
].join("\r\n");

/** A connection with a request under way, of which the server has read the beginning. */
async function begun() {
	const client = connect(path);
	client.on("error", () => {}).setEncoding("utf8");
	client.write(BEGUN);
	const [text] = await once(client, "data");
	expect(text).toContain("100 Continue");
	return client;
}

test("a client that asks again on the connection it has, whenever it was answered", async () => {
	const client = await begun();
	let answers = 0;
	client.on("data", (text: string) => {
		if (!text.startsWith("HTTP/1.1")) return;
		answers++;
		client.write("GET /health HTTP/1.1\r\nHost: keryx\r\n\r\n");
	});
	const closed = socket.close();
	client.write("}\n");
	await closed;
	expect(answers).toBeGreaterThan(0);
});

test("a client that never ends its request", async () => {
	const client = await begun();
	const gone = once(client.resume(), "close");
	await socket.close();
	await gone;
});
