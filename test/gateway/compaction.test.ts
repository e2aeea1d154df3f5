// Compaction: older rows give way to a summary in the prompt, and to nothing anywhere else. Whatever the summariser does, what
// people wrote is answered, and rows, ids, counts and search stay as they were.
import { afterEach, describe, expect, test } from "vitest";
import type { StepAgent, StepEvent, StepInput } from "../../src/agents/index.ts";
import { createOfflineAgent } from "../../src/agents/index.ts";
import { NO_USAGE } from "../../src/agents/types.ts";
import { type Message, type NewMessage, SUMMARY_SYSTEM, textTokens } from "../../src/domain/index.ts";
import type { Script } from "../../src/testing/index.ts";
import { type ConfigInput, DAY, MINUTE, OPERATOR, Scene, type SceneOptions, SECOND } from "./support.ts";

let scene: Scene;
const start = async (options: SceneOptions = {}) => {
	scene = await Scene.start(options);
	return scene;
};
afterEach(() => scene.end());

type Steps = NonNullable<Script["otherwise"]>;
const SUMMARY = "They talked about the garden; the gate is green.";

/** What the summariser does, and what else there is to say. */
function script(summariser: Steps[number], ...rules: NonNullable<Script["rules"]>): Script {
	return {
		rules: [{ when: "Summarise this record of a conversation.", steps: [summariser] }, ...rules],
		otherwise: [{ text: "you said {{input}}" }],
	};
}

const small = (more: ConfigInput = {}): ConfigInput => ({
	agent: { context_window: 10_000 },
	compaction: { keep_last: 4 },
	...more,
});

/** About 800 tokens. */
const long = (what: string) => `${what} ${"word ".repeat(480)}`;

/** Rows as if they had been said here, without a model; answers the ids of all rows. */
async function said(rows: readonly NewMessage[]): Promise<readonly Message[]> {
	const first = await scene.say("hello");
	const conversation = await scene.conversation(first);
	const { store, clock } = scene;
	const { id } = await store.accept({
		kind: "person",
		source: { platform: "telegram", chat_id: "ada", user_id: "ada", chat_type: "dm" },
		platformMessage: "said before",
		content: "as I said",
		routing: { groupSessionsPerUser: true, threadSessionsPerUser: false, profile: null },
		conversation,
		as: { kind: "accept" },
	});
	const policy = POLICY;
	const begun = await store.beginTurn({
		conversation,
		inbox: [id],
		policy,
		context: "",
		autoContinueFreshness: 0,
		deadlineAt: clock.now() + DAY,
	});
	if (begun.kind !== "begun") throw new Error(begun.kind);
	const { turn, token } = begun;
	await store.appendMessages({
		turn,
		token,
		messages: rows.map((row, index) => ({ ...row, index: index + 1 })),
	});
	await store.endTurn({ turn, token, outcome: { kind: "completed" }, messages: [], deliveries: [], policy });
	scene.shown.length = 0;
	return scene.rows(first);
}

const POLICY = {
	mode: "none",
	atHour: 4,
	timezone: "UTC",
	idleMinutes: 1440,
	maxMessages: 0,
	notify: true,
	notifyExcludePlatforms: [],
	processMaxAgeHours: 24,
	carryOver: "all",
} as const;

function talk(n: number, text: (n: number) => string = (at) => `line ${at}`): NewMessage[] {
	return Array.from({ length: n }, (_, at) => ({
		role: at % 2 === 0 ? "user" : "assistant",
		content: text(at + 1),
	}));
}

const asked = () => scene.shown.filter(({ system }) => system !== SUMMARY_SYSTEM);
const summarised = () => scene.shown.filter(({ system }) => system === SUMMARY_SYSTEM);
const words = (shown: { readonly history: readonly { readonly content: unknown }[] } | undefined) =>
	(shown?.history ?? []).map(({ content }) => content);
const STANDS = `Summary of what was said here before:\n\n${SUMMARY}`;
const liveRows = async () => {
	const [conversation] = await scene.store.conversations({ scope: OPERATOR, limit: 1 });
	const session = conversation?.liveSession as NonNullable<typeof conversation>["liveSession"] & string;
	return scene.store.transcript({ scope: OPERATOR, session });
};
const session = async () => {
	const [conversation] = await scene.store.conversations({ scope: OPERATOR, limit: 1 });
	return scene.store.session({ scope: OPERATOR, id: conversation?.liveSession as never });
};

