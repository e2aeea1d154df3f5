// What the API says of itself is what it does: OpenAPI against the routes, and the reference against OpenAPI.
import { afterAll, beforeAll, expect, test } from "vitest";
import { readDecision, readGrant, readRequest } from "../../src/confirmations/index.ts";
import { GRANT_SCOPES } from "../../src/domain/index.ts";
import { createApp } from "../../src/http/app.ts";
import {
	type ConfirmAnswer,
	type ConfirmCall,
	type ConfirmCallName,
	type ConfirmReply,
	confirmCalls,
} from "../../src/http/confirm/schemas.ts";
import { endpoints } from "../../src/http/endpoints.ts";
import { event } from "../../src/http/schemas.ts";
import { EVENTS } from "../../src/store/events.ts";
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

test("the confirmations' routes are those of their table, and each is described", async () => {
	const described = calls().filter(({ path }) => CONFIRMATIONS.test(path));
	const table = Object.entries<ConfirmCall>(confirmCalls);
	expect(described.map(({ operationId, method, path }) => [operationId, method, path]).toSorted()).toEqual(
		table.map(([name, { method, path }]) => [name, method, path]).toSorted(),
	);
	const wanted = new Map<string, Set<string>>();
	for (const [, { method, path, also = path }] of table)
		for (const each of [path, also])
			wanted.set(each, (wanted.get(each) ?? new Set()).add(method.toUpperCase()));
	for (const path of [...wanted.keys(), "/audit/{id}", "/confirm/{id}/{id}", "/grants/{id}/{id}"]) {
		const url = `http://keryx${path.replaceAll("{id}", "none")}`;
		const answered: string[] = [];
		for (const method of ["GET", "POST", "DELETE", "PUT", "PATCH"]) {
			const init = method === "POST" ? { body: "{}", headers: { "content-type": "application/json" } } : {};
			const response = await keryx.api.fetch(new Request(url, { method, ...init }));
			const { error } = (await response.json()) as { readonly error?: string };
			if (response.status === 405)
				expect(response.headers.get("allow")?.split(", "), path).toEqual(
					[...(wanted.get(path) ?? [])].toSorted(byRank),
				);
			else if (error !== `there is no ${new URL(url).pathname}`) answered.push(method);
		}
		expect(answered, path).toEqual([...(wanted.get(path) ?? [])].toSorted(byRank));
	}
});

const RANK = ["GET", "POST", "DELETE"];
const byRank = (one: string, other: string) => RANK.indexOf(one) - RANK.indexOf(other);

test("the bodies of the confirmations' calls are read field by field as their table lists them", () => {
	const isRead = (read: (body: unknown) => unknown, body: object) => {
		const fields = new Set<string>();
		read(
			new Proxy(body, {
				get: (target, field) => {
					fields.add(String(field));
					return Reflect.get(target, field);
				},
			}),
		);
		return [...fields].toSorted();
	};
	const isListed = (name: ConfirmCallName) => {
		const { body }: ConfirmCall = confirmCalls[name];
		return Object.keys(body?.shape ?? {}).toSorted();
	};
	const named = { action: "restart", description: "d" };
	expect(isRead((body) => readRequest(body, 60), named)).toEqual(isListed("confirmRequest"));
	expect(isRead((body) => readDecision(body, "approved"), {})).toEqual(isListed("confirmApprove"));
	expect(isRead((body) => readDecision(body, "denied"), {})).toEqual(isListed("confirmDeny"));
	expect(isRead(readGrant, { ...named, scope: "always" })).toEqual(isListed("grantAdd"));
	for (const scope of GRANT_SCOPES)
		expect(readDecision({ grant: { scope, until: 1 } }, "approved").grant).toEqual({ scope, until: 1000 });
});

test("a reply of the confirmations' calls that is not in their table does not compile", () => {
	const settled = { id: "i", action: "a", digest: "d", message: "m" };
	const right: ConfirmReply<"confirmRequest"> = { status: 200, body: { ...settled, status: "approved" } };
	// @ts-expect-error one that waits is answered with 202, and more
	const wrong: ConfirmReply<"confirmRequest"> = { status: 200, body: { ...settled, status: "pending" } };
	// @ts-expect-error a grant is made with 201
	const status: ConfirmReply<"grantAdd">["status"] = 200;
	// @ts-expect-error a decided one has no deadline
	const deadline = (answer: ConfirmAnswer<"confirmRequest">) => answer.expires_at;
	const waiting = (answer: ConfirmAnswer<"confirmRequest">) =>
		answer.status === "pending" ? answer.expires_at : null;
	expect([right.status, wrong.status, status, deadline.length, waiting.length]).toEqual([
		200, 200, 200, 1, 1,
	]);
});

test("an event's types are those of the event table, and a client takes a later version's, too", () => {
	const { Event } = document.components.schemas as {
		readonly Event: { readonly properties: Record<string, { readonly enum?: readonly string[] }> };
	};
	expect(Event.properties.type?.enum).toEqual(Object.keys(EVENTS));
	const later = {
		...{ cursor: "e1", at: "2026-03-01T12:00:00.000Z", type: "weather.changed", facts: { rain: true } },
		...{ conversation: null, session: null, turn: null, subject: null },
	};
	expect(event.parse(later)).toEqual(later);
	expect(event.safeParse({ ...later, type: 1 }).success).toBe(false);
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
