// `keryx confirm`, `keryx token` and `keryx link` with the store alone, and beside a Keryx that runs.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { auditKey, homeAt, openHome } from "../src/app/home.ts";
import { createConfirmations } from "../src/confirmations/index.ts";
import { systemClock } from "../src/gateway/index.ts";
import { createClient, socketTransport } from "../src/http/index.ts";
import { NO_SECRETS, openStore, systemIds } from "../src/store/index.ts";
import { asJson, call, commandIn, type Gateway, HOSTILE, type Run } from "./support/keryx.ts";

const root = mkdtempSync(join(tmpdir(), "keryx-confirm-"));
const { keryx, start } = commandIn(root);
afterAll(() => rmSync(root, { recursive: true, force: true }));

const CI = { who: "token:ci", role: "agent", via: "api", sessionKey: null } as const;
const SETTINGS = {
	alwaysConfirm: ["delete_data"],
	rateLimit: 100,
	globalLimit: 1000,
	useWithinMinutes: 15,
	defaultTimeout: 300,
	chats: [],
	webhooks: [],
};

function newHome(name: string): string {
	const home = join(root, name);
	mkdirSync(home, { mode: 0o700 });
	writeFileSync(
		join(home, "config.yaml"),
		"http: {port: 0}\nconfirmations: {always_confirm: [delete_data]}\n",
	);
	return home;
}

/** What a program has asked for in that home before; answers the ids, in this order. */
async function asked(
	home: string,
	requests: readonly { action: string; details?: object }[],
): Promise<string[]> {
	const ids = systemIds(systemClock);
	const store = await openStore({
		url: homeAt(home).storeUrl,
		clock: systemClock,
		ids,
		secrets: NO_SECRETS,
		auditKey: auditKey(openHome(home), ids.bytes),
	});
	const confirmations = createConfirmations({ store, clock: systemClock, settings: () => SETTINGS });
	try {
		const made: string[] = [];
		for (const { action, details = {} } of requests) {
			const requested = await confirmations.request(
				{
					action,
					description: `says ${HOSTILE}`,
					details: { ...details },
					requester: HOSTILE,
					sessionKey: "agent:main:local:dm:cli",
					timeoutSeconds: 3600,
				},
				CI,
			);
			if (requested.kind !== "pending") throw new Error(`it is ${requested.kind}`);
			made.push(requested.confirmation.id);
		}
		return made;
	} finally {
		await confirmations.stop();
		await store.close();
	}
}

const ACTIONS = ["read_mail", "drop_table", "send_mail", "delete_data", "edit_file", "ask_me"] as const;

