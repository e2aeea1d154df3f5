// `virtual:keryx-calls`: the server's tables of calls without their schemas, and the events that begin a turn. The page uses the same
// tables as the server, but ships no validator.
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Plugin } from "vite";
import type { ConfirmCall } from "../../src/http/confirm/schemas.ts";
import type { Endpoint } from "../../src/http/endpoint.ts";

const NAME = "virtual:keryx-calls";
const RESOLVED = `\0${NAME}`;

export function callsModule(): Plugin {
	return {
		name: "keryx-calls",
		resolveId: (id) => (id === NAME ? RESOLVED : undefined),
		load: async (id) => {
			if (id !== RESOLVED) return undefined;
			const { endpoints } = await tables<{
				readonly endpoints: Readonly<Record<string, Endpoint>>;
			}>("endpoints.ts");
			const { confirmCalls } = await tables<{
				readonly confirmCalls: Readonly<Record<string, ConfirmCall>>;
			}>("confirm/schemas.ts");
			const { TURN_BEGINS } = await tables<{ readonly TURN_BEGINS: ReadonlySet<string> }>("schemas.ts");
			const calls = Object.entries({ ...endpoints, ...confirmCalls }).map(
				([name, { method, path, query }]) => [
					name,
					{ method: method.toUpperCase(), path, query: Object.keys(query?.shape ?? {}) },
				],
			);
			return `export const calls = ${JSON.stringify(Object.fromEntries(calls))};
export const turnBegins = ${JSON.stringify([...TURN_BEGINS])};`;
		},
	};
}

async function tables<Exports>(file: string): Promise<Exports> {
	const path = fileURLToPath(new URL(`../../src/http/${file}`, import.meta.url));
	return (await import(pathToFileURL(path).href)) as Exports;
}
