// Which wall a turn's commands run behind, through the whole gateway: by role, in words, wider when the owner allows it, and what
// happens where none can be made.
import {
	existsSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	rmSync,
	symlinkSync,
	utimesSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { workspaceFinder, workspaceFolders } from "../../src/gateway/files/workspaces.ts";
import { chooseWall, createWalls, tidyWalls } from "../../src/gateway/index.ts";
import { NO_CGROUPS, type ProbeResult, probeWalls, type WallProbe } from "../../src/walls/index.ts";
import { ProcessHome } from "../support/process-home.ts";
import { eventually } from "../support/soon.ts";
import { type ConfigInput, configOf, OPERATOR, puppet, Scene } from "./support.ts";

let home: ProcessHome;
let scene: Scene;
let root: string;
beforeEach(() => {
	home = new ProcessHome();
	root = mkdtempSync("/var/tmp/keryx-gateway-walls-");
	for (const name of ["home", "work", "beside"]) mkdirSync(join(root, name));
	writeFileSync(join(root, "beside/notes"), "notes of somebody");
});
afterEach(async () => {
	await scene?.end();
	await home.end();
	rmSync(root, { recursive: true, force: true });
});

const MISSING: ProbeResult = {
	isPossible: false,
	cause: "missing",
	said: "",
	remedy: "sudo apt install bubblewrap",
};
const NO_WALLS: WallProbe = { machine: null, view: MISSING, mask: MISSING, box: MISSING };

async function start(config: ConfigInput = {}, probe?: WallProbe) {
	const parsed = configOf(config);
	const walls = createWalls({
		home: join(root, "home"),
		program: join(import.meta.dirname, "../.."),
		env: { PATH: "/usr/bin:/bin", HOME: root, https_proxy: "http://proxy", OTHER: "x" },
		workspaceOf: () => ({ folder: join(root, "work"), fixed: false }),
		root: join(root, "none"),
		openEnvironment: () => ({ PATH: "/usr/bin:/bin", OPEN: "yes" }),
		config: () => parsed,
		probe: probe ? async () => probe : () => probeWalls(join(root, "home")),
	});
	scene = await Scene.start({
		agent: () => puppet(),
		programs: { path: join(root, "work"), place: home.place },
		walls,
		config,
		at: Date.now(),
	});
}

async function say(text: string, as = "ada") {
	const before = scene.texts(as).length;
	const id = await scene.say(text, { chat: as, user: as });
	await eventually(async () => {
		await scene.clock.advance(0);
		expect(scene.texts(as).length).toBeGreaterThan(before);
	});
	return id;
}

const call = (input: object) => `call terminal ${JSON.stringify(input)}`;
const answerTo = async (id: string) => {
	const row = (await scene.rows(id)).findLast(({ role, kind }) => role === "tool" || kind === "note");
	const text = String(row?.content);
	return JSON.parse(text.slice(text.indexOf('{"output"')));
};
const run = async (command: string, as = "ada", more = {}) =>
	answerTo(await say(call({ command, ...more }), as));

test("/tmp of a conversation is removed when nothing began there for 30 days and none of its programs runs", async () => {
	const parsed = configOf({});
	const home = join(root, "home");
	const walls = createWalls({
		home,
		program: join(import.meta.dirname, "../.."),
		env: { PATH: "/usr/bin:/bin", HOME: root },
		workspaceOf: () => ({ folder: join(root, "work"), fixed: false }),
		root: join(root, "none"),
		openEnvironment: () => ({}),
		config: () => parsed,
	});
	const tmpOf = async (conversation: string) => {
		const place = await walls.forCommand({ conversation, profile: "", standing: "owner" });
		return place.run === "walled" ? (place.request.wall.tmp ?? "") : "";
	};
	const [idle, running, recent] = await Promise.all(["idle", "running", "recent"].map(tmpOf));
	const day = 24 * 3_600_000;
	const now = Date.now() + 40 * day;
	// Something begins there again.
	utimesSync(recent as string, new Date(now - 29 * day), new Date(now - 29 * day));
	await tidyWalls(home, { running: ["running"], now });
	expect([idle, running, recent].map((folder) => existsSync(folder as string))).toEqual([false, true, true]);
	expect(existsSync(await tmpOf("idle"))).toBe(true);
});

test.each(["view", "mask"] as const)("behind %s, what a hook runs cannot be written", async (kind) => {
	writeFileSync(join(root, "work/hook.sh"), "as it was");
	await start({
		approvals: { mode: "off" },
		walls: { by_role: { owner: kind } },
		hooks: [{ on: ["turn:never"], command: ["/bin/sh", join(root, "work/hook.sh"), "/dev/null", "word"] }],
	});
	const { output } = await run(
		"echo mine > hook.sh; mv hook.sh away; rm hook.sh; cat hook.sh; echo x > other && cat other",
	);
	expect(output).toMatch(/as it wasx\n$/);
	expect(readFileSync(join(root, "work/hook.sh"), "utf8")).toBe("as it was");
});

test.each(["view", "mask"] as const)(
	"behind %s, the keys of a store on a server are hidden, and only where there is one",
	async (kind) => {
		writeFileSync(join(root, ".pgpass"), "password of the store");
		writeFileSync(join(root, "beside/key.pem"), "key of the store");
		const common = { approvals: { mode: "off" }, walls: { by_role: { owner: kind } } } as const;
		const command = `cat ${root}/.pgpass; cat ${root}/beside/key.pem; cat ${root}/beside/notes`;
		await start({
			...common,
			store: { url: `postgres://keryx@127.0.0.1/keryx?sslkey=${root}/beside/key.pem` },
		});
		const { output } = await run(command);
		expect(output).toContain("notes of somebody");
		expect(output).not.toContain("of the store");
		await scene.end();
		await start(common);
		expect((await run(command)).output).toContain("password of the store");
	},
);

describe("a workspace inside of what other commands can write", () => {
	const wallOf = async (profile: string, config: ConfigInput) => {
		const parsed = configOf(config);
		const folders = workspaceFolders(join(root, "home"), parsed.workspace, { HOME: root });
		const walls = createWalls({
			home: join(root, "home"),
			program: join(import.meta.dirname, "../.."),
			env: { PATH: "/usr/bin:/bin", HOME: root },
			workspaceOf: workspaceFinder(parsed, folders),
			root: folders.root,
			openEnvironment: () => ({}),
			config: () => parsed,
			probe: () => probeWalls(join(root, "home")),
		});
		const place = await walls.forCommand({ conversation: "0".repeat(32), profile, standing: "member" });
		return place.run === "walled" ? place.request.wall : null;
	};
	const site = { mode: "fixed", path: "../work/site" } as const;
	const cases: [what: string, config: ConfigInput][] = [
		[
			"another workspace",
			{ workspace: { mode: "fixed", path: "../work" }, profiles: { site: { workspace: site } } },
		],
		["walls.write", { walls: { write: ["~/work"] }, profiles: { site: { workspace: site } } }],
	];

	test.each(cases)("cannot be exchanged there: %s", async (_, config) => {
		mkdirSync(join(root, "work/site"));
		expect(await wallOf("", config)).toMatchObject({ keep: [join(root, "work/site")] });
		expect((await wallOf("site", config))?.workspace).toBe(join(root, "work/site"));
	});

	test.each(cases)("is not used once it is a link, whoever put that there: %s", async (_, config) => {
		symlinkSync(join(root, "beside"), join(root, "work/site"));
		await expect(wallOf("site", config)).rejects.toMatchObject({ code: "wall.path" });
	});

	test("may be a link where no command can write", async () => {
		symlinkSync(join(root, "beside"), join(root, "linked"));
		const config: ConfigInput = { workspace: { mode: "fixed", path: "../linked" } };
		expect((await wallOf("", config))?.workspace).toBe(join(root, "beside"));
	});
});

describe("by role", () => {
	test("the owner's commands see everything and write the workspace; a member's see the workspace alone", async () => {
		await start({ approvals: { mode: "off" } });
		const command = `cat ${root}/beside/notes; echo x > ${root}/beside/new; echo mine > kept; cat kept`;
		const owners = await run(command);
		expect(owners.output).toContain("notes of somebody");
		expect(owners.output).toContain("Read-only file system");
		expect(owners.output).toContain("mine");
		const members = await run(command, "bob");
		expect(members.output).not.toContain("notes of somebody");
		expect(members.output).toContain("mine");
		expect((await run("env", "bob")).output).toContain(`HOME=${root}/work/.home`);
	});

	test("the environment is built from nothing, and walls.env_pass adds to it", async () => {
		await start({ walls: { env_pass: ["https_proxy"] } });
		const { output } = await run("env");
		expect(output).toContain("https_proxy=http://proxy");
		expect(output).not.toContain("OTHER=");
	});

	test.each([
		[{}, "owner", "", { kind: "view", network: "host", isReadonly: false }],
		[{}, "member", "", { kind: "box", network: "none", isReadonly: false }],
		[{}, "none", "", { kind: "box", network: "none", isReadonly: false }],
		[
			{ walls: { by_role: { member: "view" } } },
			"member",
			"",
			{ kind: "view", network: "host", isReadonly: false },
		],
		[
			{ walls: { by_role: { guest: "view" } } },
			"guest",
			"",
			{ kind: "view", network: "none", isReadonly: false },
		],
		[{ walls: { network: "off" } }, "owner", "", { kind: "view", network: "none", isReadonly: false }],
		[
			{ walls: { by_role: { owner: "mask" }, by_profile: { p: { owner: "box" } } }, profiles: { p: {} } },
			"owner",
			"p",
			{ kind: "box", network: "none", isReadonly: false },
		],
		[{ walls: { box_network: "on" } }, "member", "", { kind: "box", network: "own", isReadonly: false }],
		[{ walls: { box_network: "on" } }, "guest", "", { kind: "box", network: "none", isReadonly: false }],
		[{ walls: { box_network: "on" } }, "owner", "", { kind: "view", network: "host", isReadonly: false }],
		[{ approvals: { mode: "readonly" } }, "owner", "", { kind: "box", network: "none", isReadonly: true }],
	] as const)("%j for %s in profile %j", (config, standing, profile, expected) => {
		expect(chooseWall(configOf(config as ConfigInput), { standing, profile })).toEqual(expected);
	});

	test("readonly runs in a box in which nothing can be written", async () => {
		await start({ approvals: { mode: "readonly" } });
		expect((await run("cat /proc/self/mountinfo")).output).toMatch(/work .* ro,/);
	});
});

describe("in words", () => {
	test("/status and the prompt say which wall it is", async () => {
		await start();
		await say("hello");
		const view = /^Commands run behind the wall view: commands can read everything on this machine/;
		expect(scene.shown[0]?.notes).toContainEqual(expect.stringMatching(view));
		await say("/status");
		expect(scene.texts().at(-1)?.split("\n").at(-1)).toMatch(view);
		await say("/status", "bob");
		expect(scene.texts("bob").at(-1)).toContain("behind the wall box");
	});

	test("a command that failed because of its wall says so", async () => {
		await start({ approvals: { mode: "off" } });
		expect(await run(`echo x > ${root}/beside/new`)).toMatchObject({
			exit_code: expect.any(Number),
			wall: expect.stringContaining("(view) is probably why it failed: its wall does not let it write"),
		});
		expect(
			await run("getent hosts keryx.example || { echo Could not resolve host; false; }", "bob"),
		).toMatchObject({
			wall: expect.stringContaining("no network"),
		});
		expect(await run("exit 3")).not.toHaveProperty("wall");
		expect(await run("echo Read-only file system")).not.toHaveProperty("wall");
	});
});

test("where pasta cannot make a box's own network, a box has none, and everybody is told", async () => {
	const parsed = configOf({ walls: { box_network: "on", limits: { processes: 4096 } } });
	const found = await probeWalls(join(root, "home"));
	const machine = found.machine && { ...found.machine, pasta: null, cgroups: NO_CGROUPS };
	const walls = createWalls({
		home: join(root, "home"),
		program: join(import.meta.dirname, "../.."),
		env: { PATH: "/usr/bin:/bin", HOME: root },
		workspaceOf: () => ({ folder: join(root, "work"), fixed: false }),
		root: join(root, "none"),
		openEnvironment: () => ({}),
		config: () => parsed,
		probe: async () => ({ ...found, machine }),
	});
	const member = { conversation: "c", profile: "", standing: "member" } as const;
	expect(await walls.forCommand(member)).toMatchObject({ request: { wall: { network: "none" } } });
	expect(await walls.describe(member)).toContain("The network is off.");
	expect(await walls.isWhole()).toBe(false);
	expect(await walls.inWords()).toMatch(
		/^walls are up: .*; a box has no network: pasta is not installed\. What to do: .* passt; the number of processes of a program has no limit: there is no cgroup/,
	);
});

describe("a wider wall", () => {
	const given = () => ({
		command: `echo x > ${root}/beside/new && cat ${root}/beside/new`,
		wider_wall: "to note it",
	});

	test("is asked about, and once the owner allows it that one command runs behind it", async () => {
		await start();
		const id = await say(call(given()));
		expect(scene.texts().at(-1)).toContain("widen_wall");
		expect(scene.texts().at(-1)).toContain("wider wall mask, this once, because: to note it");
		const before = scene.texts().length;
		await scene.say("/approve");
		await eventually(async () => {
			await scene.clock.advance(0);
			expect(scene.texts().length).toBeGreaterThan(before + 1);
		});
		expect(await answerTo(id)).toMatchObject({ output: "x\n", exit_code: 0 });
		await say(call(given()));
		expect(scene.texts().at(-1)).toContain("widen_wall");
	});

	test("was allowed for the command that started a shell, so each line that the shell gets later is asked about", async () => {
		await start({ approvals: { mode: "off" } });
		await say(call({ command: "cat", background: true, wider_wall: "to note it" }));
		await scene.say("/approve");
		await eventually(async () => {
			await scene.clock.advance(0);
			expect(await scene.store.processes({ scope: OPERATOR, limit: 1 })).toMatchObject([{ wall: "mask" }]);
		});
		const [process] = await scene.store.processes({ scope: OPERATOR, limit: 1 });
		const typed = { action: "submit", id: process?.id, data: "one more line" };
		await say(`call process ${JSON.stringify(typed)}`);
		await eventually(async () => {
			await scene.clock.advance(0);
			expect(scene.texts().at(-1)).toContain("runs behind the wider wall mask");
		});
		// One that runs behind the usual wall gets its lines unasked.
		const usual = await say(call({ command: "cat", background: true }));
		const [other] = await scene.store.processes({ scope: OPERATOR, limit: 1 });
		expect(other).toMatchObject({ wall: "view" });
		expect(JSON.stringify(await scene.rows(usual))).toContain(other?.id);
		await say(`call process ${JSON.stringify({ ...typed, id: other?.id })}`);
		expect(scene.texts().at(-1)).not.toContain("widen_wall");
	});

	test("cannot be allowed by the member who asks, nor for longer than once", async () => {
		await start();
		await say(call({ command: `cat ${root}/beside/notes`, wider_wall: "to read it" }), "bob");
		expect(scene.texts("bob").at(-1)).toContain("Only the owner can answer.");
		await say("/approve", "bob");
		expect(scene.texts("bob").at(-1)).toContain("Only the owner can approve a wider wall");
		const [asked] = await scene.store.confirmations({ scope: OPERATOR, now: scene.clock.now(), limit: 10 });
		expect(asked).toMatchObject({ action: "widen_wall", status: "pending" });
	});

	test("is not had by editing another call that a member may approve", async () => {
		await start();
		const id = await say(call({ command: "rm -rf build" }), "bob");
		const [asked] = await scene.store.confirmations({ scope: OPERATOR, now: scene.clock.now(), limit: 10 });
		expect(asked).toMatchObject({ action: expect.not.stringMatching("widen_wall"), status: "pending" });
		await scene.confirmations.resolve(
			asked?.id as string,
			"approved",
			{ editedDetails: { command: `cat ${root}/beside/notes`, wider_wall: "to read it" } },
			{ who: "principal:bob", role: "approver", via: "api", sessionKey: null },
		);
		await eventually(async () => {
			await scene.clock.advance(0);
			expect(JSON.stringify(await scene.rows(id))).toContain("needs the owner's approval of widen_wall");
		});
		expect(JSON.stringify(await scene.rows(id))).not.toContain("notes of somebody");
	});

	test("is the owner's to allow where nothing else is asked about, too", async () => {
		await start({ approvals: { mode: "off" } });
		const id = await say(call({ command: `cat ${root}/beside/notes`, wider_wall: "to read it" }), "bob");
		expect(scene.texts("bob").at(-1)).toContain("Only the owner can answer.");
		expect(JSON.stringify(await scene.rows(id))).not.toContain("notes of somebody");
	});
});

describe("where no wall can be made", () => {
	test("auto: the owner is asked about everything that may change something, and nobody else has a terminal", async () => {
		await start({}, NO_WALLS);
		expect(await run("pwd")).toMatchObject({ output: `${root}/work\n`, exit_code: 0 });
		await say(call({ command: "npm test" }));
		expect(scene.texts().at(-1)).toContain("runs without a wall: bubblewrap is not installed");
		const id = await say(call({ command: "pwd" }), "bob");
		const row = (await scene.rows(id)).findLast(({ role }) => role === "tool");
		expect(row?.content).toBe(
			"Commands cannot run: bubblewrap is not installed, and without a wall only the owner has a terminal. The operator can fix this: sudo apt install bubblewrap",
		);
		await say("/status");
		expect(scene.texts().at(-1)).toContain(
			"Commands run without a wall: bubblewrap is not installed. You are asked about each command that may change something. What to do: sudo apt install bubblewrap",
		);
	});

	test("required: no wall, no command", async () => {
		await start({ walls: { mode: "required" } }, NO_WALLS);
		const id = await say(call({ command: "pwd" }));
		const row = (await scene.rows(id)).findLast(({ role }) => role === "tool");
		expect(row?.content).toContain("bubblewrap is not installed, and walls.mode is required");
	});

	test("off: as before, and /status says so", async () => {
		await start({ walls: { mode: "off" } });
		expect((await run("env")).output).toContain("OPEN=yes");
		await say("/status");
		expect(scene.texts().at(-1)).toContain("Commands run without a wall: walls.mode is off.");
	});
});
