// Two profiles and none in one Keryx that is put together as the command does it: no key, no text and no file of one reaches
// another, neither through the programs that it starts nor through the models that it asks.
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, expect, test } from "vitest";
import { type Host, openHost } from "../../src/app/host.ts";
import { type CliContext, openConfig } from "../../src/cli/context.ts";
import { apiTransport, createClient } from "../../src/http/index.ts";
import { PROGRAM } from "../acp/support.ts";
import { dataOf, workspacesOf } from "../support/keryx.ts";
import { calls, type ModelServer, type Received, says, startModelServer } from "../support/model-server.ts";

const NAMES = ["main", "work", "home"] as const;
type Name = (typeof NAMES)[number];

const KEYS: Readonly<Record<Name, string>> = {
	main: "sk-main-0123456789",
	work: "sk-work-0123456789",
	home: "sk-home-0123456789",
};
const keyVariable = (name: Name) => `${name.toUpperCase()}_KEY`;

const ends: (() => unknown)[] = [];
afterEach(async () => {
	for (const end of ends.splice(0).toReversed()) await end();
});

/** `main` stands for no profile. */
async function keryx(
	agents: Readonly<Record<Name, object>>,
	rest: object = {},
	surroundings: Readonly<Record<string, string | undefined>> = {},
) {
	const folder = mkdtempSync(join(tmpdir(), "keryx-isolation-"));
	ends.push(() => {
		for (const one of [folder, dataOf(folder)]) rmSync(one, { recursive: true, force: true });
	});
	const { main, ...others } = agents;
	const profiles = Object.fromEntries(Object.entries(others).map(([name, agent]) => [name, { agent }]));
	writeFileSync(
		join(folder, "config.yaml"),
		JSON.stringify({ session_reset: { mode: "none" }, agent: main, profiles, ...rest }),
	);
	const warnings: string[] = [];
	const context: CliContext = {
		env: {
			PATH: process.env.PATH,
			NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
			KERYX_HOME: folder,
			XDG_DATA_HOME: dataOf(folder),
			...Object.fromEntries(NAMES.map((name) => [keyVariable(name), KEYS[name]])),
			...surroundings,
		},
		stdin: Readable.from([]),
		stdout: { write: () => {} },
		stderr: { write: (text) => warnings.push(text) },
		now: () => Date.now(),
		json: false,
		exitWith: () => {},
	};
	const { config, output } = openConfig(context);
	const host = await openHost({ context, config, output, as: "run" });
	ends.push(() => host.close());
	return { folder, warnings, ...talking(host) };
}

/** One person, who talks to each of them. */
function talking({ api }: Host) {
	const client = createClient(apiTransport(api));
	let sent = 0;
	const say = async (to: Name, text: string) => {
		const { id, conversation } = await client.send({
			text,
			client_message_id: `m${++sent}`,
			source: {
				platform: "api_server",
				chat_id: "ada",
				chat_type: "dm",
				user_id: "7",
				...(to !== "main" && { profile: to }),
			},
		});
		const { turn } = await client.inbound({ id, wait: 30 });
		const { deliveries } = await client.turn({ turn: turn as string });
		return {
			conversation: conversation as string,
			answer: deliveries.map(({ plain }) => plain).join(""),
		};
	};
	return { client, say };
}

test("a program sees its own key and no other, no secret, nothing of Keryx's own, and works where no other one does", async () => {
	const program = (name: Name, key: object) => ({
		kind: "acp",
		command: process.execPath,
		args: ["--disable-warning=ExperimentalWarning", PROGRAM, "good", name],
		env_pass: [keyVariable(name)],
		...key,
	});
	const { say, folder, warnings } = await keryx(
		{
			main: program("main", { api_key_env: keyVariable("main") }),
			work: program("work", { api_key_env: keyVariable("work") }),
			// Named only where it is passed on.
			home: program("home", {}),
		},
		{ secrets: ["BOT_TOKEN"] },
		{
			BOT_TOKEN: "token-0123456789",
			ANTHROPIC_API_KEY: "sk-usual-0123456789",
			KERYX_AGENT_MAX_STEPS: "9",
			LANG: "C",
		},
	);

	const places = await Promise.all(
		NAMES.map(async (name) => {
			const { answer, conversation } = await say(name, "where");
			const { cwd, env } = JSON.parse(answer);
			const { PWD, OLDPWD, SHLVL, _, PATH, HOME, TERM, TMPDIR, LANG, ...seen } = env;
			expect(LANG).toBe("C");
			// It said the key's value; what Keryx keeps is the key's name.
			expect(seen).toEqual({ [keyVariable(name)]: `\${secret:${keyVariable(name)}}` });
			expect(cwd).toBe(join(workspacesOf(folder), conversation));
			return cwd as string;
		}),
	);
	expect(new Set(places).size).toBe(3);
	for (const place of places) expect(statSync(place).mode & 0o777).toBe(0o700);
	expect(statSync(workspacesOf(folder)).mode & 0o777).toBe(0o700);

	for (const name of [...NAMES, ...NAMES])
		expect(JSON.parse((await say(name, "leave a note")).answer)).toEqual([`note of ${name}`]);
	expect(warnings).toEqual([]);
});

