// The conformance suites for each kind of extension, for use in its own repository. They need vitest and fast-check, which are loaded
// on use: everything else in keryx/testing runs without them. (The suite for channels needs no runner: `testChannel`.)
import type { agentConformance } from "./conformance/agent.ts";
import type { processBackendConformance } from "./conformance/process-backend.ts";
import type { storeConformance } from "./conformance/store.ts";

/** The promises of every store, on any engine. Await it at the top of a test file. */
export async function testStore(...given: Parameters<typeof storeConformance>): Promise<void> {
	const suite = await import("./conformance/store.ts");
	suite.storeConformance(...given);
}

/** The promises of every agent, of both kinds. Await it at the top of a test file. */
export async function testAgent(...given: Parameters<typeof agentConformance>): Promise<void> {
	const suite = await import("./conformance/agent.ts");
	suite.agentConformance(...given);
}

/** The promises of every process backend. Await it at the top of a test file. */
export async function testProcessBackend(
	...given: Parameters<typeof processBackendConformance>
): Promise<void> {
	const suite = await import("./conformance/process-backend.ts");
	suite.processBackendConformance(...given);
}
