// Where unprompted messages may go. A target is resolved and checked when it is given: is there a channel, and may the sender use it
// (I18)? A conversation the sender may not see is "not found", never "forbidden".
import type { Config } from "../../config/index.ts";
import {
	type ConversationId,
	conversationName,
	isAtLeast,
	isKnownByKeryx,
	parseTarget,
	type Standing,
	type Target,
	targetText,
	type WrittenTarget,
} from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import {
	type Conversation,
	type Destination,
	destinationOf,
	OPERATOR,
	type Scope,
	type Store,
} from "../../store/index.ts";
import type { Channel } from "../channel.ts";
import { profileFor } from "../inbox/profiles.ts";

/** The sender: a turn with its people's rights, a principal with a token, or the operator. */
export interface Sender {
	readonly standing: Standing;
	/** What they may see. The operator may send anywhere. */
	readonly scope: Scope;
	/** The current conversation: what `origin` means, and where no approval is needed. */
	readonly origin: ConversationId | null;
}

/** nothing: send. person: the person spoken for decides. owner: only the owner decides. */
export type Needs = "nothing" | "person" | "owner";

export type Verdict =
	| { readonly kind: "may"; readonly needs: Needs }
	/** One sentence for the sender. */
	| { readonly kind: "refused"; readonly why: string };

export type Resolution =
	| {
			readonly kind: "target";
			/** To be stored as it is. */
			readonly target: Target;
			/** For people. */
			readonly shown: string;
			readonly needs: Needs;
	  }
	| Extract<Verdict, { kind: "refused" }>;

/** Where a target currently leads. */
export interface Endpoint {
	readonly destination: Destination;
	/** The conversation that a reply reaches; null: nobody has written there yet, or each person has their own. */
	readonly conversation: Conversation | null;
}

export interface TargetsOptions {
	readonly store: Store;
	/** Read per call: it may change. */
	readonly config: () => Config;
	readonly channels: () => Iterable<Pick<Channel, "platform" | "account">>;
	/** The reachable home channels. */
	readonly homes: () => readonly Destination[];
	readonly labelOf: (platform: string) => string;
	/** Whether there is a folder for output files. */
	readonly hasOutput: boolean;
}

export class Targets {
	readonly #options: TargetsOptions;

	constructor(options: TargetsOptions) {
		this.#options = options;
	}

	async resolve(text: string, sender: Sender): Promise<Resolution> {
		const target = await this.#resolved(text, sender);
		if ("why" in target) return target;
		const verdict = await this.check(target, sender);
		if (verdict.kind === "refused") return verdict;
		return { kind: "target", target, shown: await this.show(target), needs: verdict.needs };
	}

	async #resolved(text: string, { origin }: Sender): Promise<Target | Refusal> {
		const written = parseTarget(text);
		if ("problem" in written) return refused(`${capital(written.problem)}.`);
		switch (written.kind) {
			case "local":
			case "conversation":
				return written;
			case "origin":
				if (origin === null) return refused("There is no conversation here for origin to mean.");
				return { kind: "conversation", conversation: origin };
			case "home": {
				const { platform, account } = written;
				const home = this.#options
					.homes()
					.find((one) => one.platform === platform && (account === undefined || one.account === account));
				if (home) return asTarget(home);
				if (this.#accounts(platform).length === 0) return this.#notConnected(platform);
				return refused(`${platform} has no home channel. The owner sets it with /sethome in a chat there.`);
			}
			case "chat": {
				const account = await this.#accountOf(written);
				return typeof account === "string" ? { ...written, account } : account;
			}
		}
	}

	/** The connection that knows the chat, if a platform has several. */
	async #accountOf(chat: Extract<WrittenTarget, { kind: "chat" }>): Promise<string | Refusal> {
		const { platform } = chat;
		if (isKnownByKeryx(platform))
			return refused(`Chats of ${platform} have no ids to send to. Use conversation:id.`);
		const accounts = this.#accounts(platform);
		if (chat.account !== undefined)
			return accounts.includes(chat.account)
				? chat.account
				: this.#notConnected(`${platform}@${chat.account}`);
		const [only] = accounts;
		if (only === undefined) return this.#notConnected(platform);
		if (accounts.length === 1) return only;
		for (const account of accounts) {
			const destination = { platform, account, chatId: chat.chatId };
			if ((await this.#options.store.chatConversations({ scope: OPERATOR, destination })).known)
				return account;
		}
		return refused(
			`There are several ${platform} accounts, and none of them knows this chat yet. Write to the bot there first.`,
		);
	}

	#accounts(platform: string): string[] {
		return [...this.#options.channels()].filter((one) => one.platform === platform).map((one) => one.account);
	}

	#notConnected(platform: string): Refusal {
		return refused(`${platform} is not connected.`);
	}

