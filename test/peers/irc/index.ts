// A small IRC server for what ngircd does not have: logins, accounts, echoes and histories, as Ergo does them. It has one client and
// everybody else is made up. `npm run test:peers` shows the same with Ergo itself.
import { type AddressInfo, createServer, type Socket } from "node:net";
import { parseLine } from "../../../src/channels/irc/wire.ts";

export interface MadeUp {
	readonly nick: string;
	readonly user: string;
	readonly host: string;
	readonly account?: string;
	readonly isBot?: boolean;
}

export interface IrcServerOptions {
	/** In the words of CAP LS. */
	readonly capabilities?: readonly string[];
	/** Of the accounts that may log in. */
	readonly passwords?: Readonly<Record<string, string>>;
}

export class IrcServer {
	/** What the client said, oldest first. */
	readonly heard: string[] = [];
	readonly sent: { readonly target: string; readonly text: string }[] = [];
	/** Whoever is behind a nick now. */
	readonly people = new Map<string, MadeUp>();
	/** What CHATHISTORY finds, by target: whole lines without tags. */
	readonly histories = new Map<string, readonly (readonly [at: string, id: string, line: string])[]>();
	/** Answers in place of the server; true: nothing more is said. */
	onLine: (command: string, params: readonly string[]) => boolean = () => false;
	readonly #options: Required<IrcServerOptions>;
	readonly #server = createServer((socket) => this.#serve(socket));
	#socket: Socket | undefined;
	readonly #on = new Set<string>();
	#nick = "*";
	#isRegistered = false;
	#isNegotiating = false;
	#hasUser = false;
	#account: string | undefined;
	#ids = 0;

	private constructor({ capabilities = [], passwords = {} }: IrcServerOptions) {
		this.#options = { capabilities, passwords };
	}

