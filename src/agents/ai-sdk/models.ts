// Lists a provider's models.
import { z } from "zod";
import { boundedFetch } from "./bounded.ts";
import type { Target } from "./targets.ts";

/** Far more than any provider has; a longer list is invalid. */
const MOST = 2000;

const answer = z.union([
	z.object({ data: z.array(z.object({ id: z.string() })) }),
	z.object({ models: z.array(z.object({ name: z.string() })) }),
]);

/** Sorted by name. Throws an Error with the provider's message; never with the key. */
export async function listModels(
	{ provider, baseUrl }: Pick<Target, "provider" | "baseUrl">,
	key: string | null,
	signal: AbortSignal,
): Promise<readonly string[]> {
	// An invalid header value would put the key into the error.
	if (key !== null && !/^[\x21-\x7e]+$/.test(key))
		throw new Error("this is not an API key: a key is one word of letters, digits and symbols");
	const response = await boundedFetch(`${baseUrl.replace(/\/+$/, "")}/models`, {
		headers: { accept: "application/json", ...headersOf(provider, key) },
		redirect: "error",
		signal,
	});
	if (!response.ok) throw new Error(refusal(response.status));
	const parsed = answer.safeParse(await response.json());
	if (!parsed.success) throw new Error("this address did not return a list of models");
	const names =
		"data" in parsed.data
			? parsed.data.data.map(({ id }) => id)
			: parsed.data.models.map(({ name }) => name.replace(/^models\//, ""));
	return [...new Set(names)].sort().slice(0, MOST);
}

function refusal(status: number): string {
	if (status === 401 || status === 403) return `the provider refused the API key (status ${status})`;
	if (status === 404) return `there is no list of models at this address (status ${status})`;
	return `the provider returned status ${status} instead of its list of models`;
}

function headersOf(provider: Target["provider"], key: string | null): Record<string, string> {
	if (key === null) return {};
	if (provider === "anthropic") return { "x-api-key": key, "anthropic-version": "2023-06-01" };
	if (provider === "google") return { "x-goog-api-key": key };
	return { authorization: `Bearer ${key}` };
}
