// What a release is made of, checked. `npm version <number>` runs this after the tests (see package.json), and makes no commit where it
// fails: the change log has an entry, the package holds what it should and no more, and its types resolve.
// `npm run release -- --whole` packs Keryx together with everything it depends on, for a machine without a network.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { shippedPackages } from "./sbom.mjs";
import { fail, prepare, root } from "./setup.mjs";

const { node, env } = await prepare();
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const run = (program, words, options = {}) =>
	execFileSync(program, words, {
		cwd: root,
		env,
		encoding: "utf8",
		stdio: ["ignore", "pipe", "inherit"],
		...options,
	});

if (process.argv.includes("--whole")) packWhole();
else check();

function check() {
	const log = readFileSync(join(root, "CHANGELOG.md"), "utf8");
	const { version } = manifest;
	if (!new RegExp(`^## \\[?${version.replaceAll(".", "\\.")}\\b`, "m").test(log))
		fail(
			`CHANGELOG.md has no heading "## ${version}"\nkeryx: what to do: write what changed, then run this again`,
		);
	run(node, [join(root, "scripts", "prepack.mjs")]);
	const folder = mkdtempSync(join(tmpdir(), "keryx-release-"));
	try {
		const [packed] = JSON.parse(
			run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder]),
		);
		const tarball = join(folder, packed.filename);
		for (const words of [
			["publint", "run", tarball, "--strict"],
			["@arethetypeswrong/cli", tarball, "--profile", "esm-only"],
		])
			run("npx", ["--yes", ...words], { stdio: "inherit" });
		console.log(
			`keryx ${version}: ${packed.entryCount} files, ${(packed.unpackedSize / 1e6).toFixed(1)} MB unpacked`,
		);
	} finally {
		rmSync(folder, { recursive: true });
	}
}

/** npm installs what a package brings along without asking a registry. */
function packWhole() {
	run(node, [join(root, "scripts", "prepack.mjs")]);
	const folder = mkdtempSync(join(tmpdir(), "keryx-whole-"));
	try {
		for (const part of ["bin", "dist", "docs", "README.md", "CHANGELOG.md", "LICENSE"])
			cpSync(join(root, part), join(folder, part), { recursive: true });
		const { scripts: _scripts, devDependencies: _development, ...kept } = manifest;
		const bundled = Object.keys(manifest.dependencies);
		writeFileSync(join(folder, "package.json"), JSON.stringify({ ...kept, bundleDependencies: bundled }));
		for (const { place, scope } of shippedPackages()) {
			if (scope !== "run time" || !existsSync(join(root, place))) continue;
			mkdirSync(join(folder, place), { recursive: true });
			const isOwn = (path) => !path.slice(join(root, place).length).includes("node_modules");
			cpSync(join(root, place), join(folder, place), { recursive: true, filter: isOwn });
		}
		const [packed] = JSON.parse(run("npm", ["pack", "--json", "--pack-destination", root], { cwd: folder }));
		console.log(
			`${packed.filename}: ${(packed.unpackedSize / 1e6).toFixed(0)} MB unpacked, for this kind of machine`,
		);
	} finally {
		rmSync(folder, { recursive: true });
	}
}
