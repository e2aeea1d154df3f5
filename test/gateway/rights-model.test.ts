// I18 and I14 against random sequences of people, roles, busy modes, joins, approvals and restarts. Every private chat is full of marks;
// the agent searches, reads and repeats all it is shown. No mark may reach another person's chat or prompt, and nothing dangerous may
// run without somebody's answer who had the right to give it. `npm run test:crash` runs ten thousand.
import fc from "fast-check";
import { expect, test } from "vitest";
import type { StepAgent } from "../../src/agents/index.ts";
import { NO_USAGE } from "../../src/agents/types.ts";
import { type ConfigInput, MINUTE, OPERATOR, Scene, SECOND } from "./support.ts";

const RUNS = Number(process.env.KERYX_RIGHTS_RUNS ?? 60);
/** Sequences that share one store, each with people of its own. */
const TOGETHER = 20;

const ROLES = { ada: "owner", bob: "member", ben: "member", gus: "guest" } as const;
type Name = keyof typeof ROLES;
const NAMES = Object.keys(ROLES) as Name[];

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
	{ weight: 2, arbitrary: fc.constant({ kind: "wait" as const }) },
	{ weight: 1, arbitrary: fc.constant({ kind: "crash" as const }) },
);

/** Repeats everything it knows. `search`, `slow` and `ask <label>` make it use a tool first. */
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
					content: call ? "one moment" : JSON.stringify([system, notes, history]).slice(0, 20_000),
					toolCalls: call ? [{ id: `c${history.length}`, ...call }] : [],
					finishReason: "stop",
				},
				usage: { ...NO_USAGE, provider: "gossip", model: "gossip" },
			};
		},
	};
}

class World {
	readonly scene: Scene;
	marks = 0;
	labels = 0;
	/** Which person a mark is private to. */
	readonly ownerOf = new Map<string, string>();
	/** Who asked for a dangerous thing, and where. */
	readonly asked = new Map<string, { readonly user: string; readonly place: Place }>();
	readonly users = new Set<string>();

	constructor(scene: Scene) {
		this.scene = scene;
	}

	saying(run: number, name: Name, where: Place) {
		const user = `${name}${run}`;
		this.users.add(user);
		if (where === "dm") return { chat: user, user };
		if (where === "thread") return { chat: `room${run}`, chatType: "thread" as const, thread: "t", user };
		return { chat: `team${run}`, chatType: "group" as const, user };
	}

	async take(run: number, given: Step): Promise<void> {
		if (given.kind === "wait") return this.scene.clock.advance(4 * SECOND);
		if (given.kind === "crash") return this.scene.crash(SECOND);
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

	#text(given: Exclude<Step, { kind: "wait" | "crash" | "answer" }>, user: string): string {
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
			if (dangers.filter((one) => one === label).length > 1) wrong.push(`${label} ran twice`);
			const asked = this.asked.get(label);
			const confirmation = all.find(({ details }) => details.what === label);
			const answer = audit.find(
				({ confirmation: id, kind }) =>
					id === confirmation?.id && (kind === "approved" || kind === "auto_approved"),
			);
			if (!asked || !answer) wrong.push(`${label} ran without an answer`);
			else if (answer.kind === "approved" && !mayAnswer(answer.who, asked))
				wrong.push(`${label} of ${asked.user} in ${asked.place} was approved by ${answer.who}`);
			else if (answer.kind === "auto_approved") {
				const given = audit.find(
					({ kind, facts }) => kind === "granted" && facts.grant === answer.facts.grant,
				);
				const principal = (
					await store.turn({ scope: OPERATOR, id: confirmation?.turn as string })
				).speakers.map((speaker) => speaker.principal);
				if (!given || principal.length !== 1 || given.facts.principal !== principal[0])
					wrong.push(`${label} of ${asked.user} ran by a grant for somebody else`);
				if (given && !isOwner(given.who) && given.facts.scope !== "session")
					wrong.push(`${given.who} granted for longer than a session`);
			}
		}
		return wrong;
	}
}

const isOwner = (caller: string) => /^telegram:ada\d+$/.test(caller);

/** The owner anything; a member what they asked themselves, in a conversation of their own. */
function mayAnswer(caller: string, asked: { readonly user: string; readonly place: Place }): boolean {
	if (isOwner(caller)) return true;
	return caller === `telegram:${asked.user}` && asked.place !== "thread" && /^(?:bob|ben)/.test(asked.user);
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
	for (let from = 0; from < RUNS; from += TOGETHER) {
		const batch = sequences.slice(from, from + TOGETHER);
		const world = new World(
			await Scene.start({ agent: gossip, durable: true, config: configFor(from, batch.length) }),
		);
		for (const [offset, sequence] of batch.entries()) {
			const run = from + offset;
			for (const name of NAMES) await world.take(run, { kind: "say", who: name, place: "dm", what: "mark" });
			for (const given of sequence) await world.take(run, given);
			await world.scene.clock.advance(10 * SECOND);
			steps += sequence.length;
			expect({ run, sequence, leaks: world.leaks(run) }).toEqual({ run, sequence, leaks: [] });
		}
		await world.scene.clock.advance(MINUTE);
		expect(await world.unproven()).toEqual([]);
		ran += world.scene.dangers.length;
		await world.scene.end();
	}
	console.log(
		`rights: ${RUNS} sequences, ${steps} steps, ${ran} dangerous calls ran, each with a right answer`,
	);
	expect(ran).toBeGreaterThan(0);
});

function configFor(from: number, count: number): ConfigInput {
	const allow = Array.from({ length: count }, (_, offset) =>
		NAMES.map((name) => ({ id: `${name}${from + offset}`, role: ROLES[name] })),
	).flat();
	return { auth: { telegram: { allow } } };
}
