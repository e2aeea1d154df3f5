// One connection to the IMAP server. The library's own idling and logging are off: the reader decides when to wait.
import type { ImapFlow } from "imapflow";
import type { Libraries } from "./libraries.ts";
import { connectionOf, type MailServer } from "./options.ts";
import { ServiceError } from "./trouble.ts";

const CONNECT_MS = 20_000;
/** A mail of 25 MB in files, encoded, with room. */
const LONGEST_MAIL = 64 * 1024 * 1024;

export interface Login {
	readonly server: MailServer;
	readonly user: string;
	readonly password: string;
}

/** Rejects with `ServiceError`. */
export async function openImap(
	{ ImapFlow: Client }: Libraries,
	{ server, user, password }: Login,
): Promise<ImapFlow> {
	const client = new Client({
		...connectionOf(server),
		...(server.encryption !== "tls" && { doSTARTTLS: server.encryption === "starttls" }),
		auth: { user, pass: password },
		logger: false,
		disableAutoIdle: true,
		connectionTimeout: CONNECT_MS,
		greetingTimeout: CONNECT_MS,
		maxLiteralSize: LONGEST_MAIL + 1024 * 1024,
		maxResponseSize: LONGEST_MAIL + 1024 * 1024,
		clientInfo: { name: "Keryx" },
	});
	// Without a listener, a late error would end the process; every command reports it, too.
	client.on("error", () => {});
	try {
		await client.connect();
		return client;
	} catch (error) {
		client.close();
		throw new ServiceError("imap", error);
	}
}

/** Says goodbye, and never waits long for it. */
export async function closeImap(
	client: ImapFlow,
	after: (ms: number, callback: () => void) => () => void,
): Promise<void> {
	if (!client.usable) return client.close();
	const cancel = after(2000, () => client.close());
	await client.logout().catch(() => client.close());
	cancel();
}

export { LONGEST_MAIL };
