import { type ReactNode, useId } from "react";

/** A field of a form with its label, and a line about it. */
export function Field({
	label,
	about,
	children,
}: {
	readonly label: string;
	readonly about?: ReactNode;
	readonly children: (id: string) => ReactNode;
}) {
	const id = useId();
	return (
		<div className="flex flex-col gap-1">
			<label htmlFor={id} className="font-medium">
				{label}
			</label>
			{children(id)}
			{about !== undefined && <p className="text-xs text-ink-3">{about}</p>}
		</div>
	);
}
