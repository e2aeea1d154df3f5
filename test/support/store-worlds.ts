// Worlds for the model-based tests: a store next to a plain model of it, any series of steps, and the comparison of the two.
import fc from "fast-check";
import { expect } from "vitest";
import type { ConversationId, SessionId } from "../../src/domain/index.ts";
import { type Store, unpackTranscript } from "../../src/store/index.ts";
import { OPERATOR } from "../../src/testing/conformance/store/scene.ts";
import type { WallClock } from "./clock.ts";
import { ModelConversation, type ModelSession } from "./store-model.ts";
import { PLACES, STEPS, type StepName, type World } from "./store-steps.ts";

/** Frequent actions of people come most often. */
const WEIGHTS: Readonly<Record<StepName, number>> = {
	say: 8,
	burst: 2,
	exchange: 16,
	processEnds: 1,
	observe: 1,
	begin: 12,
	append: 8,
	join: 2,
	end: 12,
	stale: 1,
	stop: 1,
	drop: 1,
	newSession: 2,
	continueSession: 4,
	switchSession: 5,
	branchSession: 2,
	extend: 1,
	suspend: 1,
	undo: 6,
	redo: 4,
	retry: 3,
	cover: 4,
	title: 1,
	override: 1,
	expire: 3,
	finalise: 2,
	deliver: 3,
	resolve: 1,
	wait: 5,
};

export class StepCommand implements fc.AsyncCommand<World, World> {
	readonly name: StepName;
	readonly who: number;
	readonly pick: number;
	readonly flag: boolean;

	constructor(name: StepName, who: number, pick: number, flag: boolean) {
		this.name = name;
		this.who = who;
		this.pick = pick;
		this.flag = flag;
	}

	check(): boolean {
		return true;
	}

	async run(world: World): Promise<void> {
		const conversation = world.conversations[this.who] as ModelConversation;
		await STEPS[this.name](world, { conversation, pick: this.pick, flag: this.flag });
		await compare(world, conversation);
	}

	toString(): string {
		return `${this.name}(${this.who}, ${this.pick}, ${this.flag})`;
	}
}

/** Mostly one conversation, so that it grows old. */
const WHO = fc.oneof(
	{ weight: 6, arbitrary: fc.constant(0) },
	{ weight: 2, arbitrary: fc.constant(1) },
	{ weight: 1, arbitrary: fc.constant(2) },
);

export function anyStep(leftOut: readonly StepName[] = []): fc.Arbitrary<StepCommand>[] {
	const weighed = Object.entries(WEIGHTS).filter(([name]) => !leftOut.includes(name as StepName));
	const names = weighed.map(([name, weight]) => ({
		weight,
		arbitrary: fc.constant(name as StepName),
	}));
	return [
		fc
			.tuple(fc.oneof(...names), WHO, fc.nat(60), fc.boolean())
			.map(([name, who, pick, flag]) => new StepCommand(name, who, pick, flag)),
	];
}

/** Two conversations of one person and one of another, each known and idle. */
export async function worldOn(
	store: Store,
	clock: WallClock,
	mortal: World["mortal"],
	places: World["places"] = PLACES,
): Promise<World> {
	const conversations: ModelConversation[] = [];
	const [{ user_id: id }] = places;
	await store.link({ a: { platform: "telegram", id }, b: { platform: "web", id } });
	for (const source of places) {
		const { conversation, principal } = await store.accept({
			kind: "person",
			source: { ...source },
			platformMessage: "start",
			content: "/start",
			routing: { groupSessionsPerUser: true, threadSessionsPerUser: false, profile: null },
			as: { kind: "command", name: "start" },
		});
		conversations.push(new ModelConversation(conversation ?? "", principal ?? ""));
	}
	return { store, mortal, clock, places, conversations, deliveries: [], ended: [], said: 0 };
}

async function compare(world: World, model: ModelConversation): Promise<void> {
	const { store } = world;
	const id = model.id as ConversationId;
	const found = await store.conversation({ scope: OPERATOR, ref: { id } });
	expect(found).toMatchObject({
		messageCount: model.messageCount,
		liveSession: model.live?.id ?? null,
		firstSession: model.sessions[0]?.id ?? null,
		modelOverride: model.override === null ? null : { model: model.override },
	});
	const sessions = await store.sessions({ scope: OPERATOR, conversation: id, limit: 1000 });
	expect(sessions.map(shown)).toEqual(
		model.sessions.toReversed().map((session) => modelShown(model, session)),
	);
	if (model.live) await compareTranscript(world, model, model.live);
	const waiting = await store.waitingItems({ scope: OPERATOR, after: 0, conversation: id, limit: 1000 });
	expect(waiting.map((item) => item.id)).toEqual(model.waiting.map((item) => item.id));
	const turn = await store.openTurnOf({ scope: OPERATOR, conversation: id });
	expect(turn && { id: turn.id, token: turn.token, session: turn.session }).toEqual(
		model.turn && { id: model.turn.id, token: model.turn.token, session: model.turn.session.id },
	);
}

function shown(session: Awaited<ReturnType<World["store"]["session"]>>) {
	const { id, base, cap, messages, lastActivityAt, endReason, suspendedAt, title } = session;
	return { id, base, cap, messages, lastActivityAt, endReason, suspended: suspendedAt !== null, title };
}

function modelShown(model: ModelConversation, session: ModelSession): ReturnType<typeof shown> {
	const { base, cap, lastActivityAt, ended, suspended, title } = session;
	return {
		id: session.id as SessionId,
		base: base && { ...base, session: base.session.id as SessionId },
		cap,
		messages: model.messages(session),
		lastActivityAt,
		endReason: ended,
		suspended,
		title,
	};
}

async function compareTranscript(
	world: World,
	model: ModelConversation,
	session: ModelSession,
): Promise<void> {
	const asked = { scope: OPERATOR, session: session.id as SessionId };
	const rows = await world.store.transcript(asked);
	const turn = { conversation: model.id as ConversationId, speakers: [], now: world.clock.now() };
	const facts = await world.store.turnFacts({ ...asked, ...turn });
	expect(unpackTranscript(facts.transcript)).toEqual(rows);
	const expected = model.transcript(session);
	for (const [index, row] of expected.entries()) row.content ??= String(rows[index]?.content);
	expect(
		rows.map(({ session: of, seq, role, kind, content, hidden, turn }) => [
			of,
			seq,
			role,
			kind,
			content,
			hidden,
			turn,
		]),
	).toEqual(
		expected.map((row) => [
			row.session.id,
			row.seq,
			row.role,
			row.kind,
			row.content,
			model.isHidden(row),
			row.turn,
		]),
	);
}

/** At the end of a run: compares every transcript, disposition and delivery, and runs the store's own integrity check. */
export async function compareEverything(world: World): Promise<void> {
	for (const model of world.conversations) {
		await compare(world, model);
		for (const session of model.sessions) await compareTranscript(world, model, session);
		for (const { id, disposition } of model.items) {
			const item = await world.store.inboxItem({ scope: OPERATOR, id });
			expect(item.disposition?.kind ?? null).toBe(disposition);
		}
	}
	for (const { id, state, dueAt } of world.deliveries)
		expect(await world.store.delivery({ scope: OPERATOR, id })).toMatchObject({ state, dueAt });
	expect(await world.store.checkIntegrity({ scope: { kind: "operator" } })).toEqual({ problems: [] });
}
