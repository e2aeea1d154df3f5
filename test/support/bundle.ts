// Joins a program's sources into a few files, which start in half the time of nine hundred.
import { pathToFileURL } from "node:url";
import { rolldown } from "rolldown";

/** `input`: source files by the names of their bundles. `transform`: changes a source before it is joined. */
export async function bundle(
	input: Readonly<Record<string, string>>,
	folder: string,
	transform: (code: string, id: string) => string | undefined,
): Promise<void> {
	const made = await rolldown({
		input: { ...input },
		platform: "node",
		// Packages with native code stay packages.
		external: /^(?:node:|better-sqlite3$|pg$|@lydell)/,
		plugins: [{ name: "files stay where they are", transform }],
	});
	await made.write({
		dir: folder,
		format: "esm",
		entryFileNames: "[name]",
		chunkFileNames: "[name]-[hash].mjs",
	});
	await made.close();
}

/** What a module finds beside itself, it still finds there. */
export function located(code: string, id: string): string {
	return code.replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href));
}
