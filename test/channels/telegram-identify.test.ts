// Who a token is, asked when a channel is set up. What goes wrong is told without the token, which is part of every address.
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { identifyTelegram } from "../../src/channels/telegram/index.ts";

const TOKEN = "123:not-to-be-shown";
const servers: ReturnType<typeof createServer>[] = [];
afterEach(() => {
	for (const server of servers.splice(0)) server.close();
});

async function serve(listener: RequestListener): Promise<string> {
	const server = createServer(listener);
	servers.push(server);
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const problemOf = (apiRoot: string) =>
	identifyTelegram({ token: TOKEN, apiRoot }).then(
		({ who }) => `it is ${who}`,
		(error: Error) => error.message,
	);

test.each([
	["nobody listens", () => Promise.resolve("http://127.0.0.1:1")],
	["something else answers", () => serve((request, response) => response.end(`<p>no ${request.url}`))],
	["the connection breaks", () => serve((request) => request.socket.destroy())],
])("%s: said without the token", async (_, root) => {
	const problem = await problemOf(await root());
	expect(problem).toContain("could not ask Telegram who the bot is");
	expect(problem).not.toContain("not-to-be-shown");
});

test("no redirect is followed", async () => {
	const asked: string[] = [];
	const root = await serve((request, response) => {
		asked.push(request.url ?? "");
		response.writeHead(302, { location: "/elsewhere" }).end();
	});
	expect(await problemOf(root)).toContain("302");
	expect(asked).toHaveLength(1);
});
