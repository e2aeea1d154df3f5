// Exports conversations as Markdown, in chunks. An exit for untrusted text into markup (I11): people's and models' text is in a block
// quote it cannot leave, and in a code block if it could be read as HTML.
import { type ConversationId, contentText, sessionId } from "../domain/index.ts";
import type { SessionHead } from "./operations/transfer/export.ts";
import type { Store } from "./store.ts";
import { conversationsOf, type ExportOptions, headOf } from "./transfer.ts";
import type { Content, Conversation, Message, Part, Scope } from "./types.ts";

const PAGE = 100;

/** Markdown without hidden rows, attachment bodies and provider-specific items. */
export async function* exportMarkdown(store: Store, { scope, what }: ExportOptions): AsyncGenerator<string> {
	for await (const id of conversationsOf(store, { scope, what })) {
		const head = await headOf(store, id, { scope, what });
		if (!head) continue;
		yield conversationHeading(await store.conversation({ scope, ref: { id } }));
		for (const session of head.sessions) yield* sessionChunks(store, scope, id, session);
	}
}

function conversationHeading(conversation: Conversation): string {
	return [
		`# ${inline(conversation.name)}`,
		`Conversation ${code(conversation.key)} on ${inline(conversation.platform)}, from ${time(conversation.createdAt)} to ${time(conversation.lastActivityAt)}.`,
		"",
	].join("\n\n");
}

async function* sessionChunks(
	store: Store,
	scope: Scope,
	conversation: ConversationId,
	{ line, upTo }: SessionHead,
): AsyncGenerator<string> {
	yield sessionHeading(line);
	for (let after = 0; after < upTo; ) {
		const page = await store.messages({
			scope,
			session: sessionId(line.id),
			after,
			before: upTo + 1,
			limit: PAGE,
		});
		for (const message of page) yield messageBlock(message);
		const last = page.at(-1);
		if (!last) {
			await assertThere(store, scope, conversation);
			return;
		}
		after = last.seq;
	}
}

/** A page without rows is the end, or the rest is hidden; never a conversation that has disappeared meanwhile (I8). */
async function assertThere(store: Store, scope: Scope, conversation: ConversationId): Promise<void> {
	await store.conversation({ scope, ref: { id: conversation } });
}

function sessionHeading(line: SessionHead["line"]): string {
	const title = line.title === null ? "" : `: ${inline(line.title)}`;
	const facts = [`Started ${time(line.startedAt)}`];
	if (line.endedAt !== null) facts.push(`ended ${time(line.endedAt)} (${line.endReason})`);
	if (line.base)
		facts.push(
			`${line.base.kind === "branch" ? "branched from" : "continues"} session ${code(line.base.session)} after message ${line.base.seq}`,
		);
	return [`## Session ${code(line.id)}${title}`, `${facts.join(", ")}.`, ""].join("\n\n");
}

const NAMES: Record<Message["role"], string> = {
	system: "System",
	user: "User",
	assistant: "Assistant",
	tool: "Tool",
	meta: "Note",
};
const KINDS = {
	carry_over: "Carried over",
	summary: "Summary",
	note: "Note",
	left_out: "Left out",
	sent: "Sent here",
} as const;

function messageBlock(message: Message): string {
	const blocks = [`### ${heading(message)}`];
	// An attachment has its own line below; an empty one is in the text.
	const text = contentText(message.content, () => "");
	if (text.trim() !== "") blocks.push(message.role === "tool" ? fenced(text, "") : quoted(text));
	for (const part of attachments(message.content)) blocks.push(attachment(part));
	for (const call of message.toolCalls ?? [])
		blocks.push(
			`Calls ${code(call.name)}:`,
			fenced(JSON.stringify(call.input, null, 2) ?? "nothing", "json"),
		);
	return `${blocks.join("\n\n")}\n\n`;
}

function heading(message: Message): string {
	const who = message.kind ? KINDS[message.kind] : (message.author?.name ?? NAMES[message.role]);
	const tool = message.toolName === undefined ? "" : ` ${code(message.toolName)}`;
	const marks = [message.isError ? "failed" : "", message.observed ? "not addressed" : ""].filter(Boolean);
	const mark = marks.length > 0 ? ` (${marks.join(", ")})` : "";
	return `${inline(who)}${tool}${mark}, ${time(message.createdAt)}`;
}

type Attachment = Exclude<Part, { type: "text" }>;

function attachments(content: Content): Attachment[] {
	if (typeof content === "string") return [];
	return content.filter((part): part is Attachment => part.type !== "text");
}

function attachment(part: Attachment): string {
	const name = part.name === undefined ? "" : ` ${code(part.name)}`;
	return `Attached ${part.type}${name}, ${code(part.mediaType)}, digest ${code(part.blob)}.`;
}

function time(at: number): string {
	return `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** Splits at everything a reader may treat as a line end. */
const LINES = /\r\n|[\n\r\u0085\u2028\u2029]/;
const HTML = /<[A-Za-z/!?]/;

function quoted(text: string): string {
	const block = HTML.test(text) ? fenced(text, "") : text;
	return block
		.split(LINES)
		.map((line) => (line === "" ? ">" : `> ${line}`))
		.join("\n");
}

/** A fence longer than any in the text, so that nothing in it ends the block. */
function fenced(text: string, language: string): string {
	const fence = "`".repeat(Math.max(3, longestRun(text) + 1));
	return `${fence}${language}\n${text.split(LINES).join("\n")}\n${fence}`;
}

/** One line of plain text, whatever it contains. */
function inline(text: string): string {
	const line = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
	return line.replace(/[\\`*_[\]<>&~#|]/g, "\\$&");
}

function code(text: string): string {
	const line = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
	const ticks = "`".repeat(longestRun(line) + 1);
	const space = line.startsWith("`") || line.endsWith("`") ? " " : "";
	return `${ticks}${space}${line}${space}${ticks}`;
}

function longestRun(text: string): number {
	return (text.match(/`+/g) ?? []).reduce((longest, run) => Math.max(longest, run.length), 0);
}
