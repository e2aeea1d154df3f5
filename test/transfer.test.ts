// Export and import through the store: nothing lost, nothing twice, nothing that may not leave.
import Database from "better-sqlite3";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { ConversationId, SessionId } from "../src/domain/index.ts";
import type { KeryxError } from "../src/errors.ts";
import {
	exportMarkdown,
	importJsonl,
	linesOf,
	type Scope,
	type Store,
	unpackTranscript,
} from "../src/store/index.ts";
import { parseLine } from "../src/store/transfer-parse.ts";
import {
	ADA,
	BOB,
	delivery,
	GROUP,
	OPERATOR,
	principalScope,
	QUIET,
	refusal,
	refused,
} from "../src/testing/conformance/store/scene.ts";
import { NOON } from "./support/clock.ts";
import {
	brief,
	EVERYTHING,
	endOfEvents,
	exported,
	fillStore,
	KINDS,
	type OpenSceneStore,
	openInFile,
	openInMemory,
	type SceneStore,
} from "./support/scene-store.ts";

const FROM = { origin: "archive" };
/** Of what is drawn: cuts, and conversations. `npm run test:crash` draws 200. */
const RUNS = Number(process.env.KERYX_TRANSFER_RUNS ?? 25);
const PATIENCE_MS = 120_000 + RUNS * 3000;
const open: SceneStore[] = [];

async function opened(how: OpenSceneStore, ids = "aaaa", at?: number): Promise<SceneStore> {
	const filled = await how({ ids, ...(at !== undefined && { at }) });
	open.push(filled);
	return filled;
}

afterEach(async () => {
	for (const filled of open.splice(0)) await filled.close();
});

function override(store: Store, exportSmall: Store["exportSmall"]): Store {
	return new Proxy(store, {
		get: (target, name) => (name === "exportSmall" ? exportSmall : Reflect.get(target, name)),
	});
}

async function isWhole(store: Store): Promise<void> {
	expect(await store.checkIntegrity({ scope: { kind: "operator" } })).toEqual({ problems: [] });
}

async function foundBy(store: Store, query: string, scope: Scope = OPERATOR): Promise<number> {
	return (await store.search({ scope, query, limit: 20 })).hits.length;
}

