// A command: what it is called, who may use it, and what it does. Its effect and the end of its message are one transaction;
// its answer is made from the result, so that it can be given after a crash too.
import type { Config } from "../../config/index.ts";
import type { ConversationId, ResetPolicy, Source } from "../../domain/index.ts";
import type { Conversation, Store } from "../../store/index.ts";
import type { Role } from "../authorise.ts";
import type { Lanes } from "../lanes.ts";

type Change = NonNullable<Parameters<Store["performCommand"]>[0]["change"]>;

export interface CommandContext {
	readonly store: Store;
	readonly lanes: Lanes;
	readonly config: Config;
	readonly now: number;
	/** The message that the command came in. */
	readonly inbox: number;
	readonly conversation: Conversation;
	readonly conversationId: ConversationId;
	readonly source: Source;
	readonly role: Role;
	readonly policy: ResetPolicy;
	/** The context block of a session that would open now. */
	readonly context: string;
	/** What stands behind the command's name, trimmed. */
	readonly args: string;
	/** When a turn that begins now is overdue. */
	readonly deadlineAt: number;
	readonly commands: readonly Command[];
}

export interface Plan {
	readonly change?: Change;
	/** In one or two sentences: what changed, and how to undo it. */
	answer(result: unknown): string | Promise<string>;
	/** What is left to do in memory, after the change is committed. */
	after?(result: unknown): void | Promise<void>;
}

export interface Command {
	readonly name: string;
	readonly aliases?: readonly string[];
	readonly usage: string;
	readonly about: string;
	/** Whoever may use it; default: owner and member. */
	readonly roles?: readonly Role[];
	/** May throw a KeryxError: its message and hint are the answer. */
	plan(context: CommandContext): Plan | Promise<Plan>;
}
