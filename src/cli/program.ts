// The program and its `--help`. Only the requested command is loaded; for the others the list below is enough.
import { Command, Help } from "commander";
import { version, versionWithCommit } from "../app/version.ts";
import { KERYX } from "../called.ts";
import type { CliContext } from "./context.ts";
import { readCount } from "./io/arguments.ts";
import { refuseUnknown } from "./io/group.ts";
import { texts } from "./texts.ts";

/** Runs the command that these words, without the program's name, ask for. */
export async function runProgram(given: CliContext, words: readonly string[]): Promise<void> {
	const program = new Command("keryx");
	const context: CliContext = { ...given, timeoutMs: () => program.opts<GlobalFlags>().timeout };
	const listed = new Map<Command, string>();
	const isHelp = commandIn(words) === "help";
	const meant = isHelp ? words.filter((word) => word !== "help") : words;
	withGlobals(program)
		.description(texts.program.about)
		// Only --version waits for the commit lookup.
		.version(words.some((word) => word === "--version" || word === "-V") ? versionWithCommit() : version())
		.configureHelp({
			showGlobalOptions: true,
			subcommandTerm: (command) => listed.get(command) ?? new Help().subcommandTerm(command),
		})
		.configureOutput({
			// Examples work as written, however Keryx is called.
			writeOut: (text) => context.stdout.write(text.replaceAll("$ keryx", `$ ${KERYX}`)),
			outputError: () => {},
		})
		.helpCommand("help [command]", texts.program.help)
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
		.option("--json", texts.program.json)
		.option("--timeout <seconds>", texts.program.timeout, readTimeout);
}

/** The first word that is neither an option nor an option's value. */
function commandIn(words: readonly string[]): string | undefined {
	return words.find((word, at) => !word.startsWith("-") && words[at - 1] !== "--timeout");
}

function nameIn(term: string): string {
	return term.split(" ", 1)[0] as string;
}

export interface Listed {
	/** As shown in the help: its name and arguments. */
	readonly term: string;
	readonly about: string;
	/** Adds it to the program. */
	readonly load: () => Promise<(program: Command, context: CliContext) => void>;
}

/** In help order. A test compares this with each command's own description. */
export const COMMANDS: readonly Listed[] = [
	{
		term: "chat [options]",
		about: texts.chat.about,
		load: async () => (await import("./commands/chat.ts")).addChat,
	},
	{
		term: "send [options] <text...>",
		about: texts.send.about,
		load: async () => (await import("./commands/send.ts")).addSend,
	},
	{
		term: "sessions",
		about: texts.sessions.about,
		load: async () => (await import("./commands/sessions/index.ts")).addSessions,
	},
	{
		term: "mcp",
		about: texts.mcp.about,
		load: async () => (await import("./commands/mcp/index.ts")).addMcp,
	},
	{
		term: "status",
		about: texts.status.about,
		load: async () => (await import("./commands/status.ts")).addStatus,
	},
	{
		term: "stop",
		about: texts.stop.about,
		load: async () => (await import("./commands/stop.ts")).addStop,
	},
	{
		term: "channels",
		about: texts.channels.about,
		load: async () => (await import("./commands/channels/index.ts")).addChannels,
	},
	{
		term: "outbox [options]",
		about: texts.outbox.about,
		load: async () => (await import("./commands/outbox.ts")).addOutbox,
	},
	{
		term: "nodes",
		about: texts.nodes.about,
		load: async () => (await import("./commands/nodes.ts")).addNodes,
	},
	{
		term: "why <message>",
		about: texts.why.about,
		load: async () => (await import("./commands/why.ts")).addWhy,
	},
	{
		term: "ps [options]",
		about: texts.processes.ps.about,
		load: async () => (await import("./commands/processes/ps.ts")).addPs,
	},
	{
		term: "logs [options] <id>",
		about: texts.processes.logs.about,
		load: async () => (await import("./commands/processes/logs.ts")).addLogs,
	},
	{
		term: "attach [options] <id>",
		about: texts.processes.attach.about,
		load: async () => (await import("./commands/processes/attach.ts")).addAttach,
	},
	{
		term: "kill [options] [id...]",
		about: texts.processes.kill.about,
		load: async () => (await import("./commands/processes/kill.ts")).addKill,
	},
	{
		term: "checkpoint [options] [label...]",
		about: texts.checkpoints.take.about,
		load: async () => (await import("./commands/checkpoints/take.ts")).addTake,
	},
	{
		term: "checkpoints",
		about: texts.checkpoints.about,
		load: async () => (await import("./commands/checkpoints/index.ts")).addCheckpoints,
	},
	{
		term: "confirm",
		about: texts.confirm.about,
		load: async () => (await import("./commands/confirm/index.ts")).addConfirm,
	},
	{
		term: "confirmd [options]",
		about: texts.confirmd.about,
		load: async () => (await import("./commands/confirmd/index.ts")).addConfirmd,
	},
	{
		term: "token",
		about: texts.token.about,
		load: async () => (await import("./commands/token.ts")).addToken,
	},
	{
		term: "pair",
		about: texts.pair.about,
		load: async () => (await import("./commands/pair.ts")).addPair,
	},
	{
		term: "schedule",
		about: texts.schedule.about,
		load: async () => (await import("./commands/schedule.ts")).addSchedule,
	},
	{
		term: "login [options]",
		about: texts.login.about,
		load: async () => (await import("./commands/login.ts")).addLogin,
	},
	{
		term: "link [platform:id] [platform:id]",
		about: texts.link.about,
		load: async () => (await import("./commands/link.ts")).addLink,
	},
	{
		term: "explain [options] <source.json>",
		about: texts.explain.about,
		load: async () => (await import("./commands/explain/explain.ts")).addExplain,
	},
	{
		term: "doctor [options]",
		about: texts.doctor.about,
		load: async () => (await import("./commands/doctor/index.ts")).addDoctor,
	},
	{
		term: "backup [options] <file>",
		about: texts.backup.about,
		load: async () => (await import("./commands/backup.ts")).addBackup,
	},
	{
		term: "restore [options] <file>",
		about: texts.restore.about,
		load: async () => (await import("./commands/restore.ts")).addRestore,
	},
	{
		term: "store",
		about: texts.store.about,
		load: async () => (await import("./commands/store.ts")).addStore,
	},
	{
		term: "archive",
		about: texts.archive.about,
		load: async () => (await import("./commands/archive.ts")).addArchive,
	},
	{
		term: "service",
		about: texts.service.about,
		load: async () => (await import("./commands/service/index.ts")).addService,
	},
	{
		term: "update [options]",
		about: texts.update.about,
		load: async () => (await import("./commands/update.ts")).addUpdate,
	},
	{
		term: "setup [options]",
		about: texts.setup.about,
		load: async () => (await import("./commands/setup.ts")).addSetup,
	},
	{
		term: "config",
		about: texts.config.about,
		load: async () => (await import("./commands/config/index.ts")).addConfig,
	},
	{
		term: "completion <shell>",
		about: texts.completion.about,
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

const EXAMPLES = texts.program.examples;
