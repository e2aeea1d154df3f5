// I18 and I14 against random sequences of people, roles, busy modes, joins, approvals and restarts. Every private chat is full of marks;
// the agent searches, reads and repeats all it is shown. No mark may reach another person's chat or prompt, and nothing dangerous may
// run without somebody's answer who had the right to give it. `npm run test:crash` runs ten thousand.
import fc from "fast-check";
import { expect, test } from "vitest";
import type { StepAgent } from "../../src/agents/index.ts";
import { NO_USAGE } from "../../src/agents/types.ts";
import type { AuditEntry, Confirmation } from "../../src/store/index.ts";
import { NOON } from "../support/clock.ts";
import { MemoryDatabase } from "../support/memory-engine.ts";
import { AUDIT_KEY, MINUTE, OPERATOR, Scene, type SceneOptions, SECOND } from "./support.ts";

const RUNS = Number(process.env.KERYX_RIGHTS_RUNS ?? 60);
/** Sequences that share one store, each with people of its own. */
const TOGETHER = 20;
/** Stores beside one another: one on a file waits for its threads most of the time. */
const AT_ONCE = 3;
/** Every so-many-th store is on a file, with its threads; the others are in memory, where a restart costs next to nothing. */
const ON_FILE = 5;

const ROLES = { ada: "owner", bob: "member", ben: "member", gus: "guest" } as const;
type Name = keyof typeof ROLES;
const NAMES = Object.keys(ROLES) as Name[];
type Role = "owner" | "member" | "guest";

type Place = "dm" | "thread" | "group";
type Step =
	| {
			readonly kind: "say";
			readonly who: Name;
			readonly place: Place;
			readonly what: "mark" | "search" | "slow";
	  }
	| { readonly kind: "ask"; readonly who: Name; readonly place: Place }
	| { readonly kind: "answer"; readonly who: Name; readonly place: Place; readonly scope: string }
	| { readonly kind: "busy"; readonly who: Name; readonly place: Place; readonly mode: string }
	| { readonly kind: "command"; readonly who: Name; readonly place: Place; readonly text: string }
	/** A restart with somebody in another role. */
	| { readonly kind: "role"; readonly who: Name; readonly role: Role }
	| { readonly kind: "wait" }
	| { readonly kind: "crash" };

const who = fc.constantFrom(...NAMES);
const place = fc.constantFrom<Place>("dm", "thread", "group");
const step: fc.Arbitrary<Step> = fc.oneof(
	{
		weight: 8,
		arbitrary: fc.record({
			kind: fc.constant("say" as const),
			who,
			place,
			what: fc.constantFrom("mark" as const, "search" as const, "search" as const, "slow" as const),
		}),
	},
	{ weight: 4, arbitrary: fc.record({ kind: fc.constant("ask" as const), who, place }) },
	{
		weight: 6,
		arbitrary: fc.record({
			kind: fc.constant("answer" as const),
			who,
			place,
			scope: fc.constantFrom("once", "session", "conversation", "always"),
		}),
	},
	{
		weight: 2,
		arbitrary: fc.record({
			kind: fc.constant("busy" as const),
			who,
			place,
			mode: fc.constantFrom("queue", "interrupt", "steer"),
		}),
	},
	{
		weight: 2,
		arbitrary: fc.record({
			kind: fc.constant("command" as const),
			who,
			place,
			text: fc.constantFrom(
				"/sessions mark*",
				"/sessions",
				"/resume 1",
				"/retry",
				"/undo",
				"/new",
				"/continue",
			),
		}),
	},
	{
		weight: 1,
		arbitrary: fc.record({
			kind: fc.constant("role" as const),
			who: fc.constantFrom<Name>("bob", "ben", "gus"),
			role: fc.constantFrom<Role>("owner", "member", "guest"),
		}),
	},
	{ weight: 2, arbitrary: fc.constant({ kind: "wait" as const }) },
	{ weight: 1, arbitrary: fc.constant({ kind: "crash" as const }) },
);

/** Repeats every mark it is shown. `search`, `slow` and `ask <label>` make it use a tool first. */
function gossip(): StepAgent {
	return {
		kind: "step",
		name: "gossip",
		async *step({ history, system, notes }) {
			const last = history.at(-1);
			const text = JSON.stringify(last?.content ?? "");
			const isAsked = last?.role === "user" && last.kind === "person";
			const [, label] = /ask (d\d+)/.exec(text) ?? [];
			const call = !isAsked
				? null
				: text.includes("search")
					? { name: "session_search", input: { query: "mark*", limit: 50 } }
					: text.includes("slow")
						? { name: "slow", input: { ms: 3000 } }
						: label
							? { name: "danger", input: { what: label } }
							: null;
			yield {
				type: "done",
				message: {
					content: call ? "one moment" : marksIn([system, notes, history]),
					toolCalls: call ? [{ id: `c${history.length}`, ...call }] : [],
					finishReason: "stop",
				},
				usage: { ...NO_USAGE, provider: "gossip", model: "gossip" },
			};
		},
	};
}

