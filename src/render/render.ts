// From an answer in Markdown to the messages that a platform gets.
import { SMALLEST_MESSAGE_LIMIT } from "../domain/index.ts";
import { KeryxError } from "../errors.ts";
import { firstVisible } from "./cut.ts";
import type { Dialect } from "./dialect.ts";
import { discord } from "./dialects/discord.ts";
import { irc } from "./dialects/irc.ts";
import { matrix } from "./dialects/matrix.ts";
import { plain } from "./dialects/plain.ts";
import { slack } from "./dialects/slack.ts";
import { telegram } from "./dialects/telegram.ts";
import { draw } from "./draw.ts";
import type { Block } from "./markdown/ast.ts";
import { parseMarkdown } from "./markdown/parse.ts";
import { sizeOf } from "./measure.ts";
import { missingFence, passThrough } from "./passthrough.ts";
import { split } from "./split.ts";
import type { Format, Markup, MessageLimit, Part, Rendered } from "./types.ts";

/** Space reserved in each Markdown part for closing a fence that was cut. */
const FENCE_ROOM = 64;

const DIALECTS: Readonly<Record<Exclude<Markup, "markdown">, Dialect>> = {
	telegram_html: telegram,
	matrix_html: matrix,
	discord,
	slack,
	irc,
	plain,
};

/** The messages for an answer, in order; none if it shows nothing. Every part and its plain text fit the limit. */
export function renderParts(markdown: string, format: Format): readonly Part[] {
	const { markup, limit } = format;
	const whole = render(markdown, format);
	if (markup === "markdown") return markdownParts(whole, limit);
	return split(whole, limit).map(({ text, plain }) => ({ text, plain }));
}

/**
 * The whole answer before it is split. The limit counts here too: a token that would leave no room for text is left
 * out, and a link with an address that long is written as text. For Markdown the plain twin is the source.
 */
export function render(markdown: string, { markup, limit }: Format): Rendered {
	if (!Number.isSafeInteger(limit.max) || limit.max < SMALLEST_MESSAGE_LIMIT) {
		throw new KeryxError(
			"argument.invalid",
			`limit.max is ${limit.max}; it is a whole number of at least ${SMALLEST_MESSAGE_LIMIT}`,
			{
				field: "limit.max",
			},
		);
	}
	const source = markdown.toWellFormed().replaceAll("\0", "\ufffd");
	if (markup === "markdown") return passThrough(source, limit);
	return drawn(source.replace(/\r\n?/g, "\n"), DIALECTS[markup], limit);
}

function drawn(source: string, dialect: Dialect, limit: MessageLimit): Rendered {
	const canvas = draw(parseMarkdown(source), dialect, limit);
	// Only empty syntax, such as an empty link: show it as written.
	const isLost = isBlank(canvas.plain) && !isBlank(source);
	const { text, plain: twin, marks, blocks } = isLost ? draw(literally(source), dialect, limit) : canvas;
	return {
		text,
		plain: twin,
		// Plain text has nothing to balance.
		marks: dialect === plain ? marks.filter(({ kind }) => kind === "swap") : marks,
		blocks,
		unsafeStart: dialect.unsafeStart,
		lineByLine: !dialect.blankLines,
	};
}

function literally(source: string): Block[] {
	return [{ kind: "paragraph", apart: false, text: [{ kind: "text", value: source.trim() }] }];
}

/** The source in parts, each with its own plain twin; if that does not fit, the source is the twin. */
function markdownParts(whole: Rendered, limit: MessageLimit): Part[] {
	const hasFences = /`{3}|~{3}/.test(whole.text);
	const fits = (text: string): boolean => sizeOf(text, limit.unit) <= limit.max;
	const isOne = fits(whole.text + (hasFences ? missingFence(whole.text) : ""));
	const spare = hasFences && !isOne ? Math.min(FENCE_ROOM, Math.floor(limit.max / 4)) : 0;
	return split(whole, { ...limit, max: limit.max - spare }).map((part) => {
		const balanced = part.text + (hasFences ? missingFence(part.text) : "");
		const twin = draw(parseMarkdown(part.text.replace(/\r\n?/g, "\n")), plain, limit).plain;
		return {
			text: fits(balanced) ? balanced : part.text,
			plain: fits(twin) && !isBlank(twin) ? twin : part.plain,
		};
	});
}

function isBlank(text: string): boolean {
	return firstVisible(text, 0) === text.length;
}
