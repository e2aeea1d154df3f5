// Libraries of platforms that few people use: installed on demand into `<home>/packages`, at exactly the versions named here, and loaded
// from there. Nothing is installed without consent, and no install script runs.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { KERYX } from "../called.ts";
import type { Environment } from "../config/index.ts";
import { KeryxError } from "../errors.ts";
import { npm } from "../update/index.ts";

export interface PlatformPackages {
	/** Names and exact versions. */
	readonly packages: Readonly<Record<string, string>>;
	/** On the disk, with everything they need. */
	readonly megabytes: number;
}

/** By platform. Platforms not listed need none. */
export const PLATFORM_PACKAGES: Readonly<Record<string, PlatformPackages>> = {
	/** The encryption that other clients use, as WebAssembly; it needs nothing else. */
	matrix: { packages: { "@matrix-org/matrix-sdk-crypto-wasm": "18.9.0" }, megabytes: 9 },
	email: { packages: { imapflow: "2.1.2", mailparser: "3.9.31", nodemailer: "10.4.0" }, megabytes: 16 },
};

type PackageTable = typeof PLATFORM_PACKAGES;

/** The missing packages, as `name@version`; empty if the platform needs none. */
export function missingPackages(
	platform: string,
	home: string,
	table: PackageTable = PLATFORM_PACKAGES,
): readonly string[] {
	const wanted = Object.entries(packagesOf(platform, table));
	return wanted
		.filter(([name, version]) => !isInstalled(name, version, home) && !isOurs(name, version))
		.map(([name, version]) => `${name}@${version}`);
}

/** Throws channel.packages if npm cannot fetch them. */
export async function installPackages(
	platform: string,
	home: string,
	env: Environment,
	table: PackageTable = PLATFORM_PACKAGES,
): Promise<void> {
	const missing = missingPackages(platform, home, table);
	if (missing.length === 0) return;
	const folder = join(home, "packages");
	mkdirSync(folder, { recursive: true, mode: 0o700 });
	if (!existsSync(join(folder, "package.json")))
		writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n', { mode: 0o600 });
	const quiet = ["--no-audit", "--no-fund", "--no-update-notifier", "--no-package-lock"];
	const words = ["install", "--prefix", folder, "--save-exact", "--ignore-scripts", "--omit=dev", ...quiet];
	await npm([...words, ...missing], env, { code: "channel.packages", what: missing.join(", ") });
}

/** A package, or a part of one (`name/part`). Throws channel.packages with the remedy if it is not installed. */
export async function loadPackage(
	platform: string,
	part: string,
	home: string,
	table: PackageTable = PLATFORM_PACKAGES,
): Promise<unknown> {
	return import(await packageAddress(platform, part, home, table));
}

/** The address to import it from in another thread. Throws like `loadPackage`. */
export async function packageAddress(
	platform: string,
	part: string,
	home: string,
	table: PackageTable = PLATFORM_PACKAGES,
): Promise<string> {
	const [name = part] = /^(?:@[^/]+\/)?[^/]+/.exec(part) ?? [];
	const version = packagesOf(platform, table)[name] ?? "";
	if (isInstalled(name, version, home)) return resolveIn(join(home, "packages"), part);
	if (isOurs(name, version)) return import.meta.resolve(part);
	throw new KeryxError("channel.packages", `${platform} needs ${name}@${version}, which is not installed`, {
		hint: `run \`${KERYX} channels install ${platform}\``,
	});
}

function packagesOf(platform: string, table: PackageTable): Readonly<Record<string, string>> {
	return Object.hasOwn(table, platform) ? (table[platform]?.packages ?? {}) : {};
}

function isInstalled(name: string, version: string, home: string): boolean {
	return versionAt(join(home, "packages", "node_modules", name)) === version;
}

/** A clone has them for its tests. */
function isOurs(name: string, version: string): boolean {
	return versionAt(join(import.meta.dirname, "../../node_modules", name)) === version;
}

function versionAt(folder: string): string | null {
	const file = join(folder, "package.json");
	if (!existsSync(file)) return null;
	const { version } = JSON.parse(readFileSync(file, "utf8")) as { readonly version?: string };
	return version ?? null;
}

/** As Node resolves it for a module in that folder, also for packages without a CommonJS entry. */
async function resolveIn(folder: string, name: string): Promise<string> {
	const file = join(folder, "resolve.mjs");
	if (!existsSync(file))
		writeFileSync(file, "export const resolve = (name) => import.meta.resolve(name);\n", { mode: 0o600 });
	const { resolve } = (await import(pathToFileURL(file).href)) as { resolve(name: string): string };
	return resolve(name);
}
