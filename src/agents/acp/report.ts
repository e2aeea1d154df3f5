// Converts a program's updates to Keryx's events. Each call is reported with its own message when it starts, and what follows waits for
// its result, so that the transcript reads as usual. Ids are made here: a program may reuse its own after a crash. Nothing a program
// sends can make this throw.
import { z } from "zod";
import { INTERRUPTED_RESULT, type PromptMessage, type ToolCall } from "../../domain/index.ts";
import type { Secrets, TextStream } from "../../secrets/index.ts";
import { callId } from "../history.ts";
import type { AssistantMessage, LoopEvent, Permission, Usage } from "../types.ts";
import { actionOf, descriptionOf, isAskable, refusalText } from "./permission.ts";

/** The length limit of a result or arguments; a cut is marked. */
const LONGEST = 64 * 1024;
const NO_RESULT = "no result was reported";

const textBlock = z.object({ type: z.literal("text"), text: z.string() });
const chunk = z.object({ content: textBlock });
const callContent = z.union([
	z.object({ type: z.literal("content"), content: textBlock }).transform(({ content }) => content.text),
	z.object({ type: z.literal("diff"), path: z.string() }).transform(({ path }) => `(changed ${path})`),
]);
const callSchema = z.object({
	toolCallId: z.string(),
	title: z.string().nullish().catch(null),
	name: z.string().nullish().catch(null),
	kind: z.string().nullish().catch(null),
	status: z.enum(["pending", "in_progress", "completed", "failed"]).nullish().catch(null),
	content: z.array(callContent.catch("")).nullish().catch(null),
	rawInput: z.unknown().optional(),
	rawOutput: z.unknown().optional(),
});
/** Shown to a human if a program does not state its arguments. */
const shownSchema = z.object({
	content: z.array(z.unknown()).nullish().catch(null),
	locations: z.array(z.unknown()).nullish().catch(null),
});
const cost = z.object({ cost: z.object({ amount: z.number().min(0), currency: z.string().min(1) }) });

type CallUpdate = z.output<typeof callSchema>;

interface Call {
	readonly id: string;
	/** The program's name for the tool, if any. */
	name: string;
	kind: string;
	title: string;
	input: unknown;
	output: string;
	status: "pending" | "in_progress" | "completed" | "failed";
	/** Denied permission requests, each with the reason. */
	readonly refusals: string[];
}

/** What a program asks permission for. */
export interface Ask {
	/** The name in the transcript. */
	readonly call: ToolCall;
	readonly question: { readonly action: string; readonly description: string };
	/** A human can be shown all of it. */
	readonly isAskable: boolean;
}

type Waiting = { readonly text: string } | { readonly call: Call };

/** A program's total spending in a session. */
export interface Spent {
	readonly amount: number;
	readonly currency: string;
}

export class Report {
	readonly #history: readonly PromptMessage[];
	readonly #emit: (event: LoopEvent) => void;
	readonly #secrets: Secrets;
	/** Hides secrets in the current text. */
	#stream: TextStream;
	/** By the program's ids. */
	readonly #calls = new Map<string, Call>();
	#made = 0;
	/** Those that have no answer. */
	readonly #asks = new Map<Ask, Call>();
	/** The open call without a result. */
	#open: Call | null = null;
	#waiting: Waiting[] = [];
	#said = "";
	/** This turn's part of the transcript. */
	readonly #rows: PromptMessage[] = [];
	/** It has shown something, or activity. */
	#alive = false;
	readonly #maxAnswer: number;
	/** Characters received so far, in texts, arguments and results. */
	#size = 0;
	spent: Spent | null = null;