describe("by itself", () => {
	test("scenario 6: a message that arrives while 1,348 are being summed up is in the next prompt and answered; ids, bytes, counts and search stay", async () => {
		await start({
			script: script({ delay_ms: 20 * SECOND, text: SUMMARY }),
			config: { agent: { context_window: 90_000 } },
		});
		const before = await said(talk(1345, (n) => `line ${n} xylophone${n} ${"abc ".repeat(30)}`));
		expect(before.length).toBe(1348);
		await scene.say("now");
		await scene.clock.advance(5 * SECOND);
		expect(summarised().length).toBe(1);
		const meanwhile = await scene.say("meanwhile");
		expect(await liveRows()).toHaveLength(1349);
		await scene.clock.advance(20 * SECOND);

		expect(scene.texts().slice(1)).toEqual(["you said now", "you said meanwhile"]);
		expect(await scene.disposition(meanwhile)).toBe("answered");
		const [now, next] = asked();
		expect(words(now)[0]).toBe(STANDS);
		expect(words(now).slice(1)).toEqual([...before.slice(-19).map(({ content }) => content), "now"]);
		expect(words(next)).toEqual([...words(now), "you said now", "meanwhile"]);
		expect(summarised().length).toBe(1);

		const after = await liveRows();
		expect(after.slice(0, 1348)).toEqual(before);
		expect(after.slice(1348).map(({ role, kind, content }) => [role, kind ?? content])).toEqual([
			["user", "now"],
			["meta", "summary"],
			["assistant", "you said now"],
			["user", "meanwhile"],
			["assistant", "you said meanwhile"],
		]);
		expect(after.map(({ seq }) => seq)).toEqual(after.map((_, index) => index + 1));
		expect((await session()).messages).toBe(1348 + 4);
		const { hits } = await scene.store.search({ scope: OPERATOR, query: "xylophone7", limit: 5 });
		expect(hits.map((hit) => (hit.kind === "message" ? hit.id : hit))).toEqual([before[9]?.id]);
		expect((await scene.store.checkIntegrity({ scope: OPERATOR })).problems).toEqual([]);
	});

	test("what the summariser was asked is recorded as a model call, and not taken for the size of the prompt", async () => {
		await start({
			script: script(
				{ text: SUMMARY, usage: { input_tokens: 9000, output_tokens: 12 } },
				{ when: "now", steps: [{ text: "yes", usage: { input_tokens: 900 } }] },
			),
			config: small(),
		});
		await said(talk(12, (n) => long(`line ${n}`)));
		await scene.say("now");
		const { session: spent } = await scene.store.usage({
			scope: OPERATOR,
			conversation: (await session()).conversation,
			since: 0,
		});
		expect(spent).toMatchObject({ calls: 3, inputTokens: 9000 + 900 });
		expect((await session()).lastPromptTokens).toBe(900);
	});

	test("the next summary takes in the one before it, and a prompt has one", async () => {
		await start({ script: script({ text: SUMMARY }), config: small() });
		await said(talk(12, (n) => long(`line ${n}`)));
		await scene.say(long("one"));
		for (const text of ["two", "three", "four"]) await scene.say(long(text));
		expect(summarised().length).toBe(2);
		expect(words(summarised()[1])[0]).toContain(`Note: ${STANDS}`);
		expect(words(asked().at(-1)).filter((text) => text === STANDS)).toEqual([STANDS]);
		expect(words(asked().at(-1))[0]).toBe(STANDS);
	});

	test("it is not tried below the threshold, nor where it is switched off, nor by an agent without a model", async () => {
		const lines = talk(12, (n) => long(`line ${n}`));
		await start({ script: script({ text: SUMMARY }), config: small({ agent: { context_window: 100_000 } }) });
		await said(lines);
		await scene.say("now");
		expect([summarised().length, scene.texts().at(-1)]).toEqual([0, "you said now"]);
		await scene.end();

		await start({
			script: script({ text: SUMMARY }),
			config: small({ compaction: { enabled: false, keep_last: 4 } }),
		});
		await said(lines);
		await scene.say("now");
		expect([summarised().length, scene.texts().at(-1)]).toEqual([0, "you said now"]);
		await scene.end();

		await start({ agent: () => createOfflineAgent(), config: small() });
		await said(lines);
		await scene.say("now");
		expect(scene.shown.length).toBe(1);
	});

	test("what the model counted decides, where it has counted", async () => {
		await start({ agent: () => counting({ tokens: 7000 }), config: small() });
		await scene.say("one");
		await scene.say("two");
		expect(summarised().length).toBe(0);
		await scene.end();
		await start({ agent: () => counting({ tokens: 7990 }), config: small({ compaction: { keep_last: 1 } }) });
		await scene.say(`one ${"and so on ".repeat(20)}`);
		await scene.say("two");
		expect(summarised().length).toBe(1);
	});

	test("scenario 8: turns with tools, redeliveries and a compaction in the middle leave exactly their rows, in a dense order", async () => {
		await start({
			script: script(
				{ text: SUMMARY },
				{
					when: "look",
					steps: [
						{ text: long("looking"), tools: [{ name: "effect", input: { what: "it" } }] },
						{ text: "seen" },
					],
				},
			),
			config: small(),
		});
		const ids: string[] = [];
		for (let n = 1; n <= 12; n++) {
			ids.push(await scene.say(`look ${n}`));
			scene.world.redeliver(ids[Math.floor(n / 2)] ?? (ids[0] as string));
			await scene.clock.advance(SECOND);
		}
		expect(summarised().length).toBeGreaterThan(0);
		const rows = await liveRows();
		expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, index) => index + 1));
		const exchange = rows.filter(({ role }) => role !== "meta");
		expect(exchange.map(({ role }) => role)).toEqual(
			ids.flatMap(() => ["user", "assistant", "tool", "assistant"]),
		);
		expect(exchange.filter(({ role }) => role === "user").map(({ content }) => content)).toEqual(
			ids.map((_, n) => `look ${n + 1}`),
		);
		expect((await session()).messages).toBe(48);
		expect(scene.effects.length).toBe(12);
		for (const { history } of asked()) {
			const open = history.flatMap((row) =>
				row.role === "assistant" ? row.toolCalls.map(({ id }) => id) : [],
			);
			const answered = history.flatMap((row) => (row.role === "tool" ? [row.toolCallId] : []));
			expect(answered).toEqual(open);
			expect(JSON.stringify(history)).not.toContain("interrupted");
		}
	});

	test("scenario 10: one failing call, repeated across a compaction and a restart, ends within the stored budget, and the user is told", async () => {
		await start({
			durable: true,
			script: script(
				{ text: SUMMARY },
				{
					when: "go",
					steps: [
						{ delay_ms: SECOND, text: long("again"), tools: [{ name: "fail", input: { what: "same" } }] },
					],
					repeat: true,
				},
			),
			config: small({ compaction: { keep_last: 2 }, agent: { context_window: 4000 } }),
		});
		const id = await scene.say("go");
		await scene.clock.advance(3500);
		expect(summarised().length).toBeGreaterThan(0);
		await scene.crash();
		await scene.clock.advance(MINUTE);
		const rows = await scene.rows(id);
		expect(rows.some(({ kind }) => kind === "summary")).toBe(true);
		expect(rows.filter(({ role }) => role === "tool").length).toBe(5);
		expect((await scene.item(id)).disposition).toEqual({ kind: "failed", reason: "loop: fail" });
		expect(scene.texts()).toEqual(["I stopped because the same call to fail failed 5 times in a row."]);
		// What is being answered is never only a summary.
		for (const shown of asked()) expect(words(shown)).toContain("go");
	});
});

