// Keryx as a server of MCP, through the official client: over HTTP on a port with tokens, in both versions of the protocol.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { configSchema } from "../../src/config/schema.ts";
import { systemClock } from "../../src/gateway/index.ts";
import { type ServedOnPort, serveOnPort } from "../../src/http/index.ts";
import { mcpEndpoint } from "../../src/mcp/index.ts";
import { createSchedules, scheduleSettings } from "../../src/schedules/index.ts";
import type { TokenRole } from "../../src/store/index.ts";
import { SECRET, type Served, serve } from "../http/support.ts";

let served: Served;
let port: ServedOnPort;

beforeAll(async () => {
	served = await serve(undefined, undefined, undefined, async (store) => ({
		mcp: mcpEndpoint("0.0.0"),
		schedules: createSchedules({
			store,
			clock: systemClock,
			settings: () => scheduleSettings(configSchema.parse({})),
		}),
	}));
	port = await serveOnPort(served.api, { host: "127.0.0.1", port: 0 });
});
afterAll(async () => {
	await port.close();
	await served.close();
});

const NAMES =
	`attachments_fetch chat checkpoint_diff checkpoint_list checkpoint_restore checkpoint_take confirm_consume
	confirm_request confirm_wait conversation_create conversation_get conversations_list events_poll events_wait messages_read
	messages_send outbox_list permissions_list_open permissions_respond process_input process_kill process_list process_log
	schedules_create schedules_delete schedules_get schedules_list schedules_pause schedules_resume schedules_run schedules_runs
	schedules_time schedules_update search sessions_branch sessions_continue sessions_list sessions_new why`.split(
		/\s+/,
	);

async function connected(bearer: string, mode: "auto" | "legacy" = "auto"): Promise<Client> {
	const client = new Client({ name: "tests", version: "1" }, { versionNegotiation: { mode } });
	await client.connect(
		new StreamableHTTPClientTransport(new URL("/mcp", `http://127.0.0.1:${port.port}`), {
			requestInit: { headers: { authorization: `Bearer ${bearer}` } },
		}),
	);
	return client;
}

async function tokenOf(role: TokenRole, name: string): Promise<string> {
	const answer = await served.api.fetch(
		new Request("http://keryx/api/tokens", {
			method: "POST",
			headers: { authorization: `Bearer ${SECRET}`, "content-type": "application/json" },
			body: JSON.stringify({ name, role }),
		}),
	);
	return ((await answer.json()) as { token: string }).token;
}

/** The value of an answer; what was refused is told by its first line. */
async function call(client: Client, name: string, args: Record<string, unknown> = {}): Promise<Told> {
	const answer = await client.callTool({ name, arguments: args });
	const [first] = answer.content as { type: string; text: string }[];
	return answer.isError ? { refused: first?.text ?? "" } : (answer.structuredContent as Told);
}

/** What these tests look at, of all answers. */
interface Told {
	readonly refused?: string;
	readonly id?: string;
	readonly exact?: string;
	readonly message?: number;
	readonly messages?: readonly { readonly role: string }[];
	readonly conversation?: string;
	readonly hits?: readonly { readonly conversation: string }[];
	readonly text?: string;
	readonly cursor?: string;
	readonly events?: readonly { readonly id: string }[];
	readonly confirmations?: readonly { readonly id: string }[];
	readonly status?: string;
	readonly digest?: string;
}

describe.each(["auto", "legacy"] as const)("a client of the protocol: %s", (mode) => {
	test("lists every tool, talks, reads, searches, and is told why", async () => {
		const client = await connected(SECRET, mode);
		const { tools } = await client.listTools();
		expect(tools.map(({ name }) => name).toSorted()).toEqual(NAMES);
		expect(tools.every(({ description, inputSchema }) => description && inputSchema.type === "object")).toBe(
			true,
		);
		const id = `first-${mode}`;
		const chatted = await call(client, "chat", { text: `the ${mode} pelican`, client_message_id: id });
		expect(chatted).toMatchObject({ answered: true, answer: `you said the ${mode} pelican` });
		expect(
			await call(client, "chat", { text: `the ${mode} pelican`, client_message_id: id }),
			"said again under its id, it is said once",
		).toMatchObject({ message: chatted.message });
		const { hits } = await call(client, "search", { query: `${mode} pelican` });
		const conversation = hits?.[0]?.conversation ?? "";
		const { messages } = await call(client, "messages_read", { conversation });
		expect(messages?.filter(({ role }) => role === "user")).not.toHaveLength(0);
		expect(String((await call(client, "why", { message: chatted.message })).text)).toContain(
			"it was answered",
		);
		const read = await client.readResource({ uri: `keryx://conversation/${conversation}` });
		expect(JSON.stringify(read.contents)).toContain(`you said the ${mode} pelican`);
		await client.close();
	});

	test("follows by a cursor, without a gap", async () => {
		const client = await connected(SECRET, mode);
		const { cursor } = await call(client, "events_poll");
		const waiting = call(client, "events_wait", { after_cursor: cursor, timeout_ms: 60_000 });
		const begun = await call(client, "conversation_create", {
			text: "hello",
			client_message_id: `c-${mode}`,
		});
		const first = await waiting;
		expect(first.events).not.toHaveLength(0);
		await expect
			.poll(async () => (await call(client, "messages_read", { conversation: begun.conversation })).messages)
			.toHaveLength(2);
		const rest = await call(client, "events_poll", {
			after_cursor: first.cursor,
			limit: 200,
		});
		const all = await call(client, "events_poll", { after_cursor: cursor, limit: 200 });
		const seen = [...(first.events ?? []), ...(rest.events ?? [])];
		expect(all.events?.slice(0, seen.length), "more may have happened since").toEqual(seen);
		await client.close();
	});
});

