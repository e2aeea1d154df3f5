// One call of a process backend, made by the build that this file stands in: `build-child.ts <home> <call as JSON>`.
import { localMachine, type ProcessInfo, type SpawnRequest } from "../../src/processes/index.ts";

export type BuildCall =
	| { readonly op: "spawn"; readonly request: SpawnRequest }
	| { readonly op: "say"; readonly id: string; readonly text: string }
	| { readonly op: "kill"; readonly id: string };

const [home = "", call = "{}"] = process.argv.slice(2);
const backend = await localMachine(home, { idleMs: 300 }).connect();
process.stdout.write(JSON.stringify(await answer(JSON.parse(call) as BuildCall)));
await backend.close();

async function answer(asked: BuildCall): Promise<unknown> {
	switch (asked.op) {
		case "spawn":
			return backend.spawn(asked.request);
		case "kill":
			return backend.kill(asked.id, { graceMs: 1000 });
		case "say": {
			// It is known to run here, so that its end is heard of.
			const ended = new Promise<ProcessInfo>((resolve) => backend.onEnd(resolve));
			await backend.get(asked.id);
			await backend.write(asked.id, Buffer.from(asked.text));
			return ended;
		}
	}
}