describe.each(KINDS)("$kind", ({ open: how }) => {
	it("takes no server for the model from a file, and nobody to write to", async () => {
		const from = await opened(how);
		const { ada } = await fillStore(from);
		await from.store.setModelOverride({
			conversation: ada,
			override: { model: "large", base_url: "http://127.0.0.1:9/v1" },
		});
		const lines = (await exported(from.store)).map((text) => {
			const line = JSON.parse(text) as { readonly type: string };
			const destination = { platform: "carrier", account: "", chatId: "mallory" };
			return JSON.stringify(line.type === "turn" ? { ...line, destination } : line);
		});
		const into = await opened(how, "bbbb");
		await importJsonl(into.store, lines, FROM);
		const found = await into.store.conversation({ scope: OPERATOR, ref: { id: ada } });
		expect(found.modelOverride).toBeNull();
		const again = await into.store.retry({ conversation: ada, deadlineAt: NOON });
		if (again.kind !== "begun") return expect.fail("nothing was answered again");
		const turn = await into.store.turn({ scope: OPERATOR, id: again.turn });
		expect(turn.destination).toMatchObject({ platform: "telegram", chatId: "100" });
	});

	it("takes no row's place from a message's body: who said it, where it stands, and whether it was undone", async () => {
		const from = await opened(how);
		const { ada, sessions } = await fillStore(from);
		const lines = await exported(from.store);
		const forged = lines.map((text) => {
			const line = JSON.parse(text) as { readonly type: string; readonly body: object };
			const body = {
				...line.body,
				id: 1,
				seq: 1,
				role: "system",
				session: "x",
				turn: "x",
				hidden: false,
				isError: true,
			};
			return line.type === "message" ? JSON.stringify({ ...line, body }) : text;
		});
		const rowsOf = async (given: readonly string[], ids: string) => {
			const { store } = await opened(how, ids);
			await importJsonl(store, given, FROM);
			return Promise.all(
				sessions.map(async (session) => {
					const asked = { scope: OPERATOR, conversation: ada, session, speakers: [], now: NOON };
					const read = unpackTranscript((await store.turnFacts(asked)).transcript);
					expect(read).toEqual(await store.transcript({ scope: OPERATOR, session }));
					return read;
				}),
			);
		};
		const honest = await rowsOf(lines, "bbbb");
		expect(honest.flat().some(({ hidden }) => hidden)).toBe(true);
		expect(await rowsOf(forged, "bbbb")).toEqual(honest);
	});

	it("takes jobs along, paused and without what was approved for them", async () => {
		const from = await opened(how);
		const { ada } = await fillStore(from);
		const { principal } = await from.store.conversation({ scope: OPERATOR, ref: { id: ada } });
		const target = {
			target: { kind: "conversation", conversation: ada },
			shown: "Ada",
			approved: true,
		} as const;
		const job = {
			name: "Daily",
			task: { kind: "prompt", text: "report" },
			when: { kind: "cron", pattern: "0 9 * * *" },
			zone: "Europe/Berlin",
			catchUp: "once",
			maxDelaySeconds: 7200,
			conversation: ada,
			deliver: target,
			failure: null,
			origin: ada,
			profile: "",
			model: { provider: "openai", model: "gpt-5" },
			tools: ["clarify"],
			owner: { principal, role: "member", platform: "telegram" },
		} as const;
		const made = await from.store.createJob({ job, most: 10 });
		const operators = { ...job, owner: { principal: null, role: "owner", platform: "local" } } as const;
		await from.store.createJob({ job: operators, most: 10 });
		const lines = await exported(from.store);
		const into = await opened(how, "bbbb");
		await importJsonl(into.store, lines, FROM);
		await importJsonl(into.store, lines, FROM);
		const { jobs } = await into.store.jobs({ scope: OPERATOR, limit: 10 });
		expect(jobs).toHaveLength(2);
		expect(jobs[1]).toMatchObject({
			...job,
			id: made.id,
			isOwn: false,
			deliver: { ...target, approved: false },
			state: "paused",
			pausedBecause: "user",
			dueAt: null,
		});
		expect((await into.store.resumeJob({ scope: OPERATOR, id: made.id })).dueAt).toBe(made.dueAt);
		expect(brief(await exported(into.store)).filter((line) => !line.includes('"type":"job"'))).toEqual(
			brief(lines).filter((line) => !line.includes('"type":"job"')),
		);
		await importJsonl(from.store, lines, FROM);
		expect((await from.store.jobs({ scope: OPERATOR, limit: 10 })).jobs.map(({ state }) => state)).toEqual([
			"active",
			"active",
		]);
		const own = await exported(from.store, EVERYTHING, principalScope(principal as string));
		expect(own.filter((line) => line.includes('"type":"job"'))).toHaveLength(1);
		const broken = lines.map((line) => line.replace('"pattern":"0 9 * * *"', '"pattern":"0 9 * *"'));
		const empty = await opened(how, "cccc");
		await expect(importJsonl(empty.store, broken, FROM)).rejects.toMatchObject({ code: "import.invalid" });
		await expect(
			importJsonl(
				empty.store,
				lines.filter((line) => !line.includes('"type":"job"')),
				FROM,
			),
		).rejects.toThrow(/jobs: says 2/);
		await isWhole(into.store);
	});

	it("comes back from its export without loss", async () => {
		const from = await opened(how);
		const past = await fillStore(from);
		const lines = await exported(from.store);
		const into = await opened(how, "bbbb");
		const counts = await importJsonl(into.store, lines, FROM);

		expect(counts).toMatchObject({ conversations: 3, present: 0, leftOut: 0 });
		expect(brief(await exported(into.store))).toEqual(brief(lines));
		const conversation = { scope: OPERATOR, ref: { id: past.ada } };
		expect(await into.store.conversation(conversation)).toEqual({
			...(await from.store.conversation(conversation)),
			isImported: true,
		});
		for (const session of past.sessions) {
			expect(await into.scene.session(session)).toEqual(await from.scene.session(session));
			expect(await into.scene.rows(session)).toEqual(await from.scene.rows(session));
		}
		const picture = { scope: OPERATOR, conversation: past.ada, digest: past.picture };
		expect(
			Buffer.from(await into.store.blob(picture)).equals(Buffer.from(await from.store.blob(picture))),
		).toBe(true);
		await isWhole(from.store);
		await isWhole(into.store);
	});

	it("gives the same bytes for the same state", async () => {
		const { store, ...filled } = await opened(how);
		await fillStore({ store, ...filled });
		expect(brief(await exported(store))).toEqual(brief(await exported(store)));
	});

	it("gives the same bytes whether small conversations are read together or part by part", async () => {
		const { store, scene, ...filled } = await opened(how);
		await fillStore({ store, scene, ...filled });
		const cleo = { platform: "telegram", chat_id: "300", user_id: "300", user_name: "Cleo" };
		const work = await scene.turn("a small talk", cleo);
		const { conversation, turn, token } = work;
		const call = { provider: "here", model: "small", inputTokens: 100, outputTokens: 7, costMicros: 42 };
		for (const n of [1, 2])
			await store.recordModelCall({ turn, token, n, ...call, currency: "USD", status: "ok" });
		await scene.reply(work, "about this and that");
		for (const words of ["one", "two"]) {
			await scene.exchange(`${words} to regret`, "as you wish", cleo);
			await store.undo({ conversation, turns: 1 });
			await store.branchSession({ conversation, policy: QUIET, context: words, title: words });
			await scene.exchange(`branch ${words}`, "indeed", cleo);
		}
		let together = 0;
		const counting = override(store, async (args) => {
			const answer = await store.exportSmall(args);
			together += answer.conversations.filter((lines) => lines !== null).length;
			return answer;
		});
		const apart = override(store, async ({ ids }) => ({ conversations: ids.map(() => null) }));
		expect(brief(await exported(counting))).toEqual(brief(await exported(apart)));
		expect(together).toBeGreaterThan(0);
	});

	it("is not changed by importing twice", async () => {
		const from = await opened(how);
		await fillStore(from);
		const lines = await exported(from.store);
		const into = await opened(how, "bbbb");
		const first = await importJsonl(into.store, lines, FROM);
		const before = await stateOf(into);
		const second = await importJsonl(into.store, lines, FROM);

		expect(second).toEqual({
			conversations: 0,
			sessions: 0,
			messages: 0,
			blobs: 0,
			present: first.messages,
			leftOut: 0,
		});
		expect(await stateOf(into)).toEqual(before);
	});

	it("is not changed by importing its own export, also after it has gone on", async () => {
		const filled = await opened(how);
		await fillStore(filled);
		const lines = await exported(filled.store);
		const before = await stateOf(filled);
		await importJsonl(filled.store, lines, FROM);
		expect(await stateOf(filled)).toEqual(before);

		await filled.scene.exchange("one more", "and one");
		const later = await stateOf(filled);
		expect(await importJsonl(filled.store, lines, FROM)).toMatchObject({
			sessions: 0,
			messages: 0,
			leftOut: 0,
		});
		expect(await stateOf(filled)).toEqual(later);
	});

	it("finds by search what was imported, and not what is hidden", async () => {
		const from = await opened(how);
		const { ada } = await fillStore(from);
		const into = await opened(how, "bbbb");
		await importJsonl(into.store, await exported(from.store), FROM);

		for (const word of ["heliotrope", "marzipan", "upon", "branch", "cat.png"])
			expect([word, await foundBy(into.store, word)]).toEqual([word, await foundBy(from.store, word)]);
		expect(await foundBy(into.store, "heliotrope")).toBe(1);
		expect(await foundBy(into.store, "marzipan")).toBe(0);
		const { principal } = await into.store.conversation({ scope: OPERATOR, ref: { id: ada } });
		expect(await foundBy(into.store, "heliotrope", principalScope(principal))).toBe(1);
		const inTime = { scope: OPERATOR, query: "heliotrope", limit: 5 };
		expect((await into.store.search({ ...inTime, from: NOON, to: NOON + 1 })).hits).toHaveLength(1);
		expect((await into.store.search({ ...inTime, from: NOON + 1 })).hits).toHaveLength(0);
	});

	it("goes on with an imported session as with its own", async () => {
		const from = await opened(how);
		const { ada, sessions } = await fillStore(from);
		const into = await opened(how, "bbbb", NOON + 3_600_000);
		await importJsonl(into.store, await exported(from.store), FROM);
		const live = sessions.at(-1) as SessionId;
		expect((await into.scene.live(ada)).id).toBe(live);

		const turn = await into.scene.exchange("still here", "so am I");
		expect(turn).toMatchObject({ conversation: ada, session: live });
		expect(await into.store.undo({ conversation: ada, turns: 2 })).toMatchObject({
			turns: 2,
			text: "on the branch",
		});
		await into.store.redo({ conversation: ada });
		await isWhole(into.store);
	});
});

