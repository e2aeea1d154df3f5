import { expect, test } from "vitest";
import type { ListedProcess, Processes } from "../../processes/index.ts";
import { listProcesses } from "./processes.ts";
import type { CommandContext } from "./types.ts";

const RUNNING = {
	id: "proc_0123456789ab",
	command: "sleep 1000",
	status: "running",
	startedAt: 0,
	endedAt: null,
	survivors: [],
	elsewhere: null,
} as unknown as ListedProcess;

test.each([
	[false, "running for 1 min"],
	[true, "running for 1 min; its host does not answer, so this may be out of date"],
])("a program whose host is silent (%s) is told of as %j", async (isUnreachable, words) => {
	const list: Processes["list"] = () => Promise.resolve([{ ...RUNNING, isUnreachable }]);
	const context = { now: 60_000, processes: { list } } as unknown as CommandContext;
	expect(await listProcesses.tell(context)).toContain(`: ${words}\n`);
});

test.each([
	[true, "running for 1 min (node garden)"],
	[false, "lost (node garden); found again when that gateway is back"],
])("a program at another gateway that lives (%s) is told of as %j", async (lives, words) => {
	const process = { ...RUNNING, isUnreachable: !lives, elsewhere: { node: "garden", lives } };
	const context = {
		now: 60_000,
		processes: { list: () => Promise.resolve([process]) },
	} as unknown as CommandContext;
	expect(await listProcesses.tell(context)).toContain(`: ${words}\n`);
});
