import { Link } from "@tanstack/react-router";
import { ShieldQuestionMark } from "lucide-react";

/** The way from a question in the transcript to where it is decided, with its exact arguments. */
export function ConfirmationHint({ text }: { readonly text: string }) {
	const id = /\/approve ([0-9a-f]{6,64})/.exec(text)?.[1];
	return (
		<Link
			to="/confirmations"
			search={id === undefined ? {} : { id }}
			className="mt-2 inline-flex h-8 items-center gap-1.5 rounded-sm border border-warn/50 bg-warn-soft px-3 font-medium text-warn hover:border-warn"
		>
			<ShieldQuestionMark size={15} aria-hidden />
			Decide about it
		</Link>
	);
}
