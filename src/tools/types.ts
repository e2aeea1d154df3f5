// The agent's tools. A tool's type states what the gateway must know before it runs: whether a call may be repeated after an
// interruption, and whether a human must approve first.
import { z } from "zod";
import type { ConversationId, Part, SentFile, SessionId, Standing } from "../domain/index.ts";
import type { Destination, Scope, Store } from "../store/index.ts";
import type { CommandClass } from "./classifier/index.ts";

export interface ToolContext {
	readonly store: Pick<Store, "search" | "session" | "messages">;
	/** What this caller may read: what everyone it speaks for may see (I18). */
	readonly scope: Scope;
	/** The lowest role of the people it speaks for. */
	readonly standing: Standing;
	readonly conversation: ConversationId;
	readonly session: SessionId;
	readonly turn: string;
	readonly call: string;
	/** The action approved for this call, by a human or the approval mode; null: there was no question. */
	readonly approved: string | null;
	/** Who is answered; null if the platform does not say. */
	readonly speaker: string | null;
	/** Where the turn's reply goes. */
	readonly destination: Destination;
	readonly now: number;
	/** The call must end: the turn was stopped, or its time is over. */
	readonly signal: AbortSignal;
	/** Someone has written meanwhile: a mere wait should end. */
	readonly interrupted: AbortSignal;
}

/** The caller of a tool: the question to a human may depend on it. */
export type ToolCaller = Pick<ToolContext, "conversation" | "scope" | "standing" | "speaker">;

/** Text, an existing attachment of the conversation, or the bytes of a new one. */
export type ToolPart =
	| Part
	| {
			readonly type: "image" | "audio" | "file";
			readonly data: Uint8Array;
			readonly mediaType: string;
			readonly name?: string;
			/** To the people in the chat, with the answer. */
			readonly sent?: SentFile;
	  };

export interface ToolResult {
	readonly content: string | readonly ToolPart[];
	readonly isError?: boolean;
	/** The turn ends with this text for the user (a question back). */
	readonly endsTurn?: string;
	/** Called once the result is committed: its source is no longer needed. Not called otherwise. */
	readonly stored?: () => void;
}

/** The question to a human before a call runs. */
export interface ConfirmationQuestion {
	/** Letters from a to z, digits and _ . : -; a call with another one is refused. */
	readonly action: string;
	readonly description: string;
	/** Asked about, and run once approved, instead of the written arguments. */
	readonly details?: Readonly<Record<string, unknown>>;
	/** Needs approval every time: no grant applies or follows. */
	readonly once?: boolean;
	/** Why a command is dangerous, as classifier classes; absent if nothing was classified. Some can be approved only once. */
	readonly classes?: readonly CommandClass[];
}

/** A call with checked arguments. */
export interface PreparedCall {
	/** Null: this call needs no approval. */
	question(caller: ToolCaller): Promise<ConfirmationQuestion | null>;
	/** Whether it may change workspace files, so that a snapshot comes first. */
	changesFiles(caller: ToolCaller): boolean;
	run(context: ToolContext): Promise<ToolResult>;
}

export interface Tool {
	readonly name: string;
	readonly description: string;
	/** JSON Schema of the arguments. */
	readonly schema: Readonly<Record<string, unknown>>;
	/** Whether an interrupted call may be repeated. */
	readonly repeatable: boolean;
	/** The call, or what is wrong with its arguments, in words for the model. */
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
	/** Whether this call may change workspace files; default: never. Must not throw. */
	changesFiles?(input: z.output<Schema>, caller: ToolCaller): boolean;
	run(input: z.output<Schema>, context: ToolContext): Promise<ToolResult>;
}

/** A tool from its schema: it gets only checked arguments. */
export function defineTool<Schema extends z.ZodType>(definition: ToolDefinition<Schema>): Tool {
	const { name, description, input: schema, repeatable } = definition;
	let described: Record<string, unknown> | undefined;
	return {
		name,
		description,
		// Created on first use by a model: creating all of them would take a tenth of the start.
		get schema() {
			described ??= z.toJSONSchema(schema) as Record<string, unknown>;
			return described;
		},
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
