// `keryx confirmd` as a process of its own, over its port, and the commands that reach it by its database.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { readOptions } from "../src/cli/commands/confirmd/options.ts";
import { asJson, call, commandIn, type Gateway } from "./support/keryx.ts";

const root = mkdtempSync(join(tmpdir(), "keryx-confirmd-"));
const { keryx, start } = commandIn(root);
const started = new Set<Gateway>();
afterAll(async () => {
	await Promise.all([...started].map((one) => one.stop("SIGKILL")));
	rmSync(root, { recursive: true, force: true });
});

interface Daemon extends Gateway {
	readonly url: string;
	readonly compat_url: string | null;
	readonly db_path: string;
}

function newHome(name: string, yaml = ""): string {
	const home = join(root, name);
	mkdirSync(home, { mode: 0o700 });
	writeFileSync(join(home, "config.yaml"), yaml);
	return home;
}

async function confirmd(home: string, args: readonly string[], env = {}): Promise<Daemon> {
	const daemon = await start(home, ["confirmd", "--json", ...args], env);
	started.add(daemon);
	return { ...daemon, ...JSON.parse(daemon.said) };
}

function ask(url: string, token: string | null, body: object = {}): Promise<Response> {
	return fetch(`${url}/confirm`, {
		method: "POST",
		headers: {
			"content-type": "application/json",
			...(token !== null && { authorization: `Bearer ${token}` }),
		},
		body: JSON.stringify({ action: "drop_table", description: "the old one", ...body }),
	});
}

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

test("a program asks, a person answers at the command line, and a restart forgets nothing", async () => {
	const home = newHome("life");
	const env = { KERYX_HOME: home };
	const db = ["--db-path", join(home, "confirmations.db")];
	// Before it has ever run.
	const token = (await call(["token", "create", "ci", "--role", "agent", ...db], { env })).stdout.trim();
	const first = await confirmd(home, ["--port", "0"]);
	expect(first.db_path).toBe(db[1]);
	for (const file of [
		"confirmations.db",
		"confirmations.db.audit.key",
		"confirmations.db.sock",
		"operator.secret",
	])
		expect([file, statSync(join(home, file)).mode & 0o777]).toEqual([file, 0o600]);
	expect(existsSync(join(home, "audit.key"))).toBe(false);
	const asked = await ask(first.url, token, { timeout_seconds: 600 });
	expect(asked.status).toBe(202);
	const { id, digest } = (await asked.json()) as { id: string; digest: string };
	const deadline = async (url: string) =>
		((await (await fetch(`${url}/confirm/${id}`, bearer(token))).json()) as { expires_at: number })
			.expires_at;
	const before = await deadline(first.url);
	expect(await first.stop()).toBe(0);
	expect(existsSync(`${db[1]}.sock`)).toBe(false);

	// Without it the commands open its database; Keryx's own is not touched.
	const list = asJson(await call(["confirm", "list", "--json", ...db], { env })).confirmations;
	expect(list).toMatchObject([{ id, status: "pending", asked_by: "token:ci" }]);
	const here = await call(["confirm", "deny", id], { env });
	expect([here.code, here.stderr]).toEqual([
		1,
		expect.stringContaining(`look there with --db-path ${db[1]}`),
	]);

	const second = await confirmd(home, ["--port", "0"]);
	expect(await deadline(second.url)).toBe(before);
	const waiting = fetch(`${second.url}/confirm/${id}?wait=60`, bearer(token));
	const approved = await call(["confirm", "approve", id.slice(0, 8), "--yes", ...db], { env });
	expect(approved).toMatchObject({ code: 0, stderr: "" });
	expect(await (await waiting).json()).toMatchObject({ status: "approved", resolved_by: "operator" });
	const consume = () =>
		fetch(`${second.url}/confirm/${id}/consume`, {
			method: "POST",
			headers: { ...bearer(token).headers, "content-type": "application/json" },
			body: JSON.stringify({ digest }),
		});
	expect([(await consume()).status, (await consume()).status]).toEqual([200, 409]);
	expect((await call(["confirm", "audit", "--verify", ...db], { env })).code).toBe(0);

	expect((await fetch(`${second.url}/confirm`, bearer(token))).status).toBe(200);
	await call(["token", "revoke", "ci", ...db], { env });
	expect((await fetch(`${second.url}/confirm`, bearer(token))).status).toBe(401);
	expect(await second.stop("SIGINT")).toBe(0);
});

