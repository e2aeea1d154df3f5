// Letting people in over the API: who may, with what, and what they are told.
import { afterAll, beforeAll, expect, test } from "vitest";
import { codeDigest } from "../../src/gateway/index.ts";
import { onPort, type Ported, SECRET } from "./port.ts";

let port: Ported;
beforeAll(async () => {
	port = await onPort();
});
afterAll(() => port.close());

/** A stranger writes, and was sent this code. */
function stranger(id: string, code: string) {
	return port.store.accept({
		kind: "person",
		source: { platform: "telegram", chat_id: id, user_id: id, user_name: `Name of ${id}` },
		platformMessage: "m1",
		content: "let me in",
		routing: { groupSessionsPerUser: true, threadSessionsPerUser: false, profile: "" },
		as: {
			kind: "refuse",
			reason: "not allowed",
			pairing: { digest: codeDigest("telegram", code), deliveries: [] },
		},
	});
}

const post = (what: "approve" | "deny", body: object, bearer = SECRET) =>
	port.call("POST", `/api/pairings/${what}`, { bearer, body });

test("whoever runs Keryx lets a person in by their code, or by the number of the list; both are told to nobody else", async () => {
	await stranger("eve", "AAAABBBB");
	await stranger("sam", "CCCCDDDD");
	const listed = await port.call("GET", "/api/pairings", { bearer: SECRET });
	expect(listed.body.pairings).toMatchObject([
		{ id: "sam", state: "open" },
		{ id: "eve", name: "Name of eve", state: "open", role: null },
	]);
	expect(listed.text).not.toContain(codeDigest("telegram", "AAAABBBB"));
	const approved = await post("approve", { platform: "telegram", code: "aaaa-bbbb", role: "guest" });
	expect(approved.body).toMatchObject({
		id: "eve",
		state: "approved",
		role: "guest",
		decided_by: "operator",
	});
	const [{ n }] = listed.body.pairings as [{ n: number }];
	expect((await post("deny", { n, platform: "discord" })).status).toBe(404);
	expect((await post("deny", { n })).body).toMatchObject({ id: "sam", state: "denied" });
	expect((await post("approve", { n })).body).toMatchObject({ error: { code: "pairing.over" } });
});

test("deciding needs proof on the socket too, and the role of an operator", async () => {
	const body = { platform: "telegram", code: "WRONGWRO" };
	expect((await port.local("POST", "/api/pairings/approve", { body })).status).toBe(401);
	for (const role of ["approver", "agent", "reader"] as const)
		expect((await post("approve", body, await port.token(role))).status).toBe(403);
});

test("a wrong code says how many are left, and the fifth that none is taken any more", async () => {
	const body = { platform: "telegram", code: "WRONGWRO" };
	for (const left of [4, 3, 2, 1]) {
		const answer = await post("approve", body);
		expect([answer.status, answer.text]).toEqual([404, expect.stringContaining(`after ${left} more`)]);
	}
	expect((await post("approve", body)).status).toBe(429);
	expect((await post("approve", { role: "owner" })).body).toMatchObject({
		error: { code: "argument.invalid" },
	});
});