test("the guide names every tool", () => {
	const guide = readFileSync(join(import.meta.dirname, "../../docs/guides/mcp-server.md"), "utf8");
	expect(NAMES.filter((name) => !guide.includes(`\`${name}\``))).toEqual([]);
});

describe("a caller has the rights of its token", () => {
	test("an agent asks and waits; it neither decides nor reads what is not its own, and its attempt is noted", async () => {
		const agent = await connected(await tokenOf("agent", "mcp-agent"));
		const asked = await call(agent, "confirm_request", { action: "deploy.it", description: "Deploy?" });
		const { id } = asked;
		expect((await call(agent, "permissions_respond", { id, decision: "allow-once" })).refused).toMatch(
			/^http\.forbidden/,
		);
		expect((await call(agent, "conversations_list")).refused).toMatch(/^http\.forbidden/);
		expect((await call(agent, "messages_send", { conversation: "x", text: "hi" })).refused).toMatch(
			/^http\.forbidden/,
		);
		expect(await call(agent, "chat", { text: "my own" })).toMatchObject({ answer: "you said my own" });
		const approver = await connected(await tokenOf("approver", "mcp-approver"));
		const open = await call(approver, "permissions_list_open");
		expect(open.confirmations?.map((one) => one.id)).toContain(id);
		const waiting = call(agent, "confirm_wait", { id, seconds: 60 });
		await call(approver, "permissions_respond", { id, decision: "allow-once" });
		const decided = await waiting;
		expect(decided.status).toBe("approved");
		expect(await call(agent, "confirm_consume", { id, digest: decided.digest })).toMatchObject({
			status: "consumed",
		});
		const { entries } = (await (
			await served.api.fetch(
				new Request("http://keryx/audit/log?newest=true", { headers: { authorization: `Bearer ${SECRET}` } }),
			)
		).json()) as { entries: { kind: string; who: string }[] };
		expect(
			entries.filter(({ who, kind }) => who === "token:mcp-agent" && kind === "refused"),
		).not.toHaveLength(0);
		await agent.close();
		await approver.close();
	});

	test("the operator makes and manages jobs from exact times", async () => {
		const operator = await connected(SECRET);
		const timing = await call(operator, "schedules_time", { text: "every weekday at 9" });
		const wanted = { task: "prompt", text: "report", model: "openai:gpt-5", name: "Daily" };
		expect(
			(await call(operator, "schedules_create", { ...wanted, when: "every weekday at 9" })).refused,
		).toMatch(/^schedule\.invalid/);
		const { id: job } = await call(operator, "schedules_create", { ...wanted, when: timing.exact });
		expect(await call(operator, "schedules_get", { job })).toMatchObject({
			model: "openai:gpt-5",
			state: "active",
		});
		expect(await call(operator, "schedules_pause", { job })).toMatchObject({ state: "paused" });
		expect(await call(operator, "schedules_resume", { job })).toMatchObject({ state: "active" });
		expect(await call(operator, "schedules_update", { job, model: "default" })).toMatchObject({
			model: null,
		});
		expect(await call(operator, "schedules_runs", { job })).toEqual({ runs: [] });
		await call(operator, "schedules_delete", { job });
		expect(JSON.stringify(await call(operator, "schedules_list"))).not.toContain("Daily");
		await operator.close();
	});

	test("a reader reads, and changes nothing", async () => {
		const reader = await connected(await tokenOf("reader", "mcp-reader"));
		expect(await call(reader, "conversations_list")).toHaveProperty("conversations");
		expect(await call(reader, "schedules_list")).toHaveProperty("jobs");
		for (const [name, args] of [
			["chat", { text: "hi" }],
			["conversation_create", { text: "hi" }],
			["confirm_request", { action: "a", description: "b" }],
			["schedules_create", { when: "0 9 * * *", task: "prompt", text: "x" }],
			["schedules_run", { job: "job_0" }],
		] as const)
			expect((await call(reader, name, args)).refused, name).toMatch(/^http\.forbidden/);
		await reader.close();
	});

	test("without a token there is nothing, and the answer says where to look", async () => {
		const url = new URL("/mcp", `http://127.0.0.1:${port.port}`);
		const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
		const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
		for (const authorization of [undefined, "Bearer wrong"]) {
			const answer = await fetch(url, {
				method: "POST",
				headers: { ...headers, ...(authorization && { authorization }) },
				body,
			});
			expect(answer.status).toBe(401);
			const [, metadata = ""] =
				/resource_metadata="([^"]+)"/.exec(answer.headers.get("www-authenticate") ?? "") ?? [];
			expect(await (await fetch(metadata)).json()).toMatchObject({ resource: url.href });
		}
		const foreign = await fetch(url, {
			method: "POST",
			headers: { ...headers, authorization: `Bearer ${SECRET}`, origin: "https://elsewhere.example" },
			body,
		});
		expect(foreign.status).toBeGreaterThanOrEqual(400);
	});
});