describe("where it does not work", () => {
	const lines = talk(12, (n) => long(`line ${n}`));
	const NOTICE = "This conversation is almost too long for the model";

	test("a summariser that fails changes nothing: the message is answered, and one notice says why", async () => {
		await start({ script: script({ fail: { kind: "rate_limited" } }), config: small() });
		const before = await said(lines);
		await scene.say("now");
		await scene.say("and now");
		const after = await liveRows();
		expect(after.slice(0, before.length)).toEqual(before);
		expect(after.slice(before.length).map(({ content }) => content)).toEqual([
			"now",
			"you said now",
			"and now",
			"you said and now",
		]);
		const [, notice, ...rest] = scene.texts();
		expect(notice).toContain(
			`${NOTICE}, and its older messages could not be summarised: the model's provider`,
		);
		expect(rest).toEqual(["you said now", "you said and now"]);
		expect(summarised().length).toBe(1);
		expect(words(asked()[0])).toEqual([...before.map(({ content }) => content), "now"]);
	});

	test("a summariser that stalls is given up at the deadline of a model step, and the message is answered", async () => {
		await start({ script: script({ hang: true }), config: small({ turn: { first_token_seconds: 30 } }) });
		await said(lines);
		await scene.say("now");
		await scene.clock.advance(29 * SECOND);
		expect(scene.texts().length).toBe(1);
		await scene.clock.advance(2 * SECOND);
		expect(scene.texts().at(-1)).toBe("you said now");
		expect(scene.texts()[1]).toContain("the model took too long");
	});

	test.each([
		["empty", { text: "  " }],
		["thrown", { throws: "out of order" }],
	])("a summary that is %s is none", async (_, step) => {
		await start({ script: script(step), config: small() });
		await said(lines);
		await scene.say("now");
		expect((await liveRows()).some(({ kind }) => kind === "summary")).toBe(false);
		expect(scene.texts()[1]).toContain("the model's summary could not be used");
		expect(scene.texts().at(-1)).toBe("you said now");
	});

	test("a conversation that cannot shrink: ten messages are answered with one attempt and one notice, over a restart too, until it has grown", async () => {
		await start({
			durable: true,
			script: script({ delay_ms: 10 * SECOND, text: long("more and more ").repeat(12) }),
			config: small(),
		});
		await said(lines);
		const texts: string[] = [];
		for (let n = 1; n <= 10; n++) {
			if (n === 5) await scene.crash();
			await scene.say(`message ${n}`);
			// The first waits for the summary that is dropped, the others for nothing.
			if (n === 1) await scene.clock.advance(11 * SECOND);
			texts.push(scene.texts().at(-1) as string);
		}
		expect(texts).toEqual(Array.from({ length: 10 }, (_, n) => `you said message ${n + 1}`));
		expect(summarised().length).toBe(1);
		expect(scene.texts().filter((text) => text.startsWith(NOTICE)).length).toBe(1);
		expect((await liveRows()).some(({ kind }) => kind === "summary")).toBe(false);
		// A tenth of the window more is worth another attempt; a second notice is not.
		await scene.say(long("more").repeat(2));
		await scene.clock.advance(11 * SECOND);
		expect(summarised().length).toBe(2);
		expect(scene.texts().filter((text) => text.startsWith(NOTICE)).length).toBe(1);
	});

	test("last messages that alone are too long are told of once, and no summary is tried", async () => {
		await start({ script: script({ text: SUMMARY }), config: small() });
		for (let n = 1; n <= 3; n++) await scene.say(`${n} ${"word ".repeat(6000)}`.slice(0, 24_000));
		expect(summarised().length).toBeLessThanOrEqual(1);
		expect(scene.texts().filter((text) => text.startsWith(NOTICE)).length).toBe(1);
	});

	test("stopped while it sums up: the turn ends, and nothing has changed", async () => {
		await start({ script: script({ hang: true }), config: small() });
		const before = await said(lines);
		const id = await scene.say("now");
		await scene.say("/stop");
		await scene.clock.advance(3 * SECOND);
		expect(await scene.disposition(id)).toBe("stopped");
		const rows = await liveRows();
		expect(rows.slice(0, before.length)).toEqual(before);
		expect(rows.some(({ kind }) => kind === "summary")).toBe(false);
	});

	test("a crash while it sums up: the turn goes on at the next start, and sums up then", async () => {
		await start({ durable: true, script: script({ delay_ms: 10 * SECOND, text: SUMMARY }), config: small() });
		await said(lines);
		await scene.say("now");
		await scene.clock.advance(5 * SECOND);
		expect((await liveRows()).some(({ kind }) => kind === "summary")).toBe(false);
		await scene.crash();
		await scene.clock.advance(11 * SECOND);
		expect(scene.texts().slice(1)).toEqual(["you said now"]);
		expect((await liveRows()).filter(({ kind }) => kind === "summary").length).toBe(1);
	});
});

