// A scene with a gateway to be reached, and escape.pl in it: first without a wall, then behind each. `<top> <root|user> <runs>`: prints one
// object a line per run. Started as root it must be in a mount namespace of its own: it mounts. The caller removes <top>.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
	chmodSync,
	copyFileSync,
	linkSync,
	mkdirSync,
	openSync,
	readdirSync,
	readFileSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import {
	newWall,
	readMachine,
	startBehindWall,
	type Wall,
	type WalledStart,
	type WallKind,
} from "../../src/walls/index.ts";
import { parseMounts } from "../../src/walls/mounts.ts";

const ORDINARY = 61_234;
const STRANGER = 61_235;
const PERL = "/usr/bin/perl";
const MOUNT = "/usr/bin/mount";
const PATH = "/usr/local/bin:/usr/bin:/bin";
/** How often a workspace is exchanged while it is bound. */
const RACES = 60;
const SYS_SETXATTR = process.arch === "x64" ? 188 : 5;

const [top = "", who = "user", runs = ""] = process.argv.slice(2);
const isRoot = process.getuid?.() === 0;
const secret = `secret-${randomBytes(16).toString("hex")}`;
const marker = `marker-${randomBytes(8).toString("hex")}`;
const user = join(top, "user");
const home = join(user, ".local/share/keryx");
const ws = join(top, "work/ws");
const tmp = join(home, "tmp/c1");
const folders = {
	alias: join(top, "alias"),
	part: join(top, "part"),
	proc2: join(top, "chroot/proc"),
	program: join(user, "app/keryx"),
	node: join(user, ".nvm/node24"),
	bin: join(user, ".local/bin"),
	mine: join(user, "mine"),
};
const tools = { suid: join(top, "suid-cat"), fcap: join(top, "fcap-cat"), rootonly: join(top, "root-only") };

makeScene();
if (isRoot) mountThings();
if (isRoot && who === "user") becomeOrdinary();
const machine = readMachine();
if (!machine) throw new Error("bubblewrap is not installed");
const terminal = openTerminal();
const { gateway, told } = await startGateway();
try {
	for (const run of runs.split(",")) {
		const lines = run === "control" ? await control() : run === "starts" ? await starts() : await walled(run);
		process.stdout.write(`${JSON.stringify({ run, secret, marker, lines })}\n`);
	}
} finally {
	gateway.kill("SIGTERM");
	await new Promise((resolve) => gateway.once("exit", resolve));
	void terminal;
}

function makeScene(): void {
	const all = [join(home, "processes"), join(home, "keys"), tmp, ws, ...Object.values(folders)];
	for (const folder of [...all, join(folders.program, "dist"), join(folders.node, "bin")])
		mkdirSync(folder, { recursive: true });
	for (const name of [".ssh", ".config/systemd/user", ".config/autostart"])
		mkdirSync(join(user, name), { recursive: true });
	const files = {
		"operator.secret": secret,
		"keys/audit.key": secret,
		"processes/host-1.token": secret,
		"processes/log.0": "",
		"config.yaml": "confirmations: on\n",
		victim: "",
	};
	for (const [name, content] of Object.entries(files)) writeFileSync(join(home, name), content);
	writeFileSync(join(folders.program, "dist/main.js"), "");
	writeFileSync(join(folders.node, "bin/node"), "");
	linkSync(join(home, "operator.secret"), join(user, "old-hard-link"));
	symlinkSync(join(home, "operator.secret"), join(ws, "old-file-link"));
	symlinkSync(home, join(ws, "old-home-link"));
	symlinkSync(user, join(ws, "old-user-link"));
	symlinkSync("old-home-link", join(ws, "old-chain"));
	symlinkSync(join(home, "operator.secret"), join(tmp, "old-tmp-link"));
	for (const name of ["u", "w"]) mkdirSync(join(ws, name));
	copyFileSync(join(import.meta.dirname, "escape.pl"), join(ws, "escape.pl"));
	if (isRoot && who === "user") {
		for (const path of [
			top,
			...readdirSync(top, { recursive: true, encoding: "utf8" }).map((name) => join(top, name)),
		])
			execFileSync("chown", ["-h", `${ORDINARY}:${ORDINARY}`, path]);
		writeFileSync(tools.rootonly, secret, { mode: 0o600 });
		for (const tool of [tools.suid, tools.fcap]) copyFileSync("/bin/cat", tool);
		chmodSync(tools.suid, 0o4755);
		// CAP_DAC_READ_SEARCH, effective: what setcap writes.
		const value = "pack('LLLLL', 0x02000001, 4, 0, 0, 0)";
		const script = `my ($p, $n, $v) = ($ARGV[0], "security.capability", ${value}); syscall(${SYS_SETXATTR}, $p, $n, $v, 20, 0) == 0 or die $!`;
		execFileSync(PERL, ["-e", script, tools.fcap]);
	}
}

