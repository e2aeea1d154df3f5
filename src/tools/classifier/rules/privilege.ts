// Commands that run other commands with different privileges.
import { names } from "../options.ts";
import type { Rule } from "../types.ts";

const TOOLS: ReadonlySet<string> = new Set(
	`sudo sudoedit doas su pkexec run0 runuser gosu su-exec chroot nsenter unshare setpriv sg gksudo please capsh systemd-nspawn lxc-attach
	flatpak-spawn distrobox aa-exec runcon kexec newgrp proot bwrap firejail fakechroot toolbox`.split(/\s+/),
);
const SOME_ORDERS: ReadonlyMap<string, readonly string[]> = new Map([
	["ip", ["netns", "vrf exec"]],
	["machinectl", ["shell", "login", "start", "poweroff", "terminate"]],
]);

export const privilegeRule: Rule = {
	class: "privilege",
	action: "run_command",
	look({ name, args }) {
		if (TOOLS.has(name)) return { why: `runs a command with different privileges (${name})` };
		const order = names(args, SOME_ORDERS.get(name) ?? []);
		return order ? { why: `runs a command with different privileges (${name} ${order})` } : null;
	},
};
