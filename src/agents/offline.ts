// Answers when no model is connected. It does not pretend to think: a few fixed requests, read from the last message, and otherwise the
// plain truth. It keeps no state, and states only what is in the history or came from a tool.
import { KERYX } from "../called.ts";
import { contentText, type PromptMessage, quoteUntrusted } from "../domain/index.ts";
import { callId, isPerson, type Position, positionIn } from "./history.ts";
import { describeHits } from "./offline-hits.ts";
import { type Request, readRequest } from "./offline-requests.ts";
import { describeRun } from "./offline-run.ts";
import { NO_USAGE, type StepAgent, type StepEvent, type StepInput } from "./types.ts";

const SEARCH = "session_search";
const TERMINAL = "terminal";
/** More than are shown: hits of the search itself are left out. */
const HITS = 20;
const RECENT = 5;

const NO_MODEL = `No model is connected: I follow a few fixed rules and cannot think. To connect one, run \`${KERYX} setup\`.`;
const HELP = [
	"What I can do:",
	"- `search <words>`: search earlier messages",
	"- `what did I say about <words>`: search only your own messages",
	"- `remember <something>`: keep it in the transcript, so that you can find it again",
	"- `run <command>`: run a command in the shell; I ask before anything dangerous",
	"- `help`: this list",
	"",
	"Keryx has its own commands, too: `/help` lists them.",
].join("\n");

export function createOfflineAgent(): StepAgent {
	return {
		kind: "step",
		name: "offline",
		async *step(input): AsyncGenerator<StepEvent> {
			if (input.signal.aborted) return;
			const { text, call } = answer(input);
			const calls = call === undefined ? [] : [{ id: callId(input.history, 0), ...call }];
			if (text !== "") yield { type: "text", delta: text };
			if (input.signal.aborted) return;
			yield {
				type: "done",
				message: { content: text, toolCalls: calls, finishReason: calls.length > 0 ? "tool_calls" : "stop" },
				usage: { ...NO_USAGE, provider: "keryx", model: "offline" },
			};
		},
	};
}

interface Answer {
	readonly text: string;
	readonly call?: { readonly name: string; readonly input: unknown };
}

function answer(input: StepInput): Answer {
	const position = positionIn(input.history);
	const request = readRequest(position.text);
	const limit = limitOf(input.notes);
	const last = position.since.at(-1);
	// Nobody asked for anything: a program has ended, or a human has decided.
	if (last?.role === "user") return { text: describeRun(contentText(last.content), false) };
	const call = callFor(request);
	const found = position.since.findLast(
		(message) => message.role === "tool" && message.toolName === call?.name,
	);
	if (call && !found && limit.kind !== "final" && input.tools.some(({ name }) => name === call.name))
		return { text: "", call };
	const paragraphs = [
		reply(request, position, found, limit.kind === "final"),
		...limitParagraph(limit, input),
	];
	return { text: paragraphs.join("\n\n") };
}

function callFor(request: Request): Answer["call"] {
	if (request.kind === "search") return { name: SEARCH, input: { query: request.words, limit: HITS } };
	if (request.kind === "run") return { name: TERMINAL, input: { command: request.command } };
	return undefined;
}

function reply(
	request: Request,
	{ text, since }: Position,
	found: PromptMessage | undefined,
	final: boolean,
): string {
	switch (request.kind) {
		case "greeting":
			return `Hello! ${NO_MODEL}\n\`help\` lists what I can do.`;
		case "help":
			return `${NO_MODEL}\n\n${HELP}`;
		case "incomplete":
			return `Please add what it is about: \`${request.form}\`.`;
		case "remember":
			return `Noted in this session's transcript. \`search ${request.key}\` finds it.`;
		case "search":
			if (found?.role === "tool")
				return describeHits(contentText(found.content), { request, isError: found.isError });
			return final
				? "I cannot start a search in the last reply of a session. Please send it again."
				: `I cannot search here: I do not have the tool ${SEARCH}.`;
		case "run":
			if (found?.role === "tool") return describeRun(contentText(found.content), found.isError);
			return final
				? "I cannot start a command in the last reply of a session. Please send it again."
				: `I cannot run commands here: I do not have the tool ${TERMINAL}.`;
		case "other": {
			const got = text.trim() === "" ? "a message without text" : brief(text);
			const also = since.some(({ role }) => role === "tool")
				? " I cannot judge what the tools returned."
				: "";
			return `I got ${got}.${also} ${NO_MODEL}\nTry \`help\`, \`search <words>\`, \`remember <something>\` or \`run <command>\`.`;
		}
	}
}

interface Limit {
	readonly kind: "near" | "final" | null;
	readonly remain?: string;
}

/** The notes are for a model; this agent only needs to know which of the two it is. */
function limitOf(notes: readonly string[]): Limit {
	const note = notes.find((text) => text.startsWith("Session limit:"));
	if (note === undefined) return { kind: null };
	if (/\blast response\b/.test(note)) return { kind: "final" };
	return { kind: "near", remain: /(\d+) remain/.exec(note)?.[1] };
}

function limitParagraph({ kind, remain }: Limit, { history }: StepInput): string[] {
	if (kind === null) return [];
	if (kind === "near") {
		const left = remain === undefined ? "" : `: ${remain} more after this message`;
		return [
			`This session is almost full${left}. After that a new one starts automatically, and everything said is kept.`,
		];
	}
	const said = history.filter(isPerson).slice(-RECENT);
	return [
		[
			"This is my last message in this session; the next message starts a new one. The last messages here:",
			...said.map(({ content }) => `- ${brief(contentText(content) || "(no text)")}`),
		].join("\n"),
	];
}

const BRIEF = 80;

function brief(text: string): string {
	const points = Array.from(text.trim());
	return quoteUntrusted(points.length > BRIEF ? `${points.slice(0, BRIEF - 1).join("")}…` : points.join(""));
}
