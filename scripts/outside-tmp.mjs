// Walls show each program an empty /tmp, and tests start programs of this checkout behind walls. A checkout in /tmp is therefore
// tested as a copy elsewhere.
import { cpSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { root, run } from "./setup.mjs";

/** Runs the calling script in a copy if the checkout is in /tmp, and ends with its exit code; otherwise does nothing. */
export async function leaveTmp(script) {
	if (process.platform !== "linux" || !realpathSync(root).startsWith("/tmp/")) return;
	const copy = mkdtempSync("/var/tmp/keryx-checkout-");
	console.log(
		`keryx: programs behind walls do not see /tmp, so this runs in a copy of the checkout: ${copy}`,
	);
	let code = 1;
	try {
		cpSync(root, copy, { recursive: true, verbatimSymlinks: true });
		const file = join(copy, "scripts", script);
		code = await run(process.execPath, [file, ...process.argv.slice(2)], process.env, { cwd: copy });
	} finally {
		rmSync(copy, { recursive: true, force: true });
	}
	process.exit(code);
}
