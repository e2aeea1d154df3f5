// The connection is cut at every statement of an operation, before the server has it and after: the caller gets the operation's answer,
// and what it wrote is there once.
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
	exportJsonl,
	importJsonl,
	NO_SECRETS,
	OPERATOR,
	storeOn,
	type WriteName,
} from "../../src/store/index.ts";
import { writes } from "../../src/store/operations/index.ts";
import { openPostgres } from "../../src/store/postgres/engine.ts";
import { sampleJob } from "../../src/testing/conformance/store/sample-job.ts";
import { Scene } from "../../src/testing/conformance/store/scene.ts";
import { type Opened, storeConformance } from "../../src/testing/conformance/store.ts";
import { countedIds, createWallClock } from "../support/clock.ts";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { emptied, onServer, openEmptied, openOn } from "../support/postgres-store.ts";
import { type StatementProxy, startStatementProxy } from "../support/statement-proxy.ts";
import { storesOn } from "../support/store-url.ts";
import { Cuts } from "./storm/cuts.ts";

describe("a connection that is cut at a statement", () => {
	let server: PostgresServer;
	let proxy: StatementProxy;
	beforeAll(async () => {
		server = await startPostgres();
		proxy = await startStatementProxy(server.port);
	});
	afterAll(async () => {
		await proxy.close();
		await server.remove();
	});

	/** An exchange, a second one that is cut where the test says, and what is there afterwards. */
	const exchangeCut = async (at: number, when: "before" | "after") => {
		await emptied(server.url());
		const clock = createWallClock();
		const url = server.url().replace(String(server.port), String(proxy.port));
		proxy.cutAt(0, when);
		const engine = await openOn(url, { readers: 1 });
		const store = storeOn(engine, { clock, ids: countedIds(), secrets: NO_SECRETS });
		const scene = new Scene({ store, clock, close: () => store.close() });
		await scene.exchange("one", "1");
		proxy.cutAt(at, when);
		const { conversation } = await scene.exchange("two", "2");
		const { statements, isCut } = proxy;
		proxy.cutAt(0, when);
		const texts = await scene.texts(conversation);
		await store.close();
		return { statements, isCut, texts, rows: await rowsIn(server.url()) };
	};

	it("changes nothing of what was asked for, wherever it is cut", { timeout: 600_000 }, async () => {
		const whole = await exchangeCut(0, "before");
		expect(whole.texts).toEqual(["one", "1", "two", "2"]);
		expect(whole.statements).toBeGreaterThan(20);
		for (let at = 1; at <= whole.statements; at += STEP)
			for (const when of ["before", "after"] as const) {
				const { statements: _, isCut, ...left } = await exchangeCut(at, when);
				expect({ at, when, ...left, isCut }).toEqual({
					at,
					when,
					texts: whole.texts,
					rows: whole.rows,
					isCut: true,
				});
			}
	});
});

/** `npm run test:crash` tries every statement, and those of every operation. */
const IS_WHOLE = process.env.KERYX_CUTS === "all";
const STEP = IS_WHOLE ? 1 : 7;

if (IS_WHOLE)
	describe("an operation whose connection is cut at each of its statements in turn", () => {
		let server: PostgresServer;
		let proxy: StatementProxy;
		const cuts = new Cuts();
		beforeAll(async () => {
			server = await startPostgres();
			proxy = await startStatementProxy(server.port);
		});
		afterAll(async () => {
			await proxy.close();
			await server.remove();
		});
		const open = () =>
			openEmptied(
				server.url().replace(String(server.port), String(proxy.port)),
				{ readers: 1, reconnects: 1000 },
				(engine) => cuts.on(engine, proxy),
			);
		storeConformance("PostgreSQL behind a line that is cut", open);

		// Operations that only a gateway asks for. What was cut before is not cut again.
		describe("in the gateway's tests", () => {
			beforeAll(() =>
				storesOn(server, async (url, startedAt, auditKey) =>
					cuts.on(
						await openPostgres({
							url: url.replace(String(server.port), String(proxy.port)),
							startedAt,
							access: "own",
							auditKey,
							readers: 1,
							reconnects: 1000,
						}),
						proxy,
					),
				),
			);
			afterAll(() => storesOn(null));
			for (const file of GATEWAY)
				describe(file, async () => {
					await import(`${fileURLToPath(new URL(`../gateway/${file}`, import.meta.url))}?cut`);
				});
		});

		it("is every other operation that writes", async () => {
			const opened = await open();
			await callTheRest(opened);
			await opened.close();
			console.log(`cut: ${cuts.everywhere.length} operations at each statement, ${cuts.made} cuts`);
			const missing = Object.keys(writes).filter((name) => !cuts.everywhere.includes(name as WriteName));
			expect(missing).toEqual([]);
		}, 600_000);
	});

