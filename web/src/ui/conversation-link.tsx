import { Link } from "@tanstack/react-router";
import { useApi } from "../api/index.ts";
import { PlatformIcon } from "./platform-icon.tsx";

/** The conversation's name, or its id until the name is known. */
export function ConversationLink({ id }: { readonly id: string }) {
	const { data } = useApi("conversation", { conversation: id }, { on: ["session", "conversation"], of: id });
	return (
		<Link
			to="/c/$conversation"
			params={{ conversation: id }}
			className="inline-flex min-w-0 max-w-full items-center gap-1.5 text-ink underline decoration-line-strong underline-offset-2 hover:text-accent"
		>
			{data && <PlatformIcon platform={data.platform} />}
			<span className="truncate">{data?.name ?? id}</span>
		</Link>
	);
}
