// What the API says of itself is what it does: OpenAPI against the routes, and the reference against OpenAPI.
import { afterAll, beforeAll, expect, test } from "vitest";
import { createApp } from "../../src/http/app.ts";
import { endpoints } from "../../src/http/endpoints.ts";
import { type Served, serve } from "./support.ts";

interface Document {
	readonly openapi: string;
	readonly paths: Record<
		string,
		Record<
			string,
			{ readonly operationId: string; readonly tags: readonly string[]; readonly summary: string }
		>
	>;
	readonly components: { readonly schemas: Record<string, unknown> };
}

let keryx: Served;
let text: string;
let document: Document;
beforeAll(async () => {
	keryx = await serve();
	text = await (await keryx.api.fetch(new Request("http://keryx/openapi.json"))).text();
	document = JSON.parse(text) as Document;
});
afterAll(() => keryx.close());

const calls = () =>
	Object.entries(document.paths).flatMap(([path, methods]) =>
		Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
	);

/** One way in for each method, which tells them apart itself. */
const CONFIRMATIONS = /^\/(?:confirm|grants|audit)(?:\/|$)/;

test("every route that the server answers is described, and nothing is that it does not answer", () => {
	const { app, api } = createApp(keryx.host);
	const routes = app.routes
		.filter(({ method, path }) => method !== "ALL" && !CONFIRMATIONS.test(path))
		.map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, "{$1}")}`);
	const described = calls()
		.filter(({ path }) => !CONFIRMATIONS.test(path))
		.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
	expect([...new Set(routes)].toSorted()).toEqual(described.toSorted());
	api.close();
});

test("every confirmation's call is described, and each is answered", async () => {
	const family = calls().filter(({ path }) => CONFIRMATIONS.test(path));
	expect(family.map(({ operationId }) => operationId).toSorted()).toEqual(
		[
			...[
				"audit",
				"auditAccept",
				"auditLog",
				"auditVerify",
				"confirmApprove",
				"confirmCancel",
				"confirmConsume",
			],
			...["confirmDeny", "confirmList", "confirmRead", "confirmRequest", "grantAdd", "grantList"],
			"grantRevoke",
		].toSorted(),
	);
	for (const { method, path } of family) {
		const url = `http://keryx${path.replace(/\{\w+\}/g, "none")}`;
		const init = method === "post" ? { body: "{}", headers: { "content-type": "application/json" } } : {};
		const response = await keryx.api.fetch(new Request(url, { method, ...init }));
		expect(response.status, `${method} ${path}`).not.toBe(405);
		expect(await response.text(), `${method} ${path}`).not.toContain("no_route");
	}
});

test("a call has one name, and the client's names are among them", () => {
	const names = calls().map(({ operationId }) => operationId);
	expect(new Set(names).size).toBe(names.length);
	for (const name of Object.keys(endpoints)) expect(names).toContain(name);
	for (const { operationId, summary, tags } of calls()) {
		expect(summary, operationId).not.toBe("");
		expect(tags, operationId).toHaveLength(1);
	}
});

test("it is OpenAPI 3.1, and each shape that it names is there", () => {
	expect(document.openapi).toBe("3.1.0");
	for (const [, name = ""] of text.matchAll(/"#\/components\/schemas\/(\w+)"/g))
		expect(Object.keys(document.components.schemas)).toContain(name);
});

test("the reference shows every call with an example, needs no script, and takes nothing from elsewhere", async () => {
	const response = await keryx.api.fetch(new Request("http://keryx/docs"));
	expect(response.headers.get("content-type")).toContain("text/html");
	expect(response.headers.get("content-security-policy")).not.toContain("script-src");
	const page = await response.text();
	for (const { method, path, operationId } of calls()) {
		expect(page).toContain(`id="call-${operationId}"`);
		expect(page).toContain(`<span class="method">${method.toUpperCase()}</span> <code>${path}</code>`);
	}
	expect(page).toContain(
		"curl -H &quot;Authorization: Bearer $TOKEN&quot; &quot;http://127.0.0.1:7717/api/turns/$TURN&quot;",
	);
	expect(page).not.toMatch(/<script|<link|<img|@import|url\(/);
	expect(page).not.toMatch(/(?:href|src)="(?![/#])/);
	const anchors = new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
	for (const [, target = ""] of page.matchAll(/href="#([^"]+)"/g)) expect(anchors, target).toContain(target);
	expect(page).not.toContain("[object Object]");
	expect(page).not.toContain("undefined");
});
