// As much of autocannon as is used: it has no types of its own.
declare module "autocannon" {
	interface Shot {
		method?: string;
		path?: string;
		headers?: Record<string, string>;
		body?: string;
	}

	interface Options {
		readonly url: string;
		readonly connections: number;
		/** Seconds. */
		readonly duration: number;
		readonly headers?: Readonly<Record<string, string>>;
		readonly requests?: readonly (Shot & { readonly setupRequest?: (shot: Shot) => Shot })[];
	}

	interface Result {
		readonly "2xx": number;
		readonly non2xx: number;
		readonly errors: number;
		readonly timeouts: number;
		/** Seconds. */
		readonly duration: number;
	}

	function autocannon(options: Options): Promise<Result>;
	export = autocannon;
}
