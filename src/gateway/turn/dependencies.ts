// What a turn is made with.
import type { Agent } from "../../agents/index.ts";
import type { Config } from "../../config/index.ts";
import type { Confirmations } from "../../confirmations/index.ts";
import type { ResetPolicy } from "../../domain/index.ts";
import type { Conversation, Store } from "../../store/index.ts";
import type { Clock } from "../../time/index.ts";
import type { ToolRegistry } from "../../tools/index.ts";
import type { Channel } from "../channel.ts";
import type { ConversationFiles } from "../files/conversation-files.ts";
import type { Outlet } from "../outbox/outlet.ts";
import type { SessionSettings } from "../session-settings.ts";
import type { Deltas } from "./deltas.ts";
import type { Rights } from "./rights.ts";
import type { TurnStart } from "./start.ts";

/** Why a turn is to end before its time. lost: somebody else ended it in the store already, so nothing may be written. */
export type StopReason = "stopped" | "deadline" | "shutdown" | "lost";

export interface TurnDependencies {
	/** While the turn works it waits for a store that is in trouble; its end does so by itself. */
	readonly store: Store;
	readonly agent: Agent;
	readonly tools: ToolRegistry;
	/** Null: nobody can be asked before a dangerous call. */
	readonly confirmations: Confirmations | null;
	/** What the people it speaks for may do and see now (I18). */
	readonly rights: Rights;
	/** The owner alone sees names of secrets. */
	readonly isOwners: boolean;
	/** Null: no checkpoints are taken. */
	readonly files: ConversationFiles | null;
	readonly clock: Clock;
	readonly config: Config;
	/** What its commands run behind, in words; null: nothing is known of that. */
	readonly wallNote: () => Promise<string | null>;
	readonly deltas: Deltas;
	readonly channel: Channel | undefined;
	readonly outlet: Outlet;
	readonly policyOf: (conversation: Conversation) => ResetPolicy;
	/** The context block of a session that would open now. */
	readonly openingOf: SessionSettings["openingOf"];
	/** Messages that wait and may join the turn (busy mode steer). */
	readonly joining: () => readonly number[];
	readonly joined: (inbox: readonly number[]) => void;
	/** What the agent is told where a message asks for a prompt of an MCP server; null where it does not. */
	readonly promptOf: (text: string, signal: AbortSignal) => Promise<string | null>;
	/** The turn was completed, and its end is written. */
	readonly completed: (start: TurnStart) => void;
	readonly log: (message: string, error: unknown) => void;
}
