// Hands one mail to the SMTP server. A server has a mail only once it has seen the mail's end: a connection that breaks before is a certain
// failure, and one that breaks after it leaves the outcome unknown (I7).
import { Readable } from "node:stream";
import type { SendResult } from "../../gateway/index.ts";
import type { Clock } from "../../time/index.ts";
import type { Login } from "./imap.ts";
import type { Libraries } from "./libraries.ts";
import { connectionOf } from "./options.ts";
import { isLoginRefused, reasonOf, ServiceError } from "./trouble.ts";

const CONNECT_MS = 15_000;
/** Shorter than the gateway waits for a channel: after that, the mail must not be under way any more. */
const SEND_MS = 50_000;
/** A server that says "later" names no time. */
const LATER_MS = 30_000;
const PIECE = 64 * 1024;

export interface Envelope {
	readonly from: string;
	readonly to: readonly string[];
}

export type Handed =
	| Extract<SendResult, { kind: "retry" | "refused" | "unknown" }>
	/** `rejected`: recipients that the server did not take, while it took others. */
	| { readonly kind: "taken"; readonly rejected: readonly string[] }
	| { readonly kind: "too_large"; readonly reason: string }
	| { readonly kind: "login_refused"; readonly error: ServiceError };

type Connection = InstanceType<Libraries["SMTPConnection"]>;

/** Logs in and leaves. Rejects with `ServiceError`. */
export async function trySmtp(libraries: Libraries, login: Login, clock: Clock): Promise<void> {
	const connection = connectionTo(libraries, login);
	const cancel = clock.after(2 * CONNECT_MS, () => connection.close());
	try {
		await enter(connection, login);
		connection.quit();
	} catch (error) {
		connection.close();
		throw new ServiceError("smtp", error);
	} finally {
		cancel();
	}
}

export async function handIn(
	libraries: Libraries,
	login: Login,
	{ from, to }: Envelope,
	mail: Buffer,
	clock: Clock,
): Promise<Handed> {
	const connection = connectionTo(libraries, login);
	let isWhole = false;
	let isLate = false;
	const cancel = clock.after(SEND_MS, () => {
		isLate = true;
		connection.close();
	});
	const late = new Promise<never>((_, reject) => {
		connection.once("end", () =>
			reject(new Error(isLate ? "the server took too long" : "the connection was lost")),
		);
	});
	late.catch(() => {});
	try {
		await Promise.race([enter(connection, login), late]);
		const source = Readable.from(pieces(mail, () => (isWhole = true)));
		const sent = new Promise<{ readonly rejected?: readonly string[] }>((resolve, reject) => {
			connection.send({ from, to: [...to], size: mail.length }, source, (error, info) =>
				error ? reject(error) : resolve(info),
			);
		});
		const { rejected = [] } = await Promise.race([sent, late]);
		connection.quit();
		return { kind: "taken", rejected };
	} catch (error) {
		connection.close();
		return outcomeOf(error, isWhole);
	} finally {
		cancel();
	}
}

function outcomeOf(error: unknown, isWhole: boolean): Handed {
	const { responseCode, code, command } = error as { responseCode?: number; code?: string; command?: string };
	const reason = reasonOf(error);
	if (isLoginRefused(error)) return { kind: "login_refused", error: new ServiceError("smtp", error) };
	if (responseCode === 552 || (code === "EMESSAGE" && command === "MAIL FROM"))
		return { kind: "too_large", reason };
	if (responseCode !== undefined && responseCode >= 500) return { kind: "refused", reason };
	if (responseCode !== undefined && responseCode >= 400) return { kind: "retry", afterMs: LATER_MS, reason };
	if (code === "EENVELOPE") return { kind: "refused", reason };
	if (isWhole)
		return { kind: "unknown", reason: `the server did not say whether it took the mail (${reason})` };
	return { kind: "retry", afterMs: LATER_MS, reason };
}

/** `ended`: everything was read, so that the mail's end may be on its way. */
function* pieces(mail: Buffer, ended: () => void): Generator<Buffer> {
	for (let at = 0; at < mail.length; at += PIECE) yield mail.subarray(at, at + PIECE);
	ended();
}

function connectionTo({ SMTPConnection }: Libraries, { server }: Login): Connection {
	const { encryption } = server;
	const connection = new SMTPConnection({
		...connectionOf(server),
		requireTLS: encryption === "starttls",
		ignoreTLS: encryption === "none",
		connectionTimeout: CONNECT_MS,
		greetingTimeout: CONNECT_MS,
		socketTimeout: SEND_MS,
		logger: false,
	});
	// Each pending command also reports this error.
	connection.on("error", () => {});
	return connection;
}

function enter(connection: Connection, { user, password }: Login): Promise<void> {
	return new Promise((resolve, reject) => {
		connection.once("error", reject);
		connection.connect((error) => {
			if (error) return reject(error);
			connection.login({ user, pass: password }, (refused) => (refused ? reject(refused) : resolve()));
		});
	});
}
