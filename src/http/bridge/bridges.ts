// The calls of a bridge program, which connects another platform. Only a token of role channel may use these, for its own channel.
// docs/reference/bridge.md describes the protocol.
import { z } from "@hono/zod-openapi";
import type { Part } from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import type { BridgeOutcome, BridgeWork, ChannelBridge } from "../../gateway/index.ts";
import { type ApiHost, type HandlersOf, running } from "../call.ts";
import { endpoint } from "../endpoint.ts";
import { distinctText } from "../schemas.ts";
import { uploadedBlob } from "../uploads.ts";

export const PATH = "/api/bridges/{name}";
export const name = z
	.string()
	.regex(/^[a-z0-9][a-z0-9_-]{0,63}$/)
	.openapi({ description: "the channel's name in config.yaml" });
const id = distinctText.min(1).max(512);
const done = z.object({ done: z.literal(true) });

/** Platform and account are the channel's: a program cannot speak for another one. */
const source = z
	.strictObject({
		chat_id: id,
		chat_type: z.enum(["dm", "group", "channel", "thread", "forum"]).default("dm"),
		chat_name: z.string().max(1000).optional(),
		chat_topic: z.string().max(10_000).optional(),
		user_id: id.optional(),
		user_id_alt: id.optional(),
		user_name: z.string().max(1000).optional(),
		thread_id: id.optional(),
		scope_id: id.optional(),
	})
	.openapi("BridgeSource", { description: "docs/reference/sources.md; without platform and account" });
const cursor = distinctText
	.max(10_000)
	.optional()
	.openapi({ description: "where the platform was read to; stored together with this" });

const work = z
	.object({
		work: z.string().openapi({ description: "to name when it is settled" }),
		do: z.enum(["send", "edit", "lookup", "typing"]),
		chat_id: z.string(),
		thread_id: z.string().nullable(),
		reply_to: z.string().nullable().openapi({ description: "the message that this one answers" }),
		id: z.string().nullable().openapi({ description: "the delivery; the same when it is tried again" }),
		receipt: z.string().nullable().openapi({ description: "edit: the message to change" }),
		text: z.string().nullable(),
		plain: z.boolean().openapi({ description: "the text has no markup" }),
		files: z.array(
			z.object({ n: z.int(), name: z.string(), media_type: z.string(), size: z.int(), caption: z.string() }),
		),
		buttons: z.array(z.array(z.object({ id: z.string(), label: z.string(), style: z.string().nullable() }))),
		made_at: z.int().nullable().openapi({ description: "lookup: not sent before this, in milliseconds" }),
	})
	.openapi("BridgeWork");

