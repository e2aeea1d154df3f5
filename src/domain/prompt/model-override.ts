// A conversation's model override. Values written to and read from the store pass through here, so a key or token that a client sends
// along never gets in (I12).

export interface ModelOverride {
	readonly model?: string;
	readonly provider?: string;
	readonly base_url?: string;
}

/** Keeps the three known fields with usable values; null if none is left. Never throws. */
export function sanitizeModelOverride(value: unknown): ModelOverride | null {
	if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
	const model = textOf(value, "model");
	const provider = textOf(value, "provider");
	const baseUrl = textOf(value, "base_url");
	const kept: ModelOverride = {
		...(model && { model }),
		...(provider && { provider }),
		...(baseUrl && isPlainHttpUrl(baseUrl) && { base_url: baseUrl }),
	};
	return Object.keys(kept).length > 0 ? kept : null;
}

function textOf(value: object, field: keyof ModelOverride): string {
	if (!Object.hasOwn(value, field)) return "";
	const text: unknown = (value as Record<string, unknown>)[field];
	return typeof text === "string" ? text.trim() : "";
}

/** A URL with a user or password in it is a credential, and is dropped like any other. */
function isPlainHttpUrl(text: string): boolean {
	if (/\s/.test(text)) return false;
	const url = URL.parse(text);
	return url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
}
