// Containers as a place for commands: what the engine is asked for, what it is never given, and what happens where it is missing. The engine
// is a stand-in that records its arguments and runs the program here; where podman and an image are there, test:peers uses those.
import {
	chmodSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { containerMachine, type ProcessBackend } from "../../src/processes/index.ts";
import { eventually } from "../support/soon.ts";

const IMAGE = "debian:12";
let folder: string;
let backend: ProcessBackend | null;

beforeEach(() => {
	folder = mkdtempSync("/var/tmp/keryx-container-");
	for (const name of ["bin", "work", "home"]) mkdirSync(join(folder, name));
	backend = null;
});
afterEach(async () => {
	for (const { id } of (await backend?.list()) ?? []) await backend?.kill(id, { graceMs: 0 });
	await backend?.close();
	rmSync(folder, { recursive: true, force: true });
});

/**
 * Records each call, and runs what stands behind the image, with the environment of the file that is bound. A call is written at once: a
 * client that is killed while it writes must not mix with the next.
 */
function standIn(name: "docker" | "podman", hasImage = true): void {
	const path = join(folder, "bin", name);
	writeFileSync(
		path,
		`#!/bin/sh
record=$(for one in "$@"; do printf '%s\\n' "$one"; done; echo ---)
printf '%s\\n' "$record" >> ${folder}/calls
env >> ${folder}/client-env
case "$1" in
image) ${hasImage ? "echo sha256:1" : "echo 'Error: No such image: debian:12' >&2; exit 1"};;
ps) cat ${folder}/left 2>/dev/null;;
rm) ;;
run)
	while [ "$1" != ${IMAGE} ]; do
		case "$1" in
		--mount=*target=/.keryx-env*) file=\${1#--mount=type=bind,source=}; file=\${file%%,*};;
		--workdir=*) dir=\${1#--workdir=};;
		esac
		shift
	done
	shift 3; cd "$dir" && . "$file" && shift && exec "$@";;
esac
`,
	);
	chmodSync(path, 0o755);
}

async function open(engine: "docker" | "podman" = "docker", network: "none" | "on" = "none", uid = 1000) {
	const machine = containerMachine({
		...{ name: `${engine}:${IMAGE}`, engine, image: IMAGE, network, memoryMb: 512, cpus: 1.5, processes: 64 },
		env: {
			PATH: `${folder}/bin:/usr/bin:/bin`,
			HOME: folder,
			DOCKER_HOST: "unix:///x",
			LD_PRELOAD: "/evil.so",
		},
		user: { uid, gid: 1000 },
		home: join(folder, "home", "containers"),
		hidden: join(folder, "home"),
	});
	backend = await machine.connect();
	return machine;
}

const start = (argv: readonly string[], more: object = {}) =>
	(backend as ProcessBackend).spawn({
		...{ id: `proc_${Math.random().toString(16).slice(2, 14)}`, argv, cwd: join(folder, "work") },
		env: { PATH: "/host/bin", TOKEN: "a'b\nc", DOCKER_HOST: "tcp://asked", "bad-name": "x" },
		...{ pty: null, maxLogBytes: 65_536, folder: join(folder, "work"), ...more },
	});
const calls = () =>
	readFileSync(join(folder, "calls"), "utf8")
		.split("---\n")
		.map((one) => one.trimEnd().split("\n"));
const output = async (id: string) =>
	String((await (backend as ProcessBackend).read(id, { from: 0, limit: 65_536 })).data);
const ended = (id: string) =>
	eventually(async () => {
		const info = await (backend as ProcessBackend).get(id);
		expect(info.status).not.toBe("running");
		return info;
	});

test("a program runs in a container that sees its folder alone, with its exit code and its own environment", async () => {
	standIn("docker");
	await open();
	const { id } = await start(["sh", "-c", 'echo "$TOKEN"; echo "$PWD"; exit 7'], {
		cwd: join(folder, "work"),
	});
	expect((await ended(id)).end).toMatchObject({ code: 7 });
	expect(await output(id)).toBe(`a'b\nc\n${join(folder, "work")}\n`);
	const run = calls().find(([verb]) => verb === "run") as string[];
	const at = run.indexOf(IMAGE);
	const envFile = join(folder, "home/containers/environments", `${id}.env`);
	expect(run.slice(0, at)).toEqual([
		"run",
		"--rm",
		"--pull=never",
		`--name=keryx-${id}`,
		expect.stringMatching(/^--label=keryx=[0-9a-f]{16}$/),
		"--interactive",
		"--network=none",
		"--cap-drop=ALL",
		"--security-opt=no-new-privileges",
		"--memory=512m",
		"--cpus=1.5",
		"--pids-limit=64",
		"--user=1000:1000",
		`--mount=type=bind,source=${folder}/work,target=${folder}/work`,
		`--mount=type=bind,source=${envFile},target=/.keryx-env,readonly`,
		`--workdir=${folder}/work`,
		"--entrypoint=/bin/sh",
	]);
	expect(run.slice(at + 1, at + 5)).toEqual(["-c", '. /.keryx-env && exec "$@"', "sh", "sh"]);
	// Nothing that a call asked for reaches the client, which runs outside of any wall; nor does more of Keryx's environment than it needs.
	const client = readFileSync(join(folder, "client-env"), "utf8");
	expect(client).toContain("DOCKER_HOST=unix:///x");
	expect(client).not.toMatch(/TOKEN|LD_PRELOAD|KERYX_PROCESS|asked/);
	expect(run.join(" ")).not.toContain("a'b");
	await eventually(() => expect(existsSync(envFile)).toBe(false));
});

test("podman without root keeps the user's id; a network is the engine's own; a terminal is asked for", async () => {
	standIn("podman");
	await open("podman", "on");
	const { id } = await start(["true"], { pty: { rows: 24, cols: 80 } });
	await ended(id);
	const run = calls().find(([verb]) => verb === "run") as string[];
	expect(run).toContain("--userns=keep-id");
	expect(run).toContain("--tty");
	expect(run.join(" ")).not.toMatch(/--user=|--network/);
});

test("a kill ends the client and the container; what a dead client left is removed at the next start", async () => {
	standIn("docker");
	await open();
	const { id } = await start(["sleep", "600"]);
	expect(await backend?.kill(id, { graceMs: 0 })).toMatchObject({ result: "killed" });
	expect(calls()).toContainEqual(["rm", "--force", "--volumes", `keryx-${id}`]);
	await backend?.close();
	writeFileSync(join(folder, "left"), "keryx-proc_left\nother\n");
	writeFileSync(join(folder, "home/containers/environments/proc_left.env"), "export A='b'\n");
	await open();
	expect(
		calls()
			.filter(([verb]) => verb === "rm")
			.at(-1),
	).toEqual(["rm", "--force", "--volumes", "keryx-proc_left"]);
	expect(readdirSync(join(folder, "home/containers/environments"))).toEqual([]);
});

test("without the engine, without the image, behind a wall or in Keryx's own home nothing is started anywhere", async () => {
	const touch = () => start(["touch", join(folder, "work/here")]);
	await open();
	await expect(touch()).rejects.toMatchObject({
		code: "process.unreachable",
		message: expect.stringMatching(/docker is not installed; nothing was run anywhere else/),
	});
	standIn("docker", false);
	await expect(touch()).rejects.toMatchObject({ message: expect.stringContaining("No such image") });
	standIn("docker");
	await expect(start(["true"], { wall: {} })).rejects.toMatchObject({ code: "wall.unavailable" });
	for (const bound of ["/", folder, join(folder, "home"), join(folder, "home/x")])
		await expect(start(["true"], { folder: bound }), bound).rejects.toMatchObject({
			code: "workspace.unusable",
		});
	expect(await backend?.list()).toEqual([]);
	expect(existsSync(join(folder, "work/here"))).toBe(false);
});
