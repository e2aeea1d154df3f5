// The agent sends an unprompted message to a target: its own conversation, or another chat. The tool's creator decides where it may go;
// anything else needs a human's approval.
import { basename } from "node:path";
import { z } from "zod";
import { inlineUntrusted, type Target, targetText } from "../domain/index.ts";
import { mediaTypeOf, readInside } from "./attach.ts";
import { turnOf, WIDEN_WALL } from "./call-wall.ts";
import { defineTool, type Tool, type ToolCaller, type ToolContext, type ToolPart } from "./types.ts";

/** Only the owner answers it: the target does not belong to the person spoken for. */
export const SEND_TO_OTHERS = "send_to_others";
const SEND_MESSAGE = "send_message";
/** Actions that only the owner may approve, whoever's turn it is. */
export const OWNER_ONLY: ReadonlySet<string> = new Set([WIDEN_WALL, SEND_TO_OTHERS]);

/** Who must approve a send to a target. */
export type Needs = "nothing" | "person" | "owner";

/** Whether an approval is sufficient. Rights and targets may have changed since. */
export function isAgreed(needs: Needs, approved: string | null): boolean {
	if (needs === "owner") return approved === SEND_TO_OTHERS;
	return needs === "nothing" || approved !== null;
}

export const NOT_AGREED = "Somebody has to agree to this target first. Call again to ask.";

type File = Extract<ToolPart, { readonly data: Uint8Array }>;

export interface SendToolOptions {
	resolve(
		text: string,
		sender: Pick<ToolCaller, "scope" | "standing"> & { readonly origin: ToolCaller["conversation"] },
	): Promise<
		| {
				readonly kind: "target";
				readonly target: Target;
				readonly shown: string;
				readonly needs: Needs;
		  }
		| { readonly kind: "refused"; readonly why: string }
	>;
	/** Once by its id. Returns the file's path, if it was one. */
	send(
		message: {
			readonly id: string;
			readonly target: Target;
			readonly text: string;
			readonly files: readonly File[];
		},
		context: ToolContext,
	): Promise<{ readonly path: string | null }>;
	/** Throws workspace.unusable. */
	workspaceOf(owner: ReturnType<typeof turnOf>): string;
	/** The largest file, in bytes. */
	limit(): number;
}

const MOST_FILES = 10;

const input = z.object({
	target: z
		.string()
		.describe(
			"origin (this conversation), local (a file for the owner), a platform (its home channel), platform:chat_id, platform:chat_id:thread_id, or conversation:id; platform@account where there are several accounts",
		),
	text: z.string().max(100_000).default("").describe("the message, in Markdown"),
	attachments: z
		.array(z.string().min(1))
		.max(MOST_FILES)
		.optional()
		.describe("files in your workspace to send with it"),
});
type Input = z.output<typeof input>;

export function createSendTool(options: SendToolOptions): Tool {
	const resolve = (target: string, { scope, standing, conversation }: ToolCaller) =>
		options.resolve(target, { scope, standing, origin: conversation });
	return defineTool({
		name: SEND_MESSAGE,
		description:
			"Send a message to a chat by yourself, beside your answer. Your answer reaches this conversation anyway: use this for other chats, or to send something before your answer. A person may be asked first.",
		input,
		// Sent once by the id of its call: a repeated call sends nothing twice.
		repeatable: true,
		confirmation: async (given, caller) => {
			const found = await resolve(given.target, caller);
			if (found.kind === "refused" || found.needs === "nothing") return null;
			return {
				action: found.needs === "owner" ? SEND_TO_OTHERS : SEND_MESSAGE,
				description: `Send a message to ${inlineUntrusted(found.shown)}`,
				// The current target: a home channel changed meanwhile does not redirect an approved message.
				details: { ...given, target: targetText(found.target) },
			};
		},
		run: async (given, context) => {
			const problem = wrong(given, context);
			if (problem !== null) return { content: problem, isError: true };
			const found = await resolve(given.target, context);
			if (found.kind === "refused") return { content: `${found.why} Nothing was sent.`, isError: true };
			if (!isAgreed(found.needs, context.approved))
				return { content: `${NOT_AGREED} Nothing was sent.`, isError: true };
			const files: File[] = [];
			for (const path of given.attachments ?? []) {
				const read = await readInside(options.workspaceOf(turnOf(context)), path, options.limit());
				if ("problem" in read) return { content: `${read.problem} Nothing was sent.`, isError: true };
				files.push(fileOf(path, read.data));
			}
			const id = `${context.turn}:${context.call}`;
			const { path } = await options.send({ id, target: found.target, text: given.text, files }, context);
			if (path !== null) return { content: `Saved as ${path}.` };
			// As written: this agent's prompt may have to hide the id.
			return { content: `The message to ${inlineUntrusted(given.target)} is on its way.` };
		},
	});
}

function wrong({ text, attachments = [] }: Input, { standing }: ToolContext): string | null {
	if (text.trim() === "" && attachments.length === 0)
		return "The message has no text and no attachments. Nothing was sent.";
	if (attachments.length > 0 && standing === "guest") return "Guests cannot send files. Nothing was sent.";
	return null;
}

function fileOf(path: string, data: Uint8Array): File {
	const name = basename(path).slice(0, 255);
	const mediaType = mediaTypeOf(name);
	const type = /^(image|audio)\//.exec(mediaType)?.[1] as "image" | "audio" | undefined;
	return { type: type ?? "file", data, mediaType, name, sent: { size: data.byteLength } };
}
