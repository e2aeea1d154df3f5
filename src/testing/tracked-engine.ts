// Knows when a store is idle. A store's threads take real time; this lets a virtual clock wait for them.
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import type { Engine } from "../store/index.ts";

export interface TrackedEngine extends Engine {
	/** Resolves when nothing runs in the store and nothing new starts within a few turns of the event loop. */
	idle(): Promise<void>;
}

const QUIET_TURNS = 8;

export function trackedEngine(engine: Engine): TrackedEngine {
	let underWay = 0;
	let waiting: (() => void)[] = [];
	const track = async <Value>(work: Promise<Value>): Promise<Value> => {
		underWay++;
		try {
			return await work;
		} finally {
			underWay--;
			if (underWay === 0) {
				for (const resolve of waiting) resolve();
				waiting = [];
			}
		}
	};
	return {
		epoch: engine.epoch,
		write: (name, args, drawn) => track(engine.write(name, args, drawn)),
		read: (name, args) => track(engine.read(name, args)),
		onCommit: (listener) => engine.onCommit(listener),
		close: () => engine.close(),
		idle: async () => {
			for (let quiet = 0; quiet < QUIET_TURNS; quiet++) {
				await turnOfTheLoop();
				if (underWay === 0) continue;
				await new Promise<void>((resolve) => waiting.push(resolve));
				quiet = -1;
			}
		},
	};
}
