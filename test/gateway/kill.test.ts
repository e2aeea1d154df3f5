// kill -9 of a real gateway process: at every commit point, before and after, in a loop. What it left is taken up by another
// one, and judged: every message has one end, every answer is visible at most once, every effect happened at most once.

import { readdirSync } from "node:fs";
import { afterEach, describe, expect, test } from "vitest";
import type { InboxItem, Store } from "../../src/store/index.ts";
import { NO_SECRETS, openStore, systemClock, systemIds } from "../../src/store/index.ts";
import { rowsAt } from "../support/store-url.ts";
import { type LifeOptions, Lives } from "./lives.ts";
import { OPERATOR } from "./support.ts";

const lives: Lives[] = [];
afterEach(async () => {
	for (const life of lives.splice(0)) await life.end();
});

const KILLS = Number(process.env.KERYX_CRASH_RUNS ?? 0);
/** Of scenario 3; whole where there is time for it. */
const [SAID, RESTARTS] = KILLS > 0 ? [500, 20] : [60, 3];

interface KillPoint {
	readonly at: number;
	readonly when: "before" | "after";
}

interface Story {
	readonly options: LifeOptions;
	/** What is said before the process that is killed starts. */
	readonly before: readonly string[];
	/** What is said while nobody runs: it arrives together with what is resumed. */
	readonly meanwhile: readonly string[];
	/** Everything that people should see, and nothing else. */
	readonly visible: readonly string[];
	judge?(life: Lives, store: Store): Promise<void>;
}

/** Two at once: most of the time goes into starting processes. */
async function atEveryCommit(story: Story): Promise<number> {
	const { count } = await once(story, undefined);
	expect(count).toBeGreaterThan(0);
	const points: KillPoint[] = [];
	for (let at = 1; at <= count; at++)
		for (const when of ["before", "after"] as const) points.push({ at, when });
	const next = async (): Promise<void> => {
		for (let point = points.shift(); point; point = points.shift()) await once(story, point);
	};
	await Promise.all([next(), next()]);
	return count;
}

async function once(story: Story, point: KillPoint | undefined): Promise<{ count: number }> {
	const life = await Lives.begin(story.options);
	lives.push(life);
	for (const text of story.before) life.world.say({ chat: "ada", text });
	const child = life.child(point);
	const done = life.world.until(() => story.before.length > 0 && finished(life, story));
	await Promise.race([child.ended, done.then(() => settled(child))]);
	await child.kill();
	const count = child.writes.length;
	for (const text of story.meanwhile) life.world.say({ chat: "ada", text });
	const where = point
		? `killed ${point.when} write ${point.at} (${child.writes[point.at - 1]})`
		: "not killed";
	await life.recovered((store) => verdict(story, life, store, where));
	await life.end();
	lives.splice(lives.indexOf(life), 1);
	return { count };
}

function finished(life: Lives, { before, visible }: Story): boolean {
	const texts = life.world.visible().map(({ text }) => text);
	return (
		life.world.acknowledged >= before.length &&
		visible.slice(0, before.length).every((text) => texts.includes(text))
	);
}

/** The last receipt is written: nothing new is, for as long as a look takes. */
async function settled(child: {
	readonly writes: readonly string[];
	readonly ended: Promise<unknown>;
}): Promise<void> {
	const before = child.writes.filter((name) => name === "settleDelivery").length;
	let turns = 0;
	while (turns++ < 50 && child.writes.filter((name) => name === "settleDelivery").length === before)
		await new Promise((resolve) => setImmediate(resolve));
}

async function verdict(story: Story, life: Lives, store: Store, where: string): Promise<void> {
	const said = [...story.before, ...story.meanwhile];
	const texts = life.world.visible("ada").map(({ text }) => text);
	for (const text of new Set(texts))
		expect(texts.filter((other) => other === text).length, `${where}: ${text}`).toBe(1);
	const unsettled = await store.deliveries({ scope: OPERATOR, which: "unsettled", limit: 50 });
	const lost = unsettled.map(({ state }) => state);
	expect(
		lost.every((state) => state === "unknown"),
		`${where}: ${JSON.stringify(unsettled)}`,
	).toBe(true);
	const missing = story.visible.filter((text) => !texts.includes(text));
	expect(missing.length, `${where}: ${JSON.stringify({ texts, missing })}`).toBeLessThanOrEqual(lost.length);
	// A preview whose receipt died with the gateway stays as it was shown, where the platform cannot be asked about it.
	const unknown = new Set(unsettled.map(({ id }) => id));
	const strange = life.world
		.visible("ada")
		.filter(({ id, text }) => !story.visible.includes(text) && !unknown.has(id));
	expect(strange, where).toEqual([]);
	if (story.options.channel?.lookup) expect(unsettled, where).toEqual([]);
	const items = await inboxItems(store);
	expect(items, where).toHaveLength(said.length);
	for (const { id, disposition } of items)
		expect(disposition?.kind, `${where}: message ${id}`).toMatch(/^(answered|merged|command)$/);
	const { problems } = await store.checkIntegrity({ scope: OPERATOR });
	expect(problems, where).toEqual([]);
	await story.judge?.(life, store);
}

