// Programs with daemons behind every wall, killed at moments from the first millisecond on: of none anything is left.
import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isNamespaceAlive, type Namespace, readStatus } from "../../src/walls/index.ts";
import { PATH, processesWith, read, WallScene } from "./scene.ts";

/** With `npm run test:crash`, a thousand. */
const RUNS = 5 * Number(process.env.KERYX_CRASH_RUNS ?? 6);
const KINDS = ["view", "mask", "box"] as const;
/** A prime: the moments of each kind of wall are spread over the whole window. */
const WINDOW_MS = 61;
let scene: WallScene;

beforeEach(() => {
	scene = new WallScene();
});

afterEach(() => scene.close());

/** A double fork, sessions of their own, cleared environments, one that ignores everything, and one that is stopped. */
const daemons = (mark: string) => `
	(sleep 600.${mark} &); setsid sleep 600.${mark} & env -i /bin/sh -c '(/usr/bin/setsid /bin/sleep 600.${mark} &)' &
	sh -c "trap '' TERM HUP INT; sleep 600.${mark}" & setsid sh -c 'kill -STOP $$' & wait`;

test(`of ${RUNS} programs that are killed, no process, namespace, mount or cgroup is left`, {
	timeout: 60_000 + RUNS * 2000,
}, async () => {
	const mark = String(Number.parseInt(randomBytes(4).toString("hex"), 16));
	const namespaces: Namespace[] = [];
	for (let i = 0; i < RUNS; i++) {
		const wall = scene.wall(KINDS[i % KINDS.length] ?? "view", { limits: { processes: 1000 } });
		const walled = await scene.start(wall, ["bash", "-c", daemons(mark)], { env: { PATH } });
		const moment = performance.now() + ((i * 7) % WINDOW_MS);
		while (performance.now() < moment) await delay(0);
		// By its starter, or by somebody who does not know what belongs to it.
		if (i % 2 === 0) walled.kill();
		else process.kill(walled.pid, "SIGKILL");
		await walled.exit;
		const { namespace } = readStatus(scene.lastStatus);
		if (namespace) namespaces.push(namespace);
	}
	expect(processesWith(mark)).toEqual([]);
	expect(namespaces.filter(isNamespaceAlive)).toEqual([]);
	expect(scene.cgroups()).toEqual([]);
	// A namespace of mounts lives as long as somebody is in it.
	const showing = readdirSync("/proc")
		.filter((name) => /^\d+$/.test(name))
		.filter((pid) => read(`/proc/${pid}/mountinfo`).includes(scene.home));
	expect(showing).toEqual([]);
});
