// Commands that stop processes, services or the machine.
import { isKnown } from "../field.ts";
import { hasLong, hasShort, names, operands, optionTexts } from "../options.ts";
import { shownOperand } from "../text.ts";
import type { Field, Finding, Invocation, Rule } from "../types.ts";

const POWER = /^(shutdown|reboot|halt|poweroff|telinit|systemctl-reboot|pm-suspend|pm-hibernate)$/;
/** Command lines that must not be hit: what Keryx runs as, and what everything runs under. */
const RUNNING = [
	"keryx",
	"node",
	"/usr/bin/node /usr/lib/node_modules/keryx/bin/keryx.mjs start",
	"node /opt/keryx/dist/cli/main.js start",
	"systemd",
	"bash",
	"zsh",
	"sshd",
	"launchd",
	"init",
];

const SERVICES: ReadonlyMap<string, readonly string[]> = new Map([
	[
		"systemctl",
		[
			"stop",
			"disable",
			"restart",
			"try-restart",
			"reload-or-restart",
			"kill",
			"mask",
			"isolate",
			"poweroff",
			"reboot",
			"halt",
			"suspend",
			"hibernate",
			"kexec",
			"rescue",
			"emergency",
			"exit",
			"default",
		],
	],
	["launchctl", ["unload", "bootout", "remove", "stop", "kill", "disable", "reboot"]],
	["rc-service", ["stop", "restart"]],
	["supervisorctl", ["stop", "restart", "shutdown"]],
	["pm2", ["stop", "delete", "kill", "restart", "reload", "del"]],
	["forever", ["stop", "stopall"]],
	["brew", ["services stop", "services restart"]],
	["loginctl", ["terminate-user", "terminate-session", "kill-user", "kill-session", "poweroff", "reboot"]],
	["sv", ["stop", "down", "restart", "exit"]],
	["initctl", ["stop", "restart"]],
]);

export const stopRule: Rule = {
	class: "stop",
	action: "shutdown_service",
	look(invocation) {
		const { name, args } = invocation;
		if (POWER.test(name) || (name === "init" && /^[0-6sS]$/.test(args[0]?.text ?? "")))
			return { why: "stops or restarts the machine" };
		const verb = names(args, SERVICES.get(name) ?? []);
		if (verb)
			return {
				why: `stops or restarts a service: ${shownOperand(
					operands(args)
						.map((arg) => arg.text)
						.join(" "),
				)}`,
			};
		if (
			(name === "service" || name === "rc-service" || /^\/etc\/init\.d\//.test(invocation.path)) &&
			args.some((arg) => /^(stop|restart|force-reload)$/.test(arg.text))
		)
			return { why: "stops or restarts a service" };
		switch (name) {
			case "kill":
				return killed(invocation);
			case "skill":
			case "snice":
				return { why: "ends programs by a pattern that may match Keryx or others" };
			case "renice":
				return hasShort(args, "ug") ? { why: "slows down every program of a user" } : null;
			case "cpulimit":
				return hasShort(args, "p") ? { why: "slows down another program" } : null;
			case "pkill":
			case "killall":
			case "killall5":
			case "xkill":
				return swept(name, args);
			case "fuser":
				return hasShort(args, "k") || hasLong(args, "kill")
					? { why: "ends programs that cannot be checked before it runs" }
					: null;
			default:
				return null;
		}
	},
};

function killed({ args, many }: Invocation): Finding | null {
	if (args[0] && /^-(l|L|-list|-table)/.test(args[0].text)) return null;
	if (many) return { why: "ends every program it is given" };
	const targets = args.filter((arg, index) => arg.text !== "--" && !(index === 0 && /^-/.test(arg.text)));
	const signalled = /^(-s|-n|--signal)$/.test(args[0]?.text ?? "") ? targets.slice(1) : targets;
	if (signalled.some((target) => !isKnown(target.text)))
		return { why: "ends a program that cannot be checked before it runs" };
	const all = signalled.find((target) => /^-?0*1$|^0+$/.test(target.text));
	if (all) return { why: "ends all of this user's programs, including Keryx" };
	return null;
}

function swept(name: string, args: readonly Field[]): Finding | null {
	const patterns = operands(args).filter((_, index, all) => index === all.length - 1 || name !== "pkill");
	const broad: Finding = { why: "ends programs by a pattern that may match Keryx or others" };
	if (name === "killall5" || name === "xkill" || patterns.length === 0) return broad;
	if (
		optionTexts(args).some((text) =>
			/^-[a-zA-Z]*[uUgGPstv]$|^--(user|euid|uid|group|parent|session|inverse|terminal|regexp)/.test(text),
		)
	)
		return broad;
	const hits = patterns.some(({ text }) => {
		if (!isKnown(text) || text.length < 3 || /[[\](){}.*+?^$|\\]/.test(text.replace(/(\w)\.(\w)/g, "$1$2")))
			return true;
		return RUNNING.some((line) => line.includes(text.toLowerCase())) || /keryx/i.test(text);
	});
	return hits ? broad : null;
}
