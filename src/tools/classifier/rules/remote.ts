import { hasShort, names, operands } from "../field.ts";
import { shownOperand } from "../text.ts";
import type { Field, Finding, Rule } from "../types.ts";

const REMOTE_TOOLS =
	/^(ansible|ansible-playbook|ansible-console|ansible-pull|salt|salt-ssh|puppet|chef-client|knife|pssh|pdsh|clush|mosh|rsh|rexec|rlogin|telnet|sshpass|autossh|psexec|winrs|evil-winrm|fab|cap|dsh|mussh)$/;
const CONTAINERS = /^(docker|podman|nerdctl)$/;
const REMOVALS: readonly string[] = [
	"rm",
	"rmi",
	"kill",
	"system prune",
	"container prune",
	"image prune",
	"volume prune",
	"network prune",
	"builder prune",
	"container rm",
	"image rm",
	"volume rm",
	"network rm",
	"container kill",
	"swarm leave",
	"stack rm",
	"service rm",
	"compose rm",
	"secret rm",
	"pod rm",
];

export const remoteRule: Rule = {
	name: "remote",
	action: "exec_remote",
	look({ name, args }) {
		if (name === "ssh" && operands(args).length > 0)
			return { why: `runs on another machine: ${shownOperand(operands(args)[0]?.text ?? "")}` };
		if (/^(scp|sftp)$/.test(name)) return { why: "moves files from or to another machine" };
		if (name === "rsync") {
			const target = operands(args).at(-1)?.text ?? "";
			if (/^[^/]*:|^rsync:/.test(target))
				return { why: `copies files to another machine: ${shownOperand(target)}` };
		}
		if (REMOTE_TOOLS.test(name) && operands(args).length > 0)
			return { why: `runs on other machines with ${name}` };
		if (/^(kubectl|oc)$/.test(name)) return cluster(args);
		if (CONTAINERS.test(name)) return container(args);
		if (name === "docker-compose" && names(args, ["rm", "kill"])) return removes;
		if (name === "docker-compose" && names(args, ["down"]) && hasVolumes(args)) return removes;
		if (
			name === "aws" &&
			names(args, ["ssm send-command", "ssm start-session", "ecs execute-command", "lambda invoke"])
		)
			return { why: "runs something in a cloud account" };
		if (name === "gcloud" && names(args, ["compute ssh", "compute scp"]))
			return { why: "runs on another machine" };
		if (/^(heroku|fly|flyctl)$/.test(name) && names(args, ["run", "ssh console", "run:detached"]))
			return { why: "runs on another machine" };
		return null;
	},
};

const removes: Finding = { why: "removes containers, images or volumes", action: "delete_data" };

function hasVolumes(args: readonly Field[]): boolean {
	return args.some((arg) => /^(-[a-z]*v|--volumes|--rmi.*)$/.test(arg.text));
}

function cluster(args: readonly Field[]): Finding | null {
	if (names(args, ["exec", "attach", "cp", "debug", "run", "rsh", "port-forward", "proxy"]))
		return { why: "runs or reaches into a cluster" };
	if (names(args, ["delete", "drain"])) return { why: "deletes parts of a cluster", action: "delete_data" };
	if (
		names(args, [
			"apply",
			"replace",
			"patch",
			"edit",
			"scale",
			"autoscale",
			"set",
			"rollout restart",
			"rollout undo",
			"create",
			"expose",
			"taint",
			"cordon",
			"annotate",
			"label",
		])
	)
		return { why: "changes a cluster", action: "deploy_production" };
	return null;
}

const WIDE =
	/^--(privileged|cap-add|device|security-opt|pid=host|net=host|network=host|ipc=host|userns=host|cgroupns=host)|^host$/;

function container(args: readonly Field[]): Finding | null {
	if (names(args, REMOVALS)) return removes;
	if (names(args, ["compose down"]) && hasVolumes(args)) return removes;
	if (names(args, ["compose rm", "compose kill"])) return removes;
	if (
		args.some((arg) => /^(-H|--host)(=|$)|^(ssh|tcp):\/\//.test(arg.text)) ||
		(hasShort(args.slice(0, 1), "H") && !names(args, ["build"]))
	)
		return { why: "gives orders to an engine on another machine" };
	if (
		!names(args, [
			"run",
			"create",
			"container run",
			"container create",
			"exec",
			"container exec",
			"compose run",
		])
	)
		return null;
	const wide = args.find((arg) => WIDE.test(arg.text));
	if (wide)
		return {
			why: `runs a container that reaches the machine itself: ${shownOperand(wide.text)}`,
			action: "run_command",
		};
	const mount = args.find((arg, index) => mounts(arg.text, args[index - 1]?.text ?? ""));
	return mount
		? { why: `gives a container a folder of the system: ${shownOperand(mount.text)}`, action: "run_command" }
		: null;
}

function mounts(text: string, before: string): boolean {
	if (!/^(-v|--volume|--mount)$/.test(before) && !/^(-v.|--(volume|mount)=)/.test(text)) return false;
	const source = text
		.replace(/^(-v|--volume=|--mount=)/, "")
		.replace(/^.*(source|src)=/, "")
		.split(/[:,]/, 1)[0];
	return (
		source === "/" ||
		/^\/(etc|usr|bin|sbin|boot|lib|root|var|dev|proc|sys|home|run)(\/(?!tmp|folders)[^/]*)?\/?$/.test(
			source ?? "",
		)
	);
}
