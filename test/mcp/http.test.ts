// MCP servers over HTTP: with a key, with a login of OAuth, and one that sends too much. The server here is made of the official
// package, behind a small authorization server of our own.
import { readFileSync, statSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { loginFiles } from "../../src/app/mcp.ts";
import { NO_SECRETS } from "../../src/secrets/index.ts";
import { loginOf } from "../../src/tools/index.ts";
import { Scene } from "./scene.ts";

let scene: Scene;
let server: Server;
let url: string;
/** Tokens that are let in. */
const good = new Set<string>();
const seen: string[] = [];

beforeEach(async () => {
	scene = new Scene();
	good.clear();
	seen.length = 0;
	server = createServer((request, response) => {
		void answer(request).then(async (given) => {
			response.writeHead(given.status, Object.fromEntries(given.headers));
			if (given.body) for await (const piece of given.body) response.write(piece);
			response.end();
		});
	});
	await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
	url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
	await scene.end();
	server.closeAllConnections();
	server.close();
});

const handler = createMcpHandler(() => {
	const mcp = new McpServer({ name: "remote", version: "1" });
	const said = (text: string) => ({ content: [{ type: "text" as const, text }] });
	const annotations = { readOnlyHint: true };
	mcp.registerTool("ping", { inputSchema: z.object({}), annotations }, async () => said("pong from afar"));
	mcp.registerTool("huge", { inputSchema: z.object({}), annotations }, async () =>
		said("x".repeat(20_000_000)),
	);
	return mcp;
});

async function answer(incoming: IncomingMessage): Promise<Response> {
	const { pathname, searchParams } = new URL(incoming.url ?? "/", url);
	const chunks: Buffer[] = [];
	for await (const chunk of incoming) chunks.push(chunk as Buffer);
	const body = Buffer.concat(chunks).toString("utf8");
	const json = (value: object, status = 200) => Response.json(value, { status });
	switch (pathname) {
		case "/.well-known/oauth-protected-resource/mcp":
		case "/.well-known/oauth-protected-resource":
			return json({ resource: `${url}/mcp`, authorization_servers: [url] });
		case "/.well-known/oauth-authorization-server":
			return json({
				issuer: url,
				authorization_endpoint: `${url}/authorize`,
				token_endpoint: `${url}/token`,
				registration_endpoint: `${url}/register`,
				response_types_supported: ["code"],
				code_challenge_methods_supported: ["S256"],
				token_endpoint_auth_methods_supported: ["none"],
			});
		case "/register":
			return json({ ...(JSON.parse(body) as object), client_id: "keryx-1" }, 201);
		case "/authorize":
			return Response.redirect(
				`${searchParams.get("redirect_uri")}?code=c0de&state=${searchParams.get("state") ?? ""}`,
			);
		case "/token": {
			const grant = new URLSearchParams(body).get("grant_type");
			const access = `access-token-of-${grant}-0123456789`;
			good.add(access);
			return json({
				access_token: access,
				refresh_token: "refresh-token-0123456789",
				token_type: "Bearer",
				expires_in: 3600,
			});
		}
		case "/mcp": {
			const bearer = incoming.headers.authorization ?? "";
			seen.push(bearer);
			if (!good.has(bearer.replace("Bearer ", "")))
				return new Response(null, {
					status: 401,
					headers: {
						"www-authenticate": `Bearer resource_metadata="${url}/.well-known/oauth-protected-resource/mcp"`,
					},
				});
			const headers = new Headers(
				Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
			);
			return handler.fetch(
				new Request(`${url}/mcp`, {
					method: incoming.method ?? "GET",
					headers,
					...(body !== "" && { body }),
				}),
			);
		}
		default:
			return json({ error: "not found" }, 404);
	}
}

test("with a key from the environment; an answer that is too long says so, and the next one comes", async () => {
	good.add("the-key-0123456789");
	await scene.start(
		{ far: { url: `${url}/mcp`, headers_env: { Authorization: "FAR_KEY" } } },
		{ env: { FAR_KEY: "Bearer the-key-0123456789" } },
	);
	expect(await scene.ask("call far__ping")).toContain("pong from afar");
	expect(await scene.ask("call far__huge")).toContain("longer than 8");
	expect(await scene.ask("call far__ping")).toContain("pong from afar");
});

test("with a login: it says that one is needed, uses what the login left, and renews it", async () => {
	await scene.start({ far: { url: `${url}/mcp` } });
	const state = async () => (await scene.servers()).servers[0];
	await expect.poll(async () => (await state())?.state).toBe("login");
	expect((await state())?.why).toContain("mcp login far");
	// As `keryx mcp login` does it, with a browser that says yes.
	const files = loginFiles(scene.home);
	const { auth } = await import("@modelcontextprotocol/client");
	let code = "";
	const provider = loginOf(
		"far",
		{ ...files, secrets: NO_SECRETS },
		{
			redirectUrl: "http://127.0.0.1:9/callback",
			open: async (to) => {
				const back = await fetch(to, { redirect: "manual" });
				code = new URL(back.headers.get("location") ?? "").searchParams.get("code") ?? "";
			},
		},
	);
	expect(await auth(provider, { serverUrl: `${url}/mcp` })).toBe("REDIRECT");
	expect(await auth(provider, { serverUrl: `${url}/mcp`, authorizationCode: code })).toBe("AUTHORIZED");
	const file = join(scene.home, "keys", "mcp-far.json");
	expect(statSync(file).mode & 0o777).toBe(0o600);
	await scene.keryx.client.testMcpServer({ name: "far" });
	expect(await scene.ask("call far__ping")).toContain("pong from afar");
	// The token ends: it is renewed without anybody.
	good.clear();
	await scene.keryx.client.testMcpServer({ name: "far" });
	await expect.poll(() => scene.ask("call far__ping")).toContain("pong from afar");
	expect(readFileSync(file, "utf8")).toContain("access-token-of-refresh_token");
	expect(scene.warned.join("\n")).not.toContain("access-token");
});
