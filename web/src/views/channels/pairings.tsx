// People who wrote to the bot and got a pairing code, and people who were let in.

import { useMutation } from "@tanstack/react-query";
import { api, useApi } from "../../api/index.ts";
import { texts } from "../../texts/channels.ts";
import { Badge, Button, ErrorLine, PlatformIcon, platformName, RelativeTime } from "../../ui/index.ts";

type Pairing = Awaited<ReturnType<typeof api.pairings>>["pairings"][number];

export function Pairings() {
	const { data, error } = useApi("pairings", {}, { on: ["pairing"] });
	const shown = (data?.pairings ?? []).filter(({ state }) => state === "open" || state === "approved");
	if (shown.length === 0 && !error) return null;
	return (
		<section aria-labelledby="pairings-heading">
			<h2 id="pairings-heading" className="font-semibold">
				{texts.pairings.people}
			</h2>
			<p className="text-sm text-ink-2">{texts.pairings.peopleWhoAskedToTalk}</p>
			{error && <ErrorLine error={error} />}
			<ul>
				{shown.map((pairing) => (
					<Person key={pairing.n} pairing={pairing} />
				))}
			</ul>
		</section>
	);
}

function Person({ pairing }: { readonly pairing: Pairing }) {
	const { n, platform, id, name, state, role, asked_at } = pairing;
	const { mutate, isPending, error } = useMutation({
		mutationFn: (decision: "owner" | "member" | "no") =>
			decision === "no" ? api.denyPairing({ n }) : api.approvePairing({ n, role: decision }),
	});
	const isOpen = state === "open";
	return (
		<li className="flex flex-wrap items-center gap-2 border-b py-3 last:border-0">
			<PlatformIcon platform={platform} />
			<span className="min-w-0 truncate font-medium">{name ?? id}</span>
			<span className="min-w-0 truncate text-sm text-ink-3">
				{platformName(platform)}, {id}
			</span>
			<Badge tone={isOpen ? "warn" : "ok"}>{isOpen ? texts.pairings.wantsToTalk : (role ?? "member")}</Badge>
			<RelativeTime at={asked_at} className="text-xs text-ink-3" />
			<span className="ml-auto flex gap-2">
				{isOpen && (
					<>
						<Button size="sm" disabled={isPending} onClick={() => mutate("member")}>
							{texts.pairings.letIn}
						</Button>
						<Button size="sm" disabled={isPending} onClick={() => mutate("owner")}>
							{texts.pairings.thisIsMe}
						</Button>
					</>
				)}
				<Button size="sm" look="quiet" disabled={isPending} onClick={() => mutate("no")}>
					{isOpen ? texts.pairings.refuse : texts.pairings.remove}
				</Button>
			</span>
			{error && <ErrorLine error={error} />}
		</li>
	);
}
