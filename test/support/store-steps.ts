// The steps of the model-based test: each makes the same change in the model and in the store, and compares the answers.
import { expect } from "vitest";
import type { ConversationId, SessionId } from "../../src/domain/index.ts";
import type { Store } from "../../src/store/index.ts";
import { delivery, OPERATOR, policy, ROTATION, refused } from "../../src/testing/conformance/store/scene.ts";
import { MINUTE, type WallClock } from "./clock.ts";
import {
	IDLE_MS,
	MAX_MESSAGES,
	type ModelConversation,
	type ModelItem,
	type ModelRow,
	type ModelSession,
} from "./store-model.ts";

export interface ModelDelivery {
	readonly id: string;
	readonly chat: string;
	state: string;
	dueAt: number | null;
}

/** A node of the store that dies. */
export interface Mortal {
	readonly store: Store;
	/** Answers the store as the world has it from then on. */
	die(): Promise<Store>;
}

export interface World {
	store: Store;
	/** Where only one node can have the store, that is the world's own. */
	readonly mortal: () => Promise<Mortal>;
	readonly clock: WallClock;
	/** Where its conversations are: two of one person, and one of another. */
	readonly places: readonly [Place, Place, Place];
	readonly conversations: readonly ModelConversation[];
	readonly deliveries: ModelDelivery[];
	readonly ended: { turn: string; token: number }[];
	/** Counts messages, so that no two texts are equal. */
	said: number;
}

/** A step's inputs: the conversation, and two numbers to choose by. */
export interface Choice {
	readonly conversation: ModelConversation;
	readonly pick: number;
	readonly flag: boolean;
}

type Step = (world: World, choice: Choice) => Promise<void>;

const POLICY = policy({ mode: "idle", idle_minutes: IDLE_MS / MINUTE, max_messages: MAX_MESSAGES });
const OPENING = { policy: POLICY, context: "context" };

export interface Place {
	readonly platform: string;
	readonly chat_id: string;
	readonly user_id: string;
}

export const PLACES = [
	{ platform: "telegram", chat_id: "100", user_id: "100" },
	{ platform: "web", chat_id: "main", user_id: "100" },
	{ platform: "telegram", chat_id: "200", user_id: "200" },
] as const satisfies World["places"];

async function accept(
	world: World,
	{ conversation }: Choice,
	kind: "person" | "process" | "observed",
): Promise<ModelItem> {
	const text = `said ${++world.said}`;
	const place = world.places[world.conversations.indexOf(conversation)] as Place;
	const { id } = await world.store.accept({
		kind: kind === "process" ? "process" : "person",
		source: { ...place },
		platformMessage: text,
		content: text,
		routing: { groupSessionsPerUser: true, threadSessionsPerUser: false, profile: null },
		as: { kind: kind === "observed" ? "observe" : "accept" },
		...(kind === "process" && { conversation: conversation.id as ConversationId }),
	});
	const waits = kind !== "observed";
	const item: ModelItem = {
		id,
		kind,
		text,
		acceptedAt: world.clock.now(),
		waits,
		turn: null,
		disposition: waits ? null : "observed",
	};
	conversation.items.push(item);
	return item;
}

