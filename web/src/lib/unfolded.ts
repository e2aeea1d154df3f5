// What a person has unfolded stays so when it is drawn again: scrolled away and back, or when a row takes the place of an earlier one.
import { type SyntheticEvent, useState } from "react";

const unfolded = new Set<string>();

/** The attributes of a `<details>` element. */
export function useUnfolded(key: string): {
	readonly open: boolean;
	readonly onToggle: (event: SyntheticEvent<HTMLDetailsElement>) => void;
} {
	const [isOpen, setOpen] = useState(() => unfolded.has(key));
	return {
		open: isOpen,
		onToggle: ({ currentTarget }) => {
			setOpen(currentTarget.open);
			if (currentTarget.open) unfolded.add(key);
			else unfolded.delete(key);
		},
	};
}
