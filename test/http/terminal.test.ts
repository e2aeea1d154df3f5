// Terminals over a WebSocket: what is shown, what may be typed, who is let in, and what ends them.
import { EventEmitter } from "node:events";
import { connect } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import { Audiences } from "../../src/http/terminal/audience.ts";
import { serveTerminal } from "../../src/http/terminal/terminal.ts";
import { isTerminal } from "../../src/http/terminal/terminals.ts";
import { eventually } from "../support/soon.ts";
import { exchange, loginOf } from "./port.ts";
import { type WithProcesses, withProcesses } from "./processes-api.ts";
import { SECRET } from "./support.ts";

let here: WithProcesses;
const sockets: WebSocket[] = [];
beforeAll(async () => {
	here = await withProcesses();
});
afterEach(() => {
	for (const socket of sockets.splice(0)) socket.terminate();
});
afterAll(() => here.close());

interface Opened {
	readonly socket: WebSocket;
	/** Everything that was shown. */
	output(): string;
	/** JSON frames, of one type where that is given. */
	frames(type?: string): readonly Record<string, unknown>[];
	type(frame: object | string): void;
	/** Its code. */
	readonly closed: Promise<number>;
}

type Headers = Readonly<Record<string, string>>;

function dial(
	path: string,
	headers: Headers = { authorization: `Bearer ${SECRET}` },
	protocols: string[] = [],
): Promise<Opened> {
	const socket = new WebSocket(`ws://127.0.0.1:${here.port}${path}`, protocols, { headers });
	sockets.push(socket);
	const output: Buffer[] = [];
	const frames: Record<string, unknown>[] = [];
	socket.on("message", (data: Buffer, isBinary) => {
		if (isBinary) output.push(data);
		else frames.push(JSON.parse(data.toString()) as Record<string, unknown>);
	});
	const closed = new Promise<number>((resolve) => socket.on("close", resolve));
	return new Promise((resolve, reject) => {
		socket.on("open", () =>
			resolve({
				socket,
				output: () => Buffer.concat(output).toString("utf8"),
				frames: (type) => frames.filter((frame) => type === undefined || frame.type === type),
				type: (frame) => socket.send(typeof frame === "string" ? frame : JSON.stringify(frame)),
				closed,
			}),
		);
		socket.on("unexpected-response", (_request, { statusCode }) => reject(new Error(String(statusCode))));
		socket.on("error", reject);
	});
}

const open = (id: string, query = "", headers?: Headers, protocols?: string[]) =>
	dial(`/api/processes/${id}/terminal${query}`, headers, protocols);
const shows = (terminal: Opened, text: string | RegExp) =>
	eventually(() =>
		typeof text === "string"
			? expect(terminal.output()).toContain(text)
			: expect(terminal.output()).toMatch(text),
	);

