// Who may do what with confirmations. Roles come from authentication alone, and what is refused is in the audit.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { confirmationDigest } from "../../src/confirmations/index.ts";
import type { AuditEntry } from "../../src/store/index.ts";
import { onPort, type Ported, SECRET } from "./port.ts";

let keryx: Ported;
let [agent, other, approver, reader, operator] = ["", "", "", "", ""];
beforeAll(async () => {
	keryx = await onPort({ confirmations: { rate_limit: 1000 } });
	agent = await keryx.token("agent", { name: "agent" });
	other = await keryx.token("agent", { name: "other" });
	approver = await keryx.token("approver", { name: "approver" });
	reader = await keryx.token("reader", { name: "reader" });
	operator = await keryx.token("operator", { name: "operator" });
});
afterAll(() => keryx.close());

const NEVER = "000000000000";

async function refusalsOf(who: string): Promise<readonly AuditEntry[]> {
	const { body } = await keryx.call("GET", "/audit/log?limit=500&newest=true", { bearer: SECRET });
	return (body.entries as readonly AuditEntry[]).filter(
		(entry) => entry.kind === "refused" && entry.who === who,
	);
}

async function show(id: string, bearer = approver) {
	return (await keryx.call("GET", `/confirm/${id}`, { bearer })).body;
}

