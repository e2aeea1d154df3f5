// `keryx` and `keryx chat`: the gateway in this process. On a terminal, or with input piped in, one can talk to it; without
// either it runs until it is told to stop.
import { readFileSync } from "node:fs";
import { userInfo } from "node:os";
import type { Command } from "commander";
import { type Agent, createOfflineAgent, createScriptedAgent, parseScript } from "../agents/index.ts";
import { createLocalChannel } from "../channels/local/index.ts";
import { type Config, keryxHome } from "../config/index.ts";
import { KeryxError } from "../errors.ts";
import { type Channel, createGateway, type GatewayClock, systemClock } from "../gateway/index.ts";
import { openStore, type Store, systemIds } from "../store/index.ts";
import { clarify, createTools, sessionRead, sessionSearch } from "../tools/index.ts";
import { type CliContext, openConfig } from "./context.ts";
import { openHome, pseudonymKey } from "./home.ts";

export function addChat(program: Command, context: CliContext): void {
	program
		.command("chat")
		.description("talk to the agent in this terminal, or over a pipe")
		.action(() => runGateway(context, { chat: true }));
}

export async function runGateway(context: CliContext, { chat }: { readonly chat: boolean }): Promise<void> {
	const { config, output } = openConfig(context);
	const home = openHome(keryxHome(context.env));
	const ids = systemIds(systemClock);
	const agent = createAgent(config.values, systemClock);
	const store = await openStore({ url: home.storeUrl, clock: systemClock, ids });
	const stopping = new AbortController();
	const onTerminal = process.stdin.isTTY === true;
	const channels: Channel[] = [];
	if (chat || onTerminal) {
		const user = userInfo();
		channels.push(
			createLocalChannel({
				input: process.stdin,
				output: process.stdout,
				clock: systemClock,
				user: { id: String(user.uid), name: user.username },
				nextId: ids.uuid,
				prompt: onTerminal ? "> " : "",
				onEnd: (accepted) => void answered(store, accepted).then(() => stopping.abort()),
				onInterrupt: () => stopping.abort(),
				onError: (error) =>
					output.warn(error instanceof KeryxError ? `${error.message}; ${error.hint}` : String(error)),
			}),
		);
	}
	const gateway = createGateway({
		store,
		agent,
		tools: createTools([sessionSearch, sessionRead, clarify]),
		channels,
		config: config.values,
		clock: systemClock,
		pseudonymKey: pseudonymKey(home, ids.bytes),
		log: (message, error) =>
			output.warn(
				error === undefined
					? message
					: `${message}: ${error instanceof Error ? error.message : String(error)}`,
			),
	});
	if (onTerminal) process.stdout.write(GREETING);
	await gateway.start();
	const stop = () => stopping.abort();
	process.on("SIGTERM", stop);
	process.on("SIGINT", stop);
	await new Promise<void>((resolve) => {
		// Keeps the process alive while nothing is going on; timers of the gateway alone do not.
		const alive = setInterval(() => {}, 1 << 30);
		stopping.signal.addEventListener("abort", () => {
			clearInterval(alive);
			resolve();
		});
	});
	// A second signal ends at once: nothing depends on an orderly end.
	process.once("SIGTERM", () => process.exit(1));
	process.once("SIGINT", () => process.exit(1));
	await gateway.stop();
	await store.close();
}

const GREETING = `Keryx is running. Write a message, /help for commands, Ctrl-C to leave.

`;

function createAgent(config: Config, clock: GatewayClock): Agent {
	if (config.agent.kind === "offline") return createOfflineAgent();
	const { script } = config.agent;
	if (script === undefined)
		throw new KeryxError("config.invalid", "agent.script must name a file where agent.kind is scripted", {
			field: "agent.script",
		});
	try {
		return createScriptedAgent({ script: parseScript(readFileSync(script, "utf8")), clock });
	} catch (cause) {
		if (cause instanceof KeryxError) throw cause;
		throw new KeryxError("config.invalid", `agent.script: ${(cause as Error).message}`, {
			field: "agent.script",
			cause,
		});
	}
}

/** Resolves when every one of these messages has its end and everything meant for them has left the outbox. */
async function answered(store: Store, accepted: readonly number[]): Promise<void> {
	const scope = { kind: "operator" } as const;
	const done = async (): Promise<boolean> => {
		for (const id of accepted) {
			const item = await store.inboxItem({ scope, id });
			if (item.disposition === null || item.command !== null) return false;
		}
		return (await store.deliveries({ scope, which: "waiting", limit: 1 })).length === 0;
	};
	for (;;) {
		const committed = new Promise<void>((resolve) => {
			const unlisten = store.onCommit(() => {
				unlisten();
				resolve();
			});
		});
		if (await done()) return;
		await committed;
	}
}