describe("a terminal", () => {
	test("shows a program on a terminal of its own, takes what is typed, and tells its end", async () => {
		const id = await here.start("read name; echo hello $name; exit 4", { pty: true });
		const terminal = await open(id);
		terminal.type({ type: "input", data: "Zo\u00eb\r" });
		await shows(terminal, "hello Zoë");
		expect(await terminal.closed).toBe(1000);
		expect(terminal.frames("size")).toEqual([{ type: "size", cols: 80, rows: 24 }]);
		expect(terminal.frames("exit")).toEqual([
			{ type: "exit", state: "exited", exit_code: 4, signal: null, cause: "exited" },
		]);
	});

	test("shows a program on pipes, and ends its input", async () => {
		const id = await here.start("exec cat");
		const terminal = await open(id);
		terminal.type({ type: "input", data: "one\n" });
		await shows(terminal, "one\n");
		terminal.type({ type: "end" });
		expect(await terminal.closed).toBe(1000);
		expect(terminal.frames("size")).toEqual([]);
		expect(terminal.frames("exit")).toMatchObject([{ state: "exited", exit_code: 0 }]);
	});

	test("goes on from a position, each byte once, also after the end", async () => {
		const id = await here.start("exec cat");
		const first = await open(id);
		first.type({ type: "input", data: "0123456789\n" });
		await shows(first, "0123456789\n");
		expect(first.frames("position")).toEqual([{ type: "position", at: 0 }]);
		const second = await open(id, "?from=5");
		await shows(second, "56789\n");
		first.type({ type: "input", data: "abc\n" });
		await shows(second, "abc\n");
		expect(second.output()).toBe("56789\nabc\n");
		first.type({ type: "end" });
		await Promise.all([first.closed, second.closed]);
		const third = await open(id, "?from=11");
		await third.closed;
		expect([third.output(), third.frames("exit").length]).toEqual(["abc\n", 1]);
		expect(third.frames("position")).toEqual([{ type: "position", at: 11 }]);
	});

	test("shows the screen as it is to who comes later, and asks a browser nothing that was asked before", async () => {
		const id = await here.start("printf '\\033[?1049h\\033[2J\\033[6nDRAWN'; exec cat", { pty: true });
		await shows(await open(id), "DRAWN");
		const later = await open(id);
		await shows(later, "DRAWN");
		expect(later.output()).toContain("\x1b[?1049h");
		expect(later.output()).not.toContain("\x1b[6n");
		await here.keryx.client.killProcess({ id, grace_seconds: 0 });
	});

	test("has the size that was asked for last, tells it to all who look on, and gives it back", async () => {
		const command = "stty size; while :; do read line; stty size; done";
		const id = await here.start(command, { pty: true });
		const [first, second] = [await open(id), await open(id)];
		await shows(first, "24 80");
		first.type({ type: "resize", cols: 100, rows: 30 });
		await eventually(() =>
			expect(second.frames("size").at(-1)).toEqual({ type: "size", cols: 100, rows: 30 }),
		);
		first.type({ type: "input", data: "\r" });
		await shows(second, "30 100");
		first.socket.close();
		await eventually(() =>
			expect(second.frames("size").at(-1)).toEqual({ type: "size", cols: 80, rows: 24 }),
		);
		const before = second.output().length;
		await eventually(() => {
			second.type({ type: "input", data: "\r" });
			expect(second.output().slice(before)).toContain("24 80");
		});
		await here.keryx.client.killProcess({ id, grace_seconds: 0 });
		await second.closed;
	});

	test("answers what it does not understand with an error, and goes on", async () => {
		const id = await here.start("exec cat");
		const terminal = await open(id);
		for (const frame of ["", "{", "[]", '{"type":"nothing"}', '{"type":"resize","cols":0,"rows":1}'])
			terminal.type(frame);
		terminal.type({ type: "input", data: "" });
		terminal.type({ type: "input", data: "x", more: 1 });
		terminal.socket.send(Buffer.from("raw"));
		await eventually(() => expect(terminal.frames("error")).toHaveLength(8));
		for (const { error } of terminal.frames("error"))
			expect(error).toMatchObject({ code: "argument.invalid", hint: expect.any(String) });
		terminal.type({ type: "input", data: "well\n" });
		await shows(terminal, "well\n");
		expect(terminal.output()).toBe("well\n");
		await here.keryx.client.killProcess({ id, grace_seconds: 0 });
		expect(await terminal.closed).toBe(1000);
		expect(terminal.frames("exit")).toMatchObject([{ state: "killed" }]);
	});

	test("is closed where a frame is too large", async () => {
		const id = await here.start("exec cat");
		const terminal = await open(id);
		terminal.type({ type: "input", data: "x".repeat(200_000) });
		expect(await terminal.closed).toBe(1009);
		await here.keryx.client.killProcess({ id, grace_seconds: 0 });
	});
});

