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

/** The host as the browser reads it, or the address that is written to; a path leads to Keryx itself. */
function targetOf(href: string): string {
	if (!URL.canParse(href, location.href)) return href;
	const { host, pathname } = new URL(href, location.href);
	return host === "" ? pathname : host;
}

/** Only an address that begins with the host says by itself where it leads. Anything before the host could pass for another one. */
function isAddressOf(text: ReactNode, host: string): boolean {
	if (typeof text !== "string" || /[^\x21-\x7e]/.test(text)) return false;
	const rest = text.replace(/^https?:\/\//, "");
	return rest.startsWith(host) && /^(?:$|[/?#])/.test(rest.slice(host.length));
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
