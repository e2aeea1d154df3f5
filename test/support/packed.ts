// Packages of this tree as npm would install them, in any version a test needs. Their dependencies are found in a folder above.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "../..");

/** A source file, the replaced text, and its replacement. */
export type Change = readonly [file: string, what: string, by: string];

/** One more step of the store's schema, without visible effect. */
export const MIGRATES: Change = [
	"src/store/schema.ts",
	"export const SCHEMA_VERSION",
	'MIGRATIONS.push({ tables: "CREATE TABLE later (n INTEGER);", own: { sqlite: "", postgres: "" } });\nexport const SCHEMA_VERSION',
];

/** Lets packages below this folder find their dependencies without a network. */
export function withDependencies(folder: string): void {
	symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
}

/** A tarball of the build without its types, which are most of its files, and with another version number. */
export function pack(folder: string, version: string, changes: readonly Change[] = []): string {
	const staged = join(folder, `staged-${version}`);
	const root = join(staged, "package");
	mkdirSync(root, { recursive: true });
	const filter = (file: string) => !file.endsWith(".d.ts");
	for (const part of ["bin", "dist"]) cpSync(join(ROOT, part), join(root, part), { recursive: true, filter });
	const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as Record<string, unknown>;
	for (const key of [
		"dependencies",
		"devDependencies",
		"peerDependencies",
		"peerDependenciesMeta",
		"scripts",
	])
		delete manifest[key];
	writeFileSync(join(root, "package.json"), JSON.stringify({ ...manifest, version }));
	if (changes.length > 0) {
		cpSync(join(ROOT, "src"), join(root, "src"), { recursive: true });
		for (const [file, what, by] of changes) {
			const text = readFileSync(join(root, file), "utf8");
			if (!text.includes(what)) throw new Error(`${file} does not say ${what}`);
			writeFileSync(join(root, file), text.replace(what, by));
		}
		execFileSync(process.execPath, [join(ROOT, "scripts/bundle.mjs"), root]);
		rmSync(join(root, "src"), { recursive: true });
	}
	const tarball = join(folder, `keryx-${version}.tgz`);
	execFileSync("tar", ["-czf", tarball, "-C", staged, "package"]);
	rmSync(staged, { recursive: true });
	return tarball;
}

/** As `npm install` in an empty folder. Returns the launcher. */
export function install(folder: string, tarball: string): string {
	mkdirSync(folder, { recursive: true });
	writeFileSync(join(folder, "package.json"), '{"private":true}');
	const quiet = ["--no-audit", "--no-fund", "--ignore-scripts", "--offline"];
	execFileSync("npm", ["install", ...quiet, tarball], { cwd: folder, stdio: "pipe" });
	return join(folder, "node_modules/keryx/bin/keryx.mjs");
}

/** As an earlier update has left it in that home. */
export function fetched(home: string, version: string, tarball: string): void {
	const folder = join(home, "versions", version);
	const root = join(folder, "node_modules/keryx");
	mkdirSync(root, { recursive: true, mode: 0o700 });
	execFileSync("tar", ["-xzf", tarball, "-C", root, "--strip-components=1"]);
	writeFileSync(
		join(folder, ".keryx-version"),
		createHash("sha256").update(readFileSync(tarball)).digest("hex"),
	);
}
