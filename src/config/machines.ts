// Which machine a profile's commands run on.
import { createHash } from "node:crypto";
import type { Config } from "./schema.ts";

export type SshSettings = NonNullable<Config["terminal"]["ssh"]>;
export type ContainerSettings = NonNullable<Config["terminal"]["container"]> & {
	readonly engine: "docker" | "podman";
};

export interface CommandMachine {
	/** Recorded on each process: `local`, `ssh` with the address, or the engine with its image. */
	readonly name: string;
	readonly ssh: SshSettings | null;
	/** Both null: this machine. */
	readonly container: ContainerSettings | null;
}

const HERE: CommandMachine = { name: "local", ssh: null, container: null };

/** A profile without its own terminal uses the common one. */
export function commandMachine(
	{ terminal, profiles }: Pick<Config, "terminal" | "profiles">,
	profile: string,
): CommandMachine {
	const own = Object.hasOwn(profiles, profile) ? profiles[profile]?.terminal : undefined;
	const { backend, ssh, container } = own ?? terminal;
	if (backend === "ssh" && ssh)
		return { ...HERE, name: `ssh:${ssh.user ?? ""}@${ssh.host}:${ssh.port}`, ssh };
	if ((backend === "docker" || backend === "podman") && container) {
		// Other limits count as another place: a running program keeps those it started with.
		const digest = createHash("sha256").update(JSON.stringify(container)).digest("hex").slice(0, 8);
		return {
			...HERE,
			name: `${backend}:${container.image}#${digest}`,
			container: { ...container, engine: backend },
		};
	}
	return HERE;
}

/** Every other machine that a profile uses, once. */
export function otherMachines(config: Pick<Config, "terminal" | "profiles">): readonly CommandMachine[] {
	const all = ["", ...Object.keys(config.profiles)].map((profile) => commandMachine(config, profile));
	return [...new Map(all.filter(({ name }) => name !== HERE.name).map((one) => [one.name, one])).values()];
}

/** For people. */
export function machineInWords({ ssh, container }: CommandMachine): string {
	if (ssh) return `${ssh.user === undefined ? "" : `${ssh.user}@`}${ssh.host} over ssh`;
	return container ? `${container.engine} container of ${container.image}` : "this machine";
}
