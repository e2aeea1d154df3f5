// Someone else's text, shown so that it cannot pose as something else: invisible characters and direction changes are named.
import type { ReactNode } from "react";

const UNSEEN = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/gu;
/** Line breaks, tabs, and the selector after an emoji, which only changes its colour. */
const HARMLESS: ReadonlySet<string> = new Set(["\n", "\t", "\ufe0f"]);

export function PlainText({ text }: { readonly text: string }) {
	const parts: ReactNode[] = [];
	let from = 0;
	for (const { 0: character, index } of text.matchAll(UNSEEN)) {
		if (HARMLESS.has(character) || (character === "\r" && text[index + 1] === "\n")) continue;
		if (index > from) parts.push(text.slice(from, index));
		parts.push(
			<mark key={index} className="rounded-xs bg-warn-soft px-0.5 font-mono text-2xs text-warn">
				{nameOf(character)}
			</mark>,
		);
		from = index + character.length;
	}
	if (from === 0) return <>{text}</>;
	return (
		<>
			{parts}
			{text.slice(from)}
		</>
	);
}

function nameOf(character: string): string {
	return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
