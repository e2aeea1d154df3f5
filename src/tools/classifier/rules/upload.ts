// Data that leaves the machine: local files, output of commands, requests that delete.
import { isDark } from "../field.ts";
import { curlSends, curlWords, type HttpWords, isElsewhere, wgetSends, wgetWords } from "../files/http.ts";
import { names, operands, optionValue } from "../options.ts";
import { shownOperand } from "../text.ts";
import type { Field, Finding, Invocation, Rule } from "../types.ts";

/** Tools that send files to others. An empty list: whatever their arguments. */
const SENDERS: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
	["wormhole", ["send"]],
	["magic-wormhole", ["send"]],
	["croc", ["send"]],
	["ipfs", ["add", "files write"]],
	["gh", ["gist create", "gist edit"]],
	["rclone", ["copy", "copyto", "rcat", "serve"]],
	["s3cmd", ["put", "sync"]],
	["mc", ["cp", "mirror", "pipe", "put"]],
	["lftp", []],
	["tftp", []],
	["ncftpput", []],
	["mail", []],
	["mailx", []],
	["sendmail", []],
	["msmtp", []],
	["mutt", []],
	["swaks", []],
	["pastebinit", []],
	["gist", []],
	["transfer", []],
	["transfer.sh", []],
	["git", ["daemon", "instaweb", "send-email"]],
]);
const LOOKUPS = /^(nslookup|dig|host|ping|ping6|traceroute|tracepath|whois|drill|kdig|resolvectl|getent)$/;
const PIPES = /^(nc|ncat|netcat|telnet|socat|openssl|bash-tcp|websocat|wscat|s_client)$/;

export const uploadRule: Rule = {
	class: "upload",
	action: "run_command",
	look(invocation) {
		const { name, args } = invocation;
		const sends = SENDERS.get(name);
		if (sends && (sends.length === 0 ? args.length > 0 : names(args, sends)))
			return { why: `shares files with others, using ${name}` };
		if (name === "ftp" && args.some((arg) => arg.text === "-u"))
			return { why: "shares files with others, using ftp" };
		if (name === "curl") return curl(invocation);
		if (/^wget2?$/.test(name)) return wget(invocation);
		if (/^(http|https|xh|xhs)$/.test(name)) return httpie(invocation);
		if (LOOKUPS.test(name) && args.some((arg) => isDark(arg.text) && arg.from.length > 0))
			return { why: "sends command output to another machine, hidden in a name" };
		if (PIPES.test(name)) return piped(invocation);
		if (name === "git") return pushed(invocation);
		return null;
	},
};

const deletes: Finding = {
	class: "remote",
	action: "delete_data",
	why: "asks another program to delete something",
};

function curl(invocation: Invocation): Finding | null {
	const words = curlWords(invocation.args);
	if (words.valuesOf("-X", "--request").some(({ text }) => /^delete$/i.test(text))) return deletes;
	if (words.valuesOf("--unix-socket", "--abstract-unix-socket").length > 0)
		return { class: "privilege", why: "talks to a program of the system through its socket" };
	if (
		words
			.valuesOf("-x", "--proxy", "--preproxy", "--socks5", "--socks5-hostname")
			.some(({ text }) => isElsewhere(text))
	)
		return { class: "network", why: "sends its traffic through another machine" };
	if (
		words.addresses.some(({ text }) =>
			/^(telnet|gopher|dict|smtps?|scp|sftp|ldaps?|imaps?|pop3s?|mqtt|ftps?):/i.test(text),
		)
	)
		return { why: "talks to another machine in a way that is hard to check" };
	if (words.addresses.some(({ text }) => text.startsWith("@")))
		return { why: "sends a file to another machine" };
	if (words.valuesOf("--quote", "-Q").some(({ text }) => /\b(dele|rmd|rm)\b/i.test(text))) return deletes;
	return sent(words, curlSends(words), invocation);
}

function wget(invocation: Invocation): Finding | null {
	const words = wgetWords(invocation.args);
	if (words.valuesOf("--method").some(({ text }) => /^delete$/i.test(text))) return deletes;
	return sent(words, wgetSends(words), invocation);
}

/** A named file may go to this machine; text from another command only to an address that is visibly this machine. */
function sent(words: HttpWords, files: readonly Field[], { args, stdin }: Invocation): Finding | null {
	const elsewhere = words.addresses.length === 0 || words.addresses.some(({ text }) => isElsewhere(text));
	const fromInput = files.some(({ text }) => text === "-" || text === ".");
	const unseenInput = fromInput && (stdin.kind === "pipe" || (stdin.kind === "file" && elsewhere));
	if (unseenInput) return { why: "sends command output to a server" };
	const [file] = files.filter(({ text }) => text !== "-" && text !== ".");
	if (file && elsewhere) return { why: `sends a file to another machine: ${shownOperand(file.text)}` };
	const hidden = args.some((arg) => isDark(arg.text) && arg.from.length > 0);
	return hidden && elsewhere ? { why: "sends command output to another machine" } : null;
}

function httpie({ args, stdin }: Invocation): Finding | null {
	const given = operands(args);
	if (given.some(({ text }) => /^delete$/i.test(text))) return deletes;
	const address = given.find(({ text }) => !/^[A-Za-z]+$/.test(text));
	if (address && !isElsewhere(address.text)) return null;
	if (given.some(({ text }) => /^[^=:]*:?=?@/.test(text))) return { why: "sends a file to another machine" };
	return stdin.kind === "pipe" || stdin.kind === "file" ? { why: "sends a file to another machine" } : null;
}

/** nc and similar tools send all of their input. */
function piped({ name, args, stdin }: Invocation): Finding | null {
	if (name === "openssl" && args[0]?.text !== "s_client") return null;
	if (stdin.kind !== "pipe" && (stdin.kind !== "file" || stdin.path.text === "/dev/null")) return null;
	const target =
		name === "openssl"
			? optionValue(args, "-connect")?.text
			: operands(args).find(({ text }) => text !== "-")?.text;
	const host = (target ?? "").replace(/^(tcp|udp|ssl|openssl)[46]?(-connect)?:/i, "");
	return isElsewhere(host) ? { why: "sends command output or a file to another machine" } : null;
}

/** To an address written in the command, not to one that the repository knows. */
function pushed({ args }: Invocation): Finding | null {
	if (!names(args, ["push"])) return null;
	const target = operands(args).find(({ text }) => /^[a-z+]+:\/\/|^[\w.-]+@[\w.-]+:|^ext::/i.test(text));
	return target ? { why: `sends a repository to ${shownOperand(target.text)}` } : null;
}
