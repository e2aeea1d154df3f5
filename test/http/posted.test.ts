// Messages that a program posts: whatever their source says, they decide nothing for the person they name (I14, I17).
import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ConversationId } from "../../src/domain/index.ts";
import { SECRET, type Served, serve, TERMINAL } from "./support.ts";

/** The owner of another platform, as a channel would name them. */
const OWNER = { platform: "telegram", chat_id: "ada", chat_type: "dm", user_id: "ada", user_name: "Ada" };
const OPERATOR = { kind: "operator" } as const;
const PROVEN = { authorization: `Bearer ${SECRET}` };

let keryx: Served;
beforeEach(async () => {
	keryx = await serve(undefined, { auth: { telegram: { allow: [{ id: "ada", role: "owner" }] } } });
});
afterEach(() => keryx.close());

/** Posts, waits for its end, and answers what was said to it. */
async function post(text: string, source: object, headers: Record<string, string> = {}) {
	const request = (path: string, init: RequestInit) =>
		keryx.api.fetch(new Request(`http://keryx${path}`, init)).then((response) => response.json());
	const { id, conversation } = (await request("/api/inbound", {
		method: "POST",
		headers: { "content-type": "application/json", ...headers },
		body: JSON.stringify({ text, client_message_id: randomUUID(), source }),
	})) as { id: number; conversation: ConversationId };
	await request(`/api/inbound/${id}?wait=30`, {});
	const { body } = await keryx.store.delivery({ scope: OPERATOR, id: `command:${id}:1` });
	return { conversation, said: body.text };
}

async function asked(): Promise<string> {
	const { body } = await keryx.client.confirm("POST", "/confirm", {
		action: "drop_table",
		description: "the old one",
	});
	return body.id as string;
}

async function state(id: string) {
	const { status, resolvedBy } = await keryx.store.confirmation({ scope: OPERATOR, id, now: Date.now() });
	return [status, resolvedBy];
}

async function refusals() {
	const entries = await keryx.store.auditLog({ scope: OPERATOR, limit: 100 });
	return entries.filter(({ kind }) => kind === "refused").map(({ who, via, facts }) => ({ who, via, facts }));
}

describe.each([
	["on the socket without a token", {}, "socket"],
	["with the operator secret", PROVEN, "operator"],
])("in the name of another platform's owner, %s", (_name, headers, who) => {
	test.each(["/approve ID", "/approve ID always", "/deny ID", "/deny ID because"])(
		"%s decides nothing, and the audit names the program",
		async (text) => {
			const id = await asked();
			const { said } = await post(text.replace("ID", id), OWNER, headers);
			expect(said).toContain("posted");
			expect(await state(id)).toEqual(["pending", null]);
			expect(await keryx.store.grants({ scope: OPERATOR, limit: 10 })).toEqual([]);
			expect(await refusals()).toEqual([
				{
					who,
					via: "api",
					facts: { attempt: text.split(" ")[0], reason: expect.stringContaining("telegram:ada") },
				},
			]);
		},
	);

	test.each(["/busy steer", "/model other", "/verbose all", "/title mine"])(
		"%s changes no setting",
		async (text) => {
			const { conversation, said } = await post(text, OWNER, headers);
			expect(said).toContain("posted");
			expect(await keryx.store.conversation({ scope: OPERATOR, ref: { id: conversation } })).toMatchObject({
				busy: null,
				modelOverride: null,
				toolProgress: null,
			});
			expect(await refusals()).toMatchObject([{ who }]);
		},
	);
});

describe("at the terminal", () => {
	test("who shows who they are decides and changes settings", async () => {
		const id = await asked();
		await post(`/approve ${id}`, TERMINAL, PROVEN);
		expect(await state(id)).toEqual(["approved", "operator"]);
		const { conversation } = await post("/busy steer", TERMINAL, PROVEN);
		const { busy } = await keryx.store.conversation({ scope: OPERATOR, ref: { id: conversation } });
		expect(busy).toBe("steer");
		expect(await refusals()).toEqual([]);
	});

	test("who reached the socket alone does not", async () => {
		const id = await asked();
		expect((await post(`/approve ${id}`, TERMINAL)).said).toContain("who you are");
		const { conversation } = await post("/busy steer", TERMINAL);
		expect(await state(id)).toEqual(["pending", null]);
		const { busy } = await keryx.store.conversation({ scope: OPERATOR, ref: { id: conversation } });
		expect(busy).toBeNull();
		expect(await refusals()).toMatchObject([
			{ who: "socket", facts: { attempt: "/approve" } },
			{ who: "socket", facts: { attempt: "/busy" } },
		]);
	});
});

test("what is posted with another's name is not a decision after a crash either", async () => {
	const { conversation } = await post("/status", OWNER);
	const id = await asked();
	await keryx.gateway.stop();
	const { poster } = await keryx.store.inboxItem({
		scope: OPERATOR,
		id: (
			await keryx.store.accept({
				kind: "person",
				source: OWNER,
				platformMessage: "posted before the crash",
				content: `/approve ${id}`,
				routing: { groupSessionsPerUser: true, threadSessionsPerUser: false, profile: "" },
				as: { kind: "accept" },
				role: "owner",
				conversation,
				poster: { who: "socket", via: "api", decides: false },
			})
		).id,
	});
	expect(poster).toEqual({ who: "socket", via: "api", decides: false });
	await keryx.gateway.start();
	await expect.poll(refusals).toMatchObject([{ who: "socket", facts: { attempt: "/approve" } }]);
	expect(await state(id)).toEqual(["pending", null]);
});
