// Browser storage for this person. Without storage the page only forgets: no view depends on it.

export function readLocal(name: string): string | null {
	try {
		return localStorage.getItem(`keryx.${name}`);
	} catch {
		return null;
	}
}

/** Null removes the value. */
export function writeLocal(name: string, value: string | null): void {
	try {
		if (value === null) localStorage.removeItem(`keryx.${name}`);
		else localStorage.setItem(`keryx.${name}`, value);
	} catch {
		// Storage is full or forbidden: the value is not kept.
	}
}
