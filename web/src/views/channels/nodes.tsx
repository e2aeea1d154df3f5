// The gateways that share the store, and the duties that each has for all of them. Hidden if there is only one.

import { useApi } from "../../api/index.ts";
import { texts } from "../../texts/channels.ts";
import { RelativeTime } from "../../ui/index.ts";

export function Nodes() {
	const { data } = useApi("nodes", {}, { on: ["channel"] });
	const nodes = data?.nodes ?? [];
	if (nodes.length < 2) return null;
	return (
		<section aria-labelledby="nodes-heading">
			<h2 id="nodes-heading" className="font-semibold">
				{texts.nodes.gateways}
			</h2>
			<p className="text-sm text-ink-2">{texts.nodes.theyShareThisStore}</p>
			<ul>
				{nodes.map(({ epoch, name, started_at, turns, duties }) => (
					<li key={epoch} className="flex flex-wrap items-center gap-2 border-b py-3 last:border-0">
						<span className="min-w-0 truncate font-medium">{name}</span>
						<span className="text-sm text-ink-3">{texts.nodes.running(turns)}</span>
						<span className="min-w-0 truncate text-sm text-ink-3">{duties.join(", ")}</span>
						<RelativeTime at={started_at} className="ml-auto text-xs text-ink-3" />
					</li>
				))}
			</ul>
		</section>
	);
}
