// When a session ends by itself: the policy for one conversation. config/session-reset.ts builds it.

export const RESET_MODES = ["daily", "idle", "both", "none"] as const;
export type ResetMode = (typeof RESET_MODES)[number];

export const CARRY_OVERS = ["all", "limit", "none"] as const;
export type CarryOver = (typeof CARRY_OVERS)[number];

export interface ResetPolicy {
	readonly mode: ResetMode;
	/** 0-23, on the clock of `timezone`. */
	readonly atHour: number;
	readonly timezone: string;
	readonly idleMinutes: number;
	/** 0: unlimited. Holds in mode none too. */
	readonly maxMessages: number;
	readonly notify: boolean;
	readonly notifyExcludePlatforms: readonly string[];
	readonly processMaxAgeHours: number;
	readonly carryOver: CarryOver;
}
