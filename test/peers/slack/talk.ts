// Slack by hand: lines of a terminal are what a person writes, presses or changes there; what the app shows is printed.
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import type { ChannelRecord, Person, Shown, SlackPeer } from "./index.ts";

export const HELP = `Write a line, and Ada writes it to the app. Lines that begin with a colon do something else:
  :as <name>             somebody else writes from now on
  :dm                    to the app alone
  :channel <name>        in a channel (name the app there, as @keryx)
  :thread <id>           in the thread of a message; :out leaves it
  :file <path> [words]   sends a file
  :edit <id> <text>      :delete <id>      :react <id> <emoji's name>
  :press <id> <n>        presses the nth button of a message
  :keryx <command>       uses the slash command /keryx
  :kick | :invite        takes the app out of the channel, or lets it in again
  :lose | :pause <s>     loses the next answer of Slack, or asks for a pause
  :help | :quit`;

export class Talk {
	readonly #peer: SlackPeer;
	readonly #print: (line: string) => void;
	readonly #people = new Map<string, Person>();
	readonly #dms = new Map<string, ChannelRecord>();
	readonly #channels = new Map<string, ChannelRecord>();
	readonly #printed = new Map<string, string>();
	#by: Person;
	#chat: ChannelRecord;
	#thread: string | undefined;

	constructor(peer: SlackPeer, print: (line: string) => void) {
		this.#peer = peer;
		this.#print = print;
		this.#by = this.#person("Ada");
		this.#chat = this.#dm();
		peer.onChange(() => this.#show());
	}

	get person(): Person {
		return this.#by;
	}

	/** Does what a line says; answers false when it was the last one. */
	async line(line: string): Promise<boolean> {
		const [, name, rest = ""] = /^:(\w+)\s*(.*)$/s.exec(line) ?? [];
		try {
			if (name === undefined) {
				if (line.trim() !== "") this.#say(line);
			} else if (name === "quit") return false;
			else await this.#carryOut(name, rest);
		} catch (error) {
			this.#print(`! ${error instanceof Error ? error.message : String(error)}`);
		}
		return true;
	}

	async #carryOut(name: string, rest: string): Promise<void> {
		const peer = this.#peer;
		const [first = "", ...others] = rest.split(" ");
		const words = others.join(" ");
		switch (name) {
			case "as":
				this.#by = this.#person(rest);
				return this.#go(this.#dm());
			case "dm":
				return this.#go(this.#dm());
			case "channel":
				return this.#go(kept(this.#channels, rest, () => peer.channel(rest)));
			case "thread":
				return this.#go(this.#chat, first);
			case "out":
				return this.#go(this.#chat);
			case "file":
				return this.#say(words, [{ name: basename(first), bytes: readFileSync(first) }]);
			case "edit":
				return peer.edit(this.#chat, first, words);
			case "delete":
				return peer.remove(this.#chat, first);
			case "react":
				return peer.react(this.#by, this.#chat, first, words);
			case "press": {
				const shown = peer.answers(this.#chat).find(({ ts }) => ts === first);
				const button = shown?.buttons[Number(words) - 1];
				if (!shown || !button) throw new Error("there is no such button");
				return this.#print(`  (shown: ${await peer.press(this.#by, this.#chat, shown.ts, button.id)})`);
			}
			case "keryx":
				peer.command(this.#by, this.#chat, "/keryx", rest);
				return;
			case "kick":
				return peer.kick(this.#chat);
			case "invite":
				return peer.invite(this.#chat);
			case "lose":
				return peer.next("lose_ack", "chat.postMessage");
			case "pause":
				return peer.next({ retryAfter: Number(first) || 5 }, "chat.postMessage");
			default:
				this.#print(HELP);
		}
	}

	#say(text: string, files?: readonly { readonly name: string; readonly bytes: Buffer }[]): void {
		const written = text.replace(/@keryx\b/gi, this.#peer.mention);
		const ts = this.#peer.say(this.#by, this.#chat, written, {
			...(this.#thread !== undefined && { thread: this.#thread }),
			...(files && { files }),
		});
		this.#print(`  (message ${ts})`);
	}

	#person(name: string): Person {
		return kept(this.#people, name, () => this.#peer.user(name));
	}

	#dm(): ChannelRecord {
		return kept(this.#dms, this.#by.id, () => this.#peer.dm(this.#by));
	}

	#go(chat: ChannelRecord, thread?: string): void {
		this.#chat = chat;
		this.#thread = thread;
		chat.members.add(this.#by.id);
		const where = chat.kind === "im" ? "the direct messages" : `#${chat.name}`;
		this.#print(`  (${this.#by.name} is in ${where}${thread === undefined ? "" : `, thread ${thread}`})`);
	}

	/** Messages of the app that are new, or look different. */
	#show(): void {
		for (const shown of this.#peer.answers(this.#chat)) {
			const key = `${this.#chat.id}/${shown.ts}`;
			const line = lineOf(shown);
			if (this.#printed.get(key) === line) continue;
			this.#print(`${this.#printed.has(key) ? "~" : "<"} ${line}`);
			this.#printed.set(key, line);
		}
	}
}

function kept<Item>(items: Map<string, Item>, name: string, make: () => Item): Item {
	const item = items.get(name) ?? make();
	items.set(name, item);
	return item;
}

function lineOf({ ts, by, text, files, buttons }: Shown): string {
	const named = files.map(({ name, bytes }) => ` [${name}, ${bytes.length} bytes]`);
	const pressable = buttons.map(({ label }, n) => ` [${n + 1}: ${label}]`);
	return `${ts} ${by}: ${text}${named.join("")}${pressable.join("")}`;
}
