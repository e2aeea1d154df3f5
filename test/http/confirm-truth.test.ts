// What the record of a confirmation says is what happened: who could be told, who decided, what was not used, where to look.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { serveOnPort } from "../../src/http/index.ts";
import { type Keryx, openKeryx } from "../page/support.ts";
import { exchange, onPort, type Ported, SECRET } from "./port.ts";

const MINUTE = 60_000;
const OPERATOR = { kind: "operator" } as const;
const page = mkdtempSync(join(tmpdir(), "keryx-truth-"));
writeFileSync(join(page, "index.html"), "<title>Keryx</title>");

let keryx: Ported;
let [agent, approver] = ["", ""];
beforeAll(async () => {
	keryx = await onPort({ confirmations: { use_within_minutes: 15 } }, { page });
	agent = await keryx.token("agent", { name: "agent" });
	approver = await keryx.token("approver", { name: "approver" });
});
afterAll(async () => {
	await keryx.close();
	rmSync(page, { recursive: true });
});

const show = async (id: string, bearer = approver) =>
	(await keryx.call("GET", `/confirm/${id}`, { bearer })).body;
const approve = (id: string, body: object = {}) =>
	keryx.call("POST", `/confirm/${id}/approve`, { bearer: approver, body });

describe("an approval that is not used in time", () => {
	test("expires, keeps who gave it and when, and says that its use ran out", async () => {
		const id = await keryx.ask(agent, "restart", { timeout_seconds: 3600 });
		const approvedAt = keryx.clock.now() / 1000;
		await approve(id);
		expect(await show(id)).toMatchObject({ status: "approved", use_expired_at: null });
		await keryx.clock.advance(15 * MINUTE);
		const lapsed = {
			status: "expired",
			resolved_by: "token:approver",
			resolved_at: approvedAt,
			use_expired_at: approvedAt + 900,
			use_expired_at_iso: new Date((approvedAt + 900) * 1000).toISOString(),
		};
		expect(await show(id)).toMatchObject(lapsed);
		const audited = async () =>
			(await keryx.call("GET", `/audit/log?confirmation=${id}`, { bearer: approver })).body.entries;
		// The watcher writes it down when it next looks.
		await expect
			.poll(audited)
			.toMatchObject([
				{ kind: "requested" },
				{ kind: "approved", who: "token:approver" },
				{ kind: "expired", who: "system:timeout", facts: { was: "approved" } },
			]);
		const { digest } = (await show(id)) as { digest: string };
		const used = await keryx.call("POST", `/confirm/${id}/consume`, { bearer: agent, body: { digest } });
		expect([used.status, used.body.status]).toEqual([409, "expired"]);
		expect(await show(id)).toMatchObject(lapsed);
	});

	test("says so before the watcher has come by, too", async () => {
		const id = await keryx.ask(agent, "restart", { timeout_seconds: 3600 });
		await approve(id);
		await keryx.confirmations.stop();
		await keryx.clock.advance(15 * MINUTE);
		expect(await show(id)).toMatchObject({
			status: "expired",
			resolved_by: "token:approver",
			use_expired_at: keryx.clock.now() / 1000,
		});
		keryx.confirmations.start();
	});

	test("is told apart from one that nobody answered", async () => {
		const id = await keryx.ask(agent, "restart", { timeout_seconds: 30 });
		await keryx.clock.advance(30_000);
		expect(await show(id)).toMatchObject({
			status: "expired",
			resolved_by: "system:timeout",
			use_expired_at: null,
		});
	});
});

describe("a client without a token, which never says that it used an approval", () => {
	test("is told of it for as long as it asks, by a human and by a grant", async () => {
		const compat = await serveOnPort(keryx.api, { host: "127.0.0.1", port: 0, compat: true });
		const call = (method: string, path: string, body?: object) =>
			exchange({ host: "127.0.0.1", port: compat.port }, method, path, body && { body });
		const ask = () => call("POST", "/confirm", { action: "reboot", description: "d", timeout_seconds: 3600 });
		const { id } = (await ask()).body as { id: string };
		await approve(id, { grant: { scope: "always" } });
		const granted = await ask();
		expect(granted.body).toMatchObject({ status: "auto_approved" });
		await keryx.clock.advance(60 * 24 * MINUTE);
		expect((await call("GET", `/confirm/${id}`)).body).toMatchObject({
			status: "approved",
			resolved_by: "token:approver",
			use_expired_at: null,
		});
		expect((await call("GET", `/confirm/${granted.body.id}`)).body).toMatchObject({
			status: "auto_approved",
		});
		expect(await keryx.store.checkIntegrity({ scope: OPERATOR })).toEqual({ problems: [] });
		await compat.close();
	});
});