	/** Whether a previously resolved target may be used now: rights, lists and channels change. */
	async check(target: Target, sender: Sender): Promise<Verdict> {
		const { scope, standing, origin } = sender;
		if (standing === "none") return refused("You are not allowed to send messages.");
		if (target.kind === "local") {
			if (!this.#options.hasOutput) return refused("There is no folder for output files here.");
			return this.#allowed(target, sender) ? GO : needs(standing === "owner" ? "person" : "owner");
		}
		const endpoint = await this.endpointOf(target);
		if (!endpoint) return NO_CONVERSATION;
		const { platform, account } = endpoint.destination;
		if (!this.#accounts(platform).includes(account)) return this.#notConnected(platform);
		if (this.#allowed(target, sender)) return GO;
		const { conversation } = endpoint;
		if (conversation !== null && conversation.id === origin) return GO;
		if (conversation !== null && (await this.#sees(scope, conversation.id)))
			return needs(isAtLeast(standing, "member") ? "person" : "owner");
		// From here on it belongs to someone else.
		if (target.kind === "conversation") return NO_CONVERSATION;
		if (standing === "guest") return NO_CHAT;
		const isPrivate = scope.kind === "principal" && scope.principal !== "";
		return isPrivate || this.#isHome(target) ? needs("owner") : NO_CHAT;
	}

	/** The operator, or a target in `send.allow`, which does not cover a guest's sends. */
	#allowed(target: Target, { scope, standing }: Sender): boolean {
		if (scope.kind === "operator") return true;
		if (!isAtLeast(standing, "member")) return false;
		const { allow } = this.#options.config().send;
		return allow.some((entry) => this.#covers(entry, target));
	}

	#covers(entry: string, target: Target): boolean {
		if (target.kind === "chat") {
			const { platform, account } = target;
			if (entry === `${platform}:*` || entry === `${platform}@${account}:*`) return true;
		}
		const allowed = parseTarget(entry);
		if ("problem" in allowed) return false;
		if (target.kind !== "chat") return targetText(allowed) === targetText(target);
		if (allowed.kind !== "home" && allowed.kind !== "chat") return false;
		// An entry without an account covers all of them.
		if (allowed.account !== undefined && allowed.account !== target.account) return false;
		if (allowed.kind === "home") return target.platform === allowed.platform && this.#isHome(target);
		return targetText({ ...allowed, account: target.account }) === targetText(target);
	}

	#isHome(target: Target): boolean {
		return this.#options.homes().some((home) => targetText(asTarget(home)) === targetText(target));
	}

	async #sees(scope: Scope, id: ConversationId): Promise<boolean> {
		return (await found(this.#options.store.conversation({ scope, ref: { id } }))) !== null;
	}

	/** Null if the conversation no longer exists. */
	async endpointOf(target: Exclude<Target, { kind: "local" }>): Promise<Endpoint | null> {
		const { store } = this.#options;
		if (target.kind === "conversation") {
			const conversation = await found(
				store.conversation({ scope: OPERATOR, ref: { id: target.conversation } }),
			);
			if (!conversation || conversation.state === "deleted") return null;
			const { replyTo: _, ...destination } = destinationOf(conversation.source);
			return { destination, conversation };
		}
		const { kind: _, ...destination } = target;
		const { conversations } = await store.chatConversations({ scope: OPERATOR, destination });
		const config = this.#options.config();
		for (const id of conversations) {
			const conversation = await store.conversation({ scope: OPERATOR, ref: { id } });
			// A reply goes to the chat's current profile.
			if (conversation.profile !== profileFor(conversation.source, false, config)) continue;
			const { chatType } = conversation;
			return { destination: { ...destination, ...(chatType !== "dm" && { group: true }) }, conversation };
		}
		return { destination, conversation: null };
	}

	async isSameChat(one: Target, other: Target): Promise<boolean> {
		if (targetText(one) === targetText(other)) return true;
		if (one.kind === "local" || other.kind === "local") return false;
		const [first, second] = [await this.endpointOf(one), await this.endpointOf(other)];
		if (!first || !second) return false;
		return targetText(asTarget(first.destination)) === targetText(asTarget(second.destination));
	}

	/** For people. Names in it are untrusted. */
	async show(target: Target): Promise<string> {
		if (target.kind === "local") return "a file in Keryx's output folder";
		const endpoint = await this.endpointOf(target);
		const conversation = endpoint?.conversation;
		if (target.kind === "conversation")
			return conversation ? conversation.name : `conversation ${target.conversation} (gone)`;
		const { platform, chatId, threadId } = target;
		const id = threadId === undefined ? chatId : `${chatId}, thread ${threadId}`;
		const label = this.#options.labelOf(platform);
		if (!conversation) return `${label} chat ${id}${this.#isHome(target) ? " (home channel)" : ""}`;
		return `${conversationName({ title: null, source: conversation.source })} (${id})`;
	}
}

type Refusal = Extract<Verdict, { kind: "refused" }>;

function refused(why: string): Refusal {
	return { kind: "refused", why };
}

function needs(who: Needs): Verdict {
	return { kind: "may", needs: who };
}

const GO = needs("nothing");
const NO_CONVERSATION = refused("There is no such conversation that you can send to.");
const NO_CHAT = refused("There is no such chat that you can send to from here.");

function asTarget({ platform, account, chatId, threadId }: Destination): Extract<Target, { kind: "chat" }> {
	return { kind: "chat", platform, account, chatId, ...(threadId !== undefined && { threadId }) };
}

async function found<Value>(reading: Promise<Value>): Promise<Value | null> {
	try {
		return await reading;
	} catch (error) {
		if (error instanceof KeryxError && error.code === "store.not_found") return null;
		throw error;
	}
}

function capital(sentence: string): string {
	return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}
