// The start of a connection: the server's capabilities, Keryx's login and nick. Pure: messages in, lines out.
import { formatLine, type Message } from "./wire.ts";

/** Requested if the server has them. */
const WANTED = [
	"message-tags",
	"server-time",
	"echo-message",
	"account-tag",
	"account-notify",
	"extended-join",
	"chghost",
	"batch",
	"draft/chathistory",
	"chathistory",
	// Without it, a history reports joins and parts as messages of a service.
	"draft/event-playback",
];
/** Names up to this length are accepted everywhere. */
const SURE_NICK = 9;
/** One chunk of AUTHENTICATE. */
const CHUNK = 400;
/** How many nicks are tried. */
const MOST_NICKS = 8;

export interface Login {
	/** The account; not needed with a certificate. */
	readonly name: string;
	readonly password?: string;
}

export interface RegistrationOptions {
	readonly nick: string;
	readonly realName: string;
	readonly serverPassword?: string;
	/** Left out: nobody. */
	readonly login?: Login;
}

export type Step =
	| { readonly kind: "go"; readonly lines: readonly string[] }
	/** The server knows Keryx by this nick. */
	| { readonly kind: "welcome"; readonly nick: string; readonly prefix: string }
	/** Only a human can help. */
	| { readonly kind: "refused"; readonly reason: string; readonly remedy: string };

const GO: Step = { kind: "go", lines: [] };

export class Registration {
	readonly #options: RegistrationOptions;
	readonly #offered = new Map<string, string>();
	readonly capabilities = new Set<string>();
	#tries = 0;
	#isLoggedIn = false;

	constructor(options: RegistrationOptions) {
		this.#options = options;
	}

	begin(): readonly string[] {
		const { nick, realName, serverPassword } = this.#options;
		return [
			formatLine("CAP", ["LS", "302"]),
			...(serverPassword === undefined ? [] : [formatLine("PASS", [serverPassword])]),
			formatLine("NICK", [nick]),
			formatLine("USER", ["keryx", "0", "*", realName]),
		];
	}

	heard({ command, params, prefix }: Message): Step {
		switch (command) {
			case "CAP":
				return this.#capability(params);
			case "AUTHENTICATE":
				return this.#authenticate(params[0] ?? "");
			case "903":
				this.#isLoggedIn = true;
				return go(formatLine("CAP", ["END"]));
			case "902":
			case "904":
			case "905":
			case "906":
				return this.#refusedLogin(params.at(-1) ?? "");
			case "001": {
				const { login } = this.#options;
				if (login && !this.#isLoggedIn) return this.#noLogin();
				const nick = params[0] ?? this.#options.nick;
				const [, own = `${nick}!keryx@${prefix}`] = /(\S+!\S+@\S+)\s*$/.exec(params.at(-1) ?? "") ?? [];
				return { kind: "welcome", nick, prefix: own };
			}
			case "433":
			case "436":
			case "437":
				return this.#otherNick(params.at(-1) ?? "");
			case "432":
				return this.#tries > 0
					? this.#otherNick(params.at(-1) ?? "")
					: refused(`the server does not allow the nick ${this.#options.nick}`, "choose another irc.nick");
			case "464":
				return refusedPassword(params.at(-1) ?? "");
			// Some servers give no number.
			case "ERROR":
				return /password/i.test(params.at(-1) ?? "") ? refusedPassword(params.at(-1) ?? "") : GO;
			case "465":
				return refused(`the server has banned Keryx: ${params.at(-1)}`, "ask its operators");
			default:
				return GO;
		}
	}

	#capability(params: readonly string[]): Step {
		const [, verb = "", ...rest] = params;
		const names = (rest.at(-1) ?? "").split(" ").filter((name) => name !== "");
		if (verb === "ACK") for (const name of names) this.capabilities.add(name);
		if (verb === "ACK" || verb === "NAK") {
			const { login } = this.#options;
			if (!login || !this.capabilities.has("sasl"))
				return login ? this.#noLogin() : go(formatLine("CAP", ["END"]));
			return go(formatLine("AUTHENTICATE", [login.password === undefined ? "EXTERNAL" : "PLAIN"]));
		}
		if (verb !== "LS") return GO;
		for (const name of names) {
			const at = name.indexOf("=");
			this.#offered.set(at < 0 ? name : name.slice(0, at), at < 0 ? "" : name.slice(at + 1));
		}
		// More of the list follows.
		if (rest.length > 1) return GO;
		const { login } = this.#options;
		if (login && !this.#offered.has("sasl")) return this.#noLogin();
		const wanted = [...WANTED, ...(login ? ["sasl"] : [])].filter((name) => this.#offered.has(name));
		return go(
			wanted.length === 0 ? formatLine("CAP", ["END"]) : formatLine("CAP", ["REQ", wanted.join(" ")]),
		);
	}

	#authenticate(asked: string): Step {
		const { login } = this.#options;
		if (asked !== "+" || !login) return GO;
		if (login.password === undefined) return go(formatLine("AUTHENTICATE", ["+"]));
		const text = Buffer.from(`\0${login.name}\0${login.password}`).toString("base64");
		const chunks: string[] = [];
		for (let at = 0; at < text.length; at += CHUNK) chunks.push(text.slice(at, at + CHUNK));
		if (text.length % CHUNK === 0) chunks.push("+");
		return go(...chunks.map((chunk) => formatLine("AUTHENTICATE", [chunk])));
	}

	#otherNick(said: string): Step {
		this.#tries++;
		if (this.#tries > MOST_NICKS)
			return refused(`the server gives Keryx no nick: ${said}`, "choose another irc.nick");
		return go(formatLine("NICK", [otherNick(this.#options.nick, this.#tries)]));
	}

	#refusedLogin(said: string): Step {
		const { name, password } = this.#options.login ?? { name: "" };
		return password === undefined
			? refused(`the server does not accept the certificate: ${said}`, "check irc.certificate_file")
			: refused(
					`the server does not accept the password of ${name}: ${said}`,
					"check irc.login, and token_env or token_file",
				);
	}

	#noLogin(): Step {
		return refused(
			"the server has no SASL login",
			"remove irc.login and the password, or use irc.server_password_env if the server has a password",
		);
	}
}

/** A nick for when the wanted one is taken; never longer than the wanted one, or than every server allows. */
export function otherNick(wanted: string, tries: number): string {
	const ending = tries === 1 ? "_" : `_${tries}`;
	return wanted.slice(0, Math.max(SURE_NICK, wanted.length) - ending.length) + ending;
}

function refusedPassword(said: string): Step {
	return refused(
		`the server does not accept the server password: ${said}`,
		"check irc.server_password_env or irc.server_password_file",
	);
}

function go(...lines: readonly string[]): Step {
	return { kind: "go", lines };
}

function refused(reason: string, remedy: string): Step {
	return { kind: "refused", reason, remedy };
}
