// A server's answer as the result of a call: limited text, pictures and files as attachments, everything else in words.
import type { CallToolResult, ReadResourceResult } from "@modelcontextprotocol/client";
import { contentText, firstOf, inlineUntrusted, lastOf } from "../../domain/index.ts";
import type { ToolPart, ToolResult } from "../types.ts";

/** The same limit as for a command's output. */
const MOST_TEXT = 50_000;
const HEAD = 0.4;
const MOST_FILES = 20;

type Block = CallToolResult["content"][number];
type Contents = ReadResourceResult["contents"][number];

/** Hides secrets in a text before it is cut: part of a secret would remain otherwise. */
type Hide = (text: string) => string;

export function toResult({ content, structuredContent, isError }: CallToolResult, hide: Hide): ToolResult {
	const parts = content.map((block) => partOf(block, hide));
	// For programs; used alone if it says more than the text.
	if (content.length === 0 && structuredContent !== undefined)
		parts.push({ type: "text", text: JSON.stringify(structuredContent) });
	return { content: bounded(parts, hide), ...(isError === true && { isError: true }) };
}

export function toAttachments({ contents }: ReadResourceResult, hide: Hide): ToolResult {
	return {
		content: bounded(
			contents.map((one) => resourcePart(one, hide)),
			hide,
		),
	};
}

function partOf(block: Block, hide: Hide): ToolPart {
	switch (block.type) {
		case "text":
			return { type: "text", text: block.text };
		case "image":
		case "audio":
			return {
				type: block.type,
				data: Buffer.from(block.data, "base64"),
				mediaType: mediaTypeOf(block.mimeType),
			};
		case "resource":
			return resourcePart(block.resource, hide);
		case "resource_link":
			return { type: "text", text: `Resource ${inlineUntrusted(hide(block.name))}: ${block.uri}` };
		default:
			return { type: "text", text: JSON.stringify(block) };
	}
}

function resourcePart(resource: Contents, hide: Hide): ToolPart {
	if ("text" in resource) return { type: "text", text: `${resource.uri}:\n${resource.text}` };
	const mediaType = mediaTypeOf(resource.mimeType);
	const kind = /^(image|audio)\//.exec(mediaType)?.[1] as "image" | "audio" | undefined;
	return {
		type: kind ?? "file",
		data: Buffer.from(resource.blob, "base64"),
		mediaType,
		name: nameIn(hide(resource.uri)),
	};
}

/** A server may write anything there. */
function mediaTypeOf(given: string | undefined): string {
	return given !== undefined && /^[a-z0-9.+-]{1,60}\/[a-z0-9.+-]{1,100}$/i.test(given)
		? given.toLowerCase()
		: "application/octet-stream";
}

function nameIn(uri: string): string {
	return inlineUntrusted(uri.split(/[?#]/)[0]?.split("/").at(-1) ?? "") || "resource";
}

/** Text of all parts together, with its beginning and its end; files up to a number. */
function bounded(parts: readonly ToolPart[], hide: Hide): string | readonly ToolPart[] {
	const files = parts.filter((part) => part.type !== "text");
	const text = cut(contentText<Exclude<ToolPart, { type: "text" }>>(parts), hide);
	const left = files.length - MOST_FILES;
	const words = left > 0 ? `${text}\n(${left} more files are left out)` : text;
	if (files.length === 0) return words;
	return [...(words === "" ? [] : [{ type: "text" as const, text: words }]), ...files.slice(0, MOST_FILES)];
}

function cut(whole: string, hide: Hide): string {
	if (whole.length <= MOST_TEXT) return whole;
	const text = hide(whole);
	if (text.length <= MOST_TEXT) return text;
	const head = Math.floor(MOST_TEXT * HEAD);
	const left = text.length - MOST_TEXT;
	const [begins, ends] = [firstOf(text, head), lastOf(text, MOST_TEXT - head)];
	return `${begins}\n[... ${left} characters left out ...]\n${ends}`;
}
