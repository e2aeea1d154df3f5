// One of the two servers that are compared, in a process of its own: `keryx` or `bare`. Sends its port, and Keryx a link that logs a
// browser in. Keryx says something when told to, and tells when that was committed; or it tells what it has used.
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createAdaptorServer } from "@hono/node-server";
import Database from "better-sqlite3";
import { Hono } from "hono";
import { limitHeap } from "../src/app/heap.ts";
import { createLocalChannel } from "../src/channels/local/index.ts";
import { configSchema } from "../src/config/schema.ts";
import { confirmationSettings, createConfirmations } from "../src/confirmations/index.ts";
import { createGateway, type Gateway, systemClock } from "../src/gateway/index.ts";
import { createApi, serveOnPort } from "../src/http/index.ts";
import { NO_SECRETS, openStore, type Store, systemIds } from "../src/store/index.ts";
import { createScriptedAgent } from "../src/testing/index.ts";
import { createTools } from "../src/tools/index.ts";

const PAGE = fileURLToPath(new URL("../dist/web", import.meta.url));

const [which, folder = "", secret = ""] = process.argv.slice(2);
// As the command does for a gateway: what that costs is to be seen here.
if (which === "keryx") limitHeap();
process.send?.(which === "keryx" ? await keryx() : { port: await bare() });

/** Everything that Keryx does, with an agent that answers at once. */
async function keryx(): Promise<{ readonly port: number; readonly login: string }> {
	const store = await openStore({
		url: `sqlite:${join(folder, "keryx.db")}`,
		clock: systemClock,
		ids: systemIds(systemClock),
		secrets: NO_SECRETS,
		auditKey: new Uint8Array(32),
	});
	const config = configSchema.parse({
		session_reset: { mode: "none", timezone: "UTC" },
		gateway: { max_turns: 64, batch_ms: 0 },
	});
	const confirmations = createConfirmations({
		store,
		clock: systemClock,
		settings: () => confirmationSettings(config, {}),
	});
	const gateway = createGateway({
		store,
		agent: createScriptedAgent({ script: { otherwise: [{ text: "Noted." }] }, clock: systemClock }),
		tools: createTools([]),
		channels: [createLocalChannel("api_server", systemClock.now)],
		confirmations,
		config,
		clock: systemClock,
		pseudonymKey: new Uint8Array(32),
	});
	await gateway.start();
	const api = createApi({
		store,
		gateway,
		confirmations,
		operatorSecret: secret,
		ratePerMinute: 100_000_000,
		version: "bench",
		agent: "scripted",
		startedAt: Date.now(),
		now: Date.now,
		...(existsSync(PAGE) && { page: PAGE }),
	});
	process.on("message", ({ say }: { say?: string }) => {
		if (say !== undefined) return void speak(store, gateway, say);
		const { user, system } = process.cpuUsage();
		process.send?.({ cpu: user + system, rss: process.memoryUsage.rss() } satisfies Usage);
	});
	const { port } = await serveOnPort(api, { host: "127.0.0.1", port: 0 });
	return { port, login: `http://127.0.0.1:${port}${api.loginPath()}` };
}

/** What the process, with all its threads, has used so far: microseconds, and bytes. */
export interface Usage {
	readonly cpu: number;
	readonly rss: number;
}

async function speak(store: Store, gateway: Gateway, text: string): Promise<void> {
	let committed: bigint | undefined;
	let at: number | undefined;
	const unlisten = store.onCommit(() => {
		committed ??= process.hrtime.bigint();
		at ??= performance.timeOrigin + performance.now();
	});
	const { id, conversation } = await gateway.accept({
		source: { platform: "api_server", chat_id: "aloud", chat_type: "dm", user_id: "aloud" },
		platformMessage: text,
		content: text,
	});
	unlisten();
	process.send?.({ said: id, conversation, committed: String(committed), at });
}

/** The least that answers the same: one SELECT on the same rows, and one INSERT that is on the disk before it is answered. */
async function bare(): Promise<number> {
	const list = new Database(join(folder, "copy.db"), { readonly: true }).prepare<[], Row>(
		`SELECT c.id, c.key, c.platform, c.profile, c.chat_type, c.principal, c.shared, c.created_at, c.last_activity_at, c.source_body,
			c.preview_body, s.id AS live_session FROM conversations c
		LEFT JOIN sessions s ON s.conversation = c.id AND s.ended_at IS NULL
		ORDER BY c.last_activity_at DESC, c.id DESC LIMIT 51`,
	);
	const db = new Database(join(folder, "bare.db"));
	db.pragma("journal_mode = WAL");
	db.pragma("synchronous = FULL");
	db.exec("CREATE TABLE inbox (id INTEGER PRIMARY KEY, message TEXT NOT NULL UNIQUE, body TEXT NOT NULL)");
	const insert = db.prepare("INSERT INTO inbox (message, body) VALUES (?, ?)");
	const app = new Hono();
	app.get("/api/conversations", (c) => {
		const rows = list.all();
		return c.json({ conversations: rows.slice(0, 50).map(shown), next: rows[49]?.id ?? null });
	});
	app.post("/api/inbound", async (c) => {
		const body = (await c.req.json()) as { client_message_id: string };
		const { lastInsertRowid } = insert.run(body.client_message_id, JSON.stringify(body));
		return c.json({ id: Number(lastInsertRowid) }, 202);
	});
	const server = createAdaptorServer({ createServer, fetch: app.fetch });
	await new Promise<void>((resolve) => {
		server.listen(0, "127.0.0.1", () => resolve());
	});
	return (server.address() as AddressInfo).port;
}

interface Row {
	readonly id: string;
	readonly created_at: number;
	readonly last_activity_at: number;
	readonly source_body: string;
	readonly preview_body: string;
}

function shown({ source_body, preview_body, ...row }: Row): object {
	return {
		...row,
		source: JSON.parse(source_body),
		preview: JSON.parse(preview_body),
		created_at: new Date(row.created_at).toISOString(),
		last_activity_at: new Date(row.last_activity_at).toISOString(),
	};
}
