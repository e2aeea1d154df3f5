// Who sees and does what: every command and tool by role and place, every endpoint by token. The tables of docs/reference/rights.md are
// made here; `KERYX_WRITE_DOCS=1 npx vitest run test/rights-matrix.test.ts` writes them anew.
import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { StepAgent } from "../src/agents/index.ts";
import { NO_USAGE } from "../src/agents/types.ts";
import { COMMANDS } from "../src/gateway/commands/index.ts";
import { sendTool } from "../src/gateway/index.ts";
import { endpoints } from "../src/http/endpoints.ts";
import { NO_SECRETS } from "../src/secrets/index.ts";
import { systemClock } from "../src/time/index.ts";
import { createAttachTool, createWebFetchTool } from "../src/tools/index.ts";
import { Scene } from "./gateway/support.ts";
import { loginOf, onPort, type Ported, SECRET } from "./http/port.ts";
import { ProcessHome } from "./support/process-home.ts";

const DOCUMENT = new URL("../docs/reference/rights.md", import.meta.url);

const PEOPLE = ["owner", "member", "guest", "stranger"] as const;
const PLACES = {
	"private chat": (user: string) => ({ chat: user, user }),
	"shared thread": (user: string) => ({ chat: "room", chatType: "thread" as const, thread: "t", user }),
	"group, a conversation each": (user: string) => ({ chat: "team", chatType: "group" as const, user }),
};
type Place = keyof typeof PLACES;
const PLACE_NAMES = Object.keys(PLACES) as Place[];

/** What each command is tried with, where it needs something behind its name. */
const ARGUMENTS: Readonly<Record<string, string>> = {
	title: "mine",
	busy: "steer",
	model: "other",
	verbose: "all",
	extend: "5",
	resume: "1",
	kill: "proc_1234",
	deny: "no",
	sessions: "secret*",
};

/** Answers with the names of the tools it was given, or searches where it is told to. */
function lister(): StepAgent {
	return {
		kind: "step",
		name: "lister",
		async *step({ history, tools }) {
			const last = history.at(-1);
			const text = JSON.stringify(last?.content ?? "");
			const searches = last?.role === "user" && last.kind === "person" && text.includes("please search");
			const toolCalls = searches
				? [{ id: `c${history.length}`, name: "session_search", input: { query: "private*" } }]
				: [];
			const content = searches
				? "one moment"
				: `tools: ${tools.map(({ name }) => name).join(" ")}; found: ${last?.role === "tool" ? text : ""}`;
			yield {
				type: "done",
				message: { content, toolCalls, finishReason: "stop" },
				usage: { ...NO_USAGE, provider: "lister", model: "lister" },
			};
		},
	};
}

let scene: Scene;
let programs: ProcessHome;
beforeAll(async () => {
	programs = new ProcessHome();
	scene = await Scene.start({
		agent: lister,
		programs,
		tools: [
			createAttachTool({ workspaceOf: () => programs.path, limit: () => 0 }),
			sendTool({
				sending: () => scene.gateway.sending,
				workspaceOf: () => programs.path,
				limit: () => 0,
			}),
			createWebFetchTool({
				clock: systemClock,
				secrets: NO_SECRETS,
				mode: () => "manual",
				limits: () => ({ allowPrivate: [], bytes: 1, ms: 1 }),
			}),
		],
		config: {
			auth: {
				telegram: {
					allow: [
						{ id: "owner", role: "owner" },
						{ id: "member", role: "member" },
						{ id: "guest", role: "guest" },
					],
				},
			},
			session_reset: { max_messages: 500 },
		},
	});
	for (const who of PEOPLE) await scene.say(`private words of ${who}`, PLACES["private chat"](who));
	for (const who of PEOPLE) await scene.say("hello", PLACES["group, a conversation each"](who));
	await scene.say("hello", PLACES["shared thread"]("owner"));
});
afterAll(async () => {
	await scene.end();
	await programs.end();
});

/** What the chat shows after somebody wrote, and nothing of what it showed before. */
async function answer(who: string, place: Place, text: string): Promise<string> {
	const saying = PLACES[place](who);
	const before = scene.texts(saying.chat).length;
	await scene.say(text, saying);
	await scene.clock.advance(1000);
	return scene.texts(saying.chat).slice(before).join("\n");
}

async function commandCell(who: string, place: Place, name: string): Promise<string> {
	const said = await answer(who, place, `/${name} ${ARGUMENTS[name] ?? ""}`.trim());
	if (said === "") return "no answer";
	if (said.startsWith("You cannot use /")) return "no";
	if (
		said.startsWith("Nothing was changed. In a shared") ||
		said.startsWith("Nothing was changed. Only the owner")
	)
		return "reads";
	return "yes";
}