/** Every row of every table, for a file; what an export and the log show, otherwise. */
async function stateOf({ store, path }: SceneStore): Promise<unknown> {
	const shown = { lines: brief(await exported(store)), events: await endOfEvents(store) };
	if (path === null) return shown;
	const db = new Database(path, { readonly: true });
	try {
		const tables = db
			.prepare<[], { name: string }>(
				"SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'search%'",
			)
			.all();
		const rows = tables.map(({ name }) => [name, db.prepare(`SELECT * FROM "${name}"`).raw().all()]);
		return { ...shown, rows, indexed: db.prepare("SELECT rowid FROM search ORDER BY rowid").raw().all() };
	} finally {
		db.close();
	}
}

describe("an export", () => {
	it("has nothing of the inbox, of deliveries, or of tokens", async () => {
		const { store, scene } = await opened(openInMemory);
		const turn = await scene.turn("said");
		await scene.reply(turn, "answered", { deliveries: [delivery("d1", "on its way out")] });
		const waiting = await scene.say("still waiting");
		await scene.say("a word aside", { ...GROUP, user_id: "9" }, { as: { kind: "observe" } });
		const text = (await exported(store)).join("");

		expect(text).toContain("answered");
		expect(text).not.toContain("on its way out");
		expect(text).not.toContain("still waiting");
		expect(text).not.toContain("a word aside");
		expect(text).not.toMatch(/"(token|epoch|claim|receipt|platformMessage)"/);
		expect(waiting.id).toBeGreaterThan(0);
	});

	it("has a turn that still runs as one that was stopped, with what it wrote", async () => {
		const from = await opened(openInMemory);
		const turn = await from.scene.turn("work on it");
		await from.scene.append(turn, [{ role: "assistant", content: "half of it", index: 1 }]);
		const into = await opened(openInMemory, "bbbb");
		await importJsonl(into.store, await exported(from.store), FROM);

		expect(await into.store.turn({ scope: OPERATOR, id: turn.turn })).toMatchObject({
			state: "stopped",
			token: 0,
		});
		expect(await into.scene.texts(turn.conversation)).toEqual(["work on it", "half of it"]);
		expect(brief(await exported(into.store))).toEqual(brief(await exported(from.store)));
		await isWhole(into.store);
	});

	it("of one session has those it goes on from, and no others", async () => {
		const from = await opened(openInMemory);
		const { sessions } = await fillStore(from);
		await from.scene.store.newSession({
			conversation: (await from.scene.session(sessions[0] as SessionId)).conversation,
			policy: QUIET,
			context: "",
		});
		const lines = await exported(from.store, { kind: "session", id: sessions[1] as SessionId });
		const into = await opened(openInMemory, "bbbb");
		await importJsonl(into.store, lines, FROM);

		expect(idsOf(lines, "session")).toEqual([sessions[0], sessions[1]]);
		expect(await into.scene.rows(sessions[1] as SessionId)).toEqual(
			await from.scene.rows(sessions[1] as SessionId),
		);
		expect(brief(await exported(into.store, { kind: "session", id: sessions[1] as SessionId }))).toEqual(
			brief(lines),
		);
		await isWhole(into.store);

		await importJsonl(into.store, await exported(from.store), FROM);
		await isWhole(into.store);
		expect(await into.scene.rows(sessions[2] as SessionId)).toEqual(
			await from.scene.rows(sessions[2] as SessionId),
		);
	});

	it("of one session says what another session has hidden in it", async () => {
		const from = await opened(openInMemory);
		const { conversation, session } = await from.scene.exchange("one", "two");
		await from.scene.exchange("three", "four");
		const command = { conversation, policy: QUIET, context: "" };
		await from.store.newSession(command);
		await from.store.continueSession(command);
		await from.scene.exchange("five", "six");
		await from.scene.exchange("seven", "eight");
		await from.store.undo({ conversation, turns: 3 });
		const lines = await exported(from.store, { kind: "session", id: session });
		const into = await opened(openInMemory, "bbbb");
		await importJsonl(into.store, lines, FROM);

		const shown = (await into.scene.rows(session)).filter((row) => !row.hidden);
		expect(shown.map((row) => row.content)).toEqual(["one", "two"]);
		await into.store.switchSession({ ...command, target: session, within: "conversation" });
		expect(await into.store.redo({ conversation })).toMatchObject({ rows: 0 });
		await isWhole(into.store);
	});

	it("shows a person only what is theirs", async () => {
		const { store, ...filled } = await opened(openInMemory);
		const { ada, group, sessions, picture } = await fillStore({ store, ...filled });
		const owner = async (place: typeof ADA): Promise<string | null> =>
			(await filled.scene.say("hello", place)).principal;
		const bob = principalScope(await owner(BOB));
		const asAda = principalScope(await owner(ADA));

		expect(idsOf(await exported(store, EVERYTHING, asAda), "conversation")).toEqual([ada]);
		expect(idsOf(await exported(store, EVERYTHING, asAda), "principal")).toHaveLength(1);
		expect((await exported(store, EVERYTHING, bob)).join("")).not.toContain("heliotrope");
		const spoken = { ...bob, conversation: group } as Scope;
		expect(idsOf(await exported(store, EVERYTHING, spoken), "conversation")).toContain(group);
		const page = { scope: bob, conversation: ada, session: { key: 1, upTo: 9, line: { id: "" } }, limit: 9 };
		const adas = { kind: "conversation", id: ada } as const;
		expect(await store.exportHead({ scope: bob, conversation: ada })).toBeNull();
		for (const read of [
			store.exportPrincipals({ scope: bob, what: adas, from: { merged: false, after: "" }, limit: 9 }),
			store.exportConversations({ scope: bob, what: adas, after: "", limit: 9 }),
			store.exportSessions({ scope: bob, conversation: ada, heads: [] }),
			store.exportTurns({ ...page, after: "" }),
			store.exportMessages({ ...page, after: 0 }),
			store.exportBlob({ scope: bob, conversation: ada, digest: picture, n: -1 }),
		])
			expect(await refusal(read)).toBe("store.not_found");
		expect(await refusal(exported(store, adas, bob))).toBe("store.not_found");
		expect(await refusal(exported(store, { kind: "session", id: sessions[0] as SessionId }, bob))).toBe(
			"store.not_found",
		);
		expect(await refusal(exported(store, { kind: "conversation", id: "nobody" as ConversationId }))).toBe(
			"store.not_found",
		);
	});

	it("taken while people write is the state of one moment for each conversation", async () => {
		const { store, scene } = await opened(openInFile);
		for (let n = 0; n < 120; n++) await scene.exchange(`before ${n}`, "yes");
		let isOver = false;
		const writing = (async () => {
			for (let n = 0; !isOver; n++) await scene.exchange(`meanwhile ${n}`, "yes");
		})();
		const exports: string[][] = [];
		for (let n = 0; n < 5; n++) exports.push(await exported(store));
		isOver = true;
		await writing;
		const sizes = new Set(exports.map((lines) => lines.length));
		expect(sizes.size).toBeGreaterThan(1);
		for (const lines of exports) {
			const into = await opened(openInMemory, "bbbb");
			await importJsonl(into.store, lines, FROM);
			await isWhole(into.store);
		}
	});

	it("fails where a text is missing, rather than leave it out", async () => {
		const filled = await opened(openInFile);
		const { conversation } = await filled.scene.exchange("x".repeat(70_000), "long");
		const db = new Database(filled.path as string);
		db.exec("DELETE FROM blob_chunks; DELETE FROM blobs");
		db.close();
		expect(await refusal(exported(filled.store, { kind: "conversation", id: conversation }))).toBe(
			"store.corrupt",
		);
		expect((await filled.store.checkIntegrity({ scope: { kind: "operator" } })).problems).toHaveLength(1);
	});
});

