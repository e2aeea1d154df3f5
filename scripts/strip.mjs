// Takes the comments out of the built program: whoever reads code reads the sources. The types keep theirs, since editors show them.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const dist = fileURLToPath(new URL("../dist", import.meta.url));
const options = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ESNext, removeComments: true };

for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
	if (!entry.isFile() || !entry.name.endsWith(".js") || entry.parentPath.startsWith(join(dist, "web")))
		continue;
	const file = join(entry.parentPath, entry.name);
	const { outputText } = ts.transpileModule(readFileSync(file, "utf8"), {
		fileName: file,
		compilerOptions: options,
	});
	writeFileSync(file, outputText);
}
