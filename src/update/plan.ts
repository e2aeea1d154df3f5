// Whether this Keryx can update itself, which version is available, and what an update needs.
import { existsSync, readFileSync, statfsSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Environment } from "../config/index.ts";
import { KeryxError } from "../errors.ts";
import { SCHEMA_VERSION } from "../store/index.ts";
import type { Build } from "./journal.ts";
import { npm } from "./npm.ts";

/** The package that this file is part of. */
export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

export type Installation =
	/** Put there by npm: Keryx updates itself. */
	| { readonly kind: "package"; readonly launcher: string }
	| { readonly kind: "clone" }
	| { readonly kind: "image" };

/** How this Keryx was installed. */
export function installation(env: Environment): Installation {
	if (env.KERYX_INSTALLED_BY === "image") return { kind: "image" };
	const launcher = (globalThis as Record<symbol, unknown>)[LAUNCHER];
	if (typeof launcher !== "string" || existsSync(join(ROOT, "tsconfig.json"))) return { kind: "clone" };
	return { kind: "package", launcher };
}

/** Set by the launcher: its own version. */
const LAUNCHER = Symbol.for("keryx.launcher");

/** The build that this code is part of. */
export function ownBuild(): Build {
	return { version: manifestIn(ROOT).version, root: ROOT, schema: SCHEMA_VERSION };
}

export interface Manifest {
	readonly name: string;
	readonly version: string;
	readonly engines?: { readonly node?: string };
}

export function manifestIn(root: string): Manifest {
	return JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Manifest;
}

export interface Plan {
	/** The argument for npm install. */
	readonly spec: string;
	/** Known before it is fetched, from the registry alone. */
	readonly version: string | null;
	readonly neededBytes: number;
	readonly freeBytes: number;
}

/** Of the package with everything it needs, unpacked. */
const PACKAGE_BYTES = 250e6;
/** The copy for the trial, the trial's own copy, and the one that is kept. */
const COPIES = 2.2;

/** What an update needs and what is available. `to`: a version, a tag or a file; default: the newest version. */
export async function planUpdate(
	{ home, env }: { readonly home: string; readonly env: Environment },
	to: string | undefined,
): Promise<Plan> {
	const store = join(home, "keryx.db");
	const size = existsSync(store) ? statSync(store).size : 0;
	const { bavail, bsize } = statfsSync(home);
	const room = { neededBytes: Math.round(PACKAGE_BYTES + size * COPIES), freeBytes: bavail * bsize };
	if (to !== undefined && isFile(to)) return { spec: fileAt(to), version: null, ...room };
	const version = await newestVersion(env, to);
	return { spec: `keryx@${version}`, version, ...room };
}

function isFile(to: string): boolean {
	return /\.t(ar\.)?gz$/.test(to) || /[\\/]/.test(to);
}

function fileAt(to: string): string {
	const path = resolve(to);
	if (statSync(path, { throwIfNoEntry: false })?.isFile()) return path;
	throw new KeryxError("argument.invalid", `--to names the file ${path}, which is not there`, {
		field: "--to",
		hint: "give a version such as 1.2.3, or the path of a package that `npm pack` made",
	});
}

/** For messages of npm. */
export const NEW_VERSION = { code: "update.fetch", what: "the new version" } as const;

const VERSION = /^[\w.+-]{1,64}$/;

/** From the registry that the user's npm is configured for. */
export async function newestVersion(env: Environment, to = "latest"): Promise<string> {
	if (!VERSION.test(to))
		throw new KeryxError("argument.invalid", `--to must be a version, a tag or a file, not "${to}"`, {
			field: "--to",
		});
	const text = await npm(["view", `keryx@${to}`, "version", "--json"], env, NEW_VERSION);
	const found: unknown = text.trim() === "" ? null : JSON.parse(text);
	const version = Array.isArray(found) ? found.at(-1) : found;
	if (typeof version === "string") return version;
	throw new KeryxError("update.fetch", `the registry has no version ${to} of keryx`, { field: "--to" });
}
