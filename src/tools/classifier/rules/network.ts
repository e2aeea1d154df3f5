// Commands that open tunnels, listen for connections, or change how the machine is connected.
import { lineOf } from "../field.ts";
import { hasLong, hasShort, names, operands } from "../options.ts";
import type { Rule } from "../types.ts";

const DEVICE = /\/dev\/(tcp|udp)\//;
const TUNNELS =
	/^(ngrok|cloudflared|localtunnel|lt|bore|frpc|frps|chisel|tailscale|zrok|pagekite|sshuttle|gost)$/;
const FIREWALL =
	/^(iptables(-restore)?|ip6tables(-restore)?|nft|ufw|firewall-cmd|pfctl|ipfw|ebtables|arptables|tc|iwconfig|nmcli|networksetup|ifconfig|route|resolvectl)$/;

export const networkRule: Rule = {
	class: "network",
	action: "run_command",
	look(invocation) {
		const { name, args, redirections } = invocation;
		if (DEVICE.test(lineOf(invocation)) || redirections.some(({ target }) => DEVICE.test(target.text)))
			return { why: "opens a raw connection from the shell" };
		if (invocation.stdin.kind === "text" && DEVICE.test(invocation.stdin.text) && name !== "cat")
			return { why: "opens a raw connection from the shell" };
		if (
			/^(nc|ncat|netcat|nc\.\w+)$/.test(name) &&
			(hasShort(args, "ecl") || hasLong(args, "exec") || hasLong(args, "sh-exec") || hasLong(args, "listen"))
		)
			return { why: "listens on the network or hands a shell to it" };
		if (
			name === "socat" &&
			args.some((arg) =>
				/(exec|system|shell|listen|pty|fork|open|create|unix-connect|unix-client|abstract-connect)\b/i.test(
					arg.text,
				),
			)
		)
			return { why: "listens on the network or hands a program to it" };
		if (/^(telnetd|sshd|in\.telnetd|dropbear|rshd|vncserver|x11vnc|xrdp)$/.test(name))
			return { why: "gives others access to this machine" };
		if (TUNNELS.test(name) && operands(args).length > 0 && !names(args, ["status", "version", "ip"]))
			return { why: "opens this machine to the internet" };
		if (
			FIREWALL.test(name) &&
			changes(
				name,
				args.map((arg) => arg.text),
			)
		)
			return { why: "changes the network of this machine" };
		if (
			/^(wg|wg-quick|openvpn|openconnect|vpnc|strongswan|arpspoof|ettercap|bettercap|mitmproxy|mitmdump|hostnamectl|iw|rfkill)$/.test(
				name,
			) &&
			operands(args).length + args.length > 0 &&
			!names(args, ["status", "show", "list"])
		)
			return { why: "changes or listens to the network of this machine" };
		if (name === "ip" && args.some((arg) => /^(add|del|delete|set|flush|change|replace)$/.test(arg.text)))
			return { why: "changes the network of this machine" };
		return null;
	},
};

function changes(name: string, words: readonly string[]): boolean {
	if (words.length === 0) return false;
	if (/^(ifconfig|route|iwconfig)$/.test(name)) return words.length > 1;
	return !words.some((word) =>
		/^(-L|-S|--list|list|status|show|--state|--list-all|-s|-g|device|-get.*|-list.*)$/.test(word),
	);
}