/** Other ways to the same files and processes, as they are on real machines. */
function mountThings(): void {
	execFileSync(MOUNT, ["--bind", user, folders.alias]);
	execFileSync(MOUNT, ["--bind", join(home, "processes"), folders.part]);
	execFileSync(MOUNT, ["-t", "proc", "proc", folders.proc2]);
}

function becomeOrdinary(): void {
	process.setgroups?.([ORDINARY]);
	process.setgid?.(ORDINARY);
	process.setuid?.(ORDINARY);
}

/** The owner's, who types into it. */
function openTerminal(): { readonly pty: string } {
	const require = createRequire(createRequire(import.meta.url).resolve("@lydell/node-pty"));
	const binary = require(`@lydell/node-pty-${process.platform}-${process.arch}/pty.node`) as {
		open(columns: number, rows: number): { readonly pty: string };
	};
	return binary.open(80, 24);
}

async function startGateway(): Promise<{ readonly gateway: ChildProcess; readonly told: string }> {
	const script = join(ws, "..", "gateway.pl");
	copyFileSync(join(import.meta.dirname, "gateway.pl"), script);
	const gateway = spawn(PERL, [script, home, user, marker], {
		cwd: home,
		env: { PATH, KERYX_SECRET: secret },
		detached: true,
		stdio: ["ignore", "pipe", "inherit"],
	});
	let told = "";
	for await (const data of gateway.stdout ?? []) {
		told += String(data);
		if (told.endsWith("ready\n")) return { gateway, told: told.slice(0, -"ready\n".length) };
	}
	throw new Error(`the gateway ended after ${JSON.stringify(told)}`);
}

function writeFacts(
	run: string,
	{ network, mine }: { readonly network: string; readonly mine: string },
): string {
	const disk = parseMounts(readFileSync("/proc/self/mountinfo", "utf8")).find(({ point }) => point === "/");
	const device = /^\S+ \S+ \S+ \S+ \/ .* - \S+ (\S+) /m.exec(
		readFileSync("/proc/self/mountinfo", "utf8"),
	)?.[1];
	const address = Object.values(networkInterfaces())
		.flatMap((all) => all ?? [])
		.find(({ internal, family }) => !internal && family === "IPv4");
	const facts = {
		home,
		user,
		top,
		ws,
		tmp,
		...folders,
		...tools,
		mine,
		network,
		disk: device ?? "/dev/sda",
		diskno: disk?.device ?? "8:0",
		pts: terminal.pty,
		address: address?.address ?? "",
		otheruid: who === "root" ? STRANGER : 0,
	};
	const file = join(ws, `facts-${run}`);
	writeFileSync(
		file,
		told +
			Object.entries(facts)
				.map(([name, value]) => `${name}\t${value}\n`)
				.join(""),
	);
	return file;
}