describe("what who asked is answered", () => {
	const asking = () =>
		keryx.call("POST", "/confirm", { bearer: agent, body: { action: "restart", description: "d" } });

	test("has paths that decide, and an address that leads to the page", async () => {
		const { body } = await asking();
		expect(body).toMatchObject({
			approve_url: `/confirm/${body.id}/approve`,
			deny_url: `/confirm/${body.id}/deny`,
			review_url: `http://127.0.0.1:${keryx.port}/confirmations?id=${body.id}`,
		});
		const review = new URL(body.review_url as string);
		const looked = await keryx.call("GET", review.pathname + review.search, {
			headers: { accept: "text/html" },
		});
		expect([looked.status, looked.text]).toEqual([200, "<title>Keryx</title>"]);
		const approved = await keryx.call("POST", body.approve_url as string, { bearer: approver });
		expect(approved.body).toMatchObject({ status: "approved" });
		const { body: second } = await asking();
		const denied = await keryx.call("POST", second.deny_url as string, { bearer: approver });
		expect(denied.body).toMatchObject({ status: "denied" });
	});

	test("leads to the record where there is no page", async () => {
		const bare = await onPort();
		try {
			const { body } = await bare.call("POST", "/confirm", {
				bearer: await bare.token("agent"),
				body: { action: "restart", description: "d" },
			});
			expect(body.review_url).toBe(`/confirm/${body.id}`);
			expect((await bare.call("GET", body.review_url as string, { bearer: SECRET })).status).toBe(200);
		} finally {
			await bare.close();
		}
	});

	test("nobody has resolved what is pending: that is an empty name, as clients expect", async () => {
		const { id } = (await asking()).body as { id: string };
		expect((await show(id)).resolved_by).toBe("");
		const { body } = await keryx.call("GET", "/audit?limit=1", { bearer: approver });
		expect(body.entries).toMatchObject([{ id, resolved_by: "" }]);
		const list = await keryx.call("GET", "/confirm?status=pending&limit=1", { bearer: approver });
		expect(list.body.confirmations).toMatchObject([{ id, resolved_by: "" }]);
	});
});

describe("who was told", () => {
	let whole: Keryx;
	let hook: Server;
	let address: string;
	beforeAll(async () => {
		hook = createServer((_request, response) => response.writeHead(400).end());
		await new Promise<void>((resolve) => hook.listen(0, "127.0.0.1", resolve));
		address = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/hook`;
	});
	afterAll(async () => {
		await whole.close();
		hook.close();
		delete process.env.TRUTH_SECRET;
	});

	const asked = async () => {
		const { body } = await whole.client.confirm("POST", "/confirm", { action: "restart", description: "d" });
		return body as { id: string; told: boolean; message: string };
	};

	test("a chat of a platform without a channel is told nothing, and the record says so", async () => {
		whole = await openKeryx({
			config: { confirmations: { notify: [{ platform: "telegram", chat_id: "42" }] } },
		});
		const { id, told, message } = await asked();
		expect([told, message]).toEqual([false, expect.stringContaining("Nobody could be notified")]);
		expect((await whole.client.confirm("GET", `/confirm/${id}`)).body).toMatchObject({
			told: false,
			notices: [{ to: "telegram:42", state: "dead" }],
		});
		await whole.close();
	});

	test("a webhook counts until it has refused", async () => {
		process.env.TRUTH_SECRET = "a secret that is long enough";
		whole = await openKeryx({
			config: { confirmations: { notify: [{ webhook: address, secret_env: "TRUTH_SECRET" }] } },
		});
		const { id, told } = await asked();
		expect(told).toBe(true);
		const record = async () => (await whole.client.confirm("GET", `/confirm/${id}`)).body;
		await expect.poll(record).toMatchObject({ told: false, notices: [{ state: "dead" }] });
	});
});