describe("who may open one", () => {
	let id: string;
	let reader: string;
	const page = () => here.keryx.api.loginPath();
	const own = () => `http://127.0.0.1:${here.port}`;
	beforeAll(async () => {
		id = await here.start("exec cat");
		reader = await here.token("t-reader", "reader");
	});
	const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

	test("nobody without a token, with a wrong one, or as an agent", async () => {
		await expect(open(id, "", {})).rejects.toThrow("401");
		await expect(open(id, "", bearer("wrong"))).rejects.toThrow("401");
		await expect(open(id, "", bearer(await here.token("t-agent", "agent")))).rejects.toThrow("403");
	});

	test("no page of another origin, with whatever proof, and no cookie without an origin", async () => {
		const login = await exchange({ host: "127.0.0.1", port: here.port }, "GET", page());
		const { cookie, "x-keryx-page": key } = loginOf(login);
		const both = { cookie, "sec-websocket-protocol": `keryx, page.${key}` };
		for (const origin of ["http://evil.example", "null", `http://127.0.0.1:${here.port + 1}`]) {
			await expect(open(id, "", { ...both, origin })).rejects.toThrow("403");
			await expect(open(id, "", { ...bearer(SECRET), origin })).rejects.toThrow("403");
		}
		await expect(open(id, "", both)).rejects.toThrow("403");
		await expect(open(id, "", { ...both, origin: own(), "sec-fetch-site": "cross-site" })).rejects.toThrow(
			"403",
		);
		await expect(open(id, "", { cookie, origin: own() })).rejects.toThrow("401");
		const terminal = await open(id, "", { cookie, origin: own() }, ["keryx", `page.${key}`]);
		expect(terminal.socket.protocol).toBe("keryx");
		terminal.type({ type: "input", data: "from the page\n" });
		await shows(terminal, "from the page\n");
	});

	test("nobody under a foreign name", async () => {
		await expect(open(id, "", { ...bearer(SECRET), host: "evil.example" })).rejects.toThrow("421");
	});

	test("I12: a reader is shown nothing of what a program prints, and what it types is lost", async () => {
		const looking = await open(id, "", bearer(reader));
		looking.type({ type: "input", data: "not me\n" });
		expect(await looking.closed).toBe(1008);
		expect(looking.frames("error")).toMatchObject([
			{ error: { code: "http.forbidden", message: expect.stringContaining("cannot watch") } },
		]);
		expect(looking.output()).toBe("");
		const typing = await open(id);
		typing.type({ type: "input", data: "but me\n" });
		await shows(typing, "but me\n");
		expect(typing.output()).not.toContain("not me");
	});

	test("a token that is revoked loses its terminals at once", async () => {
		const token = await here.token("t-short", "operator");
		const terminal = await open(id, "", bearer(token));
		await here.call("POST", "/api/tokens/t-short/revoke", { body: {} });
		expect(await terminal.closed).toBe(1008);
		await expect(open(id, "", bearer(token))).rejects.toThrow("401");
	});

	test("what is not there is not found, and a terminal without a WebSocket is told to be one", async () => {
		await expect(open("proc_000000000000")).rejects.toThrow("404");
		await expect(open(id, "?from=-1")).rejects.toThrow("400");
		const plain = await here.call("GET", `/api/processes/${id}/terminal`);
		expect(plain).toMatchObject({ status: 426, body: { error: { code: "http.upgrade" } } });
	});

	test("nothing but a terminal is ever upgraded, and who is refused cannot keep the connection", async () => {
		for (const url of ["/events", `/api/processes/${id}`, `/x/api/processes/${id}/terminal`, "/", undefined])
			expect(isTerminal(url), url).toBe(false);
		expect(isTerminal(`/api/processes/${id}/terminal?from=1`)).toBe(true);
		const raw = (lines: readonly string[]) =>
			new Promise<string>((resolve, reject) => {
				const head = [...lines, `Host: 127.0.0.1:${here.port}`, `Authorization: Bearer ${SECRET}`, "", ""];
				const socket = connect({ port: here.port, host: "127.0.0.1", allowHalfOpen: true }, () =>
					socket.write(head.join("\r\n")),
				);
				let said = "";
				socket.on("data", (data) => (said += data));
				socket.on("error", reject);
				// The server's half alone: what it does with ours is its business.
				socket.on("end", () => resolve(said));
			});
		const upgrade = ["Connection: Upgrade, close", "Upgrade: websocket"];
		const key = ["Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="];
		// As a request like any other, or not at all.
		expect(await raw(["GET /health HTTP/1.1", ...upgrade, ...key])).toMatch(/^HTTP\/1\.1 (?:200|400) /);
		expect(await raw(["GET /health HTTP/1.1", "Connection: Upgrade, close", "Upgrade: h2c"])).toMatch(
			/^HTTP\/1\.1 (?:200|400) /,
		);
		expect(await raw([`GET /api/processes/${id}/terminal HTTP/1.1`, ...upgrade])).toMatch(/^HTTP\/1\.1 400 /);
		expect(await raw([`POST /api/processes/${id}/terminal HTTP/1.1`, ...upgrade, ...key])).toMatch(
			/^HTTP\/1\.1 4\d\d /,
		);
	});
});