/** As a careless program would start it: with its own environment and what it has open. */
async function control(): Promise<string[]> {
	const file = writeFacts("control", { network: "host", mine: folders.mine });
	const opened = openSync(join(home, "operator.secret"), "r");
	const folder = openSync(home, "r");
	const child = spawn(PERL, [join(ws, "escape.pl"), file, "control"], {
		cwd: ws,
		env: { PATH, KERYX_SECRET: secret },
		stdio: ["ignore", "pipe", "inherit", opened, folder],
		detached: true,
	});
	return linesOf(await text(child.stdout as NonNullable<typeof child.stdout>));
}

/** `view`, `mask-admin`, `box`, `box-host`, `box-own`. */
async function walled(run: string): Promise<string[]> {
	const [kind, option = ""] = run.split("-") as [WallKind, string?];
	const network = option === "own" ? "own" : kind === "box" && option !== "host" ? "none" : "host";
	const file = writeFacts(run, { network, mine: kind === "mask" ? folders.mine : ws });
	const wall = { ...wallOf(kind, network, ws), privileges: option === "admin" ? "admin" : "none" } as const;
	const { child, exit } = await startBehindWall(
		{
			wall,
			argv: ["perl", join(ws, "escape.pl"), file],
			cwd: ws,
			env: { PATH },
			statusFile: join(home, `status-${run}`),
			streams: ["ignore", "pipe", 2],
		},
		machine as NonNullable<typeof machine>,
	);
	const output = await text(child.stdout as NonNullable<typeof child.stdout>);
	await exit;
	return linesOf(output);
}

function wallOf(kind: WallKind, network: Wall["network"], workspace: string): Wall {
	const protect = [folders.program, folders.node, folders.bin];
	return newWall({ kind, home, workspace, tmp, protect, network, outlivesStarter: true });
}

