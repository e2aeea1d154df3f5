// Unseen words that decide what happens: a tool's subcommand, a file's path.
import { isDark, isKnown } from "../field.ts";
import { absolutePath } from "../files/paths.ts";
import { fileUse } from "../files/use.ts";
import { WATCHERS } from "../launch/index.ts";
import { CANDIDATES, hasShort, subcommands } from "../options.ts";
import { shownOperand, UNKNOWN } from "../text.ts";
import type { Field, Finding, Invocation, Rule } from "../types.ts";

/** Tools whose first word decides between reading and destroying. */
const TOOLS =
	/^(git|gh|docker|podman|docker-compose|npm|pnpm|yarn|kubectl|helm|systemctl|service|launchctl|aws|gcloud|az|terraform|tofu|pulumi|cargo|gem|apt|apt-get|dnf|yum|brew|redis-cli|keryx|pm2|rclone)$/;

/** Links of a process that lead anywhere. */
const PROCESS_LINKS = /^\/proc\/[^/]+\/(task\/[^/]+\/)?(cwd|root|exe|fd|fdinfo|map_files|ns)(\/|$)/;

export const unseenRule: Rule = {
	class: "unseen",
	action: "run_command",
	look(invocation) {
		const { name, args } = invocation;
		if (WATCHERS.test(name))
			return { class: "credentials", why: "looks at the user's screen, clipboard or keyboard" };
		if (TOOLS.test(name)) {
			const verbs = subcommands(args);
			const hidden =
				verbs.length === CANDIDATES || verbs.some(([verb]) => verb !== undefined && !isKnown(verb));
			if (hidden) return { why: `gives ${name} an order that cannot be checked before it runs` };
		}
		return unseenPath(invocation);
	},
};

/** Other programs, too, may take an argument with a slash next to an unseen piece for a path. Not those whose arguments name other things. */
const NAMES_PATHS =
	/^(?!(git|gh|glab|docker|podman|nerdctl|buildah|skopeo|crane|kubectl|oc|helm|npm|pnpm|yarn|bun|npx|bunx|go|cargo|pip\d?|uv|gem|brew|apt|apt-get|aws|gcloud|az|gsutil|psql|mysql|redis-cli|mongosh|ssh|http|https|xh|ping|dig|nslookup|host|code|open|xdg-open|sam|flyctl?|heroku|echo|printf|export|alias|eval|set|unset|xargs|parallel|find|sh|bash|zsh|env|sudo|timeout|time|nohup|nice|watch|concurrently|gitlab-runner|act|terraform|ansible|nx|turbo|lerna)$)/;

function isBuiltPath({ text }: Field): boolean {
	return (
		!text.includes("://") &&
		(text.includes(`/${UNKNOWN}`) || text.includes(`${UNKNOWN}/`)) &&
		!text.startsWith("/dev/fd/")
	);
}

/** Names of files that come from a list. */
function takesList({ name, args, stdin }: Invocation): boolean {
	if (/^(tar|gtar|bsdtar|rsync|wc|sort|du|cpio|zip)$/.test(name)) {
		const given = args.find(({ text }) => /^--files(0)?-from(=|$)|^-T$|^-@$/.test(text));
		const packs = name === "cpio" && hasShort(args, "op");
		if (!given && !packs) return false;
		return stdin.kind !== "pipe" || stdin.each === null;
	}
	return false;
}

function unseenPath(invocation: Invocation): Finding | null {
	if (NAMES_PATHS.test(invocation.name) && fileUse(invocation).maybe.some(isBuiltPath))
		return { why: "uses a file whose path cannot be checked before it runs" };
	if (takesList(invocation)) return { why: "takes files by a list that cannot be checked before it runs" };
	const { reads, writes, lists } = fileUse(invocation);
	for (const [fields, does] of [
		[writes, "writes"],
		[reads, "reads"],
		[lists, "looks at"],
	] as const) {
		const hidden = fields.find((field) => isHiddenPath(field, invocation));
		if (hidden) return { why: `${does} a file whose path cannot be checked before it runs` };
		const linked = fields.find((field) => leadsAnywhere(field, invocation));
		if (linked)
			return { why: `${does} a file through a link that may lead anywhere: ${shownOperand(linked.text)}` };
	}
	return null;
}

/** A substitution `<(…)` was checked where it is written. */
function isHiddenPath({ text }: Field, { cwd }: Invocation): boolean {
	if (isDark(text)) return !/^\/dev\/fd\//.test(text);
	return cwd === null && text !== "" && !/^[/-]/.test(text);
}

function leadsAnywhere({ text }: Field, { cwd }: Invocation): boolean {
	if (/^\/dev\/fd\/[3-9]|^\/dev\/fd\/\d\d/.test(text)) return true;
	if (!text.includes("/proc") && !text.startsWith("/") && cwd?.startsWith("/proc/") !== true) return false;
	// Before `..` is taken away: a link is followed first.
	const written = text.startsWith("/") ? text.replace(/\/+/g, "/") : `${cwd ?? ""}/${text}`;
	const path = absolutePath(text, cwd) ?? text;
	return PROCESS_LINKS.test(written) || PROCESS_LINKS.test(path);
}
