// On a Node that is too old for Keryx: a private one is fetched into Keryx's home, once, and takes over. Runs on Node 20, and uses no
// packages.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const NODE = "24.21.0";
const name = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
const home = resolve(process.env.KERYX_HOME || join(homedir(), ".keryx"));
const folder = join(home, "node", NODE);
const node = join(folder, "node_modules", name, "bin", process.platform === "win32" ? "node.exe" : "node");

if (!existsSync(node)) fetchNode();
const launcher = join(dirname(fileURLToPath(import.meta.url)), "keryx.mjs");
const path = `${dirname(node)}:${process.env.PATH ?? ""}`;
const child = spawn(node, [launcher, ...process.argv.slice(2)], {
	stdio: "inherit",
	env: { ...process.env, PATH: path },
});
// Ctrl-C reaches it through the terminal; here it must only not end us before it has ended.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => fail(`${node} cannot be started: ${error.message}`));
child.on("exit", (code, signal) => {
	if (signal) process.removeAllListeners(signal);
	if (signal) process.kill(process.pid, signal);
	else process.exit(code ?? 1);
});

function fetchNode() {
	process.stderr.write(
		`keryx: Node ${process.versions.node} is too old for Keryx; fetching a private Node ${NODE} into ${join(home, "node")} ...\n`,
	);
	const part = `${folder}.${process.pid}`;
	rmSync(part, { recursive: true, force: true });
	mkdirSync(part, { recursive: true, mode: 0o700 });
	const words = ["install", "--no-save", "--no-audit", "--no-fund", "--prefix", part, `${name}@${NODE}`];
	const [program, first] = npm();
	// npm says where it is to what it starts; and what it starts must not take its other settings for its own.
	const env = Object.fromEntries(
		Object.entries(process.env).filter(
			([key]) => !/^npm_(config_prefix|config_global|config_local_prefix)$/.test(key),
		),
	);
	const { status, stderr, error } = spawnSync(program, [...first, ...words], {
		encoding: "utf8",
		env,
		cwd: part,
	});
	if (status !== 0) {
		rmSync(part, { recursive: true, force: true });
		fail(`it could not be fetched: ${error?.message ?? stderr.trim()}`);
	}
	// Another start may have been faster.
	if (!existsSync(node)) {
		rmSync(folder, { recursive: true, force: true });
		renameSync(part, folder);
	}
	rmSync(part, { recursive: true, force: true });
	const { version } = JSON.parse(readFileSync(join(folder, "node_modules", name, "package.json"), "utf8"));
	if (version !== NODE) fail(`npm fetched Node ${version} instead`);
}

function npm() {
	const { npm_execpath: script } = process.env;
	return script?.endsWith("npm-cli.js") ? [process.execPath, [script]] : ["npm", []];
}

function fail(message) {
	process.stderr.write(
		`keryx: ${message}\nwhat to do: install Node 22.19 or newer yourself, then start Keryx again\n`,
	);
	process.exit(1);
}
