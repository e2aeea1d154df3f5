// `keryx` as it is started: where it listens, what it prints, and what it leaves in its home.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { freePort } from "../support/free-port.ts";
import { commandIn, MAIN, NODE_OPTIONS } from "../support/keryx.ts";
import { openTerminal } from "../support/terminal.ts";
import { exchange, loginOf } from "./port.ts";

const root = mkdtempSync(join(tmpdir(), "keryx-port-process-"));
const { keryx } = commandIn(root);
const children: ChildProcessWithoutNullStreams[] = [];
afterAll(async () => {
	await Promise.all(children.map((child) => ended(child, "SIGKILL")));
	rmSync(root, { recursive: true, force: true });
});

const READY =
	/Open Keryx in your browser: (http:\S+)\nTo log in a browser, .+\n$|listens on (http:\S+)\. .+\n.+\n$/;

/** Answers what it said on stderr, once its socket is there. */
async function start(home: string, env: Readonly<Record<string, string>>) {
	const child = spawn(process.execPath, [...NODE_OPTIONS, MAIN], {
		env: {
			PATH: process.env.PATH,
			NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
			KERYX_HOME: home,
			KERYX_HTTP_PORT: "0",
			...env,
		},
	});
	children.push(child);
	let notes = "";
	let running = false;
	// The two streams come by ways of their own: both are waited for.
	await new Promise<void>((resolve, reject) => {
		const look = () => running && READY.test(notes) && resolve();
		child.stderr.on("data", (data) => {
			notes += data;
			look();
		});
		child.stdout.once("data", () => {
			running = true;
			look();
		});
		child.once("close", () => reject(new Error(`Keryx did not start: ${notes}`)));
	});
	const [, withPage, without] = READY.exec(notes) ?? [];
	return { child, notes, url: new URL(withPage ?? without ?? "") };
}

async function link(home: string): Promise<URL> {
	const printed = await keryx(["link"], { env: { KERYX_HOME: home } });
	expect(printed.stderr).toBe("");
	return new URL(printed.stdout.trim());
}

function ended(child: ChildProcessWithoutNullStreams, signal: "SIGTERM" | "SIGKILL"): Promise<void> {
	if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
	return new Promise((resolve) => {
		child.once("close", () => resolve());
		child.kill(signal);
	});
}

test("a start makes its keys for the user alone, serves the compat port, and writes no login link into a log", async () => {
	const home = join(root, "home");
	const free = await freePort();
	const { child, notes, url } = await start(home, { KERYX_CONFIRMATIONS_COMPAT_PORT: String(free) });
	expect(notes).not.toContain("/login");
	for (const name of ["audit.key", "operator.secret", "pseudonym.key"])
		expect(statSync(join(home, name)).mode & 0o777, name).toBe(0o600);

	const { hostname: host, port, pathname, search } = await link(home);
	expect([host, port]).toEqual([url.hostname, url.port]);
	const login = await exchange({ host, port }, "GET", `${pathname}${search}`);
	const bearer = readFileSync(join(home, "operator.secret"), "utf8").trim();
	expect((await exchange({ host, port }, "GET", "/api/tokens", { headers: loginOf(login) })).status).toBe(
		200,
	);
	expect((await exchange({ host, port }, "GET", `${pathname}${search}`)).status).toBe(401);
	expect((await exchange({ host, port }, "GET", "/api/conversations", { bearer })).status).toBe(200);
	expect((await exchange({ host, port }, "GET", "/api/conversations")).status).toBe(401);

	const asked = await exchange({ host, port: free }, "POST", "/confirm", {
		body: { action: "restart", description: "d" },
	});
	expect(asked.status).toBe(202);
	const approved = await exchange({ host, port }, "POST", `/confirm/${asked.body.id}/approve`, { bearer });
	expect(approved.body).toMatchObject({ status: "approved" });
	await ended(child, "SIGTERM");
	expect(child.exitCode).toBe(0);

	// Another start has other links, the same secret, and what was decided.
	const again = await start(home, {});
	const where = { host, port: again.url.port };
	const kept = await exchange(where, "GET", `/confirm/${asked.body.id}`, { bearer });
	expect(kept.body).toMatchObject({ status: "approved", resolved_by: "operator" });
	expect((await exchange(where, "GET", `${pathname}${search}`)).status).toBe(401);
	await ended(again.child, "SIGTERM");
	const nobody = await keryx(["link"], { env: { KERYX_HOME: home } });
	expect(nobody.code).toBe(1);
	expect(nobody.stderr).toContain("Keryx is not running in this home");
});

/** A start takes seconds on a busy machine. */
const POLLED = { timeout: 100_000 };

test("on a terminal a start prints a login link that works", async () => {
	const home = join(root, "terminal");
	const terminal = openTerminal([process.execPath, ...NODE_OPTIONS, MAIN], {
		columns: 200,
		env: { PATH: process.env.PATH ?? "", KERYX_HOME: home, KERYX_HTTP_PORT: "0" },
	});
	try {
		// The questions of a first start, each skipped.
		for (const question of ["Which provider", "Which chat platform", "as a service"]) {
			await expect.poll(() => terminal.rows().join("\n"), POLLED).toContain(question);
			terminal.type("\r");
		}
		await expect.poll(() => terminal.rows().join("\n"), POLLED).toMatch(/http:\S+\/login\?code=\S+/);
		const [printed = ""] = /http:\S+\/login\?code=\S+/.exec(terminal.rows().join("\n")) ?? [];
		const { hostname: host, port, pathname, search } = new URL(printed);
		expect((await exchange({ host, port }, "GET", `${pathname}${search}`)).status).toBe(303);
	} finally {
		terminal.close();
		await terminal.ended;
	}
});

test("a port that is taken is told with what to do, before any work is begun", async () => {
	const blocker = createServer();
	await new Promise<void>((resolve) => blocker.listen(0, "127.0.0.1", resolve));
	const { port } = blocker.address() as { port: number };
	const home = join(root, "taken");
	mkdirSync(home);
	try {
		const { code, stderr } = await keryx([], { env: { KERYX_HOME: home, KERYX_HTTP_PORT: String(port) } });
		expect(code).toBe(1);
		expect(stderr).toContain(`cannot listen on 127.0.0.1:${port}: another program uses it`);
		expect(stderr).toContain("http.port");
	} finally {
		await new Promise((resolve) => blocker.close(resolve));
	}
});
