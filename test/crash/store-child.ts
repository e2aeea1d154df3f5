// Mixed operations from several conversations, as fast as they go, until somebody kills this process. Everything that was
// acknowledged is said on stdout, after its promise resolved; what is not said may or may not have happened.
import { resolvePolicy } from "../../src/config/index.ts";
import "../support/keep-compiled.ts";
import type { ConversationId } from "../../src/domain/index.ts";
import { KeryxError } from "../../src/errors.ts";
import {
	type Delivery,
	type Destination,
	type Message,
	type NewDelivery,
	type NewMessage,
	NO_SECRETS,
	openStore,
	type Store,
	systemClock,
	systemIds,
} from "../../src/store/index.ts";
import { type Ack, type AckedEvent, type Orders, randomBy } from "./acks.ts";

const LANES = 6;
const orders = JSON.parse(process.argv[2] ?? "") as Orders;
const random = randomBy(orders.seed);
/** Few messages, so that sessions rotate all the time. */
const policy = resolvePolicy({ mode: "none", max_messages: 14 }, { platform: "telegram", chatType: "dm" });
const opening = { policy, context: "You are Keryx." };
let made = 0;

say({ op: "starting" });
const store = await openStore({
	url: `sqlite:${orders.path}`,
	clock: systemClock,
	ids: systemIds(systemClock),
	secrets: NO_SECRETS,
});
say({ op: "opened", epoch: store.epoch });

function say(ack: Ack): void {
	process.stdout.write(`${JSON.stringify(ack)}\n`);
}

function happened(...events: AckedEvent[]): void {
	say({ op: "happened", events });
}

/** A text that occurs once in the store's whole life. */
function text(what: string): string {
	const words = `${what} ${orders.run}.${++made}`;
	// Now and then one that is kept in a blob.
	return chance(0.02) ? `${words} ${"x".repeat(70_000)}` : words;
}

function chance(share: number): boolean {
	return random() < share;
}

function upTo(most: number): number {
	return 1 + Math.floor(random() * most);
}

/** First before recovery, when the turns still look as if they ran and only the epoch tells; then again under the next token. */
async function tryStaleTokens(): Promise<void> {
	for (const { turn, token } of orders.stale) {
		const messages = [{ role: "assistant", content: `stale ${orders.run}.${++made}`, index: 999 }] as const;
		const attempts = [
			store.appendMessages({ turn, token, messages }),
			store.endTurn({ turn, token, outcome: { kind: "completed" }, messages, deliveries: [], policy }),
		];
		for (const attempt of attempts) say({ op: "refused", turn, code: await codeOf(attempt) });
	}
}

async function codeOf(attempt: Promise<unknown>): Promise<string | null> {
	try {
		// A turn that had ended exactly so is answered as repeated: nothing is written.
		const answer = await attempt;
		return (answer as { repeated?: boolean }).repeated ? "repeated" : null;
	} catch (error) {
		if (error instanceof KeryxError) return error.code;
		throw error;
	}
}

/** No child makes so many calls: a turn that a later one resumes has no second call of the same number, which would be a repeated one. */
const CALLS_OF_A_CHILD = 1_000_000;

interface Held {
	readonly id: string;
	readonly token: number;
	readonly destination: Destination;
	nextIndex: number;
}

/** What an owner does first: turns of the one before are interrupted, then resumed under the next token. */
async function recover(): Promise<Map<ConversationId, Held>> {
	const held = new Map<ConversationId, Held>();
	const { interrupted } = await store.interruptTurns({
		suspendedNotice: { text: "suspended", plain: "suspended" },
	});
	happened(
		...interrupted.map(({ turn, conversation }) => ({ type: "turn.interrupted", conversation, turn })),
	);
	const { unknown } = await store.recoverDeliveries({ canAsk: [] });
	for (const { id, state } of unknown) say({ op: "settled", delivery: id, state });
	for (const { id } of await store.dueTurns({
		scope: { kind: "operator" },
		now: systemClock.now(),
		limit: 100,
	})) {
		const resumed = await store.resumeTurn({
			turn: id,
			autoContinueFreshness: 3600,
			deadlineAt: systemClock.now() + 600_000,
			policy,
		});
		if (resumed.kind !== "resumed") continue;
		say({ op: "holds", turn: id, token: resumed.token });
		held.set(resumed.conversation, { ...resumed, id });
	}
	return held;
}

/** One conversation: messages come in, turns run over them, people change their minds. */
class Lane {
	readonly #n: number;
	readonly #held: Map<ConversationId, Held>;
	readonly #accepted: string[] = [];
	#waiting: number[] = [];
	#conversation!: ConversationId;

	constructor(n: number, held: Map<ConversationId, Held>) {
		this.#n = n;
		this.#held = held;
	}

