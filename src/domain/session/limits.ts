// How close a session is to its cap, and the model's notes about it. Notes are for one model step: last in the prompt and never stored.

export interface LimitInfo {
	readonly messageCount: number;
	/** 0: unlimited. */
	readonly maxMessages: number;
	/** null when unlimited. */
	readonly remaining: number | null;
	readonly nearLimit: boolean;
	readonly atLimit: boolean;
	/** count / max; 0 when unlimited. */
	readonly threshold: number;
}

export interface WireLimitInfo {
	readonly message_count: number;
	readonly max_messages: number;
	readonly remaining: number | null;
	readonly near_limit: boolean;
	readonly at_limit: boolean;
	readonly threshold: number;
}

/** null count: an unknown conversation; all numbers are zero. */
export function limitInfo(messageCount: number | null, maxMessages: number): LimitInfo {
	if (messageCount === null) {
		return { messageCount: 0, maxMessages: 0, remaining: 0, nearLimit: false, atLimit: false, threshold: 0 };
	}
	if (maxMessages <= 0) {
		return { messageCount, maxMessages, remaining: null, nearLimit: false, atLimit: false, threshold: 0 };
	}
	return {
		messageCount,
		maxMessages,
		remaining: Math.max(0, maxMessages - messageCount),
		nearLimit: messageCount >= Math.floor(0.85 * maxMessages),
		atLimit: messageCount >= maxMessages,
		threshold: messageCount / maxMessages,
	};
}

/** For a model step, `info` counts the reply being asked for. */
export function limitNote(info: LimitInfo): "near" | "final" | null {
	if (info.atLimit) return "final";
	return info.nearLimit ? "near" : null;
}

export function nearLimitText({ messageCount, maxMessages, remaining }: LimitInfo): string {
	return `Session limit: your next message is number ${messageCount} of ${maxMessages}; ${remaining} remain after it. At the limit this session ends and a new one begins. Wrap up what is under way, and save what must not be lost.`;
}

export function finalLimitText({ maxMessages }: LimitInfo): string {
	return `Session limit: this is your last response in this session (${maxMessages} messages). Start nothing new and call no tools. Summarise what was done and what is next.`;
}

export function toWireLimitInfo(info: LimitInfo): WireLimitInfo {
	return {
		message_count: info.messageCount,
		max_messages: info.maxMessages,
		remaining: info.remaining,
		near_limit: info.nearLimit,
		at_limit: info.atLimit,
		threshold: info.threshold,
	};
}
