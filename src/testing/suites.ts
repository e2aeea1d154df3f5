// The promises of each kind of extension, as suites for its own repository. They need vitest and fast-check, which are loaded when a
// suite is asked for: everything else in keryx/testing runs without them. (The suite for channels needs no runner: `testChannel`.)
import type { agentConformance } from "./conformance/agent.ts";
import type { processBackendConformance } from "./conformance/process-backend.ts";
import type { storeConformance } from "./conformance/store.ts";

/** What every store keeps, whatever engine it stands on. Await it at the top of a test file. */
export async function testStore(...given: Parameters<typeof storeConformance>): Promise<void> {
	const suite = await import("./conformance/store.ts");
	suite.storeConformance(...given);
}

/** What every agent keeps, of both kinds. Await it at the top of a test file. */
export async function testAgent(...given: Parameters<typeof agentConformance>): Promise<void> {
	const suite = await import("./conformance/agent.ts");
	suite.agentConformance(...given);
}

/** What every backend for processes keeps. Await it at the top of a test file. */
export async function testProcessBackend(
	...given: Parameters<typeof processBackendConformance>
): Promise<void> {
	const suite = await import("./conformance/process-backend.ts");
	suite.processBackendConformance(...given);
}