describe("a prompt that the provider refuses as too long", () => {
	const lines = talk(12, (n) => `line ${n}`);

	test("is compacted once and asked again within the same turn", async () => {
		await start({ agent: () => counting({ most: 300, reads: 2000 }), config: small() });
		await said(talk(40, (n) => `line ${n} ${"abc ".repeat(9)}`));
		await scene.say("now");
		expect(scene.texts().at(-1)).toBe("said");
		expect(words(asked().at(-1))[0]).toBe(STANDS);
		expect((await liveRows()).filter(({ kind }) => kind === "summary").length).toBe(1);
	});

	test("ends with the sentence that offers /compress and /new where that does not help, without a second attempt", async () => {
		await start({ agent: () => counting({ most: 0 }), config: small() });
		await said(lines);
		await scene.say("now");
		await scene.say("and now");
		const sentence = /too long for the model.*\/compress.*\/new/;
		expect(scene.texts().slice(-2)).toEqual([
			expect.stringMatching(sentence),
			expect.stringMatching(sentence),
		]);
		expect(summarised().length).toBeLessThanOrEqual(1);
	});

	test("what the model counted before a compaction says nothing of the prompt after it", async () => {
		let answers = 0;
		const agent: StepAgent = {
			kind: "step",
			name: "growing",
			async *step({ system }): AsyncGenerator<StepEvent> {
				if (system === SUMMARY_SYSTEM) yield done(SUMMARY, 1);
				else if (++answers === 1) yield done("said", 7990);
				else yield { type: "failed", failure: { kind: "context_too_large", detail: "always" } };
			},
		};
		await start({ agent: () => agent, config: small({ compaction: { keep_last: 1 } }) });
		await scene.say(`one ${"and so on ".repeat(20)}`);
		await scene.say("two");
		expect([summarised().length, answers]).toEqual([1, 2]);
		const page = await scene.store.events({ scope: OPERATOR, after: "", limit: 200 });
		const types = page.kind === "events" ? page.events.map(({ type }) => type) : [];
		expect(types).toContain("transcript.covered");
		expect(types).not.toContain("transcript.not_covered");
	});

	test("a summariser that can read less than thought is given less at a time", async () => {
		await start({ agent: () => counting({ most: 2500 }), config: small() });
		await said(talk(12, (n) => long(`line ${n}`).slice(0, 1500)));
		await scene.say("now");
		expect(scene.texts().at(-1)).toBe("said");
		expect(summarised().length).toBeGreaterThan(2);
		expect(words(asked().at(-1))[0]).toBe(STANDS);
	});
});

