// The certificates to trust for one server, in place of the system's.
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { KeryxError } from "../../errors.ts";

/** Throws config.invalid if the file cannot be read. */
export function authorities(field: string, file: string, home: string): string {
	const path = file.startsWith("~/") ? resolve(homedir(), file.slice(2)) : resolve(home, file);
	try {
		return readFileSync(path, "utf8");
	} catch (cause) {
		throw new KeryxError("config.invalid", `${field} ${path} cannot be read`, { field, cause });
	}
}
