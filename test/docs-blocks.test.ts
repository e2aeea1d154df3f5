// Every code block of the documents does what it shows. Shell blocks run in a home of their own with a Keryx that runs, programs run on
// the sources, configuration is checked. Blocks that cannot run here are marked `example` in the document and named below, with the
// reason; their commands and options are still checked.
import { execFile, spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { COMMANDS } from "../src/gateway/commands/index.ts";
import { type Block, blocksOf, documents, ROOT } from "./support/documents.ts";
import { onSources } from "./support/guides.ts";
import { call, commandIn, type Gateway, MAIN, NODE_OPTIONS } from "./support/keryx.ts";

/** Blocks that another test runs. */
const ELSEWHERE: Readonly<Record<string, string>> = {
	"docs/guides/adding-a-channel.md js": "test/channels/setup.test.ts",
	"docs/guides/adding-a-channel.md yaml": "test/channels/setup.test.ts",
	"docs/guides/confirmations.md ts": "test/guides.test.ts",
	"docs/guides/embedding.md ts": "test/app/embedding.test.ts",
	"docs/guides/testing.md ts": "test/guides.test.ts, test/app/embedding.test.ts",
	"docs/guides/testing.md yaml": "test/guides.test.ts",
	"docs/guides/behind-tls.md nginx": "test/page/behind-tls.test.ts",
	"docs/reference/store.md sh": "test/backup.test.ts",
};

/** Blocks that cannot run here, by their first line. */
const EXAMPLES: Readonly<Record<string, string>> = {
	"npm start        # installs, builds and runs Keryx; prints a link to its page": "runs until it is stopped",
	"npm start": "runs until it is stopped",
	"keryx channels add discord": "needs a real token",
	"keryx channels add irc --server irc.libera.chat --nick keryx --join '#keryx'":
		"connects to a real network",
	"keryx channels add irc --server irc.libera.chat --nick keryx --login keryx --join '#keryx'":
		"needs a real account",
	"keryx channels add email --address keryx@example.org --imap-server imap.example.org --smtp-server smtp.example.org --authserv-id mx.example.org":
		"needs a real mailbox",
	"keryx channels add xmpp --jid keryx@example.org": "needs a real account",
	"keryx channels add matrix --homeserver https://matrix.example.org --user @keryx:example.org":
		"needs a real account",
	"keryx channels add slack": "needs real tokens",
	"keryx channels add slack --signing-secret": "needs real tokens",
	"keryx channels add telegram": "needs a real token",
	"keryx channels add telegram --webhook-url https://bot.example.org": "needs a real token",
	"keryx pair approve discord <code> --role owner": "needs the code that a stranger was sent",
	"keryx pair approve email <code> --role owner": "needs the code that a stranger was sent",
	"keryx pair approve irc <code> --role owner": "needs the code that a stranger was sent",
	"keryx pair approve matrix <code> --role owner": "needs the code that a stranger was sent",
	"keryx pair approve slack <code> --role owner": "needs the code that a stranger was sent",
	"keryx pair approve telegram <code> --role owner": "needs the code that a stranger was sent",
	"keryx pair approve xmpp <code> --role owner": "needs the code that a stranger was sent",
	"npm run peer -- discord": "runs until it is stopped",
	"npm run peer -- slack": "runs until it is stopped",
	"npm run peer -- telegram": "runs until it is stopped",
	"KERYX_URL=http://127.0.0.1:7717 KERYX_CHANNEL=carrier KERYX_TOKEN=kx_... CARRIER_URL=http://127.0.0.1:9000 \\":
		"runs until it is stopped; test/channels/bridge.test.ts starts it",
	"export ANTHROPIC_API_KEY=...": "needs a real key",
	"keryx update --check   # is there a newer version?": "asks the registry; test/update.test.ts updates",
	"keryx update --to 1.4.2": "asks the registry; test/update.test.ts updates",
	"keryx restore keryx.backup --check   # is it complete?":
		"stops Keryx; test/keeping/backup.test.ts runs it",
	"keryx archive run --dry-run              # what would be archived now":
		"needs archives; test/keeping/retention.test.ts",
	"tailscale serve --bg 7717": "needs Tailscale",
	"CREATE USER keryx PASSWORD 'choose one';": "needs a PostgreSQL server",
	"keryx store move sqlite: postgres://keryx@db.example.org/keryx":
		"needs a PostgreSQL server; test/postgres/move.test.ts moves both ways",
	"docker compose up --build --detach": "needs an engine for containers",
	"docker compose -f compose.yaml -f compose.postgres.yaml up --build --detach":
		"needs an engine for containers",
	"export COMPOSE_FILE=compose.yaml:compose.postgres.yaml": "needs an engine for containers",
	"keryx service uninstall     # or: keryx stop": "needs a service; test/keeping/backup.test.ts moves a home",
	"docker compose up --build --detach db keryx-a": "needs an engine for containers",
	"upstream keryx {": "needs several machines; test/page/nodes.test.ts has a load balancer of its own",
	"npm install --global keryx": "needs the published package and a service manager",
	"keryx mcp add files -- npx -y @modelcontextprotocol/server-filesystem ~/notes": "fetches a package",
	'import { connectHost, createSshBackend } from "keryx/processes";': "needs another machine",
	"const cluster = await createCluster({": "needs a database server; test/postgres/storm.test.ts runs one",
	"const keryx = await createKeryx({": "a part of the programs below it, which run",
	'import { describe, test } from "node:test";': "needs a channel of your own",
};

const blocks = documents()
	.filter((file) => file !== "docs/errors.md" && !file.startsWith("docs/reference/classifier-"))
	.flatMap(blocksOf);
const isExample = ({ marks }: Block): boolean => marks.includes("example");
const elsewhere = ({ file, language }: Block): boolean => `${file} ${language}` in ELSEWHERE;
const here = (...languages: string[]): [string, Block][] =>
	blocks
		.filter((block) => languages.includes(block.language) && !isExample(block) && !elsewhere(block))
		.map((block) => [`${block.file}:${block.line}`, block]);

const root = mkdtempSync(join(tmpdir(), "keryx-docs-"));
const home = join(root, "home");
const keryxHome = join(home, ".keryx");
const env: Record<string, string> = {};
let gateway: Gateway;
/** Each command is a process of its own. */
const PATIENCE = 300_000;

beforeAll(async () => {
	mkdirSync(keryxHome, { recursive: true, mode: 0o700 });
	mkdirSync(join(root, "bin"));
	symlinkSync(join(ROOT, "node_modules"), join(root, "node_modules"));
	writeFileSync(
		join(root, "bin", "keryx"),
		`#!/bin/sh\nexec "${process.execPath}" ${NODE_OPTIONS.join(" ")} "${MAIN}" "$@"\n`,
	);
	chmodSync(join(root, "bin", "keryx"), 0o755);
	// A refusal of the API is a failure of the block.
	writeFileSync(join(home, ".curlrc"), "fail-with-body\nsilent\nshow-error\n");
	const hooks = blocks.find(({ code }) => code.startsWith("webhooks:"));
	writeFileSync(join(keryxHome, "config.yaml"), hooks?.code ?? "");
	Object.assign(env, {
		HOME: home,
		KERYX_HOME: keryxHome,
		XDG_DATA_HOME: join(root, "data"),
		PATH: `${join(root, "bin")}:${join(process.execPath, "..")}:${process.env.PATH}`,
		DEPLOY_SECRET: "secret-of-the-deployments-0123456789",
		KERYX_HTTP_PORT: "0",
		NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(root, "compiled"),
		TZ: "UTC",
	});
	gateway = await commandIn(root).start(keryxHome, [], env);
	const json = async (...args: string[]) =>
		JSON.parse((await shell(`keryx --json ${args.join(" ")}`)).stdout) as Record<string, string>;
	env.ADDRESS = new URL((await json("link")).url as string).host;
	env.TOKEN = (await json("token create docs --role operator")).token as string;
	env.KERYX_TOKEN = env.TOKEN;
	env.AGENT = (await json("token create docs-agent --role agent")).token as string;
	const body = JSON.stringify({ action: "drop_table", description: "drop the old table" });
	const asked = await fetch(`http://${env.ADDRESS}/confirm`, {
		method: "POST",
		headers: { authorization: `Bearer ${env.AGENT}`, "content-type": "application/json" },
		body,
	});
	env.ID = ((await asked.json()) as { id: string }).id;
}, PATIENCE);
afterAll(async () => {
	await gateway?.stop();
	rmSync(root, { recursive: true, force: true });
});

/** With the address of the Keryx that runs here in place of the usual one. */
function readied(code: string): string {
	return code.replaceAll("127.0.0.1:7717", env.ADDRESS ?? "127.0.0.1:7717");
}

function shell(code: string): Promise<{ code: number; stdout: string; said: string }> {
	return new Promise((resolve) => {
		const child = execFile(
			"bash",
			["--norc", "-eu", "-o", "pipefail", "-c", readied(code)],
			{ cwd: home, env },
			(error, stdout, stderr) =>
				resolve({
					code: typeof error?.code === "number" ? error.code : error ? 1 : 0,
					stdout,
					said: stdout + stderr,
				}),
		);
		child.stdin?.end();
	});
}

function program(code: string, name: string): Promise<{ code: number | null; said: string }> {
	const file = join(root, `${name}.mts`);
	writeFileSync(file, onSources(readied(code)));
	const child = spawn(process.execPath, [...NODE_OPTIONS, file], { cwd: home, env });
	let said = "";
	for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (said += data));
	return new Promise((resolve) => child.on("close", (exit) => resolve({ code: exit, said })));
}

