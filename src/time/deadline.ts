// Waits for a promise or stream, with a signal and a deadline.
import type { Clock } from "./clock.ts";

export class DeadlinePassed extends Error {}
export class Aborted extends Error {}

/** Throws DeadlinePassed or Aborted. The awaited work continues by itself; its late outcome is ignored. */
export function within<Value>(
	promise: Promise<Value>,
	{ clock, ms, signal }: { readonly clock: Clock; readonly ms: number; readonly signal: AbortSignal },
): Promise<Value> {
	return new Promise((resolve, reject) => {
		const cancel = clock.after(ms, () => done(() => reject(new DeadlinePassed())));
		const abort = () => done(() => reject(new Aborted()));
		const done = (settle: () => void) => {
			cancel();
			signal.removeEventListener("abort", abort);
			settle();
		};
		promise.then(
			(value) => done(() => resolve(value)),
			(error: unknown) => done(() => reject(error instanceof Error ? error : new Error(String(error)))),
		);
		if (signal.aborted) abort();
		else signal.addEventListener("abort", abort, { once: true });
	});
}

/** A stream with a deadline for its first item and for its end. Nothing is asked of it once the signal is aborted. */
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
		if (signal.aborted) throw new Aborted();
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

/** A signal that aborts with the outer one, or by `end`. Cheaper than AbortSignal.any, and leaves no listener behind. */
export function signalWithin(outer: AbortSignal): { readonly signal: AbortSignal; end(): void } {
	const controller = new AbortController();
	const follow = () => controller.abort(outer.reason);
	if (outer.aborted) follow();
	else outer.addEventListener("abort", follow, { once: true });
	return {
		signal: controller.signal,
		end: () => {
			outer.removeEventListener("abort", follow);
			// With a reason: creating the default error is the most expensive part.
			controller.abort(OVER);
		},
	};
}

const OVER = "over";
