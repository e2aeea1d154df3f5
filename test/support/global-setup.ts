// Before all tests. Threads and the programs that tests start run as JavaScript, bundled here: Node strips types by a WebAssembly
// module of its own, and V8 now and then aborts the process (SIGTRAP in OS::Abort) when several threads run such modules at once.
// A few files also start faster than nine hundred, and so does what is kept compiled. What has not changed is not made again.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	realpathSync,
	renameSync,
	rmSync,
	statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { rolldown } from "rolldown";
import { bundleName, FACES, PROGRAMS } from "./programs.ts";

const ROOT = join(import.meta.dirname, "../..");
const CACHE = join(ROOT, ".cache");
/** What is started by a file: three threads, the process host, which hundreds of tests start, and a thread that tests keep. */
const STARTED = {
	KERYX_STORE_THREAD: "src/store/sqlite/worker.ts",
	KERYX_CHECKPOINTS_THREAD: "src/checkpoints/worker.ts",
	KERYX_MATRIX_THREAD: "src/channels/matrix/crypto/worker.ts",
	KERYX_PROCESS_HOST: "src/processes/host/main.ts",
	KERYX_KEPT_THREAD: "test/support/kept-thread.ts",
};
const HOUR = 3_600_000;

/** Answers how to clear up after the last test. */
export async function setup(): Promise<() => void> {
	// Hints name the command that npm started. Tests read the same hints, however they were started.
	delete process.env.npm_lifecycle_event;
	leaveDevices();
	process.env.NODE_COMPILE_CACHE ??= join(CACHE, "compiled");
	const folder = await bundled();
	process.env.KERYX_TEST_PROGRAMS = folder;
	Object.assign(process.env, startedIn(folder));
	// Filled by the first file of tests that starts a PostgreSQL server.
	const postgres = mkdtempSync(join(tmpdir(), "keryx-pg-empty-"));
	process.env.KERYX_TEST_POSTGRES = postgres;
	return () => rmSync(postgres, { recursive: true, force: true });
}

/** No wall can be made around a home below /dev, not even in /dev/shm: the gateway would ask before each command. */
function leaveDevices(): void {
	const below = realpathSync(tmpdir());
	if (!`${below}/`.startsWith("/dev/")) return;
	process.env.TMPDIR = "/tmp";
	console.warn(`Tests use /tmp: ${below} is below /dev, where no wall can be made.`);
}

/** Answers a folder with the bundles, named by what they are made of: what runs side by side never sees half of another's. */
async function bundled(): Promise<string> {
	const folders = join(CACHE, "programs");
	const folder = join(folders, fingerprint(["src", "test", "package.json"]));
	if (existsSync(folder)) return folder;
	mkdirSync(folders, { recursive: true });
	for (const name of readdirSync(folders)) {
		const old = join(folders, name);
		if (Date.now() - statSync(old).mtimeMs > HOUR) rmSync(old, { recursive: true, force: true });
	}
	const draft = `${folder}.${process.pid}`;
	// What is started by a file is one file; programs share what they have in common.
	const inputs = [
		...Object.values(STARTED).map((file) => [[startedName(file), file]]),
		[...PROGRAMS, ...FACES.map((part) => `src/${part}/index.ts`)].map((file) => [bundleName(file), file]),
	];
	for (const programs of inputs) {
		const bundle = await rolldown({
			input: Object.fromEntries(programs.map(([name = "", file = ""]) => [name, join(ROOT, file)])),
			platform: "node",
			// Packages with native code stay packages.
			external: /^(?:node:|better-sqlite3$|pg$|@lydell)/,
			plugins: [
				{ name: "files stay where they are", transform: inPlace(folder) },
				{ name: "modules of Node as they are", renderChunk: withoutFaces },
			],
		});
		await bundle.write({
			dir: draft,
			format: "esm",
			entryFileNames: "[name]",
			chunkFileNames: "[name]-[hash].mjs",
		});
	}
	await promisify(execFile)(process.execPath, [join(draft, bundleName("test/support/everything.ts"))]);
	try {
		renameSync(draft, folder);
	} catch (error) {
		// Somebody else has made the same meanwhile.
		if (!existsSync(folder)) throw error;
		rmSync(draft, { recursive: true, force: true });
	}
	return folder;
}

/** What a module finds beside itself it still finds there; but what it starts is beside the bundle. */
function inPlace(folder: string) {
	const known = Object.entries(startedIn(folder));
	return (code: string, id: string): string | undefined => {
		if (!id.startsWith(join(ROOT, "src")) && !id.startsWith(join(ROOT, "test"))) return undefined;
		return known.reduce(
			(text, [name, file]) =>
				text.replaceAll(`process.env.${name} ??`, `process.env.${name} ?? ${JSON.stringify(file)} ??`),
			code.replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href)),
		);
	};
}

/**
 * An import of a module of Node makes a copy of its names and reads each of them, which loads what they stand for: all of `fetch` for
 * `node:http`. That takes a seventh of the time in which a command starts.
 */
function withoutFaces(code: string): string {
	const lines = code.split("\n");
	const end = lines.findIndex((line) => line !== "" && !/^(?:import\b|#!|\/\/)/.test(line));
	const head = lines.slice(0, end).map((line) => {
		const [, names, module] = /^import (?:(.+) from )?"(node:.+)";$/.exec(line) ?? [];
		if (!module) return line;
		const [, whole, some] = /^(?:(?:\* as )?([\w$]+))?(?:, )?(?:\{(.+)\})?$/.exec(names ?? "") ?? [];
		const found = `globalThis.process.getBuiltinModule("${module}")`;
		return [whole, some && `{${some.replaceAll(" as ", ": ")}}`]
			.filter((name) => name !== undefined)
			.map((name) => `const ${name} = ${found};`)
			.join(" ");
	});
	return [...head, ...lines.slice(end)].join("\n");
}

/** Their files, by the variables that name them. */
function startedIn(folder: string): Record<string, string> {
	return Object.fromEntries(
		Object.entries(STARTED).map(([name, file]) => [name, join(folder, startedName(file))]),
	);
}

/** As in a build: Keryx knows its process host again by the end of its path. */
function startedName(file: string): string {
	return file.replace(/^src\//, "").replace(/\.ts$/, ".js");
}

/** Of all their files: names, sizes and times. */
function fingerprint(paths: readonly string[]): string {
	const hash = createHash("sha256");
	const look = (path: string): void => {
		const { size, mtimeMs } = statSync(join(ROOT, path));
		hash.update(`${path} ${size} ${mtimeMs}\n`);
	};
	for (const path of paths) {
		look(path);
		if (!statSync(join(ROOT, path)).isDirectory()) continue;
		for (const name of readdirSync(join(ROOT, path), { recursive: true, encoding: "utf8" }).sort())
			look(join(path, name));
	}
	return hash.digest("hex").slice(0, 16);
}
