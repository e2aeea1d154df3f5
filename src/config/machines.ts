// On which machine the commands of a profile run.
import type { Config } from "./schema.ts";

export type SshSettings = NonNullable<Config["terminal"]["ssh"]>;

export interface CommandMachine {
	/** Stands on each process: `local`, or `ssh` with where that is. */
	readonly name: string;
	/** Null: this machine. */
	readonly ssh: SshSettings | null;
}

/** A profile without a terminal of its own uses the common one. */
export function commandMachine(
	{ terminal, profiles }: Pick<Config, "terminal" | "profiles">,
	profile: string,
): CommandMachine {
	const own = Object.hasOwn(profiles, profile) ? profiles[profile]?.terminal : undefined;
	const { backend, ssh } = own ?? terminal;
	if (backend !== "ssh" || !ssh) return { name: "local", ssh: null };
	return { name: `ssh:${ssh.user ?? ""}@${ssh.host}:${ssh.port}`, ssh };
}

/** Every other machine that a profile uses, once. */
export function otherMachines(config: Pick<Config, "terminal" | "profiles">): readonly CommandMachine[] {
	const all = ["", ...Object.keys(config.profiles)].map((profile) => commandMachine(config, profile));
	return [...new Map(all.filter(({ ssh }) => ssh !== null).map((one) => [one.name, one])).values()];
}