/** On a server, a transaction that was cut off has used up a number. */
async function inboxItems(store: Store): Promise<readonly InboxItem[]> {
	const items = await Promise.all(
		Array.from({ length: MOST_NUMBERS }, (_, n) =>
			store.inboxItem({ scope: OPERATOR, id: n + 1 }).catch((error: { code: string }) => {
				if (error.code !== "store.not_found") throw error;
				return null;
			}),
		),
	);
	return items.filter((item) => item !== null);
}

const MOST_NUMBERS = 20;

describe("kill -9", () => {
	test("scenario 2, 4 and 7: killed at every commit of a turn with a side effect while a message waits: one end and at most one answer each, one effect, one result", {
		timeout: 240_000,
	}, async () => {
		const commits = await atEveryCommit({
			options: {
				script: {
					rules: [
						{ when: "go", steps: [{ text: "working", tools: [{ name: "effect" }] }, { text: "finished" }] },
					],
					otherwise: [{ text: "you said {{input}}" }],
				},
			},
			before: ["go"],
			meanwhile: ["and then?"],
			visible: ["finished", "you said and then?"],
			judge: async (life, store) => {
				expect(life.effects).toBeLessThanOrEqual(1);
				const conversations = await store.conversations({ scope: OPERATOR, limit: 9 });
				const session = conversations[0]?.liveSession;
				expect(conversations.length).toBe(1);
				const rows = await store.transcript({
					scope: OPERATOR,
					session: session as NonNullable<typeof session>,
				});
				expect(rows.map(({ role }) => role).filter((role) => role !== "meta")).toEqual([
					"user",
					"assistant",
					"tool",
					"assistant",
					"user",
					"assistant",
				]);
				expect(life.effects === 1 || rows[2]?.isError === true).toBe(true);
			},
		});
		expect(commits).toBeGreaterThan(8);
	});

	test("commands: killed at every commit of /new, its effect and its answer happen once", {
		timeout: 240_000,
	}, async () => {
		await atEveryCommit({
			options: { script: { otherwise: [{ text: "you said {{input}}" }] } },
			before: ["/new garden"],
			meanwhile: ["hello"],
			visible: ["Started a new session.", "you said hello"],
			judge: async (_, store) => {
				const conversations = await store.conversations({ scope: OPERATOR, limit: 9 });
				const sessions = await store.sessions({
					scope: OPERATOR,
					conversation: conversations[0]?.id as never,
					limit: 9,
				});
				expect(sessions.map(({ title }) => title)).toEqual(["garden"]);
			},
		});
	});

	test("a message that the agent sends elsewhere: killed around its commit and its sending, it arrives once or is unknown", {
		timeout: 240_000,
	}, async () => {
		const input = { target: "telegram:bob", text: "hello bob" };
		const options: LifeOptions = {
			script: {
				rules: [
					{
						when: "go",
						steps: [{ text: "", tools: [{ name: "send_message", input }] }, { text: "told bob" }],
					},
				],
			},
			config: { send: { allow: ["telegram:bob"] } },
		};
		for (const on of ["send", "claimDeliveries", "settleDelivery"])
			for (const when of ["before", "after"] as const) {
				const where = `killed ${when} ${on}`;
				const life = await begin(options);
				life.world.say({ chat: "ada", text: "go" });
				const child = life.child({ on, when });
				await child.ended;
				await life.recovered(async (store) => {
					const unsettled = await store.deliveries({ scope: OPERATOR, which: "unsettled", limit: 9 });
					expect(
						unsettled.every(({ state }) => state === "unknown"),
						where,
					).toBe(true);
					for (const [chat, text] of Object.entries({ bob: "hello bob", ada: "told bob" })) {
						// What was on its way when it died is unknown, and not sent again.
						const isUnknown = unsettled.some(({ destination }) => destination.chatId === chat);
						const visible = life.world.visible(chat).map((message) => message.text);
						expect(isUnknown && visible.length === 0 ? [text] : visible, `${where}: ${chat}`).toEqual([text]);
					}
					expect((await store.checkIntegrity({ scope: OPERATOR })).problems, where).toEqual([]);
				});
				await life.end();
			}
	});

	if (KILLS > 0)
		test("previews: killed at every commit of a streamed reply: at most one message is visible for it", {
			timeout: 600_000,
		}, async () => {
			for (const lookup of [true, false])
				await atEveryCommit({
					options: {
						script: {
							otherwise: [
								{ text: "looking", tools: [{ name: "effect" }] },
								{ chunks: ["you ", "said ", "{{input}}"] },
							],
						},
						config: { display: { streaming: true } },
						channel: { lookup },
					},
					before: ["one"],
					meanwhile: ["two"],
					visible: ["you said one", "you said two"],
				});
		});

	test(`scenario 3: ${SAID} messages, then ${RESTARTS} times kill, restart, one message: one conversation, ${SAID + RESTARTS} user messages, and starts create nothing`, {
		timeout: 240_000,
	}, async () => {
		const life = await begin({
			script: { otherwise: [{ text: "{{count}}" }] },
			config: { session_reset: { max_messages: 0 } },
			channel: { window: 50 },
		});
		for (let n = 1; n <= SAID; n++) life.world.say({ chat: "ada", text: `message ${n}` });
		const first = life.child();
		await life.world.until(() => life.world.visible().some(({ text }) => text === String(SAID)));
		await first.kill();
		for (let n = SAID + 1; n <= SAID + RESTARTS; n++) {
			const before = await counted(life);
			const child = life.child();
			expect(await child.started).toBe("started");
			expect(await counted(life)).toEqual(before);
			life.world.say({ chat: "ada", text: `message ${n}` });
			await life.world.until(() => life.world.visible().some(({ text }) => text === String(n)));
			await child.kill();
		}
		expect(await counted(life)).toMatchObject({
			conversations: 1,
			sessions: 1,
			messages: 2 * (SAID + RESTARTS),
		});
		await reading(life, async (store) => {
			const [conversation] = await store.conversations({ scope: OPERATOR, limit: 9 });
			const session = conversation?.liveSession as NonNullable<typeof conversation>["firstSession"] & string;
			const rows = await store.transcript({ scope: OPERATOR, session });
			const people = rows.filter(({ role }) => role === "user").map(({ content }) => content);
			expect(people).toEqual(Array.from({ length: SAID + RESTARTS }, (_, n) => `message ${n + 1}`));
		});
		// The prompt of the last turn held every earlier one: the agent counted them.
		expect(life.world.visible().at(-1)?.text).toBe(String(SAID + RESTARTS));
	});

	test("scenario 11: beside a live gateway a command reads, a script opens and closes the file, a second gateway is refused by name; later writes survive kill -9", async () => {
		const life = await begin({ script: { otherwise: [{ text: "you said {{input}}" }] } });
		const child = life.child();
		expect(await child.started).toBe("started");
		const answered = async (text: string) => {
			life.world.say({ chat: "ada", text });
			await life.world.until(() =>
				life.world.visible().some((message) => message.text === `you said ${text}`),
			);
		};
		await answered("one");
		expect(
			await reading(
				life,
				async (store) => (await store.story({ scope: OPERATOR, id: 1 })).item.disposition?.kind,
			),
		).toBe("answered");
		expect(await rowsAt(life.url, "inbox")).toBe(1);
		const second = life.child();
		const refusal = await second.started;
		expect(refusal).toContain("store.owned");
		expect(refusal).toMatch(new RegExp(`(?:pid|process) ${child.process.pid}\\b`));
		await second.ended;
		await answered("two");
		await child.kill();
		await life.recovered(async (store) => {
			expect((await store.inboxItem({ scope: OPERATOR, id: 2 })).disposition?.kind).toBe("answered");
			expect((await store.checkIntegrity({ scope: OPERATOR })).problems).toEqual([]);
		});
		expect(life.world.visible().map(({ text }) => text)).toEqual(["you said one", "you said two"]);
		expect(readdirSync(life.folder).filter((file) => !file.startsWith("keryx.db"))).toEqual([]);
	});
});

async function begin(options: LifeOptions): Promise<Lives> {
	const life = await Lives.begin(options);
	lives.push(life);
	return life;
}

/** As a command beside the gateway does. */
async function reading<Value>(life: Lives, look: (store: Store) => Promise<Value>): Promise<Value> {
	const store = await openStore({
		url: life.url,
		clock: systemClock,
		ids: systemIds(systemClock),
		secrets: NO_SECRETS,
		access: "read",
	});
	try {
		return await look(store);
	} finally {
		await store.close();
	}
}

async function counted({ url }: Lives): Promise<Record<string, number>> {
	return {
		conversations: await rowsAt(url, "conversations"),
		sessions: await rowsAt(url, "sessions"),
		messages: await rowsAt(url, "messages"),
	};
}
