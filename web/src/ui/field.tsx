import { type ReactNode, useId } from "react";

/** A form field with its label and a line of explanation. */
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
