// The program and what `--help` says about it. Only the command that is asked for is loaded, with all that it uses; of the others the
// list below says enough for the help.
import { Command, Help } from "commander";
import { version } from "../app/version.ts";
import { KERYX } from "../called.ts";
import type { CliContext } from "./context.ts";
import { readCount } from "./io/arguments.ts";
import { refuseUnknown } from "./io/group.ts";

/** Runs the command that these words, without the program's name, ask for. */
export async function runProgram(given: CliContext, words: readonly string[]): Promise<void> {
	const program = new Command("keryx");
	const context: CliContext = { ...given, timeoutMs: () => program.opts<GlobalFlags>().timeout };
	const listed = new Map<Command, string>();
	const isHelp = commandIn(words) === "help";
	const meant = isHelp ? words.filter((word) => word !== "help") : words;
	withGlobals(program)
		.description("The session gateway for AI agents.")
		.version(version())
		.configureHelp({
			showGlobalOptions: true,
			subcommandTerm: (command) => listed.get(command) ?? new Help().subcommandTerm(command),
		})
		.configureOutput({
			// Examples work as written where Keryx is called otherwise.
			writeOut: (text) => context.stdout.write(text.replaceAll("$ keryx", `$ ${KERYX}`)),
			outputError: () => {},
		})
		.helpCommand("help [command]", "show help for a command")
		.exitOverride()
		.addHelpText("after", EXAMPLES)
		.allowExcessArguments()
		.action(async (_options, command: Command) => {
			await refuseUnknown(command);
			const { runGateway } = await import("./commands/run.ts");
			return runGateway(context);
		});
	const asked = commandIn(meant);
	for (const { term, about, load } of COMMANDS) {
		const name = nameIn(term);
		if (name === asked) (await load())(program, context);
		else listed.set(program.command(name).description(about), term);
	}
	await program.parseAsync(isHelp ? helpOf(program, meant) : [...words], { from: "user" });
}

/** The words that print the help of this command; a word that names none is left to be refused. */
function helpOf(program: Command, words: readonly string[]): string[] {
	const path: string[] = [];
	let at = program;
	for (const word of words.filter((word) => !word.startsWith("-"))) {
		const child = at.commands.find((command) => command.name() === word);
		if (!child && at.commands.length > 0) return [...words];
		if (!child) break;
		path.push(word);
		at = child;
	}
	return [...path, "--help"];
}

/** With every command loaded, for what looks at all of them. */
async function wholeProgram(context: CliContext): Promise<Command> {
	const program = withGlobals(new Command("keryx"));
	for (const { load } of COMMANDS) (await load())(program, context);
	return program;
}

/** The options that every command takes. */
function withGlobals(program: Command): Command {
	return program
		.option("--json", "print JSON, errors too")
		.option("--timeout <seconds>", "give up when Keryx says nothing for so long (30)", readTimeout);
}

/** The first word that is no option, nor the value of one. */
function commandIn(words: readonly string[]): string | undefined {
	return words.find((word, at) => !word.startsWith("-") && words[at - 1] !== "--timeout");
}

function nameIn(term: string): string {
	return term.split(" ", 1)[0] as string;
}

export interface Listed {
	/** As the help shows it: its name, and what it takes. */
	readonly term: string;
	readonly about: string;
	/** What adds it to the program. */
	readonly load: () => Promise<(program: Command, context: CliContext) => void>;
}

