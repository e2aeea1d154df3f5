// Many chats on one gateway, each with a schedule of its own: what people write, how the platform answers each attempt, and weather that
// hits all of them: restarts, deaths at a write, a full disk, answers of the store that are lost, broken connections. At the end it is
// judged from what users saw and from the events alone: nothing twice, nothing before what was committed earlier (I7, I19).
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import fc from "fast-check";
import { z } from "zod";
import type { StepAgent } from "../../src/agents/index.ts";
import { NO_USAGE } from "../../src/agents/types.ts";
import { type Channel, createGateway, type Gateway } from "../../src/gateway/index.ts";
import { NO_SECRETS } from "../../src/secrets/index.ts";
import type { Store, WriteName } from "../../src/store/index.ts";
import { storeOn } from "../../src/store/store.ts";
import {
	type Attempt,
	type Behaviour,
	type ChannelAbilities,
	createScriptedChannel,
	createVirtualClock,
	type ScriptedChannel,
	ScriptedPlatform,
	type VirtualClock,
} from "../../src/testing/index.ts";
import type { Clock } from "../../src/time/index.ts";
import { createTools, defineTool } from "../../src/tools/index.ts";
import { countedIds, NOON } from "../support/clock.ts";
import { MemoryDatabase, type WriteFault } from "../support/memory-engine.ts";
import { AUDIT_KEY, configOf, MINUTE, OPERATOR, SECOND } from "./support.ts";

/** Short messages, so that a few hundred characters are several parts. */
const PLATFORM = "irc";
const PART = "word ".repeat(72);
/** By account: one that can only edit, one that can be asked as well, one that can do neither. */
const ACCOUNTS: Readonly<Record<string, ChannelAbilities>> = {
	plain: {},
	asked: { lookup: true },
	fixed: { edit: false },
};
export type Account = keyof typeof ACCOUNTS & string;
/** What happens after this is calm: everything comes to its end. */
const STORM_MS = 30 * SECOND;
const REST_MS = 4 * 60 * MINUTE;

type Said =
	| {
			readonly do: "ask";
			readonly parts: number;
			readonly chunks: number;
			readonly every: number;
			readonly tool: number;
	  }
	| { readonly do: "command"; readonly name: "/status" | "/stop" | "/new" }
	/** The question of a confirmation, which belongs to no conversation of the chat. */
	| { readonly do: "notice" };

export interface Schedule {
	readonly account: Account;
	readonly thread: boolean;
	readonly steps: readonly { readonly at: number; readonly user: string; readonly said: Said }[];
	/** Of the first attempts, in order; the rest are ok. */
	readonly behaviours: readonly Behaviour[];
}

export type Weather =
	| { readonly at: number; readonly kind: "restart"; readonly downMs: number }
	| {
			readonly at: number;
			readonly kind: "death";
			readonly downMs: number;
			readonly writes: number;
			readonly when: "die_before" | "die_after";
	  }
	| { readonly at: number; readonly kind: "full"; readonly ms: number }
	| { readonly at: number; readonly kind: "lost_answer"; readonly of: WriteName }
	| { readonly at: number; readonly kind: "disconnect"; readonly account: Account };

const at = fc.integer({ min: 0, max: 20_000 });
const accounts = fc.constantFrom<Account>("plain", "asked", "fixed");
const undelayed = fc.oneof(
	{ weight: 8, arbitrary: fc.constant("ok" as const) },
	{ weight: 2, arbitrary: fc.constantFrom("lost" as const, "lose_ack" as const) },
	{ weight: 1, arbitrary: fc.constantFrom("refuse" as const, "markup_refused" as const) },
	{ weight: 3, arbitrary: fc.record({ retryAfterMs: fc.integer({ min: 100, max: 5000 }) }) },
);
const behaviour: fc.Arbitrary<Behaviour> = fc.oneof(
	{ weight: 6, arbitrary: undelayed },
	{ weight: 4, arbitrary: fc.record({ delayMs: fc.integer({ min: 20, max: 4000 }), andThen: undelayed }) },
	// Longer than anybody waits.
	{
		weight: 1,
		arbitrary: fc.record({ delayMs: fc.integer({ min: 61_000, max: 100_000 }), andThen: undelayed }),
	},
);
const said: fc.Arbitrary<Said> = fc.oneof(
	{
		weight: 6,
		arbitrary: fc.record({
			do: fc.constant("ask" as const),
			parts: fc.integer({ min: 1, max: 4 }),
			chunks: fc.integer({ min: 1, max: 4 }),
			every: fc.integer({ min: 0, max: 1500 }),
			tool: fc.constantFrom(0, 0, 2500),
		}),
	},
	{
		weight: 2,
		arbitrary: fc.record({
			do: fc.constant("command" as const),
			name: fc.constantFrom("/status" as const, "/status" as const, "/stop" as const, "/new" as const),
		}),
	},
	{ weight: 1, arbitrary: fc.record({ do: fc.constant("notice" as const) }) },
);

