// `npm run test:peers`: tests with programs of others that are no part of this package. Each is installed at its exact version into a
// cache folder (KERYX_PEERS_CACHE, or keryx-peers in the user's cache) when it is first needed. Ergo comes as a package of Debian 13, which
// is unpacked there and not installed; KERYX_PEER_ERGO names another. podman runs an image that debootstrap makes; KERYX_PEER_IMAGE names
// another. Synapse runs in a folder with Debian's unstable release, by chroot (as root); KERYX_PEER_SYNAPSE names another.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { prepare, root, run } from "./setup.mjs";
import { install, onPath } from "./test-tools.mjs";

const IMAGE = "localhost/keryx-debootstrap:1";

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
Object.assign(found, await preparePodman(join(cache, "podman")));
found.KERYX_PEER_SYNAPSE = env.KERYX_PEER_SYNAPSE ?? (await fetchSynapse(join(cache, "synapse", "root")));
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
	writeFileSync(join(folder, "sources.list"), `deb ${debianMirror()} trixie main\n`);
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

/** Only Debian's unstable release has Synapse: a folder with that release, in which it runs. */
async function fetchSynapse(tree) {
	const done = join(tree, "keryx-ready");
	if (existsSync(done)) return tree;
	console.log(`making a Debian with Synapse in ${tree}`);
	rmSync(tree, { recursive: true, force: true });
	mkdirSync(tree, { recursive: true });
	const apt = ["apt-get", "-o", "Acquire::Check-Valid-Until=false"];
	const steps = [
		["debootstrap", ["--variant=minbase", "sid", tree, debianMirror()]],
		["chroot", [tree, ...apt, "update"]],
		["chroot", [tree, ...apt, "install", "--yes", "--no-install-recommends", "matrix-synapse"]],
	];
	for (const [program, args] of steps) {
		const code = await run(program, args, { ...env, DEBIAN_FRONTEND: "noninteractive" });
		if (code !== 0) process.exit(code);
	}
	writeFileSync(done, "");
	return tree;
}

/** The mirror this system already uses. */
function debianMirror() {
	const format = "$(REPO_URI) $(COMPONENT)";
	const targets = execFileSync("sh", ["-c", `apt-get indextargets --format "$0"`, format])
		.toString()
		.split("\n");
	const main = targets.find((line) => line.endsWith(" main") && !line.includes("security"));
	if (!main) throw new Error("apt knows no mirror: run apt-get update, then run this again");
	return main.split(" ")[0];
}

/** Settings for a host whose limits and cgroups podman's defaults do not fit, and an image if there is none yet. */
async function preparePodman(folder) {
	for (const [name, program] of [
		["podman", "podman"],
		["runc", "runc"],
		["debootstrap", "debootstrap"],
	])
		if (!onPath(program)) await install({ package: name, what: "the tests of containers need podman" });
	mkdirSync(folder, { recursive: true });
	const settings = join(folder, "containers.conf");
	writeFileSync(
		settings,
		`[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1000:1000"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
`,
	);
	const image = env.KERYX_PEER_IMAGE ?? IMAGE;
	const podman = { ...env, CONTAINERS_CONF: env.CONTAINERS_CONF ?? settings };
	if (spawnSync("podman", ["image", "exists", image], { env: podman }).status !== 0) {
		const tree = join(folder, "root");
		const steps = [
			["debootstrap", ["--variant=minbase", "bookworm", tree, debianMirror()]],
			["sh", ["-c", `tar -C "$1" -c . | podman import - "$2"`, "sh", tree, image]],
		];
		console.log(`making ${image} by debootstrap`);
		rmSync(tree, { recursive: true, force: true });
		for (const [program, args] of steps) {
			const code = await run(program, args, podman, { cwd: folder });
			if (code !== 0) process.exit(code);
		}
		rmSync(tree, { recursive: true, force: true });
	}
	return { KERYX_PEER_IMAGE: image, CONTAINERS_CONF: podman.CONTAINERS_CONF };
}
