// A command: what it is called, who may use it, and what it does. Its effect and the end of its message are one transaction. What it
// answers then is made from the result alone, so that it is the same when it is given after a crash.
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
import type { Walls } from "../turn/walls.ts";
import type { ChangeArgs, ChangeName, ChangeResult } from "./changes.ts";

export interface CommandContext {
	readonly store: Store;
	readonly lanes: Lanes;
	readonly config: Config;
	/** What answers in this conversation. */
	readonly agent: Agent;
	readonly now: number;
	/** The message that the command came in. */
	readonly inbox: number;
	readonly conversation: Conversation;
	readonly conversationId: ConversationId;
	readonly source: Source;
	readonly role: PersonRole;
	/** Who wrote it; null where the platform does not say. */
	readonly principal: string | null;
	/** The writer, as a turn that the command begins speaks for them. */
	readonly speaker: Speaker;
	/** Null: this Keryx cannot ask anybody. */
	readonly confirmations: Confirmations | null;
	/** Null: this Keryx runs no programs. */
	readonly processes: Processes | null;
	/** Null: this Keryx runs no jobs. */
	readonly schedules: Schedules | null;
	/** Null: this Keryx takes no checkpoints. */
	readonly files: ConversationFiles | null;
	/** Null: nothing is known of walls. */
	readonly walls: Pick<Walls, "describe"> | null;
	/** Models that this conversation may choose from; empty where nobody knows any. */
	readonly modelChoices: () => Promise<readonly ModelOverride[]>;
	/** Every one there is, whoever may use it. */
	readonly tools: ToolRegistry;
	/** Null: a channel brought the message, and knows the person who wrote it. */
	readonly poster: Poster | null;
	/** What its writer may read, in the conversation it was written in. */
	readonly scope: Scope;
	readonly policy: ResetPolicy;
	/** The context block of a session that would open now. */
	readonly context: string;
	/** What stands behind the command's name, trimmed. */
	readonly args: string;
	/** When a turn that begins now is overdue. */
	readonly deadlineAt: number;
	readonly commands: readonly Command[];
}

/** The parts of /help. */
export const GROUPS = ["Conversation", "Answers", "Files", "Information", "More"] as const;

interface Described {
	readonly name: string;
	readonly aliases?: readonly string[];
	readonly usage: string;
	/** A few words for /help: a line fits a phone. */
	readonly about: string;
	readonly group: (typeof GROUPS)[number];
	/** Whoever may use it; default: owner and member. */
	readonly roles?: readonly PersonRole[];
	/** It changes how a conversation works: in a shared one that is the owner's, in any other its own person's. */
	readonly setting?: true;
	/** It decides or changes settings: what a program posts with another's name does not (I17). */
	readonly asksForProof?: true;
	readonly files?: Restoring;
}

/** Files go back first; then the end of that and of the command's message are one transaction. */
export interface Restoring {
	/** Null: not this time. A text: why not. May throw a KeryxError: its message and hint are the answer, and nothing is changed. */
	plan(context: CommandContext): Eventually<RestoreRequest | string | null>;
	answer(result: EndedRestore, context: CommandContext): Eventually<string>;
}

type Eventually<Value> = Value | Promise<Value>;

/** A text with further commands to choose from: buttons for whoever asked, where the chat shows any. The text alone must say as much. */
export interface Listing {
	readonly text: string;
	readonly choices: readonly { readonly label: string; readonly command: string }[];
}

/** It only answers. May throw a KeryxError: its message and hint are the answer. */
export interface Telling extends Described {
	tell(context: CommandContext): Eventually<string | Listing>;
}

/** What is changed, or a text where nothing is. */
export type Plan<Name extends ChangeName> = string | Listing | { readonly args: ChangeArgs<Name> };

/** It changes something. May throw a KeryxError: its message and hint are the answer, and nothing is changed. */
export interface Changing<Name extends ChangeName> extends Described {
	readonly change: Name;
	plan(context: CommandContext): Eventually<Plan<Name>>;
	/** In one or two sentences: what changed, and how to undo it. */
	answer(result: ChangeResult<Name>, context: CommandContext): Eventually<string>;
}

export type Command = Telling | { readonly [Name in ChangeName]: Changing<Name> }[ChangeName];

export const EVERYBODY: readonly PersonRole[] = ["owner", "member", "guest"];

export function mayUse(command: Command, role: PersonRole): boolean {
	return (command.roles ?? ["owner", "member"]).includes(role);
}
