// Prompts of servers, as people call them in a chat: `/<server>:<prompt> name=value ...`. A prompt's text becomes a note for the
// agent, marked with its origin.
import type { GetPromptResult } from "@modelcontextprotocol/client";
import { firstOf, inlineUntrusted } from "../../domain/index.ts";
import type { McpServer } from "./server.ts";
import type { McpPrompt } from "./types.ts";

const FORM = /^\/([a-z0-9][a-z0-9_-]*):([^\s]{1,100})(?:\s+([\s\S]*))?$/;
const LONGEST = 50_000;

export interface AskedPrompt {
	readonly server: string;
	readonly prompt: string;
	readonly rest: string;
}

export function readPrompt(text: string): AskedPrompt | null {
	const [, server, prompt, rest = ""] = FORM.exec(text.trim()) ?? [];
	return server === undefined || prompt === undefined ? null : { server, prompt, rest: rest.trim() };
}

export function promptUsage(server: string, { name, arguments: takes }: McpPrompt): string {
	const words = takes.map((one) => {
		const word = `${inlineUntrusted(one.name)}=...`;
		return one.isRequired ? word : `(${word})`;
	});
	return [`/${server}:${inlineUntrusted(name)}`, ...words].join(" ");
}

/** `name=value`, values with spaces in quotes. With a single argument, the rest is its value. Pure. */
export function promptArguments(
	{ arguments: takes }: Pick<McpPrompt, "arguments">,
	rest: string,
): Readonly<Record<string, string>> {
	const given: Record<string, string> = {};
	const names = new Set(takes.map(({ name }) => name));
	const [only] = takes;
	const pairs = [...rest.matchAll(/([^\s=]+)=(?:"([^"]*)"|(\S*))/g)].filter(([, name = ""]) =>
		names.has(name),
	);
	if (pairs.length === 0 && takes.length === 1 && only && rest !== "") return { [only.name]: rest };
	for (const [, name = "", quoted, plain] of pairs) given[name] = quoted ?? plain ?? "";
	return given;
}

/** For the agent: the prompt, or why there is none. */
export async function promptText(
	server: McpServer,
	{ prompt: name, rest }: AskedPrompt,
	{ signal, ms }: { readonly signal: AbortSignal; readonly ms: number },
): Promise<string> {
	try {
		const { client } = await server.connected(signal, ms);
		const prompt = server.offer.prompts.find((one) => one.name === name);
		if (!prompt) {
			const usages = server.offer.prompts.map((one) => promptUsage(server.name, one));
			return `The MCP server ${server.name} has no prompt ${inlineUntrusted(name)}. It has: ${usages.join("; ") || "none"}. Say so.`;
		}
		const found = await client.getPrompt(
			{ name, arguments: promptArguments(prompt, rest) },
			{ signal, timeout: ms },
		);
		const whole = server.hide(found.messages.map(lineOf).join("\n\n").toWellFormed());
		const text = firstOf(whole, LONGEST);
		return `The person asked for the prompt ${inlineUntrusted(name)} of the MCP server ${server.name}. It says:\n\n${text}`;
	} catch (error) {
		if (signal.aborted) throw error;
		return `The prompt ${inlineUntrusted(name)} of the MCP server ${server.name} could not be read: ${inlineUntrusted(server.hide((error as Error).message))}. Say so.`;
	}
}

function lineOf({ role, content }: GetPromptResult["messages"][number]): string {
	const text =
		content.type === "text"
			? content.text
			: content.type === "resource" && "text" in content.resource
				? content.resource.text
				: `[${content.type}]`;
	return role === "assistant" ? `You said: ${text}` : text;
}
