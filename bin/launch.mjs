// Which version runs. An update leaves its version in the home, and a note that this package, as it was installed then, should run it.
// Where another package was installed since, that is newer, and runs itself. A clone of the repository always runs itself.
import { existsSync, readFileSync } from "node:fs";
import module from "node:module";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const own = dirname(dirname(fileURLToPath(import.meta.url)));
const words = process.argv.slice(2);
const isGateway = words.every((word, at) => word === "--json" || isTimeout(word, at));
// A gateway runs for weeks. Left alone, glibc keeps what many threads have freed, 27 MiB after 40,000 messages. It reads its settings
// when a process begins, so this one begins again, with the same id.
if (isGateway && process.platform === "linux" && !process.send && process.env.MALLOC_ARENA_MAX === undefined)
	process.execve(process.execPath, [process.execPath, ...process.execArgv, ...process.argv.slice(1)], {
		...process.env,
		MALLOC_ARENA_MAX: "1",
		MALLOC_TRIM_THRESHOLD_: "131072",
	});
const { main, root } = await chosen();
// Compiled code is kept for the next start, in Keryx's own home: whoever can write it can run code here, and no program of the agent
// reaches the home. Only where there is one: a command that just looks makes none.
const home = resolve(process.env.KERYX_HOME || join(homedir(), ".keryx"));
if (existsSync(home)) module.enableCompileCache(join(home, "compiled"));
await import(pathToFileURL(join(root, main)).href);

async function chosen() {
	const itself = { root: own, main: "dist/cli/main.js" };
	const { version } = JSON.parse(readFileSync(join(own, "package.json"), "utf8"));
	// A version that is on trial is started by the launcher that holds it.
	const isOnTrial = process.env.KERYX_UPDATE_HELD !== undefined;
	if (existsSync(join(own, "tsconfig.json"))) return itself;
	globalThis[Symbol.for("keryx.launcher")] = version;
	if (isOnTrial) return itself;
	const versions = join(resolve(process.env.KERYX_HOME || join(homedir(), ".keryx")), "versions");
	const journal = read(join(versions, "journal.json"));
	if (journal) await resumed(journal, version, dirname(versions));
	const current = read(join(versions, "current.json"));
	if (current?.launcher !== version || !existsSync(join(current.root, itself.main))) return itself;
	return { ...itself, root: current.root };
}

/** The code that began an update goes on with it; where that is gone, this package's. */
async function resumed({ by }, version, home) {
	const file = "dist/update/resume.js";
	const root = typeof by === "string" && existsSync(join(by, file)) ? by : own;
	const { resume } = await import(pathToFileURL(join(root, file)).href);
	const warn = (text) => process.stderr.write(`keryx: ${text}\n`);
	await resume({ home, launcher: version, words, isGateway, warn });
}

function isTimeout(word, at) {
	return word === "--timeout" || words[at - 1] === "--timeout";
}

/** Null where it is not there, or is no JSON: then what it would say is not known, and this package runs. */
function read(file) {
	try {
		return JSON.parse(readFileSync(file, "utf8"));
	} catch {
		return null;
	}
}
