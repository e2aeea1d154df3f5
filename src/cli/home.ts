// Keryx's home: where the store and the keys are. Made private when first used.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { KeryxError } from "../errors.ts";

/** The API's socket, within the home. */
export const SOCKET = "keryx.sock";

export interface Home {
	readonly path: string;
	readonly storePath: string;
	readonly storeUrl: string;
	readonly socketPath: string;
}

/** Where everything is, or would be. */
export function homeAt(path: string): Home {
	const storePath = join(path, "keryx.db");
	return { path, storePath, storeUrl: `sqlite:${storePath}`, socketPath: join(path, SOCKET) };
}

/** The same, made if it is not there. */
export function openHome(path: string): Home {
	try {
		mkdirSync(path, { recursive: true, mode: 0o700 });
	} catch (cause) {
		throw new KeryxError(
			"home.unusable",
			`Keryx's home ${path} cannot be made: ${(cause as Error).message}`,
			{ cause },
		);
	}
	return homeAt(path);
}

/** The installation's key for pseudonyms, drawn when first needed. It never enters the store. */
export function pseudonymKey(home: Home, random: (bytes: number) => Uint8Array): Uint8Array {
	const file = join(home.path, "pseudonym.key");
	if (!existsSync(file)) writeFileSync(file, random(32), { mode: 0o600, flag: "wx" });
	chmodSync(file, 0o600);
	const key = readFileSync(file);
	if (key.length !== 32)
		throw new KeryxError("home.unusable", `${file} must hold 32 bytes, not ${key.length}`, {
			hint: "restore it from a backup; without it pseudonyms change, so remove it only if you mean that",
		});
	return key;
}