describe.each([
	["the store alone", false],
	["a Keryx that runs", true],
])("with %s", (_name, running) => {
	let home: string;
	let gateway: Gateway | undefined;
	const id = {} as Record<(typeof ACTIONS)[number], string>;
	beforeAll(async () => {
		home = newHome(`home-${running}`);
		const ids = await asked(
			home,
			ACTIONS.map((action) => ({ action, details: { table: "orders", note: "\u202ea\u001bb\u{e0041}" } })),
		);
		for (const [n, action] of ACTIONS.entries()) id[action] = ids[n] as string;
		gateway = running ? await start(home) : undefined;
	});
	afterAll(async () => {
		await gateway?.stop();
	});

	const run = (args: readonly string[], stdin = "", columns?: number): Promise<Run> =>
		call(args, {
			stdin,
			env: { KERYX_HOME: home, NO_COLOR: "1" },
			...(columns !== undefined && { columns }),
		});
	const shown = async (one: string) => asJson(await run(["confirm", "show", one, "--json"]));
	const refusal = async (...args: string[]) => {
		const { code, stdout, stderr } = await run([...args, "--json"]);
		expect(stderr).toBe("");
		return [code, JSON.parse(stdout).error.code];
	};

	test("list shows who asks for what, and nothing of it reaches the terminal's controls", async () => {
		const piped = await run(["confirm", "list", "--limit", "200"]);
		const rows = piped.stdout
			.trimEnd()
			.split("\n")
			.map((line) => line.split("\t"));
		expect(rows).toHaveLength(ACTIONS.length);
		expect(rows.find(([one]) => one === id.drop_table)).toEqual([
			id.drop_table,
			"pending",
			expect.stringMatching(/^20\d\d-.*Z$/),
			"drop_table",
			"token:ci",
			"agent:main:local:dm:cli",
			"says \\u001b[2Jred agent, 2026-01-01 00:00\\u202e",
		]);
		expect(piped.stderr).toContain("`keryx confirm show <id>`");
		const terminal = await run(["confirm", "list", "--status", "pending", "--limit", "2"], "", 100);
		expect(terminal.stdout).toMatch(/^id +state +action +asked by +conversation +says\n/);
		expect(terminal.stdout).toMatch(/expires in 59m \d+s/);
		expect(terminal.stdout.trimEnd().split("\n")).toHaveLength(3);
		for (const { stdout } of [piped, terminal, await run(["confirm", "show", id.drop_table], "", 100)])
			for (const control of ["\u001b", "\u202e"]) expect(stdout).not.toContain(control);
	});

	test("show has the exact arguments, who was told, and the audit, by the beginning of an id too", async () => {
		const whole = await shown(id.drop_table);
		expect(whole).toMatchObject({
			confirmation: {
				id: id.drop_table,
				details: { table: "orders", note: "\u202ea\u001bb\u{e0041}" },
				asked_by: "token:ci",
				requester: HOSTILE,
				notices: [],
			},
			audit: [{ kind: "requested", who: "token:ci", via: "api" }],
		});
		expect(await shown(id.drop_table.slice(0, 9))).toEqual(whole);
		const { stdout } = await run(["confirm", "show", id.drop_table]);
		expect(stdout).toContain('      "note": "\\u202ea\\u001bb\\udb40\\udc41",\n      "table": "orders"\n');
		expect(stdout).toContain("nobody: no chat and no webhook is configured");
		expect(await refusal("confirm", "show", "000000000000")).toEqual([1, "store.not_found"]);
		expect(await refusal("confirm", "show", "../health")).toEqual([1, "store.not_found"]);
	});

	test("approve needs --yes where nobody can be asked, and wins once", async () => {
		expect(await refusal("confirm", "approve", id.read_mail)).toEqual([2, "usage.invalid"]);
		expect((await shown(id.read_mail)).confirmation.status).toBe("pending");
		const done = await run(["confirm", "approve", id.read_mail, "--yes", "--reason", "after the backup"]);
		expect(done).toMatchObject({ code: 0, stderr: "" });
		expect(done.stdout).toContain('"table": "orders"');
		expect(done.stdout).toMatch(
			new RegExp(`\\n${id.read_mail} \\(read_mail\\) was approved by operator\\.\\n$`),
		);
		expect(await refusal("confirm", "approve", id.read_mail, "--yes")).toEqual([1, "confirmation.settled"]);
		expect(await refusal("confirm", "deny", id.read_mail)).toEqual([1, "confirmation.settled"]);
		const { confirmation, audit } = await shown(id.read_mail);
		expect(confirmation).toMatchObject({
			status: "approved",
			resolved_by: "operator",
			reason: "after the backup",
		});
		expect(audit.map(({ kind, via }: { kind: string; via: string }) => [kind, via])).toContainEqual([
			"approved",
			"cli",
		]);
		const beginning = id.read_mail.slice(0, 9);
		expect(await refusal("confirm", "approve", beginning, "--yes")).toEqual([1, "store.not_found"]);
	});

	test("on a terminal approve shows the arguments and takes only yes for yes", async () => {
		for (const answer of running ? ["", "\n", "n\n", "yesterday\n"] : ["n\n"]) {
			const no = await run(["confirm", "approve", id.ask_me], answer, 100);
			expect(no.code).toBe(1);
			expect(no.stdout).toMatch(/"table": "orders"[\s\S]*Approve exactly this\? \[y\/N\] $/);
			expect(no.stderr).toContain("you did not say yes");
		}
		expect((await shown(id.ask_me)).confirmation.status).toBe("pending");
		const yes = await run(["confirm", "approve", id.ask_me], "y\n", 100);
		expect(yes).toMatchObject({ code: 0 });
		expect((await shown(id.ask_me)).confirmation.status).toBe("approved");
	});

	test("deny says no, with a reason for who asked", async () => {
		const denied = asJson(await run(["confirm", "deny", id.send_mail, "--reason", "not today", "--json"]));
		expect(denied).toMatchObject({ id: id.send_mail, status: "denied", reason: "not today" });
		const list = asJson(await run(["confirm", "list", "--status", "denied", "--json"])).confirmations;
		expect(list.map((one: { id: string }) => one.id)).toEqual([id.send_mail]);
	});

	test("approve with other arguments keeps both, under another digest", async () => {
		const before = (await shown(id.edit_file)).confirmation;
		expect(await refusal("confirm", "approve", id.edit_file, "--edit", "-")).toEqual([2, "usage.invalid"]);
		const args = ["confirm", "approve", id.edit_file, "--edit", "-", "--yes"];
		for (const bad of ["[1]", "{", "null"])
			expect((await run(args, bad)).stderr).toMatch(/^keryx: stdin (is not JSON|must contain a JSON object)/);
		const done = await run(args, '{"table": "drafts"}');
		expect(done.stdout).toContain('arguments to approve instead:\n    {\n      "table": "drafts"\n    }\n');
		const { confirmation } = await shown(id.edit_file);
		expect(confirmation).toMatchObject({ details: { table: "drafts" }, details_before: before.details });
		expect(confirmation.digest).not.toBe(before.digest);
		expect((await run(["confirm", "show", id.edit_file])).stdout).toContain("changed by the approver");
	});

	test("a grant is given for a while, listed and taken back; some actions have none", async () => {
		const approve = (one: string, ...rest: string[]) => ["confirm", "approve", one, "--yes", ...rest];
		expect(await refusal(...approve(id.delete_data, "--grant", "always"))).toEqual([2, "argument.invalid"]);
		expect(await refusal(...approve(id.drop_table, "--until", "2h"))).toEqual([2, "usage.invalid"]);
		for (const until of ["2 hours", "2026-02-30T00:00:00Z", "2020-01-01T00:00:00Z", "0m"])
			expect(await refusal(...approve(id.drop_table, "--grant", "always", "--until", until))).toEqual([
				2,
				"argument.invalid",
			]);
		const before = Math.floor(Date.now() / 1000);
		await run(approve(id.drop_table, "--grant", "conversation", "--until", "2h"));
		const { grants } = asJson(await run(["confirm", "grants", "--json"]));
		expect(grants).toMatchObject([
			{ scope: "conversation", action: "drop_table", asked_by: "token:ci", revoked_at: null },
		]);
		const [{ id: grant, until }] = grants;
		expect(until).toBeGreaterThanOrEqual(before + 7200);
		expect(until).toBeLessThanOrEqual(Date.now() / 1000 + 7200);
		expect((await run(["confirm", "grants"])).stdout).toMatch(
			/^\w+\tvalid\tconversation\tdrop_table\ttoken:ci\tagent:main:local:dm:cli\t20.*Z\toperator\n$/,
		);
		const revoked = await run(["confirm", "grants", "--revoke", grant.slice(0, 12)]);
		expect(revoked.stdout).toBe(`Revoked grant ${grant}: drop_table is asked about again.\n`);
		if (!running) return;
		expect((await run(["confirm", "grants"])).stdout).toContain("\trevoked\t");
		expect(await refusal("confirm", "grants", "--revoke", grant)).toEqual([1, "confirmation.settled"]);
		expect(await refusal("confirm", "grants", "--revoke", "zz")).toEqual([1, "store.not_found"]);
	});

	test("a token is printed once, alone when piped, and holds until it is revoked", async () => {
		const made = await run(["token", "create", "phone", "--role", "approver", "--days", "2"]);
		expect(made).toMatchObject({ code: 0, stderr: "" });
		expect(made.stdout).toMatch(/^kx_[\w-]{43}\n$/);
		const told = await run(["token", "create", "other", "--role", "reader"], "", 100);
		expect(told.stderr).toMatch(/^This is the token other with the role reader\. It is not shown again/);
		expect(await refusal("token", "create", "phone", "--role", "agent")).toEqual([1, "token.taken"]);
		expect(await refusal("token", "create", "x", "--role", "king")).toEqual([2, "argument.invalid"]);
		expect(await refusal("token", "create", "../x", "--role", "agent")).toEqual([2, "argument.invalid"]);
		const list = await run(["token", "list", "--json"]);
		expect(list.stdout).not.toContain(made.stdout.trim());
		expect(asJson(list).tokens).toContainEqual(
			expect.objectContaining({ name: "phone", role: "approver", created_by: "operator", revoked_at: null }),
		);
		const asPhone = createClient(socketTransport(homeAt(home).socketPath, { bearer: made.stdout.trim() }));
		if (running) expect((await asPhone.confirm("GET", "/confirm")).status).toBe(200);
		expect((await run(["token", "revoke", "phone"])).stdout).toContain("Revoked the token phone.");
		if (running) expect((await asPhone.confirm("GET", "/confirm")).status).toBe(401);
		expect(await refusal("token", "revoke", "phone")).toEqual([1, "store.not_found"]);
		expect((await run(["token", "list"])).stdout).toMatch(/^phone\trevoked\tapprover\t/m);
	});

	test("link joins two ids of one person, and says when they were one", async () => {
		const link = ["link", "telegram:12345", "discord:6789"];
		expect(await run(link)).toEqual({
			code: 0,
			stdout: "telegram:12345 and discord:6789 are now one person.\n",
			stderr: "",
		});
		expect((await run(link)).stdout).toBe("telegram:12345 and discord:6789 were already one person.\n");
		if (!running) return;
		const matrix = asJson(await run(["link", "telegram:12345", "matrix:@ann:example.org", "--json"]));
		expect(matrix).toMatchObject({ and: { platform: "matrix", id: "@ann:example.org" }, joined: true });
		expect((await run(["link", "telegram:1", "discrod:2"])).stderr).toContain("did you mean discord?");
		for (const wrong of ["12345", "telegram:", ":5", "Telegram:5"])
			expect(await refusal("link", wrong, "discord:1")).toEqual([2, "argument.invalid"]);
	});

	test("the audit lists the last entries and is whole", async () => {
		const { entries } = asJson(await run(["confirm", "audit", "--limit", "3", "--json"]));
		const verified = await run(["confirm", "audit", "--verify", "--json"]);
		expect(verified.code).toBe(0);
		const { count, bad } = asJson(verified);
		expect(bad).toBeNull();
		expect(entries.map(({ n }: { n: number }) => n)).toEqual([count - 2, count - 1, count]);
		const of = asJson(await run(["confirm", "audit", "--of", id.send_mail, "--json"])).entries;
		expect(of.map(({ kind }: { kind: string }) => kind)).toEqual(["requested", "denied"]);
		expect((await run(["confirm", "audit", "--verify"])).stdout).toMatch(
			new RegExp(`^The audit is complete: ${count} entries, head [0-9a-f]{64}\\.\\n$`),
		);
	});

	test("keys and the operator secret are for this user alone", () => {
		for (const file of ["operator.secret", "audit.key"])
			expect(statSync(join(home, file)).mode & 0o777).toBe(0o600);
	});
});

