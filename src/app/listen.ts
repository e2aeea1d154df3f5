// Opens Keryx's addresses. Ports first: a taken one is reported before any work starts. The socket last: it exists only once Keryx
// answers.
import { type Api, type PortOptions, type Served, serveOnPort, serveOnSocket } from "../http/index.ts";

const LOOPBACK = "127.0.0.1";

export interface ListenOptions {
	readonly api: Api;
	readonly socketPath: string;
	/** Null: only on the socket. */
	readonly ports: { readonly host: string; readonly port: number; readonly compatPort: number | null } | null;
	/** Begins the work. */
	ready(): Promise<void> | void;
	/** Called for an address this machine lacks. */
	missing(address: string): void;
}

export interface Listening extends Served {
	readonly url: string | null;
	/** Accepts requests and reports their status without a token. */
	readonly compatUrl: string | null;
}

export async function listen({ api, socketPath, ports, ready, missing }: ListenOptions): Promise<Listening> {
	const served: Served[] = [];
	const close = async () => {
		await Promise.all(served.map((one) => one.close()));
	};
	const open = async (options: PortOptions): Promise<string> => {
		const opened = await serveOnPort(api, options);
		served.push(opened);
		if (opened.missing !== null) missing(opened.missing);
		return addressOf(options.host, opened.port);
	};
	try {
		const url = ports && (await open(ports));
		const compatPort = ports?.compatPort ?? null;
		const compatUrl =
			compatPort === null ? null : await open({ host: LOOPBACK, port: compatPort, compat: true });
		await ready();
		served.push(await serveOnSocket(api, socketPath));
		return { url, compatUrl, close };
	} catch (error) {
		await close();
		throw error;
	}
}

/** In words. */
export function withoutAddress(address: string): string {
	return `This machine has no address ${address}, so Keryx listens only on the other loopback address.`;
}

function addressOf(host: string, port: number): string {
	return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
