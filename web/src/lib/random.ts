/** Names that nobody else draws; also where a browser has no randomUUID, over plain HTTP. */
export function randomId(): string {
	return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
		byte.toString(16).padStart(2, "0"),
	).join("");
}
