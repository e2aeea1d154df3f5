// Markdown as React elements. No HTML of the text is ever taken for ours, nothing is loaded from elsewhere, and a link shows where it leads.
import type { ReactElement, ReactNode } from "react";
import Markdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { Code } from "../../ui/index.ts";

const PLUGINS = [remarkGfm];
const COMPONENTS: Components = {
	a: ({ href, children }) => <Leading href={href ?? ""}>{children}</Leading>,
	img: ({ src, alt }) => (
		<Leading href={typeof src === "string" ? src : ""}>{`[image${alt ? `: ${alt}` : ""}]`}</Leading>
	),
	pre: ({ children }) => <Fence>{children}</Fence>,
	table: ({ children }) => (
		// biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
		<section aria-label="Table" tabIndex={0} className="table-scroll">
			<table>{children}</table>
		</section>
	),
};

/** Rendering is the costly part of a row that scrolls by. */
const rendered = new Map<string, ReactElement>();
const MOST_KEPT = 400;

export function renderMarkdown(text: string): ReactElement {
	const known = rendered.get(text);
	if (known) return known;
	// A function of its options, without hooks: it can be called anywhere, and what it gave be kept.
	const element = Markdown({ children: text, remarkPlugins: PLUGINS, components: COMPONENTS });
	rendered.set(text, element);
	if (rendered.size > MOST_KEPT) rendered.delete(rendered.keys().next().value ?? "");
	return element;
}

function Leading({ href, children }: { readonly href: string; readonly children: ReactNode }) {
	if (href === "") return <span>{children}</span>;
	const shown = hostOf(href);
	const saysItself = typeof children === "string" && shown !== null && children.includes(shown);
	return (
		<>
			<a href={href} target="_blank" rel="noreferrer noopener nofollow" title={href}>
				{children}
			</a>
			{shown !== null && !saysItself && <span className="text-sm text-ink-3"> ({shown})</span>}
		</>
	);
}

function hostOf(href: string): string | null {
	return /^https?:/.test(href) && URL.canParse(href) ? new URL(href).host : null;
}

function Fence({ children }: { readonly children: ReactNode }) {
	const { text, language } = codeIn(children);
	return <Code text={text} label={language === "" ? "Code" : `Code, ${language}`} />;
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
