// Everything Keryx reports about itself goes through here: secrets are hidden (I12), warnings go to the operator, and everything goes to
// the log in its home.
import { join } from "node:path";
import type { LiveConfig } from "../../config/index.ts";
import { createGatewayLog, type GatewayLog } from "../../keeping/index.ts";
import type { Secrets } from "../../secrets/index.ts";
import type { Clock } from "../../time/index.ts";
import type { Report } from "./report.ts";

interface Journal {
	readonly log: GatewayLog;
	readonly report: Report;
}

interface JournalOptions {
	readonly home: string;
	readonly live: Pick<LiveConfig, "values">;
	readonly secrets: Secrets;
	readonly clock: Clock;
	/** The operator sees this. */
	readonly shown: Report;
	/** False next to a running Keryx, which keeps the log. */
	readonly isKept: boolean;
}

export function journalOf({ home, live, secrets, clock, shown, isKept }: JournalOptions): Journal {
	const hide = (text: string) => secrets.hide(text);
	const isJson = () => isKept && live.values.log.stderr === "json";
	const log: GatewayLog = isKept
		? createGatewayLog({
				path: gatewayLogPath(home),
				settings: () => live.values.log,
				hide,
				clock,
				also: (_line, text) => {
					if (isJson()) process.stderr.write(`${text}\n`);
				},
				failed: (error) => shown.warn(hide(`the log cannot be written: ${error.message}`)),
			})
		: NO_LOG;
	return {
		log,
		report: {
			warn: (text) => {
				log.write("warn", "gateway", "warning", { message: text });
				if (!isJson()) shown.warn(hide(text));
			},
			note: (text) => {
				log.write("info", "gateway", "note", { message: text });
				if (!isJson()) shown.note(hide(text));
			},
		},
	};
}

export function gatewayLogPath(home: string): string {
	return join(home, "logs", "gateway.log");
}

const NO_LOG: GatewayLog = { write: () => {}, isOn: () => false, end: () => Promise.resolve() };
