// The recorded dialogue, step by step, against a real server on a real port.
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { onPort, type Ported } from "./port.ts";

interface Step {
	readonly id: number;
	readonly note: string;
	readonly as: "agent" | "approver";
	readonly advance_seconds: number;
	readonly method: string;
	readonly path: string;
	readonly headers: Readonly<Record<string, string>>;
	readonly body:
		| string
		| null
		| { readonly prefix: string; readonly repeat: string; readonly times: number; readonly suffix: string };
	readonly status: number;
	readonly fields: Readonly<Record<string, unknown>>;
	readonly makes?: string;
}

const { cases } = JSON.parse(
	readFileSync(new URL("../vectors/confirmation-http.json", import.meta.url), "utf8"),
) as { readonly cases: readonly Step[] };

let keryx: Ported;
const tokens = { agent: "", approver: "" };
const made = new Map<string, string>();
let restarted = false;

beforeAll(async () => {
	keryx = await onPort();
	tokens.agent = await keryx.token("agent");
	tokens.approver = await keryx.token("approver");
});
afterAll(() => keryx.close());

test.each(cases.map((step) => ({ ...step, name: `${step.id}: ${step.note}` })))(
	"step $name",
	async (step) => {
		if (step.note.startsWith("restarted") && !restarted) {
			restarted = true;
			await keryx.shut();
			await keryx.open();
		}
		await keryx.clock.advance(step.advance_seconds * 1000);
		const body =
			step.body === null || typeof step.body === "string"
				? step.body
				: step.body.prefix + step.body.repeat.repeat(step.body.times) + step.body.suffix;
		const path = step.path.replace(
			/^\/confirm\/([^/?]+)/,
			(_, id: string) => `/confirm/${made.get(id) ?? id}`,
		);
		const answer = await keryx.call(step.method, path, {
			bearer: tokens[step.as],
			headers: step.headers,
			...(body !== null && { body }),
		});
		expect({ status: answer.status, ...pick(answer.body, step.fields) }, answer.text.slice(0, 300)).toEqual({
			status: step.status,
			...step.fields,
		});
		if (step.makes !== undefined) made.set(step.makes, answer.body.id as string);
		if (answer.status >= 400 && step.path !== "/health")
			expect(answer.body.error).toEqual(expect.any(String));
		if (step.path.startsWith("/audit")) expectLimit(answer.body, step.path);
	},
);

test("the dialogue was gone through whole, and its audit verifies", async () => {
	expect(restarted).toBe(true);
	expect((await keryx.call("GET", "/audit/verify", { bearer: tokens.approver })).body).toMatchObject({
		ok: true,
		bad: null,
	});
});

function pick(body: Readonly<Record<string, unknown>>, fields: Readonly<Record<string, unknown>>) {
	return Object.fromEntries(Object.keys(fields).map((name) => [name, body[name]]));
}

/** What the limit means, which the recorded fields do not say. */
function expectLimit(body: Readonly<Record<string, unknown>>, path: string): void {
	const limit = new URL(path, "http://keryx").searchParams.get("limit");
	const most = limit !== null && /^-?\d+$/.test(limit) ? Math.min(500, Math.max(1, Number(limit))) : 50;
	const entries = body.entries as readonly Record<string, unknown>[];
	expect(entries).toHaveLength(Math.min(most, made.size));
	expect(body.count).toBe(entries.length);
	const times = entries.map((entry) => entry.created_at as number);
	expect(times).toEqual(times.toSorted((a, b) => b - a));
}
