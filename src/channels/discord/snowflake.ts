// Discord's ids: milliseconds since 2015, then a counter. Message ids grow with time, across all channels.

const EPOCH = 1_420_070_400_000n;
const TIME_SHIFT = 22n;
const SNOWFLAKE = /^\d{15,20}$/;

export function isSnowflake(id: string): boolean {
	return SNOWFLAKE.test(id);
}

/** Below every id made at this time. */
export function snowflakeAt(ms: number): string {
	const since = BigInt(Math.trunc(ms)) - EPOCH;
	return String((since > 0n ? since : 0n) << TIME_SHIFT);
}

/** When it was made, in milliseconds since 1970. */
export function timeOf(id: string): number {
	return Number((BigInt(id) >> TIME_SHIFT) + EPOCH);
}

export function isAfter(id: string, other: string): boolean {
	return BigInt(id) > BigInt(other);
}
