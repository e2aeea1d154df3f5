// What a server offers, as used here: limited, cleaned, and named for models and people. All of it is someone else's text: it describes
// tools, and instructs nobody.
import type { Client } from "@modelcontextprotocol/client";
import { cleanUntrusted, inlineUntrusted } from "../../domain/index.ts";
import { namesOf } from "./naming.ts";
import { type McpTool, type Offer, START_MS } from "./types.ts";

const MOST_TOOLS = 200;
const MOST_OTHERS = 500;
const LONGEST_DESCRIPTION = 2000;
const LONGEST_SCHEMA = 64 * 1024;
const LONGEST_URI = 2000;

/** Throws where the server does not say. */
export async function offerOf(server: string, client: Client, signal: AbortSignal): Promise<Offer> {
	const options = { signal, timeout: START_MS, cacheMode: "refresh" as const };
	const capabilities = client.getServerCapabilities() ?? {};
	const [tools, prompts, resources] = await Promise.all([
		capabilities.tools ? client.listTools(undefined, options) : { tools: [] },
		capabilities.prompts ? client.listPrompts(undefined, options) : { prompts: [] },
		capabilities.resources ? client.listResources(undefined, options) : { resources: [] },
	]);
	const remarks: string[] = [];
	return {
		tools: toolsIn(server, tools.tools, remarks),
		prompts: prompts.prompts.slice(0, MOST_OTHERS).map(({ name, description, arguments: takes = [] }) => ({
			name,
			description: inlineUntrusted(description ?? ""),
			arguments: takes.map((one) => ({ name: one.name, isRequired: one.required === true })),
		})),
		resources: resources.resources
			.filter(({ uri }) => uri.length <= LONGEST_URI)
			.slice(0, MOST_OTHERS)
			.map(({ uri, name, description }) => ({
				uri,
				name: inlineUntrusted(name),
				description: inlineUntrusted(description ?? ""),
			})),
		remarks,
	};
}

type Listed = Awaited<ReturnType<Client["listTools"]>>["tools"][number];

function toolsIn(server: string, listed: readonly Listed[], remarks: string[]): readonly McpTool[] {
	const byName = new Map(listed.slice(0, MOST_TOOLS).map((tool) => [tool.name, tool]));
	if (listed.length > MOST_TOOLS)
		remarks.push(`it has ${listed.length} tools, of which the first ${MOST_TOOLS} are used`);
	return [...namesOf(server, [...byName.keys()])].flatMap(([name, tool]) => {
		const { description, inputSchema, annotations } = byName.get(tool) as Listed;
		const length = JSON.stringify(inputSchema).length;
		if (length > LONGEST_SCHEMA) {
			remarks.push(
				`${name} is not used: its schema has ${length} characters, the limit is ${LONGEST_SCHEMA}`,
			);
			return [];
		}
		return [
			{
				tool,
				name,
				description:
					`${cleanUntrusted(description ?? "", LONGEST_DESCRIPTION)} (a tool of the MCP server ${server})`.trim(),
				schema: inputSchema as Readonly<Record<string, unknown>>,
				isReadOnly: annotations?.readOnlyHint === true,
			},
		];
	});
}
