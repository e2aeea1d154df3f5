// The command inside a process which Keryx started: it may look, and decides nothing (I14, I17).
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { auditKey, openHome } from "../src/app/home.ts";
import { systemClock } from "../src/gateway/index.ts";
import { apiTransport, createClient } from "../src/http/index.ts";
import { NO_SECRETS, openStore, type Store, systemIds } from "../src/store/index.ts";
import { type Keryx, openKeryx } from "./page/support.ts";
import { call, commandIn, MAIN, type Run } from "./support/keryx.ts";
import { ProcessHome } from "./support/process-home.ts";

const OPERATOR = { kind: "operator" } as const;
const root = mkdtempSync(join(tmpdir(), "keryx-inside-"));
const { keryx: command } = commandIn(root);
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe("of a Keryx that runs", () => {
	let keryx: Keryx;
	let id: string;
	beforeAll(async () => {
		keryx = await openKeryx();
		const anybody = createClient(apiTransport(keryx.host.api));
		const { body } = await anybody.confirm("POST", "/confirm", { action: "drop_table", description: "d" });
		id = body.id as string;
	});
	afterAll(() => keryx.close());

	const decisions: readonly (readonly string[])[] = [
		["confirm", "approve", "ID", "--yes"],
		["confirm", "approve", "ID", "--yes", "--grant", "always"],
		["confirm", "deny", "ID"],
		["confirm", "grants"],
		["token", "create", "mine", "--role", "operator"],
		["token", "list"],
		["link"],
		["link", "telegram:1", "discord:2"],
	];
	const given = (args: readonly string[]) => args.map((word) => (word === "ID" ? id : word));

	test.each(decisions)("with the mark of a process: %s %s", async (...args) => {
		const env = { KERYX_HOME: keryx.home, KERYX_PROCESS: "p_1a2b" };
		const run = await call(given(args), { env });
		expect(run.stderr).toContain("which Keryx started");
		expect([run.code, run.stdout]).toEqual([1, ""]);
		expect(await state()).toEqual(["pending", 0]);
	});

	test("a message from there decides nothing either, and the audit says whose it was", async () => {
		const env = { KERYX_HOME: keryx.home, KERYX_PROCESS: "p_1a2b" };
		await call(["send", `/approve ${id}`], { env });
		expect(await state()).toEqual(["pending", 0]);
		const { body } = await keryx.client.confirm("GET", "/audit/log?newest=true&limit=1");
		expect(body.entries).toMatchObject([{ kind: "refused", who: "socket", via: "cli" }]);
	});

	test("as a child of Keryx itself, whatever its environment says", async () => {
		const run = await command(given(["confirm", "approve", "ID", "--yes"]), {
			env: { KERYX_HOME: keryx.home },
		});
		expect(run.stderr).toContain("which Keryx started");
		expect([run.code, await state()]).toEqual([1, ["pending", 0]]);
	});

	test("what only looks works", async () => {
		const env = { KERYX_HOME: keryx.home, KERYX_PROCESS: "p_1a2b" };
		expect((await call(["confirm", "list"], { env })).stdout).toContain(id);
		expect((await call(["confirm", "audit"], { env })).code).toBe(0);
	});

	async function state() {
		const { body } = await keryx.client.confirm("GET", `/confirm/${id}`);
		const { tokens } = await keryx.client.tokens({});
		return [body.status, tokens.length];
	}
});

describe("of a Keryx that does not run", () => {
	const programs = new ProcessHome();
	const home = openHome(join(root, "home"));
	afterAll(() => programs.end());

	async function withStore<Result>(use: (store: Store) => Promise<Result>): Promise<Result> {
		const ids = systemIds(systemClock);
		const key = auditKey(home, ids.bytes);
		const store = await openStore({
			url: home.storeUrl,
			clock: systemClock,
			ids,
			secrets: NO_SECRETS,
			auditKey: key,
		});
		try {
			return await use(store);
		} finally {
			await store.close();
		}
	}

	const asked = () =>
		withStore(async (store) => {
			const requested = await store.requestConfirmation({
				id: Buffer.from(systemIds(systemClock).bytes(6)).toString("hex"),
				action: "drop_table",
				description: "d",
				details: {},
				digest: "0",
				requester: "agent",
				sessionKey: "",
				timeoutSeconds: 3600,
				askedBy: "token:t",
				via: "api",
				limits: { perAction: 1000, inAll: 1000, windowMs: 1000 },
				once: false,
				grantable: true,
				useWithinMs: 60_000,
				notices: { deliveries: [], webhooks: [] },
			});
			if (requested.kind !== "pending") throw new Error(requested.kind);
			return requested.confirmation.id;
		});
	const status = (id: string) =>
		withStore(async (store) => (await store.confirmation({ scope: OPERATOR, id, now: Date.now() })).status);

	/** Runs the command in a process that the host holds, and answers what it said. */
	async function inside(name: string, id: string, wrap: (line: string) => readonly string[]): Promise<Run> {
		const out = join(root, name);
		const line = `${process.execPath} --disable-warning=ExperimentalWarning ${MAIN} confirm approve ${id} --yes > ${out} 2>&1`;
		const backend = await programs.place.connect();
		try {
			await backend.spawn({
				id: `p_${name}`,
				argv: wrap(line),
				cwd: root,
				env: { PATH: process.env.PATH ?? "", KERYX_HOME: home.path },
				pty: null,
				maxLogBytes: 100_000,
			});
			for await (const _piece of backend.follow(`p_${name}`, { from: 0 }));
		} finally {
			await backend.close();
		}
		return { code: null, stdout: "", stderr: readFileSync(out, "utf8") };
	}

	const clean = `env -i PATH="$PATH" KERYX_HOME=${home.path}`;
	test.each<[string, (line: string) => readonly string[]]>([
		["plain", (line) => ["/bin/sh", "-c", line]],
		["cleared", (line) => ["/bin/sh", "-c", `${clean} sh -c '${line}'; true`]],
		[
			"leader",
			(line) => [
				"/usr/bin/env",
				"-i",
				`PATH=${process.env.PATH}`,
				`KERYX_HOME=${home.path}`,
				"/bin/sh",
				"-c",
				line,
			],
		],
		["setsid", (line) => ["/bin/sh", "-c", `setsid -w ${clean} sh -c '${line}'; true`]],
	])("in a process that it started, with its environment %s", async (name, wrap) => {
		const id = await asked();
		expect((await inside(name, id, wrap)).stderr).toContain("which Keryx started");
		expect(await status(id)).toBe("pending");
	});

	test("outside of all that it decides", async () => {
		const id = await asked();
		const run = await command(["confirm", "approve", id, "--yes"], { env: { KERYX_HOME: home.path } });
		expect([run.code, await status(id)]).toEqual([0, "approved"]);
	});
});
