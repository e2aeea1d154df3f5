// Keryx's own log: each line is JSON with time, level, area, event and ids; known secrets are hidden (I12). It never contains what
// people write: lines consist of Keryx's own words and of events' facts, which hold no text.
import { firstOf } from "../domain/index.ts";
import type { Clock } from "../time/index.ts";
import { LogFile } from "./log-file.ts";

const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

type LogFields = Readonly<Record<string, unknown>>;

interface LogLine extends LogFields {
	readonly time: string;
	readonly level: LogLevel;
	/** The part of Keryx it is about: gateway, turn, delivery, channel, config, ... */
	readonly area: string;
	/** A short, stable name to search by. */
	readonly event: string;
}

export interface GatewayLog {
	write(level: LogLevel, area: string, event: string, fields?: LogFields): void;
	/** Whether this level is written now; check before costly lines. */
	isOn(level: LogLevel): boolean;
	/** Resolves when everything is on disk. */
	end(): Promise<void>;
}

interface GatewayLogOptions {
	readonly path: string;
	readonly settings: () => {
		readonly level: LogLevel;
		readonly file_mb: number;
		readonly keep: number;
	};
	readonly hide: (text: string) => string;
	readonly clock: Pick<Clock, "now">;
	/** Gets each line too. */
	readonly also?: (line: LogLine, text: string) => void;
	/** The file cannot be written. */
	readonly failed: (error: Error) => void;
}

const MIB = 1024 * 1024;
/** Per value: longer ones are cut. */
const LONGEST_VALUE = 500;

export function createGatewayLog({
	path,
	settings,
	hide,
	clock,
	also,
	failed,
}: GatewayLogOptions): GatewayLog {
	const lineOf = (level: LogLevel, area: string, event: string, fields: LogFields = {}): LogLine => ({
		time: new Date(clock.now()).toISOString(),
		level,
		area,
		event,
		...fields,
	});
	// A value is hidden before it is cut: part of a secret would remain otherwise.
	const shortened = (_key: string, value: unknown): unknown => {
		if (typeof value !== "string" || value.length <= LONGEST_VALUE) return value;
		const hidden = hide(value.toWellFormed());
		return hidden.length <= LONGEST_VALUE ? hidden : `${firstOf(hidden, LONGEST_VALUE)}…`;
	};
	const textOf = (line: LogLine) => hide(JSON.stringify(line, shortened));
	const file = new LogFile({
		path,
		limits: () => ({ bytes: settings().file_mb * MIB, keep: settings().keep }),
		dropped: (count) => textOf(lineOf("warn", "log", "lines_dropped", { count })),
		failed,
	});
	const isOn = (level: LogLevel) => LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(settings().level);
	return {
		isOn,
		write: (level, area, event, fields) => {
			if (!isOn(level)) return;
			const line = lineOf(level, area, event, fields);
			const text = textOf(line);
			file.write(text);
			also?.(line, text);
		},
		end: () => file.flush(),
	};
}
