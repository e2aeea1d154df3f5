// The package as npm would publish it: what is in it, how large it is, and what it is made of.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");
const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));

interface Packed {
	readonly unpackedSize: number;
	readonly files: readonly { readonly path: string; readonly size: number; readonly mode: number }[];
}

test("the package holds the program, the page and the documents, and nothing else, in less than 9 MB", () => {
	const text = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
		cwd: ROOT,
		encoding: "utf8",
		stdio: ["ignore", "pipe", "ignore"],
	});
	const [packed] = JSON.parse(text) as [Packed];
	const paths = packed.files.map(({ path }) => path);
	const expected =
		/^(bin\/[\w-]+\.mjs|dist\/.+\.(js|d\.ts|css|html|woff2|svg|png|ico|json|md|txt|gz|webmanifest)|docs\/.+\.(md|json)|examples\/bridge\/bridge\.(py|ts)|[A-Z]+\.md|LICENSE|package\.json)$/;
	expect(paths.filter((path) => !expected.test(path))).toEqual([]);
	expect(paths.filter((path) => /\.test\.|\.tsbuildinfo|\.keryx-|\.map$/.test(path))).toEqual([]);
	for (const needed of [
		"bin/keryx.mjs",
		"bin/launch.mjs",
		"bin/old-node.mjs",
		"dist/web/index.html",
		"dist/update/check.js",
		"dist/update/resume.js",
		"LICENSE",
	])
		expect(paths).toContain(needed);
	for (const { types, default: code } of Object.values<{ types: string; default: string }>(manifest.exports))
		for (const path of [types, code]) expect(paths).toContain(path.slice(2));
	// Both are made only when the package is: they count, whether or not they are there now.
	const bom = cycloneDx(unique(shippedPackages()), {
		version: manifest.version,
		at: new Date(0).toISOString(),
	});
	const made = {
		"dist/sbom.cdx.json": JSON.stringify(bom),
		"dist/licences.md": licenceList(unique(shippedPackages())),
	};
	const missing = Object.entries(made).filter(([path]) => !paths.includes(path));
	const size = missing.reduce((sum, [, text]) => sum + Buffer.byteLength(text), packed.unpackedSize);
	console.log(`${(size / 1e6).toFixed(2)} MB unpacked`);
	expect(size).toBeLessThan(9e6);
}, 120_000);

interface Shipped {
	readonly name: string;
	readonly ref: string;
	readonly licence: string | null;
	readonly scope: string;
	readonly sha512: string | null;
}
interface Bom {
	readonly bomFormat: string;
	readonly components: readonly { readonly "bom-ref": string; readonly purl: string }[];
	readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}
interface Sbom {
	shippedPackages(): Shipped[];
	unique(packages: readonly Shipped[]): Shipped[];
	cycloneDx(packages: readonly Shipped[], facts: { readonly version: string; readonly at: string }): Bom;
	licenceList(packages: readonly Shipped[]): string;
}
const { shippedPackages, unique, cycloneDx, licenceList } = (await import(
	join(ROOT, "scripts/sbom.mjs")
)) as Sbom;

test("every package that is shipped has a licence that lets it be used, and a checksum", () => {
	const packages = shippedPackages();
	const names = new Set(packages.map(({ name }) => name));
	for (const name of Object.keys(manifest.dependencies)) expect(names).toContain(name);
	expect(packages.filter(({ scope }) => scope === "page").map(({ name }) => name)).toEqual(
		expect.arrayContaining(["react", "react-dom", "katex", "radix-ui"]),
	);
	const free =
		/^(MIT|ISC|0BSD|Apache-2\.0|BSD-[23]-Clause|Unlicense|OFL-1\.1|CC0-1\.0|BlueOak-1\.0\.0|Python-2\.0|MPL-2\.0 OR Apache-2\.0|\(MPL-2\.0 OR Apache-2\.0\)|\(AFL-2\.1 OR BSD-3-Clause\))$/;
	const installed = packages.filter(
		(one) => one.licence !== null || existsSync(join(ROOT, "node_modules", one.name)),
	);
	expect(
		installed.filter(({ licence }) => !free.test(licence ?? "")).map(({ ref, licence }) => [ref, licence]),
	).toEqual([]);
	expect(packages.filter(({ sha512 }) => sha512 === null)).toEqual([]);
	expect(licenceList(packages)).toContain("| zod |");
});

test("the SBOM names each package once, and every dependency it names is in it", () => {
	const packages = unique(shippedPackages());
	const bom = cycloneDx(packages, { version: manifest.version, at: "2026-01-01T00:00:00.000Z" });
	expect(bom.bomFormat).toBe("CycloneDX");
	const refs = bom.components.map((one) => one["bom-ref"]);
	expect(new Set(refs).size).toBe(refs.length);
	const known = new Set([...refs, `pkg:npm/keryx@${manifest.version}`]);
	for (const { ref, dependsOn } of bom.dependencies) {
		expect(known).toContain(ref);
		expect(dependsOn.filter((other) => !known.has(other))).toEqual([]);
	}
	expect(refs.find((ref) => ref.startsWith("pkg:npm/%40hono/node-server@"))).toBeDefined();
});