export const bridgeEndpoints = {
	bridge: endpoint("get", PATH, {
		about: "where a bridge program left off, and the commands for the platform's menu",
		params: { name },
		answer: z.object({
			cursor: z.string().nullable(),
			commands: z.array(z.object({ name: z.string(), description: z.string() })),
		}),
	}),
	bridgeWork: endpoint("get", `${PATH}/work`, {
		about: "what a bridge program is to do next; waits for something",
		params: { name },
		query: {
			wait: z.coerce.number().min(0).max(60).default(30),
			program: z.string().min(1).max(64).optional().openapi({
				description:
					"a value that each start of the program draws; unsettled work of an earlier start is then unknown at once",
			}),
		},
		answer: z.object({ work: z.array(work) }),
	}),
	bridgeSettle: endpoint("post", `${PATH}/settle`, {
		about: "what became of a piece of work; settled is false if it is not open any more",
		params: { name },
		body: {
			work: z.string().min(1).max(64),
			outcome: z
				.enum(["sent", "retry", "markup_refused", "missing", "refused", "unknown", "absent"])
				.openapi({
					description:
						"retry: certainly not sent, try again; missing: edit, the message is gone; refused: will never be taken; unknown: may have been sent; absent: lookup, it was not sent",
				}),
			receipt: id.optional().openapi({ description: "sent: the platform's id of the message" }),
			reason: z.string().max(1000).default(""),
			after_ms: z.int().min(0).max(86_400_000).optional().openapi({ description: "retry: not before this" }),
		},
		answer: z.object({ settled: z.boolean() }),
	}),
	bridgeMessage: endpoint("post", `${PATH}/messages`, {
		about:
			"a message from the platform; answers after it is stored, the same message_id again is a duplicate",
		params: { name },
		body: {
			source,
			message_id: id,
			text: z.string().max(1_000_000).default(""),
			files: z
				.array(
					z.strictObject({
						id: z.string().min(1).max(64),
						name: z.string().min(1).max(255),
						media_type: z.string().max(255),
					}),
				)
				.max(10)
				.default([]),
			mentioned: z.boolean().optional().openapi({ description: "in a group: the bot was named" }),
			quoted: z
				.strictObject({
					message_id: id,
					text: z.string().max(100_000),
					author: z.string().max(1000).optional(),
					own: z.boolean().default(false).openapi({ description: "written by Keryx" }),
				})
				.optional(),
			album: id.optional().openapi({ description: "messages with the same value are one turn" }),
			is_bot: z.boolean().default(false),
			roles: z
				.array(z.string().max(200))
				.max(100)
				.default([])
				.openapi({ description: "the sender's roles there" }),
			sent_at: z.int().min(0).optional().openapi({ description: "milliseconds since 1970" }),
			cursor,
		},
		answer: z.object({
			id: z.int(),
			conversation: z.string().nullable(),
			duplicate: z.boolean(),
			refused: z.string().nullable(),
		}),
	}),
	bridgeEdited: endpoint("post", `${PATH}/edited`, {
		about: "someone changed a message",
		params: { name },
		body: { source, message_id: id, text: z.string().max(1_000_000), cursor },
		answer: done,
	}),
	bridgeDeleted: endpoint("post", `${PATH}/deleted`, {
		about: "someone deleted a message",
		params: { name },
		body: { source, message_id: id, cursor },
		answer: done,
	}),
	bridgeReacted: endpoint("post", `${PATH}/reacted`, {
		about: "someone reacted to a message",
		params: { name },
		body: {
			source,
			message_id: id,
			emoji: z.string().min(1).max(64),
			own: z.boolean().openapi({ description: "the message is Keryx's" }),
			cursor,
		},
		answer: done,
	}),
	bridgePressed: endpoint("post", `${PATH}/pressed`, {
		about: "someone pressed a button; answers the text to show",
		params: { name },
		body: { source, message_id: id, button: z.string().min(1).max(64), cursor },
		answer: z.object({ text: z.string() }),
	}),
	bridgeGone: endpoint("post", `${PATH}/gone`, {
		about: "the chat can no longer be written to",
		params: { name },
		body: { source, reason: z.string().min(1).max(1000), cursor },
		answer: done,
	}),
	bridgeMoved: endpoint("post", `${PATH}/moved`, {
		about: "the chat has a new id",
		params: { name },
		body: { source, to_chat_id: id, cursor },
		answer: done,
	}),
} as const;

const DONE = { done: true } as const;