describe("a question as elicitation", () => {
	async function asking(bearer: string, answers: (message: string) => "accept" | "decline") {
		const client = new Client(
			{ name: "tests", version: "1" },
			{ versionNegotiation: { mode: "auto" }, capabilities: { elicitation: { form: {} } } },
		);
		client.setRequestHandler("elicitation/create", async ({ params }) => {
			const action = answers((params as { message: string }).message);
			return action === "accept" ? { action, content: { decision: "allow-once" } } : { action };
		});
		await client.connect(
			new StreamableHTTPClientTransport(new URL("/mcp", `http://127.0.0.1:${port.port}`), {
				requestInit: { headers: { authorization: `Bearer ${bearer}` } },
			}),
		);
		return client;
	}

	test("the person at an approver's program is shown what would be done, and decides", async () => {
		const agent = await connected(await tokenOf("agent", "elicit-agent"));
		const ask = () =>
			call(agent, "confirm_request", {
				action: "deploy.it",
				description: "Deploy?",
				details: { where: "production" },
			});
		const { id } = await ask();
		const shown: string[] = [];
		const approver = await asking(await tokenOf("approver", "elicit-approver"), (message) => {
			shown.push(message);
			return "accept";
		});
		expect(await call(approver, "permissions_respond", { id })).toMatchObject({ status: "approved" });
		expect(shown).toEqual([expect.stringMatching(/deploy\.it: Deploy\?[\s\S]*production/)]);
		const { id: second } = await ask();
		const shy = await asking(await tokenOf("approver", "elicit-shy"), () => "decline");
		expect(await call(shy, "permissions_respond", { id: second })).toMatchObject({ decided: false });
		// Whoever asked does not decide, whatever its person says.
		const greedy = await asking(await tokenOf("agent", "elicit-greedy"), () => "accept");
		const own = await call(greedy, "confirm_request", { action: "deploy.it", description: "Deploy?" });
		expect((await call(greedy, "permissions_respond", { id: own.id })).refused).toMatch(/^http\.forbidden/);
		for (const client of [agent, approver, shy, greedy]) await client.close();
	});
});

test("every tool can be called: it answers, or says in words why not", async () => {
	const client = await connected(SECRET);
	const begun = await call(client, "conversation_create", { text: "hello", client_message_id: "every" });
	const { conversation } = begun;
	const known: Readonly<Record<string, unknown>> = {
		...{ conversation, text: "hi", query: "hello", message: begun.message ?? 1, id: "0000000", data: "" },
		...{
			digest: "0".repeat(64),
			action: "a",
			description: "b",
			decision: "deny",
			seconds: 0,
			timeout_ms: 1000,
		},
		...{ job: "job_0", when: "0 9 * * *", task: "prompt" },
	};
	const { tools } = await client.listTools();
	for (const { name, inputSchema } of tools) {
		const takes = Object.keys(inputSchema.properties ?? {});
		const args = Object.fromEntries(Object.entries(known).filter(([key]) => takes.includes(key)));
		const { content } = await client.callTool({ name, arguments: args });
		expect(content, name).not.toHaveLength(0);
		expect(JSON.stringify(content), name).not.toMatch(/Input validation|internal/i);
	}
	expect(tools).toHaveLength(NAMES.length);
	await client.close();
});
