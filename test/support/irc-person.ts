// A person on IRC, with a client that shows every line.
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { folded, type Message, parseLine } from "../../src/channels/irc/wire.ts";
import { until } from "./until.ts";

export interface PersonOptions {
	readonly port: number;
	readonly nick: string;
	readonly user?: string;
	readonly password?: string;
	readonly ca?: string;
	/** Sent instead of the usual first lines. */
	readonly begin?: readonly string[];
}

export class IrcPerson {
	readonly nick: string;
	readonly heard: Message[] = [];
	/** Called with each line before it is in `heard`. */
	onMessage: (message: Message) => void = () => {};
	readonly #socket: Socket;
	#rest = "";
	#pings = 0;
	isGone = false;

	private constructor({ port, nick, ca }: PersonOptions) {
		this.nick = nick;
		this.#socket =
			ca === undefined ? connect(port, "127.0.0.1") : connectTls({ port, host: "127.0.0.1", ca });
		this.#socket.setEncoding("utf8").setNoDelay();
		this.#socket.on("data", (text) => this.#read(String(text)));
		this.#socket.on("error", () => {});
		this.#socket.on("close", () => {
			this.isGone = true;
		});
	}

	static async connect(options: PersonOptions): Promise<IrcPerson> {
		const { nick, user = nick, password, begin = [] } = options;
		const person = new IrcPerson(options);
		if (password !== undefined) person.write(`PASS :${password}`);
		person.write(...begin, `NICK ${nick}`, `USER ${user} 0 * :${nick}`);
		await person.until(() => person.heard.some(({ command }) => command === "376" || command === "422"));
		return person;
	}

	write(...lines: readonly string[]): void {
		for (const line of lines) this.#socket.write(`${line}\r\n`);
	}

	say(target: string, text: string): void {
		this.write(`PRIVMSG ${target} :${text}`);
	}

	async join(channel: string): Promise<void> {
		this.write(`JOIN ${channel}`);
		await this.until(() =>
			this.heard.some(({ command, params }) => command === "366" && params[1] === channel),
		);
	}

	/** Waits until everything the server had for them has arrived. */
	async sync(): Promise<void> {
		const token = `sync-${++this.#pings}`;
		this.write(`PING :${token}`);
		await this.until(() =>
			this.heard.some(({ command, params }) => command === "PONG" && params.at(-1) === token),
		);
	}

	async until(condition: () => boolean): Promise<void> {
		await until(() => {
			if (condition()) return true;
			if (this.isGone) throw new Error(`${this.nick} was disconnected: ${JSON.stringify(this.heard.at(-1))}`);
			return false;
		});
	}

	/** Messages to a channel, or to them. */
	lines(from: string, target: string = this.nick): string[] {
		return this.heard
			.filter(
				({ command, nick, params }) =>
					command === "PRIVMSG" && nick === from && folded(params[0] ?? "") === folded(target),
			)
			.map(({ params }) => params[1] ?? "");
	}

	leave(): void {
		this.#socket.destroy();
	}

	#read(text: string): void {
		const lines = (this.#rest + text).split("\r\n");
		this.#rest = lines.pop() ?? "";
		for (const line of lines) {
			const message = parseLine(line);
			if (!message) continue;
			if (message.command === "PING") this.write(`PONG :${message.params.at(-1)}`);
			this.onMessage(message);
			this.heard.push(message);
		}
	}
}
