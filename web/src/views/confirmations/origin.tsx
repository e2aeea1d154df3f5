import { texts } from "../../texts/confirmations.ts";
import { ConversationLink, PlainText, RelativeTime } from "../../ui/index.ts";
import type { Confirmation } from "./wire.ts";
import { useWho } from "./words.ts";

/** Who asks, from where, and since when. The name that the asker gives proves nothing, and is marked so. */
export function Origin({ confirmation }: { readonly confirmation: Confirmation }) {
	const whoOf = useWho();
	const { asked_by, requester, conversation, session_key, created_at, id } = confirmation;
	return (
		<p className="flex flex-wrap items-center gap-x-1.5 gap-y-0.5 text-sm text-ink-2">
			<span>
				{texts.origin.asks(sentence(whoOf(asked_by)))}
				{requester !== "agent" && (
					<span className="text-ink-3">
						{" "}
						<PlainText text={texts.origin.callsItself(requester)} />
					</span>
				)}
			</span>
			{(conversation !== null || session_key !== "") && <span>{texts.origin.in}</span>}
			{conversation !== null ? (
				<ConversationLink id={conversation} />
			) : (
				session_key !== "" && <code className="font-mono text-xs wrap-anywhere">{session_key}</code>
			)}
			<span aria-hidden className="text-ink-3">
				·
			</span>
			<RelativeTime at={created_at * 1000} />
			<span aria-hidden className="text-ink-3">
				·
			</span>
			<code className="font-mono text-xs text-ink-3">{id}</code>
		</p>
	);
}

function sentence(text: string): string {
	return text.charAt(0).toUpperCase() + text.slice(1);
}
