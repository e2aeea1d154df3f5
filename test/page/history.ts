// A home in which something has happened before its Keryx is opened: told through the store's operations, at any time.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { auditKey, openHome } from "../../src/app/home.ts";
import { NO_SECRETS, openStore, systemIds } from "../../src/store/index.ts";
import { Scene } from "../../src/testing/conformance/store/scene.ts";
import { createWallClock } from "../support/clock.ts";

/** Its path, for openKeryx, which removes it when it closes. */
export async function homeWithHistory(
	startsAt: number,
	happen: (scene: Scene) => Promise<void>,
): Promise<string> {
	const home = openHome(mkdtempSync(join(tmpdir(), "keryx-page-")));
	const clock = createWallClock(startsAt);
	const ids = systemIds(clock);
	const store = await openStore({
		url: home.storeUrl,
		clock,
		ids,
		secrets: NO_SECRETS,
		auditKey: auditKey(home, ids.bytes),
	});
	try {
		await happen(new Scene({ store, clock, close: () => store.close() }));
	} finally {
		await store.close();
	}
	return home.path;
}