describe("a browser that is slow", () => {
	/** A socket whose other end takes a frame only when the test says so. */
	class SlowSocket extends EventEmitter {
		readonly outstanding: (() => void)[] = [];
		bytes = 0;
		pings = 0;
		isGone = false;
		send(data: string | Uint8Array, sent: (error?: Error) => void): void {
			if (this.isGone) sent(new Error("closed"));
			else this.outstanding.push(sent);
			this.bytes += data.length;
		}
		takeOne(): void {
			this.outstanding.shift()?.();
		}
		close(): void {
			this.terminate();
		}
		terminate(): void {
			this.isGone = true;
			for (const sent of this.outstanding.splice(0)) sent();
			this.emit("close");
		}
		ping(): void {
			this.pings++;
		}
		pause(): void {}
		resume(): void {}
	}

	async function serveSlowly(command: string) {
		const id = await here.start(command);
		const socket = new SlowSocket();
		const served = serveTerminal({
			socket,
			processes: here.processes,
			process: await here.processes.find({ kind: "operator" }, id),
			from: 0,
			audiences: new Audiences(),
			mayWatch: true,
			mayType: () => Promise.resolve(true),
			refused: async () => {},
			revoked: new AbortController().signal,
			closing: new AbortController().signal,
		});
		return { id, socket, served };
	}

	test("holds up one frame, not the memory, and gets everything in the end", async () => {
		const size = 3_000_000;
		const { id, socket, served } = await serveSlowly(`head -c ${size} /dev/zero`);
		await eventually(async () => expect((await here.keryx.client.process({ id })).log_bytes).toBe(size));
		await eventually(() => expect(socket.outstanding).toHaveLength(1));
		let most = 0;
		for (let before = 0; !socket.isGone; before = socket.bytes) {
			await eventually(() => expect(socket.outstanding.length > 0 || socket.isGone).toBe(true));
			expect(socket.outstanding.length).toBeLessThanOrEqual(1);
			most = Math.max(most, socket.bytes - before);
			socket.takeOne();
		}
		await served;
		expect(most).toBeLessThanOrEqual(256 * 1024);
		expect(socket.bytes).toBeGreaterThanOrEqual(size);
	});

	test("is cut off where it answers nothing any more, and the process goes on", async () => {
		vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
		try {
			const { id, socket, served } = await serveSlowly("exec cat");
			vi.advanceTimersByTime(15_000);
			socket.emit("pong");
			vi.advanceTimersByTime(15_000);
			expect([socket.pings, socket.isGone]).toEqual([2, false]);
			vi.advanceTimersByTime(15_000);
			expect(socket.isGone).toBe(true);
			await served;
			expect(await here.keryx.client.process({ id })).toMatchObject({ state: "running" });
			await here.keryx.client.killProcess({ id, grace_seconds: 0 });
		} finally {
			vi.useRealTimers();
		}
	});
});

test("a server that closes ends every terminal, also of who does not answer", async () => {
	const other = await withProcesses();
	const outer = here;
	here = other;
	try {
		const id = await other.start("exec cat");
		const [polite, deaf] = [await open(id), await open(id)];
		deaf.socket.pause();
		await other.closeServer();
		expect(await polite.closed).toBe(1001);
		expect(await other.keryx.client.process({ id })).toMatchObject({ state: "running" });
		await other.keryx.client.killProcess({ id, grace_seconds: 0 });
	} finally {
		here = outer;
		await other.close();
	}
});