/** Ways to begin: what a call may ask for, and what an earlier command may have left where the next one starts. */
async function starts(): Promise<string[]> {
	const stolen = join(ws, "stolen");
	const steal = `#!/bin/sh\ncat '${join(home, "operator.secret")}' > '${stolen}' 2>/dev/null\nexit 0\n`;
	const bin = join(ws, "bin");
	mkdirSync(bin);
	for (const name of ["bwrap", "env", "sh", "true"]) writeFileSync(join(bin, name), steal, { mode: 0o755 });
	writeFileSync(join(ws, "steal.sh"), steal);
	const debugged = join(home, "ld");
	const linked = join(top, "work/linked");
	symlinkSync(home, linked);
	const aboveLinked = join(top, "work/above");
	symlinkSync(user, aboveLinked);
	rmSync(join(ws, ".home"), { recursive: true, force: true });
	symlinkSync(home, join(ws, ".home"));
	const run = async (
		changes: Partial<Wall>,
		start: Partial<WalledStart>,
		argv = ["bash", "-c", "cat operator.secret $HOME/operator.secret"],
	) => {
		const wall = { ...wallOf("box", "none", folders.mine), ...changes };
		const { child, exit } = await startBehindWall(
			{
				wall,
				argv,
				cwd: "/",
				env: { PATH },
				statusFile: join(home, "status-start"),
				streams: ["ignore", "pipe", "ignore"],
				...start,
			},
			machine as NonNullable<typeof machine>,
		);
		const output = await text(child.stdout as NonNullable<typeof child.stdout>);
		await exit;
		return output;
	};
	const attempts: Record<string, () => Promise<string>> = {
		"LD_DEBUG_OUTPUT into the home": () =>
			run({}, { env: { PATH, LD_DEBUG: "libs", LD_DEBUG_OUTPUT: debugged } }),
		"the variable BASH_ENV": () => run({}, { env: { PATH, BASH_ENV: join(ws, "steal.sh") } }),
		"the variable ENV": () => run({}, { env: { PATH, ENV: join(ws, "steal.sh") } }),
		"a function of the shell named bwrap": () =>
			run({}, { env: { PATH, "BASH_FUNC_bwrap%%": `() { . ${join(ws, "steal.sh")}; }` } }),
		"bwrap, env and sh on the PATH": () => run({}, { env: { PATH: bin } }, ["true"]),
		"bwrap in the current directory": () => run({}, { cwd: bin, env: { PATH: "." } }, ["true"]),
		"arguments after a NUL in a variable": () => run({}, { env: { PATH, A: "x\0--bind\0/\0/" } }),
		"arguments after a NUL in the directory": () => run({}, { cwd: "/\0--bind\0/\0/" }),
		"options in place of a program": () =>
			run({}, {}, ["--bind", "/", "/", "cat", join(home, "operator.secret")]),
		"a workspace that is a link": () => run({ workspace: linked }, { cwd: linked }),
		"a workspace behind a link": () => run({ workspace: join(aboveLinked, ".local/share/keryx") }, {}),
		"a workspace that is the home": () => run({ workspace: home }, { cwd: home }),
		"a workspace that is another mount of the home's part": () =>
			run({ workspace: folders.part }, { cwd: folders.part }, ["cat", "host-1.token"]),
		"a /tmp that is a link": () => run({ tmp: linked }, { cwd: "/tmp" }),
		"a list that names a link": () => run({ read: [linked] }, { cwd: linked }),
		"a list that names the home": () => run({ write: [home] }, { cwd: home }),
		"a list that names a folder above": () => run({ write: [user] }, { cwd: home }),
		"a list that names another mount": () =>
			run({ write: [folders.alias] }, { cwd: join(folders.alias, ".local/share/keryx") }),
		"a HOME that is a link": () => run({ workspace: ws }, { env: { PATH, HOME: join(ws, ".home") } }),
	};
	const lines: string[] = [];
	for (const [name, attempt] of Object.entries(attempts)) {
		const told = await attempt().catch((error: Error) => `refused: ${error.message}`);
		const files = readdirSync(home).filter((file) => file.startsWith("ld."));
		const taken = readdirSync(ws).includes("stolen") ? readFileSync(stolen, "utf8") : "";
		lines.push(`starts\t${name}\t${files.length > 0 ? "D" : "R"}\t${briefly(`${told} ${taken}`)}`);
	}
	// Without bind by descriptor a moment stays in which it passes: the guide says so.
	if (machine?.canBindDescriptors)
		lines.push(`starts\ta workspace exchanged for a link while it is bound\tR\t${await exchanged(run)}`);
	return lines;
}

/** A mask's command could do this to the workspace of another conversation. */
async function exchanged(
	run: (changes: Partial<Wall>, start: Partial<WalledStart>) => Promise<string>,
): Promise<string> {
	const contested = join(top, "work/contested");
	// Slowly enough that a look finds the folder, fast enough that it is often a link by the time it is bound.
	const script = `my ($c, $home) = @ARGV; mkdir "$c.dir"; symlink $home, "$c.link";
		while (1) { for my $what ("dir", "link") { rename "$c.$what", $c; select undef, undef, undef, 0.003; rename $c, "$c.$what" } }`;
	const flipping = spawn(PERL, ["-e", script, contested, home], { stdio: "ignore", detached: true });
	let seen = "";
	try {
		for (let i = 0; i < RACES; i++)
			seen += await run({ workspace: contested }, { cwd: contested }).catch((error: Error) =>
				error.message.includes(secret),
			);
	} finally {
		process.kill(-(flipping.pid as number), "SIGKILL");
	}
	return seen.replace(/false/g, "");
}

function briefly(said: string): string {
	return `${said.includes(secret) ? secret : ""} ${said.replace(/\s+/g, " ").trim().slice(0, 100)}`;
}

function linesOf(output: string): string[] {
	const lines = output.trimEnd().split("\n");
	if (lines.pop() !== "end") throw new Error(`the program did not come to its end: ${output.slice(-500)}`);
	return lines;
}