export const STEPS = {
	async say(world, choice) {
		await accept(world, choice, "person");
	},

	async burst(world, choice) {
		for (let n = 0; n <= choice.pick % 3; n++) await accept(world, choice, "person");
	},

	/** A person writes and is answered, in an idle conversation. */
	async exchange(world, choice): Promise<void> {
		await STEPS.say(world, choice);
		await STEPS.begin(world, choice);
		await STEPS.end(world, choice);
	},

	async processEnds(world, choice) {
		await accept(world, choice, "process");
	},

	async observe(world, choice) {
		await accept(world, choice, "observed");
	},

	async begin(world, { conversation, pick }) {
		const now = world.clock.now();
		const items = conversation.waiting.slice(0, 1 + (pick % 4));
		const begun = await world.store.beginTurn({
			...OPENING,
			conversation: conversation.id as ConversationId,
			inbox: items.map(({ id }) => id),
			autoContinueFreshness: 3600,
			deadlineAt: now + MINUTE,
		});
		if (conversation.turn)
			return expect(begun).toEqual({ kind: "busy", turn: conversation.turn.id, elsewhere: false });
		if (items.length === 0) return expect(begun).toEqual({ kind: "nothing" });
		const first = items.find((item) => item.kind === "person");
		const session = conversation.sessionFor(first?.acceptedAt ?? null, now);
		if (session === "suspended") return expect(begun).toEqual({ kind: "suspended" });
		if (begun.kind !== "begun") return expect.fail(`expected a turn, not ${begun.kind}`);
		session.id = begun.session;
		const turn = conversation.startTurn(begun.turn, session, first !== undefined, world.store.epoch);
		const rows = takeItems(conversation, session, items, turn.id);
		turn.nextIndex = rows.length;
		if (first) touch(session, first.acceptedAt);
		const told = session.noticePending ? conversation.previousOf(session) : null;
		expect(begun).toMatchObject({
			token: turn.token,
			messages: conversation.messages(session),
			cap: session.cap,
			nextIndex: rows.length,
			appended: rows.map(({ content, seq }) => ({ content, seq })),
			boundary: told ? { cause: { reason: told.ended }, ended: { id: told.id } } : null,
		});
	},

	async append(world, { conversation, pick, flag }) {
		const { turn } = conversation;
		if (!turn) return;
		const messages = newMessages(world, turn.nextIndex, 1 + (pick % 3));
		const held = { turn: turn.id, token: turn.token, messages };
		const { rows } = await world.store.appendMessages(held);
		for (const { role, content } of messages)
			conversation.append(turn.session, { role, content, turn: turn.id });
		turn.nextIndex += messages.length;
		expect(rows.map(({ seq }) => seq)).toEqual(
			turn.session.rows.slice(-messages.length).map(({ seq }) => seq),
		);
		if (flag) expect(await world.store.appendMessages(held)).toMatchObject({ rows });
	},

	async join(world, { conversation }) {
		const { turn } = conversation;
		if (!turn) return;
		const { waiting } = conversation;
		const items = turn.speaks ? waiting.filter(({ kind }) => kind === "person") : [];
		const joined = await world.store.joinTurn({
			turn: turn.id,
			token: turn.token,
			inbox: waiting.map(({ id }) => id),
			nextIndex: turn.nextIndex,
			policy: POLICY,
		});
		turn.nextIndex += items.length;
		expect(joined).toMatchObject({ joined: items.map(({ id }) => id), nextIndex: turn.nextIndex });
		for (const item of items) {
			takeItem(conversation, turn.session, item, turn.id);
			touch(turn.session, item.acceptedAt);
		}
	},

	async end(world, { conversation, pick, flag }) {
		const { turn } = conversation;
		if (!turn) return;
		const now = world.clock.now();
		const kind =
			(["completed", "completed", "completed", "failed", "stopped"] as const)[pick % 5] ?? "completed";
		const messages = newMessages(world, turn.nextIndex, pick % 3);
		const parts = Array.from({ length: pick % 3 }, (_, n) => `${turn.id}:${n}`);
		const notice = `${turn.id}:notice`;
		// Two conversations lead to one chat.
		const chat = String(Math.floor(world.conversations.indexOf(conversation) / 2));
		const to = { chatId: chat };
		const args = {
			turn: turn.id,
			token: turn.token,
			outcome: kind === "failed" ? { kind, reason: "provider down" } : { kind },
			messages,
			deliveries: parts.map((id) => delivery(id, id, "reply", to)),
			policy: POLICY,
			noticeGiven: flag,
			ifRotated: { ...ROTATION, notice: [delivery(notice, notice, "notice", to)] },
		};
		const ended = await world.store.endTurn(args);
		const { session } = turn;
		for (const { role, content } of messages) conversation.append(session, { role, content, turn: turn.id });
		touch(session, now);
		if (flag) session.noticePending = false;
		conversation.endTurn(kind);
		world.ended.push({ turn: turn.id, token: turn.token });
		for (const id of parts) world.deliveries.push({ id, chat, state: "pending", dueAt: now });
		const messageCount = conversation.messages(session);
		const full = messageCount >= session.cap;
		if (full) {
			conversation.end(session, "message_limit");
			conversation.succeed(session, now, true).id = ended.rotatedTo ?? "";
			world.deliveries.push({ id: notice, chat, state: "pending", dueAt: now });
		}
		expect(ended).toMatchObject({
			repeated: false,
			messages: messageCount,
			rotatedTo: full ? expect.any(String) : null,
		});
		expect(await world.store.endTurn(args)).toMatchObject({ repeated: true });
	},

	async stale(world, { pick }) {
		const turn = world.ended[pick % Math.max(1, world.ended.length)];
		if (!turn) return;
		const messages = newMessages(world, 1000, 1);
		expect((await refused(world.store.appendMessages({ ...turn, messages }))).code).toBe("turn.stale");
	},

	async stop(world, { conversation }) {
		const { stopped } = await world.store.stopTurn({ conversation: conversation.id as ConversationId });
		expect(stopped).toBe(stop(world, conversation));
	},

	async drop(world, { conversation, pick }) {
		const items = conversation.waiting.slice(0, pick % 3);
		const as =
			pick % 2 ? ({ kind: "expired", reason: "old" } as const) : ({ kind: "dropped_by_user" } as const);
		const inbox = items.map(({ id }) => id);
		const { ended } = await world.store.endItems({
			conversation: conversation.id as ConversationId,
			inbox,
			as,
		});
		expect(ended).toEqual(inbox);
		for (const item of items) {
			item.waits = false;
			item.disposition = as.kind;
		}
	},

	async newSession(world, { conversation, pick, flag }) {
		const title = pick % 3 === 0 ? `title ${pick % 2}` : undefined;
		const args = { ...OPENING, conversation: conversation.id as ConversationId, ...(title && { title }) };
		const changed = flag
			? await world.store.newSession(args)
			: await perform(world, conversation, { name: "newSession", args });
		const stopped = stop(world, conversation);
		const { live } = conversation;
		const previous = conversation.last;
		if (live) conversation.end(live, "user_new");
		conversation.override = null;
		const session = conversation.open(world.clock.now(), previous);
		if (title) conversation.giveTitle(session, title);
		session.id = (changed as { session: string }).session;
		expect(changed).toEqual({ session: session.id, ended: live?.id ?? null, stopped });
	},

	async continueSession(world, { conversation }) {
		const now = world.clock.now();
		const args = { ...OPENING, conversation: conversation.id as ConversationId };
		const { last, live } = conversation;
		const base = live ? conversation.previousOf(live) : last;
		if (live?.base) return await expectRefusal(world.store.continueSession(args), "session.continued");
		if (!last || !base) return await expectRefusal(world.store.continueSession(args), "session.none");
		const continued = await world.store.continueSession(args);
		const stopped = stop(world, conversation);
		const session = live ?? conversation.open(now, last);
		session.id = continued.session;
		session.base = { session: base, seq: base.rows.length, kind: "continue" };
		session.cap = Math.max(session.cap, base.cap) + (base.ended === "message_limit" ? MAX_MESSAGES : 0);
		session.lastActivityAt = now;
		session.hadActivity = true;
		session.noticePending = false;
		expect(continued).toEqual({ session: session.id, ended: null, stopped, continued: base.id });
	},

	async switchSession(world, { conversation, pick, flag }) {
		const now = world.clock.now();
		const all = world.conversations.flatMap((one) => one.sessions);
		const own = conversation.sessions;
		const target = (flag ? own : all)[pick % Math.max(1, (flag ? own : all).length)];
		if (!target) return;
		const args = {
			...OPENING,
			conversation: conversation.id as ConversationId,
			target: target.id as SessionId,
			within: "principal",
		} as const;
		if (target.conversation.person !== conversation.person)
			return await expectRefusal(world.store.switchSession(args), "store.not_found");
		const changed = await world.store.switchSession(args);
		const stopped = stop(world, conversation);
		const { live } = conversation;
		if (live === target) return expect(changed).toEqual({ session: target.id, ended: null, stopped });
		if (live) conversation.end(live, "user_switch");
		if (target.conversation === conversation) conversation.revive(target, now);
		else copy(target, conversation, live, now).id = changed.session;
		const session = conversation.live;
		expect(changed).toEqual({ session: session?.id, ended: live?.id ?? null, stopped });
	},

	async branchSession(world, { conversation }) {
		const args = { ...OPENING, conversation: conversation.id as ConversationId };
		const { live } = conversation;
		if (!live) return await expectRefusal(world.store.branchSession(args), "session.none");
		const changed = await world.store.branchSession(args);
		const stopped = stop(world, conversation);
		conversation.end(live, "user_switch");
		const session = conversation.open(world.clock.now(), live, {
			id: changed.session,
			base: { session: live, seq: live.rows.length, kind: "branch" },
		});
		session.cap = conversation.messages(session) + MAX_MESSAGES;
		session.hadActivity = conversation.messages(session) > 0;
		expect(changed).toEqual({ session: session.id, ended: live.id, stopped });
	},

	async extend(world, { conversation, pick }) {
		const args = { conversation: conversation.id as ConversationId, by: 1 + (pick % 5) };
		const { live } = conversation;
		if (!live) return await expectRefusal(world.store.extendSession(args), "session.none");
		live.cap += args.by;
		expect(await world.store.extendSession(args)).toMatchObject({ session: live.id, cap: live.cap });
	},

	/** Three nodes in a row die over a turn, and over every other open one that they have. */
	async suspend(world, choice): Promise<void> {
		await STEPS.stop(world, choice);
		await STEPS.say(world, choice);
		let node = await world.mortal();
		await STEPS.begin({ ...world, store: node.store }, choice);
		for (let deaths = 1; deaths <= 3; deaths++) {
			const { epoch } = node.store;
			const struck = world.conversations.filter(({ turn }) => turn?.epoch === epoch);
			world.store = await node.die();
			await world.store.interruptTurns({ suspendedNotice: { text: "suspended", plain: "suspended" } });
			if (deaths < 3) node = await world.mortal();
			for (const conversation of struck)
				if (deaths < 3) await resume(world, conversation, node.store, deaths);
				else await suspend(world, conversation);
		}
	},

	async undo(world, { conversation, pick, flag }) {
		const args = { conversation: conversation.id as ConversationId, turns: 1 + (pick % 4) };
		const undone = flag
			? await world.store.undo(args)
			: await perform(world, conversation, { name: "undo", args });
		const stopped = stop(world, conversation);
		expect(undone).toEqual({ ...conversation.undo(args.turns), stopped, cancelled: 0 });
	},

	async redo(world, { conversation }) {
		const redone = await world.store.redo({ conversation: conversation.id as ConversationId });
		const { redoable } = conversation;
		if (!redoable) return expect(redone).toEqual({ rows: 0, messages: 0, stopped: null });
		const stopped = stop(world, conversation);
		expect(redone).toEqual({ ...conversation.redo(redoable), stopped });
	},

	async retry(world, { conversation }) {
		const deadlineAt = world.clock.now() + MINUTE;
		const retried = await world.store.retry({ conversation: conversation.id as ConversationId, deadlineAt });
		const stopped = stop(world, conversation);
		const { live } = conversation;
		const again = conversation.retry();
		if (again === null || !live) return expect(retried).toEqual({ kind: "nothing", stopped });
		if (retried.kind !== "begun") return expect.fail("expected a turn");
		const { token } = conversation.startTurn(retried.turn, live, again.speaks, world.store.epoch);
		const messages = conversation.messages(live);
		expect(retried).toMatchObject({
			token,
			session: live.id,
			hidden: again.hidden,
			stopped,
			messages,
			cap: live.cap,
			nextIndex: 0,
		});
	},

	async cover(world, { conversation, pick, flag }) {
		const session = flag
			? conversation.live
			: conversation.sessions[pick % Math.max(1, conversation.sessions.length)];
		if (!session) return;
		const rows = conversation.transcript(session);
		const at = rows[pick % Math.max(1, rows.length)];
		if (!at) return;
		const toSeq = at.seq + (pick % 3);
		const args = {
			session: session.id as SessionId,
			ranges: [{ session: at.session.id as SessionId, fromSeq: at.seq, toSeq }],
			summary: `summary ${++world.said}`,
		};
		const range = rows.filter((row) => row.session === at.session && row.seq >= at.seq && row.seq <= toSeq);
		if (session.ended !== null) return await expectRefusal(world.store.cover(args), "session.ended");
		if (range.at(-1)?.seq !== toSeq) return await expectRefusal(world.store.cover(args), "argument.invalid");
		if (range.some((row) => conversation.isHidden(row)))
			return await expectRefusal(world.store.cover(args), "transcript.changed");
		const row = await world.store.cover(args);
		const summary = { role: "meta", kind: "summary", content: args.summary, turn: null } as const;
		expect(row.seq).toBe(conversation.append(session, summary).seq);
	},

	async title(world, { conversation, pick }) {
		const session = conversation.sessions[pick % Math.max(1, conversation.sessions.length)];
		if (!session) return;
		const wanted = `title ${pick % 2}`;
		const args = { session: session.id as SessionId, title: wanted, source: "user" } as const;
		const { title } = await world.store.setTitle(args);
		expect(title).toBe(conversation.giveTitle(session, wanted));
	},

	async override(world, { conversation, pick, flag }) {
		conversation.override = flag ? `model ${pick % 3}` : null;
		const override = flag ? { model: conversation.override } : null;
		await world.store.setModelOverride({ conversation: conversation.id as ConversationId, override });
	},

	async expire(world, { conversation }) {
		const { live } = conversation;
		if (!live) return;
		const { ended } = await world.store.expireSession({ session: live.id as SessionId, policy: POLICY });
		const held = conversation.turn !== null || conversation.waiting.length > 0 || live.suspended;
		const idle = !held && world.clock.now() > live.lastActivityAt + IDLE_MS;
		expect(ended).toBe(idle ? "idle" : null);
		if (idle) conversation.end(live, "idle");
	},

	async finalise(world, { conversation }) {
		for (const session of conversation.sessions) {
			if (session.ended === null || session.finalised) continue;
			await world.store.finaliseSession({ session: session.id as SessionId });
			session.finalised = true;
			const words = session.title === null ? conversation.firstWords(session) : null;
			if (words !== null) conversation.giveTitle(session, words);
		}
	},

	async deliver(world, { pick }) {
		const now = world.clock.now();
		const { deliveries } = await world.store.claimDeliveries({ limit: 10, timeoutMs: MINUTE });
		const chats = [...new Set(world.deliveries.map(({ chat }) => chat))];
		const heads = chats
			.map((one) => world.deliveries.find(({ chat, dueAt }) => chat === one && dueAt !== null))
			.filter((head) => head !== undefined && (head.dueAt ?? now + 1) <= now);
		expect(deliveries.map(({ id }) => id).sort()).toEqual(heads.map((head) => head?.id).sort());
		for (const { id, claim } of deliveries) {
			const settlement = settlements(now)[pick % 4] ?? expect.fail("no settlement");
			await world.store.settleDelivery({ id, claim, settlement });
			const settled = world.deliveries.find((one) => one.id === id) ?? expect.fail("an unknown delivery");
			settled.state = settlement.kind === "retry" ? "pending" : settlement.kind;
			settled.dueAt = settlement.kind === "retry" ? settlement.at : null;
		}
	},

	async resolve(world, { pick }) {
		const open = world.deliveries.filter(({ state }) => state === "unknown" || state === "dead");
		const chosen = open[pick % Math.max(1, open.length)];
		if (!chosen) return;
		const at = world.clock.now();
		await world.store.resolveDelivery({
			id: chosen.id,
			settlement: { kind: "retry", at, reason: "by hand" },
		});
		chosen.state = "pending";
		chosen.dueAt = at;
	},

	async wait(world, { pick }) {
		world.clock.advance([1, 1000, 20 * MINUTE, IDLE_MS, IDLE_MS + 1][pick % 5] ?? 0);
	},
} as const satisfies Record<string, Step>;