test("who cannot show the operator secret decides nothing, on the socket too", async () => {
	const home = newHome("home-secret");
	const [one = ""] = await asked(home, [{ action: "drop_table" }]);
	const gateway = await start(home);
	const env = { KERYX_HOME: home };
	const decide = (...args: string[]) => call([...args, "--json"], { env });
	const file = join(home, "operator.secret");
	const secret = readFileSync(file, "utf8");
	try {
		for (const forged of [null, "x".repeat(43)]) {
			if (forged === null) rmSync(file);
			else writeFileSync(file, forged);
			for (const args of [
				["confirm", "approve", one, "--yes"],
				["confirm", "deny", one],
				["confirm", "grants"],
				["token", "create", "mine", "--role", "operator"],
				["token", "list"],
				["link", "telegram:1", "discord:2"],
			]) {
				const refused = await decide(...args);
				expect([args, refused.code, asJson(refused).error.code]).toEqual([args, 1, "http.unauthenticated"]);
			}
		}
		writeFileSync(file, secret);
		const { confirmation } = asJson(await decide("confirm", "show", one));
		expect(confirmation).toMatchObject({ status: "pending", resolved_by: "" });
		expect((await decide("confirm", "deny", one)).code).toBe(0);
	} finally {
		await gateway.stop();
	}
});

