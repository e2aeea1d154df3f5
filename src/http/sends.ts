// Unprompted messages to a target: sent once by the caller's id, with the state of each part.
import { isDeepStrictEqual } from "node:util";
import { z } from "@hono/zod-openapi";
import { contentText, type Part } from "../domain/index.ts";
import { KeryxError } from "../errors.ts";
import { OPERATOR, type Send } from "../store/index.ts";
import { attachment } from "./attachments.ts";
import { type Call, type HandlersOf, nextCommit, operator, running } from "./call.ts";
import { endpoint } from "./endpoint.ts";
import { delivery, time } from "./schemas.ts";
import { uploadedBlob, uploaderOf } from "./uploads.ts";
import { iso, toWireDelivery } from "./wire.ts";

const sendId = z.string().regex(/^[\w.~:-]{1,150}$/, "must be 1 to 150 of letters, digits and . _ ~ : -");

const send = z
	.object({
		id: z.string(),
		at: time,
		to: z.string().openapi({ description: "the target, as people read it" }),
		by: z.string(),
		turn: z.string().nullable(),
		conversation: z.string().nullable().openapi({
			description: "whose transcript has it; null for a file, and until somebody writes in a new chat",
		}),
		message: z.int().nullable().openapi({ description: "its row there" }),
		file: z.string().nullable().openapi({ description: "its name in output/, if the target is local" }),
		deliveries: z.array(delivery),
	})
	.openapi("Send");

export const sendEndpoints = {
	sendTo: endpoint("post", "/api/sends", {
		about:
			"send a message to a target, as an answer to nobody; the same id again sends nothing and returns the first, and is refused for another target or text",
		body: {
			target: z.string().min(1).max(1100).openapi({
				description: "local, a platform, platform:chat, platform:chat:thread or conversation:id",
			}),
			text: z.string().max(1_000_000).openapi({ description: "may be empty if there are attachments" }),
			id: sendId,
			attachments: z.array(attachment).max(10).default([]),
		},
		answer: send.extend({ repeated: z.boolean() }),
	}),
	sentTo: endpoint("get", "/api/sends/{id}", {
		about:
			"what became of a sent message; with wait, answers when every part has ended or after so many seconds",
		params: { id: sendId },
		query: { wait: z.coerce.number().min(0).max(60).default(0) },
		answer: send,
	}),
} as const;

export const sendHandlers: HandlersOf<typeof sendEndpoints> = {
	sendTo: async ({ target: text, text: said, id, attachments }, call) => {
		const { host, scope, visitor } = call;
		operator(scope);
		const { sending } = running(host);
		if (said.trim() === "" && attachments.length === 0)
			throw new KeryxError("argument.invalid", "text must not be empty without attachments", {
				field: "text",
			});
		const before = await host.store.sent({ scope: OPERATOR, id });
		const found = await sending.resolve(text, { standing: "owner", scope: OPERATOR, origin: null });
		if (before && found.kind === "target" && !isDeepStrictEqual(found.target, before.target))
			throw new KeryxError("send.conflict", `the id ${id} was used for another target`, { field: "id" });
		if (before?.content && contentText(before.content) !== host.store.secrets.hideIn(said))
			throw new KeryxError("send.conflict", `the id ${id} was used for another text`, { field: "id" });
		if (before && before.file === null) return { ...(await toWire(before, call)), repeated: true };
		if (found.kind === "refused")
			throw new KeryxError("send.refused", found.why.replace(/\.$/, ""), { field: "target" });
		const sent = await sending.send({
			id,
			target: found.target,
			text: said,
			uploads: await uploaded(call, attachments),
			by: visitor.who,
			from: { where: visitor.via === "cli" ? "keryx send" : "the API" },
		});
		return { ...(await toWire(sent, call)), repeated: sent.repeated };
	},
	sentTo: async ({ id, wait }, call) => toWire(await whenEnded(id, wait, call), call),
};

async function uploaded(
	{ host, visitor }: Call,
	attachments: readonly z.output<typeof attachment>[],
): Promise<{ readonly parts: readonly Part[]; readonly blobs: readonly string[] }> {
	const parts: Part[] = [];
	const blobs: string[] = [];
	for (const { id, media_type: mediaType, name } of attachments) {
		const blob = uploadedBlob(host, uploaderOf(visitor), id);
		blobs.push(blob);
		const { digest, size } = await host.store.finishBlob({ id: blob });
		const type = /^(image|audio)\//.exec(mediaType)?.[1] as "image" | "audio" | undefined;
		parts.push({
			type: type ?? "file",
			blob: digest,
			mediaType,
			...(name !== undefined && { name }),
			sent: { size },
		});
	}
	return { parts, blobs };
}

const ENDED: ReadonlySet<string> = new Set(["sent", "unknown", "dead"]);

async function whenEnded(id: string, seconds: number, { host, scope, signal }: Call): Promise<Send> {
	operator(scope);
	const timeout = AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(seconds * 1000))]);
	for (;;) {
		const committed = nextCommit(host.store, timeout);
		const send = await host.store.sent({ scope: OPERATOR, id });
		if (!send)
			throw new KeryxError("store.not_found", `nothing was sent under the id ${id}`, { field: "id" });
		const isOver = send.deliveries.every(({ state }) => ENDED.has(state));
		if (seconds === 0 || isOver || timeout.aborted) return send;
		await committed;
	}
}

async function toWire(
	{ id, at, target, by, turn, conversation, message, file, deliveries }: Send,
	{ host }: Call,
): Promise<z.output<typeof send>> {
	const to = host.gateway ? await host.gateway.sending.show(target) : target.kind;
	return {
		id,
		at: iso(at),
		to,
		by,
		turn,
		conversation,
		message,
		file,
		deliveries: deliveries.map(toWireDelivery),
	};
}
