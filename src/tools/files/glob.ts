// Path patterns: * and ? within a name, ** across folders, [abc], {a,b}. One without a slash is compared with the name only.

export function globMatcher(pattern: string): (path: string) => boolean {
	const whole = new RegExp(`^${source(pattern.replace(/^\.?\/+/, ""))}$`, "s");
	return pattern.includes("/")
		? (path) => whole.test(path)
		: (path) => whole.test(path.slice(path.lastIndexOf("/") + 1));
}

/** For find -name: matches at least the pattern's names. */
export function namePattern(pattern = "*"): string {
	const flat = pattern.replaceAll(/\*\*|\{[^}]*\}|\[[^\]]*\]|\\/g, "*");
	return flat.slice(flat.lastIndexOf("/") + 1) || "*";
}

function source(pattern: string): string {
	let written = "";
	let depth = 0;
	for (let at = 0; at < pattern.length; at++) {
		const character = pattern.charAt(at);
		if (pattern.startsWith("**/", at)) {
			written += "(?:.*/)?";
			at += 2;
		} else if (pattern.startsWith("**", at)) {
			written += ".*";
			at += 1;
		} else if (character === "*") written += "[^/]*";
		else if (character === "?") written += "[^/]";
		else if (character === "{") {
			written += "(?:";
			depth++;
		} else if (character === "}" && depth > 0) {
			written += ")";
			depth--;
		} else if (character === "," && depth > 0) written += "|";
		else if (character === "[") {
			const end = pattern.indexOf("]", at + 2);
			if (end < 0) written += "\\[";
			else {
				const set = pattern
					.slice(at + 1, end)
					.replace(/^!/, "^")
					.replaceAll(/[\\[\]]/g, "\\$&");
				written += `[${set}]`;
				at = end;
			}
		} else written += character.replace(/[\\^$.|+()[\]{}]/, "\\$&");
	}
	return written + ")".repeat(depth);
}
