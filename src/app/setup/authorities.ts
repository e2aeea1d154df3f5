// The certificates that a channel trusts instead of the system's.
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { KeryxError } from "../../errors.ts";

/** Throws config.invalid, naming the setting. A relative path is one in Keryx's home. */
export function readAuthorities(setting: string, file: string, home: string): string {
	const path = file.startsWith("~/") ? resolve(homedir(), file.slice(2)) : resolve(home, file);
	try {
		return readFileSync(path, "utf8");
	} catch (cause) {
		throw new KeryxError("config.invalid", `${setting} ${path} cannot be read`, { field: setting, cause });
	}
}
