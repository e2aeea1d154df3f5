// The scene of the suite's tests: a store, a clock, and people who speak in chats.

import { expect, it } from "vitest";
import { resolvePolicy } from "../../../config/index.ts";
import { type ConversationId, type ResetPolicy, type SessionId, sessionId } from "../../../domain/index.ts";
import { type ErrorCode, KeryxError } from "../../../errors.ts";
import type { Message, NewDelivery, Scope, Session, Store } from "../../../store/index.ts";
import { HOUR, type WallClock } from "../clock.ts";

export interface Opened {
	readonly store: Store;
	readonly clock: WallClock;
	/** Ends this owner and answers the store as the next one has it. */
	readonly reopen?: () => Promise<Store>;
	readonly close: () => Promise<void>;
}

/** Opens an empty store. */
export type Open = () => Promise<Opened>;

type Args<Name extends keyof Store> = Store[Name] extends (args: infer Given) => unknown ? Given : never;
type Answer<Name extends keyof Store> = Store[Name] extends (...args: never[]) => Promise<infer Value>
	? Value
	: never;

export type AcceptArgs = Args<"accept">;
export type Accepted = Answer<"accept"> & { readonly conversation: ConversationId };
export type Begun = Extract<Answer<"beginTurn">, { kind: "begun" }> & {
	readonly conversation: ConversationId;
};
export type SourceFields = Readonly<Record<string, unknown>>;

export const OPERATOR = { kind: "operator" } as const;
export const ADA: SourceFields = { platform: "telegram", chat_id: "100", user_id: "100", user_name: "Ada" };
export const BOB: SourceFields = { platform: "telegram", chat_id: "200", user_id: "200", user_name: "Bob" };
export const GROUP: SourceFields = {
	platform: "telegram",
	chat_type: "group",
	chat_id: "-7",
	chat_name: "Friends",
};
const ROUTING = { groupSessionsPerUser: false, threadSessionsPerUser: false, profile: null };

/** What the user of a suspended session is told. */
const SUSPENDED_NOTICE = { text: "suspended", plain: "suspended" };

/** No session ends by itself, unless a test asks for it. */
export const QUIET: ResetPolicy = policy({ mode: "none", max_messages: 0 });

export function policy(sessionReset: Readonly<Record<string, unknown>>): ResetPolicy {
	return resolvePolicy(sessionReset, { platform: "telegram", chatType: "dm" });
}

/** One test: a sentence about the store's behaviour, run on an empty store. */
export type Tell = (sentence: string, story: (scene: Scene) => Promise<void>) => void;

export function teller(open: Open): Tell {
	return (sentence, story) => {
		it(sentence, async () => {
			const opened = await open();
			try {
				await story(new Scene(opened));
			} finally {
				await opened.close();
			}
		});
	};
}

/** The error an operation is refused with. */
export async function refused(operation: Promise<unknown>): Promise<KeryxError> {
	try {
		await operation;
	} catch (error) {
		if (error instanceof KeryxError) return error;
		throw error;
	}
	return expect.fail("the operation was not refused");
}

export async function refusal(operation: Promise<unknown>): Promise<ErrorCode> {
	return (await refused(operation)).code;
}

export function principalScope(
	principal: string | null,
	more: { conversation?: ConversationId; profile?: string } = {},
): Scope {
	return { kind: "principal", principal: principal ?? "", profile: "", ...more };
}

export class Scene {
	store: Store;
	readonly clock: WallClock;
	readonly #reopen: Opened["reopen"];
	#said = 0;

	constructor({ store, clock, reopen }: Opened) {
		this.store = store;
		this.clock = clock;
		this.#reopen = reopen;
	}