/** All of them, and nothing else: a reply is never cut, and stays short. */
function marksIn(shown: unknown): string {
	const marks = JSON.stringify(shown).match(/mark\d+x/g) ?? [];
	return ["I know", ...new Set(marks)].join(" ");
}

class World {
	readonly scene: Scene;
	readonly #database: MemoryDatabase | null;
	marks = 0;
	labels = 0;
	/** Which person a mark is private to. */
	readonly ownerOf = new Map<string, string>();
	/** Who asked for a dangerous thing, and where. */
	readonly asked = new Map<string, { readonly user: string; readonly place: Place }>();
	/** Everybody's roles, the latest last. */
	readonly #roles = new Map<string, { readonly from: number; readonly role: Role }[]>();

	private constructor(database: MemoryDatabase | null, runs: readonly number[]) {
		this.#database = database;
		this.scene = new Scene({ durable: database === null });
		for (const run of runs)
			for (const name of NAMES) this.#roles.set(`${name}${run}`, [{ from: 0, role: ROLES[name] }]);
	}

	static async start(runs: readonly number[]): Promise<World> {
		const isOnFile = ((runs[0] ?? 0) / TOGETHER) % ON_FILE === 0;
		const world = new World(isOnFile ? null : new MemoryDatabase(AUDIT_KEY), runs);
		await world.scene.open(NOON, world.#options());
		return world;
	}

	#options(): SceneOptions {
		const allow = [...this.#roles].map(([id, roles]) => ({ id, role: roles.at(-1)?.role ?? "guest" }));
		const database = this.#database;
		return { agent: gossip, ...(database && { database }), config: { auth: { telegram: { allow } } } };
	}

	async end(): Promise<void> {
		await this.scene.end();
		this.#database?.close();
	}

	roleOf(user: string, at: number): Role {
		return this.#roles.get(user)?.findLast(({ from }) => from <= at)?.role ?? "guest";
	}

	saying(run: number, name: Name, where: Place) {
		const user = `${name}${run}`;
		if (where === "dm") return { chat: user, user };
		if (where === "thread") return { chat: `room${run}`, chatType: "thread" as const, thread: "t", user };
		return { chat: `team${run}`, chatType: "group" as const, user };
	}

	async take(run: number, given: Step): Promise<void> {
		if (given.kind === "wait") return this.scene.clock.advance(4 * SECOND);
		if (given.kind === "crash") return this.scene.crash(SECOND, this.#options());
		if (given.kind === "role") {
			const from = this.scene.clock.now() + SECOND;
			this.#roles.get(`${given.who}${run}`)?.push({ from, role: given.role });
			return this.scene.crash(SECOND, this.#options());
		}
		const saying = this.saying(run, given.who, given.place);
		const text = given.kind === "answer" ? await this.#answer(given.scope) : this.#text(given, saying.user);
		await this.scene.say(text, saying);
	}

	/** To the newest question anywhere: who may give it, and where, is for the gateway to say. */
	async #answer(scope: string): Promise<string> {
		const { store, clock } = this.scene;
		const now = clock.now();
		const [open] = await store.confirmations({ scope: OPERATOR, now, limit: 1, status: "pending" });
		return open ? `/approve ${open.id} ${scope}` : `/approve ${scope}`;
	}

	#text(given: Exclude<Step, { kind: "wait" | "crash" | "role" | "answer" }>, user: string): string {
		switch (given.kind) {
			case "say": {
				if (given.what !== "mark") return given.what;
				const mark = `mark${++this.marks}x`;
				if (given.place === "dm") this.ownerOf.set(mark, user);
				return `${mark} is mine`;
			}
			case "ask": {
				const label = `d${++this.labels}`;
				this.asked.set(label, { user, place: given.place });
				return `ask ${label}`;
			}
			case "busy":
				return `/busy ${given.mode}`;
			case "command":
				return given.text;
		}
	}

	/** Marks that stand where somebody else reads them. */
	leaks(run: number): string[] {
		const found: string[] = [];
		for (const chat of [`room${run}`, `team${run}`, ...NAMES.map((name) => `${name}${run}`)])
			for (const { text } of this.scene.world.visible(chat))
				for (const [mark] of text.matchAll(/mark\d+x/g)) {
					const owner = this.ownerOf.get(mark);
					if (owner !== undefined && owner !== chat) found.push(`${mark} of ${owner} in ${chat}`);
				}
		return found;
	}

	/** What ran without a right answer. */
	async unproven(): Promise<string[]> {
		const { store, dangers } = this.scene;
		const audit = await store.auditLog({ scope: OPERATOR, limit: 100_000 });
		const all = await store.confirmations({ scope: OPERATOR, now: this.scene.clock.now(), limit: 100_000 });
		const wrong: string[] = [];
		for (const label of new Set(dangers)) {
			// A /retry asks again about the same: that is a question of its own.
			const used = all.filter(({ details, status }) => details.what === label && status === "consumed");
			const ran = dangers.filter((one) => one === label).length;
			if (ran > used.length) wrong.push(`${label} ran ${ran} times, with ${used.length} answers`);
			for (const confirmation of used) wrong.push(...(await this.#wrongWith(confirmation, label, audit)));
		}
		return wrong;
	}

	async #wrongWith(
		{ id, turn }: Confirmation,
		label: string,
		audit: readonly AuditEntry[],
	): Promise<string[]> {
		const asked = this.asked.get(label);
		const answer = audit.find(
			({ confirmation, kind }) => confirmation === id && (kind === "approved" || kind === "auto_approved"),
		);
		if (!asked || !answer) return [`${label} ran without an answer`];
		if (answer.kind === "approved")
			return this.#mayAnswer(answer, asked)
				? []
				: [`${label} of ${asked.user} in ${asked.place} was approved by ${answer.who}`];
		const given = audit.find(({ kind, facts }) => kind === "granted" && facts.grant === answer.facts.grant);
		const { speakers } = await this.scene.store.turn({ scope: OPERATOR, id: turn as string });
		const wrong: string[] = [];
		if (this.roleOf(asked.user, answer.at) === "guest" && given?.who === `telegram:${asked.user}`)
			wrong.push(`${label} of a guest ran by a grant of their own`);
		if (!given || speakers.length !== 1 || given.facts.principal !== speakers[0]?.principal)
			wrong.push(`${label} of ${asked.user} ran by a grant for somebody else`);
		if (given && this.#roleOfCaller(given) !== "owner" && given.facts.scope !== "session")
			wrong.push(`${given.who} granted for longer than a session`);
		return wrong;
	}

	/** An owner anything; a member what they asked themselves, in a conversation of their own. */
	#mayAnswer(answer: AuditEntry, asked: { readonly user: string; readonly place: Place }): boolean {
		const role = this.#roleOfCaller(answer);
		if (role === "owner") return true;
		return answer.who === `telegram:${asked.user}` && asked.place !== "thread" && role === "member";
	}

	#roleOfCaller({ who: caller, at }: AuditEntry): Role {
		return this.roleOf(caller.replace(/^telegram:/, ""), at);
	}
}

test(`I18: no private mark reaches another, and nothing dangerous runs without a right answer (${RUNS} sequences)`, {
	timeout: 7_200_000,
}, async () => {
	const sequences = fc.sample(fc.array(step, { minLength: 6, maxLength: 14 }), {
		numRuns: RUNS,
		seed: Number(process.env.KERYX_SEED ?? 15),
	});
	let steps = 0;
	let ran = 0;
	let next = 0;
	const lane = async () => {
		while (next < RUNS) {
			const runs = Array.from({ length: Math.min(TOGETHER, RUNS - next) }, (_, n) => next + n);
			next += runs.length;
			const world = await World.start(runs);
			for (const run of runs) {
				const sequence = sequences[run] as Step[];
				for (const name of NAMES)
					await world.take(run, { kind: "say", who: name, place: "dm", what: "mark" });
				for (const given of sequence) await world.take(run, given);
				await world.scene.clock.advance(10 * SECOND);
				steps += sequence.length;
				expect({ run, sequence, leaks: world.leaks(run) }).toEqual({ run, sequence, leaks: [] });
			}
			await world.scene.clock.advance(MINUTE);
			expect({ runs, wrong: await world.unproven() }).toEqual({ runs, wrong: [] });
			ran += world.scene.dangers.length;
			await world.end();
		}
	};
	await Promise.all(Array.from({ length: AT_ONCE }, lane));
	console.log(
		`rights: ${RUNS} sequences, ${steps} steps, ${ran} dangerous calls ran, each with a right answer`,
	);
	expect(ran).toBeGreaterThan(0);
});
