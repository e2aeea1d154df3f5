// The Chromium of this machine.
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, chromium } from "playwright-core";

/** Whoever opens it closes it. */
export function openBrowser(more: readonly string[] = []): Promise<Browser> {
	return chromium.launch({
		executablePath: chromiumPath(),
		args: [
			"--no-sandbox",
			"--disable-gpu",
			"--disable-quic",
			"--no-first-run",
			"--disable-background-networking",
			"--disable-component-update",
			"--disable-sync",
			"--disable-dev-shm-usage",
			...more,
		],
	});
}

function chromiumPath(): string {
	const named = process.env.CHROMIUM;
	if (named) return named;
	// The first has no windows to draw, hidden or not.
	for (const program of ["chromium-headless-shell", "chromium", "google-chrome"])
		for (const folder of (process.env.PATH ?? "").split(delimiter))
			if (existsSync(join(folder, program))) return join(folder, program);
	throw new Error("there is no Chromium here: npm test installs one");
}
