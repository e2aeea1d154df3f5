// How a platform where you name the server is described: which keys of its section `keryx channels add` and the page ask for, and in which
// words.

export interface NetworkField {
	/** In the section; on the command line `--key`, with dashes. The same key has the same kind on every platform. */
	readonly key: string;
	/** A file is a path on this machine. A switch is on unless it is turned off (`--no-key`). */
	readonly kind: "text" | "number" | "list" | "file" | "switch";
	readonly label: string;
	readonly about: string;
	/** A value that works somewhere, for hints. */
	readonly example?: string;
	readonly needed?: true;
	/** Under More options on the page; "never": a path of this machine means nothing in a browser. */
	readonly page?: "more" | "never";
}

export interface NetworkSecret {
	/** `token` is asked for first. */
	readonly option: "token" | "serverPassword";
	readonly label: string;
	readonly about: string;
	/** "asked": only if the caller says that there is one. A key: only if that field is given. */
	readonly when: "always" | "asked" | { readonly given: string };
}

export interface Network {
	/** As the platform writes itself. */
	readonly label: string;
	/** Whether people may speak there whom the server does not vouch for: `decides` says what they may do. */
	readonly hasUnproven: boolean;
	readonly fields: readonly NetworkField[];
	readonly secrets: readonly NetworkSecret[];
}

/** Of every platform that connects by TLS. */
export const TLS_FIELDS: readonly NetworkField[] = [
	{
		key: "tls",
		kind: "switch",
		label: "Encrypt the connection",
		about: "without TLS, anyone between here and the server can read everything",
		page: "more",
	},
	{
		key: "ca_file",
		kind: "file",
		label: "Certificates",
		about: "a file with the certificates to trust, in place of the system's",
		page: "never",
	},
];
