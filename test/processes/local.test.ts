import { processBackendConformance } from "../../src/testing/conformance/process-backend.ts";
import { HostScene, isAnyLeft } from "./support.ts";

processBackendConformance("local", async () => {
	const scene = new HostScene();
	return {
		backend: await scene.connect(),
		cwd: scene.home,
		isAnyLeft: async (ids) => isAnyLeft(ids),
		close: () => scene.close(),
	};
});