test("verify names the first entry that was altered, removed or cut off, with exit code 1", async () => {
	const home = newHome("home-tampered");
	await asked(home, [{ action: "one" }, { action: "two" }, { action: "three" }, { action: "four" }]);
	const env = { KERYX_HOME: home };
	const verify = () => call(["confirm", "audit", "--verify"], { env });
	const tamper = (...statements: string[]) => {
		const db = new Database(homeAt(home).storePath);
		for (const name of ["unchanged", "kept", "head_grows"]) db.exec(`DROP TRIGGER IF EXISTS audit_${name}`);
		for (const statement of statements) db.exec(statement);
		db.close();
	};
	expect(await verify()).toMatchObject({ code: 0 });
	tamper("DELETE FROM audit WHERE n = 4");
	expect(await verify()).toMatchObject({ code: 1, stdout: expect.stringMatching(/^WRONG: entry 4: .*cut/) });
	tamper("UPDATE audit SET who = 'token:nobody' WHERE n = 3");
	expect(await verify()).toMatchObject({
		code: 1,
		stdout:
			"WRONG: entry 3: it was changed, or an earlier one was replaced. The 2 entries before it are unchanged.\n",
	});
	tamper("DELETE FROM audit WHERE n = 2");
	const missing = await call(["confirm", "audit", "--verify", "--json"], { env });
	expect([missing.code, asJson(missing).bad]).toEqual([1, { n: 2, problem: "it is missing" }]);
});

