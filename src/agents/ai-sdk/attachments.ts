// Attachments on their way into a prompt: the bytes where the model's provider takes the kind, the words of a text file, and
// for everything else one line in its place, so that the model knows that there is something.
import type { LanguageModelV4FilePart, LanguageModelV4TextPart } from "@ai-sdk/provider";
import type { ModelProvider } from "../../config/index.ts";
import { type Part, quoteUntrusted } from "../../domain/index.ts";

/** The bytes of a blob of a conversation; null where they are no longer kept. A read that fails throws (I8). */
export type ReadBlob = (conversation: string, digest: string) => Promise<Uint8Array | null>;

type Attachment = Exclude<Part, { readonly type: "text" }>;

export async function attachmentPart(
	attachment: Attachment,
	provider: ModelProvider,
	read: (digest: string) => Promise<Uint8Array | null>,
): Promise<LanguageModelV4FilePart | LanguageModelV4TextPart> {
	const mediaType = attachment.mediaType.toLowerCase().replace(/;.*$/, "").trim();
	const { takes, maxBytes } = INTAKES[provider];
	if (!takes.test(mediaType) && !TEXT.test(mediaType))
		return instead(attachment, "this model cannot take it");
	const bytes = await read(attachment.blob);
	if (!bytes) return instead(attachment, "it is no longer kept");
	if (!takes.test(mediaType)) return asText(attachment, bytes);
	if (bytes.byteLength === 0) return instead(attachment, "it is empty");
	if (bytes.byteLength > maxBytes) return instead(attachment, "it is too big for this model");
	return {
		type: "file",
		mediaType,
		data: { type: "data", data: bytes },
		...(attachment.name !== undefined && { filename: attachment.name }),
	};
}

const MIB = 1024 * 1024;
const IMAGES = "image/(png|jpeg|gif|webp)";

/** What each takes inside a request, and how big one may be before it is written in base64. */
const INTAKES: Readonly<Record<ModelProvider, { readonly takes: RegExp; readonly maxBytes: number }>> = {
	openai: { takes: new RegExp(`^(${IMAGES}|application/pdf)$`), maxBytes: 20 * MIB },
	anthropic: { takes: new RegExp(`^(${IMAGES}|application/pdf)$`), maxBytes: 3.75 * MIB },
	google: {
		takes: new RegExp(`^(${IMAGES}|image/hei[cf]|application/pdf|audio/.+|video/.+)$`),
		maxBytes: 14 * MIB,
	},
	openrouter: { takes: new RegExp(`^(${IMAGES}|application/pdf|audio/(wav|mp3|mpeg))$`), maxBytes: 20 * MIB },
	ollama: { takes: new RegExp(`^${IMAGES}$`), maxBytes: 20 * MIB },
	"openai-compatible": { takes: new RegExp(`^${IMAGES}$`), maxBytes: 20 * MIB },
};

const TEXT = /^(text\/.+|application\/(json|.+\+json|xml|.+\+xml|yaml|x-yaml|toml|javascript|sql|x-sh))$/;
const LONGEST_TEXT = 100_000;

function asText(attachment: Attachment, bytes: Uint8Array): LanguageModelV4TextPart {
	let text: string;
	try {
		text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
	} catch {
		return instead(attachment, "it is not UTF-8 text");
	}
	const rest = text.length - LONGEST_TEXT;
	const shown = rest > 0 ? `${text.slice(0, LONGEST_TEXT).toWellFormed()}\n[${rest} more characters]` : text;
	return { type: "text", text: `[${describe(attachment)}]\n${shown}` };
}

function instead(attachment: Attachment, why: string): LanguageModelV4TextPart {
	return { type: "text", text: `[${describe(attachment)}: ${why}]` };
}

function describe({ type, mediaType, name }: Attachment): string {
	return [
		type,
		...(name === undefined ? [] : [quoteUntrusted(name)]),
		`(${quoteUntrusted(mediaType).slice(1, -1)})`,
	].join(" ");
}
