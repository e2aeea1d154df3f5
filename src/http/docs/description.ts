// The API's self-description: OpenAPI from the server's schemas, and a reference from that.
import { z } from "@hono/zod-openapi";
import { htmlPage } from "../entry/html.ts";
import type { App } from "../environment.ts";
import { type Described, type Operation, referenceOf } from "./reference.ts";

const ABOUT =
	"The session gateway for AI agents. Errors are {error: {code, message, hint?, field?}}; those of /confirm, /grants and /audit are {error, status?}.";

/** Created on first use. */
export function addDescription(app: App, version: string): void {
	app.openAPIRegistry.registerComponent("securitySchemes", "bearer", { type: "http", scheme: "bearer" });
	describeRest(app);
	let made: Described | undefined;
	const document = () => (made ??= grouped(describe(app, version)));
	app.get("/openapi.json", (c) => c.json(document()));
	app.get("/docs", (c) => htmlPage(c, { title: `Keryx ${version}: the API`, body: referenceOf(document()) }));
}

function describe(app: App, version: string): Described {
	return app.getOpenAPI31Document({
		openapi: "3.1.0",
		info: { title: "Keryx", version, description: ABOUT },
		security: [{ bearer: [] }],
	}) as unknown as Described;
}

/** Routes that are not API calls but are answered. */
function describeRest(app: App): void {
	const rest = [
		["home", "/", "the page, for a browser; otherwise a short text about where to go", "text/plain"],
		["login", "/login", "where a login link leads: logs a browser in and sends it to the page", null],
		["openapi", "/openapi.json", "this description, as OpenAPI 3.1", "application/json"],
		["docs", "/docs", "this description as a web page", "text/html"],
	] as const;
	for (const [operationId, path, summary, type] of rest)
		app.openAPIRegistry.registerPath({
			operationId,
			method: "get",
			path,
			summary,
			...(operationId === "login" && {
				request: { query: z.object({ code: z.string() }) },
				security: [],
			}),
			responses: type
				? { 200: { description: summary, content: { [type]: { schema: z.unknown() } } } }
				: { 303: { description: "the browser is logged in" }, 401: { description: "the link is not valid" } },
		});
}

function grouped(document: Described): Described {
	const paths = Object.entries(document.paths).map(([path, methods]) => {
		const operations = Object.entries(methods).map(([method, operation]): [string, Operation] => [
			method,
			{ ...operation, tags: [groupOf(path)] },
		]);
		return [path, Object.fromEntries(operations)] as const;
	});
	return { ...document, paths: Object.fromEntries(paths) };
}

/** The resource of a path. */
function groupOf(path: string): string {
	const [first = "", second = "", third = ""] = path.split("/").filter((part) => !/^$|^\{/.test(part));
	if (first === "v1") return "OpenAI";
	if (first !== "api") return ["confirm", "grants", "audit", "events"].includes(first) ? first : "server";
	if (OF_THEIR_OWN.has(third)) return third;
	return second === "conversation" ? "conversations" : second;
}

const OF_THEIR_OWN: ReadonlySet<string> = new Set(["attachments", "checkpoints"]);