export type StepName = keyof typeof STEPS;

type Change = NonNullable<Parameters<Store["performCommand"]>[0]["change"]>;

/** The same change as part of a command's end. */
async function perform(world: World, conversation: ModelConversation, change: Change): Promise<unknown> {
	const item = await accept(world, { conversation, pick: 0, flag: false }, "person");
	const done = await world.store.performCommand({ inbox: item.id, command: change.name, change });
	await world.store.answerCommand({
		inbox: item.id,
		conversation: conversation.id as ConversationId,
		deliveries: [],
	});
	item.waits = false;
	item.disposition = "command";
	return done.kind === "done" ? done.result : expect.fail("the command was not performed");
}

async function expectRefusal(operation: Promise<unknown>, code: string): Promise<void> {
	expect((await refused(operation)).code).toBe(code);
}

function stop(world: World, conversation: ModelConversation): string | null {
	const { turn } = conversation;
	if (turn) world.ended.push({ turn: turn.id, token: turn.token });
	return conversation.endTurn("stopped");
}

/** The next node goes on with a turn of one that died. */
async function resume(
	world: World,
	conversation: ModelConversation,
	store: Store,
	deaths: number,
): Promise<void> {
	const { turn } = conversation;
	if (!turn) return expect.fail("there is no turn to resume");
	world.ended.push({ turn: turn.id, token: turn.token });
	const resumed = await store.resumeTurn({
		turn: turn.id,
		autoContinueFreshness: 0,
		deadlineAt: world.clock.now() + MINUTE,
		policy: POLICY,
	});
	const { session, speaks, nextIndex } = turn;
	const { token } = conversation.startTurn(turn.id, session, speaks, store.epoch, nextIndex);
	expect(resumed).toMatchObject({
		kind: "resumed",
		turn: turn.id,
		token,
		session: session.id,
		messages: conversation.messages(session),
		cap: session.cap,
		nextIndex,
		attempts: deaths + 1,
	});
}

