// Telegram by hand: lines of a terminal are what a person writes, presses or changes there; what the bot shows is printed.
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import type { User } from "grammy/types";
import type { ChatRecord, Shown, TelegramPeer } from "./index.ts";

export const HELP = `Write a line, and Ada writes it in her private chat with the bot. Lines that begin with a colon do something else:
  :as <name>             somebody else writes from now on
  :dm                    in their private chat
  :group <title>         in a group (name the bot there, as @keryx_bot)
  :forum <title>         in a forum; :topic <name> opens a topic of it and goes there, :general leaves it
  :file <path> [words]   sends a file
  :reply <id> <text>     :edit <id> <text>     :react <id> <emoji>
  :press <id> <n>        presses the nth button of a message
  :block                 blocks the bot; :unblock lets it in again
  :lose | :pause <s>     loses the next answer of Telegram, or asks for a pause
  :help | :quit`;

export class Talk {
	readonly #peer: TelegramPeer;
	readonly #print: (line: string) => void;
	readonly #people = new Map<string, User>();
	readonly #groups = new Map<string, ChatRecord>();
	readonly #printed = new Map<string, string>();
	#by: User;
	#chat: ChatRecord;
	#thread: number | undefined;

	constructor(peer: TelegramPeer, print: (line: string) => void) {
		this.#peer = peer;
		this.#print = print;
		this.#by = this.#person("Ada");
		this.#chat = peer.dm(this.#by);
		peer.onChange(() => this.#show());
	}

	get person(): User {
		return this.#by;
	}

	/** Does what a line says; answers false when it was the last one. */
	async line(line: string): Promise<boolean> {
		const [, name, rest = ""] = /^:(\w+)\s*(.*)$/s.exec(line) ?? [];
		try {
			if (name === undefined) {
				if (line.trim() !== "") this.#said(this.#peer.say(this.#by, this.#chat, line, this.#in()));
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
				return this.#go(peer.dm(this.#by));
			case "dm":
				return this.#go(peer.dm(this.#by));
			case "group":
				return this.#go(this.#group(rest, () => peer.supergroup(rest)));
			case "forum":
				return this.#go(this.#group(rest, () => peer.forum(rest)));
			case "topic":
				return this.#go(this.#chat, peer.topic(this.#chat, rest, this.#by));
			case "general":
				return this.#go(this.#chat);
			case "file": {
				const file = { kind: "document" as const, name: basename(first), bytes: readFileSync(first) };
				return this.#said(peer.say(this.#by, this.#chat, words, { ...this.#in(), file }));
			}
			case "reply":
				return this.#said(peer.say(this.#by, this.#chat, words, { ...this.#in(), replyTo: Number(first) }));
			case "edit":
				return peer.edit(this.#chat, Number(first), words);
			case "react":
				return peer.react(this.#by, this.#chat, Number(first), words);
			case "press": {
				const shown = peer.answers(this.#chat).find(({ id }) => id === Number(first));
				const button = shown?.buttons.flat()[Number(words) - 1];
				if (!shown || !button) throw new Error("there is no such button");
				return this.#print(`  (shown: ${await peer.press(this.#by, this.#chat, shown.id, button.id)})`);
			}
			case "block":
				return peer.remove(this.#chat, this.#by);
			case "unblock":
				return peer.restore(this.#chat, this.#by);
			case "lose":
				return peer.next("lose_ack", "sendMessage");
			case "pause":
				return peer.next({ retryAfter: Number(first) || 5 }, "sendMessage");
			default:
				this.#print(HELP);
		}
	}

	#person(name: string): User {
		const known = this.#people.get(name) ?? this.#peer.user(name);
		this.#people.set(name, known);
		return known;
	}

	#group(title: string, open: () => ChatRecord): ChatRecord {
		const known = this.#groups.get(title) ?? open();
		this.#groups.set(title, known);
		return known;
	}

	#go(chat: ChatRecord, thread?: number): void {
		this.#chat = chat;
		this.#thread = thread;
		const title = "title" in chat.chat ? chat.chat.title : "the private chat";
		this.#print(
			`  (${this.#by.first_name} is in ${title}${thread === undefined ? "" : `, topic ${thread}`})`,
		);
	}

	#in(): { readonly thread?: number } {
		return this.#thread === undefined ? {} : { thread: this.#thread };
	}

	#said(id: number): void {
		this.#print(`  (message ${id})`);
	}

	/** Messages of bots that are new, or look different. */
	#show(): void {
		for (const shown of this.#peer.answers(this.#chat)) {
			const key = `${this.#chat.key}/${shown.id}`;
			const line = lineOf(shown);
			if (this.#printed.get(key) === line) continue;
			this.#print(`${this.#printed.has(key) ? "~" : "<"} ${line}`);
			this.#printed.set(key, line);
		}
	}
}

function lineOf({ id, by, text, file, buttons }: Shown): string {
	const named = file ? ` [${file.kind} ${file.name}, ${file.bytes.length} bytes]` : "";
	const pressable = buttons.flat().map(({ label }, n) => ` [${n + 1}: ${label}]`);
	return `${id} ${by}: ${text}${named}${pressable.join("")}`;
}
