/** A unique id. Also works over plain HTTP, where browsers have no randomUUID. */
export function randomId(): string {
	return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
		byte.toString(16).padStart(2, "0"),
	).join("");
}