test("as processes of their own", async () => {
	const home = newHome("home-process");
	const [one = "", two = ""] = await asked(home, [{ action: "one" }, { action: "two" }]);
	const env = { KERYX_HOME: home };
	expect(await keryx(["confirm", "approve", one], { env, stdin: "y\n" })).toMatchObject({
		code: 2,
		stdout: "",
	});
	expect(await keryx(["confirm", "approve", one, "--yes", "--json"], { env })).toMatchObject({ code: 0 });
	expect((await keryx(["confirm", "deny", two.slice(0, 10)], { env })).stdout).toBe(
		`${two} (two) was denied by operator.\n`,
	);
	expect((await keryx(["confirm", "list"], { env })).stdout).toMatch(/\tdenied\t[\s\S]*\tapproved\t/);
});

test("what is empty says so, and a beginning that fits several names them", async () => {
	const home = newHome("home-empty");
	const env = { KERYX_HOME: home };
	expect(await call(["confirm", "list"], { env })).toMatchObject({
		stdout: "",
		stderr: "Nothing has been asked yet.\n",
	});
	expect((await call(["confirm", "grants"], { env })).stderr).toBe(
		"There are no grants: every action is asked about.\n",
	);
	expect((await call(["token", "list"], { env })).stderr).toContain("There are no tokens");
	expect((await call(["confirm", "audit"], { env })).stderr).toBe("Nothing has happened yet.\n");
	expect((await call(["confirm", "audit", "--verify"], { env })).stdout).toBe(
		"The audit is complete: 0 entries.\n",
	);
	// Of seventeen ids two begin with the same of sixteen characters.
	const ids = await asked(
		home,
		Array.from({ length: 17 }, (_, n) => ({ action: `a${n}` })),
	);
	const first = ids.map((one) => one[0] as string).find((c, n, all) => all.indexOf(c) !== n) as string;
	const several = await call(["confirm", "deny", first, "--json"], { env });
	expect([several.code, asJson(several).error.message]).toEqual([
		2,
		expect.stringMatching(new RegExp(`^${first} could be ${first}\\w{11}.* or `)),
	]);
});

test.each([
	[["confirm"], /confirm needs a command: list, show, approve, deny, grants or audit/],
	[["confirm", "aprove"], /unknown command "aprove"; did you mean approve\?/],
	[["confirm", "show"], /missing required argument 'id'/],
	[["confirm", "list", "--status", "open"], /--status must be one of pending, /],
	[["confirm", "list", "--limit", "0"], /--limit must be a whole number from 1 to 200/],
	[["confirm", "approve", "abc", "--yes", "--grant", "forever"], /--grant must be one of session, /],
	[["token"], /token needs a command: create, list or revoke/],
	[["token", "create", "x"], /required option '--role <role>' not specified/],
	[
		["token", "create", "x", "--role", "agent", "--days", "0"],
		/--days must be a whole number from 1 to 3650/,
	],
	[["link", "telegram:1"], /give two ids of the same person, or none for a login link/],
])("%j is wrong usage", async (args, message) => {
	const run = await call(args, { env: { KERYX_HOME: join(root, "unused") } });
	expect(run).toMatchObject({ code: 2, stdout: "" });
	expect(run.stderr).toMatch(message);
});

test.each([
	["confirm", "list"],
	["confirm", "show"],
	["confirm", "approve"],
	["confirm", "deny"],
	["confirm", "grants"],
	["confirm", "audit"],
	["token", "create"],
	["token", "list"],
	["token", "revoke"],
	["link"],
	["confirmd"],
])("the help of %s %s has examples, exit codes and --json", async (...words) => {
	const { stdout } = await call([...words, "--help"]);
	expect(stdout).toContain(`$ keryx ${words.join(" ")}`);
	expect(stdout).toContain("Exit codes: 0 ");
	expect(stdout).toContain("--json");
});
