// Where Keryx's home is. Apart from the rest of the configuration: a command that only looks for a Keryx needs nothing else of it.
import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** Where Keryx keeps everything: KERYX_HOME, else .keryx in the user's home. */
export function keryxHome(env: Readonly<Record<string, string | undefined>>): string {
	return resolve(env.KERYX_HOME || join(homedir(), ".keryx"));
}
