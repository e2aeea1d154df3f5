// Cookies know no ports. A server that a program starts on this machine is sent Keryx's cookie as soon as the person opens it there,
// and may send that on with whatever headers it likes. It must be worth nothing (I17).
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { exchange } from "../http/port.ts";
import { type Keryx, openBrowser, openKeryx, takeSeat } from "./support.ts";
import { message, tell, write } from "./talk.ts";

let keryx: Keryx;
let browser: Browser;
let foreign: Server;
/** What the foreign server was sent by the browser. */
let stolen = "";
let id = "";

beforeAll(async () => {
	[keryx, browser] = await Promise.all([openKeryx(), openBrowser()]);
	await tell(keryx, "desk", "where are my keys?");
	foreign = createServer(({ headers }, response) => {
		stolen ||= headers.cookie ?? "";
		response.end("<h1>the app that the agent made</h1>");
	});
	await new Promise<void>((resolve) => foreign.listen(0, "127.0.0.1", resolve));
	const { body } = await keryx.client.confirm("POST", "/confirm", { action: "restart", description: "d" });
	id = body.id as string;
});

afterAll(async () => {
	await browser.close();
	foreign.close();
	await keryx.close();
});

test("the page works in a browser that was logged in, and a server on another port is sent its cookie", async () => {
	const { page, context, leave } = await takeSeat(browser, keryx);
	await page.getByRole("link", { name: /desk/ }).click();
	await message(page, "where are my keys?").waitFor();
	await write(page, "and my hat?");
	await message(page, "and my hat?").waitFor();
	const other = await context.newPage();
	await other.goto(`http://127.0.0.1:${(foreign.address() as AddressInfo).port}/`);
	expect(stolen).toContain(`keryx_${new URL(keryx.url).port}=kx_`);
	// What the page keeps is for its own origin alone.
	expect(await other.evaluate("Object.keys({ ...localStorage, ...sessionStorage })")).toEqual([]);
	expect(await page.evaluate("document.cookie")).toBe("");
	await leave();
});

describe("with the cookie that it was sent", () => {
	const forged = () => ({ cookie: stolen, origin: keryx.url, "sec-fetch-site": "same-origin" });
	const send = (method: string, path: string, headers: Record<string, string>, body?: unknown) => {
		const { hostname, port } = new URL(keryx.url);
		return exchange({ host: hostname, port: Number(port) }, method, path, {
			headers,
			...(body !== undefined && { body }),
		});
	};

	test.each<[string, string, unknown?]>([
		["GET", "/api/conversations"],
		["GET", "/api/tokens"],
		["GET", "/confirm"],
		["GET", "/audit"],
		["GET", "/grants"],
		["GET", "/events"],
		["GET", "/api/export"],
		["GET", "/metrics"],
		["GET", "/openapi.json"],
		["POST", "/confirm/ID/approve", {}],
		["POST", "/confirm/ID/deny", {}],
		["POST", "/grants", { scope: "always", action: "restart" }],
		["POST", "/api/tokens", { name: "mine", role: "operator" }],
		["POST", "/api/login-link", {}],
		["POST", "/api/inbound", { text: "/approve", client_message_id: "x", source: { platform: "web" } }],
	])("it is nobody: %s %s", async (method, path, body) => {
		const at = path.replace("ID", id);
		expect((await send(method, at, forged(), body)).status).toBe(401);
		const [, cookie = ""] = stolen.split("=");
		for (const guess of ["", "1", cookie, "A".repeat(43)])
			expect((await send(method, at, { ...forged(), "x-keryx-page": guess }, body)).status).toBe(401);
	});

	test("it opens no terminal", async () => {
		const status = (protocols: string[]) =>
			new Promise<number>((resolve) => {
				const socket = new WebSocket(
					`${keryx.url.replace("http", "ws")}/api/processes/p_1/terminal`,
					protocols,
					{
						headers: forged(),
					},
				);
				socket.on("unexpected-response", (_request, response) => resolve(response.statusCode ?? 0));
				socket.on("error", () => resolve(0));
				socket.on("open", () => resolve(101));
			});
		for (const protocols of [[], ["keryx"], ["keryx", `page.${"A".repeat(43)}`]])
			expect(await status(protocols)).toBe(401);
	});

	test("nothing was decided", async () => {
		const { body } = await keryx.client.confirm("GET", `/confirm/${id}`);
		expect(body.status).toBe("pending");
	});
});
