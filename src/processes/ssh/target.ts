// Which machine, and the ssh client's command line. It never prompts, and no command or variable is ever on it.
import { KeryxError } from "../../errors.ts";

export interface SshTarget {
	/** user@host, or a name in the configuration file. */
	readonly destination: string;
	readonly port?: number;
	/** Only this key is offered then. */
	readonly identityFile?: string;
	readonly knownHostsFile?: string;
	/** Instead of the user's ~/.ssh/config. */
	readonly configFile?: string;
	/** Further options of ssh_config(5), such as `StrictHostKeyChecking`; they come first. */
	readonly options?: Readonly<Record<string, string>>;
	/** The ssh client's variables, taken from Keryx's own. */
	readonly env?: Readonly<Record<string, string>>;
}

/** No prompts, no forwarding, no shared connections, and a dead connection is noticed within 45 s. */
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

/** The program and arguments, for a command to the remote user's shell. */
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
		// ssh uses the first value it finds.
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