describe("/compress", () => {
	test("sums up everything but the last messages, and says how many became how many words", async () => {
		await start({ script: script({ delay_ms: 10 * SECOND, text: SUMMARY }), config: small() });
		const before = await said(talk(20));
		await scene.say("/compress");
		await scene.say("and then");
		expect(scene.texts().at(-1)).toContain("Summarising earlier messages.");
		await scene.clock.advance(11 * SECOND);
		const [, , done, next] = scene.texts();
		expect(done).toMatch(
			/^19 messages became a summary of 9 words\. Nothing is lost: you can still read and search all of them\./,
		);
		expect(next).toBe("you said and then");
		expect(words(asked().at(-1))).toEqual([
			STANDS,
			...before.slice(-4).map(({ content }) => content),
			"and then",
		]);
		expect((await liveRows()).slice(0, before.length)).toEqual(before);
		expect((await session()).messages).toBe(before.length + 2);
	});

	test("/undo takes the summary back with the last turn, and undo into what it covers does too; /redo brings it back", async () => {
		await start({ script: script({ text: SUMMARY }), config: small({ compaction: { keep_last: 2 } }) });
		for (const text of ["one", "two", "three"]) await scene.say(text);
		await scene.say("/compress");
		await scene.say("four");
		expect(words(asked().at(-1))).toEqual([STANDS, "three", "you said three", "four"]);
		await scene.say("/undo 2");
		await scene.say("/redo");
		await scene.say("four again");
		expect(words(asked().at(-1))).toEqual([
			STANDS,
			"three",
			"you said three",
			"four",
			"you said four",
			"four again",
		]);
		await scene.say("/undo 4");
		await scene.say("five");
		expect(words(asked().at(-1))).toEqual(["one", "you said one", "five"]);
	});

	test("a conversation that is empty or short is left alone", async () => {
		await start({ script: script({ text: SUMMARY }) });
		await scene.say("/compress");
		expect(scene.texts().at(-1)).toBe(
			"There is nothing to summarise: the last 20 messages of a session are always kept in full (setting: compaction.keep_last).",
		);
		await scene.say("one");
		await scene.say("/compress");
		expect(scene.texts().at(-1)).toContain("There is nothing to summarise");
		expect(summarised().length).toBe(0);
	});

	test("while a turn runs, that is ended first, and said", async () => {
		await start({
			script: script({ text: SUMMARY }, { when: "slow", steps: [{ delay_ms: MINUTE, text: "slowly" }] }),
			config: small(),
		});
		await said(talk(20));
		const slow = await scene.say("slow");
		await scene.say("/compress");
		await scene.clock.advance(SECOND);
		expect(await scene.disposition(slow)).toBe("stopped");
		expect(scene.texts().at(-2)).toMatch(/stopped|ended/i);
		expect(scene.texts().at(-1)).toContain("became a summary");
		await scene.clock.advance(2 * MINUTE);
		expect(scene.texts().at(-1)).toContain("became a summary");
	});

	test("/stop gives it up, other commands are answered beside it, and what waits is answered", async () => {
		await start({ script: script({ hang: true }), config: small() });
		const before = await said(talk(20));
		await scene.say("/compress");
		await scene.say("next");
		await scene.say("/whoami");
		expect(scene.texts().at(-1)).toContain("You are");
		await scene.say("/stop");
		await scene.clock.advance(3 * SECOND);
		expect(scene.texts().at(-1)).toBe("you said next");
		expect((await liveRows()).map(({ content }) => content)).toEqual([
			...before.map(({ content }) => content),
			"next",
			"you said next",
		]);
	});

	test.each([
		[
			"fails",
			{ fail: { kind: "provider_down" as const } },
			"The summary failed: the model's provider cannot",
		],
		["would be longer", { text: "and ".repeat(500) }, "The summary would not have been shorter"],
	])("a summary that %s changes nothing, and is said", async (_, step, sentence) => {
		await start({ script: script(step), config: small() });
		const before = await said(talk(20));
		await scene.say("/compress");
		expect(scene.texts().at(-1)).toContain(sentence);
		expect(await liveRows()).toEqual(before);
	});

	test("agents that cannot, or do it by themselves, say so", async () => {
		await start({ kind: "loop", config: small() });
		await said(talk(20));
		await scene.say("/compress");
		expect(scene.texts().at(-1)).toContain("shortens it automatically");
		await scene.end();
		await start({ agent: () => createOfflineAgent(), config: small() });
		await said(talk(20));
		await scene.say("/compress");
		expect(scene.texts().at(-1)).toContain("has no model that could write a summary");
	});

	test("interrupted by a crash, it is done at the next start, and its answer comes once", async () => {
		await start({ durable: true, script: script({ delay_ms: 10 * SECOND, text: SUMMARY }), config: small() });
		await said(talk(20));
		await scene.say("/compress");
		await scene.clock.advance(5 * SECOND);
		await scene.crash();
		await scene.clock.advance(11 * SECOND);
		expect(scene.texts().filter((text) => text.includes("became a summary")).length).toBe(1);
		expect((await liveRows()).filter(({ kind }) => kind === "summary").length).toBe(1);
	});

	test("a crash between its summary and its answer: the answer at the next start tells of that summary", async () => {
		let dead = false;
		const options: SceneOptions = { durable: true, script: script({ text: SUMMARY }), config: small() };
		await start({
			...options,
			engine: (engine) => ({
				...engine,
				write: (name, args, drawn) =>
					dead
						? new Promise(() => {})
						: engine.write(name, args, drawn).then((value) => {
								dead ||= name === "cover";
								return value;
							}),
			}),
		});
		await said(talk(20));
		await scene.say("/compress");
		expect(scene.texts().some((text) => text.includes("became a summary"))).toBe(false);
		await scene.crash(0, options);
		await scene.clock.advance(SECOND);
		expect(scene.texts().at(-1)).toMatch(/^19 messages became a summary of 9 words\./);
		expect(summarised().length).toBe(1);
		expect((await liveRows()).filter(({ kind }) => kind === "summary").length).toBe(1);
	});
});

