// Builds the program: what is started by a file and what other programs import, in the places of their sources, and the modules they
// share joined into few files. A thousand files would start slower, and each keeps memory. Types come from tsc.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix, relative } from "node:path";
import { rolldown } from "rolldown";

const STARTED = [
	"cli/main",
	"store/sqlite/worker",
	"checkpoints/worker",
	"channels/matrix/crypto/worker",
	"processes/host/main",
	"update/check",
	"update/resume",
];
const { exports } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
const IMPORTED = Object.values(exports).map(({ default: file }) =>
	file.slice("./dist/".length, -".js".length),
);
/** As deep as most modules, so that paths from `import.meta.dirname` to the package's root hold. */
const SHARED = "parts";
const HERE = "keryx-dist:";
/** Packages of many files, in JavaScript alone, that every start loads. The others stay where npm puts them. */
const JOINED =
	/^(zod|yaml|hono|@hono\/[\w-]+|@asteasolutions\/[\w-]+|openapi3-ts|commander|unbash|croner|picocolors|eventsource-parser|ws)(\/|$)/;

/** Reads `src`, writes into `dist`. A test gives another folder, with changed sources. */
async function bundle(root) {
	const [src, dist] = [join(root, "src"), join(root, "dist")];
	rmSync(join(dist, SHARED), { recursive: true, force: true });
	const program = await rolldown({
		input: Object.fromEntries([...STARTED, ...IMPORTED].map((name) => [name, join(src, `${name}.ts`)])),
		platform: "node",
		external: (id) => !/^[./]/.test(id) && !JOINED.test(id),
		// A face only names what is behind it: a command that takes one thing of it does not load the others.
		treeshake: { moduleSideEffects: [{ test: /\/src\/(.+\/)?index\.ts$/, sideEffects: false }] },
		plugins: [{ name: "own-places", transform: (code, id) => withOwnPlace(code, relative(src, id)) }],
	});
	const { output } = await program.write({
		dir: dist,
		format: "esm",
		entryFileNames: "[name].js",
		chunkFileNames: `${SHARED}/[name]-[hash].js`,
		// Commands that only look for a running Keryx need no configuration.
		codeSplitting: { groups: [{ name: "home", test: /\/src\/config\/home\.ts$/ }] },
		// Names of functions and classes stay: they are in what a failure prints. Other names would take 3 MiB of memory.
		minify: { compress: false, mangle: { toplevel: true, keepNames: true }, codegen: { removeWhitespace: true } },
	});
	await program.close();
	for (const { fileName } of output) {
		const file = join(dist, fileName);
		writeFileSync(file, inAscii(placed(readFileSync(file, "utf8"), fileName), fileName));
	}
}

/** A module still finds the files beside it by its own address. */
function withOwnPlace(code, path) {
	if (path.startsWith("..")) return null;
	const file = path.replaceAll("\\", "/").replace(/\.ts$/, ".js");
	if (code.includes("import.meta.dirname") && file.split("/").length !== 2)
		throw new Error(`${path}: import.meta.dirname would be another folder once it is joined`);
	return code.replaceAll("import.meta.url", `new URL(${JSON.stringify(HERE + file)}, import.meta.url).href`);
}

function placed(code, fileName) {
	return code.replaceAll(HERE, `${posix.relative(posix.dirname(fileName), ".") || "."}/`);
}

/** One character outside Latin-1 would double the memory of the whole text. */
function inAscii(code, fileName) {
	if (/String\.raw`[^`]*[^\0-\x7f]/.test(code))
		throw new Error(`${fileName}: String.raw would show an escaped character as it is written`);
	return code.replace(/[^\0-\x7f]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

await bundle(process.argv[2] ?? dirname(import.meta.dirname));
