/** What confirmations need of time: now, and something to happen later. */
export interface ConfirmationClock {
	now(): number;
	/** Answers how to cancel it. */
	after(ms: number, callback: () => void): () => void;
}
