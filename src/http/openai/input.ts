// Finds what is new in a request. OpenAI clients send the whole conversation each time; Keryx has its own record, so only the messages
// after the last answer are new. Instructions and earlier messages are ignored.
import { z } from "@hono/zod-openapi";
import type { Content } from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import { storeAttachments } from "../../gateway/index.ts";
import type { Store } from "../../store/index.ts";

const part = z.looseObject({ type: z.string() });

export const said = z.looseObject({
	role: z.string().optional(),
	type: z.string().optional(),
	content: z.union([z.string(), z.array(part)]).nullish(),
});

type Said = z.output<typeof said>;
type Part = z.output<typeof part>;
type Piece =
	| { readonly type: "text"; readonly text: string }
	| { readonly type: "image"; readonly mediaType: string; readonly data: Uint8Array };

/** One message of a person: several become one, in order. */
export async function newContent(
	messages: readonly Said[],
	field: "messages" | "input",
	store: Store,
): Promise<{ readonly content: Content; readonly blobs: readonly string[] }> {
	const pieces = newPieces(messages, field);
	if (pieces.every((piece) => piece.type === "text")) {
		const content = pieces.map(({ text }) => text).join("\n\n");
		if (content.trim() !== "") return { content, blobs: [] };
		throw new KeryxError("argument.invalid", `${field}: there is no user message after the last answer`, {
			field,
		});
	}
	return storeAttachments(store, pieces);
}

function newPieces(messages: readonly Said[], field: string): Piece[] {
	const from = messages.findLastIndex(({ role }) => role === "assistant") + 1;
	return messages.slice(from).flatMap(({ role, type, content }, index) => {
		const path = `${field}.${from + index}`;
		if (role === "system" || role === "developer") return [];
		if (role !== "user")
			throw unsupported(
				path,
				`${role ?? type ?? "this"}: Keryx calls its tools itself, so send only what users say`,
			);
		if (typeof content === "string") return [{ type: "text" as const, text: content }];
		return (content ?? []).map((one, n) => pieceOf(one, `${path}.content.${n}`));
	});
}

function pieceOf(given: Part, path: string): Piece {
	const { type, text, image_url: image } = given;
	if ((type === "text" || type === "input_text") && typeof text === "string") return { type: "text", text };
	if (type !== "image_url" && type !== "input_image")
		throw unsupported(path, `${type}: only text and pictures can be sent`);
	const url = typeof image === "object" && image !== null && "url" in image ? image.url : image;
	const [, mediaType, data] = /^data:(image\/[\w.+-]{1,64});base64,([\w+/=\s-]+)$/i.exec(String(url)) ?? [];
	if (mediaType === undefined || data === undefined)
		throw unsupported(path, "send a picture as a data: URL in base64; Keryx does not download anything");
	return { type: "image", mediaType: mediaType.toLowerCase(), data: Buffer.from(data, "base64") };
}

function unsupported(field: string, message: string): KeryxError {
	return new KeryxError("argument.invalid", `${field}: ${message}`, { field });
}