describe("an agent's token", () => {
	const TRIES: readonly (readonly [
		what: string,
		method: string,
		path: string,
		body: object | undefined,
		status: number,
	])[] = [
		["approve its own", "POST", "/confirm/{own}/approve", {}, 403],
		[
			"approve with a forged name",
			"POST",
			"/confirm/{own}/approve",
			{ approver: "operator", resolved_by: "operator" },
			403,
		],
		["approve with a grant", "POST", "/confirm/{own}/approve", { grant: { scope: "always" } }, 403],
		["deny its own", "POST", "/confirm/{own}/deny", { denier: "operator" }, 403],
		["approve another's", "POST", "/confirm/{others}/approve", {}, 403],
		["read another's", "GET", "/confirm/{others}", undefined, 404],
		["cancel another's", "POST", "/confirm/{others}/cancel", {}, 404],
		["consume another's", "POST", "/confirm/{others}/consume", { digest: "x" }, 404],
		["list grants", "GET", "/grants", undefined, 403],
		["give itself a grant", "POST", "/grants", { scope: "always", action: "restart" }, 403],
		["revoke a grant", "DELETE", "/grants?id=x", undefined, 403],
		["read the audit", "GET", "/audit", undefined, 403],
		["read the log", "GET", "/audit/log", undefined, 403],
		["verify the audit", "GET", "/audit/verify", undefined, 403],
		["accept another audit", "POST", "/audit/accept", {}, 403],
		["list tokens", "GET", "/api/tokens", undefined, 403],
		["make a token", "POST", "/api/tokens", { name: "mine", role: "operator" }, 403],
		["revoke a token", "POST", "/api/tokens/approver/revoke", {}, 403],
		[
			"link people",
			"POST",
			"/api/principals/link",
			{ of: { platform: "a", id: "1" }, and: { platform: "b", id: "2" } },
			403,
		],
		["read conversations", "GET", "/api/conversations", undefined, 403],
		["speak as somebody", "POST", "/api/inbound", { text: "/approve" }, 403],
		["export everything", "GET", "/api/export", undefined, 403],
		["import", "POST", "/api/import", {}, 403],
		["follow events", "GET", "/events", undefined, 403],
		["read metrics", "GET", "/metrics", undefined, 403],
		["read readiness", "GET", "/ready", undefined, 403],
	];

	test.each(TRIES.map(([what, ...rest]) => ({ what, rest })))(
		"may not $what, and the audit knows",
		async ({ rest }) => {
			const [method, path, body, status] = rest;
			const [own, others] = [await keryx.ask(agent, "restart"), await keryx.ask(other, "restart")];
			const before = (await refusalsOf("token:agent")).length;
			const answer = await keryx.call(method, path.replace("{own}", own).replace("{others}", others), {
				bearer: agent,
				...(body !== undefined && { body }),
			});
			expect(answer.status).toBe(status);
			expect(await refusalsOf("token:agent")).toHaveLength(before + 1);
			for (const id of [own, others])
				expect(await show(id)).toMatchObject({ status: "pending", resolved_by: "" });
		},
	);

	test("sees another's confirmation as one that never was", async () => {
		const others = await keryx.ask(other, "restart");
		for (const [method, verb] of [
			["GET", ""],
			["POST", "/cancel"],
			["POST", "/consume"],
		] as const) {
			const said = async (id: string) => {
				const { status, text } = await keryx.call(method, `/confirm/${id}${verb}`, {
					bearer: agent,
					...(method === "POST" && { body: { digest: "x" } }),
				});
				return { status, text: text.replaceAll(id, "?") };
			};
			expect(await said(others)).toEqual(await said(NEVER));
		}
		const { body } = await keryx.call("GET", "/confirm?limit=500", { bearer: agent });
		const asked = (body.confirmations as readonly { asked_by: string }[]).map(({ asked_by }) => asked_by);
		expect(new Set(asked)).toEqual(new Set(["token:agent"]));
	});

	test("is not told who was told of its request", async () => {
		const id = await keryx.ask(agent, "restart");
		expect(await show(id, agent)).not.toHaveProperty("notices");
		expect(await show(id)).toHaveProperty("notices", []);
	});

	test("that is bound to a conversation may name no other", async () => {
		const key = "agent:main:telegram:dm:1";
		const bound = await keryx.token("agent", { name: "bound", session_key: key });
		const asking = (session_key: string) =>
			keryx.call("POST", "/confirm", {
				bearer: bound,
				body: { action: "restart", description: "d", session_key },
			});
		expect((await asking(key)).status).toBe(202);
		for (const session_key of ["agent:main:telegram:dm:2", "", `${key} x`]) {
			const answer = await asking(session_key);
			expect([answer.status, answer.body.error]).toEqual([403, expect.stringContaining("session_key")]);
		}
		expect(await refusalsOf("token:bound")).toHaveLength(3);
	});

	test("uses an approval once, and only for what was approved", async () => {
		const asked = { action: "restart", description: "d", details: { host: "db1" } };
		const { body } = await keryx.call("POST", "/confirm", { bearer: agent, body: asked });
		const { id, digest } = body as { id: string; digest: string };
		expect(digest).toBe(
			confirmationDigest({ action: "restart", details: { host: "db1" }, requester: "agent", sessionKey: "" }),
		);
		const consume = (by: string, sent: object) =>
			keryx.call("POST", `/confirm/${id}/consume`, { bearer: by, body: sent });
		expect((await consume(agent, { digest })).body).toMatchObject({ status: "pending" });
		await keryx.call("POST", `/confirm/${id}/approve`, { bearer: approver });
		const elsewhere = confirmationDigest({
			action: "restart",
			details: { host: "db2" },
			requester: "agent",
			sessionKey: "",
		});
		const before = (await refusalsOf("token:agent")).length;
		expect((await consume(agent, { digest: elsewhere })).status).toBe(409);
		expect((await consume(other, { digest })).status).toBe(404);
		expect((await consume(agent, {})).status).toBe(400);
		const answers = await Promise.all(Array.from({ length: 8 }, () => consume(agent, { digest })));
		expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array<number>(7).fill(409)]);
		expect(await show(id)).toMatchObject({ status: "consumed", used_at: expect.any(Number) });
		expect((await refusalsOf("token:agent")).length).toBe(before + 8);
	});
});