test("every block says what it is, and what cannot run is named with its reason", () => {
	const known = ["sh", "console", "text", "nginx", "sql", "yaml", "json", "ts", "js"];
	expect(
		blocks.filter(({ language }) => !known.includes(language)).map(({ file, line }) => `${file}:${line}`),
	).toEqual([]);
	const examples = blocks.filter(isExample).map(({ code }) => code.split("\n")[0] as string);
	expect(new Set(examples)).toEqual(new Set(Object.keys(EXAMPLES)));
	for (const place of Object.keys(ELSEWHERE))
		expect(
			blocks.some((block) => `${block.file} ${block.language}` === place),
			place,
		).toBe(true);
});

describe("configuration", () => {
	test.each(here("yaml"))("%s is right", async (name, { marks, code }) => {
		if (marks.includes("manifest")) return expect(parse(code)).toBeTypeOf("object");
		const file = join(root, `${name.replace(/\W+/g, "-")}.yaml`);
		writeFileSync(file, code);
		const {
			code: exit,
			stdout,
			stderr,
		} = await call(["config", "check", file], { env: { KERYX_HOME: root } });
		expect({ exit, said: stdout + stderr }).toEqual({ exit: 0, said: expect.any(String) });
	});
});

describe("JSON", () => {
	test.each(here("json"))("%s is JSON", (_name, { marks, code }) => {
		expect(JSON.parse(code)).toBeTypeOf("object");
		const [, file] = marks.map((mark) => /^file=([\w.-]+)$/.exec(mark)).find(Boolean) ?? [];
		if (file !== undefined) writeFileSync(join(home, file), code);
	});
});

