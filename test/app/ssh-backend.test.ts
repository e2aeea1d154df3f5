// Commands and file tools on another machine: a whole Keryx, a real sshd, and a connection that is cut.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createKeryx, type Keryx } from "../../src/app/index.ts";
import { systemClock } from "../../src/gateway/index.ts";
import { createScriptedChannel } from "../../src/testing/index.ts";
import { puppet } from "../gateway/support.ts";
import { SshServer } from "../processes/sshd.ts";
import { eventually } from "../support/soon.ts";

let folder: string;
let server: SshServer;
let keryx: Keryx;
let channel: ReturnType<typeof createScriptedChannel>;
const shown: string[] = [];

beforeEach(async () => {
	folder = mkdtempSync(join(tmpdir(), "keryx-ssh-backend-"));
	for (const name of ["data", "there"]) mkdirSync(join(folder, name));
	server = await SshServer.start();
	shown.length = 0;
});
afterEach(async () => {
	await keryx.stop();
	await server.close();
	rmSync(folder, { recursive: true, force: true });
});

async function start({ port = server.target.port, walls = {} } = {}): Promise<void> {
	const own = puppet();
	channel = createScriptedChannel({ platform: "pigeon", clock: systemClock, edit: false });
	const profile = {
		terminal: {
			backend: "ssh" as const,
			ssh: {
				host: "127.0.0.1",
				user: userInfo().username,
				port,
				key_file: server.target.identityFile,
				known_hosts_file: server.target.knownHostsFile,
				folder: join(folder, "there"),
			},
		},
	};
	keryx = await createKeryx({
		home: join(folder, "home"),
		env: { HOME: folder, XDG_DATA_HOME: join(folder, "data"), TZ: "UTC" },
		report: { warn: () => {}, note: () => {} },
		channels: [channel],
		profiles: {
			remote: {
				...own,
				step: (input) => {
					shown.push(JSON.stringify([input.system, input.notes]));
					return own.step(input);
				},
			},
		},
		config: {
			auth: { pigeon: { allow: [{ id: "7", role: "owner" }, "8"] } },
			profiles: { remote: profile },
			profile_rules: [{ profile: "remote", platform: "pigeon" }],
			gateway: { batch_ms: 0 },
			walls,
		},
	});
	await keryx.start();
}

async function ask(text: string, user = "7"): Promise<string> {
	const { world } = channel;
	const before = world.visible(user).length;
	world.say({ chat: user, user, text });
	await world.until(() => world.visible(user).length > before);
	return world.visible(user).at(-1)?.text ?? "";
}

/** Answers the result of the call. */
async function call(tool: string, input: object, user = "7"): Promise<string> {
	await ask(`call ${tool} ${JSON.stringify(input)}`, user);
	const { conversations } = await keryx.client.conversations({ limit: 10 });
	const results: string[] = [];
	for (const { id } of conversations) {
		const { sessions } = await keryx.client.sessions({ conversation: id, limit: 10 });
		for (const { id: session } of sessions) {
			const { messages } = await keryx.client.messages({ session, limit: 50 });
			results.push(
				...messages.filter(({ role }) => role === "tool").map(({ content }) => JSON.stringify(content)),
			);
		}
	}
	return results.at(-1) ?? "";
}

test("commands and files are on the other machine, which the prompt and /status name", {
	timeout: 120_000,
}, async () => {
	await start();
	expect(
		await call("terminal", { command: "pwd; echo $KERYX_CONVERSATION | wc -c; echo $SSH_CONNECTION" }),
	).toContain(join(folder, "there"));
	writeFileSync(join(folder, "there/a.txt"), "one\ntwo\n");
	expect(await call("read_file", { path: "a.txt" })).toContain("1\\tone");
	expect(await call("edit_file", { path: "a.txt", edits: [{ old: "two", new: "three" }] })).toContain(
		"Changed a.txt",
	);
	expect(readFileSync(join(folder, "there/a.txt"), "utf8")).toBe("one\nthree\n");
	expect(await call("find_in_files", { pattern: "three" })).toContain("a.txt:2: three");
	const where = `run on ${userInfo().username}@127.0.0.1 over ssh`;
	expect(shown.at(-1)).toContain(where);
	expect(shown.at(-1)).toContain("Checkpoints do not cover files there");
	expect(await ask("/status")).toContain(where);
	expect(await ask("/checkpoint")).toContain("checkpoints do not cover files there");
	const { processes } = await keryx.client.processes({ which: "all", limit: 10 });
	expect(new Set(processes.map(({ backend }) => backend))).toEqual(new Set([expect.stringMatching(/^ssh:/)]));
});

test("a member is refused, and told that it is the owner's", { timeout: 120_000 }, async () => {
	await start();
	expect(await call("terminal", { command: "pwd" }, "8")).toContain("which only the owner may use");
	expect(await call("read_file", { path: "a.txt" }, "8")).toContain("which only the owner may use");
});

test("walls.by_profile gives it to a member", { timeout: 120_000 }, async () => {
	await start({ walls: { by_profile: { remote: { member: "box" } } } });
	expect(await call("terminal", { command: "pwd" }, "8")).toContain(join(folder, "there"));
});

test("a machine that cannot be reached fails the call, and nothing runs here instead", {
	timeout: 120_000,
}, async () => {
	await start({ port: 1 });
	const answer = await call("terminal", { command: `touch ${join(folder, "here")}` });
	expect(answer).toContain("cannot be reached");
	expect(answer).toContain("nothing was run anywhere else");
	expect(await call("write_file", { path: "x", content: "x" })).toContain("cannot be reached");
	expect(existsSync(join(folder, "here")) || existsSync(join(folder, "there/x"))).toBe(false);
});

test("a command goes on when its connection is cut in the middle, and its end is told", {
	timeout: 120_000,
}, async () => {
	await start();
	const go = join(folder, "go");
	const command = `echo begun > ${join(folder, "begun")}; while [ ! -e ${go} ]; do sleep 0.1; done; echo over > ${join(folder, "over")}; exit 7`;
	await call("terminal", { command, background: true });
	await eventually(() => expect(existsSync(join(folder, "begun"))).toBe(true));
	for (const pid of server.connections()) process.kill(pid, "SIGKILL");
	writeFileSync(go, "");
	await eventually(() => expect(existsSync(join(folder, "over"))).toBe(true));
	await eventually(async () => {
		const { processes } = await keryx.client.processes({ which: "all", limit: 10 });
		expect(processes[0]).toMatchObject({ state: "exited", exit_code: 7 });
	}, 60_000);
});
