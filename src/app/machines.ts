// The configured other machines.
import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { type Config, type Environment, otherMachines } from "../config/index.ts";
import { containerMachine, type ProcessMachine, sshMachine } from "../processes/index.ts";

export interface MachineParts {
	readonly home: string;
	readonly env: Environment;
	readonly log: (message: string, error: unknown) => void;
}

/** Each has its own home in Keryx's: its connections are held there. */
export function machinesOf(config: Config, { home, env, log }: MachineParts): readonly ProcessMachine[] {
	const user = env.HOME ?? homedir();
	const expanded = (path: string) => (path.startsWith("~") ? join(user, path.slice(1)) : path);
	const folderOf = (kind: string, name: string) =>
		join(home, kind, createHash("sha256").update(name).digest("hex").slice(0, 16));
	return otherMachines(config).flatMap(({ name, ssh, container }) => {
		if (container) {
			const { engine, image, network, memory_mb: memoryMb, cpus, max_processes: processes } = container;
			return containerMachine({
				...{ name, engine, image, network, memoryMb, cpus, processes, env, log },
				home: folderOf("containers", name),
				hidden: realpathSync(home),
				user: { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
			});
		}
		if (ssh === null) return [];
		const { host, user: account, port, key_file, known_hosts_file } = ssh;
		return sshMachine({
			name,
			home: folderOf("ssh", name),
			destination: account === undefined ? host : `${account}@${host}`,
			port,
			...(key_file !== undefined && { identityFile: expanded(key_file) }),
			...(known_hosts_file !== undefined && { knownHostsFile: expanded(known_hosts_file) }),
			log,
		});
	});
}
