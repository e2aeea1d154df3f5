// A Keryx on a machine without bubblewrap: it starts, and says in one sentence what is missing and which command installs it. Here the
// program is hidden from a whole Keryx by bubblewrap itself.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, expect, test } from "vitest";
import { MAIN, NODE_OPTIONS } from "../support/keryx.ts";

const root = mkdtempSync("/var/tmp/keryx-no-walls-");
const home = join(root, "home");
mkdirSync(home, { mode: 0o700 });
afterAll(() => rmSync(root, { recursive: true, force: true }));

const WITHOUT = [
	"--dev-bind",
	"/",
	"/",
	"--ro-bind",
	"/dev/null",
	"/usr/bin/bwrap",
	"--die-with-parent",
	"--",
];
const REMEDY = /sudo (apt|dnf|pacman|apk|zypper) .*bubblewrap|install the package bubblewrap/;

function keryx(args: readonly string[]): ChildProcess {
	const node = [process.execPath, ...NODE_OPTIONS, MAIN];
	return spawn("/usr/bin/bwrap", [...WITHOUT, ...node, ...args], {
		env: {
			PATH: process.env.PATH,
			KERYX_HOME: home,
			KERYX_HTTP_PORT: "0",
			NODE_COMPILE_CACHE: join(root, "compiled"),
			JAVA_HOME: "/opt/java",
		},
	});
}

async function said(args: readonly string[]) {
	const child = keryx(args);
	child.stdin?.end();
	const [stdout, stderr, code] = await Promise.all([
		text(child.stdout as NonNullable<typeof child.stdout>),
		text(child.stderr as NonNullable<typeof child.stderr>),
		new Promise<number | null>((resolve) => child.on("exit", resolve)),
	]);
	return { stdout, stderr, code };
}

test("keryx doctor says that there are no walls, what follows, and what installs them", async () => {
	const { stdout, code } = await said(["doctor", "--quick", "--json"]);
	const { checks } = JSON.parse(stdout) as { readonly checks: readonly Record<string, string>[] };
	const walls = checks.find(({ check }) => check === "walls");
	expect(walls).toEqual({
		check: "walls",
		state: "wrong",
		found:
			"there are no walls: bubblewrap is not installed; only the owner has a terminal, and each command is asked about",
		remedy: expect.stringMatching(REMEDY),
	});
	expect(checks.find(({ check }) => check === "variables")).toMatchObject({
		state: "remark",
		found: "commands do not see JAVA_HOME",
		remedy: "name those they need: walls.env_pass: [JAVA_HOME]",
	});
	expect(code).toBe(1);
});

test("keryx starts all the same, warns of it, and takes away what walls of an earlier life have left", async () => {
	const [old, kept, note] = ["tmp/old", "tmp/new", "walls/left.status"].map((name) => join(home, name));
	for (const folder of [old, kept, join(home, "walls")]) mkdirSync(folder as string, { recursive: true });
	utimesSync(old as string, new Date("2020-01-01"), new Date("2020-01-01"));
	writeFileSync(note as string, "");
	const child = keryx([]);
	child.stdin?.end();
	let warned = "";
	child.stderr?.on("data", (data) => (warned += data));
	try {
		await expect.poll(() => warned).toMatch(/there are no walls: bubblewrap is not installed\. What to do: /);
		expect(warned).toMatch(REMEDY);
		expect([old, kept, note].map((path) => existsSync(path as string))).toEqual([false, true, false]);
	} finally {
		child.kill("SIGKILL");
		await new Promise((resolve) => child.once("close", resolve));
	}
});

test("walls.mode off is named by doctor, and is no fault", async () => {
	writeFileSync(join(home, "config.yaml"), "walls: {mode: off}\n");
	const { stdout, code } = await said(["doctor", "--quick", "--json"]);
	const { checks } = JSON.parse(stdout) as { readonly checks: readonly Record<string, string>[] };
	expect(checks.find(({ check }) => check === "walls")).toMatchObject({
		state: "remark",
		found: "walls are off (walls.mode): commands can do everything this user can",
	});
	expect(code).toBe(0);
});