function idsOf(lines: readonly string[], type: string): string[] {
	return lines
		.map((line) => JSON.parse(line))
		.flatMap((line) => (line.type === type ? [line.id as string] : []));
}

describe("an import", () => {
	it("that was cut off anywhere is run again and ends the same", async () => {
		const from = await opened(openInMemory);
		await fillStore(from);
		const lines = await exported(from.store);
		const parsed = lines.map((text, index) => ({ number: index + 1, line: parseLine(text, index + 1) }));
		const whole = parsed.length;
		await fc.assert(
			fc.asyncProperty(
				fc.integer({ min: 1, max: whole }),
				fc.integer({ min: 1, max: 9 }),
				async (cut, size) => {
					const into = await openInMemory({ ids: "bbbb" });
					try {
						for (let at = 0; at < cut; at += size)
							await into.store.importLines({
								origin: FROM.origin,
								lines: parsed.slice(at, Math.min(cut, at + size)),
							});
						await importJsonl(into.store, lines, FROM);
						expect(brief(await exported(into.store))).toEqual(brief(lines));
						await isWhole(into.store);
					} finally {
						await into.close();
					}
				},
			),
			{ numRuns: 10 },
		);
	});

	it("of a long conversation takes several transactions, and none of them leaves it live before its end", async () => {
		const from = await opened(openInMemory);
		const { conversation, session } = await from.scene.exchange("begin", "yes");
		const turn = await from.scene.turn("count");
		for (let n = 0; n < 2400; n += 200)
			await from.scene.append(
				turn,
				Array.from({ length: 200 }, (_, i) => ({
					role: "assistant" as const,
					content: `number ${n + i}`,
					index: n + i + 1,
				})),
			);
		await from.scene.end(turn);
		const lines = await exported(from.store);
		const into = await opened(openInMemory, "bbbb");
		const live: (SessionId | null)[] = [];
		const watched: Store = {
			...into.store,
			importLines: async (args) => {
				const counts = await into.store.importLines(args);
				live.push(
					(await into.store.conversation({ scope: OPERATOR, ref: { id: conversation } })).liveSession,
				);
				return counts;
			},
		};
		await importJsonl(watched, lines, FROM);

		expect(live.length).toBeGreaterThan(1);
		expect(live[0]).toBeNull();
		expect(live.at(-1)).toBe(session);
		expect(brief(await exported(into.store))).toEqual(brief(lines));
		await isWhole(into.store);
	});

	it("gives another id to a session or message whose id is taken, and every reference follows", async () => {
		const from = await opened(openInMemory);
		const past = await fillStore(from);
		const lines = await exported(from.store);
		// Another machine at the same time: the same session and message ids, for other people's words.
		const into = await opened(openInMemory, "bbbb");
		for (let n = 0; n < 4; n++) {
			const theirs = await into.scene.exchange(`taken ${n}`, "yes", BOB);
			await into.store.newSession({ conversation: theirs.conversation, policy: QUIET, context: "" });
		}
		const before = await exported(into.store);
		await importJsonl(into.store, lines, FROM);

		const sessions = await into.store.sessions({ scope: OPERATOR, conversation: past.ada, limit: 10 });
		expect(sessions).toHaveLength(3);
		expect(past.sessions).not.toContain(sessions.at(-1)?.id);
		const texts = async ({ scene }: SceneStore, id: SessionId): Promise<unknown[]> =>
			(await scene.rows(id)).map(({ seq, content, createdAt, hidden, covers }) => [
				seq,
				content,
				createdAt,
				hidden,
				covers?.map(({ fromSeq, toSeq }) => [fromSeq, toSeq]),
			]);
		for (const [index, { id }] of sessions.toReversed().entries())
			expect(await texts(into, id)).toEqual(await texts(from, past.sessions[index] as SessionId));
		const rows = await into.scene.rows((sessions.at(-1) as { id: SessionId }).id);
		const summary = rows.find((row) => row.kind === "summary");
		expect(summary?.covers?.[0]?.session).toBe(sessions.at(-1)?.id);
		for (const row of rows) expect(Math.floor(row.id / 1024)).toBe(row.createdAt);
		await isWhole(into.store);

		const after = await exported(into.store);
		await importJsonl(into.store, lines, FROM);
		await importJsonl(into.store, before, FROM);
		expect(brief(await exported(into.store))).toEqual(brief(after));
		const third = await opened(openInMemory, "cccc");
		await importJsonl(third.store, after, { origin: "elsewhere" });
		expect(brief(await exported(third.store))).toEqual(brief(after));
		await importJsonl(third.store, lines, FROM);
		expect(brief(await exported(third.store))).toEqual(brief(after));
	});

	it("leaves a key and an address with the conversation that has them, and knows the person again", async () => {
		const from = await opened(openInMemory);
		const past = await fillStore(from);
		const into = await opened(openInMemory, "bbbb");
		const here = await into.scene.exchange("I am here already", "yes");
		await importJsonl(into.store, await exported(from.store), FROM);

		const imported = await into.store.conversation({ scope: OPERATOR, ref: { id: past.ada } });
		expect(imported.key).toBe("agent:main:telegram:dm:100~2");
		expect((await into.scene.say("hello")).conversation).toBe(here.conversation);
		const scope = principalScope(here.principal);
		expect(await into.store.conversation({ scope, ref: { id: past.ada } })).toEqual(imported);
		const discord = { platform: "discord", ids: ["ada#1"] };
		// Who is who here is not for a file to say: another id of theirs is joined by the operator.
		expect(await into.store.knownIds({ scope: OPERATOR, ...discord })).toEqual([]);
		const [, , first] = await into.store.sessions({ scope, conversation: past.ada, limit: 3 });
		const resumed = await into.store.switchSession({
			conversation: here.conversation,
			policy: QUIET,
			context: "",
			target: first?.id as SessionId,
			within: "principal",
		});
		expect((await into.scene.rows(resumed.session))[0]?.content).toBe("the first thing Ada said");
		await isWhole(into.store);
	});

	describe("an address that nobody has used here yet", () => {
		/** What a person in one store said, with the conversation's line changed. */
		const exportedWith = async (change: (line: Record<string, unknown>) => void, place = BOB) => {
			const from = await opened(openInMemory);
			const { conversation } = await from.scene.exchange("something private", "yes", place);
			const lines = (await exported(from.store)).map((text) => {
				const line = JSON.parse(text) as Record<string, unknown>;
				if (line.type === "conversation") change(line);
				return JSON.stringify(line);
			});
			return { conversation, lines };
		};
		const addresses = (line: Record<string, unknown>) => line.addresses as Record<string, unknown>[];

		it("leads on into the imported conversation for its own person", async () => {
			const channel = { platform: "discord", chat_type: "dm", chat_id: "channel-9", user_id: "bob#1" };
			for (const place of [BOB, GROUP, channel]) {
				const { conversation, lines } = await exportedWith(() => {}, place);
				const into = await opened(openInMemory, "bbbb");
				await importJsonl(into.store, lines, FROM);
				expect((await into.scene.say("again", place)).conversation).toBe(conversation);
			}
		});

		it.each<[string, string | null]>([
			["somebody else's", "as it was"],
			["nobody's", null],
		])("does not lead into a private conversation that is %s", async (_, principal) => {
			const { conversation, lines } = await exportedWith((line) => {
				Object.assign(addresses(line)[0] as object, { chat: "100" });
				if (principal === null) line.principal = null;
			});
			const into = await opened(openInMemory, "bbbb");
			await importJsonl(into.store, lines, FROM);
			const first = await into.scene.exchange("hello", "hi", ADA);
			expect(first.conversation).not.toBe(conversation);
			expect((await into.scene.say("again", ADA)).conversation).toBe(first.conversation);
			const scope = principalScope(first.principal);
			expect((await into.store.search({ scope, query: "private", limit: 5 })).hits).toEqual([]);
			// Imported again, it does not come back.
			await importJsonl(into.store, lines, FROM);
			expect((await into.scene.say("once more", ADA)).conversation).toBe(first.conversation);
			await isWhole(into.store);
		});

		it.each<[string, Record<string, unknown>, RegExp]>([
			["a shared chat for a private conversation", { chatType: "group", chat: "-7" }, /shared/],
			["another platform", { platform: "discord" }, /platform/],
			["another kind of chat", { chatType: "group", chat: "-7", participant: "100" }, /group/],
			["another profile", { profile: "work" }, /profile/],
		])("is refused where a file claims %s", async (_, change, message) => {
			const { lines } = await exportedWith((line) => Object.assign(addresses(line)[0] as object, change));
			const into = await opened(openInMemory, "bbbb");
			const error = await refused(importJsonl(into.store, lines, FROM));
			expect(error).toMatchObject({ code: "import.invalid", field: "addresses.0" });
			expect(error.message).toMatch(message);
		});
	});

	it("I2: leaves at most one session of a conversation live", async () => {
		const from = await opened(openInMemory);
		const { conversation } = await from.scene.exchange("one", "two");
		await from.store.newSession({ conversation, policy: QUIET, context: "" });
		const lines = (await exported(from.store)).map((line) =>
			line.replace(/"endedAt":\d+,"endReason":"\w+"/, '"endedAt":null,"endReason":null'),
		);
		const into = await opened(openInMemory, "bbbb");
		await importJsonl(into.store, lines, FROM);

		const sessions = await into.store.sessions({ scope: OPERATOR, conversation, limit: 10 });
		expect(sessions.map(({ endedAt }) => endedAt === null)).toEqual([true, false]);
		await isWhole(into.store);
	});

	it("does not put the rest of a session after what was said in it here", async () => {
		const from = await opened(openInMemory);
		const { conversation, session } = await from.scene.exchange("one", "two");
		const lines = await exported(from.store);
		await from.scene.exchange("three", "four");
		const longer = await exported(from.store);
		const into = await opened(openInMemory, "bbbb");
		await importJsonl(into.store, lines, FROM);
		await into.scene.exchange("here", "we are");

		expect(await importJsonl(into.store, longer, FROM)).toMatchObject({ messages: 0, present: 4 });
		expect((await into.scene.rows(session)).map((row) => row.content)).toEqual([
			"one",
			"two",
			"here",
			"we are",
		]);

		const half = await opened(openInMemory, "cccc");
		const parsed = longer.map((text, index) => ({ number: index + 1, line: parseLine(text, index + 1) }));
		await half.store.importLines({ origin: FROM.origin, lines: parsed.slice(0, -4) });
		expect((await half.store.checkIntegrity({ scope: { kind: "operator" } })).problems).toEqual([
			`session ${session} has not been imported to its end: run the import again`,
		]);
		await half.store.switchSession({
			conversation,
			policy: QUIET,
			context: "",
			target: session,
			within: "conversation",
		});
		await half.scene.exchange("here", "we are");
		expect(await importJsonl(half.store, longer, FROM)).toMatchObject({ messages: 0, leftOut: 4 });
		expect((await half.scene.rows(session)).map((row) => row.content)).toEqual([
			"one",
			"two",
			"here",
			"we are",
		]);
		await isWhole(half.store);
	});

	it("takes ids that Keryx did not make, and makes its own of them", async () => {
		const from = await opened(openInMemory);
		await fillStore(from);
		const foreign = (await exported(from.store)).map((line) =>
			line.replaceAll(/aaaa0{20}[0-9a-f]{8}/g, "../$&"),
		);
		const into = await opened(openInMemory, "bbbb");
		await importJsonl(into.store, foreign, { origin: "other" });
		const once = await exported(into.store);
		await importJsonl(into.store, foreign, { origin: "other" });

		expect(brief(await exported(into.store))).toEqual(brief(once));
		for (const id of idsOf(once, "conversation")) expect(id).toMatch(/^[0-9a-f]{32}$/);
		expect(await foundBy(into.store, "heliotrope")).toBe(1);
		await isWhole(into.store);
		const third = await opened(openInMemory, "cccc");
		await importJsonl(third.store, once, FROM);
		expect(brief(await exported(third.store))).toEqual(brief(once));
		await importJsonl(third.store, foreign, { origin: "other" });
		expect(brief(await exported(third.store))).toEqual(brief(once));
	});

	it("refuses a clock that runs ahead a place before everything that follows", async () => {
		const from = await opened(openInMemory, "aaaa", NOON + 30 * 86_400_000);
		const { session } = await from.scene.exchange("from the future", "yes");
		const into = await opened(openInMemory, "bbbb");
		await importJsonl(into.store, await exported(from.store), FROM);
		const { conversation } = await into.scene.exchange("now", "yes", BOB);

		const [row] = await into.scene.rows((await into.scene.live(conversation)).id);
		expect(Math.floor((row?.id ?? 0) / 1024)).toBe(NOON);
		expect((await into.scene.rows(session)).map(({ createdAt }) => createdAt)).toEqual(
			(await from.scene.rows(session)).map(({ createdAt }) => createdAt),
		);
	});
});

