// Makes a fresh clone able to run: a new enough Node, the packages, the build. Runs on Node 20 and needs no packages.
// Each step is skipped when its stamp says that nothing it depends on has changed.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const OLDEST = [22, 19];
const PRIVATE_NODE = "24.21.0";

/** Installs and builds what is not current. Answers the Node to run with and its environment; exits with a remedy when it cannot. */
export async function prepare() {
	const runtime = await install();
	await Promise.all(builds(runtime).map((make) => make()));
	return runtime;
}

/** The first half of `prepare`. */
export async function install() {
	const runtime = await findNode();
	await installPackages(runtime);
	return runtime;
}

/** The second half, as parts that need nothing of each other. */
export function builds(runtime) {
	return [() => build(runtime), () => buildPage(runtime)];
}

/** Runs a program with the terminal handed through, and answers its exit code. Signals sent to us reach it. */
export function run(command, args, env, options = {}) {
	const child = spawn(command, args, { cwd: root, env, stdio: "inherit", ...options });
	const forward = (signal) => child.kill(signal);
	process.on("SIGTERM", forward);
	// Ctrl-C reaches the child through the terminal; here it must only not end us before the child has ended.
	process.on("SIGINT", () => {});
	return new Promise((resolve) => {
		child.on("error", (error) => fail(`could not start ${command}: ${error.message}`));
		child.on("exit", (code, signal) => resolve(signal ? 128 : (code ?? 1)));
	});
}

async function findNode() {
	if (newEnough(process.versions.node)) return { node: process.execPath, env: process.env };

	const name = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
	const home = join(root, ".node", "node_modules", name);
	const node = process.platform === "win32" ? join(home, "bin", "node.exe") : join(home, "bin", "node");
	const env = {
		...process.env,
		PATH: `${dirname(node)}${delimiter}${process.env.PATH}`,
		// Otherwise a native addon would be built against the headers of the Node that is too old.
		npm_config_nodedir: home,
	};
	if (versionIn(home) !== PRIVATE_NODE) {
		const what = `Node ${process.versions.node} is older than ${OLDEST.join(".")}; fetching a private Node ${PRIVATE_NODE} into .node/`;
		rmSync(join(root, ".node"), { recursive: true, force: true });
		mkdirSync(join(root, ".node"));
		await step(
			what,
			npmCommand(process.execPath),
			["install", "--no-save", "--prefix", ".node", `${name}@${PRIVATE_NODE}`],
			{
				env: process.env,
				remedy: `install Node ${OLDEST.join(".")} or newer yourself, then run this again`,
			},
		);
	}
	return { node, env };
}

async function installPackages({ node, env }) {
	const stamp = join(root, "node_modules", ".keryx-installed");
	const current = digest([
		readFileSync(join(root, "package-lock.json")),
		readFileSync(join(root, "package.json")),
	]);
	if (read(stamp) === current) return;
	// No package of ours needs an install script, and none may run one.
	await step("installing packages", npmCommand(node), ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], {
		env,
		remedy: "check the connection to your npm registry, then run this again",
	});
	writeFileSync(stamp, current);
}

async function build({ node, env }) {
	const stamp = join(root, "dist", ".keryx-built");
	const current = stateOf([
		...files(join(root, "src")),
		join(root, "tsconfig.json"),
		join(root, "tsconfig.build.json"),
		join(root, "scripts", "bundle.mjs"),
		join(root, "package-lock.json"),
	]);
	if (read(stamp) === current) return;
	// tsc leaves the output of deleted sources behind, and its build info would skip what was removed by hand. The page is no output of it.
	for (const entry of existsSync(join(root, "dist")) ? readdirSync(join(root, "dist")) : [])
		if (!OF_THE_PAGE.has(entry)) rmSync(join(root, "dist", entry), { recursive: true, force: true });
	rmSync(join(root, ".cache", "build.tsbuildinfo"), { force: true });
	// Their checks take twice as long as writing them. `npm test` makes them with the native checker, and `npm run build` with this one.
	const types = step(
		"writing types",
		[node, join(root, "node_modules", "typescript", "bin", "tsc")],
		["-p", "tsconfig.build.json", "--noCheck"],
		{
			env,
			remedy: "the sources do not compile; the lines above say where",
		},
	);
	const program = step("building", [node, join(root, "scripts", "bundle.mjs")], [], {
		env,
		remedy: "the lines above name the file",
	});
	await Promise.all([types, program]);
	writeFileSync(stamp, current);
}

/** What the page's build leaves in dist, beside tsc's. */
const OF_THE_PAGE = new Set(["web", ".keryx-page"]);

/** The page calls and follows what the server's tables say, so these tables are among its sources. */
async function buildPage({ node, env }) {
	const stamp = join(root, "dist", ".keryx-page");
	const current = stateOf([
		...files(join(root, "web")),
		...files(join(root, "src", "http")),
		join(root, "src", "store", "events.ts"),
		join(root, "package-lock.json"),
	]);
	if (read(stamp) === current && existsSync(join(root, "dist", "web", "index.html"))) return;
	await step(
		"building the page",
		[node, join(root, "node_modules", "vite", "bin", "vite.js")],
		["build", "web", "--logLevel", "warn"],
		{ env, remedy: "the page's sources do not build; the lines above say where" },
	);
	writeFileSync(stamp, current);
}

/** One quiet step, with its name on the terminal and then its time: several may run at once. What it printed is shown only when it failed. */
export async function step(name, [command, ...first], args, { env, remedy, isNeeded = true }) {
	const began = Date.now();
	process.stderr.write(`keryx: ${name} ...\n`);
	const child = spawn(command, [...first, ...args], { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
	let said = "";
	for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (said += data));
	const code = await new Promise((resolve) => {
		child.on("error", (error) => resolve(error.message));
		child.on("close", resolve);
	});
	process.stderr.write(`keryx: ${name}: ${((Date.now() - began) / 1000).toFixed(1)} s\n`);
	if (code !== 0 && isNeeded)
		fail(`${name} failed (${code})\n${said.trimEnd()}\nkeryx: what to do: ${remedy}`);
}

/** npm says where it is when it started us; otherwise it must be on the PATH. */
function npmCommand(node) {
	const cli = process.env.npm_execpath;
	if (cli?.endsWith("npm-cli.js") && existsSync(cli)) return [node, cli];
	return [process.platform === "win32" ? "npm.cmd" : "npm"];
}

function newEnough(version) {
	const [major, minor] = version.split(".").map(Number);
	return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}

function versionIn(folder) {
	const text = read(join(folder, "package.json"));
	return text && JSON.parse(text).version;
}

function read(file) {
	return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

function* files(folder) {
	for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true }))
		if (entry.isFile()) yield join(entry.parentPath ?? entry.path, entry.name);
}

function stateOf(paths) {
	return digest(
		paths.map((file) => {
			const { size, mtimeMs } = statSync(file);
			return `${file} ${size} ${mtimeMs}`;
		}),
	);
}

function digest(parts) {
	const hash = createHash("sha256");
	for (const part of parts) hash.update(part).update("\0");
	return hash.digest("hex");
}

export function fail(message) {
	process.stderr.write(`keryx: ${message}\n`);
	process.exit(1);
}
