// A program's updates as Keryx's events. Each call is reported with a message of its own when it begins, and what follows waits
// until it has its result, so that the transcript reads like any other. Ids are made here: those of a program may come again
// when a turn goes on after a crash. Nothing that a program sends can make this throw.
import { z } from "zod";
import { INTERRUPTED_RESULT, type PromptMessage } from "../../domain/index.ts";
import { callId } from "../history.ts";
import type { AssistantMessage, LoopEvent, Usage } from "../types.ts";

/** Of one result or its arguments; the rest is cut, and said to be. */
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
const cost = z.object({ cost: z.object({ amount: z.number().min(0), currency: z.string().min(1) }) });

type CallUpdate = z.output<typeof callSchema>;

interface Call {
	readonly id: string;
	name: string;
	title: string;
	input: unknown;
	output: string;
	status: "pending" | "in_progress" | "completed" | "failed";
	/** What it asked leave for, and did not get. */
	refused: string | null;
}

type Waiting = { readonly text: string } | { readonly call: Call };

/** What a program has spent in a session, in all. */
export interface Spent {
	readonly amount: number;
	readonly currency: string;
}

export class Report {
	readonly #history: readonly PromptMessage[];
	readonly #emit: (event: LoopEvent) => void;
	readonly #hide: (text: string) => string;
	readonly #calls = new Map<string, Call>();
	/** The call that has begun and has no result. */
	#open: Call | null = null;
	#waiting: Waiting[] = [];
	#said = "";
	/** What the transcript holds of this turn. */
	readonly #rows: PromptMessage[] = [];
	/** It has shown something, or that it is at work. */
	#alive = false;
	spent: Spent | null = null;

