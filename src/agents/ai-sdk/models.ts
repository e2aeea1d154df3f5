// Which models a provider has, as it says itself.
import { z } from "zod";
import { boundedFetch } from "./bounded.ts";
import type { Target } from "./targets.ts";

/** Far more than any provider has; a list that is longer is no list of models. */
const MOST = 2000;

const answer = z.union([
	z.object({ data: z.array(z.object({ id: z.string() })) }),
	z.object({ models: z.array(z.object({ name: z.string() })) }),
]);

/** Sorted by name. Throws an Error whose message says what the provider said; never with the key. */
export async function listModels(
	{ provider, baseUrl }: Pick<Target, "provider" | "baseUrl">,
	key: string | null,
	signal: AbortSignal,
): Promise<readonly string[]> {
	// It cannot stand in a header, and the error about it would show the key.
	if (key !== null && !/^[\x21-\x7e]+$/.test(key))
		throw new Error("this is not an API key: a key is one word of letters, digits and symbols");
	const response = await boundedFetch(`${baseUrl.replace(/\/+$/, "")}/models`, {
		headers: { accept: "application/json", ...headersOf(provider, key) },
		redirect: "error",
		signal,
	});
	if (!response.ok)
		throw new Error(`${provider} returned status ${response.status} instead of its list of models`);
	const parsed = answer.safeParse(await response.json());
	if (!parsed.success) throw new Error(`${provider} did not return a list of models`);
	const names =
		"data" in parsed.data
			? parsed.data.data.map(({ id }) => id)
			: parsed.data.models.map(({ name }) => name.replace(/^models\//, ""));
	return [...new Set(names)].sort().slice(0, MOST);
}

function headersOf(provider: Target["provider"], key: string | null): Record<string, string> {
	if (key === null) return {};
	if (provider === "anthropic") return { "x-api-key": key, "anthropic-version": "2023-06-01" };
	if (provider === "google") return { "x-goog-api-key": key };
	return { authorization: `Bearer ${key}` };
}