async function modelServers(): Promise<Readonly<Record<Name, ModelServer>>> {
	const [main, work, home] = await Promise.all([startModelServer(), startModelServer(), startModelServer()]);
	for (const { close } of [main, work, home]) ends.push(close);
	return { main, work, home };
}

const model = (name: Name, { url }: ModelServer) => ({
	kind: "ai-sdk",
	provider: "openai-compatible",
	model: `model-of-${name}`,
	base_url: url,
	api_key_env: keyVariable(name),
	instructions: `You belong to ${name}.`,
	retries: 0,
});

test("a model's provider receives its own key and its own texts, though each model looks for the others'", async () => {
	const servers = await modelServers();
	const { say, client, warnings } = await keryx({
		main: model("main", servers.main),
		work: model("work", servers.work),
		home: model("home", servers.home),
	});
	const sessions = new Map<Name, string>();
	for (const name of NAMES) {
		const { conversation } = await say(name, `the password is heron-${name}`);
		sessions.set(name, (await client.conversation({ conversation })).live_session as string);
	}
	for (const name of NAMES) {
		const readings = NAMES.map((other) => ({
			id: `read_${other}`,
			name: "session_read",
			args: JSON.stringify({ session: sessions.get(other) }),
		}));
		servers[name].next(
			calls({ id: "search", name: "session_search", args: '{"query":"password"}' }, ...readings),
		);
		await say(name, "what do the others say?");
	}

	for (const name of NAMES) {
		const { requests } = servers[name];
		expect(requests).toHaveLength(3);
		for (const { headers } of requests) expect(headers.authorization).toBe(`Bearer ${KEYS[name]}`);
		const all = JSON.stringify(requests);
		expect(all).toContain(`You belong to ${name}.`);
		for (const other of NAMES.filter((other) => other !== name))
			for (const theirs of [
				KEYS[other],
				`heron-${other}`,
				`You belong to ${other}.`,
				`model-of-${other}`,
				keyVariable(other),
			])
				expect(all).not.toContain(theirs);
		const results = resultsIn(requests[2] as Received);
		expect(results.get("search")).toContain(`heron-${name}`);
		for (const other of NAMES)
			expect(results.get(`read_${other}`)).toContain(other === name ? `heron-${name}` : "No session");
	}
	expect(warnings).toEqual([]);
});

test("a profile whose key is missing is answered by nobody, and no other one's key or model stands in", async () => {
	const servers = await modelServers();
	const { say } = await keryx(
		{
			main: model("main", servers.main),
			work: model("work", servers.work),
			home: model("home", servers.home),
		},
		{},
		{ WORK_KEY: undefined, OPENAI_API_KEY: "sk-usual-0123456789" },
	);
	servers.home.next(says("at home"));
	expect((await say("work", "hello")).answer).toMatch(/key is missing/);
	expect((await say("home", "hello")).answer).toBe("at home");
	expect(NAMES.map((name) => servers[name].requests.length)).toEqual([0, 0, 1]);
});

/** What each call brought, by its id. */
function resultsIn({ body }: Received): ReadonlyMap<string, string> {
	const messages: readonly { role: string; tool_call_id: string; content: string }[] =
		JSON.parse(body).messages;
	return new Map(
		messages
			.filter(({ role }) => role === "tool")
			.map(({ tool_call_id, content }) => [tool_call_id, content]),
	);
}
