// The kill-point driver: ends this process the hard way at an exact write, so that a test can try every commit point there is.
import type { Engine, WriteName } from "../store/index.ts";

export interface KillPoint {
	/** The nth write, counted from 1; 0: never. */
	readonly at: number;
	/** before: it is not handed on. after: it has been committed (or refused), and its caller has not learned of it. */
	readonly when: "before" | "after";
	/** Told of each write before anything is done with it: to count the kill points there are, or to write a trace. */
	readonly onWrite?: (n: number, name: WriteName) => void;
	/** Left out: SIGKILL to this process. */
	readonly kill?: () => void;
}

export function killingEngine(engine: Engine, { at, when, onWrite, kill = killSelf }: KillPoint): Engine {
	let writes = 0;
	/** Never resolves: what follows the kill must not happen, however long the kernel takes. */
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
