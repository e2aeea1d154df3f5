// Commands of a profile whose backend is another machine or a container: that is the wall, and the owner's alone unless the configuration
// says otherwise.
import { type Config, commandMachine } from "../../../config/index.ts";
import type { Standing } from "../../../domain/index.ts";
import type { CommandWall } from "../../../walls/index.ts";

/** A shell there sets the rest; nothing from this machine's environment is passed. */
const REMOTE_ENVIRONMENT = { PATH: "/usr/local/bin:/usr/bin:/bin", LANG: "C.UTF-8" };

/** Null: commands run on this machine. `folderHere` is the workspace that a container shows. */
export function wallElsewhere(
	config: Config,
	{ profile, standing }: { readonly profile: string; readonly standing: Standing },
	folderHere: () => string,
): Extract<CommandWall, { run: "elsewhere" | "refused" }> | null {
	const { name: machine, ssh, container } = commandMachine(config, profile);
	if (ssh === null && container === null) return null;
	const role = standing === "none" ? "guest" : standing;
	const given = Object.hasOwn(config.walls.by_profile, profile)
		? config.walls.by_profile[profile]?.[role]
		: undefined;
	const where = ssh
		? `on ${accountAt(ssh)} over ssh`
		: `in a ${container?.engine} container of ${container?.image}`;
	if (config.approvals.mode === "readonly")
		return {
			run: "refused",
			reason: `approvals.mode is readonly, and nothing keeps a command ${where} from writing`,
			remedy: "set approvals.mode to manual, or terminal.backend to local",
		};
	if (standing !== "owner" && given === undefined)
		return {
			run: "refused",
			reason: `commands run ${where}, which only the owner may use`,
			remedy: "name the role in walls.by_profile of this profile",
		};
	const common = { run: "elsewhere", machine, env: REMOTE_ENVIRONMENT, where } as const;
	if (ssh) return { ...common, folder: ssh.folder, check: `ssh ${accountAt(ssh)}`, covered: false };
	const check = `${container?.engine} image inspect ${container?.image}`;
	return { ...common, folder: folderHere(), check, covered: true };
}

function accountAt({ user, host }: { readonly user?: string | undefined; readonly host: string }): string {
	return user === undefined ? host : `${user}@${host}`;
}
