// Before all tests. Threads run as JavaScript, bundled here: Node strips types by a WebAssembly module of its own, and V8 now and
// then aborts the process (SIGTRAP in OS::Abort) when several threads run such modules at once. One file also starts faster than
// sixty, and so does what is kept compiled. Processes that the tests start inherit all of it.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { rolldown } from "rolldown";

const ROOT = join(import.meta.dirname, "../..");
const CACHE = join(ROOT, ".cache");

export async function setup(): Promise<void> {
	process.env.KERYX_STORE_THREAD = await bundled("src/store/sqlite/worker.ts");
	process.env.KERYX_CHECKPOINTS_THREAD = await bundled("src/checkpoints/worker.ts");
	process.env.NODE_COMPILE_CACHE ??= join(CACHE, "compiled");
	// Compiled once before hundreds start it, instead of by each that starts meanwhile.
	const [program, host] = ["src/cli/program.ts", "src/app/host.ts"].map((file) =>
		JSON.stringify(join(ROOT, file)),
	);
	const everything = `const { COMMANDS } = await import(${program});
		await Promise.all([import(${host}), ...COMMANDS.map(({ load }) => load())]);`;
	await promisify(execFile)(process.execPath, [
		"--disable-warning=ExperimentalWarning",
		"--input-type=module",
		"--eval",
		everything,
	]);
}

/** Answers the path of the bundle, named by its content: what runs side by side never sees half of another's. */
async function bundled(entry: string): Promise<string> {
	const bundle = await rolldown({
		input: join(ROOT, entry),
		platform: "node",
		// Packages with native code stay packages.
		external: /^(?:node:|better-sqlite3$|@lydell)/,
	});
	const { output } = await bundle.generate({ format: "esm", codeSplitting: false });
	const [{ code }] = output;
	const folder = join(CACHE, "threads");
	const file = join(folder, `${createHash("sha256").update(code).digest("hex").slice(0, 16)}.mjs`);
	if (existsSync(file)) return file;
	mkdirSync(folder, { recursive: true });
	const draft = `${file}.${process.pid}`;
	writeFileSync(draft, code);
	renameSync(draft, file);
	return file;
}
