// The other machines of the configuration, as places for processes.
import { createHash } from "node:crypto";
import { homedir } from "node:os";
import { join } from "node:path";
import { type Config, type Environment, otherMachines } from "../config/index.ts";
import { type ProcessMachine, sshMachine } from "../processes/index.ts";

export interface MachineParts {
	readonly home: string;
	readonly env: Environment;
	readonly log: (message: string, error: unknown) => void;
}

/** Each has a home of its own in Keryx's: the connections to it are held there. */
export function sshMachines(config: Config, { home, env, log }: MachineParts): readonly ProcessMachine[] {
	const user = env.HOME ?? homedir();
	const expanded = (path: string) => (path.startsWith("~") ? join(user, path.slice(1)) : path);
	return otherMachines(config).flatMap(({ name, ssh }) => {
		if (ssh === null) return [];
		const { host, user: account, port, key_file, known_hosts_file } = ssh;
		return sshMachine({
			name,
			home: join(home, "ssh", createHash("sha256").update(name).digest("hex").slice(0, 16)),
			destination: account === undefined ? host : `${account}@${host}`,
			port,
			...(key_file !== undefined && { identityFile: expanded(key_file) }),
			...(known_hosts_file !== undefined && { knownHostsFile: expanded(known_hosts_file) }),
			log,
		});
	});
}