describe("while it runs", () => {
	test("it serves confirmations alone, to whoever shows a token", async () => {
		const home = newHome("alone");
		const daemon = await confirmd(home, ["--port", "0", "--compat-port", "0"]);
		const secret = readFileSync(join(home, "operator.secret"), "utf8").trim();
		const status = async (path: string, token?: string) =>
			(await fetch(daemon.url + path, token === undefined ? {} : bearer(token))).status;
		expect(await status("/health")).toBe(200);
		expect(await status("/confirm")).toBe(401);
		expect(await status("/confirm", "x".repeat(43))).toBe(401);
		for (const path of ["/confirm", "/grants", "/audit/verify", "/api/tokens"])
			expect([path, await status(path, secret)]).toEqual([path, 200]);
		for (const path of ["/api/conversations", "/events", "/login", "/openapi.json", "/confirmed"])
			expect([path, await status(path, secret)]).toEqual([path, 404]);

		const compat = daemon.compat_url as string;
		const asked = await ask(compat, null);
		expect(asked.status).toBe(202);
		const { id } = (await asked.json()) as { id: string };
		expect((await fetch(`${compat}/confirm/${id}`)).status).toBe(200);
		for (const verb of ["approve", "deny"])
			expect(
				(await fetch(`${compat}/confirm/${id}/${verb}`, { method: "POST", ...bearer(secret) })).status,
			).toBe(401);
		expect(
			asJson(
				await call(["confirm", "show", id, "--json", "--db-path", daemon.db_path], {
					env: { KERYX_HOME: home },
				}),
			),
		).toMatchObject({ confirmation: { status: "pending" } });

		// A second one finds the database taken, and one of another database the port.
		const taken = await keryx(["confirmd", "--port", "0", "--json"], { env: { KERYX_HOME: home } });
		expect([taken.code, asJson(taken).error.code]).toEqual([1, "store.owned"]);
		const port = new URL(daemon.url).port;
		const other = ["confirmd", "--port", port, "--db-path", join(home, "other.db"), "--json"];
		const busy = await keryx(other, { env: { KERYX_HOME: home } });
		expect([busy.code, asJson(busy).error]).toEqual([
			1,
			expect.objectContaining({
				code: "http.port",
				field: "--port",
				hint: expect.stringContaining("another --port"),
			}),
		]);
		await daemon.stop();
	});

	test("it is told where to listen by the earlier daemon's variables, and options win", async () => {
		const home = newHome("variables", "confirmations: {rate_limit: 50}\n");
		const variables = {
			CONFIRMATION_HOST: "localhost",
			CONFIRMATION_PORT: "0",
			CONFIRMATION_RATE_LIMIT: "2",
		};
		const tries = async (daemon: Daemon, token: string, action: string) => {
			const answers: number[] = [];
			while (answers.at(-1) !== 429) answers.push((await ask(daemon.url, token, { action })).status);
			await daemon.stop();
			return answers;
		};
		const first = await confirmd(home, [], variables);
		expect(first.url).toMatch(/^http:\/\/localhost:\d+$/);
		const create = ["token", "create", "ci", "--role", "agent", "--db-path", first.db_path];
		const token = (await call(create, { env: { KERYX_HOME: home } })).stdout.trim();
		expect(await tries(first, token, "one")).toEqual([202, 202, 429]);
		const second = await confirmd(home, ["--host", "127.0.0.1", "--rate-limit", "1"], variables);
		expect(second.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
		expect(await tries(second, token, "two")).toEqual([202, 429]);
	});

	test("a webhook is told, signed as the guide checks it, and a chat is not", async () => {
		const heard: { headers: IncomingHttpHeaders; body: string }[] = [];
		const told = Promise.withResolvers<void>();
		const hook = createServer((request, response) => {
			let body = "";
			request.on("data", (data) => (body += data));
			request.on("end", () => {
				heard.push({ headers: request.headers, body });
				response.end();
				told.resolve();
			});
		});
		await new Promise<void>((ready) => hook.listen(0, "127.0.0.1", ready));
		const address = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/secret-path`;
		const home = newHome("webhook", 'confirmations: {notify: [{platform: telegram, chat_id: "42"}]}\n');
		const args = ["--port", "0", "--webhook", address, "--webhook-secret-env", "HOOK"];
		const daemon = await confirmd(home, args, { HOOK: "the secret of the hook" });
		try {
			const env = { KERYX_HOME: home };
			const create = ["token", "create", "ci", "--role", "agent", "--db-path", daemon.db_path];
			const made = await call(create, { env });
			expect(made.stderr).toBe("");
			const asked = await ask(daemon.url, made.stdout.trim());
			const { id, told: isTold } = (await asked.json()) as { id: string; told: boolean };
			expect(isTold).toBe(true);
			await told.promise;
			const [{ headers, body } = { headers: {}, body: "" }] = heard;
			expect(JSON.parse(body)).toMatchObject({ event: "confirmation.requested", confirmation: { id } });
			const isFromKeryx = await guideCheck();
			const given = new Headers(headers as Record<string, string>);
			expect(isFromKeryx(given, body, "the secret of the hook")).toBe(true);
			expect(isFromKeryx(given, `${body} `, "the secret of the hook")).toBe(false);
			expect(isFromKeryx(given, body, "another secret")).toBe(false);
			expect(
				isFromKeryx(
					new Headers({ ...headers, "x-keryx-timestamp": "1" } as never),
					body,
					"the secret of the hook",
				),
			).toBe(false);
		} finally {
			await daemon.stop();
			await new Promise((done) => hook.close(done));
		}
	});
});

/** The function of the guide, as it stands there. */
async function guideCheck(): Promise<(headers: Headers, body: string, secret: string) => boolean> {
	const guide = readFileSync(new URL("../docs/guides/confirmations.md", import.meta.url), "utf8");
	const [code] = [...guide.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, text]) => text as string);
	const file = join(root, "check.mts");
	writeFileSync(file, code as string);
	return (await import(pathToFileURL(file).href)).isFromKeryx;
}

test("a person at a terminal is told where it listens and how to make a token", async () => {
	const home = newHome("words");
	const daemon = await start(home, ["confirmd", "--port", "0"]);
	started.add(daemon);
	expect(daemon.said).toMatch(
		/^confirmd listens on http:\/\/127\.0\.0\.1:\d+; its database is .*confirmations\.db\n/,
	);
	expect(await daemon.stop()).toBe(0);
});

describe("its options", () => {
	const read = (flags: object, env = {}) => readOptions(flags, env, "/home/ann/.keryx");

	test("have defaults of their own", () => {
		expect(read({}, { CONFIRMATION_PORT: "" })).toEqual({
			host: "127.0.0.1",
			port: 7716,
			dbPath: "/home/ann/.keryx/confirmations.db",
			rateLimit: undefined,
			webhook: undefined,
			compatPort: null,
		});
	});

	test.each([
		[{ port: "70000" }, {}, "--port"],
		[{}, { CONFIRMATION_PORT: "http" }, "CONFIRMATION_PORT"],
		[{ rateLimit: "0" }, {}, "--rate-limit"],
		[{}, { CONFIRMATION_RATE_LIMIT: "-1" }, "CONFIRMATION_RATE_LIMIT"],
		[{ dbPath: "" }, {}, "--db-path"],
		[{ compatPort: "x" }, {}, "--compat-port"],
		[{ webhook: "ftp://x", webhookSecretEnv: "S" }, { S: "s" }, "--webhook"],
		[{ webhook: "http://x", webhookSecretEnv: "S" }, {}, "--webhook-secret-env"],
		[{ webhook: "http://x", webhookSecretEnv: "S" }, { S: "fifteen bytes.." }, "--webhook-secret-env"],
	])("%j with %j is refused, naming %s", (flags, env, field) => {
		expect(() => read(flags, env)).toThrow(expect.objectContaining({ code: "argument.invalid", field }));
	});

	test("a webhook needs its secret, and a secret its webhook", () => {
		for (const flags of [{ webhook: "http://x" }, { webhookSecretEnv: "S" }])
			expect(() => read(flags, { S: "s" })).toThrow(expect.objectContaining({ code: "usage.invalid" }));
	});
});

test("a database that is not there is not made by looking at it", async () => {
	const file = join(root, "nowhere.db");
	const env = { KERYX_HOME: newHome("nowhere") };
	const list = await call(["confirm", "list", "--db-path", file, "--json"], { env });
	expect([list.code, asJson(list).error.code]).toEqual([1, "store.not_found"]);
	expect(existsSync(file)).toBe(false);
});

test("where a socket cannot be beside the database it does not run, and the commands work all the same", async () => {
	const env = { KERYX_HOME: newHome("long") };
	const deep = join(root, "long", "x".repeat(120));
	mkdirSync(deep);
	const db = ["--db-path", join(deep, "c.db"), "--json"];
	expect((await call(["token", "create", "ci", "--role", "agent", ...db], { env })).code).toBe(0);
	const refused = await call(["confirmd", "--port", "0", ...db], { env });
	expect([refused.code, asJson(refused).error.field]).toEqual([1, "--db-path"]);
	expect(asJson(await call(["token", "list", ...db], { env })).tokens).toMatchObject([{ name: "ci" }]);
});
