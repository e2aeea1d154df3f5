// After tsc: makes a few files of the many that the `keryx` command, its threads and the process host load. A start reads some dozen
// files instead of a thousand. The modules in dist stay as they are for programs that import Keryx; only the entries below become one
// line each, which leads to the bundle.
import { rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const SRC = join(root, "src");
const BUNDLES = join(root, "dist", "bundle");

/** Each apart: a thread then reads one file, with nothing in it that only the command needs. */
const ENTRIES = ["cli/main.ts", "store/sqlite/worker.ts", "checkpoints/worker.ts", "processes/host/main.ts"];

rmSync(BUNDLES, { recursive: true, force: true });
for (const entry of ENTRIES) await bundle(entry);

async function bundle(entry) {
	const name = entry.replace(/\.ts$/, "").replaceAll("/", "-");
	const made = await rolldown({
		input: { [name]: join(SRC, entry) },
		platform: "node",
		// Packages with native code stay packages.
		external: /^(?:node:|better-sqlite3$|@lydell)/,
		// A module is loaded for what it exports: through a folder's face comes only what is used of it.
		treeshake: { moduleSideEffects: (id) => !id.startsWith(SRC + sep) },
		plugins: [{ name: "files stay where they are", transform: inPlace }],
	});
	await made.write({
		dir: BUNDLES,
		format: "esm",
		entryFileNames: "[name].js",
		chunkFileNames: "[name]-[hash].js",
	});
	await made.close();
	const file = join(root, "dist", entry.replace(/\.ts$/, ".js"));
	const to = relative(dirname(file), join(BUNDLES, `${name}.js`))
		.split(sep)
		.join("/");
	writeFileSync(file, `import "${to}";\n`);
}

/** What a module finds beside itself it still finds there: its address is the one that it has in dist. */
function inPlace(code, id) {
	if (!id.startsWith(SRC + sep) || !code.includes("import.meta.url")) return undefined;
	const path = relative(SRC, id).split(sep).join("/").replace(/\.ts$/, ".js");
	return code.replaceAll("import.meta.url", `new URL("../${path}", import.meta.url).href`);
}
