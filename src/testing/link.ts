// The line between a channel and its platform: requests one way, updates the other. Within a process it is a few calls; over
// a socket (socket-link.ts) it is lines of JSON. If it breaks, open requests get no answer.
import type { Outgoing, SendResult } from "../gateway/index.ts";
import type { Destination } from "../store/index.ts";
import type { Clock } from "../time/index.ts";
import type { ScriptedPlatform, Update } from "./platform.ts";

export type PlatformRequest =
	| { readonly do: "send"; readonly outgoing: Outgoing }
	| { readonly do: "edit"; readonly receipt: string; readonly outgoing: Outgoing }
	| { readonly do: "lookup"; readonly id: string }
	| { readonly do: "typing"; readonly destination: Destination };

export type PlatformAnswer = SendResult | ReturnType<ScriptedPlatform["lookup"]> | null;

export interface LinkEvents {
	/** `subscription`: the number given when subscribing. */
	onUpdate(update: Update, subscription: number): void;
	/** The line broke by itself. Not called after `close`. */
	onBroken(): void;
}

export interface Link {
	/** Rejects if nobody is at the other end. */
	open(events: LinkEvents): Promise<void>;
	/** Subscribes to everything after `after`, or to everything unacknowledged; ends the previous subscription. */
	subscribe(after: number | null, subscription: number): void;
	/** Rejects when the line breaks before the answer came. */
	ask(request: PlatformRequest): Promise<PlatformAnswer>;
	acknowledge(offset: number): void;
	close(): void;
}

/** Serves one request. A request that has reached the platform is processed in any case. */
export function serve(
	platform: ScriptedPlatform,
	clock: Clock,
	request: PlatformRequest,
): Promise<PlatformAnswer> {
	if (request.do === "lookup") return Promise.resolve(platform.lookup(request.id));
	if (request.do === "typing") {
		platform.type(request.destination);
		return Promise.resolve(null);
	}
	const receipt = request.do === "edit" ? request.receipt : undefined;
	const started = platform.begin(request.outgoing, clock.now(), receipt);
	if (started.delayMs === 0) return Promise.resolve(started.finish(clock.now()));
	return new Promise((resolve) => {
		clock.after(started.delayMs, () => resolve(started.finish(clock.now())));
	});
}

/** Delivers updates as they come, a moment later, so that simultaneous ones can still be reordered. */
export function follow(
	platform: ScriptedPlatform,
	after: number | null,
	hand: (update: Update) => void,
): () => void {
	let last = after ?? platform.acknowledged;
	let scheduled = false;
	let ended = false;
	const flush = () => {
		scheduled = false;
		if (ended) return;
		for (const update of platform.handOut(last)) {
			last = update.offset;
			hand(update);
		}
	};
	const schedule = () => {
		if (scheduled) return;
		scheduled = true;
		queueMicrotask(flush);
	};
	const stop = platform.onChange(schedule);
	schedule();
	return () => {
		ended = true;
		stop();
	};
}

export interface DirectLink extends Link {
	/** Breaks the line, as a network failure does. */
	break(): void;
}

export function directLink(platform: ScriptedPlatform, clock: Clock): DirectLink {
	let events: LinkEvents | undefined;
	let unfollow = () => {};
	const open = new Set<() => void>();
	const close = () => {
		events = undefined;
		unfollow();
		for (const lose of [...open]) lose();
	};
	return {
		open: (given) => {
			close();
			events = given;
			return Promise.resolve();
		},
		subscribe: (after, subscription) => {
			unfollow();
			const { onUpdate } = events ?? { onUpdate: () => {} };
			unfollow = follow(platform, after, (update) => onUpdate(update, subscription));
		},
		ask: (request) =>
			new Promise((resolve, reject) => {
				const lose = () => {
					open.delete(lose);
					reject(new Error("the line broke"));
				};
				open.add(lose);
				void serve(platform, clock, request).then((answer) => {
					open.delete(lose);
					resolve(answer);
				});
			}),
		acknowledge: (offset) => {
			if (events) platform.acknowledge(offset);
		},
		close,
		break: () => {
			const before = events;
			close();
			before?.onBroken();
		},
	};
}
