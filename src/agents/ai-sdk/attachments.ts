// Puts attachments into a prompt: the bytes if the provider accepts the kind and the request has room, the text of a text file, and
// otherwise one line, so that the model knows that there is something.
import type { LanguageModelV4FilePart, LanguageModelV4TextPart } from "@ai-sdk/provider";
import type { ModelProvider } from "../../config/index.ts";
import { type Part, quoteUntrusted } from "../../domain/index.ts";

/** The bytes of a conversation's blob; null if no longer kept. A failed read throws (I8). */
export type ReadBlob = (conversation: string, digest: string) => Promise<Uint8Array | null>;

export type Attachment = Exclude<Part, { readonly type: "text" }>;

/** An attachment as the model is shown it. */
export interface ShownFile {
	readonly part: LanguageModelV4FilePart | LanguageModelV4TextPart;
	/** The file's size; 0 if a line replaces it. */
	readonly bytes: number;
}

/** What a request contains for each of these, in order. Newest first if there is no room for all: a request has `spare` bytes left. */
export async function showAttachments(
	attachments: readonly Attachment[],
	{ provider, spare }: { readonly provider: ModelProvider; readonly spare: number },
	read: (digest: string) => Promise<Uint8Array | null>,
): Promise<ReadonlyMap<Attachment, ShownFile>> {
	const shown = new Map<Attachment, ShownFile>();
	let left = spare;
	for (const attachment of attachments.toReversed()) {
		if (shown.has(attachment)) continue;
		const one = await show(attachment, provider, left, read);
		left -= sizeInRequest(one.part);
		shown.set(attachment, one);
	}
	return shown;
}

/** Bytes that a request to the provider may have. */
export function longestRequest(provider: ModelProvider): number {
	return INTAKES[provider].requestBytes;
}

async function show(
	attachment: Attachment,
	provider: ModelProvider,
	left: number,
	read: (digest: string) => Promise<Uint8Array | null>,
): Promise<ShownFile> {
	const mediaType = attachment.mediaType.toLowerCase().replace(/;.*$/, "").trim();
	const { takes, imageBytes } = INTAKES[provider];
	const isText = !takes.test(mediaType) && TEXT.test(mediaType);
	if (!takes.test(mediaType) && !isText) return instead(attachment, "this model cannot read it");
	if (left <= 0) return instead(attachment, NO_ROOM);
	const bytes = await read(attachment.blob);
	if (!bytes) return instead(attachment, "it is no longer stored");
	if (bytes.byteLength === 0 && !isText) return instead(attachment, "it is empty");
	if (mediaType.startsWith("image/") && bytes.byteLength > imageBytes)
		return instead(attachment, "it is too big for this model");
	const part = isText ? asText(attachment, bytes) : asFile(attachment, mediaType, bytes);
	if (!part) return instead(attachment, "it is not UTF-8 text");
	const size = sizeInRequest(part);
	if (size > INTAKES[provider].requestBytes) return instead(attachment, "it is too big for this model");
	return size > left ? instead(attachment, NO_ROOM) : { part, bytes: bytes.byteLength };
}

const NO_ROOM = "the request is full of newer attachments";

/** With its frame. */
function sizeInRequest(part: LanguageModelV4FilePart | LanguageModelV4TextPart): number {
	if (part.type === "text") return FRAME + Buffer.byteLength(JSON.stringify(part.text));
	const { data } = part;
	return FRAME + (data.type === "data" ? Math.ceil(data.data.length / 3) * 4 : 0);
}

const FRAME = 500;

const MIB = 1024 * 1024;
const MB = 1_000_000;
const IMAGES = "image/(png|jpeg|gif|webp)";

interface Intake {
	/** What it accepts inside a request. */
	readonly takes: RegExp;
	/** An image's maximum size, before base64. */
	readonly imageBytes: number;
	/** A request's maximum size, including everything. */
	readonly requestBytes: number;
}

/** docs/reference/attachments.md has the sources of these numbers. */
const INTAKES: Readonly<Record<ModelProvider, Intake>> = {
	openai: {
		takes: new RegExp(`^(${IMAGES}|application/pdf)$`),
		imageBytes: 20 * MB,
		requestBytes: 50 * MB,
	},
	anthropic: {
		takes: new RegExp(`^(${IMAGES}|application/pdf)$`),
		// 5 MiB in base64.
		imageBytes: 3.75 * MIB,
		requestBytes: 32 * MB,
	},
	google: {
		takes: new RegExp(`^(${IMAGES}|image/hei[cf]|application/pdf|audio/.+|video/.+)$`),
		imageBytes: 20 * MB,
		requestBytes: 20 * MB,
	},
	openrouter: {
		takes: new RegExp(`^(${IMAGES}|application/pdf|audio/(wav|mp3|mpeg))$`),
		imageBytes: 20 * MB,
		requestBytes: 50 * MB,
	},
	ollama: { takes: new RegExp(`^${IMAGES}$`), imageBytes: 20 * MB, requestBytes: 50 * MB },
	"openai-compatible": { takes: new RegExp(`^${IMAGES}$`), imageBytes: 20 * MB, requestBytes: 50 * MB },
};

const TEXT = /^(text\/.+|application\/(json|.+\+json|xml|.+\+xml|yaml|x-yaml|toml|javascript|sql|x-sh))$/;
const LONGEST_TEXT = 100_000;

function asFile({ name }: Attachment, mediaType: string, bytes: Uint8Array): LanguageModelV4FilePart {
	return {
		type: "file",
		mediaType,
		data: { type: "data", data: bytes },
		...(name !== undefined && { filename: name }),
	};
}

/** Null for what is no UTF-8. */
function asText(attachment: Attachment, bytes: Uint8Array): LanguageModelV4TextPart | null {
	let text: string;
	try {
		text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
	} catch {
		return null;
	}
	const rest = text.length - LONGEST_TEXT;
	const shown = rest > 0 ? `${text.slice(0, LONGEST_TEXT).toWellFormed()}\n[${rest} more characters]` : text;
	return { type: "text", text: `[${describe(attachment)}]\n${shown}` };
}

function instead(attachment: Attachment, why: string): ShownFile {
	return { part: { type: "text", text: `[${describe(attachment)}: ${why}]` }, bytes: 0 };
}

function describe({ type, mediaType, name }: Attachment): string {
	return [
		type,
		...(name === undefined ? [] : [quoteUntrusted(name)]),
		`(${quoteUntrusted(mediaType).slice(1, -1)})`,
	].join(" ");
}
