// Commands and file tools in real containers: KERYX_PEER_IMAGE names an image that podman has (one made by debootstrap is enough).
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createKeryx, type Keryx } from "../../../src/app/index.ts";
import { systemClock } from "../../../src/gateway/index.ts";
import { createScriptedChannel } from "../../../src/testing/index.ts";
import { puppet } from "../../gateway/support.ts";
import { eventually } from "../../support/soon.ts";

const IMAGE = process.env.KERYX_PEER_IMAGE ?? "localhost/keryx-debootstrap:1";
const LONG = 600_000;

let folder: string;
let keryx: Keryx;
let channel: ReturnType<typeof createScriptedChannel>;
let work: string;

beforeEach(async () => {
	folder = mkdtempSync("/var/tmp/keryx-podman-");
	work = join(folder, "work");
	for (const one of ["data", "work"]) mkdirSync(join(folder, one));
	channel = createScriptedChannel({ platform: "pigeon", clock: systemClock, edit: false });
	keryx = await createKeryx({
		home: join(folder, "home"),
		env: { ...process.env, HOME: folder, XDG_DATA_HOME: join(folder, "data"), TZ: "UTC" },
		report: { warn: () => {}, note: () => {} },
		channels: [channel],
		agent: puppet(),
		config: {
			auth: { pigeon: { allow: [{ id: "7", role: "owner" }, "8"] } },
			gateway: { batch_ms: 0 },
			workspace: { mode: "fixed", path: work },
			terminal: { backend: "podman", container: { image: IMAGE, memory_mb: 256, cpus: 1 } },
		},
	});
	await keryx.start();
});
afterEach(async () => {
	await keryx.stop();
	rmSync(folder, { recursive: true, force: true });
});

async function ask(text: string, user = "7"): Promise<string> {
	const { world } = channel;
	const before = world.visible(user).length;
	world.say({ chat: user, user, text });
	await world.until(() => world.visible(user).length > before);
	return world.visible(user).at(-1)?.text ?? "";
}

/** Answers the result of the call. A notice may be there before it. */
async function call(tool: string, input: object, user = "7"): Promise<string> {
	const before = (await results()).length;
	await ask(`call ${tool} ${JSON.stringify(input)}`, user);
	return eventually(async () => {
		const all = await results();
		expect(all.length).toBeGreaterThan(before);
		return all.at(-1) as string;
	}, 120_000);
}

async function results(): Promise<readonly string[]> {
	const { conversations } = await keryx.client.conversations({ limit: 10 });
	const found: { readonly at: string; readonly text: string }[] = [];
	for (const { id } of conversations) {
		const { sessions } = await keryx.client.sessions({ conversation: id, limit: 10 });
		for (const { id: session } of sessions) {
			const { messages } = await keryx.client.messages({ session, limit: 50 });
			for (const { role, content, created_at: at } of messages)
				if (role === "tool") found.push({ at, text: JSON.stringify(content) });
		}
	}
	return found.toSorted((a, b) => (a.at < b.at ? -1 : 1)).map(({ text }) => text);
}

const containers = () =>
	execFileSync("podman", ["ps", "--all", "--filter=name=keryx-", "--format={{.Names}}"]).toString().trim();

test(
	"commands see the workspace, no network, no Keryx and no privileges; file tools work there; a kill leaves nothing",
	async () => {
		writeFileSync(join(work, "a.txt"), "one\ntwo\n");
		const seen = await call("terminal", {
			command: `cat /etc/debian_version; pwd; cat a.txt; ls ${folder}; grep Cap /proc/self/status; cat /proc/net/dev | wc -l; exit 3`,
		});
		expect(seen).toContain(work);
		expect(seen).toContain("two");
		expect(seen).toMatch(/CapEff:\\\\t0000000000000000|CapEff:.{1,6}0000000000000000/);
		expect(seen).not.toContain("home");
		expect(seen).toMatch(/exit_code\D+3/);
		expect(await call("read_file", { path: "a.txt" })).toContain("1\\tone");
		expect(await call("edit_file", { path: "a.txt", edits: [{ old: "two", new: "three" }] })).toContain(
			"Changed a.txt",
		);
		expect(readFileSync(join(work, "a.txt"), "utf8")).toBe("one\nthree\n");
		await ask("/status");
		await eventually(() =>
			expect(
				channel.world
					.visible("7")
					.map(({ text }) => text)
					.join(),
			).toContain(`in a podman container of ${IMAGE}`),
		);
		expect(await call("terminal", { command: "pwd" }, "8")).toContain("which only the owner may use");
		await call("terminal", { command: "touch begun; exec sleep 600", background: true });
		await eventually(() => expect(existsSync(join(work, "begun"))).toBe(true), 120_000);
		expect(containers()).not.toBe("");
		const { processes } = await keryx.client.processes({ which: "running", limit: 10 });
		await keryx.client.killProcess({ id: processes[0]?.id as string, grace_seconds: 0 });
		await eventually(() => expect(containers()).toBe(""), 60_000);
	},
	LONG,
);
