// What a server offers, as used here: limited, cleaned, and named for models and people. All of it is someone else's text: it describes
// tools, and instructs nobody. It goes to models, in every turn that may use the server, and to readers of the API: secrets are hidden in
// all of it, before it is cut, and without their names (I12).
import type { Client } from "@modelcontextprotocol/client";
import { cleanUntrusted, inlineUntrusted } from "../../domain/index.ts";
import type { Secrets } from "../../secrets/index.ts";
import { namesOf } from "./naming.ts";
import { type McpTool, type Offer, START_MS } from "./types.ts";

const MOST_TOOLS = 200;
const MOST_OTHERS = 500;
const LONGEST_DESCRIPTION = 2000;
const LONGEST_SCHEMA = 64 * 1024;
const LONGEST_URI = 2000;

type Known = Pick<Secrets, "forOthers" | "isIn" | "changes">;

/** Throws where the server does not say. */
export async function offerOf(
	server: string,
	client: Client,
	{ signal, secrets }: { readonly signal: AbortSignal; readonly secrets: Known },
): Promise<Offer> {
	const options = { signal, timeout: START_MS, cacheMode: "refresh" as const };
	const capabilities = client.getServerCapabilities() ?? {};
	const [tools, prompts, resources] = await Promise.all([
		capabilities.tools ? client.listTools(undefined, options) : { tools: [] },
		capabilities.prompts ? client.listPrompts(undefined, options) : { prompts: [] },
		capabilities.resources ? client.listResources(undefined, options) : { resources: [] },
	]);
	const remarks: string[] = [];
	const inline = (text = "") => inlineUntrusted(secrets.forOthers.hide(text));
	return {
		tools: toolsIn(server, tools.tools, { remarks, secrets }),
		prompts: promptsIn(prompts.prompts, { remarks, secrets }).map(
			({ name, description, arguments: takes = [] }) => ({
				name,
				description: inline(description),
				arguments: takes.map((one) => ({ name: one.name, isRequired: one.required === true })),
			}),
		),
		resources: resources.resources
			.filter(({ uri }) => uri.length <= LONGEST_URI)
			.slice(0, MOST_OTHERS)
			.map(({ uri, name, description }) => ({
				uri,
				name: inline(name),
				description: inline(description),
			})),
		remarks,
	};
}

type Listed = Awaited<ReturnType<Client["listTools"]>>["tools"][number];
type ListedPrompt = Awaited<ReturnType<Client["listPrompts"]>>["prompts"][number];

interface Offering {
	readonly remarks: string[];
	readonly secrets: Known;
}

function toolsIn(
	server: string,
	listed: readonly Listed[],
	{ remarks, secrets }: Offering,
): readonly McpTool[] {
	const hide = (text: string) => secrets.forOthers.hide(text);
	const usable = listed
		.slice(0, MOST_TOOLS)
		.map((tool) => ({ ...tool, schema: hiddenIn(tool.inputSchema, hide) as McpTool["schema"] }))
		// Names cannot be hidden, because calls use them. A short secret may be part of a field's name by chance.
		.filter(({ name, schema }) => !secrets.isIn(name) && !secrets.changes({ schema }));
	const byName = new Map(usable.map((tool) => [tool.name, tool]));
	remarkOnNames("tools", Math.min(listed.length, MOST_TOOLS) - usable.length, remarks);
	if (listed.length > MOST_TOOLS)
		remarks.push(`it has ${listed.length} tools, of which the first ${MOST_TOOLS} are used`);
	return [...namesOf(server, [...byName.keys()])].flatMap(([name, tool]) => {
		const { description = "", schema, annotations } = byName.get(tool) as (typeof usable)[number];
		const length = JSON.stringify(schema).length;
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
					`${cleanUntrusted(hide(description), LONGEST_DESCRIPTION)} (a tool of the MCP server ${server})`.trim(),
				schema,
				isReadOnly: annotations?.readOnlyHint === true,
			},
		];
	});
}

function promptsIn(listed: readonly ListedPrompt[], { remarks, secrets }: Offering): readonly ListedPrompt[] {
	const first = listed.slice(0, MOST_OTHERS);
	const usable = first.filter(
		({ name, arguments: takes = [] }) => !secrets.isIn([name, ...takes.map((one) => one.name)]),
	);
	remarkOnNames("prompts", first.length - usable.length, remarks);
	return usable;
}

function remarkOnNames(kind: "tools" | "prompts", count: number, remarks: string[]): void {
	if (count > 0) remarks.push(`${count} of its ${kind} are not used: a name in them contains a secret`);
}

/** In every text and number. */
function hiddenIn(value: unknown, hide: (text: string) => string): unknown {
	if (typeof value === "string") return hide(value);
	if (typeof value === "number") {
		const text = hide(String(value));
		return text === String(value) ? value : text;
	}
	if (typeof value !== "object" || value === null) return value;
	if (Array.isArray(value)) return value.map((item) => hiddenIn(item, hide));
	return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, hiddenIn(item, hide)]));
}
