// The dependencies of a turn.
import type { Agent } from "../../agents/index.ts";
import type { Config } from "../../config/index.ts";
import type { Confirmations } from "../../confirmations/index.ts";
import type { ResetPolicy, Standing } from "../../domain/index.ts";
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

/** Why a turn must end early. lost: it was already ended in the store, so nothing may be written. */
export type StopReason = "stopped" | "deadline" | "shutdown" | "lost";

export interface TurnDependencies {
	/** Waits for a store in trouble while the turn works; the turn's end does so by itself. */
	readonly store: Store;
	readonly agent: Agent;
	readonly tools: ToolRegistry;
	/** Null: nobody can be asked before a dangerous call. */
	readonly confirmations: Confirmations | null;
	/** The current rights of the people it speaks for (I18). */
	readonly rights: Rights;
	/** What they may do now: a role or login may have been taken from them since the turn began. */
	readonly standingNow: (store: Store) => Promise<Standing>;
	/** Only the owner sees names of secrets. */
	readonly isOwners: boolean;
	/** Null: checkpoints are off. */
	readonly files: ConversationFiles | null;
	readonly clock: Clock;
	readonly config: Config;
	/** A description of the wall around its commands; null: unknown. */
	readonly wallNote: () => Promise<string | null>;
	readonly deltas: Deltas;
	readonly channel: Channel | undefined;
	readonly outlet: Outlet;
	readonly policyOf: (conversation: Conversation) => ResetPolicy;
	/** The context block of a session that would open now. */
	readonly openingOf: SessionSettings["openingOf"];
	/** Waiting messages that may join the turn (busy mode steer). */
	readonly joining: () => readonly number[];
	readonly joined: (inbox: readonly number[]) => void;
	/** The note for the agent if a message asks for a prompt of an MCP server; otherwise null. */
	readonly promptOf: (text: string, signal: AbortSignal) => Promise<string | null>;
	/** The turn completed, and its end is stored. */
	readonly completed: (start: TurnStart) => void;
	readonly log: (message: string, error: unknown) => void;
}
