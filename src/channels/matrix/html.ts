// Formatted bodies: the dialect's HTML with its line breaks, which HTML would otherwise drop.

const CODE = /(<pre>[\s\S]*?<\/pre>)/;
/** Blocks already have space around them. */
const AROUND_BLOCKS = /\n*(<\/?(?:h[1-6]|blockquote)>)\n*/g;

export function formattedBody(text: string): string {
	const parts = text.split(CODE);
	return parts
		.map((part, n) => {
			if (n % 2 === 1) return part;
			const bare = part
				.replace(n > 0 ? /^\n+/ : /(?!)/, "")
				.replace(n < parts.length - 1 ? /\n+$/ : /(?!)/, "");
			return bare.replace(AROUND_BLOCKS, "$1").replaceAll("\n", "<br>");
		})
		.join("");
}

/** Without any tag, the plain body is enough. */
export function hasMarkup(text: string): boolean {
	return /<[a-z]/.test(text);
}
