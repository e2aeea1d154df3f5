// The service manager of this machine: where its files are, and the commands that it takes.
import { spawn, spawnSync } from "node:child_process";
import { homedir } from "node:os";
import { join } from "node:path";
import { KeryxError } from "../../../errors.ts";
import type { CliContext } from "../../context.ts";
import { texts } from "../../texts.ts";
import { LAUNCHD_LABEL, launchdAgent, type ServiceFacts, systemdUnit } from "./definition.ts";

export interface Manager {
	readonly name: "systemd" | "launchd";
	/** Keryx's service name. */
	readonly unit: string;
	readonly file: string;
	text(facts: ServiceFacts): string;
	/** Before the others, and they may fail: the service need not be there. */
	readonly release: readonly (readonly string[])[];
	/** Commands, one after the other. */
	readonly start: readonly (readonly string[])[];
	readonly stop: readonly (readonly string[])[];
	readonly reload: readonly (readonly string[])[];
	readonly status: readonly string[];
	logs(lines: number, follow: boolean, home: string): readonly string[];
}

const UNIT = "keryx.service";

export function managerOf({ env }: Pick<CliContext, "env">, platform = process.platform): Manager {
	const own = env.HOME ?? homedir();
	if (platform === "darwin") return launchd(own);
	if (platform !== "linux")
		throw new KeryxError("usage.invalid", texts.service.unsupported(platform), {
			hint: texts.service.byHand,
		});
	const systemctl = (...words: string[]) => ["systemctl", "--user", ...words];
	return {
		name: "systemd",
		unit: UNIT,
		file: join(env.XDG_CONFIG_HOME ?? join(own, ".config"), "systemd", "user", UNIT),
		text: systemdUnit,
		release: [],
		start: [systemctl("daemon-reload"), systemctl("enable", UNIT), systemctl("restart", UNIT)],
		stop: [systemctl("disable", "--now", UNIT)],
		reload: [systemctl("daemon-reload")],
		status: systemctl("status", "--no-pager", "--lines=0", UNIT),
		logs: (lines, follow) => [
			"journalctl",
			"--user",
			`--unit=${UNIT}`,
			`--lines=${lines}`,
			"--no-pager",
			...(follow ? ["--follow"] : []),
		],
	};
}

/** An older systemd does not know DelegateSubgroup, and warns about each unit that has it. */
export function takesSubgroups(): boolean {
	const { stdout } = spawnSync("systemctl", ["--version"], { encoding: "utf8" });
	return Number(/^systemd (\d+)/.exec(stdout ?? "")?.[1] ?? 0) >= 254;
}

function launchd(own: string): Manager {
	const domain = `gui/${process.getuid?.() ?? 0}`;
	const file = join(own, "Library", "LaunchAgents", `${LAUNCHD_LABEL}.plist`);
	return {
		name: "launchd",
		unit: LAUNCHD_LABEL,
		file,
		text: launchdAgent,
		release: [["launchctl", "bootout", `${domain}/${LAUNCHD_LABEL}`]],
		start: [["launchctl", "bootstrap", domain, file]],
		stop: [],
		reload: [],
		status: ["launchctl", "print", `${domain}/${LAUNCHD_LABEL}`],
		logs: (lines, follow, home) => [
			"tail",
			"-n",
			String(lines),
			...(follow ? ["-f"] : []),
			`${home}/service.log`,
		],
	};
}

/** Its exit code; null if there is no such program. Its output is printed. */
export function runShown(
	[program = "", ...words]: readonly string[],
	context: CliContext,
): Promise<number | null> {
	return new Promise((resolve, reject) => {
		const child = spawn(program, words, { env: { ...context.env }, stdio: ["ignore", "pipe", "pipe"] });
		child.stdout.on("data", (data: Buffer) => context.stdout.write(data.toString()));
		child.stderr.on("data", (data: Buffer) => context.stderr.write(data.toString()));
		child.on("error", (error: NodeJS.ErrnoException) =>
			error.code === "ENOENT" ? resolve(null) : reject(error),
		);
		child.on("close", (code) => resolve(code ?? 1));
	});
}

/** Their outcome does not matter, and nothing is printed. */
export function runQuietly(commands: readonly (readonly string[])[], { env }: Pick<CliContext, "env">): void {
	for (const [program = "", ...words] of commands)
		spawnSync(program, words, { env: { ...env }, stdio: "ignore" });
}

/** All of them, or an error that names the failed one. */
export async function runAll(commands: readonly (readonly string[])[], context: CliContext): Promise<void> {
	for (const command of commands) {
		const code = await runShown(command, context);
		if (code === 0) continue;
		const said = command.join(" ");
		throw new KeryxError(
			"service.failed",
			code === null ? texts.service.missing(said) : texts.service.failed(said, code),
		);
	}
}
