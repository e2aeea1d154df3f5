// Both addresses of this machine: whoever holds one alone leaves its port on the other to any program, which could then pass for Keryx.
import { createServer, type Server } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { serveOnPort } from "../../src/http/index.ts";
import { exchange, onPort, type Ported } from "./port.ts";

let keryx: Ported;
beforeAll(async () => {
	keryx = await onPort();
});
afterAll(() => keryx.close());

/** On a connection of its own: one that was kept says nothing about who listens. */
const health = async (host: string, port: number) =>
	(await exchange({ host, port, agent: false }, "GET", "/health")).status;

function holding(port: number, host: string): Promise<Server> {
	const server = createServer();
	return new Promise((resolve, reject) => {
		server.once("error", reject);
		server.listen({ port, host }, () => resolve(server));
	});
}

describe.each(["127.0.0.1", "::1", "localhost"])("a Keryx that listens on %s", (host) => {
	test.each([false, true])("answers on both addresses; for clients without a token: %s", async (compat) => {
		const served = await serveOnPort(keryx.api, { host, port: 0, compat });
		expect(await Promise.all([health("127.0.0.1", served.port), health("::1", served.port)])).toEqual([
			200, 200,
		]);
		expect(served.missing).toBeNull();
		await served.close();
		for (const address of ["127.0.0.1", "::1"])
			await expect(health(address, served.port)).rejects.toMatchObject({ code: "ECONNREFUSED" });
	});
});

test.each([
	["127.0.0.1", "::1"],
	["::1", "127.0.0.1"],
])("where another program has the port on %s's sibling, it does not start", async (host, other) => {
	const squatter = await holding(0, other);
	const { port } = squatter.address() as { port: number };
	try {
		await expect(serveOnPort(keryx.api, { host, port })).rejects.toMatchObject({
			code: "http.port",
			message: expect.stringContaining("another program uses it"),
		});
		// And gives back what it had taken.
		(await holding(port, host)).close();
	} finally {
		squatter.close();
	}
});

test("where this machine has no such address it says so, and goes on with the one there is", async () => {
	const served = await serveOnPort(keryx.api, { host: "127.0.0.1", port: 0, sibling: "2001:db8::1" });
	expect(served.missing).toBe("2001:db8::1");
	expect(await health("127.0.0.1", served.port)).toBe(200);
	await served.close();
});

test("another address is served alone", async () => {
	const served = await serveOnPort(keryx.api, { host: "127.0.0.2", port: 0 });
	expect(await health("127.0.0.2", served.port)).toBe(200);
	await expect(health("::1", served.port)).rejects.toMatchObject({ code: "ECONNREFUSED" });
	await served.close();
});