describe("a wrong line", () => {
	const wrong: [
		what: string,
		change: (line: Record<string, unknown>) => unknown,
		type: string,
		field: string,
	][] = [
		["that is no JSON", () => undefined, "message", ""],
		["of an unknown type", (line) => ({ ...line, type: "secret" }), "message", "type"],
		["of a newer version", (line) => ({ ...line, version: 2 }), "keryx_export", "version"],
		["without a field", ({ role: _, ...line }) => line, "message", "role"],
		["with a field too many", (line) => ({ ...line, admin: true }), "session", ""],
		["with a seq that is not the next", (line) => ({ ...line, seq: 7 }), "message", "seq"],
		["with a body that has no content", (line) => ({ ...line, body: {} }), "message", "body.content"],
		["with a time that is none", (line) => ({ ...line, createdAt: "noon" }), "message", "createdAt"],
		["that names an unknown session", (line) => ({ ...line, session: "x" }), "message", "session"],
		["that names an unknown turn", (line) => ({ ...line, turn: "x" }), "message", "turn"],
		[
			"of a conversation that is not open",
			(line) => ({ ...line, conversation: "x" }),
			"message",
			"conversation",
		],
		["that names an unknown owner", (line) => ({ ...line, principal: "x" }), "conversation", "principal"],
		[
			"with a source nobody can read",
			(line) => ({ ...line, source: { platform: 7 } }),
			"conversation",
			"platform",
		],
		["with a profile that is none", (line) => ({ ...line, profile: "../x" }), "conversation", "profile"],
		["that ends without a reason", (line) => ({ ...line, endReason: null }), "session", "endReason"],
		[
			"that goes on from an unknown session",
			(line) => ({ ...line, base: { session: "x", seq: 1, kind: "branch" } }),
			"session",
			"base",
		],
		[
			"that goes on from a message that is not there",
			(line) => (line.base ? { ...line, base: { ...line.base, seq: 99 } } : line),
			"session",
			"base.seq",
		],
		["that hides rows which are not there", (line) => ({ ...line, toSeq: 99 }), "hidden", "toSeq"],
		[
			"with bytes that are not the blob's",
			(line) => ({ ...line, data: `A${String(line.data).slice(1)}` }),
			"blob_chunk",
			"digest",
		],
		["with a count that is not right", (line) => ({ ...line, messages: 3 }), "conversation_end", "messages"],
	];

	let lines: string[] = [];
	let into: SceneStore;
	beforeAll(async () => {
		const from = await openInMemory();
		const { conversation } = await from.scene.exchange("x".repeat(70_000), "yes");
		await from.scene.exchange("regret", "no");
		await from.store.undo({ conversation, turns: 1 });
		await from.store.branchSession({ conversation, policy: QUIET, context: "" });
		lines = await exported(from.store);
		await from.close();
		into = await openInMemory({ ids: "bbbb" });
	});
	afterAll(() => into.close());

	it.each(wrong)(
		"%s ends the import with its number and field, and nothing is there",
		async (_, change, type, field) => {
			let at = 0;
			const changed = lines.map((text, index) => {
				const line = JSON.parse(text);
				if (line.type !== type || at > 0) return text;
				const after = change(line);
				if (after === line) return text;
				at = index + 1;
				return after === undefined ? text.slice(1) : JSON.stringify(after);
			});
			const before = await stateOf(into);
			const error = await refused(importJsonl(into.store, changed, FROM));

			expect(at).toBeGreaterThan(0);
			expect(error).toMatchObject({ code: "import.invalid" });
			expect(error.field ?? "").toBe(field);
			const where = field === "toSeq" || field === "base.seq" ? lines.length - 1 : at;
			expect(error.message).toMatch(new RegExp(`^line ${where}: `));
			expect(await stateOf(into)).toEqual(before);
			expect(before).toMatchObject({ lines: { length: 2 } });
		},
	);

	it("is missed: an export that was cut short or has lost a line is found out", {
		timeout: PATIENCE_MS,
	}, async () => {
		const from = await opened(openInMemory);
		await fillStore(from);
		const lines = await exported(from.store);
		const into = await opened(openInMemory, "bbbb");
		await fc.assert(
			fc.asyncProperty(fc.integer({ min: 0, max: lines.length - 1 }), fc.boolean(), async (at, isCut) => {
				const less = isCut ? lines.slice(0, at) : lines.toSpliced(at, 1);
				const error = await refused(importJsonl(into.store, less, FROM));
				expect(error.code).toBe("import.invalid");
			}),
			{ numRuns: RUNS },
		);
		await importJsonl(into.store, lines, FROM);
		expect(brief(await exported(into.store))).toEqual(brief(lines));
		await isWhole(into.store);
	});

	it("is none where a text has characters that some take for the end of a line", async () => {
		const from = await opened(openInMemory);
		const odd = "one\u2028two\u2029three\u0085four\r\nfive\ud800six\u0000";
		const { session } = await from.scene.exchange(odd, "yes");
		const text = (await exported(from.store)).join("");
		expect(text).not.toMatch(/[\u0085\u2028\u2029\r]/);
		const into = await opened(openInMemory, "bbbb");
		const bytes = Buffer.from(text);
		const lines = linesOf(pieces(bytes, 7));
		await importJsonl(into.store, lines, FROM);
		expect((await into.scene.rows(session))[0]?.content).toBe(odd);
	});

	it("is told as one where the bytes are no UTF-8", async () => {
		const { store } = await opened(openInMemory);
		const lines = linesOf(pieces(new Uint8Array([0x7b, 0xff, 0xfe, 0x0a]), 4));
		expect(await refusal(importJsonl(store, lines, FROM))).toBe("import.invalid");
		expect(await refusal(importJsonl(store, [], { origin: "" }))).toBe("argument.invalid");
	});
});

