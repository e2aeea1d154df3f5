// Which machine, and how the ssh client is called to reach it. Nothing that is asked of a person, and nothing that a command or a
// variable says, is ever on its command line.
import { KeryxError } from "../../errors.ts";

export interface SshTarget {
	/** user@host, or a name of the configuration file. */
	readonly destination: string;
	readonly port?: number;
	/** Only this key is offered then. */
	readonly identityFile?: string;
	readonly knownHostsFile?: string;
	/** In place of the user's ~/.ssh/config. */
	readonly configFile?: string;
	/** Further options of ssh_config(5), as `StrictHostKeyChecking`; they come before all others. */
	readonly options?: Readonly<Record<string, string>>;
	/** The variables of the ssh client; those that it needs of Keryx's own. */
	readonly env?: Readonly<Record<string, string>>;
}

/** Keys are asked for nowhere, forwarding is off, no connection is shared, and a dead one is noticed within 45 s. */
const OPTIONS = {
	BatchMode: "yes",
	ConnectTimeout: "15",
	ServerAliveInterval: "15",
	ServerAliveCountMax: "3",
	ControlMaster: "no",
	ControlPath: "none",
	ClearAllForwardings: "yes",
	ForwardAgent: "no",
	ForwardX11: "no",
	PermitLocalCommand: "no",
	RemoteCommand: "none",
	EscapeChar: "none",
	LogLevel: "ERROR",
};

const VARIABLES = ["PATH", "HOME", "USER", "LOGNAME", "SSH_AUTH_SOCK"];

export function checkTarget({ destination, port, options = {} }: SshTarget): void {
	if (!/^[^\s-]\S*$/.test(destination) || destination.includes("\0"))
		throw invalid("destination", "must be user@host");
	if (port !== undefined && !(Number.isInteger(port) && port > 0 && port < 65_536))
		throw invalid("port", "must be a port from 1 to 65535");
	for (const name of Object.keys(options))
		if (!/^[A-Za-z0-9]+$/.test(name)) throw invalid("options", `has ${JSON.stringify(name)}, which is none`);
}

/** The program and its arguments, for a command that the remote user's shell is given. */
export function sshCommand(
	{ destination, port, identityFile, knownHostsFile, configFile, options = {} }: SshTarget,
	command: string,
	{ terminal = false }: { readonly terminal?: boolean } = {},
): string[] {
	const settings = {
		...(identityFile !== undefined && { IdentitiesOnly: "yes" }),
		...(knownHostsFile !== undefined && { UserKnownHostsFile: `"${knownHostsFile}"` }),
		...OPTIONS,
	};
	return [
		"ssh",
		terminal ? "-tt" : "-T",
		...(configFile === undefined ? [] : ["-F", configFile]),
		...(port === undefined ? [] : ["-p", String(port)]),
		...(identityFile === undefined ? [] : ["-i", identityFile]),
		// The first one that ssh meets holds.
		...[...Object.entries(options), ...Object.entries(settings)].flatMap(([name, value]) => [
			"-o",
			`${name}=${value}`,
		]),
		"--",
		destination,
		command,
	];
}

export function sshVariables({ env }: SshTarget): Record<string, string> {
	if (env) return { ...env };
	return Object.fromEntries(
		VARIABLES.flatMap((name) => {
			const value = process.env[name];
			return value === undefined ? [] : [[name, value]];
		}),
	);
}

function invalid(field: string, problem: string): KeryxError {
	return new KeryxError("argument.invalid", `${field} ${problem}`, { field });
}
