// Commands that run or copy something on another machine or in a container.
import { hasShort, names, operands } from "../options.ts";
import { shownOperand } from "../text.ts";
import type { Rule } from "../types.ts";
import { judgeCluster, judgeCompose, judgeContainer } from "./containers.ts";

const REMOTE_TOOLS =
	/^(ansible|ansible-playbook|ansible-console|ansible-pull|salt|salt-ssh|puppet|chef-client|knife|pssh|pdsh|clush|mosh|mosh-server|rsh|rexec|rlogin|telnet|sshpass|autossh|psexec|winrs|evil-winrm|fab|cap|dsh|mussh|tsh|teleport|dbclient|plink|pscp|xfreerdp|rdesktop|vncviewer|remmina|sshfs|ssh-copy-id|et)$/;
const REMOTE_ORDERS: ReadonlyMap<string, readonly string[]> = new Map([
	["aws", ["ssm send-command", "ssm start-session", "ecs execute-command", "lambda invoke"]],
	["gcloud", ["compute ssh", "compute scp"]],
	["az", ["vm run-command", "ssh"]],
	["heroku", ["run", "run:detached", "ps:exec"]],
	["fly", ["ssh", "ssh console", "console"]],
	["flyctl", ["ssh", "ssh console", "console"]],
	["vagrant", ["ssh", "destroy"]],
	["gh", ["codespace ssh", "codespace cp"]],
]);

export const remoteRule: Rule = {
	class: "remote",
	action: "exec_remote",
	look(invocation, facts) {
		const { name, args } = invocation;
		if (name === "ssh" && operands(args).length > 0)
			return { why: `runs on another machine: ${shownOperand(operands(args)[0]?.text ?? "")}` };
		if (/^(scp|sftp)$/.test(name)) return { why: "moves files from or to another machine" };
		if (name === "rsync") {
			const target = operands(args).at(-1)?.text ?? "";
			if (/^[^/]*:|^rsync:/.test(target))
				return { why: `copies files to another machine: ${shownOperand(target)}` };
		}
		if (REMOTE_TOOLS.test(name) && (operands(args).length > 0 || hasShort(args, "v")))
			return { why: `runs on other machines with ${name}` };
		if (REMOTE_TOOLS.test(name) && args.some(({ text }) => text.startsWith("/v:")))
			return { why: `runs on other machines with ${name}` };
		if (names(args, REMOTE_ORDERS.get(name) ?? []))
			return { why: "runs something on another machine or in an account" };
		if (/^(kubectl|oc)$/.test(name)) return judgeCluster(args);
		if (/^(docker|podman|nerdctl)$/.test(name)) return judgeContainer(invocation, facts);
		if (name === "docker-compose") return judgeCompose(args);
		if (
			/^(crictl|ctr)$/.test(name) &&
			args.some(({ text }) => /^(rm|rmi|rmp|stop|stopp|delete|del|kill|exec|run)$/.test(text))
		)
			return { why: "removes or runs containers", action: "delete_data" };
		return null;
	},
};