/** In the order of the help. A test compares what is said here with what each command says of itself. */
export const COMMANDS: readonly Listed[] = [
	{
		term: "chat [options]",
		about: "talk to the agent in this terminal, or over a pipe",
		load: async () => (await import("./commands/chat.ts")).addChat,
	},
	{
		term: "send [options] <text...>",
		about: "send one message and print its answer",
		load: async () => (await import("./commands/send.ts")).addSend,
	},
	{
		term: "sessions",
		about: "list, read, search, export, import, resume, name, archive, delete",
		load: async () => (await import("./commands/sessions/index.ts")).addSessions,
	},
	{
		term: "status",
		about: "show whether Keryx is running, and how its channels are",
		load: async () => (await import("./commands/status.ts")).addStatus,
	},
	{
		term: "stop",
		about: "stop the Keryx that is running here",
		load: async () => (await import("./commands/stop.ts")).addStop,
	},
	{
		term: "channels",
		about: "connections to chat platforms",
		load: async () => (await import("./commands/channels.ts")).addChannels,
	},
	{
		term: "outbox [options]",
		about: "answers that wait, whose arrival is unknown, or that were given up",
		load: async () => (await import("./commands/outbox.ts")).addOutbox,
	},
	{
		term: "why <message>",
		about: "what became of a message, step by step",
		load: async () => (await import("./commands/why.ts")).addWhy,
	},
	{
		term: "ps [options]",
		about: "the processes that the agent started and that still run",
		load: async () => (await import("./commands/processes/ps.ts")).addPs,
	},
	{
		term: "logs [options] <id>",
		about: "what a process has printed",
		load: async () => (await import("./commands/processes/logs.ts")).addLogs,
	},
	{
		term: "attach [options] <id>",
		about: "use a process in this terminal, and leave it running",
		load: async () => (await import("./commands/processes/attach.ts")).addAttach,
	},
	{
		term: "kill [options] [id...]",
		about: "end processes, with everything they started",
		load: async () => (await import("./commands/processes/kill.ts")).addKill,
	},
	{
		term: "checkpoint [options] [label...]",
		about: "take a snapshot of the agent's files as they are now",
		load: async () => (await import("./commands/checkpoints/take.ts")).addTake,
	},
	{
		term: "checkpoints",
		about: "snapshots of the agent's files: list, compare, go back",
		load: async () => (await import("./commands/checkpoints/index.ts")).addCheckpoints,
	},
	{
		term: "confirm",
		about: "what waits for a human's yes: list, answer, audit",
		load: async () => (await import("./commands/confirm/index.ts")).addConfirm,
	},
	{
		term: "confirmd [options]",
		about: "run confirmations alone, for agents of other programs",
		load: async () => (await import("./commands/confirmd/index.ts")).addConfirmd,
	},
	{
		term: "token",
		about: "tokens for programs and people that use the API",
		load: async () => (await import("./commands/token.ts")).addToken,
	},
	{
		term: "pair",
		about: "let people in who have asked for it in a chat",
		load: async () => (await import("./commands/pair.ts")).addPair,
	},
	{
		term: "link [platform:id] [platform:id]",
		about: "log a browser in; or say that two ids of platforms are one person",
		load: async () => (await import("./commands/link.ts")).addLink,
	},
	{
		term: "explain [options] <source.json>",
		about: "which conversation a message belongs to, which policy holds, and what it would do",
		load: async () => (await import("./commands/explain/explain.ts")).addExplain,
	},
	{
		term: "doctor [options]",
		about: "find out what is wrong, and what to do",
		load: async () => (await import("./commands/doctor/index.ts")).addDoctor,
	},
	{
		term: "setup [options]",
		about: "connect a model: asks, tries it, and writes config.yaml",
		load: async () => (await import("./commands/setup.ts")).addSetup,
	},
	{
		term: "config",
		about: "check, show and change the configuration",
		load: async () => (await import("./commands/config.ts")).addConfig,
	},
	{
		term: "completion <shell>",
		about: "print a script that completes commands in your shell",
		load: async () => {
			const { addCompletion } = await import("./commands/completion/index.ts");
			return (program, context) => addCompletion(program, context, () => wholeProgram(context));
		},
	},
];

interface GlobalFlags {
	/** Milliseconds. */
	readonly timeout?: number;
}

const LONGEST_TIMEOUT = 86_400;

function readTimeout(text: string): number {
	return readCount("--timeout", text, [1, LONGEST_TIMEOUT]) * 1000;
}

const EXAMPLES = `
Examples:
  $ keryx                              run Keryx; on a terminal, talk to it
  $ echo hello | keryx chat            one message over a pipe
  $ keryx send "what is new?"          one message, and its answer
  $ keryx sessions list                what was talked about, newest first
  $ keryx sessions search tulips       find what was said
  $ keryx outbox                       answers that have not arrived
  $ keryx why 12                       what became of message 12
  $ keryx ps                           the programs that the agent started
  $ keryx attach 4f2a                  use one of them in this terminal
  $ keryx checkpoints list             snapshots of its files, to go back to
  $ keryx confirm list                 what waits for your yes
  $ keryx token create ci --role agent a token for a program
  $ keryx doctor                       find out what is wrong, and what to do
  $ keryx explain message.json         which conversation a message belongs to, and why
  $ keryx config check                 find every mistake in the configuration
  $ keryx config show --json           the values in force and where each came from

Exit codes: 0 done, 1 failure, 2 wrong usage or bad input. More: docs/reference/cli.md`;