async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
	for (let at = 0; at < bytes.byteLength; at += size) yield bytes.subarray(at, at + size);
}

describe("any conversation", () => {
	it("is the same after export, import and export, and importing again changes nothing", {
		timeout: PATIENCE_MS,
	}, async () => {
		const from = await opened(openInFile);
		const into = await opened(openInMemory, "bbbb", NOON + 86_400_000);
		let story = 0;
		await fc.assert(
			fc.asyncProperty(fc.array(anyDeed, { minLength: 1, maxLength: 30 }), async (deeds) => {
				const chats = new Set<ConversationId>();
				story++;
				for (const deed of deeds) chats.add(await does(from, deed, story));
				for (const id of chats) {
					const what = { kind: "conversation", id } as const;
					const lines = await exported(from.store, what);
					await importJsonl(into.store, lines, FROM);
					expect(brief(await exported(into.store, what))).toEqual(brief(lines));
					const end = await endOfEvents(into.store);
					expect(await importJsonl(into.store, lines, FROM)).toMatchObject({ messages: 0, leftOut: 0 });
					expect(await endOfEvents(into.store)).toBe(end);
					expect(brief(await exported(into.store, what))).toEqual(brief(lines));
				}
				await isWhole(from.store);
				await isWhole(into.store);
			}),
			{ numRuns: RUNS },
		);
		const whole = await opened(openInMemory, "cccc", NOON + 86_400_000);
		const lines = await exported(from.store);
		await importJsonl(whole.store, lines, FROM);
		expect(brief(await exported(whole.store))).toEqual(brief(lines));
		await isWhole(whole.store);
	});
});

