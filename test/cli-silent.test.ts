// Commands and a Keryx that hangs: they give up with a sentence that names its process, and work again when it does.
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { asJson, call, commandIn, homeWithPast } from "./support/keryx.ts";

const root = mkdtempSync(join(tmpdir(), "keryx-silent-"));
const { keryx, start } = commandIn(root);
afterAll(() => rmSync(root, { recursive: true, force: true }));

test("a Keryx that was stopped is given up by every command after --timeout, which names its process, and used again when it goes on", async () => {
	const { home, tulips } = await homeWithPast(join(root, "stopped"));
	const env = { KERYX_HOME: home };
	const gateway = await start(home);
	try {
		process.kill(gateway.pid, "SIGSTOP");
		const commands = [
			["sessions", "list"],
			["sessions", "export", "--session", tulips],
			["send", "hello"],
			["outbox"],
			["why", "1"],
			["confirm", "list"],
			["token", "list"],
			["link"],
			["checkpoints", "list"],
		];
		const runs = await Promise.all(commands.map((command) => call(["--timeout", "1", ...command], { env })));
		for (const [n, { code, stderr }] of runs.entries()) {
			expect(stderr, commands[n]?.join(" ")).toMatch(
				new RegExp(
					`^keryx: the running Keryx \\(.* pid ${gateway.pid} since .*\\) has not responded for 1 s`,
				),
			);
			expect(stderr).toContain("what to do: run `keryx doctor`");
			expect(code).toBe(1);
		}
		// A process of its own ends by itself, too.
		const sent = await keryx(["send", "hello", "--json", "--timeout", "1"], { env });
		expect(sent.code).toBe(1);
		expect(asJson(sent)).toMatchObject({ error: { code: "gateway.silent" } });
		process.kill(gateway.pid, "SIGCONT");
		expect((await keryx(["send", "hello"], { env })).stdout).toContain("You said: hello");
	} finally {
		await gateway.stop("SIGKILL");
	}
});

test("a message that was on its way when Keryx hung is sent again under its id, and taken once", async () => {
	const { home } = await homeWithPast(join(root, "on its way"));
	const env = { KERYX_HOME: home };
	let isHung = false;
	// Answers for its health, as Keryx does, and hangs with the first message.
	const silent = createServer((socket) => {
		socket.on("data", (data) => {
			isHung ||= String(data).startsWith("POST");
			if (!isHung) socket.write(HEALTH);
		});
	});
	silent.listen(join(home, "keryx.sock"));
	await once(silent, "listening");
	const { stderr } = await call(["--timeout", "4", "send", "--id", "mine", "hello"], { env });
	silent.close();
	expect(stderr).toContain("has not responded for 4 s, and may have accepted the message");
	expect(stderr).toContain("send it again with --id mine: it is accepted only once");
});

const BODY = JSON.stringify({
	status: "ok",
	pending_count: 0,
	timestamp: 0,
	timestamp_iso: new Date(0).toISOString(),
	version: "0",
	pid: 1,
	started_at: new Date(0).toISOString(),
	node: "v24",
	agent: "none",
	channels: [],
});
const HEALTH = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`;

test("a socket that takes connections and says nothing is given up, whoever it belongs to", async () => {
	const home = join(root, "strange");
	mkdirSync(home);
	const server = createServer(() => {});
	server.listen(join(home, "keryx.sock"));
	await once(server, "listening");
	const { code, stderr } = await call(["sessions", "list", "--timeout", "1"], { env: { KERYX_HOME: home } });
	server.close();
	expect(code).toBe(1);
	expect(stderr).toContain("keryx: the Keryx listening here has not responded for 1 s");
});

test.each(["0", "soon", "-1", "1.5", "100000"])(
	"--timeout %s is refused, and says what it may be",
	async (given) => {
		const { code, stderr } = await call([`--timeout=${given}`, "sessions", "list"], {
			env: { KERYX_HOME: root },
		});
		expect(code).toBe(2);
		expect(stderr).toContain("--timeout must be a whole number from 1 to 86400");
	},
);
