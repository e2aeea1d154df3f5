// The terminal as a channel: a line in is a message, a delivery out is text on the screen. Platform local, chat cli.
import { createInterface, type Interface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import type { Channel, ChannelHost, GatewayClock, Outgoing, SendResult } from "../../gateway/index.ts";

export interface LocalChannelOptions {
	readonly input: Readable;
	readonly output: Writable;
	readonly clock: GatewayClock;
	readonly user: { readonly id: string; readonly name: string };
	/** A client message id for each line. */
	readonly nextId: () => string;
	/** Shown before each line on a terminal; "" when piped. */
	readonly prompt: string;
	/** The input has ended; the ids that were accepted. */
	readonly onEnd: (accepted: readonly number[]) => void;
	readonly onInterrupt: () => void;
	/** A line could not be taken. */
	readonly onError: (error: unknown) => void;
}

export function createLocalChannel(options: LocalChannelOptions): Channel {
	const { input, output, clock } = options;
	let lines: Interface | undefined;
	let sent = 0;
	let taking: Promise<void> = Promise.resolve();
	const accepted: number[] = [];

	const take = async (host: ChannelHost, text: string): Promise<void> => {
		try {
			const admission = await host.accept({
				source: {
					platform: "local",
					chat_id: "cli",
					chat_type: "dm",
					user_id: options.user.id,
					user_name: options.user.name,
				},
				platformMessage: options.nextId(),
				content: text,
			});
			accepted.push(admission.id);
		} catch (error) {
			options.onError(error);
		}
	};

	return {
		platform: "local",
		account: "",
		start: (host) => {
			lines = createInterface({ input, output, prompt: options.prompt, terminal: options.prompt !== "" });
			lines.on("line", (line) => {
				// One after the other, so that lines are accepted in the order they were written.
				if (line.trim() !== "") taking = taking.then(() => take(host, line));
				else lines?.prompt();
			});
			lines.on("SIGINT", () => options.onInterrupt());
			lines.on("close", () => {
				void taking.then(() => options.onEnd(accepted));
			});
			if (options.prompt !== "") lines.prompt();
			return Promise.resolve();
		},
		stop: async () => {
			lines?.removeAllListeners("close");
			lines?.close();
			await taking;
		},
		send: ({ body }: Outgoing): Promise<SendResult> =>
			new Promise((resolve) => {
				const text = options.prompt === "" ? `${body.plain}\n` : `\r\x1b[K${body.plain}\n\n`;
				output.write(text, (error) => {
					if (error) return resolve({ kind: "refused", reason: error.message });
					if (options.prompt !== "") lines?.prompt(true);
					resolve({ kind: "sent", receipt: String(++sent) });
				});
			}),
		health: () => ({ state: lines ? "connected" : "starting", aliveAt: clock.now() }),
	};
}
