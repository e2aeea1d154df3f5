// The options of a Matrix channel.
import type { PlatformOptions } from "../options.ts";

export interface MatrixOptions extends Omit<PlatformOptions, "apiRoot"> {
	/** The homeserver's address, such as `https://matrix.example.org`. */
	readonly homeserver: string;
	/** The token must belong to this user; default: any. With or without the server's name. */
	readonly user?: string;
	/** Absent: encrypted rooms are refused, with a sentence. */
	readonly encryption?: {
		/** The database for keys, device and trust. One process has it open. */
		readonly file: string;
		/** The address of the library's module. Rejects if it is not installed. */
		readonly library: () => Promise<string>;
	};
	/** How long a sync waits for news. Short, because a revoked token shows only at the next one. */
	readonly pollSeconds?: number;
}