describe("shell", () => {
	test.each(here("sh"))(
		"%s runs",
		async (_name, { code }) => {
			expect(await shell(code)).toMatchObject({ code: 0, said: expect.any(String) });
		},
		PATIENCE,
	);
});

describe("programs", () => {
	test.each(here("ts", "js"))(
		"%s runs",
		async (name, { code }) => {
			expect(await program(code, name.replace(/\W+/g, "-"))).toEqual({ code: 0, said: expect.any(String) });
		},
		PATIENCE,
	);
});

/** Command lines of Keryx in a terminal session, or in a block that cannot run here. */
function commandLines({ language, code }: Block): string[] {
	const line = language === "console" ? /^\$ .*?\bkeryx ([a-z].*)$/gm : /^\s*keryx ([a-z].*?)(?:\s+#.*)?$/gm;
	return [...code.matchAll(line)].map(([, words]) => words as string);
}

const helps = new Map<string, ReturnType<typeof call>>();
function helpOf(path: readonly string[]): ReturnType<typeof call> {
	const known = helps.get(path.join(" ")) ?? call(["help", ...path]);
	helps.set(path.join(" "), known);
	return known;
}

describe("commands that do not run here", () => {
	const examples = blocks
		.filter((block) => block.language === "sh" && isExample(block) && commandLines(block).length > 0)
		.map((block): [string, Block] => [`${block.file}:${block.line}`, block]);
	test.each([...here("console"), ...examples])("%s shows commands that there are", async (_name, block) => {
		const lines = commandLines(block);
		expect(lines.length).toBeGreaterThan(0);
		for (const line of lines) {
			const words = line
				.replace(/ -- .*$/, "")
				.replace(/"[^"]*"|'[^']*'/g, "x")
				.split(/\s+/);
			const first = words.findIndex((word) => word.startsWith("-"));
			const named = first === -1 ? words : words.slice(0, first);
			const path = named.filter((word) => /^[a-z]+$/.test(word)).slice(0, 2);
			const { code: exit, stdout } = await helpOf(path);
			expect({ line, exit }).toEqual({ line, exit: 0 });
			for (const option of words.filter((word) => /^--?[a-z]/.test(word)))
				expect({ line, help: stdout }).toEqual({ line, help: expect.stringContaining(option) });
		}
	});
});

describe("chats", () => {
	const names = new Set(COMMANDS.flatMap(({ name, aliases = [] }) => [name, ...aliases]));
	test.each(here("text").filter(([, { marks }]) => marks.includes("chat")))(
		"%s shows commands that there are",
		(_name, { code }) => {
			for (const [, name] of code.matchAll(/^you:\s+\/(\w+)/gm)) expect(names).toContain(name);
		},
	);
});
