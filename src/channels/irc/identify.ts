// Identifies a set of settings, for setting up a channel: connects, logs in, and leaves.
import { KeryxError } from "../../errors.ts";
import { systemClock } from "../../time/index.ts";
import { addressOf, FLOOD, type IrcOptions, loginOf } from "./options.ts";
import { Session } from "./session.ts";

export interface IrcIdentity {
	readonly who: string;
	readonly remarks: readonly string[];
}

/** Throws channel.refused, which says what the server refused, or that it was unreachable. */
export async function identifyIrc(
	options: Pick<IrcOptions, "server" | "nick" | "login" | "secrets">,
): Promise<IrcIdentity> {
	const { server, nick } = options;
	const secrets = await options.secrets();
	const { serverPassword } = secrets;
	let session: Session | undefined;
	const ready = new Promise<Session>((resolve) => {
		session = new Session({
			clock: systemClock,
			aliveMs: 20_000,
			flood: FLOOD,
			id: "setup",
			address: addressOf(options, secrets),
			registration: {
				nick,
				realName: "Keryx",
				...(serverPassword !== undefined && { serverPassword }),
				...loginOf(options, secrets),
			},
			welcomed: () => {},
			ready: resolve,
			heard: () => {},
			alive: () => {},
		});
	});
	const found = await Promise.race([ready, (session as unknown as Session).ended]);
	if ("kind" in found) {
		const where = `${server.host}:${server.port}`;
		throw found.kind === "refused"
			? new KeryxError("channel.refused", found.reason, { hint: found.remedy })
			: new KeryxError("channel.refused", `could not connect to ${where}: ${found.reason}`, {
					hint: "check irc.server, irc.port and irc.tls, then try again",
				});
	}
	const remarks = [
		...(found.nick === nick ? [] : [`The nick ${nick} is taken now. Keryx takes it when it is free.`]),
		...(found.hasHistory ? [] : ["The server keeps no history: messages sent while Keryx is away are lost."]),
		...(found.has("account-tag")
			? []
			: [
					"The server does not say who is logged in. People are known by nick, user and host, which proves little.",
				]),
		...(server.tls ? [] : ["Without TLS, others on the way can read everything, passwords too."]),
	];
	await found.quit();
	return { who: `${found.nick} on ${server.host}`, remarks };
}
