// A gateway of several whose lease was lost for a moment, and which nobody has taken over from.
import { afterEach, expect, test } from "vitest";
import type { Cluster, Engine } from "../../src/store/index.ts";
import { Scene } from "./support.ts";

let scene: Scene;
afterEach(() => scene.end());

/** A lease that the test takes and gives back. */
class Lease implements Cluster {
	holdsLease = true;
	readonly #listeners = new Set<(holds: boolean) => void>();

	set(holds: boolean): void {
		this.holdsLease = holds;
		for (const listener of this.#listeners) listener(holds);
	}

	onLease(listener: (holds: boolean) => void): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	onCommitElsewhere = () => () => {};
	onNodeDead = () => () => {};
	onBroadcast = () => () => {};
	broadcast = () => {};
	hasOthers = true;
	now = () => Date.now();
}

test("a turn that was stopped because the lease was lost goes on when it is back, also if its last write takes longer", async () => {
	const lease = new Lease();
	const held = Promise.withResolvers<void>();
	let isHeld = false;
	const slow = (engine: Engine): Engine => ({
		...engine,
		cluster: lease,
		write: async (name, args, drawn) => {
			if (name === "appendMessages" && !isHeld) {
				isHeld = true;
				await held.promise;
			}
			return engine.write(name, args, drawn);
		},
	});
	scene = await Scene.start({
		engine: slow,
		script: { otherwise: [{ text: "working", tools: [{ name: "effect" }] }, { text: "finished" }] },
	});
	const id = await scene.say("go");
	expect(isHeld).toBe(true);
	lease.set(false);
	await scene.clock.advance(1000);
	lease.set(true);
	await scene.clock.advance(1000);
	expect(scene.texts()).toEqual([]);
	held.resolve();
	await scene.clock.advance(60_000);
	expect(scene.texts()).toEqual(["finished"]);
	expect(await scene.disposition(id)).toBe("answered");
	expect(scene.effects).toHaveLength(1);
});

test("a turn whose gateway stood still for a moment has not been stopped by anybody", async () => {
	const lease = new Lease();
	scene = await Scene.start({
		engine: (engine) => ({
			...engine,
			cluster: lease,
			write: (name, args, drawn) => {
				// Cut off, not given up: others may be about to take over.
				if (name === "startCall") lease.holdsLease = false;
				return engine.write(name, args, drawn);
			},
		}),
		script: { otherwise: [{ text: "working", tools: [{ name: "effect" }] }, { text: "finished" }] },
	});
	const id = await scene.say("go");
	await scene.clock.advance(1000);
	expect(lease.holdsLease).toBe(false);
	expect(scene.effects).toEqual([]);
	lease.holdsLease = true;
	await scene.clock.advance(60_000);
	expect(await scene.disposition(id)).toBe("answered");
	expect(scene.texts()).toEqual(["finished"]);
	expect(scene.effects).toHaveLength(1);
});
