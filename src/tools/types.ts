// What an agent may use. A tool states in its type what the gateway must know before it runs: whether a call may be made
// again after an interruption, and whether a human must say yes first.
import { z } from "zod";
import type { ConversationId, Part, SentFile, SessionId, Standing } from "../domain/index.ts";
import type { Destination, Scope, Store } from "../store/index.ts";
import type { CommandClass } from "./classifier/index.ts";

export interface ToolContext {
	readonly store: Pick<Store, "search" | "session" | "messages">;
	/** What this caller may read: what everybody it speaks for may see (I18). */
	readonly scope: Scope;
	/** The least that the people it speaks for are. */
	readonly standing: Standing;
	readonly conversation: ConversationId;
	readonly session: SessionId;
	readonly turn: string;
	readonly call: string;
	/** The action that a human, or the mode of approvals, said yes to for this call; null: there was no question. */
	readonly approved: string | null;
	/** Who is answered; null where the platform does not say. */
	readonly speaker: string | null;
	/** Where the turn's reply goes. */
	readonly destination: Destination;
	readonly now: number;
	/** The call is to end: the turn was stopped, or its time is over. */
	readonly signal: AbortSignal;
	/** Somebody has written meanwhile: whoever only waits gives way. */
	readonly interrupted: AbortSignal;
}

/** Who calls a tool: what the question to a human may depend on. */
export type ToolCaller = Pick<ToolContext, "conversation" | "scope" | "standing" | "speaker">;

/** Text, an attachment that the conversation has already, or the bytes of a new one. */
export type ToolPart =
	| Part
	| {
			readonly type: "image" | "audio" | "file";
			readonly data: Uint8Array;
			readonly mediaType: string;
			readonly name?: string;
			/** To the people of the chat, with the answer. */
			readonly sent?: SentFile;
	  };

export interface ToolResult {
	readonly content: string | readonly ToolPart[];
	readonly isError?: boolean;
	/** The turn ends with this text for the user (a question back). */
	readonly endsTurn?: string;
	/** Called once the result is committed: what it was made from is not needed any more. Never called where it is not. */
	readonly stored?: () => void;
}

/** What a human is asked before a call runs. */
export interface ConfirmationQuestion {
	readonly action: string;
	readonly description: string;
	/** What is asked about, and run once it is approved, in place of the arguments as they were written. */
	readonly details?: Readonly<Record<string, unknown>>;
	/** Asked about every time: no grant answers, and none comes of the answer. */
	readonly once?: boolean;
	/** Why a command is dangerous, in the classifier's classes; left out where nothing was classified. Some may be granted only once. */
	readonly classes?: readonly CommandClass[];
}

/** A call whose arguments have been checked. */
export interface PreparedCall {
	/** Null: this call needs no human. */
	question(caller: ToolCaller): Promise<ConfirmationQuestion | null>;
	/** Whether files of the workspace may be different after it, so that a snapshot comes first. */
	changesFiles(caller: ToolCaller): boolean;
	run(context: ToolContext): Promise<ToolResult>;
}

export interface Tool {
	readonly name: string;
	readonly description: string;
	/** JSON Schema of the arguments. */
	readonly schema: Readonly<Record<string, unknown>>;
	/** Whether a call that was cut off may simply be made again. */
	readonly repeatable: boolean;
	/** The call, or what is wrong with its arguments in words for the model. */
	prepare(input: unknown): PreparedCall | { readonly problem: string };
}

export interface ToolDefinition<Schema extends z.ZodType> {
	readonly name: string;
	readonly description: string;
	readonly input: Schema;
	readonly repeatable: boolean;
	confirmation?(
		input: z.output<Schema>,
		caller: ToolCaller,
	): ConfirmationQuestion | null | Promise<ConfirmationQuestion | null>;
	/** Whether files of the workspace may be different after this call; left out: never. Must not throw. */
	changesFiles?(input: z.output<Schema>, caller: ToolCaller): boolean;
	run(input: z.output<Schema>, context: ToolContext): Promise<ToolResult>;
}

/** A tool from its schema: arguments reach it only after they were checked. */
export function defineTool<Schema extends z.ZodType>(definition: ToolDefinition<Schema>): Tool {
	const { name, description, input: schema, repeatable } = definition;
	return {
		name,
		description,
		schema: z.toJSONSchema(schema) as Record<string, unknown>,
		repeatable,
		prepare: (input) => {
			const parsed = schema.safeParse(input);
			if (!parsed.success) return { problem: z.prettifyError(parsed.error) };
			return {
				question: async (caller) => (await definition.confirmation?.(parsed.data, caller)) ?? null,
				changesFiles: (caller) => definition.changesFiles?.(parsed.data, caller) ?? false,
				run: (context) => definition.run(parsed.data, context),
			};
		},
	};
}
