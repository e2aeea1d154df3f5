import { Link } from "@tanstack/react-router";
import type { Answer } from "../../../../src/http/endpoints.ts";
import { useApi } from "../../api/index.ts";
import { withoutMarks } from "../../lib/without-marks.ts";
import { texts } from "../../texts/search.ts";
import { PlatformIcon, RelativeTime, Skeleton } from "../../ui/index.ts";

type Hit = Answer<"search">["hits"][number];

const WHO: Readonly<Record<string, string>> = {
	user: texts.hit.person,
	assistant: texts.hit.agent,
	tool: texts.hit.tool,
	title: texts.hit.title,
};

/** One hit with the text around it. It links to its place in the conversation. */
export function SearchHit({ hit }: { readonly hit: Hit }) {
	const { conversation, session } = hit;
	return (
		<Link
			to="/c/$conversation"
			params={{ conversation }}
			search={{ m: `${session}:${hit.seq ?? 1}` }}
			data-hit=""
			className="block rounded-sm px-3 py-2.5 hover:bg-hover/60 focus-visible:bg-hover focus-visible:outline-offset-[-2px]"
		>
			<p className="flex items-center gap-2 text-xs text-ink-3">
				<ConversationName conversation={conversation} />
				<span aria-hidden>·</span>
				<span>{WHO[hit.role ?? hit.kind] ?? hit.role}</span>
				<RelativeTime at={hit.created_at} className="ml-auto shrink-0" />
			</p>
			<Neighbour neighbour={hit.before} />
			<p className="my-0.5 line-clamp-3 break-words">
				{hit.snippet.map(({ text, marked }, index) =>
					marked ? (
						// biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a text have no other name than their place.
						<mark key={index} className="rounded-xs bg-accent-soft px-0.5 font-medium text-accent-strong">
							{text}
						</mark>
					) : (
						withoutMarks(text)
					),
				)}
			</p>
			<Neighbour neighbour={hit.after} />
		</Link>
	);
}

function ConversationName({ conversation }: { readonly conversation: string }) {
	const { data } = useApi(
		"conversation",
		{ conversation },
		{ on: ["session", "conversation"], of: conversation },
	);
	if (!data) return <Skeleton className="h-5 w-32" />;
	return (
		<>
			<PlatformIcon platform={data.platform} />
			<span className="min-w-0 truncate font-medium text-ink-2">{data.name}</span>
		</>
	);
}

function Neighbour({ neighbour }: { readonly neighbour: Hit["before"] }) {
	if (!neighbour) return null;
	return (
		<p className="truncate text-sm text-ink-3">
			<span className="sr-only">{texts.hit.context}</span>
			{WHO[neighbour.role] ?? neighbour.role}: {withoutMarks(neighbour.preview)}
		</p>
	);
}
