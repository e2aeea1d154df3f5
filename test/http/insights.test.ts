// Insights over data with known answers, built through the store's operations with a clock that only the test moves.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { configSchema } from "../../src/config/schema.ts";
import { confirmationSettings, createConfirmations } from "../../src/confirmations/index.ts";
import { type Api, apiTransport, type Client, createApi, createClient } from "../../src/http/index.ts";
import { NO_SECRETS, openStore, type Store } from "../../src/store/index.ts";
import { BOB, QUIET, Scene, type SourceFields } from "../../src/testing/conformance/store/scene.ts";
import { createVirtualClock } from "../../src/testing/index.ts";
import { countedIds, createWallClock, HOUR } from "../support/clock.ts";

const DAY = 24 * HOUR;
const IRC: SourceFields = { platform: "irc", chat_id: "eve", user_id: "eve" };
/** The clocks of Berlin go forward in the night to this day: it has 23 hours. */
const SHORT_DAY = Date.parse("2026-03-28T23:00:00Z");
const SHORT_DAY_ENDS = SHORT_DAY + 23 * HOUR;

const clock = createWallClock(SHORT_DAY - 3 * DAY);
let store: Store;
let api: Api;
let client: Client;

beforeAll(async () => {
	store = await openStore({
		url: "sqlite::memory:",
		clock,
		ids: countedIds(),
		secrets: NO_SECRETS,
		auditKey: new Uint8Array(32),
	});
	const confirmations = createConfirmations({
		store,
		clock: createVirtualClock(clock.now()),
		settings: () => confirmationSettings(configSchema.parse({}), {}),
	});
	api = createApi({
		store,
		gateway: null,
		confirmations,
		timeZone: () => "Europe/Berlin",
		operatorSecret: "the operator's secret of these tests",
		version: "0.0.0",
		agent: "none",
		startedAt: clock.now(),
		now: clock.now,
	});
	client = createClient(apiTransport(api));
	await happen(new Scene({ store, clock, close: async () => {} }));
});
afterAll(async () => {
	api.close();
	await store.close();
});

async function happen(scene: Scene): Promise<void> {
	await marathon(scene);
	clock.set(SHORT_DAY - 1);
	await scene.exchange("before midnight", "yes");
	clock.set(SHORT_DAY);
	const paid = await scene.turn("at midnight");
	const call = { turn: paid.turn, token: paid.token, provider: "p", model: "m", status: "ok" as const };
	await scene.store.recordModelCall({
		...call,
		n: 1,
		inputTokens: 1000,
		cachedInputTokens: 600,
		outputTokens: 200,
		costMicros: 5000,
		currency: "USD",
	});
	await scene.store.recordModelCall({
		...call,
		n: 2,
		inputTokens: 10,
		outputTokens: 2,
		costMicros: 70,
		currency: "EUR",
	});
	await scene.reply(paid, "paid");
	await scene.store.newSession({ conversation: paid.conversation, policy: QUIET, context: "" });
	clock.set(SHORT_DAY_ENDS - 1);
	const failing = await scene.turn("fail", BOB);
	await scene.end(failing, { outcome: { kind: "failed", reason: "provider_down" } });
	clock.set(SHORT_DAY_ENDS);
	// Answered after 1, 2, ... 100 seconds.
	for (let seconds = 1; seconds <= 100; seconds++) {
		const turn = await scene.turn(`wait ${seconds}`, IRC);
		clock.advance(seconds * 1000);
		await scene.reply(turn, "here");
	}
}

/** One session of 1101 rows: 550 calls, of which those with a number over 30 fail. Three days before the short one. */
async function marathon(scene: Scene): Promise<void> {
	const turn = await scene.turn("go on for ever");
	for (let n = 0; n < 550; n++) {
		const id = `c${n}`;
		await scene.append(turn, [
			{ role: "assistant", content: "", toolCalls: [{ id, name: "t", input: { n } }], index: 2 * n + 1 },
			{ role: "tool", content: "", toolCallId: id, toolName: "t", isError: n > 30, index: 2 * n + 2 },
		]);
	}
	await scene.end(turn, { outcome: { kind: "stopped" } });
}