/** Where people write: each story has chats of its own. */
const PLACES: readonly ((story: number) => typeof ADA)[] = [
	(story) => ({ ...ADA, chat_id: `${story}100`, user_id: `${story}100` }),
	(story) => ({ ...BOB, chat_id: `${story}200`, user_id: `${story}200` }),
	(story) => ({ ...GROUP, chat_id: `-${story}`, user_id: `${story}100`, user_name: "Ada" }),
	(story) => ({ ...GROUP, chat_id: `-${story}`, user_id: `${story}300`, user_name: "Cleo" }),
];
const deeds = [
	"exchange",
	"exchange",
	"tools",
	"large",
	"observe",
	"wait",
	"open turn",
	"undo",
	"redo",
	"retry",
	"new",
	"continue",
	"branch",
	"switch",
	"cover",
	"title",
	"suspend",
	"finalise",
	"link",
] as const;
const anyDeed = fc.record({
	what: fc.constantFrom(...deeds),
	who: fc.nat(PLACES.length - 1),
	n: fc.nat(3),
	text: fc.oneof(
		fc.string({ unit: "binary" }),
		fc.string({ unit: "grapheme" }),
		fc.constantFrom("it's", "東京都", "\u2028", ""),
	),
});
type Deed = typeof anyDeed extends fc.Arbitrary<infer Value> ? Value : never;