describe("roles", () => {
	test("a reader reads everything and changes nothing", async () => {
		const id = await keryx.ask(agent, "restart");
		for (const path of [
			"/confirm",
			`/confirm/${id}`,
			"/audit",
			"/audit/log",
			"/audit/verify",
			"/grants",
			"/metrics",
		])
			expect((await keryx.call("GET", path, { bearer: reader })).status, path).toBe(200);
		for (const [path, body] of [
			["/confirm", { action: "a", description: "d" }],
			[`/confirm/${id}/approve`, {}],
			["/grants", { scope: "always", action: "restart" }],
			["/api/tokens", { name: "x", role: "reader" }],
			["/audit/accept", {}],
			["/api/inbound", { text: "hello" }],
		] as const)
			expect((await keryx.call("POST", path, { bearer: reader, body })).status, path).toBe(403);
		expect((await keryx.call("GET", "/api/tokens", { bearer: reader })).status).toBe(403);
	});

	test("only a token that asks can be bound to a conversation: others would only seem to be", async () => {
		for (const role of ["reader", "approver", "operator"]) {
			const body = { name: `bound-${role}`, role, session_key: "agent:main:web:dm:1" };
			const answer = await keryx.call("POST", "/api/tokens", { bearer: operator, body });
			expect([answer.status, JSON.stringify(answer.body)]).toEqual([
				400,
				expect.stringContaining("session_key"),
			]);
		}
	});

	test("an approver decides and grants, and asks for nothing", async () => {
		const body = { action: "a", description: "d" };
		expect((await keryx.call("POST", "/confirm", { bearer: approver, body })).status).toBe(403);
		expect((await keryx.call("POST", "/api/inbound", { bearer: approver, body: { text: "x" } })).status).toBe(
			403,
		);
		const id = await keryx.ask(agent, "restart");
		const answer = await keryx.call("POST", `/confirm/${id}/approve`, {
			bearer: approver,
			body: { approver: "alexander" },
		});
		expect(answer.body).toMatchObject({ status: "approved", resolved_by: "token:approver" });
		expect(await show(id)).toMatchObject({ resolved_by: "token:approver", resolved_label: "alexander" });
	});

	test("I14: who asked cannot decide, whatever its role", async () => {
		const id = await keryx.ask(operator, "restart");
		const own = await keryx.call("POST", `/confirm/${id}/approve`, { bearer: operator });
		expect(own.status).toBe(403);
		expect((await refusalsOf("token:operator")).length).toBeGreaterThan(0);
		expect((await keryx.call("POST", `/confirm/${id}/deny`, { bearer: SECRET })).body).toMatchObject({
			status: "denied",
			resolved_by: "operator",
		});
	});

	test("a revoked token ends at once, an expired one by the clock", async () => {
		const [short, long] = [
			await keryx.token("reader", { name: "short", days: 1 }),
			await keryx.token("reader", { name: "long", days: 2 }),
		];
		const works = async (bearer: string) => (await keryx.call("GET", "/audit", { bearer })).status;
		expect([await works(short), await works(long)]).toEqual([200, 200]);
		await keryx.clock.advance(86_400_000);
		expect([await works(short), await works(long)]).toEqual([401, 200]);
		const revoked = await keryx.call("POST", "/api/tokens/long/revoke", { bearer: operator, body: {} });
		expect(revoked.body).toEqual({ name: "long", revoked: true });
		expect(await works(long)).toBe(401);
		const taken = await keryx.call("POST", "/api/tokens", {
			bearer: operator,
			body: { name: "long", role: "reader" },
		});
		expect(taken).toMatchObject({ status: 409, body: { error: { code: "token.taken" } } });
		const { body } = await keryx.call("GET", "/api/tokens", { bearer: operator });
		expect(JSON.stringify(body)).not.toContain(operator);
	});
});