	/** `hide`: takes known secrets out of a text (I12). */
	constructor(
		history: readonly PromptMessage[],
		{ emit, hide }: { emit: (event: LoopEvent) => void; hide: (text: string) => string },
	) {
		this.#history = history;
		this.#emit = (event) => {
			this.#alive = true;
			emit(event);
		};
		this.#hide = (text) => hide(text.toWellFormed());
	}

	/** One update, as it came. Of plans, modes and thoughts only that there are some; what cannot be read is none. */
	update(update: unknown): void {
		const kind = (update as { sessionUpdate?: unknown } | null | undefined)?.sessionUpdate;
		if (kind === "agent_message_chunk") {
			const { data } = chunk.safeParse(update);
			if (data) this.#text(data.content.text);
		} else if (kind === "tool_call" || kind === "tool_call_update") {
			const { data } = callSchema.safeParse(update);
			if (data) this.#call(data);
		} else if (kind === "usage_update") this.spent = cost.safeParse(update).data?.cost ?? this.spent;
		if (!this.#alive) this.#emit({ type: "thinking" });
	}

	/** The program asked leave for a call, and was refused. */
	refused(toolCall: unknown): void {
		const { data } = callSchema.safeParse(toolCall);
		if (!data) return;
		const known = this.#calls.get(data.toolCallId);
		// One that is over cannot say it any more: then it is a call of its own.
		const toolCallId = known && isOver(known) ? `${data.toolCallId} ${this.#calls.size}` : data.toolCallId;
		const call = this.#calls.get(toolCallId) ?? this.#newCall(toolCallId);
		call.refused = this.#hide(data.title ?? call.title);
		this.#call({ ...data, toolCallId });
	}

	/** The prompt is over: what has no result gets one that says so, and the rest of the text is the last message. */
	end(finishReason: string, usage: Usage): void {
		this.#close(NO_RESULT);
		this.#message([], finishReason, usage);
	}

	/** The prompt was cut off: what is known is said, what is not known is said to be so. */
	cutOff(): void {
		this.#close(INTERRUPTED_RESULT);
	}

	/** The rows of this turn as the next history shows them. */
	rows(): readonly PromptMessage[] {
		const partial: PromptMessage[] =
			this.#said === "" ? [] : [{ role: "assistant", content: this.#said, toolCalls: [] }];
		return [...this.#rows, ...partial];
	}

	#text(given: string): void {
		const text = this.#hide(given);
		if (text === "") return;
		if (this.#open) {
			this.#waiting.push({ text });
			return;
		}
		this.#said += text;
		this.#emit({ type: "text", delta: text });
	}

	#call(update: CallUpdate): void {
		const known = this.#calls.get(update.toolCallId);
		if (known && isOver(known)) return;
		const call = known ?? this.#newCall(update.toolCallId);
		if (update.name || update.kind) call.name = this.#hide(update.name || update.kind || call.name);
		if (update.title) call.title = this.#hide(update.title);
		if (update.rawInput !== undefined && update.rawInput !== null) call.input = update.rawInput;
		call.output = this.#outputOf(update) ?? call.output;
		// What has begun has begun.
		if (update.status && update.status !== "pending") call.status = update.status;
		if (call.status === "pending") return;
		if (call === this.#open) {
			if (isOver(call)) this.#settle(call.status === "completed" ? "" : NO_RESULT);
			return;
		}
		if (this.#waiting.some((item) => "call" in item && item.call === call)) return;
		if (this.#open) this.#waiting.push({ call });
		else this.#begin(call);
	}

	#newCall(theirId: string): Call {
		const id = callId(this.#history, this.#calls.size);
		const call: Call = {
			id,
			name: "tool",
			title: "",
			input: undefined,
			output: "",
			status: "pending",
			refused: null,
		};
		this.#calls.set(theirId, call);
		return call;
	}

	#begin(call: Call): void {
		const input = {
			title: call.title,
			...(call.input !== undefined && { input: this.#bounded(call.input) }),
		};
		this.#open = call;
		this.#message([{ id: call.id, name: call.name, input }], "tool_calls");
		if (isOver(call)) this.#settle(call.status === "completed" ? "" : NO_RESULT);
	}

	/** The open call's result; then what waited for it, as far as it goes. */
	#settle(otherwise: string): void {
		const call = this.#open;
		if (!call) return;
		this.#open = null;
		const words = [
			...(call.refused === null ? [] : [refusal(call.refused)]),
			...(call.output === "" ? [] : [call.output]),
		];
		const isError = call.refused !== null || call.status !== "completed";
		const content = words.join("\n\n") || otherwise;
		this.#emit({ type: "result", toolCallId: call.id, toolName: call.name, content, isError });
		this.#rows.push({ role: "tool", toolCallId: call.id, toolName: call.name, content, isError });
		while (!this.#open) {
			const next = this.#waiting.shift();
			if (!next) return;
			if ("text" in next) this.#text(next.text);
			else this.#begin(next.call);
		}
	}

	/** Whatever is open or never began is settled; calls that only asked are reported too. */
	#close(otherwise: string): void {
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

	/** Arguments that would fill the transcript, or hold a secret, are kept as text. */
	#bounded(input: unknown): unknown {
		const text = JSON.stringify(input);
		const hidden = this.#hide(text);
		return hidden === text && text.length <= LONGEST ? input : cut(hidden);
	}

	#message(toolCalls: AssistantMessage["toolCalls"], finishReason: string, usage?: Usage): void {
		const content = this.#said;
		this.#said = "";
		this.#emit({ type: "message", message: { content, toolCalls, finishReason }, ...(usage && { usage }) });
		this.#rows.push({ role: "assistant", content, toolCalls });
	}
}

function isOver({ status }: Pick<Call, "status">): boolean {
	return status === "completed" || status === "failed";
}

function refusal(what: string): string {
	return `The program asked for permission: ${what || "it did not say for what"}. Keryx refused: it cannot ask a person about this yet.`;
}

function cut(text: string): string {
	if (text.length <= LONGEST) return text;
	return `${text.slice(0, LONGEST).toWellFormed()}\n(${text.length - LONGEST} more characters were left out)`;
}