describe("an attachment that the provider does not take", () => {
	test("is left out from then on, the turn is asked again, and the user is told once", async () => {
		const refusing: StepAgent = {
			kind: "step",
			name: "refusing",
			async *step({ history }): AsyncGenerator<StepEvent> {
				const images = history.flatMap(({ content }) =>
					typeof content === "string"
						? []
						: content.flatMap((part) => (part.type === "image" ? [part.blob] : [])),
				);
				if (images.length > 0)
					yield {
						type: "failed",
						failure: { kind: "attachment_refused", detail: "no", attachments: images },
					};
				else yield done("fine");
			},
		};
		await start({ agent: () => refusing });
		const first = await scene.say("hello");
		await withImage("look at this");
		expect(scene.texts().slice(1)).toEqual([
			"fine",
			expect.stringContaining("image cat.png: the model's provider does not accept it"),
		]);
		await scene.say("and now");
		expect(scene.texts().slice(3)).toEqual(["fine"]);
		expect(scene.shown.length).toBe(4);
		expect(JSON.stringify(words(scene.shown.at(-1)))).toContain(
			"[image cat.png: left out, the model's provider did not accept it]",
		);
		expect(scene.shown.at(-1)?.history).toHaveLength(5);
		const rows = await scene.rows(first);
		expect(rows.find(({ kind }) => kind === "left_out")?.leavesOut).toHaveLength(1);
		expect(JSON.stringify(rows[2]?.content)).toContain("image/png");
		expect((await scene.store.checkIntegrity({ scope: OPERATOR })).problems).toEqual([]);
	});
});

