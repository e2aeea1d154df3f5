// The result of one check.

export interface Finding {
	readonly check: string;
	/** remark: worth knowing, but nothing is broken. */
	readonly state: "fine" | "fixed" | "remark" | "wrong";
	readonly found: string;
	readonly remedy: string | null;
	/** What --fix would do about it. */
	readonly mends?: string;
}

export function fine(check: string, found: string): Finding {
	return { check, state: "fine", found, remedy: null };
}

export function fixed(check: string, found: string): Finding {
	return { check, state: "fixed", found, remedy: null };
}

export function remark(check: string, found: string, remedy: string | null = null): Finding {
	return { check, state: "remark", found, remedy };
}

export function wrong(check: string, found: string, remedy: string, mends?: string): Finding {
	return { check, state: "wrong", found, remedy, ...(mends !== undefined && { mends }) };
}