/** One thing that happens to a store. What may not be done at that point is refused and changes nothing. */
async function does(
	{ scene, store }: SceneStore,
	{ what, who, n, text }: Deed,
	story: number,
): Promise<ConversationId> {
	const place = (PLACES[who] as (typeof PLACES)[0])(story);
	scene.clock.advance(1 + n * 500);
	const item = await scene.say(text, place, what === "observe" ? { as: { kind: "observe" } } : {});
	const { conversation } = item;
	if (what === "observe" || what === "wait") return conversation;
	const begun = await scene.tryBegin(conversation, [item.id]);
	if (begun.kind !== "begun") {
		if (begun.kind === "busy") await store.stopTurn({ conversation });
		return conversation;
	}
	const turn = { ...begun, conversation };
	if (what === "open turn") return conversation;
	if (what === "tools")
		await scene.append(turn, [
			{
				role: "assistant",
				content: text,
				toolCalls: [{ id: "c", name: "t", input: text }],
				index: turn.nextIndex,
			},
			{
				role: "tool",
				content: [{ type: "text", text }],
				toolCallId: "c",
				toolName: "t",
				isError: n > 1,
				index: turn.nextIndex + 1,
			},
		]);
	await scene.end(turn, {
		messages: [
			{ role: "assistant", content: what === "large" ? `${text}${"long ".repeat(14_000)}` : text, index: 9 },
		],
	});
	const command = { conversation, policy: QUIET, context: `context ${text}` };
	const live = await scene.live(conversation);
	const last = (await scene.rows(live.id)).at(-1)?.seq ?? 1;
	const operations: Partial<Record<Deed["what"], () => Promise<unknown>>> = {
		undo: () => store.undo({ conversation, turns: n }),
		redo: async () => {
			await store.undo({ conversation, turns: n });
			await store.redo({ conversation });
		},
		retry: () => store.retry({ conversation, deadlineAt: scene.clock.now() }),
		new: () => store.newSession({ ...command, ...(text.trim() && { title: `t${text}` }) }),
		continue: async () => {
			await store.newSession(command);
			await store.continueSession(command);
		},
		branch: () => store.branchSession(command),
		switch: async () => {
			const sessions = await store.sessions({ scope: OPERATOR, conversation, limit: 10 });
			const target = sessions[n % sessions.length]?.id as SessionId;
			await store.switchSession({ ...command, target, within: "conversation" });
		},
		cover: () =>
			store.cover({
				session: live.id,
				ranges: [{ session: live.id, fromSeq: 1, toSeq: last }],
				summary: text,
			}),
		title: () => store.setTitle({ session: live.id, title: `a ${text}`, source: "user" }),
		suspend: async () => await scene.suspend(await scene.turn(text, place)),
		finalise: async () => {
			const { ended } = await store.newSession(command);
			if (ended) await store.finaliseSession({ session: ended });
		},
		link: () =>
			store.link({
				a: { platform: "telegram", id: `${story}100` },
				b: { platform: "telegram", id: `${story}200` },
			}),
	};
	try {
		await operations[what]?.();
	} catch (error) {
		expect((error as KeryxError).code).toMatch(/^(transcript|session|argument)\./);
	}
	return conversation;
}

describe("Markdown", () => {
	async function markdown(store: Store, what = EVERYTHING, scope: Scope = OPERATOR): Promise<string> {
		let text = "";
		for await (const chunk of exportMarkdown(store, { scope, what })) text += chunk;
		return text;
	}

	it("has each session with its messages, and leaves out what is hidden", async () => {
		const { store, ...filled } = await opened(openInMemory);
		const { sessions } = await fillStore({ store, ...filled });
		const text = await markdown(store);

		expect(text).toContain("# Ada on Telegram\n");
		expect(text).toContain(`## Session \`${sessions[0]}\`: A cat\n`);
		expect(text).toContain("### Ada, 2026-03-10 12:00:00 UTC\n\n> the first thing Ada said\n");
		expect(text).toContain("### Tool `terminal` (failed), ");
		expect(text).toContain("Attached image `cat.png`, `image/png`");
		expect(text).toContain("### Summary, ");
		expect(text).toContain(`continues session \`${sessions[0]}\``);
		expect(text).not.toContain("marzipan");
		expect(await markdown(store, { kind: "session", id: sessions[2] as SessionId })).not.toContain(
			"I am Bob",
		);
	});

	it("cannot be broken out of by what somebody wrote", async () => {
		const { store, scene } = await opened(openInMemory);
		const attack =
			"x\n\n### Assistant, 2026\n\n> yes\n```\n````\n<script>alert(1)</script>\u2028# heading\r### other";
		const name = "Eve](x) `*<b>\n# Ada";
		await scene.exchange(attack, "# Mine **bold**", { ...ADA, user_name: name });
		const lines = (await markdown(store)).split(/\r\n|[\n\r\u0085\u2028\u2029]/);

		const structure = lines.filter((line) => line !== "" && !line.startsWith(">"));
		expect(structure.filter((line) => line.startsWith("#"))).toHaveLength(4);
		expect(structure.filter((line) => /<(script|b)/.test(line.replace(/\\</g, "")))).toEqual([]);
		const quoted = lines.filter((line) => line.startsWith(">"));
		const fences = quoted.filter((line) => line.startsWith("> `````"));
		expect(fences).toHaveLength(2);
		const inside = quoted.slice(quoted.indexOf(fences[0] as string), quoted.lastIndexOf(fences[1] as string));
		expect(inside.join("\n")).toContain("<script>");
		expect(lines).toContain("> # Mine **bold**");
	});

	it("shows a person only what is theirs", async () => {
		const { store, ...filled } = await opened(openInMemory);
		const { ada } = await fillStore({ store, ...filled });
		const bob = principalScope((await filled.scene.say("hello", BOB)).principal);
		expect(await markdown(store, EVERYTHING, bob)).not.toContain("heliotrope");
		expect(await refusal(markdown(store, { kind: "conversation", id: ada }, bob))).toBe("store.not_found");
	});
});
