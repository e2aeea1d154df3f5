// A gateway that runs, and whose store is taken from under it: it takes nothing more, says so everywhere, and goes on when the files are
// back. Nothing is acknowledged that a restart would not find.
import { mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient, socketTransport } from "../src/http/index.ts";
import { asJson, commandIn, type Gateway, homeWithPast } from "./support/keryx.ts";

const root = mkdtempSync(join(tmpdir(), "keryx-lost-"));
const { keryx, start } = commandIn(root);
const running: Gateway[] = [];
afterAll(async () => {
	await Promise.all(running.map((gateway) => gateway.stop("SIGKILL")));
	rmSync(root, { recursive: true, force: true });
});

async function gatewayIn(home: string): Promise<Gateway> {
	const gateway = await start(home);
	running.push(gateway);
	return gateway;
}

function send(home: string, text: string) {
	return keryx(["send", "--json", "--no-wait", text], { env: { KERYX_HOME: home } });
}

async function ready(home: string): Promise<{ readonly status: number; readonly answer: unknown }> {
	const transport = socketTransport(join(home, "keryx.sock"));
	const { status, body } = await transport({ method: "GET", path: "/ready", headers: {} });
	const chunks: Uint8Array[] = [];
	for await (const chunk of body) chunks.push(chunk);
	return { status, answer: JSON.parse(Buffer.concat(chunks).toString()) };
}

let home: string;
beforeAll(async () => {
	({ home } = await homeWithPast(join(root, "home")));
});

test("messages are refused while the database is away, health and doctor say why, and it goes on when it is back", async () => {
	const gateway = await gatewayIn(home);
	const client = createClient(socketTransport(join(home, "keryx.sock")));
	expect(await client.health()).toMatchObject({ status: "ok", problem: null });
	expect((await ready(home)).status).toBe(200);
	const db = join(home, "keryx.db");
	renameSync(db, `${db}.away`);
	const refused = await Promise.all(
		Array.from({ length: 12 }, (_, n) =>
			client
				.send({
					text: `${n}`,
					client_message_id: `away ${n}`,
					source: { platform: "local", chat_type: "dm", user_id: "1" },
				})
				.then(
					() => "taken",
					(error: { code: string }) => error.code,
				),
		),
	);
	expect(refused).toEqual(Array(12).fill("store.replaced"));
	const message = `${db} was deleted or moved away while Keryx had it open`;
	await expect.poll(() => gateway.complaints()).toContain(`Keryx cannot accept anything: ${message}`);
	expect(await client.health()).toMatchObject({ status: "failing", problem: message });
	expect(await ready(home)).toMatchObject({
		status: 503,
		answer: { ready: false, store: { writable: false, problem: message } },
	});
	const sent = await send(home, "nobody hears this");
	expect(sent.code).toBe(1);
	expect(asJson(sent)).toMatchObject({ error: { code: "store.replaced", message } });
	const doctor = await keryx(["doctor", "--quick"], { env: { KERYX_HOME: home } });
	expect(doctor.code).toBe(1);
	expect(doctor.stdout).toContain(`it cannot accept messages: ${message}`);

	renameSync(`${db}.away`, db);
	await expect.poll(() => gateway.complaints()).toContain("the store works again");
	expect(asJson(await send(home, "and this is taken"))).toMatchObject({
		inbound: { id: expect.any(Number) },
	});
	expect(await client.health()).toMatchObject({ status: "ok", problem: null });
	const { events } = await client.eventsAfter({ limit: 200 });
	expect(events.filter(({ type }) => type === "store.back")).toMatchObject([
		{ facts: { code: "store.replaced" } },
	]);
	expect(await gateway.stop()).toBe(0);
});

test("of two gateways, the lock deleted in between, the newer one takes messages and the older one names it", async () => {
	const older = await gatewayIn(home);
	const before = createClient(socketTransport(join(home, "keryx.sock")));
	await before.health();
	rmSync(join(home, "keryx.db.owner"));
	const newer = await gatewayIn(home);
	await expect.poll(() => older.complaints()).toContain(` pid ${newer.pid} since `);
	expect(asJson(await send(home, "to the newer one"))).toMatchObject({ inbound: { id: expect.any(Number) } });
	expect(newer.complaints()).not.toContain("takes nothing");
	// The older one goes, and leaves the newer one's socket and name where they are.
	expect(await older.stop()).toBe(0);
	expect(asJson(await send(home, "to the newer one again"))).toMatchObject({
		inbound: { id: expect.any(Number) },
	});
	expect(await newer.stop()).toBe(0);
});
