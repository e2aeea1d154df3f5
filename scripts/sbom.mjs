// `npm run sbom`: lists every package that Keryx ships or needs at run time, from the lock file and what is installed: as CycloneDX JSON
// (dist/sbom.cdx.json) and as a list of licences (dist/licences.md).
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./setup.mjs";

/** Every package: of Node at run time, and those that the page is made of. In the order of their names. */
export function shippedPackages() {
	const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
	const places = lock.packages;
	const found = new Map();
	const add = (name, from, scope) => {
		const place = resolved(places, name, from);
		if (place === null || found.has(place)) return;
		const entry = places[place];
		found.set(place, { place, scope, ...describe(name, place, entry) });
		for (const other of Object.keys({ ...entry.dependencies, ...entry.optionalDependencies }))
			add(other, place, scope);
	};
	for (const name of Object.keys(places[""].dependencies)) add(name, "", "run time");
	for (const name of importedByPage(Object.keys(places[""].devDependencies))) add(name, "", "page");
	return [...found.values()]
		.map((one) => ({ ...one, needs: needsOf(places, one.place, found) }))
		.sort((a, b) => a.ref.localeCompare(b.ref));
}

/** As Node looks for it: in the package's own folder first, then in those above. Null: an optional one for another machine. */
function resolved(places, name, from) {
	for (
		let at = from;
		;
		at = at.includes("/node_modules/") ? at.slice(0, at.lastIndexOf("/node_modules/")) : ""
	) {
		const place = at === "" ? `node_modules/${name}` : `${at}/node_modules/${name}`;
		if (places[place]) return place;
		if (at === "") return null;
	}
}

function needsOf(places, place, found) {
	const { dependencies, optionalDependencies } = places[place];
	return Object.keys({ ...dependencies, ...optionalDependencies })
		.map((name) => found.get(resolved(places, name, place))?.ref)
		.filter((ref) => ref !== undefined)
		.sort();
}

function describe(name, place, { version, integrity = "", license }) {
	const file = join(root, place, "package.json");
	// Binaries for other machines are in the lock file, but not installed here.
	const manifest = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
	const [, sha512] = /^sha512-(.+)$/.exec(integrity) ?? [];
	return {
		name,
		version,
		ref: `pkg:npm/${name.replace("@", "%40")}@${version}`,
		licence: licenceOf(manifest) ?? license ?? null,
		sha512: sha512 === undefined ? null : Buffer.from(sha512, "base64").toString("hex"),
	};
}

function licenceOf({ license, licenses }) {
	if (typeof license === "string") return license;
	if (license?.type) return license.type;
	return licenses?.map(({ type }) => type).join(" OR ");
}

/** The page's packages are bundled into its files, so they are shipped, too. */
function importedByPage(names) {
	const texts = readdirSync(join(root, "web", "src"), { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile() && /\.(tsx?|css)$/.test(entry.name) && !/\.test\./.test(entry.name))
		.map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
		.join("\n");
	const imported = new Set(
		[...texts.matchAll(/(?:from|import|@import|import\(|url\()\s*["']((?:@[\w.-]+\/)?[\w.-]+)/g)].map(
			([, name]) => name,
		),
	);
	return names.filter((name) => imported.has(name));
}

export function cycloneDx(packages, { version, at }) {
	const own = `pkg:npm/keryx@${version}`;
	return {
		bomFormat: "CycloneDX",
		specVersion: "1.6",
		version: 1,
		metadata: {
			timestamp: at,
			component: {
				type: "application",
				"bom-ref": own,
				name: "keryx",
				version,
				purl: own,
				licenses: [{ license: { id: "MIT" } }],
			},
		},
		components: packages.map(({ name, version: its, ref, licence, sha512 }) => ({
			type: "library",
			"bom-ref": ref,
			name,
			version: its,
			purl: ref,
			...(licence && {
				licenses: [/\s|\(/.test(licence) ? { expression: licence } : { license: { id: licence } }],
			}),
			...(sha512 && { hashes: [{ alg: "SHA-512", content: sha512 }] }),
		})),
		dependencies: [
			{ ref: own, dependsOn: packages.map(({ ref }) => ref) },
			...packages.map(({ ref, needs }) => ({ ref, dependsOn: needs })),
		],
	};
}

export function licenceList(packages) {
	const rows = packages.map(
		({ name, version, licence, scope }) => `| ${name} | ${version} | ${licence ?? "?"} | ${scope} |`,
	);
	return `# Licences of the packages in Keryx\n\n| package | version | licence | used |\n|---|---|---|---|\n${rows.join("\n")}\n`;
}

if (process.argv[1] === join(root, "scripts", "sbom.mjs")) {
	const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
	const packages = unique(shippedPackages());
	mkdirSync(join(root, "dist"), { recursive: true });
	const bom = cycloneDx(packages, { version, at: new Date().toISOString() });
	writeFileSync(join(root, "dist", "sbom.cdx.json"), `${JSON.stringify(bom)}\n`);
	writeFileSync(join(root, "dist", "licences.md"), licenceList(packages));
	console.log(`${packages.length} packages: dist/sbom.cdx.json, dist/licences.md`);
}

/** A package may lie in several places, in the same version. */
export function unique(packages) {
	return [...new Map(packages.map((one) => [one.ref, one])).values()];
}
