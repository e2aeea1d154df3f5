// The outside of the gateway in a storm of mails: people who write alone and in groups, lines that are cut, and what kills the gateway. The
// server keeps every mail, so nothing may be lost and nothing may be answered twice.
import type { Delivery, Store } from "../../../src/store/index.ts";
import { createFaultProxy, type FaultProxy } from "../../../src/testing/fault-proxy.ts";
import { type Child, lines, type Workbench } from "../../crash/support.ts";
import { PASSWORD } from "../../support/dovecot.ts";
import { AUTHSERV, type PostOffice } from "../../support/post-office.ts";
import { Progress } from "./progress.ts";
import { type Orders, type Report, TOLD } from "./scene.ts";
import type { Judged } from "./verdict.ts";

/** So many mails may be on their way before people write on. */
const UNTAKEN = 20;
const BOT = "keryx@keryx.test";

export interface EmailWorldOptions {
	readonly bench: Workbench;
	readonly random: () => number;
	readonly messages: number;
	readonly chats: number;
	readonly office: PostOffice;
}

interface Place {
	/** As the gateway names it. */
	readonly chat: string;
	readonly person: string;
	readonly others: readonly string[];
	/** The first mail of its thread. */
	root?: string;
}

interface SaidMail {
	readonly place: Place;
	readonly text: string;
	readonly kind: "words" | "command";
	isTaken: boolean;
}

