// What stands in the search index: words as they are, runs of scripts that put no spaces between words as overlapping pairs.

/** Scripts whose words are not set apart by spaces. */
const UNSPACED =
	/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu;

/** Text as it is indexed: `東京都` becomes `東京 京都 都`, so that any part of a run is a sequence of neighbouring words. */
export function searchText(text: string): string {
	return text.replace(UNSPACED, (run) => ` ${pairs(run).join(" ")} `);
}

function pairs(run: string): string[] {
	const points = Array.from(run);
	return points.map((point, index) => point + (points[index + 1] ?? ""));
}

export interface Tagged {
	readonly conversation: string;
	readonly principal: string | null;
	readonly profile: string;
	readonly platform: string;
	readonly role: string;
}

/** The tags of a row: one word each, told apart by its first letter. */
export function searchTags(tagged: Tagged): string {
	return [
		tag("c", tagged.conversation),
		tagged.principal === null ? "" : tag("o", tagged.principal),
		tag("f", tagged.profile),
		tag("p", tagged.platform),
		tag("r", tagged.role),
	].join(" ");
}

/** `_` and `-` would part a word in two; two letters that no name can contain stand for them. */
export function tag(kind: "c" | "o" | "f" | "p" | "r", name: string): string {
	return kind + name.replaceAll("_", "ǀ").replaceAll("-", "ǁ");
}