describe("what is asked and granted", () => {
	test("says that nobody was told, and how to answer", async () => {
		const { status, body } = await keryx.call("POST", "/confirm", {
			bearer: agent,
			body: { action: "restart", description: "d", timeout_seconds: 60 },
		});
		const base = `/confirm/${body.id}`;
		expect(status).toBe(202);
		expect(body).toMatchObject({
			told: false,
			message: expect.stringMatching(/nobody was notified.*keryx confirm approve/is),
			expires_at: keryx.clock.now() / 1000 + 60,
			expires_at_iso: new Date(keryx.clock.now() + 60_000).toISOString(),
			approve_url: `${base}/approve`,
			deny_url: `${base}/deny`,
			review_url: base,
		});
	});

	test("a known secret is taken out before it is stored, shown and hashed", async () => {
		const body = {
			action: "login",
			description: "with hunter2hunter2",
			details: { password: "hunter2hunter2" },
		};
		const answer = await keryx.call("POST", "/confirm", { bearer: agent, body });
		const details = { password: "•••" };
		expect(answer.body).toMatchObject({
			details,
			digest: confirmationDigest({ action: "login", details, requester: "agent", sessionKey: "" }),
		});
		expect(JSON.stringify(await show(answer.body.id as string))).not.toContain("hunter2");
	});

	test("the same idempotency key is the same confirmation, for another request a conflict", async () => {
		const asking = (description: string, details: object) =>
			keryx.call("POST", "/confirm", {
				bearer: agent,
				body: { action: "restart", description, details, idempotency_key: "once" },
			});
		const first = await asking("d", { n: 1 });
		expect(await asking("d", { n: 1 })).toMatchObject({ status: 202, body: { id: first.body.id } });
		expect(await asking("d", { n: 2 })).toMatchObject({ status: 409, body: { status: "pending" } });
		await keryx.call("POST", `/confirm/${first.body.id}/deny`, { bearer: approver });
		expect(await asking("d", { n: 1 })).toMatchObject({ status: 200, body: { status: "denied" } });
	});

	test("a grant answers from then on, until it is revoked, and never for what is always asked about", async () => {
		const id = await keryx.ask(agent, "sync");
		await keryx.call("POST", `/confirm/${id}/approve`, {
			bearer: approver,
			body: { grant: { scope: "always" } },
		});
		const asking = (bearer: string) =>
			keryx.call("POST", "/confirm", { bearer, body: { action: "sync", description: "d" } });
		expect(await asking(agent)).toMatchObject({ status: 200, body: { status: "auto_approved" } });
		expect((await asking(other)).status).toBe(202);
		const { body } = await keryx.call("GET", "/grants", { bearer: approver });
		const [grant] = body.grants as readonly { id: string; by: string; asked_by: string }[];
		expect(grant).toMatchObject({ by: "token:approver", asked_by: "token:agent" });
		const revoking = () => keryx.call("DELETE", `/grants?id=${grant?.id}`, { bearer: approver });
		expect((await revoking()).body).toEqual({ id: grant?.id, revoked: true });
		expect((await revoking()).body).toEqual({ id: grant?.id, revoked: false });
		expect((await keryx.call("DELETE", `/grants/${NEVER}`, { bearer: approver })).status).toBe(404);
		expect((await keryx.call("DELETE", "/grants", { bearer: approver })).status).toBe(400);
		expect((await asking(agent)).status).toBe(202);
		const added = { scope: "always", action: "delete_data" };
		expect((await keryx.call("POST", "/grants", { bearer: approver, body: added })).status).toBe(400);
		const own = { scope: "always", action: "tidy", pattern: '{"host":"db*"}', until: 4e9 };
		expect(await keryx.call("POST", "/grants", { bearer: approver, body: own })).toMatchObject({
			status: 201,
			body: { action: "tidy", by: "token:approver", until_iso: "2096-10-02T07:06:40.000Z" },
		});
		for (const until of [1e13, -1e13, "tomorrow", true])
			expect(
				(await keryx.call("POST", "/grants", { bearer: approver, body: { ...own, until } })).status,
			).toBe(400);
	});

	test("an edit at approval has a digest of its own, and only that can be used", async () => {
		const id = await keryx.ask(agent, "resize", { details: { to: 100 } });
		const { digest: before } = (await show(id)) as { digest: string };
		const approved = await keryx.call("POST", `/confirm/${id}/approve`, {
			bearer: approver,
			body: { edited_details: { to: 10 } },
		});
		expect(approved.body.digest).not.toBe(before);
		const consume = (digest: unknown) =>
			keryx.call("POST", `/confirm/${id}/consume`, { bearer: agent, body: { digest } });
		expect((await consume(before)).status).toBe(409);
		expect((await consume(approved.body.digest)).body).toMatchObject({
			status: "consumed",
			details: { to: 10 },
			details_before: { to: 100 },
		});
	});

	test("who waits is answered when it is decided, or when the seconds have passed", async () => {
		const id = await keryx.ask(agent, "restart");
		const waiting = keryx.call("GET", `/confirm/${id}?wait=60`, { bearer: agent });
		await keryx.call("POST", `/confirm/${id}/deny`, { bearer: approver, body: { reason: "no" } });
		expect((await waiting).body).toMatchObject({ status: "denied", reason: "no" });
		const second = await keryx.ask(agent, "restart");
		const timed = keryx.call("GET", `/confirm/${second}?wait=5`, { bearer: agent });
		await expect.poll(() => keryx.clock.pendingTimers()).toContain(keryx.clock.now() + 5000);
		await keryx.clock.advance(5000);
		expect((await timed).body).toMatchObject({ status: "pending" });
		for (const wait of ["abc", "-1", "1e3", "NaN"])
			expect((await keryx.call("GET", `/confirm/${second}?wait=${wait}`, { bearer: agent })).status).toBe(
				400,
			);
	});

	test("lists are paged, newest first", async () => {
		const ids: string[] = [];
		for (let n = 0; n < 5; n++) ids.unshift(await keryx.ask(other, `page${n}`));
		const seen: string[] = [];
		for (let next: string | null = ""; next !== null; ) {
			const path: string = `/confirm?status=pending&limit=2${next && `&before=${next}`}`;
			const { body } = await keryx.call("GET", path, { bearer: other });
			seen.push(...(body.confirmations as readonly { id: string }[]).map(({ id }) => id));
			next = body.next as string | null;
		}
		expect(seen.slice(0, 5)).toEqual(ids);
		expect(new Set(seen).size).toBe(seen.length);
		expect((await keryx.call("GET", "/confirm?status=maybe", { bearer: other })).status).toBe(400);
	});
});