	static async create(options: IrcServerOptions = {}): Promise<IrcServer> {
		const server = new IrcServer(options);
		await new Promise<void>((resolve) => server.#server.listen(0, "127.0.0.1", resolve));
		return server;
	}

	get port(): number {
		return (this.#server.address() as AddressInfo).port;
	}

	/** Somebody says something; answers the id of the message. */
	say(by: MadeUp, target: string, text: string): string {
		const id = `id${++this.#ids}`;
		this.people.set(by.nick, by);
		const tags = [
			...(this.#on.has("message-tags") ? [`msgid=${id}`] : []),
			...(this.#on.has("server-time") ? [`time=${new Date().toISOString()}`] : []),
			...(this.#on.has("account-tag") && by.account !== undefined ? [`account=${by.account}`] : []),
			...(this.#on.has("message-tags") && by.isBot ? ["bot"] : []),
		];
		this.tell(`${tags.length > 0 ? `@${tags.join(";")} ` : ""}:${maskOf(by)} PRIVMSG ${target} :${text}`);
		return id;
	}

	tell(...lines: readonly string[]): void {
		for (const line of lines) this.#socket?.write(`${line}\r\n`);
	}

	drop(): void {
		this.#socket?.destroy();
	}

	async close(): Promise<void> {
		this.drop();
		await new Promise((resolve) => this.#server.close(resolve));
	}

	#serve(socket: Socket): void {
		this.#socket?.destroy();
		this.#socket = socket;
		this.#on.clear();
		this.#isRegistered = false;
		this.#isNegotiating = false;
		this.#hasUser = false;
		this.#account = undefined;
		let rest = "";
		socket.on("error", () => {});
		socket.setEncoding("utf8").on("data", (text) => {
			const lines = (rest + String(text)).split("\r\n");
			rest = lines.pop() ?? "";
			for (const line of lines) this.#answer(line);
		});
	}

	#answer(line: string): void {
		this.heard.push(line);
		const message = parseLine(line);
		if (!message || this.onLine(message.command, message.params)) return;
		const [first = "", second = ""] = message.params;
		const answers: Readonly<Record<string, () => void>> = {
			CAP: () => this.#capability(first, second),
			AUTHENTICATE: () => this.#authenticate(first),
			NICK: () => {
				this.#nick = first;
				this.#welcome();
			},
			USER: () => {
				this.#hasUser = true;
				this.#welcome();
			},
			PING: () => this.tell(`:server PONG server :${first}`),
			JOIN: () => {
				for (const room of first.split(",")) this.tell(`:${this.#nick}!~keryx@here JOIN ${room}`);
			},
			WHOIS: () => this.#whois(first),
			PRIVMSG: () => {
				this.sent.push({ target: first, text: second });
				if (this.#on.has("echo-message"))
					this.tell(`@msgid=id${++this.#ids} :${this.#nick}!~keryx@here PRIVMSG ${first} :${second}`);
			},
			CHATHISTORY: () => this.#history(message.params),
			QUIT: () => {
				this.tell("ERROR :bye");
				this.#socket?.end();
			},
		};
		answers[message.command]?.();
	}

	#capability(verb: string, names: string): void {
		this.#isNegotiating = verb !== "END";
		if (verb === "LS") {
			const all = this.#options.capabilities;
			const half = Math.ceil(all.length / 2);
			// In two lines, as servers with many do.
			this.tell(
				`:server CAP * LS * :${all.slice(0, half).join(" ")}`,
				`:server CAP * LS :${all.slice(half).join(" ")}`,
			);
		} else if (verb === "REQ") {
			for (const name of names.split(" ")) this.#on.add(name);
			this.tell(`:server CAP ${this.#nick} ACK :${names}`);
		} else this.#welcome();
	}

	#authenticate(said: string): void {
		if (/^[A-Z-]+$/.test(said)) {
			this.tell("AUTHENTICATE +");
			return;
		}
		const [, name = "", password] = Buffer.from(said, "base64").toString().split("\0");
		const isRight = this.#options.passwords[name] === password && password !== undefined;
		if (isRight) this.#account = name;
		this.tell(
			isRight
				? `:server 903 ${this.#nick} :SASL authentication successful`
				: `:server 904 ${this.#nick} :Invalid credentials`,
		);
	}

	#welcome(): void {
		if (this.#isRegistered || this.#isNegotiating || !this.#hasUser || this.#nick === "*") return;
		this.#isRegistered = true;
		this.tell(
			`:server 001 ${this.#nick} :Welcome ${this.#nick}!~keryx@here`,
			`:server 005 ${this.#nick} CHANTYPES=# :are supported`,
			`:server 422 ${this.#nick} :no MOTD`,
		);
	}

	/** As which account the client is logged in. */
	get account(): string | undefined {
		return this.#account;
	}

	#whois(nick: string): void {
		const found = this.people.get(nick);
		if (found) this.tell(`:server 311 ${this.#nick} ${nick} ${found.user} ${found.host} * :somebody`);
		else this.tell(`:server 401 ${this.#nick} ${nick} :No such nick`);
		if (found?.account !== undefined)
			this.tell(`:server 330 ${this.#nick} ${nick} ${found.account} :is logged in as`);
		this.tell(`:server 318 ${this.#nick} ${nick} :End of WHOIS`);
	}

	#history([verb = "", target = "", from = ""]: readonly string[]): void {
		if (verb === "TARGETS") {
			const names = [...this.histories.keys()].filter((name) => !name.startsWith("#"));
			this.tell(
				":server BATCH +1 draft/chathistory-targets",
				...names.map((name) => `@batch=1 :server CHATHISTORY TARGETS ${name} 2026-01-01T00:00:00.000Z`),
				":server BATCH -1",
			);
			return;
		}
		const all = this.histories.get(target) ?? [];
		const [, since, after] = /^(?:timestamp=(.*)|msgid=(.*))$/.exec(from) ?? [];
		const start = all.findIndex(([at, id]) => (since === undefined ? id === after : at > since));
		const found = start < 0 ? [] : all.slice(since === undefined ? start + 1 : start).slice(0, 2);
		this.tell(
			`:server BATCH +2 chathistory ${target}`,
			...found.map(([at, id, line]) => `@batch=2;time=${at};msgid=${id} ${line}`),
			":server BATCH -2",
		);
	}
}

export function maskOf({ nick, user, host }: MadeUp): string {
	return `${nick}!${user}@${host}`;
}
