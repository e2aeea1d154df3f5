import { classes } from "../lib/classes.ts";

/** Keys in the order they are pressed: "g c" is two, "Shift+Enter" is one. */
export function Kbd({ keys, inverse = false }: { readonly keys: string; readonly inverse?: boolean }) {
	return (
		<span className="inline-flex gap-1">
			{keys.split(" ").map((key) => (
				<kbd
					key={key}
					className={classes(
						"inline-flex h-4 min-w-4 items-center justify-center rounded-xs border px-1 font-sans text-2xs",
						inverse ? "border-ground/40" : "border-line-strong/60 bg-panel text-ink-2",
					)}
				>
					{key}
				</kbd>
			))}
		</span>
	);
}