test("a list says nothing about another's confirmation that it is to begin behind", async () => {
	const first = await keryx.ask(agent, "restart");
	const others = await keryx.ask(other, "restart");
	const last = await keryx.ask(agent, "restart");
	const list = async (before: string) =>
		(await keryx.call("GET", `/confirm?limit=2&before=${before}`, { bearer: agent })).body;
	expect(await list(others)).toEqual(await list(NEVER));
	expect(((await list(others)).confirmations as readonly { id: string }[]).map(({ id }) => id)).toEqual([
		last,
		first,
	]);
});

describe("checks come in their order", () => {
	const BIG = `"${"x".repeat(1_048_576)}"`;

	test("too large before who it is, who it is before what it may", async () => {
		expect((await keryx.call("POST", "/confirm", { body: BIG })).status).toBe(413);
		expect((await keryx.call("POST", "/confirm", { bearer: reader, body: BIG })).status).toBe(413);
		const stranger = await keryx.call("PUT", `/confirm/${NEVER}/approve`, { body: "no json" });
		expect([stranger.status, stranger.headers["www-authenticate"]]).toEqual([401, "Bearer"]);
		expect((await keryx.call("PUT", `/confirm/${NEVER}/approve`, { bearer: agent })).status).toBe(403);
	});

	test("then the method, the record, the kind of body, its form", async () => {
		const wrong = await keryx.call("PUT", `/confirm/${NEVER}/approve`, { bearer: approver, body: "x" });
		expect([wrong.status, wrong.headers.allow]).toEqual([405, "POST"]);
		const plain = { bearer: approver, body: "{bad", headers: { "content-type": "text/plain" } };
		expect((await keryx.call("POST", `/confirm/${NEVER}/approve`, plain)).status).toBe(404);
		const id = await keryx.ask(agent, "restart");
		expect((await keryx.call("POST", `/confirm/${id}/approve`, plain)).status).toBe(415);
		const json = { ...plain, headers: { "content-type": "application/json" } };
		expect((await keryx.call("POST", `/confirm/${id}/approve`, json)).status).toBe(400);
		expect(await show(id)).toMatchObject({ status: "pending" });
	});

	test.each([
		["as it should be", { reason: "fine" }],
		["with a grant", { grant: { scope: "always" } }],
		["with a wrong body", { reason: 7 }],
	])("a decision about nothing, %s, is not found and audited once", async (_, body) => {
		const before = (await refusalsOf("token:approver")).length;
		const answer = await keryx.call("POST", `/confirm/${NEVER}/approve`, { bearer: approver, body });
		expect(answer.status).toBe(404);
		const refusals = (await refusalsOf("token:approver")).slice(before);
		expect(refusals).toMatchObject([{ confirmation: NEVER, facts: { attempt: "resolve" } }]);
	});

	test("a body of no stated length is counted while it comes", async () => {
		const headers = { "transfer-encoding": "chunked", "content-type": "application/json" };
		const { status } = await keryx.call("POST", "/confirm", {
			bearer: agent,
			headers,
			body: BIG,
		});
		expect(status).toBe(413);
	});

	test.each([
		"/confirm/%",
		"/confirm/%zz",
		"/confirm/%E0%A4%A",
		"/confirm/%00",
		"/confirm//approve",
		"/confirm/x/",
		"/confirm/x/y/z",
		"/confirm/x/constructor",
		"/confirm/__proto__/approve",
	])("a path that leads nowhere is not found: %s", async (path) => {
		const answer = await keryx.call("GET", path, { bearer: operator });
		expect([404, 405]).toContain(answer.status);
		expect(answer.body.error).toEqual(expect.any(String));
	});

	test("arguments nested beyond all reason are refused, not fallen over", async () => {
		const deep = `{"action":"a","description":"d","details":{"x":${"[".repeat(100_000)}${"]".repeat(100_000)}}}`;
		const answer = await keryx.call("POST", "/confirm", {
			bearer: agent,
			body: deep,
			headers: { "content-type": "application/json" },
		});
		expect(answer.status).toBe(400);
	});
});
