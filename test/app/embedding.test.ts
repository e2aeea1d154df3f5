// The programs of the guide to embedding, run as they stand in a folder of their own: on the sources, or with KERYX_PACKED on the package
// as it is published, with nothing beside it but the packages that its `dependencies` bring.
import { type ChildProcess, type ChildProcessByStdio, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
	copyFileSync,
	cpSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	realpathSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { examples, onSources } from "../support/guides.ts";

const ROOT = join(import.meta.dirname, "../..");
const PACKAGES = realpathSync(join(ROOT, "node_modules"));
const isPacked = Boolean(process.env.KERYX_PACKED);
const PROGRAMS = examples("embedding.md", "ts");
const folder = realpathSync(mkdtempSync(join(tmpdir(), "keryx-embedding-")));
const running = new Set<ChildProcess>();

beforeAll(() => {
	for (const name of withDependencies(Object.keys(manifestOf(ROOT).dependencies ?? {}))) link(name);
	if (isPacked) install(join(folder, "node_modules"));
}, 300_000);
afterAll(() => {
	for (const child of running) child.kill("SIGKILL");
	rmSync(folder, { recursive: true, force: true });
});

interface Manifest {
	readonly dependencies?: Readonly<Record<string, string>>;
	readonly optionalDependencies?: Readonly<Record<string, string>>;
	readonly peerDependencies?: Readonly<Record<string, string>>;
}

function manifestOf(where: string): Manifest {
	return JSON.parse(readFileSync(join(where, "package.json"), "utf8")) as Manifest;
}

/** These packages and what they need in turn, as npm would install them for somebody else. Optional ones may be for another machine. */
function withDependencies(names: readonly string[]): ReadonlySet<string> {
	const all = new Set<string>();
	const add = (name: string) => {
		if (all.has(name) || !existsSync(join(PACKAGES, name))) return;
		all.add(name);
		const { dependencies, optionalDependencies } = manifestOf(join(PACKAGES, name));
		for (const needed of Object.keys({ ...dependencies, ...optionalDependencies })) add(needed);
	};
	for (const name of names) add(name);
	return all;
}

function link(name: string): void {
	const to = join(folder, "node_modules", name);
	if (existsSync(to)) return;
	mkdirSync(dirname(to), { recursive: true });
	symlinkSync(join(PACKAGES, name), to);
}

/** Built apart from dist, which others may be using. */
function install(packages: string): void {
	const built = join(folder, "built");
	mkdirSync(built);
	for (const file of ["package.json", "README.md", "CHANGELOG.md"])
		copyFileSync(join(ROOT, file), join(built, file));
	const node = (...args: string[]) => execFileSync(process.execPath, args, { cwd: ROOT });
	const own = ["--outDir", join(built, "dist"), "--tsBuildInfoFile", join(folder, "info")];
	node(join(PACKAGES, "typescript/bin/tsc"), "-p", "tsconfig.build.json", ...own);
	cpSync(join(ROOT, "src"), join(built, "src"), { recursive: true });
	node("scripts/bundle.mjs", built);
	const tarball = execFileSync("npm", ["pack", "--silent", "--ignore-scripts"], {
		cwd: built,
		encoding: "utf8",
	});
	mkdirSync(join(packages, "keryx"));
	const where = ["-C", join(packages, "keryx"), "--strip-components=1"];
	execFileSync("tar", ["-xzf", join(built, tarball.trim().split("\n").at(-1) as string), ...where]);
	rmSync(built, { recursive: true });
}

function start(code: string | undefined, name: string): ChildProcessByStdio<Writable, Readable, null> {
	const file = join(folder, `${name}.mts`);
	writeFileSync(file, isPacked ? (code ?? "") : onSources(code ?? ""));
	const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", file], {
		cwd: folder,
		stdio: ["pipe", "pipe", "inherit"],
		env: { ...process.env, HOME: folder, XDG_DATA_HOME: join(folder, "data") },
	});
	running.add(child);
	return child;
}

/** What it prints, given these lines. */
async function run(code: string | undefined, name: string, typed: string): Promise<string> {
	const child = start(code, name);
	child.stdin.end(typed);
	const [said, [exit]] = await Promise.all([text(child.stdout), once(child, "close")]);
	expect(exit).toBe(0);
	return said;
}

test("there are three programs", () => {
	expect(PROGRAMS).toHaveLength(3);
});

test("a bot answers with a tool of its own, in thirty lines", async () => {
	expect(PROGRAMS[0]?.trim().split("\n").length).toBeLessThanOrEqual(30);
	expect(await run(PROGRAMS[0], "bot", "how many letters?\nand again?\n")).toBe(
		"That is 10 letters.\nThat is 10 letters.\n",
	);
});

test("confirmations alone: a yes lets the program act, and anything else does not", async () => {
	expect(await run(PROGRAMS[1], "confirmations", "y\n")).toBe("deploying version 7\n");
	expect(await run(PROGRAMS[1], "confirmations", "maybe\n")).toBe("not deployed\n");
});

test("a channel of one's own takes each message once, answers, and ends when it is told to", async () => {
	const child = start(PROGRAMS[2], "channel");
	const printed = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
	const { port } = JSON.parse((await printed.next()).value as string);
	const socket = connect(port, "127.0.0.1");
	const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
	const heard = async (count: number) => {
		const some: string[] = [];
		while (some.length < count) some.push((await lines.next()).value as string);
		return some.sort();
	};
	socket.write("1 /where\n");
	expect(await heard(2)).toEqual(["A line of TCP.", "taken 1"]);
	// The same message again is acknowledged, and not answered.
	socket.write("1 /where\n");
	expect(await heard(1)).toEqual(["taken 1"]);
	socket.write("2 /where\n");
	expect(await heard(2)).toEqual(["A line of TCP.", "taken 2"]);
	const closed = once(child, "close");
	child.kill("SIGTERM");
	expect(await closed).toEqual([0, null]);
	socket.destroy();
});

if (isPacked)
	test("the suite in the guide to testing runs in a repository of its own", async () => {
		// Whoever tests brings the test runner.
		for (const name of withDependencies(Object.keys(manifestOf(ROOT).peerDependencies ?? {}))) link(name);
		const [code] = examples("testing.md", "ts test");
		writeFileSync(join(folder, "agent.test.ts"), code as string);
		const child = spawn(process.execPath, [join(PACKAGES, "vitest/vitest.mjs"), "run", "--root", folder], {
			cwd: folder,
			stdio: ["ignore", "pipe", "pipe"],
		});
		running.add(child);
		const [said, complaints, [exit]] = await Promise.all([
			text(child.stdout),
			text(child.stderr),
			once(child, "close"),
		]);
		expect([exit, exit === 0 ? "" : `${said}${complaints}`]).toEqual([0, ""]);
	});