describe("insights", () => {
	test("I15: a day begins and ends at the zone's midnights, also where it has 23 hours", async () => {
		const { days, time_zone } = await client.insights({ days: 3 });
		expect(time_zone).toBe("Europe/Berlin");
		expect(days.map(({ date, from, to }) => [date, from, to])).toEqual([
			["2026-03-28", "2026-03-27T23:00:00.000Z", "2026-03-28T23:00:00.000Z"],
			["2026-03-29", "2026-03-28T23:00:00.000Z", "2026-03-29T22:00:00.000Z"],
			["2026-03-30", "2026-03-29T22:00:00.000Z", "2026-03-30T22:00:00.000Z"],
		]);
		expect(days.map(({ messages }) => messages)).toEqual([
			{ in: 1, out: 1, tool_results: 0 },
			{ in: 2, out: 1, tool_results: 0 },
			{ in: 100, out: 100, tool_results: 0 },
		]);
		expect(days.map(({ turns }) => turns)).toEqual([
			{ completed: 1 },
			{ completed: 1, failed: 1 },
			{ completed: 100 },
		]);
	});

	test("another zone has other days", async () => {
		const { days } = await client.insights({ days: 2, time_zone: "UTC" });
		expect(days.map(({ date, messages }) => [date, messages.in])).toEqual([
			["2026-03-28", 2],
			["2026-03-29", 101],
		]);
	});

	test("tokens and costs stand on the day of their turn, each currency by itself", async () => {
		const { days } = await client.insights({ days: 3 });
		expect(days.map(({ tokens, costs, unpriced_calls }) => ({ tokens, costs, unpriced_calls }))).toEqual([
			{ tokens: { input: 0, cached_input: 0, output: 0 }, costs: [], unpriced_calls: 0 },
			{
				tokens: { input: 1010, cached_input: 600, output: 202 },
				costs: [
					{ currency: "EUR", micros: 70 },
					{ currency: "USD", micros: 5000 },
				],
				unpriced_calls: 0,
			},
			{ tokens: { input: 0, cached_input: 0, output: 0 }, costs: [], unpriced_calls: 0 },
		]);
	});

	test("tools are counted by where in the session they were called, far back all in one", async () => {
		const { tool_errors } = await client.insights({ days: 30 });
		// Result n is row 2n + 3, so ten of them stand in each stretch of twenty rows but the first, which begins with the question.
		expect(tool_errors.slice(0, 5)).toEqual([
			{ from: 0, to: 19, results: 9, errors: 0 },
			{ from: 20, to: 39, results: 10, errors: 0 },
			{ from: 40, to: 59, results: 10, errors: 0 },
			{ from: 60, to: 79, results: 10, errors: 8 },
			{ from: 80, to: 99, results: 10, errors: 10 },
		]);
		expect(tool_errors.at(-1)).toEqual({ from: 1000, to: null, results: 51, errors: 51 });
		expect(tool_errors.length).toBe(51);
		expect((await client.insights({ days: 3 })).tool_errors).toEqual([]);
	});

	test("latency is told by nearest rank, boundaries by reason", async () => {
		const { latency, boundaries } = await client.insights({ days: 1 });
		expect(latency).toEqual({ count: 100, p50_ms: 50_000, p95_ms: 95_000, p99_ms: 99_000 });
		expect(boundaries).toEqual({});
		expect((await client.insights({ days: 2 })).boundaries).toEqual({ user_new: 1 });
	});

	test("one platform can be asked for; the platforms of the time are told all the same", async () => {
		const irc = await client.insights({ days: 3, platform: "irc" });
		expect(irc.days.map(({ messages }) => messages.in)).toEqual([0, 0, 100]);
		expect(irc.platforms).toEqual([
			{ platform: "irc", conversations: 1 },
			{ platform: "telegram", conversations: 2 },
		]);
		const telegram = await client.insights({ days: 3, platform: "telegram" });
		expect(telegram.latency).toMatchObject({ count: 2 });
		expect(telegram.boundaries).toEqual({ user_new: 1 });
		expect((await client.insights({ days: 3, platform: "none" })).latency).toEqual({
			count: 0,
			p50_ms: null,
			p95_ms: null,
			p99_ms: null,
		});
	});

	test.each([
		["days", { days: 367 }],
		["days", { days: 0 }],
		["time_zone", { time_zone: "Berlin" }],
	])("a wrong %s is refused by its name", async (field, input) => {
		await expect(client.insights(input)).rejects.toMatchObject({ code: "argument.invalid", field });
	});
});
