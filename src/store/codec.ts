// Encodes and decodes body columns. Each row names the key its bodies are sealed with; null means plain text, which is all there is for
// now. Encryption later changes only this file and the rows written after it.
import { KeryxError } from "../errors.ts";

export function seal(value: unknown): string {
	return JSON.stringify(value);
}

/** Never returns an empty body for one that cannot be read (I8). */
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
