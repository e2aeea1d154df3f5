// Shows the progress of long work.
import type { Output } from "./output.ts";

/** More often nobody reads it. */
const EVERY_MS = 100;
const TICK_MS = 1000;

/** Shows a line now and then, however often it is called; ends the line with the work. */
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

/** For work without measurable progress: its duration. */
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
