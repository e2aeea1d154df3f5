// Everything that the confirmation endpoints answer stands in /openapi.json, and nothing else does.
import { afterAll, beforeAll, expect, test } from "vitest";
import { onPort, type Ported } from "./port.ts";

interface Schema {
	readonly $ref?: string;
	readonly allOf?: readonly Schema[];
	readonly anyOf?: readonly Schema[];
	readonly properties?: Readonly<Record<string, Schema>>;
	readonly required?: readonly string[];
	readonly items?: Schema;
}
interface Description {
	readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
	readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}
interface Operation {
	readonly responses: Readonly<Record<string, { readonly content: Record<string, { schema: Schema }> }>>;
}

let keryx: Ported;
let description: Description;
let [agent, approver] = ["", ""];
beforeAll(async () => {
	keryx = await onPort({ confirmations: { rate_limit: 4 } });
	agent = await keryx.token("agent", { name: "agent" });
	approver = await keryx.token("approver", { name: "approver" });
	description = (await keryx.call("GET", "/openapi.json", { bearer: approver }))
		.body as unknown as Description;
});
afterAll(() => keryx.close());

/** With what it refers to and extends put in. */
function whole(schema: Schema): Schema {
	if (schema.$ref) return whole(description.components.schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {});
	const parts = (schema.allOf ?? []).map(whole);
	return {
		...schema,
		properties: Object.assign({}, ...parts.map((part) => part.properties), schema.properties),
		required: [...parts.flatMap((part) => part.required ?? []), ...(schema.required ?? [])],
	};
}

function compare(answer: unknown, schema: Schema, at: string): void {
	if (Array.isArray(answer)) {
		for (const one of answer) compare(one, schema.items ?? {}, `${at}[]`);
		return;
	}
	const { properties = {}, required = [] } = whole(schema);
	if (typeof answer !== "object" || answer === null || Object.keys(properties).length === 0) return;
	expect(Object.keys(properties), at).toEqual(expect.arrayContaining(Object.keys(answer)));
	expect(Object.keys(answer), at).toEqual(expect.arrayContaining([...required]));
	for (const [name, value] of Object.entries(answer)) compare(value, properties[name] ?? {}, `${at}.${name}`);
}

async function call(
	method: "GET" | "POST" | "DELETE",
	path: string,
	described: string,
	{ expected, ...more }: { readonly bearer: string; readonly body?: object; readonly expected?: number },
) {
	const { status, body } = await keryx.call(method, path, more);
	if (expected === undefined) expect(status, path).toBeLessThan(300);
	else expect(status, path).toBe(expected);
	const operation = description.paths[described]?.[method.toLowerCase()];
	const schema = operation?.responses[status]?.content["application/json"]?.schema;
	if (!schema) expect.fail(`${method} ${described} with ${status} is not described`);
	// Of several, the first is the family's own.
	compare(body, schema.anyOf?.[0] ?? schema, `${method} ${described} ${status}`);
	return body as Record<string, string>;
}

test("a request that needs no question is described, and so is every refusal with more than an error", async () => {
	const ask = (key: string, more: { readonly expected: number; readonly description?: string }) => {
		const { expected, description: text = "reboot it" } = more;
		const body = { action: "reboot", description: text, details: { key }, idempotency_key: key };
		return call("POST", "/confirm", "/confirm", { bearer: agent, body, expected });
	};
	const { id, digest } = await ask("a", { expected: 202 });
	expect((await ask("a", { expected: 202 })).id).toBe(id);
	const used = { action: "other", description: "d", idempotency_key: "a" };
	await call("POST", "/confirm", "/confirm", { bearer: agent, body: used, expected: 409 });
	await call("POST", `/confirm/${id}/consume`, "/confirm/{id}/consume", {
		...{ bearer: agent, body: { digest }, expected: 409 },
	});
	const decide = (verb: string, expected: number) =>
		call("POST", `/confirm/${id}/${verb}`, `/confirm/{id}/${verb}`, { bearer: approver, body: {}, expected });
	await decide("approve", 200);
	await decide("approve", 409);
	await decide("deny", 409);
	await call("POST", `/confirm/${id}/cancel`, "/confirm/{id}/cancel", {
		...{ bearer: agent, body: {}, expected: 409 },
	});
	expect(await ask("a", { expected: 200 })).toMatchObject({ id, digest, status: "approved" });
	for (const key of ["b", "c", "d"]) await ask(key, { expected: 202 });
	await ask("e", { expected: 429 });
	await call("POST", "/grants", "/grants", {
		...{ bearer: approver, body: { scope: "always", action: "reboot" } },
	});
	expect(await ask("f", { expected: 200 })).toMatchObject({ status: "auto_approved" });
	const operator = await keryx.token("operator");
	await call("POST", "/audit/accept", "/audit/accept", { bearer: operator, body: {}, expected: 409 });
});

test("every answer of the confirmation endpoints is described, field by field", async () => {
	const [asAgent, asApprover] = [{ bearer: agent }, { bearer: approver }];
	const ask = async (action: string) => {
		const body = { action, description: "restart it", details: { host: "a" } };
		return (await call("POST", "/confirm", "/confirm", { ...asAgent, body })).id as string;
	};
	const [approved, denied, cancelled] = [await ask("restart"), await ask("reload"), await ask("rename")];
	await call("GET", "/confirm", "/confirm", asApprover);
	await call("POST", `/confirm/${approved}/approve`, "/confirm/{id}/approve", {
		...asApprover,
		body: { reason: "fine" },
	});
	await call("POST", `/confirm/${denied}/deny`, "/confirm/{id}/deny", {
		...asApprover,
		body: { reason: "no" },
	});
	await call("POST", `/confirm/${cancelled}/cancel`, "/confirm/{id}/cancel", { ...asAgent, body: {} });
	const { digest } = await call("GET", `/confirm/${approved}`, "/confirm/{id}", asApprover);
	await call("POST", `/confirm/${approved}/consume`, "/confirm/{id}/consume", {
		...asAgent,
		body: { digest },
	});
	const { id } = await call("POST", "/grants", "/grants", {
		...asApprover,
		body: { scope: "always", action: "restart" },
	});
	await call("GET", "/grants", "/grants", asApprover);
	await call("DELETE", `/grants/${id}`, "/grants/{id}", asApprover);
	for (const path of ["/audit", "/audit/log", "/audit/verify"]) await call("GET", path, path, asApprover);
});