export class EmailWorld {
	readonly counts = { kills: 0, cuts: 0, duplicates: 0 };
	readonly logs: string[] = [];
	readonly path: string;
	readonly #options: EmailWorldOptions;
	readonly #places: readonly Place[];
	readonly #said = new Map<string, SaidMail>();
	readonly #imap: FaultProxy;
	#calm = false;
	/** The gateway has set its mark in the mailbox: what comes from now on is for it. */
	#isBegun = false;
	#seen = "";
	#look: () => void = () => {};
	readonly #progress = new Progress(
		() =>
			`${this.#said.size} said, ${this.#untaken()} of them not taken, ${this.#options.office.seen.length} mails sent`,
	);

	private constructor(options: EmailWorldOptions, imap: FaultProxy) {
		this.#options = options;
		this.#imap = imap;
		this.path = options.bench.file("storm.db");
		this.#places = Array.from({ length: options.chats }, (_, n) => {
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
		return this.#said.size >= this.#options.messages && this.#untaken() === 0;
	}

	calm(): void {
		this.#calm = true;
	}

	/** One life of the gateway: killed after so many mails, or left to work everything off. */
	async live(mails: number | null): Promise<"killed" | "drained"> {
		const { bench, office } = this.#options;
		const orders: Orders = {
			platform: "email",
			path: this.path,
			apiRoot: "http://127.0.0.1",
			token: PASSWORD,
			owner: "nobody@home.test",
			members: this.#places.flatMap(({ person, others }) => [person, ...others]),
			dangers: bench.file("dangers"),
			seen: this.#seen,
			email: { imap: this.#imap.port, smtp: office.proxy.port, address: BOT, authservId: AUTHSERV },
		};
		const child = bench.start("../channels/storm/child.ts", [JSON.stringify(orders)]);
		let left = mails ?? Number.POSITIVE_INFINITY;
		let isTold = false;
		let stuck: string | undefined;
		const unwatch = this.#progress.watch((reason) => {
			stuck = reason;
			child.kill("SIGKILL");
		});
		this.#look = () => {
			this.#write();
			if (left <= 0 || (mails !== null && this.isTaken)) child.kill("SIGKILL");
			if (isTold || mails !== null || !this.isTaken) return;
			isTold = true;
			child.stdin.write(`${TOLD.drain}\n`);
		};
		const { isDrained, signal, code } = await this.#listen(child, () => left--);
		this.#look = () => {};
		unwatch();
		if (stuck !== undefined) throw new Error(stuck);
		if (isDrained) return "drained";
		if (signal !== "SIGKILL") throw new Error(`the gateway ended with ${signal ?? code}`);
		this.counts.kills++;
		return "killed";
	}

	judged(): Judged {
		return {
			said: [...this.#said].map(([id, { place, kind, text }]) => ({ chat: place.chat, id, kind, text })),
			// A reader of mails sees no receipts: `shown` judges what they see.
			places: [],
			done: [],
			chatPart: 4,
			shows: ({ plain }) => plain,
		};
	}

	/** I7, I19: each mail that was sent is seen once and in order, by everybody in its thread; what else is seen is of unknown outcome. */
	async shown(store: Store): Promise<{ readonly problems: readonly string[]; readonly seen: number }> {
		const problems: string[] = [];
		const deliveries = await deliveriesOf(store);
		let seen = 0;
		for (const { chat, root, person, others } of this.#places)
			for (const reader of [person, ...others]) {
				const texts = this.#options.office
					.to(reader)
					.map(({ mail }) => (mail.text ?? "").trim())
					.filter((text) => /message \d+/.test(text));
				seen += texts.length;
				const of = deliveries.filter(
					({ destination, body }) =>
						destination.chatId === chat && destination.threadId === root && /message \d+/.test(body.plain),
				);
				const sent = of.filter(({ state }) => state === "sent").map(({ body }) => body.plain);
				const open = of.filter(({ state }) => state === "unknown").map(({ body }) => body.plain);
				for (const { id, state, reason } of of)
					if (state !== "sent" && state !== "unknown")
						problems.push(`I7: delivery ${id} is ${state} (${reason})`);
				const certain = texts.filter((text) => !open.includes(text));
				if (JSON.stringify(certain) !== JSON.stringify(sent))
					problems.push(`I19: ${reader} got ${certain.join(" | ")}, not ${sent.join(" | ")}`);
				if (new Set(texts).size !== texts.length) problems.push(`${reader} got something twice`);
			}
		return { problems, seen };
	}

	async close(): Promise<void> {
		await this.#imap.close();
	}

	#untaken(): number {
		return [...this.#said.values()].filter(({ isTaken }) => !isTaken).length;
	}

	#write(): void {
		const { messages, random, office } = this.#options;
		while (this.#isBegun && this.#said.size < messages && this.#untaken() < UNTAKEN) {
			this.#say(this.#places[Math.floor(random() * this.#places.length)] as Place);
			if (this.#calm) continue;
			const draw = random();
			if (draw < 0.02) this.#imap.cut();
			else if (draw < 0.04) office.proxy.cut();
			if (draw < 0.04) this.counts.cuts++;
		}
	}

	#say(place: Place): void {
		const { office, random } = this.#options;
		const number = this.#said.size + 1;
		const part = random();
		const kind = part < 0.1 ? "command" : "words";
		const text =
			kind === "command" ? `/status message ${number}` : `${part < 0.4 ? "slow " : ""}message ${number}`;
		const id = `m${number}@mail.test`;
		const { person, others, root } = place;
		place.root ??= id;
		this.#said.set(id, { place, text, kind, isTaken: false });
		void office.write({
			from: person,
			to: BOT,
			cc: others,
			text,
			id,
			...(root !== undefined && { references: [root] }),
		});
	}

	#listen(
		child: Child,
		onTaken: () => void,
	): Promise<{ isDrained: boolean; code: number | null; signal: string | null }> {
		const closed = new Promise<{ code: number | null; signal: string | null }>((resolve) =>
			child.once("close", (code, signal) => resolve({ code, signal })),
		);
		const read = async () => {
			let isDrained = false;
			for await (const line of lines(child)) {
				const report = JSON.parse(line) as Report;
				if (report.say === "duplicate") this.counts.duplicates++;
				if (report.say === "quiet") child.stdin.write(`${TOLD.end}\n`);
				if (report.say === "drained") isDrained = true;
				if (report.say === "log") this.logs.push(report.message);
				if (report.say === "seen") this.#seen = report.cursor;
				if (report.say === "connected") this.#isBegun = true;
				if (report.say === "taken") {
					const said = this.#said.get(report.message);
					if (said && !said.isTaken) onTaken();
					if (said) said.isTaken = true;
				}
				this.#look();
			}
			return { isDrained, ...(await closed) };
		};
		return read();
	}
}

/** Of every turn, in the order in which they were made. */
async function deliveriesOf(store: Store): Promise<readonly Delivery[]> {
	const scope = { kind: "operator" } as const;
	const found: Delivery[] = [];
	for (let cursor = ""; ; ) {
		const page = await store.events({ scope, after: cursor, limit: 1000 });
		if (page.kind === "resync") throw new Error("events are missing");
		if (page.events.length === 0) return found.toSorted((a, b) => a.n - b.n);
		cursor = page.cursor;
		for (const { type, turn } of page.events)
			if (type === "turn.begun") found.push(...(await store.turn({ scope, id: turn as string })).deliveries);
	}
}