async function commandTable(): Promise<string> {
	const rows: string[] = [];
	for (const { name } of COMMANDS) {
		const cells: string[] = [];
		for (const place of PLACE_NAMES)
			cells.push((await inTurn(PEOPLE, (who) => commandCell(who, place, name))).join(" / "));
		rows.push(`| \`/${name}\` | ${cells.join(" | ")} |`);
	}
	return table(["command", ...PLACE_NAMES], rows);
}

async function inTurn<Item, Result>(
	items: readonly Item[],
	work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
	const results: Result[] = [];
	for (const item of items) results.push(await work(item));
	return results;
}

async function toolTable(): Promise<string> {
	const rows: string[] = [];
	for (const who of PEOPLE)
		for (const place of PLACE_NAMES) {
			const [, names = ""] = /tools: ([^;]*);/.exec(await answer(who, place, "what have you got?")) ?? [];
			const said = await answer(who, place, "please search");
			const found = [...said.matchAll(/private words of (\w+)/g)].map(([, owner]) => owner);
			// Whoever is let in at all finds their own words, and those alone.
			for (const owner of found) expect(owner).toBe(who);
			const reach = said === "" ? "nothing" : found.length > 0 ? "all of theirs" : "this conversation";
			const own = names
				.split(" ")
				.filter((name) => !["effect", "fail", "slow", "danger"].includes(name))
				.join(", ");
			rows.push(`| ${who} | ${place} | ${own || "no answer"} | ${reach} |`);
		}
	return table(["who", "where", "tools", "search and sessions reach"], rows);
}

function table(head: readonly string[], rows: readonly string[]): string {
	return [`| ${head.join(" | ")} |`, `|${"---|".repeat(head.length)}`, ...rows].join("\n");
}

describe("the tables of docs/reference/rights.md", () => {
	let keryx: Ported;
	beforeAll(async () => {
		keryx = await onPort({});
	});
	afterAll(() => keryx.close());

	async function endpointTable(): Promise<string> {
		const roles = ["operator", "approver", "agent", "reader", "channel"] as const;
		// Of the channel that is asked for below.
		const bound = { channel: "none" };
		const tokens = await Promise.all(
			roles.map((role) => keryx.token(role, { name: `matrix-${role}`, ...(role === "channel" && bound) })),
		);
		const people = ["member", "guest"] as const;
		const logins = await inTurn(people, async (role) => {
			const body = { person: `matrix-${role}`, role };
			const { body: link } = await keryx.call("POST", "/api/logins", { bearer: SECRET, body });
			const login = loginOf(await keryx.call("GET", link.path as string));
			return { headers: { ...login, origin: `http://127.0.0.1:${keryx.port}` } };
		});
		const callers = [...tokens.map((bearer) => ({ bearer })), ...logins, {}];
		const rows: string[] = [];
		const seen = new Set<string>();
		const paths = [
			...Object.values(endpoints).map(({ method, path }) => ({ method: method.toUpperCase(), path })),
			...["approve", "deny", "cancel", "consume"].map((verb) => ({
				method: "POST",
				path: `/confirm/{id}/${verb}`,
			})),
			{ method: "POST", path: "/confirm" },
			{ method: "GET", path: "/confirm" },
			{ method: "GET", path: "/grants" },
			{ method: "POST", path: "/grants" },
			{ method: "GET", path: "/audit" },
			{ method: "GET", path: "/audit/log" },
			{ method: "GET", path: "/audit/verify" },
			{ method: "GET", path: "/health" },
		];
		for (const { method, path } of paths) {
			if (seen.has(`${method} ${path}`)) continue;
			seen.add(`${method} ${path}`);
			const asked = path.replace(/\{[^}]+\}/g, "none");
			const cells = await inTurn(callers, async (caller) => {
				const { status } = await keryx.call(method, asked, {
					...caller,
					...(method !== "GET" && method !== "DELETE" && { body: {} }),
				});
				return status === 401 || status === 403 ? "no" : "yes";
			});
			rows.push(`| \`${method} ${path}\` | ${cells.join(" | ")} |`);
		}
		return table(
			["call", ...roles.map((role) => `${role} token`), ...people.map((role) => `${role} login`), "nobody"],
			rows.sort(),
		);
	}

	test("say what is so", async () => {
		const made = {
			tools: await toolTable(),
			commands: await commandTable(),
			endpoints: await endpointTable(),
		};
		const before = readFileSync(DOCUMENT, "utf8");
		const after = Object.entries(made).reduce(
			(text, [name, content]) =>
				text.replace(
					new RegExp(`<!-- ${name} -->[\\s\\S]*?<!-- end -->`),
					() => `<!-- ${name} -->\n${content}\n<!-- end -->`,
				),
			before,
		);
		if (process.env.KERYX_WRITE_DOCS) writeFileSync(DOCUMENT, after);
		else expect(after).toBe(before);
	});
});
