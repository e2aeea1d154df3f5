// The kill-point driver: kills this process at an exact write, so that a test can try every commit point.
import type { Engine, WriteName } from "../store/index.ts";

export interface KillPoint {
	/** The nth write, counted from 1; 0: never. */
	readonly at: number;
	/** before: the write is not passed on. after: it was committed (or refused), and its caller has not learned of it. */
	readonly when: "before" | "after";
	/** Called for each write before it is done: to count the kill points, or to write a trace. */
	readonly onWrite?: (n: number, name: WriteName) => void;
	/** Default: SIGKILL to this process. */
	readonly kill?: () => void;
}

export function killingEngine(engine: Engine, { at, when, onWrite, kill = killSelf }: KillPoint): Engine {
	let writes = 0;
	/** Never resolves: nothing may follow the kill, however long the kernel takes. */
	const end = (): Promise<never> => {
		kill();
		return new Promise(() => {});
	};
	return {
		epoch: engine.epoch,
		write: (name, args, drawn) => {
			const n = ++writes;
			onWrite?.(n, name);
			if (n !== at) return engine.write(name, args, drawn);
			if (when === "before") return end();
			return engine.write(name, args, drawn).then(end, end);
		},
		read: (name, args) => engine.read(name, args),
		onCommit: (listener) => engine.onCommit(listener),
		close: () => engine.close(),
	};
}

function killSelf(): void {
	process.kill(process.pid, "SIGKILL");
}