const GATEWAY = [
	"buttons.test.ts",
	"chats.test.ts",
	"checkpoint-commands.test.ts",
	"checkpoints.test.ts",
	"inbound-changes.test.ts",
	"pairing.test.ts",
	"pairing-home.test.ts",
	"reactions.test.ts",
	"recovery.test.ts",
	"schedules.test.ts",
	"sessions.test.ts",
	"outbox.test.ts",
];

/** Those that neither the conformance suite nor these tests ask for. */
async function callTheRest({ store, clock }: Opened): Promise<void> {
	const scene = new Scene({ store, clock, close: async () => {} });
	const { conversation, turn } = await scene.exchange("one", "1");
	const usage = { inputTokens: 1, outputTokens: 1, costMicros: null, currency: "USD" };
	await store.nameByModel({
		turn,
		title: "A first word",
		call: { provider: "local", model: "small", status: "ok", ...usage },
	});
	const by = { by: "operator", via: "cli" } as const;
	await store.takeDuty({ name: "hooks" });
	await store.leaveDuty({ name: "hooks" });
	await store.adoptItems();
	await store.agreeOnKeys({ digest: "digest" });
	await store.beginFirstRun();
	await store.skipFirstRun({ step: "all" });
	await store.noteStoreBack({ code: "store.unreachable", lostAt: clock.now() });
	await store.noteConfig({ kind: "changed", keys: ["log.level"], restart: [] });
	await store.noteChannel({
		name: "telegram",
		platform: "telegram",
		account: "",
		state: "down",
		ifDown: [],
		ifBack: [],
	});
	await store.moveCursor({ platform: "telegram", account: "", value: "7" });
	const change = await store.recordConfigChange({ edits: [], undoes: null, ...by });
	await store.configNotWritten({ n: change, reason: "no space", ...by });
	await store.recordBackup({ kind: "failed", reason: "no space" });
	await store.doubtDeliveries();
	await store.missRestored();
	await store.takeGrantsDated();
	await store.auditWallsOff();
	// Refused: on a server there is no witness that could differ.
	await expect(store.acceptAudit(by)).rejects.toMatchObject({ code: "audit.sound" });
	await store.touchConversation({ conversation });
	await store.setHome({
		conversation,
		platform: "telegram",
		home: { account: "", chatId: "1", name: "Room" },
		by: null,
	});
	await store.manageJob({ do: "create", job: sampleJob(), most: 3 });
	const destination = { platform: "telegram", account: "", chatId: "1" };
	const body = { text: "to be dropped", plain: "to be dropped" };
	await store.notify({ conversation, deliveries: [{ id: "dropped", kind: "notice", destination, body }] });
	await store.dropDelivery({ id: "dropped" });
	await store.accept({
		kind: "person",
		source: { platform: "telegram", chat_id: "9", user_id: "9" },
		platformMessage: "stranger",
		content: "hello",
		routing: { groupSessionsPerUser: true, threadSessionsPerUser: false, profile: null },
		as: { kind: "refuse", reason: "not allowed", pairing: { digest: "d", deliveries: [] } },
	});
	const [asked] = await store.pairings({ scope: OPERATOR, now: clock.now() });
	await store.decidePairing({
		decision: "approve",
		which: { n: asked?.n ?? 0 },
		role: "member",
		welcome: "welcome",
		...by,
	});
	const lines: string[] = [];
	for await (const line of exportJsonl(store, { scope: OPERATOR, what: { kind: "everything" } }))
		lines.push(String(line));
	await importJsonl(store, lines, { origin: "elsewhere" });
	await store.pruneRuns({ before: clock.now(), limit: 10 });
}

/** How many rows each table has, and the events in their order. */
async function rowsIn(url: string): Promise<unknown> {
	const counts = await onServer<{ name: string; n: string }>(
		url,
		`SELECT tablename AS name, (xpath('/row/n/text()', query_to_xml(format('SELECT count(*) AS n FROM keryx.%I', tablename), false, true, '')))[1]::text AS n
		FROM pg_tables WHERE schemaname = 'keryx' ORDER BY tablename`,
	);
	const events = await onServer(
		url,
		"SELECT type, conversation, session, turn FROM keryx.events ORDER BY id",
	);
	return { counts, events };
}
