// A command: its name, who may use it, and its effect. The effect and the end of its message are one transaction. The answer is built
// only from the result, so it is the same after a crash.
import type { Agent } from "../../agents/index.ts";
import type { Config } from "../../config/index.ts";
import type { Confirmations } from "../../confirmations/index.ts";
import type {
	ConversationId,
	ModelOverride,
	PersonRole,
	ResetPolicy,
	Source,
	Speaker,
} from "../../domain/index.ts";
import type { Processes } from "../../processes/index.ts";
import type { Schedules } from "../../schedules/index.ts";
import type { Conversation, EndedRestore, Poster, Scope, Store } from "../../store/index.ts";
import type { ToolRegistry } from "../../tools/index.ts";
import type { ConversationFiles } from "../files/conversation-files.ts";
import type { RestoreRequest } from "../files/rewind.ts";
import type { Lanes } from "../lanes/lanes.ts";
import type { Walls } from "../turn/walls/walls.ts";
import type { ChangeArgs, ChangeName, ChangeResult } from "./changes.ts";

export interface CommandContext {
	readonly store: Store;
	readonly lanes: Lanes;
	readonly config: Config;
	/** The agent of this conversation. */
	readonly agent: Agent;
	readonly now: number;
	/** The command's message. */
	readonly inbox: number;
	readonly conversation: Conversation;
	readonly conversationId: ConversationId;
	readonly source: Source;
	readonly role: PersonRole;
	/** The writer; null if the platform does not say. */
	readonly principal: string | null;
	/** The writer, as the speaker of a turn that the command starts. */
	readonly speaker: Speaker;
	/** Null: confirmations are off. */
	readonly confirmations: Confirmations | null;
	/** Null: processes are off. */
	readonly processes: Processes | null;
	/** Null: jobs are off. */
	readonly schedules: Schedules | null;
	/** Null: checkpoints are off. */
	readonly files: ConversationFiles | null;
	/** Null: walls are unknown. */
	readonly walls: Pick<Walls, "describe"> | null;
	/** Models this conversation may choose from; empty if unknown. */
	readonly modelChoices: () => Promise<readonly ModelOverride[]>;
	/** All commands, regardless of role. */
	readonly tools: ToolRegistry;
	/** Null: a channel delivered the message and authenticated its writer. */
	readonly poster: Poster | null;
	/** What the writer may read, from this conversation. */
	readonly scope: Scope;
	readonly policy: ResetPolicy;
	/** The context block of a session that would open now. */
	readonly context: string;
	/** The text after the command's name, trimmed. */
	readonly args: string;
	/** The deadline of a turn that starts now. */
	readonly deadlineAt: number;
	readonly commands: readonly Command[];
}

/** The parts of /help. */
export const GROUPS = ["Conversation", "Answers", "Files", "Information", "More"] as const;

interface Described {
	readonly name: string;
	readonly aliases?: readonly string[];
	readonly usage: string;
	/** A few words for /help: a line must fit on a phone. */
	readonly about: string;
	readonly group: (typeof GROUPS)[number];
	/** Roles that may use it; default: owner and member. */
	readonly roles?: readonly PersonRole[];
	/** Changes how a conversation works: in a shared one only the owner may, elsewhere also its own person. */
	readonly setting?: true;
	/** Decides something or changes settings: not allowed for a program that posts in another's name (I17). */
	readonly asksForProof?: true;
	readonly files?: Restoring;
}

/** Files are restored first; then the end of the restore and of the command's message are one transaction. */
export interface Restoring {
	/** Null: not applicable. A text: why not. May throw a KeryxError: its message and hint are the answer, and nothing is changed. */
	plan(context: CommandContext): Eventually<RestoreRequest | string | null>;
	answer(result: EndedRestore, context: CommandContext): Eventually<string>;
}

type Eventually<Value> = Value | Promise<Value>;

/**
 * A text with further commands to choose from, as buttons for the requester if the chat shows any. The text must be sufficient without
 * them.
 */
export interface Listing {
	readonly text: string;
	readonly choices: readonly { readonly label: string; readonly command: string }[];
}

/** It only answers. May throw a KeryxError: its message and hint are the answer. */
export interface Telling extends Described {
	tell(context: CommandContext): Eventually<string | Listing>;
}

/** The change, or a text if nothing changes. */
export type Plan<Name extends ChangeName> = string | Listing | { readonly args: ChangeArgs<Name> };

/** It changes something. May throw a KeryxError: its message and hint are the answer, and nothing is changed. */
export interface Changing<Name extends ChangeName> extends Described {
	readonly change: Name;
	plan(context: CommandContext): Eventually<Plan<Name>>;
	/** One or two sentences: what changed, and how to undo it. */
	answer(result: ChangeResult<Name>, context: CommandContext): Eventually<string>;
}

export type Command = Telling | { readonly [Name in ChangeName]: Changing<Name> }[ChangeName];

export const EVERYBODY: readonly PersonRole[] = ["owner", "member", "guest"];

export function mayUse(command: Command, role: PersonRole): boolean {
	return (command.roles ?? ["owner", "member"]).includes(role);
}
