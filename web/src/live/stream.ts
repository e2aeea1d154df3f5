// The page's one stream of events. It keeps its cursor, so that a disconnect loses and repeats nothing, and reports the state of the
// connection. Frames are passed on in order, at most once per screen frame.
import { errorOf } from "../api/error.ts";
import { isLoggedIn, loggedOut } from "../api/login.ts";
import { pageHeaders } from "../api/page-key.ts";
import type { Delta, LiveEvent } from "../api/types.ts";
import { createValue } from "../lib/value.ts";
import { framesOf } from "./frames.ts";

export type LiveFrame =
	| { readonly kind: "event"; readonly event: LiveEvent }
	| { readonly kind: "delta"; readonly delta: Delta }
	/** Events are missing, so everything must be read again. */
	| { readonly kind: "resync" };

export type ConnectionState = "connecting" | "live" | "reconnecting" | "offline";

/** Longest wait for the start position before the page is shown. */
const START_MS = 300;
const RECONNECT_MS = [50, 100, 200, 500, 1000, 2000] as const;
/** The server sends something every 15 seconds. A connection that is silent for more than two intervals is dead. */
const SILENCE_MS = 35_000;
/** A longer interruption is shown as offline. */
const OFFLINE_MS = 5000;
/** A connection that lasted this long counts as a success. */
const STOOD_MS = 1000;
/** A hidden tab disconnects after this time: browsers allow six connections per server, for all tabs together. */
const HIDDEN_MS = 60_000;
/** Frames wait for the next screen frame, but at most this long: a hidden tab draws none. */
const LONGEST_WAIT_MS = 100;

const connection = createValue<ConnectionState>("connecting");
const listeners = new Set<(frames: readonly LiveFrame[]) => void>();
let cursor: string | undefined;
let queue: LiveFrame[] = [];
let cancelFlush: (() => void) | null = null;

export const useConnection = connection.use;

let staysConnected: () => boolean = () => false;

/** While true, a hidden tab stays connected, because it sends notifications. */
export function stayConnected(when: () => boolean): void {
	staysConnected = when;
}

/** Frames in order, in batches. */
export function onFrames(listener: (frames: readonly LiveFrame[]) => void): () => void {
	listeners.add(listener);
	return () => void listeners.delete(listener);
}

/**
 * Follows events until the person is logged out. Resolves when the start position in the log is known, so that nothing read after that can
 * miss an event. If that takes too long, it resolves anyway, and everything is read again once the position is known.
 */
export function startLive(): Promise<void> {
	return new Promise((resolve) => {
		let isLate = false;
		const timer = setTimeout(() => {
			isLate = true;
			resolve();
		}, START_MS);
		void followForever(() => {
			clearTimeout(timer);
			if (isLate) enqueue({ kind: "resync" });
			isLate = false;
			resolve();
		});
	});
}

async function followForever(onPosition: () => void): Promise<void> {
	let attempt = 0;
	let lostAt = performance.now();
	while (isLoggedIn()) {
		await untilSeen();
		const began = performance.now();
		await followOnce(() => connection.set("live"), onPosition).catch(() => undefined);
		if (!isLoggedIn()) return;
		// A stopping server accepts a connection and drops it. That does not count as a success.
		if (connection.get() === "live" && performance.now() - began > STOOD_MS) {
			attempt = 0;
			lostAt = performance.now();
		}
		connection.set(performance.now() - lostAt > OFFLINE_MS ? "offline" : "reconnecting");
		await pause(RECONNECT_MS[Math.min(attempt++, RECONNECT_MS.length - 1)] ?? 1000);
	}
}

async function followOnce(alive: () => void, onPosition: () => void): Promise<void> {
	const ended = new AbortController();
	const silence = restartable(() => ended.abort(), SILENCE_MS);
	const hidden = whenHiddenFor(HIDDEN_MS, () => ended.abort());
	try {
		const address = cursor === undefined ? "/events" : `/events?after=${encodeURIComponent(cursor)}`;
		const response = await fetch(address, {
			headers: { ...pageHeaders(), accept: "text/event-stream" },
			credentials: "same-origin",
			signal: ended.signal,
		});
		if (response.status === 401) loggedOut();
		if (!response.ok || !response.body) throw await errorOf(response);
		alive();
		for await (const { event, data, id } of framesOf(response.body, silence.restart)) {
			if (event === "error") throw new Error(data);
			if (id !== undefined) cursor = id;
			if (event === "hello") onPosition();
			else if (event === "delta") enqueue({ kind: "delta", delta: JSON.parse(data) as Delta });
			else if (event === "resync") enqueue({ kind: "resync" });
			else enqueue({ kind: "event", event: JSON.parse(data) as LiveEvent });
		}
	} finally {
		silence.stop();
		hidden();
		ended.abort();
	}
}

function enqueue(frame: LiveFrame): void {
	queue.push(frame);
	if (cancelFlush) return;
	const drawn = requestAnimationFrame(flush);
	const timer = setTimeout(flush, LONGEST_WAIT_MS);
	cancelFlush = () => {
		cancelAnimationFrame(drawn);
		clearTimeout(timer);
	};
}

function flush(): void {
	cancelFlush?.();
	cancelFlush = null;
	const frames = queue;
	queue = [];
	for (const listener of listeners) listener(frames);
}

/** Ends early when the browser is online again or the tab's visibility changes: a retry may work now. */
function pause(ms: number): Promise<void> {
	return new Promise((resolve) => {
		const done = () => {
			clearTimeout(timer);
			window.removeEventListener("online", done);
			document.removeEventListener("visibilitychange", done);
			resolve();
		};
		const timer = setTimeout(done, ms);
		window.addEventListener("online", done);
		document.addEventListener("visibilitychange", done);
	});
}

function untilSeen(): Promise<void> {
	if (document.visibilityState === "visible" || cursor === undefined || staysConnected())
		return Promise.resolve();
	return new Promise((resolve) =>
		document.addEventListener("visibilitychange", () => resolve(), { once: true }),
	);
}

function whenHiddenFor(ms: number, then: () => void): () => void {
	let timer: ReturnType<typeof setTimeout> | undefined;
	const look = () => {
		clearTimeout(timer);
		if (document.visibilityState === "hidden") timer = setTimeout(() => !staysConnected() && then(), ms);
	};
	document.addEventListener("visibilitychange", look);
	look();
	return () => {
		clearTimeout(timer);
		document.removeEventListener("visibilitychange", look);
	};
}

function restartable(
	then: () => void,
	ms: number,
): { readonly restart: () => void; readonly stop: () => void } {
	let timer = setTimeout(then, ms);
	return {
		restart: () => {
			clearTimeout(timer);
			timer = setTimeout(then, ms);
		},
		stop: () => clearTimeout(timer),
	};
}