/** By the way in that takes bytes. */
async function withImage(text: string): Promise<void> {
	const { store, gateway, clock } = scene;
	const { id } = await store.beginBlob({ mediaType: "image/png" });
	await store.putBlobChunk({ id, n: 0, bytes: new Uint8Array([1, 2, 3]) });
	const { digest } = await store.finishBlob({ id });
	await gateway.accept({
		source: { platform: "telegram", chat_id: "ada", user_id: "ada", chat_type: "dm" },
		platformMessage: "with an image",
		content: [
			{ type: "text", text },
			{ type: "image", blob: digest, mediaType: "image/png", name: "cat.png" },
		],
		blobs: [id],
	} as never);
	await clock.advance(0);
}

function done(text: string, inputTokens = 0): StepEvent {
	return {
		type: "done",
		message: { content: text, toolCalls: [], finishReason: "stop" },
		usage: { ...NO_USAGE, provider: "test", model: "test", inputTokens },
	};
}

/** Refuses what has more tokens than it takes, or reads to sum it up, and says what it was told that a prompt has. */
function counting({
	most = Number.MAX_SAFE_INTEGER,
	reads = most,
	tokens = 0,
}: {
	readonly most?: number;
	readonly reads?: number;
	readonly tokens?: number;
}): StepAgent {
	return {
		kind: "step",
		name: "counting",
		async *step({ system, history }: StepInput): AsyncGenerator<StepEvent> {
			const size = history.reduce((sum, { content }) => sum + textTokens(String(content)), 0);
			if (size > (system === SUMMARY_SYSTEM ? reads : most))
				yield { type: "failed", failure: { kind: "context_too_large", detail: `${size}` } };
			else if (system === SUMMARY_SYSTEM) yield done(SUMMARY, 1);
			else yield done("said", tokens);
		},
	};
}
