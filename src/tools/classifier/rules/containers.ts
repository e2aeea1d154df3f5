// docker, podman and kubectl: what they remove, and containers that reach the machine itself.
import { isDark } from "../field.ts";
import { absolutePath, holdsHome, isKeryxPath, isWithin } from "../files/paths.ts";
import { isSecretPath } from "../files/secrets.ts";
import { hasShort, names, operands } from "../options.ts";
import { shownOperand } from "../text.ts";
import type { CommandFacts, Field, Finding, Invocation } from "../types.ts";

const REMOVALS: readonly string[] = [
	"rm",
	"rmi",
	"kill",
	"system prune",
	"system reset",
	"container prune",
	"image prune",
	"volume prune",
	"network prune",
	"builder prune",
	"buildx prune",
	"container rm",
	"image rm",
	"volume rm",
	"network rm",
	"container kill",
	"swarm leave",
	"stack rm",
	"service rm",
	"compose rm",
	"compose kill",
	"secret rm",
	"config rm",
	"pod rm",
	"machine rm",
];
const STARTS: readonly string[] = [
	"run",
	"create",
	"container run",
	"container create",
	"exec",
	"container exec",
	"compose run",
	"compose exec",
];
const removes: Finding = { why: "removes containers, images or volumes", action: "delete_data" };

const WIDE =
	/^--(privileged|cap-add|device|security-opt|volumes-from|pid=host|net=host|network=host|ipc=host|userns=host|cgroupns=host|uts=host)|^host$/;

export function judgeContainer(invocation: Invocation, facts: CommandFacts): Finding | null {
	const { args } = invocation;
	if (names(args, REMOVALS)) return removes;
	if (names(args, ["compose down"]) && hasVolumes(args)) return removes;
	if (names(args, ["stop", "restart", "pause", "container stop"]) && operands(args).some((arg) => arg.splits))
		return { why: "stops containers that cannot be checked before it runs", action: "shutdown_service" };
	if (
		args.some((arg) => /^(-H|--host)(=|$)|^(ssh|tcp):\/\//.test(arg.text)) ||
		(hasShort(args.slice(0, 1), "H") && !names(args, ["build"]))
	)
		return { why: "controls a container engine on another machine" };
	if (names(args, ["build", "buildx build", "image build"])) return judgeBuild(invocation);
	if (names(args, ["cp", "container cp"])) return null;
	if (!names(args, STARTS)) return null;
	const wide = args.find((arg) => WIDE.test(arg.text));
	if (wide)
		return {
			class: "privilege",
			why: `runs a container that reaches the machine itself: ${shownOperand(wide.text)}`,
			action: "run_command",
		};
	const mount = args.find((arg, index) => mounts(arg, args[index - 1]?.text ?? "", invocation.cwd, facts));
	if (!mount) return null;
	return {
		class: "privilege",
		why: `gives a container a folder or a socket of this machine: ${shownOperand(mount.text)}`,
		action: "run_command",
	};
}

export function judgeCompose(args: readonly Field[]): Finding | null {
	if (names(args, ["rm", "kill"])) return removes;
	return names(args, ["down"]) && hasVolumes(args) ? removes : null;
}

/** An image built from another machine's text runs that text; a secret or a key may get into it. */
function judgeBuild({ args }: Invocation): Finding | null {
	if (args.some(({ text }) => /^(https?|git|ssh):\/\/|^git@|^github\.com\//.test(text)))
		return { class: "download", action: "run_command", why: "builds and runs code from the network" };
	return args.some(({ text }) => /^--ssh/.test(text))
		? { class: "credentials", action: "run_command", why: "gives a build the user's keys" }
		: null;
}

function hasVolumes(args: readonly Field[]): boolean {
	return args.some((arg) => /^(-[a-z]*v|--volumes|--rmi.*)$/.test(arg.text));
}

/** A folder of the project or a named volume is work; everything else on this machine is asked about. */
function mounts({ text }: Field, before: string, cwd: string | null, facts: CommandFacts): boolean {
	if (!/^(-v|--volume|--mount)$/.test(before) && !/^(-v.|--(volume|mount)=)/.test(text)) return false;
	const given = text.replace(/^(-v|--volume=|--mount=)/, "");
	const named = /(?:^|,)(?:source|src)=([^,]*)/.exec(given)?.[1];
	const isMount = /(?:^|,)(?:type|target|dst|destination)=/.test(given);
	const source = named ?? (isMount ? "" : (given.split(":", 1)[0] ?? ""));
	if (source === "" || /^[\w][\w.-]*$/.test(source)) return false;
	if (isDark(source)) return true;
	const path = absolutePath(source, cwd);
	if (path === null || isSecretPath(path) || isKeryxPath(path, facts) || holdsHome(path, facts)) return true;
	return !["/tmp", facts.cwd, facts.home, "/var/tmp", "/private/tmp", "/var/folders"].some((folder) =>
		isWithin(path, folder),
	);
}

/** kubectl commands that need no approval: they only show things. */
const CLUSTER_READS: readonly string[] = [
	"get",
	"describe",
	"logs",
	"top",
	"version",
	"explain",
	"api-resources",
	"api-versions",
	"cluster-info",
	"diff",
	"wait",
	"events",
	"rollout status",
	"rollout history",
	"auth can-i",
	"auth whoami",
	"kustomize",
	"completion",
	"options",
	"plugin list",
	"config current-context",
	"config get-contexts",
	"config get-clusters",
	"config use-context",
	"config set-context",
	"config view",
	"help",
	"status",
	"whoami",
	"project",
	"projects",
];

export function judgeCluster(args: readonly Field[]): Finding | null {
	if (names(args, ["exec", "attach", "cp", "debug", "run", "rsh", "port-forward", "proxy"]))
		return { why: "runs or reaches into a cluster" };
	if (names(args, ["delete", "drain"])) return { why: "deletes parts of a cluster", action: "delete_data" };
	if (operands(args).length === 0 || names(args, CLUSTER_READS)) return null;
	return { why: "changes a cluster", action: "deploy_production" };
}
