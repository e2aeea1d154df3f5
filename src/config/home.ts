// Where Keryx's home is. In a separate file, so that a command that only looks for a Keryx loads nothing else.
import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** Where Keryx keeps everything: KERYX_HOME, else .keryx in the user's home. */
export function keryxHome(env: Readonly<Record<string, string | undefined>>): string {
	return resolve(env.KERYX_HOME || join(homedir(), ".keryx"));
}
