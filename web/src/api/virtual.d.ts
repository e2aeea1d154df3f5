declare module "virtual:keryx-calls" {
	/** Where a call's arguments go: those in the path by name, those listed here behind the question mark, the rest into the body. */
	interface CallRoute {
		readonly method: "GET" | "POST" | "DELETE";
		readonly path: string;
		readonly query: readonly string[];
	}
	/** By the names of the server's tables; an ambient module cannot import their type. */
	export const calls: Readonly<Record<string, CallRoute>>;
	/** The types of the events after which a turn is at work. */
	export const turnBegins: readonly string[];
}
