// A Keryx behind its API with a process host of its own, on a port: for tests of processes and their terminals.
import { configSchema } from "../../src/config/schema.ts";
import type { ConversationId } from "../../src/domain/index.ts";
import { systemClock } from "../../src/gateway/index.ts";
import { serveOnPort } from "../../src/http/index.ts";
import { createProcesses, type Processes, processSettings } from "../../src/processes/index.ts";
import { createSecrets, type Store, systemIds } from "../../src/store/index.ts";
import { ProcessHome } from "../support/process-home.ts";
import { type Answer, exchange, type Sent } from "./port.ts";
import { SECRET, type Served, serve, TERMINAL } from "./support.ts";

export interface WithProcesses {
	readonly keryx: Served;
	readonly home: ProcessHome;
	readonly processes: Processes;
	readonly conversation: ConversationId;
	readonly port: number;
	/** A program of the conversation, by its id. */
	start(command: string, more?: { readonly pty?: boolean; readonly in?: string }): Promise<string>;
	call(method: string, path: string, sent?: Sent): Promise<Answer>;
	token(name: string, role: string): Promise<string>;
	/** Of the server alone. */
	closeServer(): Promise<void>;
	close(): Promise<void>;
}

export async function withProcesses(): Promise<WithProcesses> {
	const home = new ProcessHome();
	let processes!: Processes;
	const secrets = createSecrets(new Map([["PASSWORD", "hunter2hunter2"]]));
	const withThem = async (store: Store) => {
		processes = createProcesses({
			store,
			machine: home.place,
			clock: systemClock,
			ids: systemIds(systemClock),
			settings: () => processSettings(configSchema.parse({})),
		});
		return { processes };
	};
	const keryx = await serve(undefined, {}, {}, withThem, { secrets });
	await processes.open();
	const served = await serveOnPort(keryx.api, { host: "127.0.0.1", port: 0 });
	const { conversation } = await keryx.say("hello");
	const call = (method: string, path: string, sent: Sent = {}) =>
		exchange({ host: "127.0.0.1", port: served.port }, method, path, {
			bearer: SECRET,
			...sent,
		});
	return {
		keryx,
		home,
		processes,
		conversation: conversation as ConversationId,
		port: served.port,
		start: async (command, { pty = false, in: elsewhere = conversation } = {}) => {
			const { id } = await processes.start(
				{
					command,
					argv: ["/bin/sh", "-c", command],
					cwd: home.path,
					env: { PATH: process.env.PATH ?? "", TERM: "xterm" },
					background: true,
					pty: pty ? { rows: 24, cols: 80 } : null,
					notify: "none",
				},
				{
					conversation: elsewhere as ConversationId,
					principal: null,
					turn: null,
					role: null,
					destination: { platform: TERMINAL.platform, account: "", chatId: TERMINAL.chat_id },
				},
			);
			return id;
		},
		call,
		token: async (name, role) => {
			const { body } = await call("POST", "/api/tokens", { body: { name, role } });
			return body.token as string;
		},
		closeServer: () => served.close(),
		close: async () => {
			await served.close();
			await processes.close();
			await keryx.close();
			await home.end();
		},
	};
}
