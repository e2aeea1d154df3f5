// Another build of Keryx: these sources, with one more step of the store's schema that changes nothing anybody reads.
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle, located } from "../../support/bundle.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const SOURCES = [
	"src",
	"test/postgres/storm/child.ts",
	"test/postgres/storm/scene.ts",
	"test/torture/scene.ts",
	"test/support/keep-compiled.ts",
	"package.json",
];
/** Columns in the tables that every message passes. */
const STEP = `MIGRATIONS.push({
	tables: "CREATE TABLE later (n {int});" + ["inbox", "turns", "messages", "sessions", "conversations", "deliveries", "events"]
		.map((table) => \`ALTER TABLE \${table} ADD COLUMN later TEXT;\`).join(""),
	own: { sqlite: "", postgres: "" },
});
`;

/** Written into that folder, and bundled there. */
export async function laterBuild(
	folder: string,
): Promise<{ readonly child: string; readonly command: string }> {
	mkdirSync(folder, { recursive: true });
	for (const part of SOURCES) cpSync(join(ROOT, part), join(folder, part), { recursive: true });
	symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
	const schema = join(folder, "src/store/schema.ts");
	const before = readFileSync(schema, "utf8");
	const after = before.replace("export const SCHEMA_VERSION", `${STEP}export const SCHEMA_VERSION`);
	if (after === before) throw new Error("the schema's version is not where it was");
	writeFileSync(schema, after);
	const input = {
		"child.mjs": join(folder, "test/postgres/storm/child.ts"),
		"command.mjs": join(folder, "src/cli/main.ts"),
	};
	const made = join(folder, "made");
	await bundle(input, made, (code, id) =>
		id.startsWith(join(folder, "src")) || id.startsWith(join(folder, "test")) ? located(code, id) : undefined,
	);
	return { child: join(made, "child.mjs"), command: join(made, "command.mjs") };
}
