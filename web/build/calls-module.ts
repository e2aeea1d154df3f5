// `virtual:keryx-calls`: the server's table of calls without its schemas, so that the page calls what the server answers and carries
// no validator.
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Plugin } from "vite";
import type { Endpoint } from "../../src/http/endpoint.ts";

const NAME = "virtual:keryx-calls";
const RESOLVED = `\0${NAME}`;
const TABLE = fileURLToPath(new URL("../../src/http/endpoints.ts", import.meta.url));

export function callsModule(): Plugin {
	return {
		name: "keryx-calls",
		resolveId: (id) => (id === NAME ? RESOLVED : undefined),
		load: async (id) => {
			if (id !== RESOLVED) return undefined;
			const { endpoints } = (await import(pathToFileURL(TABLE).href)) as {
				readonly endpoints: Readonly<Record<string, Endpoint>>;
			};
			const calls = Object.entries(endpoints).map(([name, { method, path, query }]) => [
				name,
				{ method: method.toUpperCase(), path, query: Object.keys(query.shape) },
			]);
			return `export const calls = ${JSON.stringify(Object.fromEntries(calls))};`;
		},
	};
}
