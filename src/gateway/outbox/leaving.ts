// A channel that can be removed while in use: it gets nothing new, and running sends are waited for. If they were cut off, their outcome
// would be unknown (I7). A gateway whose lease may have expired sends nothing: another one may have taken over.
import { type Clock, within } from "../../time/index.ts";
import type { Channel, SendResult } from "../channel.ts";

/** A send that the platform has not answered by then is unknown anyway. */
const LAST_ANSWER_MS = 60_000;
const LEAVING: SendResult = { kind: "retry", afterMs: 1000, reason: "the channel is being removed" };

export interface Removable extends Channel {
	/** Stops the channel when its running sends have ended. */
	leave(): Promise<void>;
}

const FENCED: SendResult = { kind: "retry", afterMs: 1000, reason: "this gateway has lost its lease" };

export function removable(channel: Channel, clock: Clock, holdsLease: () => boolean): Removable {
	const underWay = new Set<Promise<unknown>>();
	let isLeaving = false;
	const counted = (ask: () => Promise<SendResult>): Promise<SendResult> => {
		if (isLeaving) return Promise.resolve(LEAVING);
		if (!holdsLease()) return Promise.resolve(FENCED);
		const asked = ask();
		const ended = asked
			.then(
				() => {},
				() => {},
			)
			.finally(() => underWay.delete(ended));
		underWay.add(ended);
		return asked;
	};
	const { edit } = channel;
	return {
		...channel,
		send: (outgoing) => counted(() => channel.send(outgoing)),
		...(edit && { edit: (receipt, outgoing) => counted(() => edit(receipt, outgoing)) }),
		health: () => (isLeaving ? { ...channel.health(), state: "stopped" } : channel.health()),
		leave: async () => {
			isLeaving = true;
			const { signal } = new AbortController();
			await within(Promise.all(underWay), { clock, ms: LAST_ANSWER_MS, signal }).catch(() => undefined);
			await channel.stop();
		},
	};
}