	/** The owner dies, and another one takes over. */
	async restart(): Promise<void> {
		if (!this.#reopen) throw new Error("this store cannot be opened again");
		this.store = await this.#reopen();
	}

	/** Whether the owner can die. */
	get canRestart(): boolean {
		return this.#reopen !== undefined;
	}

	/** Turns of dead owners are interrupted; answers them. */
	async interrupt(): Promise<Answer<"interruptTurns">["interrupted"]> {
		return (await this.store.interruptTurns({ suspendedNotice: SUSPENDED_NOTICE })).interrupted;
	}

	async resume({ turn }: Pick<Begun, "turn">): Promise<Answer<"resumeTurn">> {
		return await this.store.resumeTurn({
			turn,
			autoContinueFreshness: 3600,
			deadlineAt: this.clock.now() + HOUR,
			policy: QUIET,
		});
	}

	/** Three owners in a row die over a running turn: its session is suspended. */
	async suspend({ turn, conversation, session }: Begun): Promise<void> {
		for (let deaths = 1; deaths <= 3; deaths++) {
			await this.restart();
			const suspended = deaths === 3;
			expect(await this.interrupt()).toContainEqual({ turn, conversation, suspended });
			if (!suspended) expect(await this.resume({ turn })).toMatchObject({ kind: "resumed" });
		}
		expect((await this.session(session)).suspendedAt).toBe(this.clock.now());
	}

	/** Accepts a message; its platform message id is the next number unless given. */
	async accept(
		text: AcceptArgs["content"],
		from: SourceFields = ADA,
		more: Partial<AcceptArgs> = {},
	): Promise<Answer<"accept">> {
		return await this.store.accept({
			kind: "person",
			source: from,
			platformMessage: String(++this.#said),
			content: text,
			routing: ROUTING,
			as: { kind: "accept" },
			...more,
		});
	}

	async say(
		text: AcceptArgs["content"],
		from: SourceFields = ADA,
		more: Partial<AcceptArgs> = {},
	): Promise<Accepted> {
		const accepted = await this.accept(text, from, more);
		expect(accepted.conversation).not.toBeNull();
		return accepted as Accepted;
	}

	async tryBegin(
		conversation: ConversationId,
		inbox: readonly number[],
		more: Partial<Args<"beginTurn">> = {},
	): Promise<Answer<"beginTurn">> {
		return await this.store.beginTurn({
			conversation,
			inbox,
			policy: QUIET,
			context: "context",
			autoContinueFreshness: 3600,
			deadlineAt: this.clock.now() + 600_000,
			...more,
		});
	}

	async begin(
		conversation: ConversationId,
		inbox: readonly number[],
		more: Partial<Args<"beginTurn">> = {},
	): Promise<Begun> {
		const begun = await this.tryBegin(conversation, inbox, more);
		expect(begun.kind).toBe("begun");
		return { ...(begun as Extract<Answer<"beginTurn">, { kind: "begun" }>), conversation };
	}

	/** A person writes, and the turn over it begins. */
	async turn(text: string, from: SourceFields = ADA, more: Partial<Args<"beginTurn">> = {}): Promise<Begun> {
		const { id, conversation } = await this.say(text, from);
		return await this.begin(conversation, [id], more);
	}

	async append(
		{ turn, token }: Pick<Begun, "turn" | "token">,
		messages: Args<"appendMessages">["messages"],
	): Promise<Answer<"appendMessages">> {
		return await this.store.appendMessages({ turn, token, messages });
	}

	/** Ends a turn as completed, by default with nothing more. */
	async end(
		{ turn, token }: Pick<Begun, "turn" | "token">,
		more: Partial<Args<"endTurn">> = {},
	): Promise<Answer<"endTurn">> {
		return await this.store.endTurn({
			turn,
			token,
			outcome: { kind: "completed" },
			messages: [],
			deliveries: [],
			policy: QUIET,
			...more,
		});
	}

	/** Ends a turn with one reply. */
	async reply(turn: Begun, text: string, more: Partial<Args<"endTurn">> = {}): Promise<Answer<"endTurn">> {
		const messages = [{ role: "assistant" as const, content: text, index: turn.nextIndex }];
		return await this.end(turn, { messages, ...more });
	}

	/** A person writes and is answered: two rows. */
	async exchange(
		text: string,
		reply: string,
		from: SourceFields = ADA,
		more: Partial<Args<"beginTurn">> = {},
	): Promise<Begun> {
		const turn = await this.turn(text, from, more);
		await this.reply(turn, reply, { policy: more.policy ?? QUIET, ifRotated: ROTATION });
		return turn;
	}

	async session(id: SessionId): Promise<Session> {
		return await this.store.session({ scope: OPERATOR, id });
	}

	async live(conversation: ConversationId): Promise<Session> {
		const { liveSession } = await this.store.conversation({ scope: OPERATOR, ref: { id: conversation } });
		expect(liveSession).not.toBeNull();
		return await this.session(sessionId(liveSession ?? ""));
	}

	/** Everything in a session, including hidden rows. */
	async rows(session: SessionId): Promise<readonly Message[]> {
		return await this.store.transcript({ scope: OPERATOR, session });
	}

	/** The texts shown by the live session. */
	async texts(conversation: ConversationId): Promise<unknown[]> {
		const { id } = await this.live(conversation);
		return (await this.rows(id)).filter((row) => !row.hidden).map((row) => row.content);
	}

	/** Claims and sends everything due; returns the texts in sending order. */
	async deliverAll(): Promise<string[]> {
		const texts: string[] = [];
		for (;;) {
			const { deliveries } = await this.store.claimDeliveries({ limit: 10, timeoutMs: 60_000 });
			if (deliveries.length === 0) return texts;
			for (const { id, claim, body } of deliveries) {
				texts.push(body.text);
				await this.store.settleDelivery({ id, claim, settlement: { kind: "sent", receipt: `r-${id}` } });
			}
		}
	}

	/** Every event so far, page by page. */
	async events(conversation?: ConversationId): Promise<{ type: string; cursor: string; facts: unknown }[]> {
		const found: { type: string; cursor: string; facts: unknown }[] = [];
		for (let after = ""; ; ) {
			const page = await this.store.events({
				scope: OPERATOR,
				after,
				limit: 7,
				...(conversation && { conversation }),
			});
			if (page.kind !== "events") return expect.fail("a follower from the beginning was told to resync");
			if (page.events.length === 0) return found;
			found.push(...page.events);
			after = page.cursor;
		}
	}
}

/** What a rotation needs, if only the fact matters. */
export const ROTATION = {
	context: "context of the successor",
	material: { processes: [], confirmations: [], checkpoint: { kind: "none" } },
	notice: [],
} as const satisfies NonNullable<Args<"endTurn">["ifRotated"]>;

export function delivery(
	id: string,
	text: string,
	kind: NewDelivery["kind"] = "reply",
	more: Partial<NewDelivery["destination"]> = {},
): NewDelivery {
	return {
		id,
		kind,
		destination: { platform: "telegram", account: "", chatId: "100", ...more },
		body: { text, plain: text },
	};
}
