// The one way into and out of body columns. Each row names the key its bodies are sealed with; null means in the clear,
// which is all there is for now. Sealing later changes this file and the rows written after it, nothing else.
import { KeryxError } from "../errors.ts";

export function seal(value: unknown): string {
	return JSON.stringify(value);
}

/** Never answers an empty body for one that cannot be read (I8). */
export function unseal<T>(body: string, key: number | null): T {
	if (key !== null)
		throw new KeryxError(
			"store.sealed",
			`a body is encrypted with key ${key}, which this Keryx does not have`,
		);
	try {
		return JSON.parse(body) as T;
	} catch (cause) {
		throw new KeryxError("store.corrupt", "a body in the store cannot be read", { cause });
	}
}