export const schedules: fc.Arbitrary<Schedule> = fc.record({
	account: accounts,
	thread: fc.boolean(),
	steps: fc.array(fc.record({ at, user: fc.constantFrom("ada", "bob"), said }), {
		minLength: 2,
		maxLength: 6,
		size: "max",
	}),
	behaviours: fc.array(behaviour, { maxLength: 10, size: "max" }),
});

const OF_DELIVERIES = [
	"openDelivery",
	"recordPreview",
	"claimDeliveries",
	"settleDelivery",
	"recordLookup",
] as const;
export const weathers: fc.Arbitrary<readonly Weather[]> = fc.array(
	fc.oneof(
		fc.record({ at, kind: fc.constant("restart" as const), downMs: fc.integer({ min: 0, max: 5000 }) }),
		fc.record({
			at,
			kind: fc.constant("death" as const),
			downMs: fc.integer({ min: 0, max: 5000 }),
			writes: fc.integer({ min: 1, max: 60 }),
			when: fc.constantFrom("die_before" as const, "die_after" as const),
		}),
		fc.record({ at, kind: fc.constant("full" as const), ms: fc.integer({ min: 100, max: 3000 }) }),
		fc.record({ at, kind: fc.constant("lost_answer" as const), of: fc.constantFrom(...OF_DELIVERIES) }),
		fc.record({ at, kind: fc.constant("disconnect" as const), account: accounts }),
	),
	{ maxLength: 5, size: "max" },
);

export interface Counts {
	shown: number;
	previews: number;
	pauses: number;
	lost: number;
	deaths: number;
	/** Shown after something later, because its outcome was unknown when that was sent: what I19 leaves open. The platform took longer than
	 * anybody waits, or Keryx died or lost the connection meanwhile. */
	late: number;
	/** The same, sent again because the platform could say only later that it had not taken it. */
	resent: number;
}

export interface Verdict {
	readonly problems: readonly string[];
	readonly counts: Counts;
}

/** One life of the gateway. */
interface Life {
	readonly store: Store;
	readonly gateway: Gateway;
	readonly channels: readonly ScriptedChannel[];
	kill(): void;
	isDead(): boolean;
}

export async function play(chats: readonly Schedule[], weather: readonly Weather[]): Promise<Verdict> {
	const world = new OrderWorld(chats, weather);
	try {
		await world.run();
		return world.verdict();
	} finally {
		world.end();
	}
}

class OrderWorld {
	readonly #chats: readonly Schedule[];
	readonly #weather: readonly Weather[];
	readonly #database = new MemoryDatabase(AUDIT_KEY);
	readonly #clock: VirtualClock = createVirtualClock(NOON, { settle });
	readonly #ids = countedIds();
	readonly #platforms = new Map<string, ScriptedPlatform>();
	/** When an attempt reached its platform, and the newest event then, by account and number. */
	readonly #begun = new Map<string, Moment>();
	/** When somebody who waited for an answer could not get it any more: deaths, and broken connections of an account. */
	readonly #breaks: { readonly at: number; readonly account: string | null }[] = [];
	/** The newest event when a platform first could not say what became of a delivery. */
	readonly #unsaid = new Map<string, number>();
	readonly #tried = new Map<string, number>();
	readonly #counts: Counts = { shown: 0, previews: 0, pauses: 0, lost: 0, deaths: 0, late: 0, resent: 0 };
	readonly #problems: string[] = [];
	#faults: { countdown: number; readonly fault: WriteFault; readonly of: WriteName | null }[] = [];
	#fullUntil = 0;
	#notices = 0;
	#life: Life | null = null;

