// Markdown as React elements. HTML in the text is never used, nothing external is loaded, and a link shows where it leads.

import { lazy, type ReactElement, type ReactNode, Suspense } from "react";
import Markdown, { type Components, type Options } from "react-markdown";
import remarkGfm from "remark-gfm";
import { createValue } from "../../../lib/value.ts";
import { texts } from "../../../texts/conversations.ts";
import { Code } from "../../../ui/index.ts";
import { mathMarked } from "./math-marks.ts";

type Plugins = Pick<Options, "remarkPlugins" | "rehypePlugins">;

let plugins: Plugins = { remarkPlugins: [remarkGfm] };
let math: Promise<void> | null = null;

/** Resolves when formulas can be drawn. The cache is cleared then, so that earlier text is rendered again. */
export function loadMath(): Promise<void> {
	math ??= import("./math.ts").then(
		({ remarkPlugin, rehypePlugin }) => {
			plugins = { remarkPlugins: [remarkGfm, [...remarkPlugin]], rehypePlugins: [[...rehypePlugin]] };
			rendered.clear();
		},
		() => {
			math = null;
		},
	);
	return math;
}
const COMPONENTS: Components = {
	a: ({ href, children }) => <Leading href={href ?? ""}>{children}</Leading>,
	img: ({ src, alt }) => (
		<Leading href={typeof src === "string" ? src : ""}>{`[image${alt ? `: ${alt}` : ""}]`}</Leading>
	),
	pre: ({ children }) => <Fence>{children}</Fence>,
	table: ({ children }) => (
		// biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
		<section aria-label={texts.markdown.table} tabIndex={0} className="table-scroll">
			<table>{children}</table>
		</section>
	),
};

/** Cache: rendering is the costly part of scrolling to a row. */
const rendered = new Map<string, ReactElement>();
const MOST_KEPT = 400;

export function renderMarkdown(text: string): ReactElement {
	const known = rendered.get(text);
	if (known) return known;
	// `Markdown` depends only on its options and uses no hooks: it can be called anywhere, and its result can be kept.
	const children = plugins.rehypePlugins ? mathMarked(text).text : text;
	const element = Markdown({ children, ...plugins, components: COMPONENTS });
	rendered.set(text, element);
	if (rendered.size > MOST_KEPT) rendered.delete(rendered.keys().next().value ?? "");
	return element;
}

function Leading({ href, children }: { readonly href: string; readonly children: ReactNode }) {
	if (href === "") return <span>{children}</span>;
	const target = targetOf(href);
	return (
		<>
			<a href={href} target="_blank" rel="noreferrer noopener nofollow" title={href}>
				<bdi>{children}</bdi>
			</a>
			{!isAddressOf(children, target) && (
				<bdi dir="ltr" className="text-sm text-ink-3">
					{` (${target})`}
				</bdi>
			)}
		</>
	);
}

/** The host as the browser reads it, or the address of a mail link. A path leads to Keryx itself. */
function targetOf(href: string): string {
	if (!URL.canParse(href, location.href)) return href;
	const { host, pathname } = new URL(href, location.href);
	return host === "" ? pathname : host;
}

/** Only an address that starts with the host shows where it leads. Anything before the host could look like another one. */
function isAddressOf(text: ReactNode, host: string): boolean {
	if (typeof text !== "string" || /[^\x21-\x7e]/.test(text)) return false;
	const rest = text.replace(/^https?:\/\//, "");
	return rest.startsWith(host) && /^(?:$|[/?#])/.test(rest.slice(host.length));
}

function Fence({ children }: { readonly children: ReactNode }) {
	const { text, language } = codeIn(children);
	if (language === "mermaid")
		return (
			<Suspense fallback={<Code text={text} label={texts.markdown.diagramAsText} caption="mermaid" />}>
				<Diagram text={text} />
			</Suspense>
		);
	return <Fenced text={text} language={language} />;
}

const Diagram = lazy(() => import("./diagram.tsx").then((m) => ({ default: m.Diagram })));

const highlighter = createValue<((text: string, language: string) => ReactNode) | null>(null);
let isLoading = false;
/** Longer code is not highlighted: that would block the page. */
const LONGEST_COLOURED = 60_000;

function Fenced({ text, language }: { readonly text: string; readonly language: string }) {
	const highlight = highlighter.use();
	if (language === "") return <Code text={text} />;
	if (!highlight && !isLoading) {
		isLoading = true;
		import("./highlight.ts").then(
			(m) => highlighter.set(m.highlight),
			() => {
				isLoading = false;
			},
		);
	}
	const coloured = text.length > LONGEST_COLOURED ? null : highlight?.(text, language.toLowerCase());
	return (
		<Code text={text} label={texts.markdown.code(language)} caption={language}>
			{coloured}
		</Code>
	);
}

function codeIn(node: ReactNode): { readonly text: string; readonly language: string } {
	if (typeof node !== "object" || node === null || !("props" in node))
		return { text: String(node ?? ""), language: "" };
	const { children, className } = node.props as { readonly children?: unknown; readonly className?: string };
	return {
		text: String(children ?? "").replace(/\n$/, ""),
		language: /language-(\S+)/.exec(className ?? "")?.[1] ?? "",
	};
}
