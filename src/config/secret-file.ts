// Files with one secret each: a model's key, a channel's token. Only their owner may read them.
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, resolve } from "node:path";

export type SecretFile =
	| { readonly kind: "read"; readonly path: string; readonly value: string }
	| { readonly kind: "missing"; readonly path: string }
	/** Others can read it, so its value is not used; only hidden. */
	| { readonly kind: "exposed"; readonly path: string; readonly value: string };

/** Relative names are looked for in Keryx's home. */
export function readSecretFile(file: string, home: string): SecretFile {
	const path = file.startsWith("~/") ? resolve(homedir(), file.slice(2)) : resolve(home, file);
	const facts = statSync(path, { throwIfNoEntry: false });
	if (!facts?.isFile()) return { kind: "missing", path };
	const value = readFileSync(path, "utf8").trim();
	return { kind: (facts.mode & 0o077) === 0 ? "read" : "exposed", path, value };
}

export function writeSecretFile(path: string, value: string): void {
	mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
	// Recreated: an existing file keeps its mode.
	rmSync(path, { force: true });
	writeFileSync(path, `${value}\n`, { mode: 0o600, flag: "wx" });
}