	async run(): Promise<never> {
		await this.#accept();
		const before = await store.waitingItems({
			scope: { kind: "operator" },
			after: 0,
			conversation: this.#conversation,
			limit: 1000,
		});
		this.#waiting = before.map(({ id }) => id);
		const resumed = this.#held.get(this.#conversation);
		if (resumed) await this.#work(resumed);
		for (;;) {
			await Promise.all(Array.from({ length: upTo(3) }, () => this.#accept()));
			if (chance(0.2)) await this.#redeliver();
			const begun = await this.#begin();
			if (begun) await this.#work(begun);
			if (chance(0.4)) await this.#command();
		}
	}

	async #accept(platformMessage = `${orders.run}.${this.#n}.${++made}`): Promise<void> {
		const chat = `chat ${this.#n}`;
		const content = text("in");
		const { id, conversation, duplicate } = await store.accept({
			kind: "person",
			source: { platform: "telegram", chat_id: chat, chat_type: "dm", user_id: chat, user_name: "Ada" },
			platformMessage,
			content,
			routing: { groupSessionsPerUser: true, threadSessionsPerUser: false, profile: null },
			as: { kind: "accept" },
			cursor: { platform: "telegram", account: "", value: String(made) },
		});
		this.#conversation = conversation as ConversationId;
		say({ op: "accepted", inbox: id, platformMessage, conversation: this.#conversation, duplicate });
		if (duplicate) return;
		happened({ type: "inbound.accepted", conversation: this.#conversation, subject: id });
		this.#accepted.push(platformMessage);
		this.#waiting.push(id);
	}

	async #redeliver(): Promise<void> {
		await this.#accept(this.#accepted[Math.floor(random() * this.#accepted.length)]);
	}

	async #begin(): Promise<Held | undefined> {
		const inbox = this.#waiting;
		const begun = await store.beginTurn({
			...opening,
			conversation: this.#conversation,
			inbox,
			autoContinueFreshness: 3600,
			deadlineAt: systemClock.now() + 600_000,
		});
		if (begun.kind !== "begun") return undefined;
		this.#waiting = this.#waiting.filter((id) => !inbox.includes(id));
		say({ op: "holds", turn: begun.turn, token: begun.token });
		happened({ type: "turn.begun", conversation: this.#conversation, turn: begun.turn });
		sayRows(begun.appended);
		return { ...begun, id: begun.turn };
	}

	async #work(turn: Held): Promise<void> {
		for (let step = upTo(4); step > 1; step--) await this.#step(turn);
		if (chance(0.1)) await this.#stop(turn);
		else await this.#end(turn);
	}

	async #step(turn: Held): Promise<void> {
		const { id, token } = turn;
		// With the child's number: a turn that a later child resumes must not make a call of the same name.
		const call = `call ${orders.run}.${++made}`;
		const messages: NewMessage[] = [
			{ role: "assistant", content: text("step"), toolCalls: [{ id: call, name: "read", input: {} }] },
			{ role: "tool", content: text("result"), toolCallId: call, toolName: "read", isError: chance(0.2) },
		];
		const indexed = messages.map((message) => ({ ...message, index: turn.nextIndex++ }));
		if (chance(0.5)) {
			await store.startCall({ turn: id, token, call, tool: "read", repeatable: false });
			happened({ type: "call.started", conversation: this.#conversation, turn: id, subject: call });
		}
		const appended = await Promise.all([
			store.appendMessages({ turn: id, token, messages: indexed }),
			// The same write again, under way at the same time: the rows that exist are the answer.
			...(chance(0.3) ? [store.appendMessages({ turn: id, token, messages: indexed })] : []),
		]);
		for (const { rows } of appended) sayRows(rows);
		if (chance(0.5)) await this.#modelCall(turn, orders.run * CALLS_OF_A_CHILD + made);
	}

	async #modelCall({ id, token }: Held, n: number): Promise<void> {
		await store.recordModelCall({
			turn: id,
			token,
			n,
			provider: "test",
			model: "test",
			inputTokens: 10,
			outputTokens: 1,
			costMicros: 5,
			currency: "USD",
			status: "ok",
		});
		happened({ type: "model.called", conversation: this.#conversation, turn: id });
	}

	async #stop({ id }: Held): Promise<void> {
		await store.stopTurn({ conversation: this.#conversation });
		say({ op: "ended", turn: id, state: "stopped", deliveries: [] });
	}

	async #end(turn: Held): Promise<void> {
		const outcome = chance(0.1)
			? ({ kind: "failed", reason: "test" } as const)
			: ({ kind: "completed" } as const);
		const deliveries = Array.from({ length: upTo(2) }, (_, part) => reply(turn, `${turn.id}:${part}`));
		if (chance(0.3)) await this.#preview(turn, deliveries[0] as NewDelivery);
		const { rows } = await store.endTurn({
			turn: turn.id,
			token: turn.token,
			outcome,
			messages: [{ role: "assistant", content: text("out"), index: turn.nextIndex }],
			deliveries,
			policy,
			ifRotated: {
				context: opening.context,
				material: { processes: [], confirmations: [], checkpoint: { kind: "none" } },
				notice: [],
			},
		});
		sayRows(rows);
		happened({ type: "turn.ended", conversation: this.#conversation, turn: turn.id });
		say({ op: "ended", turn: turn.id, state: outcome.kind, deliveries: deliveries.map(({ id }) => id) });
	}

	async #preview({ id, token }: Held, delivery: NewDelivery): Promise<void> {
		if ((await store.openDelivery({ turn: id, token, delivery })).kind !== "send") return;
		const outcome = { kind: "sent", receipt: `receipt ${++made}` } as const;
		await store.recordPreview({ turn: id, token, id: delivery.id, outcome });
	}

	/** Refusals are answers too: there may be nothing to continue, or nothing to switch to. */
	async #command(): Promise<void> {
		try {
			await this.#randomCommand();
		} catch (error) {
			if (!(error instanceof KeryxError && error.code.startsWith("session."))) throw error;
		}
	}

	async #randomCommand(): Promise<void> {
		const conversation = this.#conversation;
		const command = { ...opening, conversation };
		switch (upTo(8)) {
			case 1:
				return await this.#undo();
			case 2:
				await this.#undo();
				return await this.#redo();
			case 3:
				await store.newSession(chance(0.5) ? command : { ...command, title: text("title") });
				return happened({ type: "session.opened", conversation });
			case 4:
				await store.continueSession(command);
				return happened({ type: "session.continued", conversation });
			case 5:
				await store.branchSession(command);
				return happened({ type: "session.opened", conversation });
			case 6:
				await store.extendSession({ conversation, by: upTo(5) });
				return happened({ type: "session.extended", conversation });
			case 7:
				return await this.#switch();
			default:
				return await this.#retry();
		}
	}

	async #undo(): Promise<void> {
		const conversation = this.#conversation;
		const { rows } = await store.undo({ conversation, turns: upTo(3) });
		if (rows > 0) happened({ type: "transcript.undone", conversation });
	}

	async #redo(): Promise<void> {
		const conversation = this.#conversation;
		const { rows } = await store.redo({ conversation });
		if (rows > 0) happened({ type: "transcript.redone", conversation });
	}

	async #switch(): Promise<void> {
		const conversation = this.#conversation;
		const sessions = await store.sessions({ scope: { kind: "operator" }, conversation, limit: 10 });
		const target = sessions[Math.floor(random() * sessions.length)];
		if (!target || target.endedAt === null) return;
		await store.switchSession({ ...opening, conversation, target: target.id, within: "conversation" });
		happened({ type: "session.switched", conversation });
	}

	async #retry(): Promise<void> {
		const begun = await store.retry({
			conversation: this.#conversation,
			deadlineAt: systemClock.now() + 600_000,
		});
		if (begun.kind !== "begun") return;
		say({ op: "holds", turn: begun.turn, token: begun.token });
		happened({ type: "transcript.retried", conversation: this.#conversation, turn: begun.turn });
		await this.#work({ ...begun, id: begun.turn });
	}
}

function reply({ destination }: Held, id: string): NewDelivery {
	const body = text("reply");
	return { id, kind: "reply", destination, body: { text: body, plain: body } };
}

function sayRows(rows: readonly Message[]): void {
	say({
		op: "rows",
		rows: rows.map(({ id, session, seq, content }) => ({
			id,
			session,
			seq,
			// The beginning tells a text from every other.
			text: String(content).slice(0, 40),
		})),
	});
}

/** The outbox and the watcher: what is due is sent, one way or another; sessions that ended are finalised. */
async function sendAll(): Promise<never> {
	for (;;) {
		const { deliveries } = await store.claimDeliveries({ limit: 8, timeoutMs: 60_000 });
		await Promise.all(deliveries.map(settle));
		const due = await store.dueSessions({ scope: { kind: "operator" }, now: systemClock.now(), limit: 4 });
		await Promise.all(
			due.filter(({ work }) => work === "finalise").map(({ session }) => finalise(store, session)),
		);
	}
}

async function settle({ id, claim }: Delivery & { readonly claim: string }): Promise<void> {
	const way = random();
	if (way < 0.1) {
		const again = { kind: "retry", at: systemClock.now() + 5, reason: "slow down" } as const;
		await store.settleDelivery({ id, claim, settlement: again });
		return;
	}
	const settlement =
		way < 0.2
			? ({ kind: "unknown", reason: "timeout" } as const)
			: ({ kind: "sent", receipt: `receipt ${++made}` } as const);
	await store.settleDelivery({ id, claim, settlement });
	say({ op: "settled", delivery: id, state: settlement.kind });
}

async function finalise(
	store: Store,
	session: Parameters<Store["finaliseSession"]>[0]["session"],
): Promise<void> {
	try {
		await store.finaliseSession({ session });
	} catch (error) {
		// A switch made it live again meanwhile.
		if (!(error instanceof KeryxError && error.code === "session.live")) throw error;
	}
}

try {
	await tryStaleTokens();
	const held = await recover();
	await tryStaleTokens();
	await Promise.all([...Array.from({ length: LANES }, (_, n) => new Lane(n, held).run()), sendAll()]);
} catch (error) {
	say({ op: "failed", message: error instanceof Error ? `${error.message}\n${error.stack}` : String(error) });
	process.exitCode = 1;
	await store.close();
}
