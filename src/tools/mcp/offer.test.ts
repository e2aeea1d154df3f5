import type { Client } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { createSecrets } from "../../secrets/index.ts";
import { offerOf } from "./offer.ts";

const VALUE = "Zq7Kp2Lx9Wm4Rt8Ny3Bv6Hc1Jd5Fg0Sa";
const signal = new AbortController().signal;

function listing(lists: { tools?: object[]; prompts?: object[]; resources?: object[] }): Client {
	const { tools = [], prompts = [], resources = [] } = lists;
	return {
		getServerCapabilities: () => ({ tools: {}, prompts: {}, resources: {} }),
		listTools: () => Promise.resolve({ tools }),
		listPrompts: () => Promise.resolve({ prompts }),
		listResources: () => Promise.resolve({ resources }),
	} as unknown as Client;
}

const secrets = createSecrets(
	new Map([
		["TOKEN", VALUE],
		["PIN", "4711081547"],
		["WORD", "postgres"],
	]),
);
const offered = (lists: Parameters<typeof listing>[0]) => offerOf("it", listing(lists), { signal, secrets });

/** The longest piece of it in the text. */
function longestPiece(text: string): number {
	let longest = 0;
	for (let from = 0; from < VALUE.length; from++)
		while (text.includes(VALUE.slice(from, from + longest + 1)) && from + longest < VALUE.length) longest++;
	return longest;
}

test("I12: what a server says of its tools, prompts and resources is hidden from models and people, and before it is cut", async () => {
	const url = `postgres://app:${VALUE}@db/prod`;
	const { resources, ...offer } = await offered({
		tools: [
			{
				name: "query",
				description: `Queries ${url} ${"d".repeat(1915)}${VALUE}`,
				inputSchema: {
					type: "object",
					properties: {
						dsn: { type: "string", enum: ["a", url], default: url },
						pin: { default: 4711081547 },
					},
				},
			},
		],
		prompts: [{ name: "tale", description: `${"d".repeat(220)}${VALUE}` }],
		resources: [
			{ uri: "x://y", name: `${"n".repeat(220)}${VALUE}`, description: `${"d".repeat(215)}${VALUE}` },
		],
	});
	const text = JSON.stringify({ offer, resources });
	expect(longestPiece(text)).toBeLessThan(4);
	expect(text).not.toContain("4711081547");
	expect(text, "no names of secrets: it is the same for everyone").not.toContain("secret:");
	expect(offer.tools[0]?.schema).toMatchObject({ properties: { dsn: { default: "•••://app:•••@db/prod" } } });
});

test("I12: a tool or prompt whose name or field contains a secret is left out, and the server's other ones stay", async () => {
	const inputSchema = { type: "object", properties: {} };
	const { tools, prompts, remarks } = await offered({
		tools: [
			{ name: `query_${VALUE}`, inputSchema },
			{ name: "query", inputSchema: { ...inputSchema, properties: { [VALUE]: {} } } },
			// A short one is an ordinary word.
			{ name: "other", inputSchema: { ...inputSchema, properties: { postgres: {} } } },
		],
		prompts: [{ name: VALUE }, { name: "tale", arguments: [{ name: VALUE }] }, { name: "other" }],
	});
	expect(tools.map(({ tool }) => tool)).toEqual(["other"]);
	expect(prompts.map(({ name }) => name)).toEqual(["other"]);
	expect(remarks).toEqual([
		"2 of its tools are not used: a name in them contains a secret",
		"2 of its prompts are not used: a name in them contains a secret",
	]);
});