	/** `secrets`: hidden in all reports (I12). */
	constructor(
		history: readonly PromptMessage[],
		{
			emit,
			secrets,
			maxAnswer = Number.POSITIVE_INFINITY,
		}: { emit: (event: LoopEvent) => void; secrets: Secrets; maxAnswer?: number },
	) {
		this.#history = history;
		this.#maxAnswer = maxAnswer;
		this.#emit = (event) => {
			this.#alive = true;
			emit(event);
		};
		this.#secrets = secrets;
		this.#stream = secrets.stream();
	}

	/** It has sent more than is kept: the rest is ignored. */
	get isFull(): boolean {
		return this.#size > this.#maxAnswer;
	}

	/** One raw update. Of plans, modes and thoughts only their presence counts; unreadable ones are ignored. */
	update(update: unknown): void {
		const kind = (update as { sessionUpdate?: unknown } | null | undefined)?.sessionUpdate;
		if (kind === "agent_message_chunk") {
			const { data } = chunk.safeParse(update);
			if (data && this.#takes(data.content.text.length)) this.#text(data.content.text);
		} else if (kind === "tool_call" || kind === "tool_call_update") {
			const { data } = callSchema.safeParse(update);
			if (data && this.#takes(JSON.stringify(update).length)) this.#call(data);
		} else if (kind === "usage_update") this.spent = cost.safeParse(update).data?.cost ?? this.spent;
		if (!this.#alive) this.#emit({ type: "thinking" });
	}

	#takes(length: number): boolean {
		this.#size += length;
		return !this.isFull;
	}

	/** The program asks permission for a call, and waits. Null if unreadable. */
	ask(toolCall: unknown): Ask | null {
		const { data } = callSchema.safeParse(toolCall);
		if (!data) return null;
		const known = this.#calls.get(data.toolCallId);
		// A finished call cannot restart: then it is a new call.
		const call = known && !isOver(known) ? known : this.#newCall(data.toolCallId);
		// This shows the intention, not the result.
		this.#learn(call, { ...data, content: null, rawOutput: null });
		if (!this.#alive) this.#emit({ type: "thinking" });
		const name = nameOf(call);
		const input = call.input ?? shownOf(toolCall);
		const ask = {
			call: { id: call.id, name, input },
			question: { action: actionOf(data.kind ?? call.kind), description: descriptionOf(call.title || name) },
			isAskable: isAskable(input, this.#secrets),
		};
		this.#asks.set(ask, call);
		return ask;
	}

	/** Its outcome. An approved call has started from here on. False if nobody waits for the answer any more. */
	answered(ask: Ask, permission: Permission): boolean {
		const call = this.#asks.get(ask);
		if (!this.#asks.delete(ask) || !call) return false;
		if (permission !== "approved") this.#refuse(call, ask, permission);
		else if (call.status === "pending") this.#moveTo(call, "in_progress");
		return true;
	}

	/** The prompt is over: open calls get a result that says so, and the rest of the text is the last message. */
	end(finishReason: string, usage: Usage): void {
		this.#close(NO_RESULT);
		this.#message([], finishReason, usage);
	}

	/** The prompt was cut off: known results are reported, unknown ones are marked unknown. */
	cutOff(): void {
		this.#close(INTERRUPTED_RESULT);
		this.#say(this.#stream.end());
	}

	/** The rows of this turn as the next history shows them. */
	rows(): readonly PromptMessage[] {
		const partial: PromptMessage[] =
			this.#said === "" ? [] : [{ role: "assistant", content: this.#said, toolCalls: [] }];
		return [...this.#rows, ...partial];
	}

	#text(text: string): void {
		if (text === "") return;
		if (this.#open) this.#waiting.push({ text });
		else this.#say(this.#stream.push(text.toWellFormed()));
	}

	#say(text: string): void {
		if (text === "") return;
		this.#said += text;
		this.#emit({ type: "text", delta: text });
	}

	#hide(text: string): string {
		return this.#secrets.hide(text.toWellFormed());
	}

	#call(update: CallUpdate): void {
		const known = this.#calls.get(update.toolCallId);
		if (known && isOver(known)) return;
		const call = known ?? this.#newCall(update.toolCallId);
		this.#learn(call, update);
		// A call never goes back to pending.
		if (update.status && update.status !== "pending") this.#moveTo(call, update.status);
	}

	#learn(call: Call, update: CallUpdate): void {
		// A started call keeps its name, which its result needs.
		if (update.kind && call.status === "pending") call.kind = this.#hide(update.kind);
		if (update.name && call.status === "pending") call.name = this.#hide(update.name);
		if (update.title) call.title = this.#hide(update.title);
		if (update.rawInput !== undefined && update.rawInput !== null) call.input = update.rawInput;
		call.output = this.#outputOf(update) ?? call.output;
	}

	#moveTo(call: Call, status: Exclude<Call["status"], "pending">): void {
		call.status = status;
		if (call === this.#open) {
			if (isOver(call)) this.#settle(call.status === "completed" ? "" : NO_RESULT);
			return;
		}
		if (this.#waiting.some((item) => "call" in item && item.call === call)) return;
		if (this.#open) this.#waiting.push({ call });
		else this.#begin(call);
	}

	#refuse(call: Call, { question }: Ask, permission: Exclude<Permission, "approved">): void {
		const refusal = refusalText(question.description, permission);
		// A call with a result cannot report it again.
		const refused = isOver(call) ? { ...call, ...this.#blank() } : call;
		refused.refusals.push(refusal);
		if (refused.status !== "pending") return;
		refused.output = "";
		this.#moveTo(refused, "failed");
	}

	#newCall(theirId: string): Call {
		const call: Call = { name: "", kind: "", title: "", input: undefined, ...this.#blank() };
		this.#calls.set(theirId, call);
		return call;
	}

	/** For a call without any result yet. */
	#blank(): Pick<Call, "id" | "output" | "status" | "refusals"> {
		return { id: callId(this.#history, this.#made++), output: "", status: "pending", refusals: [] };
	}

	#begin(call: Call): void {
		const input = {
			title: call.title,
			...(call.input !== undefined && { input: this.#bounded(call.input) }),
		};
		this.#open = call;
		this.#message([{ id: call.id, name: nameOf(call), input }], "tool_calls");
		if (isOver(call)) this.#settle(call.status === "completed" ? "" : NO_RESULT);
	}

	/** The open call's result; then what waited for it. */
	#settle(otherwise: string): void {
		const call = this.#open;
		if (!call) return;
		this.#open = null;
		const words = [
			...call.refusals,
			...(call.output === "" ? [] : [call.output]),
			...(isOver(call) ? [] : [otherwise]),
		];
		const isError = call.status !== "completed";
		const content = words.join("\n\n") || otherwise;
		const result = { toolCallId: call.id, toolName: nameOf(call), content, isError };
		this.#emit({ type: "result", ...result });
		this.#rows.push({ role: "tool", ...result });
		while (!this.#open) {
			const next = this.#waiting.shift();
			if (!next) return;
			if ("text" in next) this.#text(next.text);
			else this.#begin(next.call);
		}
	}

	/** Settles open and unstarted calls; those that only asked are reported too. */
	#close(otherwise: string): void {
		for (const [ask, call] of this.#asks) this.#refuse(call, ask, "cancelled");
		this.#asks.clear();
		while (this.#open) this.#settle(otherwise);
		for (const call of this.#calls.values()) {
			if (call.status !== "pending") continue;
			call.status = "failed";
			this.#begin({ ...call, status: "in_progress" });
			while (this.#open) this.#settle(otherwise);
		}
	}

	#outputOf({ content, rawOutput }: CallUpdate): string | null {
		const said = (content ?? []).filter((text) => text !== "").join("\n");
		if (said !== "") return cut(this.#hide(said));
		if (rawOutput === undefined || rawOutput === null) return null;
		return cut(this.#hide(typeof rawOutput === "string" ? rawOutput : JSON.stringify(rawOutput)));
	}

	/** Arguments that would fill the transcript are kept as text. */
	#bounded(given: unknown): unknown {
		const { input: hidden } = this.#secrets.hideIn({ input: given });
		const text = JSON.stringify(hidden);
		return text.length <= LONGEST ? hidden : cut(text);
	}

	#message(toolCalls: AssistantMessage["toolCalls"], finishReason: string, usage?: Usage): void {
		this.#say(this.#stream.end());
		this.#stream = this.#secrets.stream();
		const content = this.#said;
		this.#said = "";
		this.#emit({ type: "message", message: { content, toolCalls, finishReason }, ...(usage && { usage }) });
		this.#rows.push({ role: "assistant", content, toolCalls });
	}
}

function nameOf({ name, kind }: Pick<Call, "name" | "kind">): string {
	return name || kind || "tool";
}

function isOver({ status }: Pick<Call, "status">): boolean {
	return status === "completed" || status === "failed";
}

/** If a program states no arguments: its shown locations and changes. */
function shownOf(toolCall: unknown): Readonly<Record<string, unknown>> {
	const { content, locations } = shownSchema.parse(toolCall);
	return { ...(locations?.length && { locations }), ...(content?.length && { content }) };
}

function cut(text: string): string {
	if (text.length <= LONGEST) return text;
	return `${text.slice(0, LONGEST).toWellFormed()}\n(${text.length - LONGEST} more characters were left out)`;
}
