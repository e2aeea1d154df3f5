// The profiles: several agents in one Keryx, each with its own model, tools and files.

import { useNavigate } from "@tanstack/react-router";
import { useApi } from "../../api/index.ts";
import { texts } from "../../texts/settings.ts";
import { Button, type Column, ErrorState, Marked, SkeletonRows, Table } from "../../ui/index.ts";
import { type Profile, profileName } from "../conversations/profiles.ts";

export function ProfilesTab() {
	const { data, error, refetch } = useApi("profiles", {}, { on: ["config"] });
	const navigate = useNavigate();
	if (!data) return error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <SkeletonRows />;
	const columns: readonly Column<Profile>[] = [
		{
			name: texts.profilesTab.profile,
			cell: ({ name }) => <span className="font-medium">{profileName(name)}</span>,
		},
		{ name: texts.profilesTab.answeredBy, cell: ({ agent, model }) => model ?? agent },
		{ name: texts.profilesTab.provider, wideOnly: true, cell: ({ provider }) => provider ?? "" },
		{ name: texts.profilesTab.runsOn, wideOnly: true, cell: ({ runs_on }) => runs_on },
		{
			name: texts.profilesTab.talk,
			align: "right",
			cell: ({ name }) => (
				<Button
					size="sm"
					aria-label={texts.profilesTab.newChatWith(profileName(name))}
					onClick={() =>
						void navigate({
							to: "/c/$conversation",
							params: { conversation: "new" },
							search: name === "" ? {} : { profile: name },
						})
					}
				>
					{texts.profilesTab.newChat}
				</Button>
			),
		},
	];
	return (
		<div className="mx-auto flex w-full max-w-280 flex-col gap-4 py-4">
			<p className="max-w-160 px-4 text-ink-2 lg:px-6">
				<Marked text={texts.profilesTab.eachProfileIsASeparate} />
			</p>
			<Table
				label={texts.profilesTab.profiles}
				columns={columns}
				rows={data.profiles}
				rowKey={({ name }) => name}
			/>
		</div>
	);
}
