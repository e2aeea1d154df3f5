// I18: a program keeps the role it was started with. A turn or command of a lesser role sees it, and leaves it alone; so with secrets.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Process } from "../../src/store/index.ts";
import { isRunning, ProcessHome } from "../support/process-home.ts";
import { eventually } from "../support/soon.ts";
import { OPERATOR, Scene } from "./support.ts";
import { teller } from "./teller.ts";

const THREAD = { chat: "room", chatType: "thread", thread: "t1" } as const;
const ROLES = ["owner", "member", "guest"] as const;
type Who = (typeof ROLES)[number];

let home: ProcessHome;
let scene: Scene;
/** As a Keryx wrote them that knew no roles of programs. */
let withoutRoles = false;
beforeEach(async () => {
	home = new ProcessHome();
	withoutRoles = false;
	scene = await Scene.start({
		engine: (engine) => ({
			epoch: engine.epoch,
			write: (name, args, drawn) => {
				const isOld = withoutRoles && name === "beginProcess";
				return engine.write(name, isOld ? { ...(args as object), role: null } : args, drawn);
			},
			read: (name, args) => engine.read(name, args),
			onCommit: (listener) => engine.onCommit(listener),
			close: () => engine.close(),
		}),
		agent: teller,
		programs: home,
		at: Date.now(),
		config: {
			auth: { telegram: { allow: ROLES.map((role) => ({ id: role, role })) } },
			tools: { by_role: { guest: ["terminal", "process"] } },
			approvals: { mode: "off" },
		},
	});
});
afterEach(async () => {
	await scene.end();
	await home.end();
});

const call = (tool: string, input: object) => `call ${tool} ${JSON.stringify(input)}`;
/** Says something in the thread; answers what the tool that it called gave. */
async function say(user: Who, text: string): Promise<string> {
	const before = scene.texts("room").length;
	await scene.say(text, { ...THREAD, user });
	return eventually(async () => {
		await scene.clock.advance(0);
		expect(scene.texts("room").length).toBeGreaterThan(before);
		return scene.texts("room").slice(before).join("\n");
	});
}
async function started(by: Who): Promise<Process> {
	await say(by, call("terminal", { command: "cat", background: true }));
	return eventually(async () => {
		const [process] = await scene.store.processes({ scope: OPERATOR, limit: 1 });
		const role = withoutRoles ? null : by;
		expect(process).toMatchObject({ status: "running", role, identity: { pid: expect.any(Number) } });
		return process as Process;
	});
}
const lives = (process: Process) => isRunning(process.identity?.pid as number);

describe.each([
	["member", "owner"],
	["guest", "owner"],
	["guest", "member"],
] as const)("a %s and a program of a turn of the %s", (lesser, greater) => {
	test("lists and polls it, and may not write to it, end its input or kill it", async () => {
		const program = await started(greater);
		expect(await say(lesser, call("process", { action: "list" }))).toContain(program.id);
		expect(await say(lesser, call("process", { action: "poll", id: program.id }))).toContain("running");
		for (const more of [
			{ action: "kill" },
			{ action: "write", data: "x" },
			{ action: "submit", data: "x" },
			{ action: "close" },
		])
			expect(await say(lesser, call("process", { ...more, id: program.id }))).toContain(
				"was started for someone with a higher role",
			);
		await say(lesser, `/kill ${program.id}`);
		await say(lesser, "/stop all");
		expect(lives(program)).toBe(true);
		await say(greater, `/kill ${program.id}`);
		expect(lives(program)).toBe(false);
	});
});

test("the owner ends what anybody started", async () => {
	const program = await started("guest");
	expect(await say("owner", call("process", { action: "kill", id: program.id }))).not.toContain(
		"higher role",
	);
	expect(lives(program)).toBe(false);
});

test.each(["member", "guest"] as const)(
	"a program from before programs had roles counts as the owner's: a %s leaves it alone",
	async (lesser) => {
		withoutRoles = true;
		const program = await started("owner");
		expect(await say(lesser, call("process", { action: "poll", id: program.id }))).toContain("running");
		for (const more of [{ action: "kill" }, { action: "write", data: "x" }, { action: "close" }])
			expect(await say(lesser, call("process", { ...more, id: program.id }))).toContain("higher role");
		await say(lesser, `/kill ${program.id}`);
		await say(lesser, "/stop all");
		expect(lives(program)).toBe(true);
		await say("owner", `/kill ${program.id}`);
		expect(lives(program)).toBe(false);
	},
);