	constructor(chats: readonly Schedule[], weather: readonly Weather[]) {
		this.#chats = chats;
		this.#weather = weather;
		for (const account of Object.keys(ACCOUNTS))
			this.#platforms.set(
				account,
				new ScriptedPlatform({
					platform: PLATFORM,
					account,
					behave: (attempt) => this.#behave(account, attempt),
				}),
			);
	}

	async run(): Promise<void> {
		await this.#open();
		const began = this.#clock.now();
		const steps = [
			...this.#chats.flatMap(({ steps }, n) =>
				steps.map((step) => ({ at: step.at, act: () => this.#say(n, step) })),
			),
			...this.#weather.map((one) => ({ at: one.at, act: () => this.#suffer(one) })),
		].sort((a, b) => a.at - b.at);
		for (const step of steps) {
			if (began + step.at > this.#clock.now()) await this.#clock.advanceTo(began + step.at);
			await step.act();
			if (this.#life?.isDead()) await this.#reopen(1000);
		}
		await this.#clock.advanceTo(Math.max(this.#clock.now(), began + STORM_MS));
		this.#faults = [];
		for (let rested = 0; rested < REST_MS && !(await this.#isAtRest()); rested += 2 * MINUTE) {
			if (this.#life?.isDead()) await this.#reopen(1000);
			await this.#clock.advance(2 * MINUTE);
		}
		if (!(await this.#isAtRest())) this.#problems.push("it does not come to rest");
	}

	end(): void {
		this.#life?.kill();
		this.#database.close();
	}

	async #open(): Promise<void> {
		const clock = this.#clock;
		let channels: readonly ScriptedChannel[] = [];
		const engine = this.#database.own(
			(name) => this.#faultOf(name),
			() => {
				this.#counts.deaths++;
				this.#breaks.push({ at: clock.now(), account: null });
				for (const channel of channels) void channel.stop();
			},
		);
		/** Whoever is dead hears no bell. */
		const ownClock: Clock = {
			now: () => clock.now(),
			monotonic: () => clock.monotonic(),
			after: (ms, callback) => clock.after(ms, () => engine.isDead || callback()),
		};
		channels = [...this.#platforms].map(([account, on]) =>
			createScriptedChannel({ on, clock, reconnectMs: 700, ...ACCOUNTS[account] }),
		);
		const store = storeOn(engine, { clock, ids: this.#ids, secrets: NO_SECRETS });
		const gateway = createGateway({
			store,
			agent: talker(ownClock),
			tools: createTools([slowTool(ownClock)]),
			channels: channels.map((channel) => this.#watched(channel, () => engine.isDead)),
			config: configOf({
				auth: { [PLATFORM]: { allow_all: true } },
				display: { streaming: true },
				gateway: { batch_ms: 0, max_turns: 1000 },
				session_reset: { mode: "none", max_messages: 9 },
			}),
			clock: ownClock,
			pseudonymKey: new Uint8Array(32),
		});
		this.#life = { store, gateway, channels, kill: () => engine.kill(), isDead: () => engine.isDead };
		// One that dies while it starts never comes back from it; one that cannot start is started again.
		const started = gateway.start().catch(() => engine.kill());
		await Promise.race([started, settle().then(settle)]);
		await this.#clock.advance(0);
	}

	async #reopen(downMs: number): Promise<void> {
		this.#life?.kill();
		await this.#clock.advance(downMs);
		await this.#open();
	}

	/** Nothing of a dead gateway reaches the platform, and it hears nothing from there. */
	#watched(channel: ScriptedChannel, isDead: () => boolean): Channel {
		const never = () => new Promise<never>(() => {});
		const { edit, lookup } = channel;
		return {
			...channel,
			send: (outgoing) => (isDead() ? never() : channel.send(outgoing)),
			...(edit && { edit: (receipt, outgoing) => (isDead() ? never() : edit(receipt, outgoing)) }),
			...(lookup && {
				lookup: async (id, destination) => {
					if (isDead()) return never();
					const found = await lookup(id, destination);
					if (found.kind === "unknown" && channel.health().state === "connected" && !this.#unsaid.has(id))
						this.#unsaid.set(id, this.#database.lastEvent());
					return found;
				},
			}),
		};
	}

	#behave(account: string, { n, destination }: Attempt): Behaviour {
		this.#begun.set(`${account} r${n}`, { event: this.#database.lastEvent(), at: this.#clock.now() });
		if (this.#clock.now() >= NOON + STORM_MS) return "ok";
		const tried = this.#tried.get(destination.chatId) ?? 0;
		this.#tried.set(destination.chatId, tried + 1);
		const behaviour = this.#chats[Number(destination.chatId.slice(1))]?.behaviours[tried] ?? "ok";
		const then = typeof behaviour === "object" && "delayMs" in behaviour ? behaviour.andThen : behaviour;
		if (typeof then === "object") this.#counts.pauses++;
		if (then === "lost" || then === "lose_ack") this.#counts.lost++;
		return behaviour;
	}

	#faultOf(name: WriteName): WriteFault | null {
		if (this.#clock.now() < this.#fullUntil) return "full";
		for (const one of this.#faults) {
			if (one.of !== null && one.of !== name) continue;
			if (--one.countdown > 0) continue;
			this.#faults = this.#faults.filter((other) => other !== one);
			return one.fault;
		}
		return null;
	}

	async #suffer(weather: Weather): Promise<void> {
		switch (weather.kind) {
			case "restart":
				return await this.#reopen(weather.downMs);
			case "death":
				this.#faults.push({ countdown: weather.writes, fault: weather.when, of: null });
				return;
			case "full":
				this.#fullUntil = this.#clock.now() + weather.ms;
				return;
			case "lost_answer":
				this.#faults.push({ countdown: 1, fault: "lost_answer", of: weather.of });
				return;
			case "disconnect":
				this.#breaks.push({ at: this.#clock.now(), account: weather.account });
				for (const channel of this.#life?.channels ?? [])
					if (channel.account === weather.account) channel.disconnect();
		}
	}

	async #say(n: number, { user, said }: Schedule["steps"][number]): Promise<void> {
		const { account, thread } = this.#chats[n] as Schedule;
		const chat = `c${n}`;
		if (said.do === "notice") return await this.#notice(account, chat, thread);
		const text =
			said.do === "command" ? said.name : `p${said.parts} c${said.chunks} d${said.every} t${said.tool}`;
		this.#platforms
			.get(account)
			?.say({ chat, user, chatType: "group", text, ...(thread && { thread: "t" }) });
		await this.#clock.advance(0);
	}

	async #notice(account: string, chatId: string, thread: boolean): Promise<void> {
		const id = `q${++this.#notices}`;
		const destination = { platform: PLATFORM, account, chatId, ...(thread && { threadId: "t" }) };
		const body = { text: `question ${id}`, plain: `question ${id}` };
		const asked = this.#life?.store.requestConfirmation({
			id,
			action: "deploy",
			description: "ship it",
			details: {},
			digest: "d",
			requester: "agent",
			sessionKey: "",
			timeoutSeconds: 300,
			askedBy: "token:robot",
			via: "api",
			limits: { perAction: 100_000, inAll: 100_000, windowMs: 1000 },
			once: false,
			grantable: true,
			useWithinMs: 1000,
			notices: {
				deliveries: [{ id: `confirmation:${id}:1`, kind: "notice", destination, body }],
				webhooks: [],
			},
		});
		// Not asked at all while the disk is full, or where nobody lives.
		await Promise.race([asked?.catch(() => {}), settle()]);
		await this.#clock.advance(0);
	}

	async #isAtRest(): Promise<boolean> {
		const life = this.#life;
		if (!life || life.isDead()) return false;
		const { inbox, turns, deliveries } = await life.store.workload({ scope: OPERATOR });
		const taken = [...this.#platforms.values()].every(({ unacknowledged }) => unacknowledged.length === 0);
		return inbox === 0 && turns === 0 && deliveries.waiting === 0 && taken;
	}

	async verdict(): Promise<Verdict> {
		const deliveries = new Map(
			this.#database
				.rows<Row>(
					"SELECT d.id, d.account, d.state, d.body, coalesce(t.detail, t.state) AS turn FROM deliveries d LEFT JOIN turns t ON t.id = d.turn",
				)
				.map((row) => [row.id, row]),
		);
		const events = eventsByDelivery(this.#database.rows<EventRow>(EVENTS));
		for (const [account, platform] of this.#platforms) this.#judge(account, platform, deliveries, events);
		const { problems } = (await this.#life?.store.checkIntegrity({ scope: OPERATOR })) ?? {
			problems: ["nobody lives"],
		};
		this.#problems.push(...problems);
		return { problems: this.#problems, counts: this.#counts };
	}

	#judge(
		account: string,
		platform: ScriptedPlatform,
		deliveries: ReadonlyMap<string, Row>,
		events: ReadonlyMap<string, DeliveryEvents>,
	): void {
		const lanes = new Map<string, Shown[]>();
		const seen = new Set<string>();
		/** An edit that comes ages after it was sent may undo a later one; what counts is what was sent last. */
		const last = new Map<string, string>();
		for (const { id, text, outcome } of platform.attempts) if (outcome === "sent") last.set(id, text);
		for (const { id, receipt, chat, thread, text } of platform.visible()) {
			const say = (problem: string) => this.#problems.push(`${chat} (${account}): ${id} ${problem}`);
			if (seen.has(id)) say("is shown twice");
			seen.add(id);
			const begun = this.#begun.get(`${account} ${receipt}`) ?? { event: 0, at: 0 };
			const { placed = [], unknown = [] } = events.get(id) ?? {};
			const place = placed.findLast((one) => one.event <= begun.event);
			if (!place) say("was sent before it was committed");
			if (place?.isPreview) this.#counts.previews++;
			const lane = lanes.get(`${chat} ${thread}`) ?? [];
			lanes.set(`${chat} ${thread}`, lane);
			const unsaid = this.#unsaid.get(id);
			const uncertain = ACCOUNTS[account]?.lookup ? (unsaid === undefined ? [] : [unsaid]) : unknown;
			lane.push({ id, place: place?.event ?? 0, begun, uncertainAt: Math.min(...uncertain) });
			this.#counts.shown++;
			const row = deliveries.get(id);
			if (
				row?.state === "sent" &&
				ENDED.has(row.turn ?? "completed") &&
				!isText(row.body, last.get(id) ?? text)
			)
				say(`was last told to show ${JSON.stringify(last.get(id)?.slice(0, 40))}, and not its final text`);
		}
		for (const row of deliveries.values())
			if (row.account === account && row.state === "sent" && !seen.has(row.id))
				this.#problems.push(`(${account}) ${row.id} is said to be sent, and nobody sees it`);
		for (const [lane, shown] of lanes) this.#judgeOrder(account, lane, shown);
	}

	/** What was committed earlier is shown earlier, unless nobody could know whether it was. */
	#judgeOrder(account: string, lane: string, shown: readonly Shown[]): void {
		for (const [n, late] of shown.entries()) {
			const overtaken = shown.slice(0, n).filter(({ place }) => place > late.place);
			const wrong = overtaken.find((before) => !this.#isUncertain(account, late, before));
			if (wrong)
				this.#problems.push(
					`${lane} (${account}): ${late.id} (event ${late.place}) is shown after ${wrong.id} (event ${wrong.place})`,
				);
			else if (overtaken.some(({ begun }) => begun.event < late.begun.event)) this.#counts.resent++;
			else if (overtaken.length > 0) this.#counts.late++;
		}
	}

	/** Whether nobody could know what became of one when the other was sent. */
	#isUncertain(account: string, { begun, uncertainAt }: Shown, { begun: other }: Shown): boolean {
		if (uncertainAt > other.event) return false;
		// It was sent a second time: the platform said only later that it had not taken it.
		if (begun.event > other.event) return ACCOUNTS[account]?.lookup === true;
		return (
			other.at - begun.at >= MINUTE ||
			this.#breaks.some(
				(one) =>
					(one.account === null || one.account === account) && one.at >= begun.at && one.at <= other.at,
			)
		);
	}
}

interface Moment {
	readonly event: number;
	readonly at: number;
}

interface Shown {
	readonly id: string;
	/** The event that committed it where it is shown. */
	readonly place: number;
	readonly begun: Moment;
	/** From this event on it was not known whether it was shown. */
	readonly uncertainAt: number;
}

interface Row {
	readonly id: string;
	readonly account: string;
	readonly state: string;
	readonly body: string;
	readonly turn: string | null;
}

interface EventRow {
	readonly id: number;
	readonly type: string;
	readonly subject: string;
}

interface DeliveryEvents {
	readonly placed: { readonly event: number; readonly isPreview: boolean }[];
	readonly unknown: number[];
}

const EVENTS =
	"SELECT id, type, CASE WHEN subject LIKE ':%' THEN turn || subject ELSE subject END AS subject FROM events WHERE type IN ('delivery.opened', 'delivery.pending', 'delivery.unknown') ORDER BY id";

/** How a turn ends that has a final text; here none fails by itself. */
const ENDED: ReadonlySet<string> = new Set(["completed"]);

function eventsByDelivery(rows: readonly EventRow[]): Map<string, DeliveryEvents> {
	const found = new Map<string, DeliveryEvents>();
	for (const { id, type, subject } of rows) {
		const of = found.get(subject) ?? { placed: [], unknown: [] };
		found.set(subject, of);
		if (type === "delivery.unknown") of.unknown.push(id);
		else of.placed.push({ event: id, isPreview: type === "delivery.opened" });
	}
	return found;
}

function isText(body: string, text: string): boolean {
	const { text: rendered, plain } = JSON.parse(body) as { readonly text: string; readonly plain: string };
	return text === rendered || text === plain;
}

/** Answers as it is told: so many parts, in so many chunks, so far apart, after a tool that takes so long. */
function talker(clock: Clock): StepAgent {
	const pause = (ms: number, signal: AbortSignal) =>
		new Promise<void>((resolve) => {
			if (signal.aborted) return resolve();
			clock.after(ms, resolve);
			signal.addEventListener("abort", () => resolve(), { once: true });
		});
	return {
		kind: "step",
		name: "talker",
		async *step({ history, signal }) {
			const told = history.findLast(({ role }) => role === "user");
			const [, parts, chunks, every, tool] = /p(\d) c(\d) d(\d+) t(\d+)/
				.exec(String(told?.content))
				?.map(Number) ?? [0, 1, 1, 0, 0];
			const isFirst = history.at(-1)?.role === "user";
			if (tool && isFirst) {
				yield {
					type: "done",
					message: {
						content: "working",
						toolCalls: [{ id: `call ${history.length}`, name: "slow", input: { ms: tool } }],
						finishReason: "tool_calls",
					},
					usage: USAGE,
				};
				return;
			}
			const text = Array.from({ length: parts ?? 1 }, (_, n) => `${n} ${PART}`).join("\n\n");
			const size = Math.ceil(text.length / (chunks ?? 1));
			for (let from = 0; from < text.length; from += size) {
				if (from > 0) await pause(every ?? 0, signal);
				if (signal.aborted) return;
				yield { type: "text", delta: text.slice(from, from + size) };
			}
			yield { type: "done", message: { content: text, toolCalls: [], finishReason: "stop" }, usage: USAGE };
		},
	};
}

const USAGE = { ...NO_USAGE, provider: "talker", model: "talker" };

function slowTool(clock: Clock) {
	return defineTool({
		name: "slow",
		description: "takes its time",
		input: z.object({ ms: z.number() }),
		repeatable: true,
		run: ({ ms }) => new Promise((resolve) => clock.after(ms, () => resolve({ content: "slowly done" }))),
	});
}

/** Everything runs in this thread: what does not wait for the clock is over after a turn of the loop or two. */
async function settle(): Promise<void> {
	for (let turn = 0; turn < 3; turn++) await turnOfTheLoop();
}
