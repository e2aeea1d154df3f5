// A box that may reach a list of hosts, and nothing else: programs inside go by the proxy, which connects outside for them.
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Wall } from "../../src/walls/index.ts";
import { WallScene } from "./scene.ts";

/** A public address, so that the proxy does not refuse it; the tests' own connections lead to a server of theirs. */
const PUBLIC = "93.184.215.14";
const ADDRESSES: Readonly<Record<string, readonly string[]>> = {
	"good.example": [PUBLIC],
	"deep.wild.example": [PUBLIC],
	"rebound.example": [PUBLIC, "127.0.0.1"],
	"cloud.example": ["169.254.169.254"],
};

let scene: WallScene;
let server: Server;
let port: number;
const asked: string[] = [];
const dialled: string[] = [];

beforeAll(async () => {
	scene = new WallScene();
	server = createServer((request, response) => {
		asked.push(`${request.method} ${request.headers.host} ${request.url}`);
		response.end(`hello ${request.headers.host}${request.url}`);
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	({ port } = server.address() as AddressInfo);
});
afterAll(async () => {
	await scene.close();
	server.close();
});

const outside = {
	addresses: async (host: string) => {
		const found = ADDRESSES[host];
		if (!found) throw new Error(`nobody is called ${host}`);
		return found;
	},
	connect: (to: { readonly host: string; readonly port: number }) => {
		dialled.push(`${to.host}:${to.port}`);
		return connect({ host: "127.0.0.1", port });
	},
};

const HOSTS = ["good.example", "*.wild.example", "rebound.example", "cloud.example", "odd.example:8443"];

async function run(script: string, env: Record<string, string> = {}, changes: Partial<Wall> = {}) {
	const wall = scene.wall("box", { network: "hosts", hosts: HOSTS, outlivesStarter: false, ...changes });
	const { child, exit } = await scene.start(wall, ["bash", "-c", script], {
		env: { PATH: "/usr/bin:/bin", ...env },
		outside,
	});
	const [out, errors, told] = await Promise.all([
		text(child.stdout as NonNullable<typeof child.stdout>),
		text(child.stderr as NonNullable<typeof child.stderr>),
		exit,
	]);
	return { out, errors, code: told.kind === "exited" ? told.code : told.kind };
}

const GET = "curl -sS -m 10";

test("a listed host answers, by http and through a tunnel, and its name is looked up outside", async () => {
	const { out, code } = await run(
		`${GET} http://good.example/a; echo; ${GET} -p http://deep.wild.example/b; echo; ${GET} http://good.example:80/c -d x`,
	);
	expect(out.split("\n")).toEqual([
		"hello good.example/a",
		"hello deep.wild.example/b",
		"hello good.example/c",
	]);
	expect(code).toBe(0);
	expect(new Set(dialled)).toEqual(new Set([`${PUBLIC}:80`]));
	expect(asked).toContain("POST good.example /c");
});

test.each([
	["another host", "http://evil.example/"],
	["a host that only begins like one", "http://good.example.evil.example/"],
	["the name above a wildcard", "http://wild.example/"],
	["another port of a listed host", "http://good.example:22/"],
	["an address", `http://${PUBLIC}/`],
	["this machine by its address", "http://[::ffff:7f00:1]/"],
	["a name that also leads to loopback", "http://rebound.example/"],
	["a name that leads to a cloud's keys", "http://cloud.example/"],
])("%s is refused", async (_, url) => {
	const before = dialled.length;
	const { out } = await run(`${GET} -o /dev/null -w '%{http_code}' ${url}; ${GET} -p ${url} && echo REACHED`);
	expect(out).toBe("403");
	expect(dialled.length).toBe(before);
});

test("what a request says of its host in a header does not count", async () => {
	const { out } = await run(`${GET} -H 'Host: evil.example' http://good.example/h`);
	expect(out).toBe("hello good.example/h");
});

test("without the proxy there is nobody: neither this machine's loopback nor another network", async () => {
	const { out } = await run(
		`${GET} --noproxy '*' http://127.0.0.1:${port}/ && echo REACHED; ${GET} --noproxy '*' http://${PUBLIC}/ && echo REACHED; ls /sys/class/net 2>/dev/null; cat /proc/net/dev | grep -c :`,
	);
	expect(out).not.toContain("REACHED");
	// Loopback alone.
	expect(out.trim()).toBe("1");
});

test("the program gets nothing of the channel that its socket was handed out by", async () => {
	const script = "ls /proc/self/fd; env | grep -c NODE_CHANNEL";
	const { out } = await run(script);
	expect(out).toBe((await run(script, {}, { network: "none" })).out);
	expect(out.trim().split("\n").at(-1)).toBe("0");
});

test("variables that make the loader run code are the program's, and not those of what runs before it", async () => {
	const { out, errors } = await run("echo $LD_LIBRARY_PATH; tr '\\0' ' ' </proc/$PPID/environ", {
		LD_LIBRARY_PATH: "/nowhere",
		OTHER: "kept",
	});
	expect(errors).toBe("");
	expect(out.split("\n")[0]).toBe("/nowhere");
});

test("exit codes and standard input are the program's own", async () => {
	expect((await run("exit 7")).code).toBe(7);
	expect((await run("kill -TERM $$")).code).toBe(143);
});

test("a program whose starter is told to end loses its connections with it", async () => {
	const wall = scene.wall("box", { network: "hosts", hosts: HOSTS });
	const { child, exit, kill } = await scene.start(
		wall,
		["bash", "-c", `${GET} http://good.example/ && echo; sleep 100`],
		{
			env: { PATH: "/usr/bin:/bin" },
			outside,
		},
	);
	await new Promise((resolve) => child.stdout?.once("data", resolve));
	kill();
	expect((await exit).kind).not.toBe("failed");
});
