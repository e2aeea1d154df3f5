// Waiting for something that may never come, under a signal and a deadline.
import type { Clock } from "../time/index.ts";

export class DeadlinePassed extends Error {}
export class Aborted extends Error {}

/** The value, or DeadlinePassed, or Aborted. What it waited for goes on by itself; its late outcome is ignored. */
export function within<Value>(
	promise: Promise<Value>,
	{ clock, ms, signal }: { readonly clock: Clock; readonly ms: number; readonly signal: AbortSignal },
): Promise<Value> {
	return new Promise((resolve, reject) => {
		if (signal.aborted) return reject(new Aborted());
		const cancel = clock.after(ms, () => done(() => reject(new DeadlinePassed())));
		const abort = () => done(() => reject(new Aborted()));
		signal.addEventListener("abort", abort, { once: true });
		const done = (settle: () => void) => {
			cancel();
			signal.removeEventListener("abort", abort);
			settle();
		};
		promise.then(
			(value) => done(() => resolve(value)),
			(error: unknown) => done(() => reject(error instanceof Error ? error : new Error(String(error)))),
		);
	});
}

/** A stream whose first item must come in time, and its end too. */
export async function* withDeadlines<Item>(
	stream: AsyncIterable<Item>,
	{
		clock,
		limits,
		signal,
	}: {
		readonly clock: Clock;
		readonly limits: { readonly firstTokenMs: number; readonly totalMs: number };
		readonly signal: AbortSignal;
	},
): AsyncGenerator<Item> {
	const began = clock.monotonic();
	const iterator = stream[Symbol.asyncIterator]();
	for (let first = true; ; first = false) {
		const left = began + limits.totalMs - clock.monotonic();
		const next = await within(iterator.next(), {
			clock,
			ms: first ? Math.min(limits.firstTokenMs, left) : left,
			signal,
		});
		if (next.done) return;
		yield next.value;
	}
}

/** A signal that is aborted with the outer one, or by `end`. Costs less than AbortSignal.any, and leaves nothing behind. */
export function signalWithin(outer: AbortSignal): { readonly signal: AbortSignal; end(): void } {
	const controller = new AbortController();
	const follow = () => controller.abort(outer.reason);
	if (outer.aborted) follow();
	else outer.addEventListener("abort", follow, { once: true });
	return {
		signal: controller.signal,
		end: () => {
			outer.removeEventListener("abort", follow);
			// With a reason: making the error that stands for none is the dearest part of it.
			controller.abort(OVER);
		},
	};
}

const OVER = "over";
