// `keryx chat`: a conversation in this terminal or over a pipe, with the running Keryx, or one in this process.

import { createInterface } from "node:readline";
import type { Command } from "commander";
import { KeryxError } from "../../errors.ts";
import { systemClock } from "../../time/index.ts";
import { type ChatEvent, createChatTerminal, createPlainChat } from "../chat/index.ts";
import { type Connection, connect } from "../connect.ts";
import type { CliContext } from "../context.ts";
import { ConversationView, textOf } from "../conversation-view.ts";
import { completerOf } from "../io/completion.ts";
import { wantsColour } from "../io/output.ts";
import { OpenQuestions } from "../open-questions.ts";
import { Talk, type TalkFlags } from "../talk.ts";
import { texts } from "../texts.ts";

export function addChat(program: Command, context: CliContext): void {
	program
		.command("chat")
		.description(texts.chat.about)
		.option("--new", texts.chat.new)
		.option("--session <id>", texts.chat.session)
		.option("--join <conversation>", texts.chat.join)
		.addHelpText("after", EXAMPLES)
		.action(async (flags: TalkFlags) => {
			const connection = await connect(context, "run");
			try {
				await chat(context, connection, flags);
			} finally {
				await connection.close();
			}
		});
}

const EXAMPLES = texts.chat.help;

/** Runs until the person leaves or has to (`until`), or the input has ended and everything is answered. */
export async function chat(
	context: CliContext,
	connection: Connection,
	flags: TalkFlags,
	until?: AbortSignal,
): Promise<void> {
	const talk = await Talk.begin(connection, flags);
	if (process.stdin.isTTY === true && !context.json) await onTerminal(context, talk, until);
	else await overPipe(context, talk);
}

/** How much of the transcript is shown first, and how many of its messages the arrow keys reach. */
const SHOWN = 20;
const HISTORY = 100;
const HINT = texts.chat.keys;

async function onTerminal(context: CliContext, talk: Talk, until?: AbortSignal): Promise<void> {
	const leaving = new AbortController();
	until?.addEventListener("abort", () => leaving.abort(), { once: true });
	if (until?.aborted) return;
	const messages = await talk.history();
	const { commands } = await talk.client.commands();
	const said = messages.filter(({ role }) => role === "user").map(({ content }) => textOf(content));
	const terminal = createChatTerminal({
		input: process.stdin,
		output: process.stdout,
		colour: wantsColour(true, context.env),
		columns: () => process.stdout.columns ?? 80,
		rows: () => process.stdout.rows ?? 24,
		clock: systemClock,
		complete: completerOf(commands),
		history: said.slice(-HISTORY),
		onSubmit: (text) => void submit(text),
		onInterrupt: () => void interrupt(),
		onLeave: () => leaving.abort(),
	});
	const { show, setInput, status } = terminal;
	const view = new ConversationView(show);
	const questions = new OpenQuestions(talk.client, (words) => status(words ?? HINT));
	/** Open questions are read again after anything that may change them. */
	const readQuestions = (): void => {
		const id = talk.conversation?.id;
		if (id === undefined) return;
		questions.read(id).catch((error: unknown) => show({ kind: "notice", text: problemOf(error) }));
	};

	const submit = async (text: string): Promise<void> => {
		if (/^\/(quit|exit)\s*$/.test(text)) return leaving.abort();
		const undo = /^\/undo(?:\s+(\d+))?\s*$/.exec(text);
		try {
			const answered = await questions.answer(text);
			if (answered !== null) {
				show({ kind: "user", author: null, text, mine: true });
				show({ kind: "reply", text: answered });
			} else if (undo && talk.conversation) await takeBack(talk.conversation.id, Number(undo[1] ?? 1));
			else await say(text);
		} catch (error) {
			show({ kind: "notice", text: problemOf(error) });
			readQuestions();
			setInput(text);
		}
	};
	const say = async (text: string): Promise<void> => {
		const ended = view.sent(text);
		await talk.send(text).then(ended, (error: unknown) => {
			ended(null);
			throw error;
		});
	};
	/** Only here, because there is a box to put the text back into. */
	const takeBack = async (conversation: string, turns: number): Promise<void> => {
		show({ kind: "user", author: null, text: turns === 1 ? "/undo" : `/undo ${turns}`, mine: true });
		const undone = await talk.client.undo({ conversation, turns: Math.max(1, turns) });
		show({ kind: "reply", text: undoneSentence(undone) });
		if (undone.text !== null) setInput(undone.text);
	};
	const interrupt = async (): Promise<void> => {
		if (view.running === null || !talk.conversation) return;
		try {
			await talk.client.stop({ conversation: talk.conversation.id });
		} catch (error) {
			show({ kind: "notice", text: problemOf(error) });
		}
	};

	try {
		show(greeting(talk, messages.length));
		const model = await answeringModel(talk);
		if (model !== null) show({ kind: "notice", text: `${model} answers. /model chooses another.` });
		view.load(messages.slice(-SHOWN), !talk.isJoined);
		status(HINT);
		readQuestions();
		await talk.follow(view, leaving.signal, ({ type }) => {
			if (type.startsWith("confirmation.")) readQuestions();
		});
	} finally {
		terminal.close();
	}
}

function greeting({ conversation }: Talk, rows: number): ChatEvent {
	if (rows === 0 || !conversation) return { kind: "notice", text: texts.chat.running };
	const where = conversation.platform === "local" ? "" : ` (${conversation.name})`;
	return { kind: "boundary", text: texts.chat.sessionLine(conversation.live_session, where) };
}

/** By its name; null if the agent names none. */
async function answeringModel({ client, conversation }: Talk): Promise<string | null> {
	const chosen = conversation?.model_override;
	if (chosen?.model !== undefined) return [chosen.provider, chosen.model].filter(Boolean).join(":");
	const { profiles } = await client.profiles().catch((error: unknown) => {
		// The running Keryx may be older than this call.
		if (error instanceof KeryxError && error.code === "http.no_route") return { profiles: [] };
		throw error;
	});
	const { provider, model } = profiles.find(({ name }) => name === (conversation?.profile ?? "")) ?? {};
	return model ? [provider, model].filter(Boolean).join(":") : null;
}

function undoneSentence({ turns, rows }: { readonly turns: number; readonly rows: number }): string {
	if (turns === 0) return texts.chat.nothingToUndo;
	const what = turns === 1 ? texts.chat.lastExchange : texts.chat.lastExchanges(turns);
	const [was, it] = turns === 1 ? ["was", "it"] : ["were", "them"];
	return texts.chat.undone(what, rows, was, it);
}

/** Each line is a message. Ends when the input has ended and every message is settled. */
async function overPipe(context: CliContext, talk: Talk): Promise<void> {
	const plain = createPlainChat({ output: context.stdout, json: context.json });
	const view = new ConversationView(plain.show);
	const leaving = new AbortController();
	const following = talk.follow(view, leaving.signal);
	const accepted: number[] = [];
	for await (const line of createInterface({ input: process.stdin, terminal: false })) {
		if (line.trim() === "") continue;
		const ended = view.sent(line);
		const id = await talk.send(line);
		ended(id);
		accepted.push(id);
	}
	for (const id of accepted) await talk.ended(id);
	leaving.abort();
	await following;
	await talk.catchUp(view);
}

function problemOf(error: unknown): string {
	if (error instanceof KeryxError) return `${error.message}. ${error.hint}`;
	return texts.chat.unreachable(error instanceof Error ? error.message : String(error));
}
