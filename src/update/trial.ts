// Before anything is stopped: the new version is fetched, and opens a copy of the store in a separate process.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
	createReadStream,
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Environment } from "../config/index.ts";
import { KeryxError } from "../errors.ts";
import { NO_SECRETS, openStore, serverFacts, systemClock, systemIds } from "../store/index.ts";
import type { Checked } from "./check.ts";
import { type Build, packageIn, updatePaths, versionFolder } from "./journal.ts";
import { npm } from "./npm.ts";
import { manifestIn, NEW_VERSION, type Plan } from "./plan.ts";

interface Installation {
	readonly home: string;
	readonly env: Environment;
}

/** Installs the package into its version's folder, and returns the path. An already fetched one is reused. */
export async function fetchVersion(
	{ home, env }: Installation,
	{ spec, version }: Plan,
): Promise<Omit<Build, "schema">> {
	const mark = version ?? (await digestOf(spec));
	const known = fetchedBefore(home, mark);
	if (known !== null) return known;
	const incoming = join(updatePaths(home).folder, `incoming-${process.pid}`);
	rmSync(incoming, { recursive: true, force: true });
	mkdirSync(incoming, { recursive: true, mode: 0o700 });
	try {
		writeFileSync(join(incoming, "package.json"), '{ "private": true }\n');
		// No package of ours needs an install script, and none may run one.
		const quiet = ["--no-audit", "--no-fund", "--no-update-notifier", "--no-package-lock"];
		const words = ["install", "--prefix", incoming, "--ignore-scripts", "--omit=dev", ...quiet, spec];
		await npm(words, env, { ...NEW_VERSION, ...(version === null && { file: spec }) });
		const found = assertUsable(packageIn(incoming));
		const folder = versionFolder(home, found);
		if (markIn(folder) !== mark) {
			writeFileSync(join(incoming, MARK), mark);
			rmSync(folder, { recursive: true, force: true });
			renameSync(incoming, folder);
		}
		return { version: found, root: packageIn(folder) };
	} finally {
		rmSync(incoming, { recursive: true, force: true });
	}
}

function fetchedBefore(home: string, mark: string): Omit<Build, "schema"> | null {
	for (const name of readdirSync(updatePaths(home).folder)) {
		if (!VERSION.test(name) || markIn(versionFolder(home, name)) !== mark) continue;
		return { version: name, root: packageIn(versionFolder(home, name)) };
	}
	return null;
}

/** Written last: a folder with it is whole. What was installed there: the digest of a file, or the version. */
const MARK = ".keryx-version";

function markIn(folder: string): string | null {
	const file = join(folder, MARK);
	return existsSync(file) ? readFileSync(file, "utf8") : null;
}

async function digestOf(file: string): Promise<string> {
	const hash = createHash("sha256");
	for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
	return hash.digest("hex");
}

const VERSION = /^\d+\.\d+\.\d+(?:[-+][\w.+-]{1,40})?$/;

/** The version in it. Throws update.refused if it cannot replace this Keryx. */
function assertUsable(root: string): string {
	const isKeryx = existsSync(join(root, "package.json")) && existsSync(join(root, CHECK));
	const { version, engines } = isKeryx ? manifestIn(root) : { version: "", engines: undefined };
	if (!isKeryx || !VERSION.test(version))
		throw new KeryxError("update.refused", "this package is not a Keryx version that can be updated to", {
			field: "--to",
		});
	const [needed = "0"] = /[\d.]+/.exec(engines?.node ?? "") ?? [];
	if (isOlderNode(process.versions.node, needed))
		throw new KeryxError(
			"update.refused",
			`Keryx ${version} needs Node ${needed} or newer; this is ${process.versions.node}`,
			{
				hint: "install a newer Node first, then run `keryx service install` again if Keryx runs as a service",
			},
		);
	return version;
}

function isOlderNode(version: string, than: string): boolean {
	const [a = [], b = []] = [version, than].map((text) => text.split(".").map(Number));
	const [major = 0, minor = 0] = [(a[0] ?? 0) - (b[0] ?? 0), (a[1] ?? 0) - (b[1] ?? 0)];
	return major < 0 || (major === 0 && minor < 0);
}

const CHECK = join("dist", "update", "check.js");
const TRIAL_MS = 3_600_000;

/**
 * Lets the new version open a copy of the store and read the configuration. Throws update.refused with what it found. A store on a server
 * is not copied: it must have the version that the new Keryx needs.
 */
export async function tryVersion(
	{ home, env, server }: Installation & { readonly server: string | null },
	{ version, root }: Omit<Build, "schema">,
): Promise<{ readonly schema: number; readonly trialMs: number }> {
	const folder = join(updatePaths(home).folder, `trial-${process.pid}`);
	rmSync(folder, { recursive: true, force: true });
	mkdirSync(folder, { mode: 0o700 });
	try {
		const copy = join(folder, "keryx.db");
		if (server === null) await copyStore(join(home, "keryx.db"), copy);
		const began = performance.now();
		const { schema, problems } = await checked([join(root, CHECK), home, copy], env, version);
		if (problems.length > 0)
			throw new KeryxError(
				"update.refused",
				`Keryx ${version} does not work with your data: ${problems.slice(0, 3).join("; ")}`,
			);
		if (server !== null) await assertSameSchema(server, version, schema);
		return { schema, trialMs: performance.now() - began };
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

async function assertSameSchema(server: string, version: string, needed: number): Promise<void> {
	const { schema } = await serverFacts(server, systemClock.now);
	if (schema === null || schema === needed) return;
	throw new KeryxError(
		"update.refused",
		`Keryx ${version} works with version ${needed} of the store, and yours on the server has version ${schema}`,
		{
			hint:
				needed > schema
					? "back up the database, stop Keryx, install the new version with npm, and run `keryx store migrate`"
					: "an older Keryx cannot read it",
		},
	);
}

async function checked(words: readonly string[], env: Environment, version: string): Promise<Checked> {
	const options = { env: { ...env }, timeout: TRIAL_MS };
	const failed = (why: string, cause?: unknown) =>
		new KeryxError("update.refused", `the checks of Keryx ${version} failed: ${why}`, { cause });
	const { stdout } = await promisify(execFile)(process.execPath, [...words], options).catch(
		(error: Error) => {
			throw failed(error.message.split("\n").slice(0, 4).join("; "), error);
		},
	);
	try {
		return JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as Checked;
	} catch (error) {
		throw failed("they ended without a result", error);
	}
}

/** Works with and without a running Keryx. */
async function copyStore(from: string, to: string): Promise<void> {
	if (!existsSync(from)) return;
	const store = await openStore({
		url: `sqlite:${from}`,
		access: "read",
		clock: systemClock,
		ids: systemIds(systemClock),
		secrets: NO_SECRETS,
	});
	try {
		await store.copyTo(to);
	} finally {
		await store.close();
	}
}
