// Discord by hand: lines of a terminal are what a person writes, presses or changes there; what the bot shows is printed.
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import type { ChannelRecord, DiscordPeer, Person, Shown } from "./index.ts";

export const HELP = `Write a line, and Ada writes it in her private chat with the bot. Lines that begin with a colon do something else:
  :as <name>             somebody else writes from now on
  :dm                    in their private chat
  :channel <name>        in a channel of a server (name the bot there, as @keryx)
  :thread <name>         in a thread of that channel
  :slash <name> [text]   uses a slash command
  :file <path> [words]   sends a file
  :reply <id> <text>     :edit <id> <text>     :react <id> <emoji>     :delete <id>
  :press <id> <n>        presses the nth button of a message
  :lose | :pause <s>     loses the next answer of Discord, or asks for a pause
  :cut | :forget         breaks the connection; forgets the session too
  :help | :quit`;

export class Talk {
	readonly #peer: DiscordPeer;
	readonly #print: (line: string) => void;
	readonly #people = new Map<string, Person>();
	readonly #channels = new Map<string, ChannelRecord>();
	readonly #printed = new Map<string, string>();
	readonly #guild: ReturnType<DiscordPeer["guild"]>;
	#by: Person;
	#channel: ChannelRecord;

	constructor(peer: DiscordPeer, print: (line: string) => void) {
		this.#peer = peer;
		this.#print = print;
		this.#guild = peer.guild("Server");
		this.#by = this.#person("Ada");
		this.#channel = peer.dm(this.#by);
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
				return this.#go(peer.dm(this.#by));
			case "dm":
				return this.#go(peer.dm(this.#by));
			case "channel":
				return this.#go(this.#open(rest, () => peer.channel(this.#guild, rest)));
			case "thread": {
				const parent = this.#channel.parent ?? this.#channel;
				return this.#go(this.#open(`${parent.id}/${rest}`, () => peer.thread(parent, rest)));
			}
			case "slash": {
				const shown = await peer.command(this.#by, this.#channel, first, words || undefined);
				return this.#print(`  (shown: ${shown})`);
			}
			case "file":
				return this.#say(words, { files: [{ name: basename(first), bytes: readFileSync(first) }] });
			case "reply":
				return this.#say(words, { replyTo: first });
			case "edit":
				return peer.edit(this.#channel, first, words);
			case "react":
				return peer.react(this.#by, this.#channel, first, words);
			case "delete":
				return peer.remove(this.#channel, first);
			case "press": {
				const shown = peer.answers(this.#channel).find(({ id }) => id === first);
				const button = shown?.buttons.flat()[Number(words) - 1];
				if (!shown || !button) throw new Error("there is no such button");
				return this.#print(`  (shown: ${await peer.press(this.#by, this.#channel, shown.id, button.id)})`);
			}
			case "lose":
				return peer.next("lose_ack", /^POST \/channels/);
			case "pause":
				return peer.next({ retryAfter: Number(first) || 5 }, /^POST \/channels/);
			case "cut":
				return peer.gateway.disconnect();
			case "forget":
				return peer.gateway.invalidate(false);
			default:
				this.#print(HELP);
		}
	}

	#person(name: string): Person {
		const known = this.#people.get(name) ?? this.#peer.user(name);
		this.#people.set(name, known);
		return known;
	}

	#open(name: string, open: () => ChannelRecord): ChannelRecord {
		const known = this.#channels.get(name) ?? open();
		this.#channels.set(name, known);
		return known;
	}

	#go(channel: ChannelRecord): void {
		this.#channel = channel;
		this.#print(`  (${this.#by.name} is in ${channel.guild ? channel.name : "the private chat"})`);
	}

	#say(text: string, more: Parameters<DiscordPeer["say"]>[3] = {}): void {
		const { bot } = this.#peer;
		const named = text.replaceAll(/@keryx\b/gi, this.#peer.mention(bot));
		this.#print(`  (message ${this.#peer.say(this.#by, this.#channel, named, more)})`);
	}

	/** Messages of bots that are new, or look different. */
	#show(): void {
		for (const shown of this.#peer.answers(this.#channel)) {
			const line = lineOf(shown);
			if (this.#printed.get(shown.id) === line) continue;
			this.#print(`${this.#printed.has(shown.id) ? "~" : "<"} ${line}`);
			this.#printed.set(shown.id, line);
		}
	}
}

function lineOf({ id, by, text, files, buttons }: Shown): string {
	const named = files.map(({ name, bytes }) => ` [${name}, ${bytes.length} bytes]`);
	const pressable = buttons.flat().map(({ label }, n) => ` [${n + 1}: ${label}]`);
	return `${id} ${by}: ${text}${named.join("")}${pressable.join("")}`;
}
