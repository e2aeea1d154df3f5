// What every wall keeps, whoever runs it. Each promise that could be kept for no reason is broken first without a wall: the control.
import { execFile, execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
	isNamespaceAlive,
	killNamespace,
	namespaceMembers,
	readStatus,
	type Wall,
	type WalledExit,
	type WallKind,
} from "../../src/walls/index.ts";
import { PATH, processesWith, read, WallScene } from "../walls/scene.ts";

/** How often a program is killed in its first moments. */
const KILLS = 25;
const code = (number: number, signal: string | null = null): WalledExit => ({
	kind: "exited",
	code: number,
	signal,
});

export interface ConformanceOptions {
	readonly privileges?: Wall["privileges"];
	readonly kinds?: readonly WallKind[];
}

export function wallConformance(
	name: string,
	{ privileges = "none", kinds = ["view", "mask", "box"] }: ConformanceOptions = {},
): void {
	describe.each(kinds)(`walls ${name}: %s`, (kind) => {
		let scene: WallScene;
		let wall: Wall;
		const run = (
			script: string,
			changes: Partial<Wall> = {},
			options: Parameters<WallScene["run"]>[2] = {},
		) => scene.run({ ...wall, ...changes }, script, options);
		const outside = async (script: string) => {
			const options = { encoding: "utf8", env: { PATH }, cwd: scene.workspace } as const;
			return (await promisify(execFile)("bash", ["-c", script], options)).stdout;
		};

		beforeAll(() => {
			scene = new WallScene();
			wall = scene.wall(kind, { privileges });
		});

		afterAll(() => scene.close());

		describe("paths", () => {
			test("the home is empty by whatever path, and cannot be written", async () => {
				const secret = join(scene.home, "operator.secret");
				symlinkSync(scene.home, join(scene.workspace, "old-link"));
				const ways = [
					secret,
					"old-link/operator.secret",
					"../../user/.local/share/keryx/operator.secret",
					`/proc/self/root${secret}`,
					`/proc/1/root${secret}`,
					"/proc/self/cwd/../../user/.local/share/keryx/operator.secret",
					`/usr/..${secret}`,
				];
				for (const way of ways.filter((one) => !one.includes("/proc/1/")))
					expect(await outside(`cat ${way}`)).toBe(scene.secret);
				const { out: seen, errors } = await run(ways.map((way) => `cat ${way}`).join("; "));
				expect(seen).toBe("");
				expect(errors.trim().split("\n")).toHaveLength(ways.length);
				const { out } = await run(
					`touch ${scene.home}/planted && echo done; ls -A ${scene.home} 2>/dev/null`,
				);
				expect(out).toBe("");
				expect(existsSync(join(scene.home, "planted"))).toBe(false);
			});

			test("the workspace can be written, and is the same outside", async () => {
				const { exit, errors } = await run("echo made > here.txt && mkdir -p d/e && mv here.txt d/e/");
				expect([exit, errors]).toEqual([code(0), ""]);
				expect(readFileSync(join(scene.workspace, "d/e/here.txt"), "utf8")).toBe("made\n");
			});

			test("a read-only workspace can be read and not written", async () => {
				writeFileSync(join(scene.workspace, "read.txt"), "text");
				const { out, errors } = await run("cat read.txt; echo x > read.txt", { isWorkspaceReadonly: true });
				expect(out).toBe("text");
				expect(errors).toContain("Read-only file system");
			});

			test("/tmp is the conversation's own: kept between commands, and nobody else's is seen", async () => {
				const other = `/tmp/keryx-${randomBytes(6).toString("hex")}`;
				writeFileSync(other, "");
				try {
					const first = await run(`echo kept > /tmp/note; ls ${other}`);
					expect(first.errors).toContain("No such file");
					expect((await run("cat /tmp/note")).out).toBe("kept\n");
					expect((await run("ls /tmp", { tmp: null })).out).toBe("");
				} finally {
					rmSync(other);
				}
			});

			test("of everything else it shows and lets be written what its name says", async () => {
				const notes = join(scene.user, "notes.txt");
				const { out } = await run(`cat ${notes}; echo; echo more >> ${notes} && echo written`);
				const expected = { view: "somebody's notes\n", mask: "somebody's notes\nwritten\n", box: "\n" };
				expect(out).toBe(expected[kind]);
				writeFileSync(notes, "somebody's notes");
				const planted = await run(
					"for f in /usr/planted /etc/planted /planted; do touch $f && echo $f; done",
				);
				if (kind !== "mask" || process.getuid?.() !== 0) expect(planted.out).toBe("");
				else await outside("rm -f /usr/planted /etc/planted /planted");
			});

			test("folders of the lists are there as they are listed", async () => {
				for (const folder of ["in", "out"]) {
					mkdirSync(join(scene.user, folder), { recursive: true });
					writeFileSync(join(scene.user, folder, "f"), folder);
				}
				const lists = { read: [join(scene.user, "in")], write: [join(scene.user, "out")] };
				const { out, exit } = await run(`cd ${scene.user}; cat in/f out/f; echo x > out/new`, lists);
				expect([out, exit]).toEqual(["inout", code(0)]);
				expect(readFileSync(join(scene.user, "out/new"), "utf8")).toBe("x\n");
				if (kind !== "mask")
					expect((await run(`echo x > ${scene.user}/in/new`, lists)).exit).toEqual(code(1));
			});

			test("what is hidden besides the home is empty, folder or file", async () => {
				mkdirSync(join(scene.user, "backup"), { recursive: true });
				writeFileSync(join(scene.user, "backup/copy"), scene.secret);
				writeFileSync(join(scene.user, "key"), scene.secret);
				const hide = [join(scene.user, "backup"), join(scene.user, "key"), join(scene.user, "missing")];
				const { out } = await run(`cat ${scene.user}/backup/copy ${scene.user}/key; ls ${scene.user}`, {
					hide,
				});
				expect(out).not.toContain(scene.secret);
				expect(existsSync(join(scene.user, "missing"))).toBe(false);
			});

			test("no folder above the home can be renamed, also where the list lets it be written", async () => {
				const rename = `mv ${scene.user}/.local ${scene.user}/moved`;
				await outside(`${rename} && mv ${scene.user}/moved ${scene.user}/.local`);
				for (const changes of [{}, { write: [scene.user] }, { write: [scene.top] }] as Partial<Wall>[]) {
					const folders = [scene.home, join(scene.home, ".."), join(scene.user, ".local"), scene.user];
					const moves = folders.map((folder) => `mv ${folder} ${scene.workspace}/moved && echo ${folder}`);
					expect((await run(moves.join("; "), changes)).out).toBe("");
					const { out } = await run(
						`rm -rf ${scene.user}/.local 2>/dev/null; mkdir -p ${scene.home} 2>/dev/null; echo fake > ${scene.home}/config.yaml 2>/dev/null && echo planted`,
						changes,
					);
					// A box may have a folder of that name, which is nobody else's.
					if (kind !== "box" || changes.write !== undefined) expect(out).toBe("");
					expect(existsSync(join(scene.home, "config.yaml"))).toBe(false);
				}
				expect(readFileSync(join(scene.home, "operator.secret"), "utf8")).toBe(scene.secret);
				const links = await run(
					`cd ${scene.user} && echo a > a && mkdir -p .local/x && mv a .local/x/b && ln .local/x/b c`,
					{
						write: [scene.user],
					},
				);
				expect([links.exit, links.errors]).toEqual([code(0), ""]);
			});

			test("what the gateway runs cannot be written, nor exchanged with a folder above it", async () => {
				const program = join(scene.user, "app/keryx");
				mkdirSync(program, { recursive: true });
				writeFileSync(join(program, "main.js"), "real");
				for (const changes of [{ protect: [program] }, { protect: [program], write: [scene.user] }]) {
					const { out } = await run(
						`echo fake > ${program}/main.js && echo 1; mv ${program} ${scene.user}/x && echo 2; mv ${scene.user}/app ${scene.user}/y && echo 3; rm -f ${program}/main.js && echo 4; cat ${program}/main.js`,
						changes,
					);
					expect(out).toBe(kind === "box" && changes.write === undefined ? "4\n" : "real");
				}
			});

			test("a workspace that is a link to the home, or lies behind one, is refused", async () => {
				const link = join(scene.top, "work/link");
				symlinkSync(scene.home, link);
				symlinkSync(scene.user, join(scene.top, "work/user-link"));
				for (const workspace of [
					link,
					join(scene.top, "work/user-link/.local"),
					scene.home,
					"/",
					"/proc/self",
					"relative",
				])
					await expect(run("true", { workspace })).rejects.toMatchObject({ code: "wall.path" });
				await expect(run("true", { write: [join(scene.home, "processes")] })).rejects.toMatchObject({
					code: "wall.path",
				});
			});
		});

		describe("processes", () => {
			test("none but its own can be seen or signalled", async () => {
				const { out } = await run(
					`ls /proc | grep -c '^[0-9]'; test -e /proc/${process.pid} && echo seen; kill -0 ${process.pid} 2>/dev/null && echo signalled; kill -CONT -${process.pid} 2>/dev/null && echo group`,
				);
				expect(Number(out)).toBeLessThan(8);
				expect(await outside(`kill -0 ${process.pid} && echo signalled`)).toBe("signalled\n");
			});

			test("`kill 0` and `kill -9 -1` inside end nobody outside", async () => {
				for (const script of [
					"kill 0; sleep 5",
					"kill -9 0",
					"kill -9 -1; exit 3",
					"trap '' TERM; kill 0; exit 4",
				]) {
					const { exit } = await run(script);
					expect(exit.kind).not.toBe("failed");
				}
			});

			test("privileges, new namespaces and mounts are refused", async () => {
				const capabilities = await run(
					"grep -E 'Cap(Eff|Prm|Bnd|Amb)|NoNewPrivs|Seccomp:' /proc/self/status",
				);
				const eight = kind !== "box" && privileges === "admin" ? "00000000000004fb" : "0000000000000000";
				expect(capabilities.out).toMatch(new RegExp(`CapPrm:\\t${eight}\nCapEff:\\t${eight}\n`));
				expect(capabilities.out).toContain("NoNewPrivs:\t1\nSeccomp:\t2");
				const attempts = [
					"unshare -U true",
					"unshare -r -m true",
					"unshare -n true",
					"mount -t tmpfs none /tmp",
					`umount ${scene.home}`,
					`mount --bind / ${scene.workspace}`,
					"chroot / true",
				];
				const tried = await run(attempts.map((attempt) => `${attempt} && echo '${attempt}'`).join("; "));
				expect(tried.out).toBe("");
				expect(tried.errors.trim().split("\n").length).toBeGreaterThanOrEqual(attempts.length);
			});

			test("kernel settings are read-only, core_pattern first", async () => {
				const pattern = "/proc/sys/kernel/core_pattern";
				const value = readFileSync(pattern, "utf8").trim();
				// Only the value that is there is ever written.
				if (process.getuid?.() === 0) await outside(`printf '%s' '${value}' > ${pattern}`);
				const { out } = await run(
					`printf '%s' '${value}' > ${pattern} && echo written; mount -o remount,rw /proc/sys && echo mounted`,
				);
				expect(out).toBe("");
				const others = await run(
					"for f in /proc/sysrq-trigger /proc/irq/default_smp_affinity /sys/kernel/mm/transparent_hugepage/enabled /sys/fs/cgroup/cgroup.procs /proc/sys/vm/drop_caches; do test -w $f && echo $f; done",
				);
				expect(others.out).toBe("");
			});

			test("there are few devices, and no terminal of anybody else", async () => {
				const { out } = await run(
					"ls /dev /dev/pts; test -e /dev/mem -o -e /dev/kvm -o -e /dev/fuse -o -e /dev/net/tun && echo more",
				);
				expect(out).not.toContain("more");
				expect(out.split("/dev/pts:\n")[1]?.trim()).toBe("ptmx");
			});
		});

		describe("environment and descriptors", () => {
			test("the environment is what was given, and nothing else", async () => {
				const env = { PATH, "weird name": "a=b\nc", TOKEN: scene.secret };
				const { out } = await run("cat /proc/self/environ; echo; cat /proc/1/environ", {}, { env });
				const [own = "", first = ""] = out.split("\n\0").join("\0").split("\0\n");
				for (const [name, value] of Object.entries(env)) expect(own).toContain(`${name}=${value}`);
				expect(
					own
						.split("\0")
						.map((entry) => entry.split("=")[0])
						.sort(),
				).toEqual(["PATH", "TOKEN", "weird name", "PWD", "SHLVL", "_"].sort());
				expect(first).not.toContain("TOKEN");
			});

			test("values are in no argument list and in no environment outside the wall", async () => {
				const token = randomBytes(12).toString("hex");
				const { child, pid, kill, exit } = await scene.start(wall, ["sh", "-c", "echo up; exec sleep 60"], {
					env: { PATH, TOKEN: token, LD_PRELOAD: "/nowhere.so" },
				});
				await new Promise((resolve) => child.stdout?.once("data", resolve));
				const { namespace } = readStatus(scene.lastStatus);
				const inside = namespaceMembers(namespace ?? { pid: 0, inode: 0 });
				expect(inside.length).toBeGreaterThan(1);
				for (const one of [pid, namespace?.pid ?? 0]) {
					expect(read(`/proc/${one}/environ`)).not.toContain(token);
					expect(read(`/proc/${one}/environ`)).not.toContain("LD_PRELOAD");
				}
				for (const one of [pid, ...inside]) {
					expect(read(`/proc/${one}/cmdline`)).not.toContain(token);
					expect(read(`/proc/${one}/cmdline`)).not.toContain(scene.home);
				}
				expect(processesWith(token).filter((one) => !inside.includes(one))).toEqual([]);
				kill();
				await exit;
			});

			test("variables of the loader do nothing before the wall stands", async () => {
				const folder = join(scene.workspace, "loader");
				mkdirSync(folder, { recursive: true });
				// Every program that heeds it leaves a file with its pid; inside, pids are small.
				const env = { PATH, LD_DEBUG: "libs", LD_DEBUG_OUTPUT: join(folder, "said") };
				const pid = Number(execFileSync("sh", ["-c", "echo $$; exec true"], { encoding: "utf8", env }));
				expect(existsSync(join(folder, `said.${pid}`))).toBe(true);
				rmSync(join(folder, `said.${pid}`));
				const { exit } = await run("true", {}, { env });
				expect(exit).toEqual(code(0));
				const { out } = await run(`ls ${folder}; grep -l bwrap ${folder}/* 2>/dev/null`);
				const pids = out
					.trim()
					.split("\n")
					.map((file) => Number(file.split(".")[1]));
				expect(pids.length).toBeGreaterThan(0);
				expect(Math.max(...pids)).toBeLessThan(20);
			});

			test("only its three streams are open", async () => {
				const list = `perl -e 'opendir D, "/proc/self/fd"; print "$_ ", readlink("/proc/self/fd/$_"), "\\n" for readdir D'`;
				const { out } = await run(`exec ${list}`);
				const others = out
					.split("\n")
					.filter((line) => /^\d/.test(line) && !/^[012] |\/proc\/\d+\/fd/.test(line));
				// One that the tests themselves were given is replaced by nothing.
				expect(others.filter((line) => !line.endsWith(" /dev/null"))).toEqual([]);
				expect(out).toMatch(/^0 /m);
				expect((await run("cat 0<&3; cat 0<&4; cat 0<&5; cat 0<&6; cat 0<&7")).out).toBe("");
			});
		});

		describe("ends", () => {
			test("exit codes are exact, and death by a signal is 128 and its number, with its name", async () => {
				for (const number of [0, 1, 7, 126, 255])
					expect((await run(`exit ${number}`)).exit).toEqual(code(number));
				const signals = { SIGTERM: 143, SIGKILL: 137, SIGSEGV: 139, SIGUSR1: 138 };
				for (const [signal, number] of Object.entries(signals))
					expect((await run(`kill -${signal} $$`)).exit).toEqual(code(number, signal));
			});

			test("a missing program is 127 with words, a missing directory a wall that failed", async () => {
				const { child, exit } = await scene.start(wall, ["no-such-program-anywhere"]);
				let said = "";
				child.stderr?.on("data", (data) => (said += data));
				expect(await exit).toEqual(code(127));
				expect(said).toContain("no-such-program-anywhere");
				const failed = await run("true", {}, { cwd: "/nowhere/at/all" });
				expect(failed.exit).toEqual({ kind: "failed", code: 1 });
				expect(failed.errors).toContain("/nowhere/at/all");
			});

			test("the namespace is on the disk before the program runs", async () => {
				const { child, exit } = await scene.start(wall, ["sh", "-c", "echo up; read go; exit 5"], {
					streams: ["pipe", "pipe", "ignore"],
				});
				await new Promise((resolve) => child.stdout?.once("data", resolve));
				const { namespace, exitCode } = readStatus(scene.lastStatus);
				expect(exitCode).toBeNull();
				expect(namespace && isNamespaceAlive(namespace)).toBe(true);
				child.stdin?.end("\n");
				expect(await exit).toEqual(code(5));
				expect(readStatus(scene.lastStatus).exitCode).toBe(5);
				expect(namespace && isNamespaceAlive(namespace)).toBe(false);
				expect(namespace && killNamespace(namespace)).toBe(false);
			});

			/** A double fork, own sessions, cleared environments, one that ignores TERM, one that is stopped. */
			const daemons = (mark: string) => `
				(sleep 600 & ) ; setsid sleep 600 & (setsid sh -c 'sleep 600 & exit' &)
				env -i /usr/bin/setsid /bin/sleep 600.${mark} & env -i /bin/sh -c '(/bin/sleep 600.${mark} &)' &
				sh -c "trap '' TERM HUP; while :; do sleep 0.1; done" & setsid sh -c 'kill -STOP $$' & perl -e 'setpgrp; sleep 600' &
				echo up;`;

			test("whatever it started is gone with it, when it ends and when it is killed", async () => {
				for (const how of ["ends", "killed", "kill namespace"]) {
					const mark = String(Math.floor(Math.random() * 1e9));
					const walled = await scene.start(
						wall,
						["bash", "-c", `${daemons(mark)} ${how === "ends" ? "exit 9" : "sleep 600"}`],
						{
							env: { PATH, MARK: mark },
						},
					);
					await new Promise((resolve) => walled.child.stdout?.once("data", resolve));
					const { namespace } = readStatus(scene.lastStatus);
					if (how === "killed") walled.kill();
					if (how === "kill namespace") expect(namespace && killNamespace(namespace)).toBe(true);
					const exit = await walled.exit;
					if (how === "ends") expect(exit).toEqual(code(9));
					if (how === "killed") expect(exit).toEqual({ kind: "killed", signal: "SIGKILL" });
					if (how === "kill namespace") expect(exit).toEqual(code(137, "SIGKILL"));
					expect(namespaceMembers(namespace ?? { pid: 0, inode: 0 })).toEqual([]);
					expect(processesWith(mark)).toEqual([]);
				}
			});

			test("a signal to the group is the program's: it ends in its own time and with its own code", async () => {
				const script = "trap 'echo tidy; sleep 0.1; exit 3' TERM; echo up; while :; do sleep 0.05; done";
				const { child, pid, exit } = await scene.start(wall, ["bash", "-c", script]);
				let said = "";
				child.stdout?.on("data", (data) => (said += data));
				await expect.poll(() => said).toBe("up\n");
				process.kill(-pid, "SIGTERM");
				expect(await exit).toEqual(code(3));
				expect(said).toBe("up\ntidy\n");
			});

			test(`killed at any moment of its first 20 ms, nothing of it is left (${KILLS} times)`, async () => {
				const mark = randomBytes(8).toString("hex");
				for (let i = 0; i < KILLS; i++) {
					const walled = await scene.start(
						wall,
						["bash", "-c", "setsid sleep 600 & env -i setsid sleep 600 & sleep 600"],
						{
							env: { PATH, MARK: mark },
							mark: { MARK: mark },
						},
					);
					const until = performance.now() + (20 * i) / KILLS;
					while (performance.now() < until) await delay(0);
					walled.kill();
					await walled.exit;
					const { namespace } = readStatus(scene.lastStatus);
					if (namespace) expect(isNamespaceAlive(namespace)).toBe(false);
				}
				await expect.poll(() => processesWith(mark)).toEqual([]);
			});
		});

		describe("streams and terminals", () => {
			test("what it prints and exits with is complete, and its input ends", async () => {
				const { out, errors, exit } = await run(
					"head -c 50000 /dev/zero | tr '\\0' x; echo e >&2; cat; exit 3",
				);
				expect([out.length, errors, exit]).toEqual([50_000, "e\n", code(3)]);
			});

			test("a terminal is one: size, resize, Ctrl-C, job control, exit code", async () => {
				const terminal = await scene.onTerminal(wall, ["bash", "--norc", "--noprofile", "-i"]);
				await terminal.shows("$ ");
				terminal.type("stty size; test -t 0 -a -t 1 -a -t 2 && echo is-a-$((1+1))-tty\n");
				await terminal.shows("24 80");
				await terminal.shows("is-a-2-tty");
				terminal.type(
					"perl -e '$SIG{WINCH}=sub{print `stty size`;exit 0}; $|=1; print qq(look-).(1+1).qq(\\n); sleep 60'\n",
				);
				await terminal.shows("look-2");
				terminal.resize(101, 33);
				await terminal.shows("33 101");
				// Not a shell: without the pair of signals, Ctrl-C would end the wall itself.
				terminal.type(
					"perl -e '$SIG{INT}=sub{print qq(got-).(1+1).qq(\\n);exit 0}; $|=1; print qq(wait-).(2+2).qq(\\n); sleep 60'\n",
				);
				await terminal.shows("wait-4");
				terminal.type("\x03");
				await terminal.shows("got-2");
				terminal.type("sleep 61\n");
				await expect.poll(() => terminalIsBusy(scene.lastStatus, "sleep\u000061")).toBe(true);
				terminal.type("\x1a");
				await terminal.shows("Stopped");
				terminal.type("bg; jobs; kill %1; echo over-$((3+3))\n");
				await terminal.shows("over-6");
				terminal.type("exit 42\n");
				expect(await terminal.walled.exit).toEqual(code(42));
			});

			test("Ctrl-C reaches a program that is alone on its terminal, and it ends by itself", async () => {
				const terminal = await scene.onTerminal(wall, [
					"perl",
					"-e",
					"$SIG{INT}=sub{print qq(tidy\\n); exit 6}; $|=1; print qq(up\\n); sleep 1 while 1",
				]);
				await terminal.shows("up");
				terminal.type("\x03");
				await terminal.shows("tidy");
				expect(await terminal.walled.exit).toEqual(code(6));
			});
		});

		describe("sockets and ports", () => {
			let servers: Server[];
			let port: number;

			beforeAll(async () => {
				servers = [createServer((socket) => socket.end("401"))];
				port = await listening(servers[0] as Server, 0, "127.0.0.1");
				const second = createServer((socket) => socket.end("401"));
				await listening(second, port, "::1");
				servers.push(second);
			});

			afterAll(() => {
				for (const server of servers) server.close();
			});

			test("ports answer as they answer a stranger, or not at all without a network; nobody else can listen there", async () => {
				const connect = (host: string) =>
					`timeout 5 perl -MIO::Socket::IP -e 'my $s = IO::Socket::IP->new(PeerHost => "${host}", PeerPort => ${port}) or die; print <$s>'`;
				const listen = (host: string) =>
					`perl -MIO::Socket::IP -e 'IO::Socket::IP->new(LocalHost => "${host}", LocalPort => ${port}, Listen => 1) or die; print "listens"'`;
				for (const host of ["127.0.0.1", "::1"]) {
					expect(await outside(connect(host))).toBe("401");
					expect((await run(connect(host), { network: "host" })).out).toBe("401");
					expect((await run(listen(host), { network: "host" })).out).toBe("");
					expect((await run(connect(host), { network: "none" })).out).toBe("");
					// Its own loopback works.
					expect((await run(listen(host), { network: "none" })).out).toBe("listens");
				}
			});

			test("Unix sockets are not there, by path or abstract, unless they are wanted; pairs are", async () => {
				const connect = (name: string) =>
					`perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) or exit 9; connect(S, pack_sockaddr_un("${name}")) or exit 8; exit 0'`;
				const path = join(scene.top, "unix.sock");
				const server = createServer((socket) => socket.end());
				await listening(server, path);
				const abstract = createServer((socket) => socket.end());
				const name = `keryx-${randomBytes(6).toString("hex")}`;
				await listening(abstract, `\0${name}`);
				try {
					for (const one of [path, `\\0${name}`]) {
						await outside(connect(one));
						expect((await run(connect(one), { network: "host" })).exit).toEqual(code(9));
					}
					const open = { network: "host", hasUnixSockets: true } as const;
					expect((await run(connect(`\\0${name}`), open)).exit).toEqual(code(0));
					const pair = `perl -MSocket -e 'socketpair(A, B, AF_UNIX, SOCK_STREAM, 0) or exit 9'`;
					expect((await run(pair)).exit).toEqual(code(0));
				} finally {
					server.close();
					abstract.close();
				}
			});
		});

		test("limits hold for open files and for the memory of each process", async () => {
			const limits = { ...wall.limits, openFiles: 77, memoryBytes: 64 * 1024 * 1024 };
			const { out, errors } = await run(
				'ulimit -n; ulimit -d; perl -e \'$x = "x" x 200_000_000; print "big"\'',
				{ limits },
			);
			expect(out).toBe("77\n65536\n");
			expect(errors).toContain("Out of memory");
		});
	});
}

function terminalIsBusy(statusFile: string, command: string): boolean {
	const { namespace } = readStatus(statusFile);
	return namespaceMembers(namespace ?? { pid: 0, inode: 0 }).some((pid) =>
		read(`/proc/${pid}/cmdline`).startsWith(command),
	);
}

function listening(server: Server, at: number | string, host?: string): Promise<number> {
	return new Promise((resolve, reject) => {
		server.once("error", reject);
		const ready = () => {
			const address = server.address();
			resolve(typeof address === "object" && address ? address.port : 0);
		};
		if (typeof at === "string") server.listen(at, ready);
		else server.listen(at, host, ready);
	});
}
