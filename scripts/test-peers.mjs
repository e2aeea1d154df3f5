// `npm run test:peers`: tests with programs of others that are no part of this package. Each is installed at its exact version into a
// cache folder (KERYX_PEERS_CACHE, or keryx-peers in the user's cache) when it is first needed. Ergo comes as a package of Debian 13, which
// is unpacked there and not installed; KERYX_PEER_ERGO names another.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { prepare, root, run } from "./setup.mjs";

const PEERS = { opencode: { package: "opencode-ai", version: "1.18.33", program: "opencode" } };

const { node, env } = await prepare();
const cache = env.KERYX_PEERS_CACHE ?? join(env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "keryx-peers");
const found = {};
for (const [name, { package: wanted, version, program }] of Object.entries(PEERS)) {
	const folder = join(cache, `${wanted}-${version}`);
	const path = join(folder, "node_modules", ".bin", program);
	if (!existsSync(path)) {
		console.log(`fetching ${wanted}@${version} into ${folder}`);
		mkdirSync(folder, { recursive: true });
		writeFileSync(join(folder, "package.json"), '{"private":true}\n');
		const code = await run("npm", ["install", "--no-save", `${wanted}@${version}`], env, { cwd: folder });
		if (code !== 0) process.exit(code);
	}
	found[`KERYX_PEER_${name.toUpperCase()}`] = path;
}
found.KERYX_PEER_ERGO = env.KERYX_PEER_ERGO ?? (await fetchErgo(join(cache, "ergochat")));
const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
process.exitCode = await run(node, [vitest, "run", ...process.argv.slice(2)], {
	...env,
	...found,
	KERYX_PEERS: "1",
});

/** With lists and a cache of its own, so that nothing of the system changes. */
async function fetchErgo(folder) {
	const path = join(folder, "root", "usr", "bin", "ergochat");
	if (existsSync(path)) return path;
	console.log(`fetching ergochat into ${folder}`);
	for (const name of ["lists/partial", "cache/archives/partial"])
		mkdirSync(join(folder, name), { recursive: true });
	writeFileSync(join(folder, "sources.list"), "deb http://deb.debian.org/debian trixie main\n");
	const options = [
		`Dir::Etc::sourcelist=${join(folder, "sources.list")}`,
		"Dir::Etc::sourceparts=/dev/null",
		`Dir::State::lists=${join(folder, "lists")}`,
		`Dir::Cache=${join(folder, "cache")}`,
	].flatMap((option) => ["-o", option]);
	const steps = [
		["apt-get", [...options, "update"]],
		["apt-get", [...options, "download", "ergochat"]],
		["sh", ["-c", "dpkg -x ergochat_*.deb root"]],
	];
	for (const [program, args] of steps) {
		const code = await run(program, args, env, { cwd: folder });
		if (code !== 0) process.exit(code);
	}
	return path;
}
