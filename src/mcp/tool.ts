// The definition of a tool.
import { z } from "zod";
import { KeryxError } from "../errors.ts";
import type { Client, Transport } from "../http/client/index.ts";

export interface Caller {
	readonly client: Client;
	readonly transport: Transport;
}

/** The answer of the other program's user to the tool's question; null: nobody was asked yet. */
export type Reply = { readonly accepted: Readonly<Record<string, unknown>> | null } | null;

/** The answer as a value, or encoded if it is not text; or a question to the other program's user. */
export type ToolAnswer =
	| { readonly value: object }
	| { readonly ask: { readonly message: string; readonly form: z.ZodObject } }
	| {
			readonly content: readonly {
				readonly type: "resource";
				readonly resource: { readonly uri: string; readonly mimeType: string; readonly blob: string };
			}[];
	  };

export interface Tool<Input extends z.ZodType = z.ZodType> {
	readonly name: string;
	readonly about: string;
	/** decides: it ends, reverts or allows something. */
	readonly kind: "reads" | "changes" | "decides";
	readonly input: Input;
	readonly run: (
		input: z.output<Input>,
		caller: Caller,
		signal: AbortSignal,
		reply: Reply,
	) => Promise<ToolAnswer>;
}

export type AnyTool = Omit<Tool, "run"> & {
	readonly run: (input: never, caller: Caller, signal: AbortSignal, reply: Reply) => Promise<ToolAnswer>;
};

export function tool<Shape extends z.ZodRawShape>(
	name: string,
	kind: Tool["kind"],
	about: string,
	shape: Shape,
	run: (
		input: z.output<z.ZodObject<Shape>>,
		caller: Caller,
		signal: AbortSignal,
		reply: Reply,
	) => Promise<object | ToolAnswer>,
): AnyTool {
	return {
		name,
		kind,
		about,
		input: z.object(shape),
		run: async (input, caller, signal, reply) => {
			const answer = await run(input, caller, signal, reply);
			return "content" in answer || "value" in answer || "ask" in answer
				? (answer as ToolAnswer)
				: { value: answer };
		},
	};
}

/** Programs written for other gateways name a conversation by its key. */
export const whichConversation = {
	conversation: z.string().min(1).max(1000).optional().describe("its id or its key"),
	session_key: z.string().min(1).max(1000).optional().describe("the same, by its older name"),
};

export const pageSize = z.int().min(1).max(200).optional().describe("at most so many, 50 unless said");

interface Named {
	readonly conversation?: string | undefined;
	readonly session_key?: string | undefined;
}

/** The named one's id, or undefined if none is named. */
export async function namedConversation(
	{ client }: Caller,
	{ conversation, session_key }: Named,
): Promise<string | undefined> {
	const named = conversation ?? session_key;
	if (named === undefined) return undefined;
	// A key has colons, an id has none.
	return named.includes(":") ? (await client.findConversation({ key: named })).id : named;
}

export async function theConversation(caller: Caller, named: Named): Promise<string> {
	const id = await namedConversation(caller, named);
	if (id !== undefined) return id;
	throw new KeryxError("argument.invalid", "name the conversation by its id or its key", {
		field: "conversation",
	});
}

/** Without undefined fields, which the API would refuse. */
export function given<Value extends object>(
	value: Value,
): { [Key in keyof Value]: Exclude<Value[Key], undefined> } {
	return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as never;
}
