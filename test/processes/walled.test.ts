// What processes promise holds behind walls, and more: their end is the end of everything they started.
import { processBackendConformance } from "../../src/testing/conformance/process-backend.ts";
import { isAnyLeft } from "./support.ts";
import { WalledScene } from "./walled-scene.ts";

for (const kind of ["view", "box"] as const)
	processBackendConformance(`local, behind ${kind}`, async () => {
		const scene = new WalledScene();
		return {
			backend: await scene.connect(),
			cwd: scene.workspace,
			wall: scene.wall(kind),
			isAnyLeft: async (ids) => isAnyLeft(ids),
			close: () => scene.close(),
		};
	});
