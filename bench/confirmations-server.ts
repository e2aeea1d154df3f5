// One of the two servers that are compared, in a process of its own: `keryx` or `bare`. Prints its port.
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createAdaptorServer } from "@hono/node-server";
import Database from "better-sqlite3";
import { Hono } from "hono";
import { configSchema } from "../src/config/schema.ts";
import { confirmationSettings, createConfirmations } from "../src/confirmations/index.ts";
import { systemClock } from "../src/gateway/index.ts";
import { createApi, serveOnPort } from "../src/http/index.ts";
import { NO_SECRETS, openStore, systemIds } from "../src/store/index.ts";

const [which, folder = "", secret = ""] = process.argv.slice(2);
process.stdout.write(`${which === "keryx" ? await keryx() : await bare()}\n`);

/** Everything that Keryx does: authentication, digest, rate limits, audit, events, one commit for what arrives together. */
async function keryx(): Promise<number> {
	const store = await openStore({
		url: `sqlite:${join(folder, "keryx.db")}`,
		clock: systemClock,
		ids: systemIds(systemClock),
		secrets: NO_SECRETS,
		auditKey: randomBytes(32),
	});
	const values = configSchema.parse({ confirmations: { rate_limit: 100_000, global_limit: 1_000_000 } });
	const confirmations = createConfirmations({
		store,
		clock: systemClock,
		settings: () => confirmationSettings(values, {}),
	});
	confirmations.start();
	const api = createApi({
		store,
		gateway: null,
		confirmations,
		operatorSecret: secret,
		ratePerMinute: 1_000_000,
		version: "bench",
		agent: "none",
		startedAt: Date.now(),
		now: Date.now,
	});
	return (await serveOnPort(api, { host: "127.0.0.1", port: 0 })).port;
}

/** The least that could be called durable: one insert, one update, one select, each on the disk before it is answered. */
async function bare(): Promise<number> {
	const db = new Database(join(folder, "bare.db"));
	db.pragma("journal_mode = WAL");
	db.pragma("synchronous = FULL");
	db.exec(
		"CREATE TABLE confirmations (id TEXT PRIMARY KEY, status TEXT NOT NULL, body TEXT NOT NULL, by_whom TEXT)",
	);
	const insert = db.prepare("INSERT INTO confirmations (id, status, body) VALUES (?, 'pending', ?)");
	const update = db.prepare(
		"UPDATE confirmations SET status = 'approved', by_whom = ? WHERE id = ? AND status = 'pending'",
	);
	const select = db.prepare("SELECT id, status, body FROM confirmations WHERE id = ?");
	const app = new Hono();
	app.post("/confirm", async (c) => {
		const id = randomBytes(6).toString("hex");
		insert.run(id, JSON.stringify(await c.req.json()));
		return c.json({ id, status: "pending" }, 202);
	});
	app.post("/confirm/:id/approve", async (c) => {
		const { changes } = update.run(
			((await c.req.json()) as { approver: string }).approver,
			c.req.param("id"),
		);
		return c.json({ status: "approved" }, changes === 1 ? 200 : 409);
	});
	app.get("/confirm/:id", (c) => c.json(select.get(c.req.param("id")) as object));
	const server = createAdaptorServer({ createServer, fetch: app.fetch });
	await new Promise<void>((resolve) => {
		server.listen(0, "127.0.0.1", () => resolve());
	});
	return (server.address() as AddressInfo).port;
}