export const bridgeHandlers: HandlersOf<typeof bridgeEndpoints> = {
	bridge: async ({ name }, { host }) => {
		const bridge = bridgeOf(host, name);
		return { cursor: await bridge.cursor(), commands: [...bridge.commands()] };
	},
	bridgeWork: async ({ name, wait, program }, { host, signal }) => {
		const timeout = AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(wait * 1000))]);
		return { work: (await bridgeOf(host, name).take(timeout, program)).map(toWireWork) };
	},
	bridgeSettle: ({ name, work, ...given }, { host }) => ({
		settled: bridgeOf(host, name).settle(work, outcomeOf(given)),
	}),
	bridgeMessage: async (
		{ name, message_id, text, files, quoted, sent_at, is_bot: isBot, ...rest },
		{ host },
	) => {
		const { source, mentioned, album, roles, cursor } = rest;
		const uploaded = files.map((file) => ({
			...file,
			blob: uploadedBlob(host, ownerOf(name), file.id),
		}));
		const parts: Part[] = uploaded.map(({ blob, name, media_type: mediaType }) => ({
			type: (/^(?:image|audio)(?=\/)/.exec(mediaType)?.[0] as "image" | "audio" | undefined) ?? "file",
			blob,
			name,
			mediaType,
		}));
		const { id, conversation, duplicate, refused } = await bridgeOf(host, name).message({
			source,
			platformMessage: message_id,
			content:
				parts.length === 0 ? text : [...(text === "" ? [] : [{ type: "text", text } as const]), ...parts],
			blobs: uploaded.map(({ blob }) => blob),
			isBot,
			roles,
			...(quoted && {
				quoted: {
					platformMessage: quoted.message_id,
					text: quoted.text,
					own: quoted.own,
					...(quoted.author !== undefined && { author: quoted.author }),
				},
			}),
			...(mentioned !== undefined && { mentioned }),
			...(album !== undefined && { album }),
			...(sent_at !== undefined && { sentAt: sent_at }),
			...at(cursor),
		});
		return { id, conversation, duplicate, refused };
	},
	bridgeEdited: async ({ name, source, message_id, text, cursor }, { host }) => {
		await bridgeOf(host, name).edited({ source, platformMessage: message_id, content: text, ...at(cursor) });
		return DONE;
	},
	bridgeDeleted: async ({ name, source, message_id, cursor }, { host }) => {
		await bridgeOf(host, name).deleted({ source, platformMessage: message_id, ...at(cursor) });
		return DONE;
	},
	bridgeReacted: async ({ name, source, message_id, emoji, own, cursor }, { host }) => {
		const on = own ? "own" : "other";
		await bridgeOf(host, name).reacted({ source, platformMessage: message_id, emoji, on, ...at(cursor) });
		return DONE;
	},
	bridgePressed: ({ name, source, message_id, button, cursor }, { host }) =>
		bridgeOf(host, name).pressed({ source, platformMessage: message_id, button, ...at(cursor) }),
	bridgeGone: async ({ name, source, reason, cursor }, { host }) => {
		await bridgeOf(host, name).gone({ source, reason, ...at(cursor) });
		return DONE;
	},
	bridgeMoved: async ({ name, source, to_chat_id: toChatId, cursor }, { host }) => {
		await bridgeOf(host, name).moved({ source, toChatId, ...at(cursor) });
		return DONE;
	},
};

const at = (cursor: string | undefined) => (cursor === undefined ? {} : { cursor });

/** Of a bridge's uploads. */
export function ownerOf(bridge: string): string {
	return `channel:${bridge}`;
}

export function bridgeOf(host: ApiHost, name: string): ChannelBridge {
	const bridge = host.bridge ? host.bridge(name) : running(host).bridge(name);
	if (bridge) return bridge;
	throw new KeryxError("store.not_found", `channels.${name} is not a bridge, or not connected`, {
		field: "name",
		hint: "check channels in config.yaml: the entry needs bridge: true",
	});
}

function outcomeOf({
	outcome,
	receipt,
	reason,
	after_ms,
}: {
	readonly outcome: BridgeOutcome["kind"];
	readonly receipt?: string | undefined;
	readonly reason: string;
	readonly after_ms?: number | undefined;
}): BridgeOutcome {
	switch (outcome) {
		case "sent":
			if (receipt === undefined)
				throw new KeryxError("argument.invalid", "sent needs the receipt", { field: "receipt" });
			return { kind: "sent", receipt };
		case "retry":
			return { kind: "retry", reason, ...(after_ms !== undefined && { afterMs: after_ms }) };
		case "refused":
		case "unknown":
			return { kind: outcome, reason };
		case "absent":
		case "markup_refused":
		case "missing":
			return { kind: outcome };
	}
}

function toWireWork(given: BridgeWork): z.output<typeof work> {
	const { destination } = given;
	const hasText = given.do === "send" || given.do === "edit";
	return {
		work: given.work,
		do: given.do,
		chat_id: destination.chatId,
		thread_id: destination.threadId ?? null,
		reply_to: destination.replyTo ?? null,
		id: given.do === "typing" ? null : given.id,
		receipt: given.do === "edit" ? given.receipt : null,
		text: hasText ? given.text : null,
		plain: hasText ? given.plain : true,
		files: hasText
			? given.files.map(({ name, mediaType, size, caption = "" }, n) => ({
					n,
					name,
					media_type: mediaType,
					size,
					caption,
				}))
			: [],
		buttons: hasText
			? given.buttons.map((row) => row.map(({ id, label, style }) => ({ id, label, style: style ?? null })))
			: [],
		made_at: given.do === "lookup" ? (given.madeAt ?? null) : null,
	};
}

/** Whether this channel's token may ask for it. */
export function isBridgePath(path: string, channel: string | null): boolean {
	if (channel === null) return false;
	const own = `/api/bridges/${channel}`;
	return path === own || path.startsWith(`${own}/`);
}
