// How far long work is, told to a person who watches.
import type { Output } from "./output.ts";

/** More often nobody reads it. */
const EVERY_MS = 100;
const TICK_MS = 1000;

/** Shows a line now and then, however often it is told; ends the line when the work has ended. */
export async function withProgress<Result>(
	output: Output,
	work: (tell: (text: string) => void) => Promise<Result>,
): Promise<Result> {
	let shownAt = Number.NEGATIVE_INFINITY;
	try {
		return await work((text) => {
			if (performance.now() - shownAt < EVERY_MS) return;
			shownAt = performance.now();
			output.progress(text);
		});
	} finally {
		output.progress(null);
	}
}

/** For work that cannot say how far it is: for how long it has been going on. */
export async function whileWaiting<Result>(
	output: Output,
	what: string,
	work: () => Promise<Result>,
): Promise<Result> {
	const began = performance.now();
	const tell = () => output.progress(`${what} ${Math.round((performance.now() - began) / 1000)} s`);
	const ticking = setInterval(tell, TICK_MS);
	try {
		return await work();
	} finally {
		clearInterval(ticking);
		output.progress(null);
	}
}
