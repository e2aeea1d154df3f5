// Two builds of Keryx whose process hosts speak different versions, side by side in one home: each reaches what the other started.
import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { listHosts, readLog } from "../../src/processes/index.ts";
import { laterBuild } from "../support/later-build.ts";
import type { BuildCall } from "./build-child.ts";
import { ENV, gone, HostScene, readText } from "./support.ts";

const HERE = fileURLToPath(new URL("../..", import.meta.url));
let scene: HostScene;
let later: string;
const hosts = new Set<number>();

beforeAll(() => {
	scene = new HostScene();
	later = laterBuild(join(scene.home, "later"));
});
afterAll(async () => {
	// Both leave, though each was asked by the other build.
	for (const pid of hosts) await gone(pid);
	rmSync(later, { recursive: true, force: true });
	await scene.close();
});

async function by(build: string, call: BuildCall): Promise<unknown> {
	const file = join(build, "test/processes/build-child.ts");
	const flags = ["--disable-warning=ExperimentalWarning"];
	const { stdout } = await promisify(execFile)(process.execPath, [
		...flags,
		file,
		scene.home,
		JSON.stringify(call),
	]);
	return JSON.parse(stdout);
}

test("each build writes to, hears the end of and kills what the other's host holds", async () => {
	const builds = [HERE, later] as const;
	for (const [index, starter] of builds.entries()) {
		const other = builds[1 - index] as string;
		const talks = scene.request(["sh", "-c", "read x; echo got $x; exit 7"], { env: ENV });
		// Its end is told long before its kill is answered: a child of it does not heed the signal.
		const stays = scene.request(["sh", "-c", "(trap '' TERM; sleep 1000) & exec sleep 1000"], { env: ENV });
		for (const request of [talks, stays])
			expect(await by(starter, { op: "spawn", request })).toMatchObject({ status: "running" });
		expect(await by(other, { op: "say", id: talks.id, text: "it\n" })).toMatchObject({
			id: talks.id,
			status: "exited",
			end: { code: 7 },
		});
		const { data } = await readLog({ home: scene.home, id: talks.id, from: 0, limit: 100 });
		expect(data.toString()).toBe("got it\n");
		expect(await listHosts(scene.home)).toContain(index + 1);
		hosts.add(JSON.parse(readText(join(scene.home, "processes", stays.id, "meta.json"))).host.pid as number);
		expect(await by(other, { op: "kill", id: stays.id })).toMatchObject({ result: "killed" });
	}
}, 60_000);