/** After the third death: its messages have failed, and its person is told. */
async function suspend(world: World, conversation: ModelConversation): Promise<void> {
	const { turn } = conversation;
	if (!turn) return expect.fail("there is no turn to give up");
	world.ended.push({ turn: turn.id, token: turn.token });
	conversation.endTurn("failed");
	turn.session.suspended = true;
	const { chat_id: chat } = world.places[world.conversations.indexOf(conversation)] as Place;
	const id = `${turn.id}:suspended`;
	// Whichever client looked first has recorded the deaths, by its own clock.
	const { dueAt } = await world.store.delivery({ scope: OPERATOR, id });
	world.deliveries.push({ id, chat, state: "pending", dueAt });
}

function touch(session: ModelSession, at: number): void {
	session.lastActivityAt = Math.max(session.lastActivityAt, at);
	session.hadActivity = true;
}

function newMessages(world: World, index: number, count: number) {
	return Array.from({ length: count }, (_, n) => ({
		role: n % 2 === 0 ? ("assistant" as const) : ("tool" as const),
		content: `said ${++world.said}`,
		index: index + n,
	}));
}

/** Observed messages first, then each item as its own row. */
function takeItems(
	conversation: ModelConversation,
	session: ModelSession,
	items: readonly ModelItem[],
	turn: string,
): ModelRow[] {
	const seen = conversation.items.filter((item) => item.kind === "observed" && item.turn === null);
	for (const item of seen) item.turn = "seen";
	return [...seen, ...items].map((item) => takeItem(conversation, session, item, turn));
}

function takeItem(
	conversation: ModelConversation,
	session: ModelSession,
	item: ModelItem,
	turn: string,
): ModelRow {
	item.waits = false;
	if (item.kind !== "observed") item.turn = turn;
	const content = item.text;
	if (item.kind === "process")
		return conversation.append(session, { role: "meta", kind: "note", content, turn });
	return conversation.append(session, { role: "user", content, turn, counted: item.kind === "person" });
}

/** A session of another conversation: its visible rows, without summaries, as rows of a new one. */
function copy(
	from: ModelSession,
	to: ModelConversation,
	previous: ModelSession | null,
	now: number,
): ModelSession {
	const session = to.open(now, previous);
	for (const row of from.conversation.transcript(from)) {
		if (from.conversation.isHidden(row) || row.kind === "summary") continue;
		to.append(session, { ...row, turn: null });
	}
	session.cap = to.messages(session) + MAX_MESSAGES;
	session.hadActivity = to.messages(session) > 0;
	return session;
}

function settlements(now: number) {
	return [
		{ kind: "sent", receipt: "r" },
		{ kind: "retry", at: now + MINUTE, reason: "429" },
		{ kind: "unknown", reason: "timeout" },
		{ kind: "dead", reason: "gone" },
	] as const;
}
