// Threads of the store and of checkpoints as JavaScript, for tests. Node strips types by a WebAssembly module of its own, and V8 now
// and then aborts the process (SIGTRAP in OS::Abort) when several threads run such modules at once; a thread that loads JavaScript
// has none.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { dirname, join, relative, resolve } from "node:path";

const IMPORT = /((?:from|import)\s*\(?\s*")(\.{1,2}\/[^"]+)\.ts"/g;

/** Answers the path of the entry. A folder per content: what runs side by side never sees half of another's. */
export function buildThread(root, entry) {
	const sources = collect(root, entry);
	const hash = createHash("sha256");
	for (const [path, text] of sources) hash.update(`${path}\0${text}\0`);
	const folder = join(root, ".cache", "threads", hash.digest("hex").slice(0, 16));
	if (!existsSync(folder)) {
		const draft = `${folder}.${process.pid}`;
		for (const [path, text] of sources) {
			const file = join(draft, path.replace(/\.ts$/, ".js"));
			mkdirSync(dirname(file), { recursive: true });
			writeFileSync(file, stripTypeScriptTypes(text).replace(IMPORT, '$1$2.js"'));
		}
		try {
			renameSync(draft, folder);
		} catch (error) {
			// Somebody else was first, with the same content.
			if (!existsSync(folder)) throw error;
			rmSync(draft, { recursive: true });
		}
	}
	return join(folder, entry.replace(/\.ts$/, ".js"));
}

/** Every source that the entry imports, by its path within the root. */
function collect(root, entry) {
	const found = new Map();
	const waiting = [join(root, entry)];
	for (let file = waiting.pop(); file; file = waiting.pop()) {
		const path = relative(root, file);
		if (found.has(path)) continue;
		const text = readFileSync(file, "utf8");
		found.set(path, text);
		for (const [, , target] of text.matchAll(IMPORT)) waiting.push(resolve(dirname(file), `${target}.ts`));
	}
	return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}
