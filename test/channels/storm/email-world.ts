// The outside of the gateway in a storm of mails: people who write alone and in groups, lines that are cut, and what kills the gateway. The
// server keeps every mail, so nothing may be lost and nothing may be answered twice.
import { createFaultProxy, type FaultProxy } from "../../../src/testing/fault-proxy.ts";
import { PASSWORD } from "../../support/dovecot.ts";
import { AUTHSERV, type PostOffice } from "../../support/post-office.ts";
import type { Orders, Report } from "./scene.ts";
import { type Reader, ServerWorld, type ServerWorldOptions } from "./server-world.ts";
import type { Said } from "./verdict.ts";

/** So many mails may be on their way before people write on. */
const UNTAKEN = 20;
const BOT = "keryx@keryx.test";

interface EmailWorldOptions extends ServerWorldOptions {
	readonly office: PostOffice;
}

interface Thread {
	/** As the gateway names its chat. */
	readonly chat: string;
	readonly person: string;
	readonly others: readonly string[];
	/** Its first mail. */
	root?: string;
}

interface SaidMail {
	readonly thread: Thread;
	readonly text: string;
	readonly kind: "words" | "command";
	isTaken: boolean;
}

export class EmailWorld extends ServerWorld<EmailWorldOptions> {
	readonly #threads: readonly Thread[];
	readonly #said = new Map<string, SaidMail>();
	readonly #imap: FaultProxy;
	/** The gateway has set its mark in the mailbox: what comes from now on is for it. */
	#isBegun = false;

	private constructor(options: EmailWorldOptions, imap: FaultProxy) {
		super(options);
		this.#imap = imap;
		this.#threads = Array.from({ length: options.chats }, (_, n) => {
			const person = `ada${n}@home.test`;
			const isShared = n % 3 === 2;
			return { chat: isShared ? BOT : person, person, others: isShared ? [`bob${n}@work.test`] : [] };
		});
	}

	static async create(options: EmailWorldOptions): Promise<EmailWorld> {
		const { dovecot } = options.office;
		return new EmailWorld(options, await createFaultProxy(`http://127.0.0.1:${dovecot.port}`));
	}

	get isTaken(): boolean {
		return this.#said.size >= this.options.messages && this.#untaken() === 0;
	}

	async close(): Promise<void> {
		await this.#imap.close();
	}

	protected ordersOf(common: Pick<Orders, "path" | "dangers">): Orders {
		return {
			...common,
			platform: "email",
			apiRoot: "http://127.0.0.1",
			token: PASSWORD,
			owner: "nobody@home.test",
			members: this.#threads.flatMap(({ person, others }) => [person, ...others]),
			seen: this.seen,
			email: {
				imap: this.#imap.port,
				smtp: this.options.office.proxy.port,
				address: BOT,
				authservId: AUTHSERV,
			},
		};
	}

	protected said(): readonly Said[] {
		return [...this.#said].map(([id, { thread, kind, text }]) => ({ chat: thread.chat, id, kind, text }));
	}

	/** Everybody in a thread gets its mails. */
	protected async readers(): Promise<readonly Reader[]> {
		return this.#threads.flatMap(({ chat, root, person, others }) =>
			[person, ...others].map(
				(name): Reader => ({
					name,
					texts: this.options.office.to(name).map(({ mail }) => (mail.text ?? "").trim()),
					sees: ({ chatId, threadId }) => chatId === chat && threadId === root,
				}),
			),
		);
	}

	protected stateOf(): string {
		const { seen } = this.options.office;
		return `${this.#said.size} said, ${this.#untaken()} of them not taken, ${seen.length} mails sent`;
	}

	protected write(): void {
		const { messages, random, office } = this.options;
		while (this.#isBegun && this.#said.size < messages && this.#untaken() < UNTAKEN) {
			this.#say(this.pick(this.#threads));
			if (this.isCalm) continue;
			const draw = random();
			if (draw < 0.02) this.#imap.cut();
			else if (draw < 0.04) office.proxy.cut();
			if (draw < 0.04) this.counts.cuts++;
		}
	}

	protected onTaken({ message }: Extract<Report, { say: "taken" }>): boolean {
		const said = this.#said.get(message);
		if (!said || said.isTaken) return false;
		said.isTaken = true;
		return true;
	}

	protected override onReport({ say }: Report): void {
		if (say === "connected") this.#isBegun = true;
	}

	#untaken(): number {
		return [...this.#said.values()].filter(({ isTaken }) => !isTaken).length;
	}

	#say(thread: Thread): void {
		const number = this.#said.size + 1;
		const words = this.wordsOf(number);
		const id = `m${number}@mail.test`;
		const { person, others, root } = thread;
		thread.root ??= id;
		this.#said.set(id, { thread, ...words, isTaken: false });
		void this.options.office.write({
			from: person,
			to: BOT,
			cc: others,
			text: words.text,
			id,
			...(root !== undefined && { references: [root] }),
		});
	}
}
