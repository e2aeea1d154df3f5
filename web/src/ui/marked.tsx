import { Kbd } from "./kbd.tsx";

/** A sentence with `code` in backticks and [[keys]] in double brackets. It stays one string, so that it can be read and translated. */
export function Marked({ text }: { readonly text: string }) {
	return text.split(/(`[^`]+`|\[\[[^\]]+\]\])/).map((part, index) => {
		const at = `${String(index)} ${part}`;
		if (part.startsWith("`"))
			return (
				<code key={at} className="font-mono text-sm wrap-anywhere text-ink">
					{part.slice(1, -1)}
				</code>
			);
		if (part.startsWith("[[")) return <Kbd key={at} keys={part.slice(2, -2)} />;
		return part;
	});
}
