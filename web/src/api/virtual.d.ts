declare module "virtual:keryx-calls" {
	/** Arguments named in the path go there, those listed in `query` go into the query string, and the rest into the body. */
	interface CallRoute {
		readonly method: "GET" | "POST" | "DELETE";
		readonly path: string;
		readonly query: readonly string[];
	}
	/** Keyed by the names in the server's tables. An ambient module cannot import their type. */
	export const calls: Readonly<Record<string, CallRoute>>;
	/** Types of the events that begin a turn. */
	export const turnBegins: readonly string[];
}
